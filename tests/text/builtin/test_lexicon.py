import pytest

from bough.text.builtin.lexicon import (
    AFFIXES,
    BUCKETS,
    SHAPES,
    SPECIALS,
    UNKNOWN,
    Lexicon,
    affixes,
    normal,
    shapes,
)


def test_words_are_found_by_their_normal_form_and_numbers_by_zeros() -> None:
    lexicon = Lexicon([*SPECIALS, "oak", "(", "and/or", "0,000"])
    found = [
        lexicon.words[lexicon.find(token)] for token in ("OAK", "-LRB-", "(", "and\\/or", "3,512", "elm")
    ]
    assert found == ["oak", "(", "(", "and/or", "0,000", UNKNOWN]


def test_a_sentence_stands_between_its_marks() -> None:
    lexicon = Lexicon([*SPECIALS, "oak"])
    assert [lexicon.words[row] for row in lexicon.rows(["Oak"])] == ["<begin>", "oak", "<end>"]
    assert len(shapes(["Oak"])) == 3


def test_shapes_tell_case_digits_hyphens_and_the_first_word_apart() -> None:
    words = ["oak", "Oak", "OAK", "oakTree", "!", "1oak", "1", "old-oak"]
    found = {shape for word in words for shape in shapes([word, word])[1:-1]}
    assert len(found) == 2 * len(words)
    assert max(found) < SHAPES - 2


def test_affixes_are_hashed_and_absent_in_short_words() -> None:
    walking, talking, a = affixes("walking"), affixes("talking"), affixes("a")
    assert len(walking) == AFFIXES
    assert walking[3:] == talking[3:]
    assert walking[:3] != talking[:3]
    assert a == (0,) * AFFIXES
    assert all(0 <= bucket < BUCKETS for bucket in walking)
    assert affixes("1990s") == affixes("2013s")


def test_a_vocabulary_without_its_special_words_is_refused() -> None:
    with pytest.raises(ValueError, match="starts with <pad>"):
        Lexicon(["oak"])


def test_treebank_escapes_are_undone() -> None:
    assert [normal(token) for token in ("-LCB-", "\\*", "Oak")] == ["{", "*", "oak"]
