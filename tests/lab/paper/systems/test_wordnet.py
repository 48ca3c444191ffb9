"""WordNet is read as it stands: forms, senses, hypernyms, opposites; nltk's reader agrees."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import nltk
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from bough.errors import DataError
from paper.systems.wordnet import DEPTHS, Term, WordNet

TERMS = [(noun, "n") for noun in ("dog", "cat", "boy", "ball", "water", "guitar", "street")]
TERMS += [(verb, "v") for verb in ("run", "jog", "eat", "play", "be", "cut")]


@pytest.fixture(scope="module")
def reference(
    prepare: object, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WordNetCorpusReader]:
    folder = tmp_path_factory.mktemp("wordnet")
    for path in (data / "wordnet").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())  # it follows no links
    (folder / "lexnames").write_text("".join(f"{number:02d}\tname{number}\t1\n" for number in range(45)))
    with pytest.MonkeyPatch.context() as patch:  # it reads below these folders only
        patch.setattr(nltk.data, "path", [str(folder)])
        patch.setattr(WordNetCorpusReader, "map_wn", lambda self: None)  # to other languages
        with pytest.warns(UserWarning, match="multilingual"):
            reader = WordNetCorpusReader(str(folder), None)
        yield reader


@pytest.mark.parametrize(
    ("word", "part", "lemma"),
    [
        ("children", "n", "child"),
        ("men", "n", "man"),
        ("boxes", "n", "box"),
        ("playing", "v", "play"),
        ("riding", "v", "ride"),
        ("sat", "v", "sit"),
        ("bigger", "a", "big"),
        ("the", "n", None),
        ("dog", "r", None),
    ],
)
def test_base_forms(wordnet: WordNet, word: str, part: str, lemma: str | None) -> None:
    assert wordnet.lemma(word, part) == lemma


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b in combinations(TERMS, 2) if a[1] == b[1]])
def test_senses_and_paths_are_those_of_nltk(
    wordnet: WordNet, reference: WordNetCorpusReader, a: Term, b: Term
) -> None:
    ours, theirs = wordnet, [reference.synsets(*term)[:5] for term in (a, b)]
    pairs = [(s, t) for s in theirs[0] for t in theirs[1]]
    assert ours.path(a, b) == pytest.approx(max(s.path_similarity(t) for s, t in pairs))
    assert [sense.offset for sense in ours.senses(*a)[:5]] == [s.offset() for s in theirs[0]]


def test_similarities_of_dog_and_cat(wordnet: WordNet) -> None:
    dog, cat = ("dog", "n"), ("cat", "n")
    assert wordnet.path(dog, cat) == pytest.approx(1 / 5)  # canine, carnivore, feline between them
    assert wordnet.wu_palmer(dog, cat) == pytest.approx(24 / 28)
    assert 0.8 < wordnet.lin(dog, cat) < 1 > wordnet.leacock_chodorow(dog, cat)


@pytest.mark.parametrize("name", ["path", "wu_palmer", "leacock_chodorow", "lin"])
def test_similarities_are_symmetric_within_0_and_1_and_greatest_for_a_word_and_itself(
    wordnet: WordNet, name: str
) -> None:
    other = WordNet(wordnet.folder)  # with nothing remembered
    for a in TERMS:
        assert getattr(wordnet, name)(a, a) == 1
        for b in TERMS:
            value = getattr(wordnet, name)(a, b)
            assert 0 <= value <= 1
            assert getattr(other, name)(b, a) == pytest.approx(value)
            assert value == 0 or a[1] == b[1]


def test_relations(wordnet: WordNet) -> None:
    assert wordnet.synonyms(("kid", "n"), ("child", "n"))
    assert not wordnet.synonyms(("dog", "n"), ("cat", "n"))
    assert wordnet.hypernym(("boy", "n"), ("male", "n"))
    assert not wordnet.hypernym(("male", "n"), ("boy", "n"))
    for a, b in [
        (("old", "a"), ("young", "a")),
        (("open", "v"), ("close", "v")),
        (("woman", "n"), ("man", "n")),
    ]:
        assert wordnet.antonyms(a, b)
        assert wordnet.antonyms(b, a)
    assert not wordnet.antonyms(("dog", "n"), ("cat", "n"))


def test_more_general_senses_hold_less_information(wordnet: WordNet) -> None:
    for lemma, part in TERMS:
        sense = wordnet.senses(lemma, part)[0]
        for above in wordnet.above(sense):
            assert wordnet.content(above) <= wordnet.content(sense)
            assert wordnet.depth(above) <= wordnet.depth(sense) <= DEPTHS[part]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"index\.noun: no such file; run `python -m paper fetch wordnet`"):
        WordNet(tmp_path)
