"""Claims about the spaCy component, with a real pipeline: found by its name, phrases as spans, and kept in bytes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import bough
import small_fits
from bough.formats import ptb
from bough.text import spacy as adapter
from bundled_pipelines import sentiment

spacy = pytest.importorskip("spacy")
TEXT = 'The plot is thin, but the acting is wonderful. I would not call it "dull"!\n\n Well-made stuff.'
PLAIN = "An overlong but oddly moving film."


@pytest.fixture(scope="module", autouse=True)
def _known() -> None:
    """The component by its import, so that these tests do not hang on how bough was installed."""
    import bough.spacy  # noqa: F401


@pytest.fixture(scope="module")
def package() -> str:
    if not adapter.installed():
        pytest.skip("no English spaCy pipeline is installed")
    return next(iter(adapter.installed().values()))


def loaded(package: str | Path) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W095\]")
        return spacy.load(package)


@pytest.fixture(scope="module")
def nlp(package: str) -> Any:
    pipeline = loaded(package)
    pipeline.add_pipe("bough_sentiment")
    return pipeline


def test_spacy_alone_finds_it_by_its_name(package: str) -> None:
    names = {point.name for point in metadata.entry_points(group="spacy_factories")}
    assert "bough_sentiment" in names, "install bough again: its entry points have changed"
    code = (
        "import sys, spacy\n"
        "assert not any(name.startswith('bough') for name in sys.modules)\n"
        "nlp = spacy.blank('en')\n"
        "nlp.add_pipe('bough_sentiment')\n"
        f"print(nlp({PLAIN!r})._.sentiment.label)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == sentiment()(PLAIN).label


def test_a_text_has_the_sentiment_that_the_pipeline_gives_it(nlp: Any) -> None:
    """Where spaCy finds the words and the sentences that we find."""
    for text in (PLAIN, "Dull. A delight!", "It isn't bad (\u201cnot at all\u201d)\u2026"):
        doc, own = nlp(text), sentiment()(text)
        assert doc._.sentiment.tokens == own.tokens
        assert doc._.sentiment.probabilities == pytest.approx(own.probabilities, abs=1e-5)
        assert doc.sentiment == pytest.approx(own.score, abs=1e-5)


def test_every_phrase_is_a_span_with_its_sentiment(nlp: Any) -> None:
    doc = nlp(TEXT)
    result = doc._.sentiment
    spans = doc.spans["sentiment"]
    assert [span.text for span in spans] == [node.text for node in result.nodes]
    assert [span._.sentiment for span in spans] == list(result.nodes)
    assert [span.label_ for span in spans] == [node.label for node in result.nodes]
    assert [sentence._.sentiment for sentence in doc.sents] == [result.nodes[root] for root in result.roots]
    assert doc[0:3]._.sentiment is None  # "The plot is": no phrase
    assert "Well-made" in [span.text for span in spans]
    assert "Well" not in [span.text for span in spans]


def test_a_span_is_that_of_its_phrase_whatever_blanks_are_around_it(nlp: Any) -> None:
    doc = nlp("A film.   A delight.   It ends.")
    blanks = [word.i for word in doc if word.is_space]
    assert len(blanks) == 2
    span = doc[blanks[0] : blanks[1] + 1]
    assert span.text[0] == span.text[-1] == " "
    assert span._.sentiment == doc[blanks[0] + 1 : blanks[1]]._.sentiment
    assert span._.sentiment.text == "A delight."


def test_displacy_draws_where_the_sentiment_turns(nlp: Any) -> None:
    doc = nlp(TEXT)
    shown = doc.spans["sentiment_turns"]
    assert 0 < len(shown) < len(doc.spans["sentiment"])
    assert "neutral" not in {span.label_ for span in shown}
    html = spacy.displacy.render(doc, style="span", options={"spans_key": "sentiment_turns"}, jupyter=False)
    assert "very positive" in html
    assert "#1e5aa0" in html  # the colour of the palette, by the entry point


def test_a_doc_keeps_it_in_bytes(nlp: Any) -> None:
    doc = nlp(TEXT)
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.sentiment.json() == doc._.sentiment.json()
    assert again._.sentiment.svg() == doc._.sentiment.svg()
    assert again.spans["sentiment"][3]._.sentiment == doc.spans["sentiment"][3]._.sentiment


def test_other_processes_send_it_back(nlp: Any) -> None:
    texts = [PLAIN, "Dull.", TEXT]
    for doc in nlp.pipe(texts, n_process=2, batch_size=1):
        assert doc._.sentiment.score == pytest.approx(nlp(doc.text)._.sentiment.score, abs=1e-5)


def test_batches_give_what_single_docs_give_and_blanks_have_none(nlp: Any) -> None:
    texts = [PLAIN, "", "  \n ", TEXT, "Dull."]
    for doc, text in zip(nlp.pipe(texts, batch_size=2), texts, strict=True):
        assert doc.text == text
        if not text.strip():
            assert doc._.sentiment is None
            assert list(doc.spans["sentiment"]) == []
            assert doc[:]._.sentiment is None
        else:
            assert doc._.sentiment.score == pytest.approx(nlp(text)._.sentiment.score, abs=1e-5)


def test_without_the_component_there_is_none(package: str) -> None:
    doc = spacy.blank("en")(PLAIN)
    assert doc._.sentiment is None
    assert doc[:2]._.sentiment is None


def test_words_merged_afterwards_keep_the_rest(nlp: Any) -> None:
    doc = nlp(PLAIN)
    before = doc[:]._.sentiment
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:5])
    assert doc[:]._.sentiment == before


def test_a_pipeline_is_saved_and_loaded_with_it(nlp: Any, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    assert loaded(tmp_path / "nlp")(PLAIN)._.sentiment.label == nlp(PLAIN)._.sentiment.label


def test_a_model_of_ones_own_has_its_spans_under_a_key_of_their_own(package: str, tmp_path: Path) -> None:
    bough.fit(*small_fits.examples(), trees="dependency", epochs=2, settings=small_fits.QUICK).save(tmp_path)
    nlp = loaded(package)
    nlp.add_pipe("bough_sentiment", config={"model": str(tmp_path), "spans_key": "mine"})
    doc = nlp("The old tea is good . \n A cat sleeps")
    assert doc._.sentiment.classes == ("fruit", "tool")
    assert len(doc.spans["mine"]) == len([word for word in doc if not word.is_space])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"model": "relatedness"},
            "has no classes of texts; bough_sentiment needs a model such as 'sentiment'",
        ),
        ({"model": "nowhere"}, "no model 'nowhere'"),
    ],
)
def test_what_cannot_work_is_said_when_it_is_added(config: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spacy.blank("en").add_pipe("bough_sentiment", config=config)


def test_gold_trees_have_the_words_that_the_component_joins(nlp: Any) -> None:
    """A treebank's own words, hyphens and all, survive spaCy."""
    words = ["A", "well-made", ",", "n't", "``", "funny", "''", "film"]
    doc = nlp("A well-made, funny film")
    tree = doc._.sentiment.tree
    assert [token for token in tree.tokens if token] == ["A", "well-made", ",", "funny", "film"]
    assert ptb.write(tree).count("well-made") == 1
    assert set(doc._.sentiment.tokens) <= set(words)
