"""Results as pandas' data frames; pandas is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from bough.pipelines.reading import groups
from bough.pipelines.results import Sentiment

if TYPE_CHECKING:
    from pandas import DataFrame

NAN = float("nan")


def listed(items: Iterable[Any]) -> tuple[list[Any], Any]:
    """The items, with an empty text for a missing one, and the index of a `Series` or a `DataFrame`, else None."""
    pandas = _pandas()
    index = getattr(items, "index", None)
    if callable(index):  # a list's method of that name
        index = None
    rows = items if index is None else items.values  # type: ignore[attr-defined]
    return [_text(item, pandas) for item in chain.from_iterable(groups(rows))], index


def _text(item: Any, pandas: Any) -> Any:
    if isinstance(item, str):
        return item
    if isinstance(item, Iterable):  # a pair
        return tuple(_text(part, pandas) for part in item)
    return "" if pandas.isna(item) else item


def of_texts(
    texts: Sequence[str], results: Sequence[Sentiment | None], classes: Sequence[str], index: Any
) -> DataFrame:
    """A row per text; of a text without a word label and numbers are missing."""
    rows = [[NAN] * len(classes) if result is None else result.probabilities for result in results]
    columns: dict[str, Sequence[Any]] = {
        "text": texts,
        "label": [None if result is None else result.label for result in results],
        "score": [NAN if result is None else result.score for result in results],
    }
    columns |= {f"p_{name}": [row[place] for row in rows] for place, name in enumerate(classes)}
    return _pandas().DataFrame(columns, index=index)


def of_phrases(results: Sequence[Sentiment | None], classes: Sequence[str], index: Any) -> DataFrame:
    """A row per phrase, with the characters of the text that it covers; the text's index for each."""
    places, starts, ends = list[int](), list[int](), list[int]()
    nodes = []
    for place, result in enumerate(results):
        if result is None:
            continue
        for node in result.nodes:
            places.append(place)
            starts.append(result.offsets[node.span[0]][0])
            ends.append(result.offsets[node.span[1] - 1][1])
            nodes.append(node)
    columns: dict[str, Sequence[Any]] = {
        "phrase": [node.text for node in nodes],
        "start": starts,
        "end": ends,
        "label": [node.label for node in nodes],
        "score": [node.score for node in nodes],
    }
    columns |= {
        f"p_{name}": [node.probabilities[place] for node in nodes] for place, name in enumerate(classes)
    }
    return _pandas().DataFrame(columns, index=places if index is None else index[places])


def of_pairs(pairs: Sequence[tuple[str, str]], scores: Sequence[float], index: Any) -> DataFrame:
    """A row per pair; the score is missing where a text has no word."""
    columns = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs], "score": scores}
    return _pandas().DataFrame(columns, index=index)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame needs pandas: pip install pandas") from None
    return pandas
