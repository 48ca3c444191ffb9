"""Claims about what a job takes and refuses before there is a cluster: columns, names, files and folders."""

from __future__ import annotations

import pytest

from bough.cluster.datasets import _Scorer
from bough.pipeline import RelatednessPipeline, SentimentPipeline
from pipelines import related, sentiment


def scorer(pipeline: SentimentPipeline | RelatednessPipeline) -> _Scorer:
    """As on a node, with a pipeline that is loaded already."""
    made = object.__new__(_Scorer)
    made.pipeline = pipeline
    return made


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_missing_text_of_a_dataset_is_no_text(kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    texts = pandas.Series(["A fine film.", None, "Dull."], dtype=kind)
    found = scorer(sentiment())(pandas.DataFrame({"text": texts, "id": [1, 2, 3]}))
    assert list(found) == ["text", "id", "label", "polarity", "score", "probabilities"]
    assert found["polarity"].tolist()[::2] == ["positive", "negative"]
    assert found["score"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["label", "polarity", "score", "probabilities"])
def test_no_column_of_a_dataset_is_replaced(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=f"has a column '{name}' already"):
        scorer(sentiment())(pandas.DataFrame({"text": ["good"], name: ["mine"]}))
    pairs = pandas.DataFrame({"a": ["A cat"], "b": ["A dog"], "label": ["mine"]})
    assert scorer(related())(pairs)["label"].tolist() == ["mine"]
