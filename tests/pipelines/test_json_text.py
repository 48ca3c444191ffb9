"""Claims about JSON written from columns: the bytes that `json.dumps` gives, whatever the words and the numbers."""

import json

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bough.pipelines import Sentiment
from bough.pipelines.files import _line
from bough.pipelines.json_text import numbers
from bough.pipelines.reading import Read
from bough.text.tokenise import Token
from treegen import trees

NAMES = {2: ("bad", "good"), 3: ("bad", 'so "so"', "g\u00f6od"), 5: tuple("abcde")}
LETTERS = st.characters(exclude_categories=())  # lone surrogates too


@st.composite
def results(draw: st.DrawFn) -> Sentiment:
    """Any tree over any words, with probabilities that may be 0, 1 or no numbers at all."""
    classes = NAMES[draw(st.sampled_from(sorted(NAMES)))]
    text, sentences, probabilities = "", [], []
    for shape in draw(st.lists(trees(max_nodes=12), min_size=1, max_size=3)):
        tokens = []
        for _ in shape.words:
            word = draw(st.text(LETTERS, min_size=1, max_size=4))
            tokens.append(Token(word, len(text), len(text) + len(word)))
            text += word + draw(st.sampled_from(["", " "]))
        sentences.append(Read(tokens, shape))
        logits = draw(arrays(np.float32, (len(shape), len(classes)), elements=st.floats(-30, 30, width=32)))
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        if draw(st.integers(0, 9)) == 0:
            chances[0] = np.nan
        probabilities.append(chances)
    return Sentiment(text, classes, sentences, probabilities)


@given(results())
def test_a_result_is_written_as_its_dictionary_would_be(result: Sentiment) -> None:
    whole = json.dumps(result.as_dict(), ensure_ascii=False)
    assert result.json() == whole
    assert result.json(phrases=False) == json.dumps(result.as_dict(phrases=False), ensure_ascii=False)
    assert _line(result.as_dict(phrases=False), result.phrases_json()) == _line(result.as_dict())


@given(arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(1, 5)), elements=st.floats(-1, 1)))
@example(np.array([[0.0, -0.0, 1.0, -1.0, 0.00005, -0.00004, 0.00015, 0.99995, 1 + 1e-7]]))
@example(np.array([[np.nan, 0.5], [np.inf, -np.inf]]))
def test_numbers_are_written_as_json_writes_them_rounded(values: np.ndarray) -> None:
    written = [", ".join(row) for row in numbers(values)]
    assert f"[{', '.join(f'[{row}]' for row in written)}]" == json.dumps(values.round(4).tolist())
