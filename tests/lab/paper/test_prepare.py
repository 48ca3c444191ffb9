"""Claims about the trees that `paper.prepare` makes, and about which trees a run reads."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import minidata
from bough.errors import DataError
from bough.formats import ptb
from bough.trees.tree import Tree
from paper import parses, prepare
from paper.parses import AUTO, BUILTIN, HEADS, MADE, PAPER, Parse, choose_trees, trees_folder
from paper.plan import Run
from paper.prepare import parse
from paper.sick import TEXTS, load_sick
from paper.sst import load_sst

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SICK += "3\tA cat isn't here\tNo cat\t4.2\tNEUTRAL\r\n"
SPLITS = ("train", "dev", "test")


class Recorded:
    """A parser that knows the trees of its sentences, and chains for all others; it has no phrases."""

    name = "recorded"

    def __init__(self, trees: Sequence[Tree] = ()) -> None:
        self.trees = {tree.tokens: tree for tree in trees}
        self.asked: list[tuple[str, ...]] = []

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        self.asked += map(tuple, sentences)
        return [self.trees.get(tuple(words)) or self.chain(words) for words in sentences]

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        raise ValueError("no phrases")

    def chain(self, words: Sequence[str]) -> Tree:
        return Tree([*range(1, len(words)), -1], tokens=list(words))


@pytest.fixture
def official(tmp_path: Path) -> Path:
    """What the official archives have: phrase trees of SST, and texts of SICK."""
    raw, folder = minidata.make(tmp_path / "raw", sentences=6), tmp_path / "data"
    (folder / "sst").mkdir(parents=True)
    (folder / "sick").mkdir()
    (raw / "sst" / "trees").rename(folder / "sst" / "trees")
    for name, _ in TEXTS.values():
        (folder / "sick" / name).write_text(SICK)
    return folder


def test_the_trees_of_sick_have_the_words_ids_and_scores_of_the_text(official: Path) -> None:
    prepare.prepare("sick", BUILTIN, official)
    kinds: tuple[Parse, ...] = ("dependency", "constituency")
    for kind in kinds:
        (pair,) = load_sick(official, "test", parse=kind, trees=BUILTIN, check=False)
        assert (pair.id, pair.score) == ("3", 4.2)
        assert [token for token in pair.left.tokens or () if token] == ["A", "cat", "is", "n't", "here"]
    (plain,) = load_sick(official, "test", trees="none", check=False)
    assert plain.left.tokens == ("A", "cat", "is", "n't", "here")


def test_a_dependency_tree_of_sst_has_the_labels_of_its_phrases(official: Path) -> None:
    prepare.prepare("sst", BUILTIN, official)
    phrases = load_sst(official, "train", check=False)
    for tree, phrase in zip(
        load_sst(official, "train", parse="dependency", trees=BUILTIN, check=False), phrases, strict=True
    ):
        assert (tree.labels or ())[tree.root] == (phrase.labels or ())[phrase.root]
        spans = map(tuple, phrase.spans.tolist())
        known = dict(zip(spans, phrase.labels or (), strict=True))
        for node, (start, end) in enumerate(tree.spans.tolist()):
            if node in tree.leaves:
                assert (tree.labels or ())[node] == known[start, end]


def test_equal_sentences_are_parsed_once(official: Path) -> None:
    parser = Recorded()
    parse("sick", parser, "recorded", official)
    assert sorted(parser.asked[1:]) == [("A", "cat", "is", "n't", "here"), ("No", "cat")]  # after a trial


def test_a_parser_without_phrases_gives_dependencies_only(official: Path) -> None:
    assert parse("sick", Recorded(), "recorded", official)["trees"] == ["dependency"]
    (pair,) = load_sick(official, "dev", trees="recorded", check=False)
    assert pair.right.parents.tolist() == [1, -1]
    assert pair.right.relations is None
    with pytest.raises(DataError, match=r"a\.cparents: no such file; `python -m paper prepare sick --parser"):
        load_sick(official, "dev", parse="constituency", trees="recorded", check=False)


def test_a_parser_of_another_failure_is_not_taken_for_one_without_trees(official: Path) -> None:
    parser = Recorded()
    parser.constituency = lambda sentences: (_ for _ in ()).throw(DataError("no server"))  # type: ignore[method-assign]
    with pytest.raises(DataError, match="no server"):
        parse("sick", parser, "recorded", official)
    assert not trees_folder(official, "sick", "recorded").exists()


def test_what_is_parsed_is_not_parsed_again(official: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepare.prepare("sick", BUILTIN, official)
    with monkeypatch.context() as patch:
        patch.delattr(prepare, "get_parser")
        assert prepare.prepare("sick", BUILTIN, official) == first


@pytest.mark.parametrize("changed", ["text", "parser"])
def test_trees_of_another_text_or_parser_are_refused_and_made_again(
    changed: str, official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare.prepare("sick", BUILTIN, official)
    if changed == "text":
        (official / "sick" / TEXTS["dev"][0]).write_text(SICK.replace("here", "there"))
    else:
        other = tmp_path / "model.safetensors"
        other.write_bytes(b"another parser")
        monkeypatch.setattr(parses, "PARSER_FILES", (other,))
    with pytest.raises(
        DataError, match="made from other files or by another parser; `python -m paper prepare"
    ):
        load_sick(official, "dev", trees=BUILTIN, check=False)
    prepare.prepare("sick", BUILTIN, official)
    (pair,) = load_sick(official, "dev", trees=BUILTIN, check=False)
    assert ("there" in (pair.left.tokens or ())) == (changed == "text")


def test_the_papers_trees_come_first_then_those_of_the_only_parser(official: Path) -> None:
    def chosen(trees: str = AUTO) -> str:
        return choose_trees(trees, official, "sick", "dependency")

    assert chosen() == BUILTIN  # to be made
    parse("sick", Recorded(), "recorded", official)
    assert chosen() == "recorded"
    assert choose_trees(AUTO, official, "sick", "constituency") == BUILTIN  # recorded has none
    prepare.prepare("sick", BUILTIN, official)
    assert chosen() == BUILTIN
    authors = official / "sick" / "dev" / HEADS["sick"]["dependency"]
    authors.parent.mkdir()
    authors.write_text("")
    assert chosen() == PAPER
    assert chosen("recorded") == "recorded"
    assert choose_trees(BUILTIN, official, "sst", "constituency") == PAPER  # they are published


def test_the_key_of_a_run_follows_its_trees(official: Path) -> None:
    usual, own = (Run("sick-dependency", 1, settings) for settings in ((), (("trees", BUILTIN),)))
    before = own.key(official)
    prepare.prepare("sick", BUILTIN, official)
    assert own.key(official) == before  # the parser decides its trees, so that a report needs none
    assert own.key(official) != usual.key(official)
    parse("sick", Recorded(), "recorded", official)
    recorded = Run("sick-dependency", 1, (("trees", "recorded"),))
    key = recorded.key(official)
    heads = trees_folder(official, "sick", "recorded") / "train" / "a.parents"
    heads.write_text("2 3 4 5 0\n"[::-1])
    assert recorded.key(official) != key


def test_the_key_follows_the_built_in_parser(
    official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Run("sick-dependency", 1).key(official)
    other = tmp_path / "parser" / "model.safetensors"
    other.parent.mkdir()
    other.write_bytes(b"another parser")
    for module in (parses, __import__("paper.plan", fromlist=["plan"])):
        monkeypatch.setattr(module, "PARSER_FILES", (other,))
    assert Run("sick-dependency", 1).key(official) != before


def test_a_folder_of_a_parser_gives_its_name(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "paper").mkdir()
    assert prepare.trees_name(str(tmp_path / "mine")) == "mine"
    assert prepare.trees_name("corenlp:http://localhost:9000") == "corenlp"
    with pytest.raises(ValueError, match="trees cannot be named 'paper'"):
        prepare.trees_name(str(tmp_path / "paper"))


def test_made_says_by_what_and_when(official: Path) -> None:
    line = prepare.prepare("sst", BUILTIN, official)
    made = json.loads((trees_folder(official, "sst", BUILTIN) / MADE).read_text())
    count = sum(len(ptb.read(official / "sst" / "trees" / f"{split}.txt")) for split in SPLITS)
    assert (made["parser"], made["trees"], made["sentences"]) == (BUILTIN, ["dependency"], count)
    assert line.startswith(f"sst: dependency trees by builtin, made {made['made']}, in ")


@pytest.mark.slow
def test_the_papers_parses_get_the_papers_labels(data: Path, tmp_path: Path) -> None:
    """From the same heads come the same labels: every one of the 163,563 of train and those of dev and test."""
    splits = {split: load_sst(data, split, parse="dependency") for split in SPLITS}
    parser = Recorded([tree for trees in splits.values() for tree in trees])
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst" / "trees").symlink_to(data / "sst" / "trees")
    parse("sst", parser, "recorded", tmp_path)
    for split, trees in splits.items():
        assert load_sst(tmp_path, split, parse="dependency", trees="recorded") == trees
