"""Convert results to pandas frames, with a row for each text, phrase or pair."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from bough.outputs import Output
from bough.pipelines.prediction import PairPrediction, Phrase, Prediction
from bough.pipelines.readers import groups

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any  # pandas is imported when it is needed
Results = Sequence[Prediction | None]  # None for a text without a word


def frame_items(items: Iterable[Any]) -> tuple[list[Any], Any]:
    """Return the items, with empty texts for missing ones, and the index of a pandas object."""
    isna = _pandas().isna
    index = getattr(items, "index", None)
    if callable(index):  # the method of a list
        index = None
    rows = items if index is None else items.values  # type: ignore[attr-defined]

    def text(item: Any) -> Any:
        if isinstance(item, str):
            return item
        if isinstance(item, Iterable):  # a pair
            return tuple(map(text, item))
        return "" if isna(item) else item

    return [text(item) for item in chain.from_iterable(groups(rows))], index


def text_frame(texts: Sequence[str], results: Results, output: Output, index: Any) -> DataFrame:
    """Return a frame with a row per text; a text without a word has missing results."""
    cells = ({} if result is None else _cells(result, output) for result in results)
    rows = [{"text": text, **own} for text, own in zip(texts, cells, strict=True)]
    return _pandas().DataFrame(rows, columns=["text", *_columns(output)], index=index)


def phrase_frame(results: Results, output: Output, index: Any) -> DataFrame:
    """Return a frame with a row per phrase: its range of characters, and the index of its text."""
    rows, texts = list[dict[str, Any]](), list[int]()
    for place, result in enumerate(results):
        if result is None:
            continue
        for node in result.nodes:
            start, end = result.offsets[node.span[0]][0], result.offsets[node.span[1] - 1][1]
            rows.append({"phrase": node.text, "start": start, "end": end, **_cells(node, output)})
            texts.append(place)
    columns = ["phrase", "start", "end", *_columns(output)]
    return _pandas().DataFrame(rows, columns=columns, index=texts if index is None else index[texts])


def _columns(output: Output) -> list[str]:
    """Return the columns of a result: the numbers, or the label or labels and the probabilities."""
    return [*output.cells, *(column_names(output.names) if output.probabilistic else output.names)]


def _cells(result: Prediction | Phrase, output: Output) -> dict[str, Any]:
    values = [
        *(result.outcome[key] for key in output.cells),
        *(result.numbers or result.probabilities).values(),
    ]
    return dict(zip(_columns(output), values, strict=True))


def pair_frame(
    pairs: Sequence[tuple[str, str]], results: Sequence[PairPrediction | None], output: Output, index: Any
) -> DataFrame:
    """Return a frame with a row per pair; the cells of the result are missing if a text has no word."""
    columns: dict[str, Any] = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}
    for key in output.cells:
        columns[key] = [None if result is None else result.outcome[key] for result in results]
    if not output.probabilistic:
        for name in output.names:
            columns[name] = [None if result is None else result.numbers[name] for result in results]
    return _pandas().DataFrame(columns, index=index)


def column_names(classes: Sequence[str]) -> list[str]:
    """Return the column of each class: `p_` and its name, with `_` for characters that are not letters or digits.

    >>> column_names(["very late", "neutral"]), column_names(["c", "c++"])
    (['p_very_late', 'p_neutral'], ['p_c', 'p_c++'])
    """
    names = ["p_" + re.sub(r"\W+", "_", name).strip("_") for name in classes]
    both = zip(names, classes, strict=True)
    return [f"p_{whole}" if names.count(name) > 1 else name for name, whole in both]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame needs pandas: pip install pandas") from None
    return pandas
