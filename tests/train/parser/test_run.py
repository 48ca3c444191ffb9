"""A parser trained on files."""

from dataclasses import replace
from pathlib import Path

import pytest

from bough.errors import DataError, TrainingError
from bough.text import get_parser
from bough.text.builtin.parser import BuiltinParser
from bough.train.loop import Event
from bough.train.parser.evaluation import score
from bough.train.parser.examples import read_treebanks
from bough.train.parser.run import train_parser
from small_parser import CONFIG

PHRASES = "".join(
    f"(S (NP (DT The) (NN {noun})) (VP (VBZ {verb}) (ADVP (RB slowly))))\n"
    for noun in ("oak", "elm", "ash")
    for verb in ("grows", "bends")
)
GERMAN = "".join(
    f"1\tDie\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\t{noun}\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
    f"3\t{verb}\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    for noun in ("Eiche", "Ulme", "Esche")
    for verb in ("wächst", "fällt")
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    phrases, arcs = tmp_path / "phrases.txt", tmp_path / "german.conllu"
    phrases.write_text(PHRASES, encoding="utf-8")
    arcs.write_text(GERMAN, encoding="utf-8")
    return phrases, arcs


LONGER = replace(CONFIG, epochs=60, learning_rate=0.01)


def test_a_parser_learns_files_of_both_kinds_without_vectors(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    train_parser(files, files, tmp_path / "out", config=LONGER)
    scores = score(BuiltinParser.load(tmp_path / "out"), read_treebanks(files))
    assert (scores.brackets, scores.heads, scores.relations) == (100.0, 100.0, 100.0)


def test_a_parser_of_one_kind_has_that_kind_only(files: tuple[Path, Path], tmp_path: Path) -> None:
    parser = train_parser(files[1:], files[1:], tmp_path / "out", config=LONGER)
    (tree,) = get_parser(str(tmp_path / "out")).dependency([["Die", "Eiche", "fällt"]])
    assert tree.parents.tolist() == [1, 2, -1]
    assert tree.relations == ("det", "nsubj", "root")
    assert parser.trees == ("dependency",)


def test_word_vectors_become_rows_of_the_parser(files: tuple[Path, Path], tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {i}.5 -1 2\n" for i, word in enumerate(["oak", "yew", "fir"])))
    parser = train_parser(files[:1], files[:1], tmp_path / "out", vectors=vectors, config=CONFIG)
    assert {"oak", "yew", "fir"} <= {*parser.lexicon.words}


def test_a_stopped_run_goes_on_with_the_same_files_only(files: tuple[Path, Path], tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if event.epoch == 2:
            raise KeyboardInterrupt

    train_parser(files, files, tmp_path / "whole", config=CONFIG)
    out = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        train_parser(files, files, out, config=CONFIG, callback=stop)
    with pytest.raises(TrainingError, match="another treebanks"):
        train_parser(files[:1], files, out, config=CONFIG, resume=True)
    train_parser(files, files, out, config=CONFIG, resume=True)
    for name in ("config.json", "vocab.txt", "model.safetensors"):
        assert (tmp_path / "whole" / name).read_bytes() == (out / name).read_bytes()


def test_dev_needs_trees_that_can_be_learned(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the dev sentences have phrase trees, and no treebank"):
        train_parser(files[1:], files[:1], tmp_path / "out", config=CONFIG)
    with pytest.raises(DataError, match=r"more than 2 words \(`longest`\)"):
        train_parser(files, files, tmp_path / "out", config=replace(CONFIG, longest=2))
    assert not (tmp_path / "out").exists()
