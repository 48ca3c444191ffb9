"""Claims about data frames: one row per text or phrase, the index kept, gaps left as gaps, no pandas unless asked."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import Any

import pytest

from bundled_pipelines import related, sentiment

pandas = pytest.importorskip("pandas")
TEXTS = ["A joy.", "Dull beyond words, but short.", "It is a film."]


def test_a_row_holds_what_the_result_holds() -> None:
    frame = sentiment().frame(TEXTS)
    results = sentiment()(TEXTS)
    classes = [f"p_{name.replace(' ', '_')}" for name in sentiment().classes]
    assert list(frame.columns) == ["text", "label", "score", *classes]
    assert frame["text"].tolist() == TEXTS
    assert frame["label"].tolist() == [result.label for result in results]
    assert frame["score"].tolist() == pytest.approx([result.score for result in results], abs=1e-6)
    assert frame[classes].values.tolist() == [
        pytest.approx(list(r.probabilities.values()), abs=1e-6) for r in results
    ]


@pytest.mark.parametrize("texts", [TEXTS, tuple(TEXTS), iter(TEXTS), pandas.Series(TEXTS).to_numpy()])
def test_anything_that_holds_texts_will_do(texts: Any) -> None:
    assert sentiment().frame(texts)["text"].tolist() == TEXTS


def test_the_index_of_a_series_stays_so_that_the_frames_join() -> None:
    reviews = pandas.DataFrame({"review": TEXTS, "stars": [5, 1, 3]}, index=["x", "y", "z"])
    joined = reviews.join(sentiment().frame(reviews["review"]))
    assert joined.loc["y", "text"] == TEXTS[1]
    assert joined.loc["x", "score"] > joined.loc["y", "score"]


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA, "", "  "])
def test_a_gap_stays_a_gap(missing: Any) -> None:
    frame = sentiment().frame(pandas.Series([TEXTS[0], missing], dtype=object))
    assert frame["label"].isna().tolist() == [False, True]
    assert frame["score"].isna().tolist() == [False, True]
    assert frame["p_neutral"].isna().tolist() == [False, True]


def test_no_texts_no_rows() -> None:
    assert sentiment().frame([]).shape == (0, 8)
    assert sentiment().frame([], phrases=True).shape == (0, 10)


def test_phrases_are_rows_with_their_place_in_the_text() -> None:
    texts = pandas.Series([TEXTS[1], None, TEXTS[0]], index=[7, 8, 9])
    frame = sentiment().frame(texts, phrases=True)
    assert set(frame.index) == {7, 9}
    for place, row in frame.iterrows():
        assert texts[place][row["start"] : row["end"]] == row["phrase"]
    nodes = sentiment()(TEXTS[1]).nodes
    assert frame.loc[7, "phrase"].tolist() == [node.text for node in nodes]
    assert frame.loc[7, "score"].tolist() == pytest.approx([node.score for node in nodes], abs=1e-6)


def test_pairs() -> None:
    pairs = pandas.DataFrame(
        {"a": ["A dog runs", "A dog runs"], "b": ["An animal is running", None]}, index=[4, 2]
    )
    frame = related().frame(pairs)
    assert list(frame.columns) == ["a", "b", "score"]
    assert frame.loc[4, "score"] == pytest.approx(
        related().score("A dog runs", "An animal is running"), abs=1e-5
    )
    assert pandas.isna(frame.loc[2, "score"])
    assert related().frame([("A dog runs", "A cat")]).index.tolist() == [0]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="one text, 'A joy', where several are expected"):
        sentiment().frame("A joy")
    with pytest.raises(ValueError, match="text 1 is 3; expected a string"):
        sentiment().frame(["A joy", 3])  # type: ignore[list-item]


def test_pandas_comes_with_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import bough, sys; bough.load('sentiment')('A joy.'); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"^a data frame needs pandas: pip install pandas$"):
        sentiment().frame(TEXTS)
