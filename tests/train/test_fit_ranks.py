"""Claims about a fit by several ranks: each reads and parses a part of the file, and the fit is that of one process."""

import sqlite3
from pathlib import Path

import pytest

from bough.data.disk_cache import DiskCache
from bough.files import read_tensors
from bough.pipelines.readers import AT_ONCE, WholeReader
from bough.train import dataset
from bough.train.dataset import ParseCache
from cli_calls import bough
from small_fits import QUICK, examples, write_csv
from torchrun_calls import torchrun

COUNT = 3 * AT_ONCE + 5


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_the_shards_are_all_examples_each_once_and_texts_parsed_together_stay_together(ranks: int) -> None:
    found = dataset._shards(COUNT, ranks)
    assert [example for shard in found for example in shard] == list(range(COUNT))
    assert all(shard.start % AT_ONCE == 0 for shard in found if len(shard))


def test_parses_of_several_writers_are_found_by_all(tmp_path: Path) -> None:
    path, reader = tmp_path / "parses.sqlite", WholeReader("none", "dependency", chain=True)
    with DiskCache(path) as one, DiskCache(path) as two:
        first, second = ParseCache(one, reader), ParseCache(two, reader)
        trees = [*first.trees(["one two"]), *second.trees(["three four"])]
        assert first.trees(["one two", "three four"]) == trees
        assert (first.parsed, second.parsed) == (1, 1)


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
    assert done.stdout.count("accuracy of logistic regression on TF-IDF") == 1
    assert (one / "run.json").read_bytes() == (two / "run.json").read_bytes()
    assert (one / "vocab.txt").read_bytes() == (two / "vocab.txt").read_bytes()
    learnt, too = (read_tensors(folder / "model.safetensors") for folder in (one, two))
    for name in learnt:
        assert (learnt[name] - too[name]).abs().max() <= 1e-5, name
    (parses,) = (cache / "bough" / "parses").iterdir()
    with sqlite3.connect(parses) as database:
        (count,) = database.execute("SELECT COUNT(*) FROM cache").fetchone()
    assert count == 2 * AT_ONCE + 60, "the ranks have parsed each text once"


def test_what_is_wrong_with_a_file_is_said_once(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "one.csv", [("a text", "only"), ("another", "only")])
    failed = torchrun(2, "-m", "bough", "fit", str(file), "--out", str(tmp_path / "out"))
    assert failed.returncode
    assert failed.stderr.count("every label is 'only'; a model needs") == 1
