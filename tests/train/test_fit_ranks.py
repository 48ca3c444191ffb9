"""Claims about a fit by several ranks: each reads and parses a part of the file, and the fit is that of one process."""

from pathlib import Path

import pytest

from bough.files import read_tensors
from bough.pipelines.readers import AT_ONCE, WholeReader
from bough.train import plan
from bough.train.dataset import PackedTrees
from bough.train.parse_cache import Parses
from bough.trees.tree import Tree
from cli_calls import bough
from small_fits import QUICK, examples, write_csv
from torchrun_calls import torchrun

COUNT = 3 * AT_ONCE + 5


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_the_shards_are_all_examples_each_once_and_texts_parsed_together_stay_together(ranks: int) -> None:
    found = plan._shards(COUNT, ranks)
    assert [example for shard in found for example in shard] == list(range(COUNT))
    assert all(shard.start % AT_ONCE == 0 for shard in found if len(shard))


def test_trees_packed_in_parts_are_those_packed_in_one() -> None:
    trees = [
        Tree([1, -1, 1], tokens=["a", f"w{i % 5}", "b"], relations=["x", None, f"r{i % 2}"]) for i in range(9)
    ]
    labels: list[list[int | None]] = [[None, i % 2, 3] for i in range(9)]
    whole, joined = PackedTrees(), PackedTrees()
    for tree, own in zip(trees, labels, strict=True):
        whole.append(tree, own)
    for start, end in ((0, 2), (2, 2), (2, 9)):
        part = PackedTrees()
        for tree, own in zip(trees[start:end], labels[start:end], strict=True):
            part.append(tree, own)
        joined.extend(part)
    assert vars(joined) == vars(whole)
    assert whole.sizes.tolist() == [3] * 9


def test_parses_of_several_writers_are_found_by_all(tmp_path: Path) -> None:
    path, reader = tmp_path / "parses-1.jsonl", WholeReader("none", "dependency", chain=True)
    (tmp_path / "parses-11.jsonl").write_text("another data set's\n")
    with Parses(path, reader, 0) as first, Parses(path, reader, 1) as second:
        trees = [*first.trees(["one two"]), *second.trees(["three four"])]
    assert len(list(tmp_path.iterdir())) == 3
    with Parses(path, reader) as alone:
        assert alone.trees(["one two", "three four"]) == trees
        assert alone.parsed == 0


def test_without_dropout_a_fit_by_two_ranks_is_that_of_one(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "topics.csv", zip(*examples(2 * AT_ONCE + 60), strict=True))
    settings = {
        **QUICK,
        "dropout": 0.0,
        "optimizer": "adadelta",
        "learning_rate": 1.0,
    }
    command = ["fit", str(file), "--trees", "none", "--epochs", "2"]
    command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    one, two = tmp_path / "one", tmp_path / "two"
    done = bough(*command, "--out", str(one), XDG_CACHE_HOME=str(tmp_path / "cache1"))
    assert done.returncode == 0, done.stderr
    cache = tmp_path / "cache2"
    done = torchrun(2, "-m", "bough", *command, "--out", str(two), XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("accuracy of a bag of words") == 1
    assert (one / "run.json").read_bytes() == (two / "run.json").read_bytes()
    assert (one / "vocab.txt").read_bytes() == (two / "vocab.txt").read_bytes()
    learnt, too = (read_tensors(folder / "model.safetensors") for folder in (one, two))
    for name in learnt:
        assert (learnt[name] - too[name]).abs().max() <= 1e-5, name
    lines = [len(path.read_bytes().splitlines()) for path in sorted((cache / "bough" / "parses").iterdir())]
    assert lines == [AT_ONCE * 2 + 60 - AT_ONCE, AT_ONCE], "each rank has parsed its shard"


def test_what_is_wrong_with_a_file_is_said_once(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "one.csv", [("a text", "only"), ("another", "only")])
    failed = torchrun(2, "-m", "bough", "fit", str(file), "--out", str(tmp_path / "out"))
    assert failed.returncode
    assert failed.stderr.count("one class only, 'only'") == 1
