import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.text import tokenise as module
from bough.text.tokenise import sentences, tokenise


def words(text: str) -> str:
    return " ".join(token.text for token in tokenise(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, won't and don't.", "I ca n't , wo n't and do n't ."),
        ("It's they'll we're I'd I'm you've", "It 's they 'll we 're I 'd I 'm you 've"),
        ("couldn't've", "could n't 've"),
        ("You cannot; she's gonna, wanna, gotta", "You can not ; she 's gon na , wan na , got ta"),
        ("the boys' hats", "the boys ' hats"),
        ('He said "go" (twice).', "He said `` go '' ( twice ) ."),
        ("\u201cCurly\u201d \u2018quotes\u2019 don\u2019t hurt", "`` Curly '' ` quotes ' do n't hurt"),
        ("an ill-kept, on/off 3-year-old", "an ill-kept , on/off 3-year-old"),
        ("wait ... no… yes..", "wait ... no ... yes ..."),
        ("one--two\u2014three \u2013 four", "one -- two -- three -- four"),
        ("$1,200.50 is 50% of it", "$ 1,200.50 is 50 % of it"),
        (
            "Mr. Ash met Dr. Elm, e.g. at 5 p.m. in the U.S.",
            "Mr. Ash met Dr. Elm , e.g. at 5 p.m. in the U.S.",
        ),
        ("J. R. Oak and No. 5, vs. No", "J. R. Oak and No. 5 , vs. No"),
        ("rock 'n' roll in the '90s, get 'em", "rock 'n' roll in the '90s , get 'em"),
        (
            "see https://elm.example/a_(b), or me@elm.example.",
            "see https://elm.example/a_(b) , or me@elm.example .",
        ),
        ("nice :-) and <3 #oak @ash", "nice :-) and <3 #oak @ash"),
        ("really?! yes!!!", "really ?! yes !!!"),
        ("-LRB- so -RRB- do n't `` quote ''", "( so ) do n't `` quote ''"),
        ("[a] {b}", "[ a ] { b }"),
        ("", ""),
        (" \t\n ", ""),
    ],
)
def test_text_is_cut_as_the_penn_treebank_cuts_it(text: str, expected: str) -> None:
    assert words(text) == expected


def test_tokens_of_tokenised_text_are_the_same() -> None:
    once = words('Isn\'t it "odd" (or so they say)? They cannot tell...')
    assert words(once) == once


def test_emoji_are_one_token_each_with_their_modifiers() -> None:
    assert words("good 👍🏽👨‍👩‍👧 day") == "good 👍🏽 👨‍👩‍👧 day"


def test_words_keep_their_marks_in_other_scripts() -> None:
    assert words("שָׁלוֹם עולם!") == "שָׁלוֹם עולם !"
    assert words("cafe\u0301 na\u0131ve") == "cafe\u0301 na\u0131ve"


def test_control_characters_are_no_words() -> None:
    assert words("a\x00b\x07 \u200bc\ufeff\u202ed") == "a b c d"


def test_bytes_that_were_no_text_become_the_replacement_character() -> None:
    assert words(b"caf\xe9 noir".decode("utf-8", "surrogateescape")) == "caf \ufffd noir"


@given(st.text(max_size=80))
def test_tokens_stand_in_order_where_they_say_they_do(text: str) -> None:
    place = 0
    for token in tokenise(text):
        assert place <= token.start < token.end <= len(text)
        assert token.text
        assert not any(c.isspace() for c in token.text)
        token.text.encode()
        place = token.end


PIECES = [
    "film",
    "cannot",
    "I",
    "http",
    "://",
    ".com",
    "US",
    "ol",
    "etc",
    "e",
    "tis",
    "1",
    *".,;!?)('@$#-_:",
    "n't",
]
PIECES += [" ", " ", "\n", "\u00a0", "\u2019", "\u00ad", "\u0301", "\x00", "\u200d", "...", "\u2029"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_the_short_cuts_find_what_the_whole_way_finds(text: str) -> None:
    found, cut = tokenise(text), sentences(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PLAIN", re.compile("(?!)"))
        assert tokenise(text) == found
    ends = [place for place in range(1, len(found)) if found[place] in [one[0] for one in cut]]
    starts = [0, *ends]
    assert ends == [
        place
        for place in range(1, len(found))
        if module._ends_before(text, found, max(start for start in starts if start < place), place)
    ]


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), max_size=60))
def test_no_visible_character_is_lost(text: str) -> None:
    covered = [False] * len(text)
    for token in tokenise(text):
        covered[token.start : token.end] = [True] * (token.end - token.start)
    assert all(covered)


@pytest.mark.parametrize(
    "unit", ["a", ".", "a.", "'", "-", "a-", "a@", "www.", "1,", "n't", "👍\u200d", ":-", " '", '"a']
)
def test_time_is_linear_in_the_text_whatever_it_is(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        start = time.process_time()
        sentences(text)
        return time.process_time() - start

    seconds(1_000)
    short = min(seconds(4_000) for _ in range(3))
    long = min(seconds(40_000) for _ in range(2))
    assert long < 60 * short + 0.05  # quadratic would be 100 times


def split(text: str) -> list[str]:
    return [text[found[0].start : found[-1].end] for found in sentences(text)]


def test_sentences_end_at_their_marks() -> None:
    assert split("It rains. does it? Yes! It does.") == ["It rains.", "does it?", "Yes!", "It does."]


def test_abbreviations_and_numbers_do_not_end_a_sentence() -> None:
    assert split("Mr. Ash paid 3.50 to J. Elm in the U.S. army. He left.") == [
        "Mr. Ash paid 3.50 to J. Elm in the U.S. army.",
        "He left.",
    ]


def test_quotes_and_brackets_close_with_their_sentence() -> None:
    assert split('He said "Go." Then (he left.) "Odd!" she thought.') == [
        'He said "Go."',
        "Then (he left.)",
        '"Odd!" she thought.',
    ]


def test_a_blank_line_ends_a_sentence_and_a_line_end_does_not() -> None:
    assert split("A title\n\nand a text\nover two lines") == ["A title", "and a text\nover two lines"]


@given(st.text(max_size=120))
def test_sentences_hold_all_tokens_in_order(text: str) -> None:
    assert [token for sentence in sentences(text) for token in sentence] == tokenise(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I didnt enjoy it", ["I", "did", "n't", "enjoy", "it"]),
        ("Im late, DONT wait", ["I", "'m", "late", ",", "DO", "n't", "wait"]),
        ("you cant and wont", ["you", "ca", "n't", "and", "wo", "n't"]),
        ("theyre here, ive seen it", ["they", "'re", "here", ",", "i", "'ve", "seen", "it"]),
        ("were ill, its well", ["were", "ill", ",", "its", "well"]),
    ],
)
def test_an_apostrophe_that_was_left_out_is_understood(text: str, words: list[str]) -> None:
    tokens = tokenise(text)
    assert [token.text for token in tokens] == words
    assert "".join(text[t.start : t.end] for t in tokens) == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("Love it! 😍", [4]), ("Worst flight. :( Never again", [4, 2]), ("Good! 😍😍 Nice.", [4, 2])],
)
def test_an_emoji_belongs_to_the_sentence_before_it(text: str, sizes: list[int]) -> None:
    assert [len(sentence) for sentence in sentences(text)] == sizes
