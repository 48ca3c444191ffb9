"""Claims about `bough.load("sentiment")`: what a result holds, and that it answers whatever the text."""

import copy
import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs import Classes
from bough.outputs.classes import sentiment_classes
from bough.pipelines import Pipeline, Prediction
from bough.pipelines.readers import Read
from bough.text.join_sentences import join_sentences
from bough.text.tokenise import tokenise
from bundled_pipelines import sentiment

CLASSES = ("very negative", "negative", "neutral", "positive", "very positive")
NODE = {"span", "text", "label", "score", "probabilities", "children"}


def check_whole(result: Prediction) -> None:
    """What holds of every result: probabilities, spans, children, the text of every phrase."""
    shape = json.loads(result.json())
    assert set(shape) == {
        "text",
        "label",
        "polarity",
        "score",
        "probabilities",
        "tokens",
        "nodes",
        "sentences",
    }
    assert shape["label"] in CLASSES
    assert -1 <= shape["score"] <= 1
    assert tuple(shape["probabilities"]) == CLASSES
    p = list(shape["probabilities"].values())
    sums = {"negative": p[0] + p[1], "neutral": p[2], "positive": p[3] + p[4]}
    assert sums[shape["polarity"]] == pytest.approx(max(sums.values()), abs=1e-3)
    assert sum(p) == pytest.approx(1, abs=1e-3)
    children = [child for node in shape["nodes"] for child in node["children"]]
    assert sorted(children + shape["sentences"]) == list(range(len(shape["nodes"])))
    for node in shape["nodes"]:
        assert set(node) == NODE
        own = [name for name in CLASSES if name.split()[-1] == node["label"].split()[-1]]
        assert node["label"] == max(own, key=lambda name: node["probabilities"][name])
        start, end = node["span"]
        assert 0 <= start < end <= len(shape["tokens"])
        low, high = result.offsets[start][0], result.offsets[end - 1][1]
        assert node["text"] == result.text[low:high] or "\ufffd" in node["text"]
        parts = [shape["nodes"][child]["span"] for child in node["children"]]
        if parts:
            assert [start, *(high for _, high in parts)] == [*(low for low, _ in parts), end]
        else:
            assert end == start + 1
    covered = [shape["nodes"][root]["span"] for root in shape["sentences"]]
    assert [0, *(high for _, high in covered)] == [*(low for low, _ in covered), len(shape["tokens"])]


def test_one_sentence_is_one_tree() -> None:
    result = sentiment()("An overlong but funny film .")
    check_whole(result)
    assert result.tokens == ("An", "overlong", "but", "funny", "film", ".")
    assert result.nodes[0].text == result.text
    assert result.label == result.nodes[0].label
    assert result.probabilities == pytest.approx(result.nodes[0].probabilities)
    assert result.score == pytest.approx(result.nodes[0].score)
    assert len(result.tree) == len(result.nodes) == 11
    assert result.tree.labels is not None
    assert CLASSES[int(str(result.tree.labels[0]))] == result.label


@pytest.mark.parametrize(
    ("p", "label", "polarity"),
    [
        ([0.20, 0.21, 0.35, 0.12, 0.12], "negative", "negative"),
        ([0.40, 0.02, 0.08, 0.24, 0.26], "very positive", "positive"),
        ([0.10, 0.15, 0.40, 0.20, 0.15], "neutral", "neutral"),
    ],
)
def test_label_has_the_polarity_with_the_largest_sum(p: list[float], label: str, polarity: str) -> None:
    word = Read(tokenise("Fine"), bough.Tree([-1], tokens=["Fine"]))
    result = Prediction("Fine", sentiment_classes(), [word], [np.array([p], dtype=np.float32)])
    assert (result.label, result.polarity) == (label, polarity)
    assert result.score == pytest.approx(p[3] + p[4] - p[0] - p[1])


@pytest.mark.parametrize(
    ("plain", "turned"),
    [
        ("good", "not good"),
        ("It was great.", "It was not great."),
        ("The story works.", "The story never works."),
        ("a funny film", "an unfunny film"),
    ],
)
def test_negation_turns_the_colour(plain: str, turned: str) -> None:
    before, after = sentiment()([plain, turned])
    assert before.score > 0 > after.score


def test_contrast_shows_inside_the_tree() -> None:
    result = sentiment()("The plot is dull, but the acting is brilliant.")
    by_text = {node.text: node.score for node in result.nodes}
    assert by_text["dull"] < 0 < by_text["brilliant"]
    assert min(by_text.values()) < -0.2
    assert max(by_text.values()) > 0.2


def test_stronger_words_score_stronger() -> None:
    good, superb, bad = sentiment()(["a good film", "a superb, wonderful film", "a dreadful, boring film"])
    assert superb.score > good.score > 0 > bad.score


def test_several_sentences_are_one_result_with_parts() -> None:
    text = "The plot is dull. Still, I laughed a lot!\n\nGo and see it."
    result = sentiment()(text)
    check_whole(result)
    assert [part.text for part in result.sentences] == [
        "The plot is dull.",
        "Still, I laughed a lot!",
        "Go and see it.",
    ]
    alone = sentiment()([part.text for part in result.sentences])
    for part, own in zip(result.sentences, alone, strict=True):
        check_whole(part)
        assert part.probabilities == pytest.approx(own.probabilities, abs=1e-5)
    with pytest.raises(ValueError, match="3 sentences, each with its own tree"):
        _ = result.tree


@pytest.mark.parametrize("trees", ["sentences", "joined"])
def test_a_text_is_the_mean_of_its_sentences_or_the_tree_that_joins_them(
    trees: Literal["sentences", "joined"],
) -> None:
    model = copy.copy(sentiment().model)
    model.trees = trees
    pipeline = Pipeline(model, sentiment().reader.parser)
    text = "The plot is dull. Still, I laughed a lot!\n\nGo and see it."
    result = pipeline(["Fine.", text])[1]
    if trees == "joined":
        whole = join_sentences([part.tree for part in result.sentences], "constituency")
        expected = [*pipeline(whole).probabilities.values()]
    else:
        words = [len(part.tokens) for part in result.sentences]
        rows = [[*part.probabilities.values()] for part in result.sentences]
        expected = np.average(rows, axis=0, weights=words).tolist()
    assert [*result.probabilities.values()] == pytest.approx(expected, abs=1e-5)


def test_a_list_gives_what_its_texts_give_one_by_one() -> None:
    texts = ["Fine.", "I loved every minute of it. Truly.", "A mess", "Fine."]
    for one, alone in zip(sentiment()(texts), map(sentiment(), texts), strict=True):
        assert one.text == alone.text
        assert one.probabilities == pytest.approx(alone.probabilities, abs=1e-5)
    assert sentiment()([]) == []


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f600 great \U0001f469\u200d\U0001f680 fun!!! \U0001f600\U0001f600",
        "a\x00b\x07 fine \x1b[31m film\x7f",
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd film",
        "\u202eevil\u202c right to left",
        "\udcff torn \ud800",
        "<b>bold</b> & \"quoted\" 'single' `` '' ]]>",
        "(((", "...", "x" * 30_000, "\u4f60\u597d\u4e16\u754c\u3002",
        "-LRB- good -RRB-", "1,000,000 % 3.14 $5", "don\u2019t\u00a0go",
    ],
)  # fmt: skip
def test_strange_text_is_scored_all_the_same(text: str) -> None:
    result = sentiment()(text)
    check_whole(result)
    assert result.svg().startswith("<svg")
    result.json().encode("utf-8")


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=60))
def test_any_text_is_scored_or_refused_in_one_line(text: str) -> None:
    if tokenise(text):
        check_whole(sentiment()(text))
        return
    with pytest.raises(ValueError, match=r"^no word in the text, [^\n]*$"):
        sentiment()(text)


def test_five_thousand_words() -> None:
    one = " ".join(["a good and not so good film"] * 700) + "."
    result = sentiment()(one)
    assert len(result.tokens) == 4901
    assert len(result.nodes) == 2 * 4901 - 1
    many = sentiment()("It is good. " * 1700)
    assert len(many.sentences) == 1700


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x01"])
def test_no_word_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="no word in the text"):
        sentiment()(text)
    with pytest.raises(ValueError, match="no word in text 1"):
        sentiment()(["fine", text])


def test_other_things_than_text_are_refused() -> None:
    with pytest.raises(ValueError, match="text 1 is 7; expected a string"):
        sentiment()(["fine", 7])
    with pytest.raises(ValueError, match="neither a text nor a tree"):
        sentiment()(None)


def test_models_and_folders_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no model 'sentimental'; use sentiment, relatedness"):
        bough.load("sentimental")
    with pytest.raises(ValueError, match="no parser 'nope'"):
        bough.load("sentiment", parser="nope")("good")
    own = Model(Config(embedding_size=4, hidden_size=3, layer="lstm"), Classes(CLASSES), ["good"])
    own.save(tmp_path / "m", card="")
    with pytest.raises(ValueError, match="layer 'lstm' has one state per sentence"):
        bough.load(tmp_path / "m")


@pytest.mark.parametrize("encoder", ["constituency", "dependency"])
def test_a_trained_run_loads_too(encoder: str, tmp_path: Path) -> None:
    output = Classes(("negative", "neutral", "positive"), ordered=True)
    config = Config(embedding_size=4, hidden_size=3, layer=encoder)
    Model(config, output, ["good"]).save(tmp_path / "m", card="")
    pipeline = bough.load(tmp_path / "m")
    assert isinstance(pipeline, Pipeline)
    result = pipeline("A good film indeed")
    assert result.classes == ("negative", "neutral", "positive")
    assert len(result.nodes) == (7 if encoder == "constituency" else 4)
    assert result.svg().startswith("<svg")


def test_labels_and_probabilities_as_arrays() -> None:
    texts = ["Dull.", "A delight."]
    assert sentiment().predict(texts) == [one.label for one in sentiment()(texts)]
    p = sentiment().predict_proba(texts)
    assert p.shape == (2, 5)
    assert dict(zip(CLASSES, p[1], strict=True)) == pytest.approx(
        sentiment()("A delight.").probabilities, abs=1e-5
    )
    assert sentiment().predict_proba([]).shape == (0, 5)
    assert "5 classes: 'very negative'" in repr(sentiment())
    assert repr(sentiment()("Fine.")).startswith("Prediction('")
    with pytest.raises(ValueError, match="batch_size 0: at least 1"):
        bough.load("sentiment", batch_size=0)


def test_a_text_without_a_word_is_counted_through_all_batches() -> None:
    with pytest.raises(ValueError, match="no word in text 290, ' '"):
        sentiment()(["good film"] * 290 + [" ", "x"])


def test_one_text_is_no_list_of_texts() -> None:
    with pytest.raises(ValueError, match="one text, 'good', where several are expected"):
        list(sentiment().stream("good"))


def test_a_name_of_an_account_and_an_address_do_not_count() -> None:
    plain = sentiment()("The delivery was late.")
    for text in ("@shop The delivery was late.", "The delivery was late. https://shop.com/orders"):
        result = sentiment()(text)
        assert result.tokens == plain.tokens
        assert result.probabilities == plain.probabilities
    assert sentiment()("@shop").tokens == ("@shop",)
