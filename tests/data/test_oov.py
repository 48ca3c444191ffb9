"""Claims about words outside the vocabulary: what stands for them, and in which order it is looked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data.oov import candidates, rows_for

WORDS = [
    *("funny", "not", "witty", "stop", "happy", "horror", "film", "go-to", "eye", "wide", "five", "year"),
    *("decade", "hundred", "thousand", "million", "cafe", "so", "cool", "without", "plot", "(", "london"),
    *(
        "Paris",
        "story",
        "write",
        "charm",
        "bright",
        "5th",
        "0.25",
        "1:00",
        "wrong",
        "against",
        "judge",
        "movie",
    ),
]
INDEX = {word: place for place, word in enumerate(WORDS, 1)}


def names(word: str) -> list[str]:
    return [WORDS[row - 1] for row in rows_for(word, INDEX)]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("funny", ["funny"]),
        ("FUNNY", ["funny"]),
        ("London", ["london"]),
        ("PARIS", ["Paris"]),
        ("-LRB-", ["("]),
        ("café", ["cafe"]),
        ("soooo", ["so"]),
        ("cooooool", ["cool"]),
        ("5", ["five"]),
        ("1987", ["year"]),
        ("1930s", ["decade"]),
        ("317", ["hundred"]),
        ("14,250", ["thousand"]),
        ("3,000,000", ["million"]),
        ("21st", ["5th"]),
        ("7:45", ["1:00"]),
        ("3.75", ["0.25"]),
        ("go-to", ["go-to"]),
        ("wide-eyed", ["wide", "eye"]),
        ("horror/film", ["horror", "film"]),
        ("films", ["film"]),
        ("stories", ["story"]),
        ("stopped", ["stop"]),
        ("writing", ["write"]),
        ("happiest", ["happy"]),
        ("brightly", ["bright"]),
        ("charmingly", ["charm"]),
        ("unfunny", ["funny", "not"]),
        ("plotless", ["plot", "without"]),
        ("misjudged", ["judge", "wrong"]),
        ("anti-film", ["film"]),
        ("movie's", ["movie"]),
        ("zzyzx", []),
        ("\u2603", []),
        ("x" * 10_000, []),
    ],
)
def test_what_stands_for_a_word(word: str, found: list[str]) -> None:
    assert names(word) == found


@given(st.text(max_size=80))
def test_any_text_is_looked_up_without_an_error(word: str) -> None:
    assert all(0 < row <= len(WORDS) for row in rows_for(word, INDEX))


@given(st.sampled_from(WORDS))
def test_a_known_word_stands_for_itself(word: str) -> None:
    assert names(word) == [word]


@given(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(["un", "anti-"]).flatmap(lambda a: st.sampled_from(WORDS).map(a.__add__)),
    )
)
def test_an_index_of_the_candidates_is_as_good_as_the_whole(word: str) -> None:
    asked = {form: INDEX[form] for form in candidates([word]) if form in INDEX}
    assert rows_for(word, asked) == rows_for(word, INDEX)


def test_candidates_of_no_words() -> None:
    assert candidates([]) == set()


FREQUENT = [
    *(
        "the",
        "so",
        "not",
        "good",
        "to",
        "people",
        "many",
        "this",
        "love",
        "sad",
        "happy",
        "god",
        "money",
        "fail",
    ),
    *(
        "experience",
        "horrible",
        "really",
        "beautiful",
        "someone",
        "website",
        "cool",
        "bad",
        "!",
        "!!",
        "airplane",
    ),
    *("waste", "money-back", "definitely", "delta", "fly", "heartbroken"),
]
RANKED = {word: place for place, word in enumerate(FREQUENT, 1)}


def meant(word: str) -> list[str]:
    return [FREQUENT[row - 1] for row in rows_for(word, RANKED, written=True)]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("sooooo goood :-)", "so good happy"),
        ("SOOO BAAAD >", "so bad"),
        ("waste of mony !!!!!", "waste money !"),
        ("a horrble experiance , realy", "horrible experience really"),
        ("a beautifull website", "beautiful website"),
        ("#LoveThis #lovethis #FAIL", "love this love this fail"),
        ("@somebody fly http://x.org/a?b=c ✈️", "someone fly website airplane"),
        ("👍🏽 👎 ❤️ 💔 :'(", "good bad love heartbroken sad"),
    ],
)
def test_words_as_people_write_them(sentence: str, words: str) -> None:
    assert " ".join(name for token in sentence.split() for name in meant(token)) == words


def test_a_word_written_well_means_the_same_either_way() -> None:
    for word in ("love", "Love", "LOVE", "unhappy", "goods", "1987", "money-back"):
        assert rows_for(word, RANKED, written=True) == rows_for(word, RANKED)


def test_the_more_frequent_of_two_near_words_is_meant_and_a_left_out_letter_before_a_wrong_one() -> None:
    assert meant("peopel") == ["people"]
    assert meant("mony") == ["money"]  # and not the more frequent `many`
    assert meant("xove") == []  # the first letter is trusted
    assert meant("qzx") == []


@given(st.text(min_size=1, max_size=80))
def test_anything_can_be_written(word: str) -> None:
    assert all(row in RANKED.values() for row in rows_for(word, RANKED, written=True))
