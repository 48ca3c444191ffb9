"""Lines of results as Parquet: the same columns in every part, whatever the input has beside its texts."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from bough.pipelines.files import GIVEN


def schema(*, pairs: bool, brief: bool) -> Any:
    """The columns; `given` is JSON, all else that came with the text."""
    import pyarrow as pa

    ids = {"file": pa.string(), "line": pa.int64()}
    scores = {"score": pa.float64(), "probabilities": pa.list_(pa.float64())}
    if pairs:
        return pa.schema({**ids, "a": pa.string(), "b": pa.string(), **scores, GIVEN: pa.string()})
    columns = {**ids, "text": pa.string(), "label": pa.string(), "polarity": pa.string(), **scores}
    if not brief:
        span = pa.list_(pa.int64())
        node = {"span": span, "text": pa.string(), "label": pa.string(), **scores, "children": span}
        columns |= {"tokens": pa.list_(pa.string()), "nodes": pa.list_(pa.struct(node)), "sentences": span}
    return pa.schema({**columns, GIVEN: pa.string()})


def parquet_bytes(lines: Sequence[str], *, pairs: bool, brief: bool) -> bytes:
    """A Parquet file of results, from their lines of JSON."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = schema(pairs=pairs, brief=brief)
    rows = []
    for line in lines:
        row = json.loads(line)
        given = {key: value for key, value in row.items() if key not in columns.names}
        given |= row.get(GIVEN) or {}
        row[GIVEN] = json.dumps(given, ensure_ascii=False) if given else None
        rows.append(row)
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, columns), buffer)
    return buffer.getvalue()
