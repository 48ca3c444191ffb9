"""Claims about words and pieces: every word has its own, in order, and none is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_encoder
from bough.models.subwords import SubwordTokenizer, align, detokenise

ODD = r"""`` '' " ` ' -LRB- -RRB- -LCB- \/ \* n't 's ca gon na ... [SEP] $ % --""".split()  # noqa: SIM905
ODD += ["\u200b", "\ud83d", "\x00", "\u0301", "\u00a0", "caf\u00e9", "\U0001f600", "\u4e2d\u6587", "\ufb01"]
WORDS = st.lists(
    st.one_of(st.sampled_from(ODD), st.text(min_size=1, max_size=6).filter(lambda word: " " not in word)),
    min_size=1,
    max_size=20,
)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> SubwordTokenizer:
    folder = small_encoder.make(tmp_path_factory.mktemp("encoder"))
    return SubwordTokenizer(small_encoder.tokenizer_of(folder), limit=24)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("I do n't like it .", "I don't like it."),
        ("It 's -LRB- almost -RRB- free , $ 5 !", "It's (almost) free, $5!"),
        ("`` Good , '' he said", '"Good," he said'),
        ("a 50 \\/ 50 chance", "a 50 / 50 chance"),
        ("and\\/or", "and/or"),
        ('He said " no " twice', 'He said "no" twice'),
        ("He said ` no ' .", "He said 'no'."),
    ],
)
def test_words_are_written_as_people_write_them(words: str, text: str) -> None:
    found, spans = detokenise(words.split(" "))
    assert found == text
    signs = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "\\/": "/", "and\\/or": "and/or", "`": "'"}
    assert [found[start:end] for start, end in spans.tolist()] == [
        signs.get(word, word) for word in words.split(" ")
    ]


def test_a_text_that_speaks_of_special_pieces_has_none_in_it(pieces: SubwordTokenizer) -> None:
    (encoded,) = pieces.encode([["not", "[SEP]", "good"]])
    inner = encoded.windows[0][1:-1]
    assert not {*inner.tolist()} & {*pieces.tokenizer.all_special_ids}
    _, first, last = encoded.words.T
    assert (last[:-1] == first[1:]).all()  # each word has pieces of its own


@settings(max_examples=100, deadline=None)
@given(words=WORDS)
def test_every_word_has_a_piece_in_order_and_none_is_lost(pieces: SubwordTokenizer, words: list[str]) -> None:
    (encoded,) = pieces.encode([words])
    assert len(encoded.words) == len(words)
    window, first, last = encoded.words.T
    assert (first < last).all()
    assert all(last[i] < len(encoded.windows[window[i]]) for i in range(len(words)))
    assert (first >= 1).all()
    if len(encoded.windows) == 1:
        assert (np.diff(first) >= 0).all()
        covered = {piece for start, end in zip(first, last, strict=True) for piece in range(start, end)}
        assert covered == {*range(1, len(encoded.windows[0]) - 1)}


def test_a_contraction_is_read_as_one_word_and_given_back_in_two(pieces: SubwordTokenizer) -> None:
    (encoded,) = pieces.encode([["I", "do", "n't"]])
    read = pieces.tokenizer.convert_ids_to_tokens(encoded.windows[0])
    assert read == ["[CLS]", "i", "don", "'", "t", "[SEP]"]
    assert encoded.words.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 5]]


def test_a_word_inside_another_ones_piece_shares_it() -> None:
    assert align(np.array([(0, 3), (3, 5)]), np.array([(0, 5)])).tolist() == [[0, 1], [0, 1]]


def test_characters_that_a_tokenizer_drops_are_an_unknown_word(pieces: SubwordTokenizer) -> None:
    (encoded,) = pieces.encode([["good", "\u200b\x00", "film"]])
    window, first, last = encoded.words[1]
    assert pieces.tokenizer.convert_ids_to_tokens(encoded.windows[window][first:last]) == ["[UNK]"]


def test_a_long_text_is_read_in_windows_and_each_word_where_it_has_most_around_it(
    pieces: SubwordTokenizer,
) -> None:
    words = ["good", "film"] * 40
    (encoded,) = pieces.encode([words])
    assert len(encoded.windows) > 1
    assert max(map(len, encoded.windows)) <= 24
    for word, (window, first, last) in zip(words, encoded.words.tolist(), strict=True):
        assert pieces.tokenizer.convert_ids_to_tokens(encoded.windows[window][first:last]) == [word]
    inner = encoded.words[20:60]
    sizes = np.array([len(encoded.windows[window]) for window in inner[:, 0]])
    assert (np.minimum(inner[:, 1] - 1, sizes - 1 - inner[:, 2]) >= 4).all()


def test_a_word_longer_than_a_window_keeps_its_beginning(pieces: SubwordTokenizer) -> None:
    (encoded,) = pieces.encode([["a", "x" * 90, "film"]])
    assert (encoded.words[:, 1] < encoded.words[:, 2]).all()
    window, first, last = encoded.words[1]
    found = pieces.tokenizer.convert_ids_to_tokens(encoded.windows[window][first:last])
    assert found[0] == "x"
    assert 1 < len(found) <= 22


def test_a_slow_tokenizer_is_refused() -> None:
    class Slow:
        is_fast = False

    with pytest.raises(ValueError, match="Slow is not a fast tokenizer"):
        SubwordTokenizer(Slow(), 10)
