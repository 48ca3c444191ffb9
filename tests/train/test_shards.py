"""Claims about a fit by several ranks: each reads and parses a part of the file, and the fit is that of one process."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bough.data.labelled import LabelledFile, open_labelled
from bough.files import read_tensors
from bough.pipelines.readers import WholeReader
from bough.pipelines.reading import AT_ONCE
from bough.train.packed_trees import PackedTrees
from bough.train.parse_cache import Parses
from bough.train.shards import shards
from bough.trees.tree import Tree
from cli_calls import bough
from ranks_of_torchrun import torchrun
from small_fits import QUICK, examples, write_csv

COUNT = 3 * AT_ONCE + 5


def quoted(path: Path) -> Path:
    """CSV with a header and cells of several lines, and rows that are left out."""
    rows = [
        ("" if i % 50 == 7 else f"text {i}" + (",\n\nand more" if i % 7 == 0 else ""), f"c{i % 3}")
        for i in range(COUNT)
    ]
    return write_csv(path.with_suffix(".csv"), rows, header=("te\nxt", "label"))


def json_lines(path: Path) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text(
        "\n".join(json.dumps({"te\nxt": f"caf\u00e9 {i}", "label": i % 3}) + "\n" for i in range(COUNT))
    )
    return path


def brackets(path: Path) -> Path:
    path = path.with_suffix(".ptb")
    path.write_text("".join(f"({i % 3} (1 a{i}) (0 b))\n" + "\n" * (i % 11 == 0) for i in range(COUNT)))
    return path


def broken_brackets(path: Path) -> Path:
    path = path.with_suffix(".ptb")
    path.write_text("".join(f"({i % 3} (1 a{i})\n  (0 b))\n" for i in range(COUNT)))
    return path


def conllu(path: Path) -> Path:
    path = path.with_suffix(".conllu")
    word = "1\tw{}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    path.write_text("".join(f"# label = c{i % 3}\n" + word.format(i) for i in range(COUNT)))
    return path


def spreadsheet(path: Path) -> Path:
    path = path.with_suffix(".tsv")
    path.write_text(
        "te\nxt".replace("\n", " ") + "\tlabel\n" + "".join(f"t {i}\tc\n" for i in range(COUNT)), "utf-16"
    )
    return path


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("make", [quoted, json_lines, brackets, broken_brackets, conllu, spreadsheet])
def test_the_shards_of_a_file_are_its_examples_each_once(
    make: Callable[[Path], Path], ranks: int, tmp_path: Path
) -> None:
    path = make(tmp_path / "file")
    columns = {".csv": ["te\nxt"], ".jsonl": ["te\nxt"], ".tsv": ["te xt"]}.get(path.suffix, [])
    source = open_labelled(path, columns, "label" if columns else None)
    whole = list(source)
    found = shards(source, [example.line for example in whole], ranks)
    assert [example for shard in found for example in shard.read(source)] == whole
    assert all(shard.start % AT_ONCE == 0 for shard in found if len(shard)), (
        "texts parsed together stay together"
    )
    in_parts = ranks > 1 and make not in (broken_brackets, spreadsheet)
    assert all((shard.stretch is not None) == in_parts for shard in found if len(shard))


def test_a_rank_reads_nothing_of_the_others_part(tmp_path: Path) -> None:
    source = open_labelled(quoted(tmp_path / "file"), ["te\nxt"], "label")
    whole = list(source)
    found = shards(source, [example.line for example in whole], 3)
    middle = found[1].stretch
    assert middle is not None
    content = bytearray(source.path.read_bytes())
    header = content.index(b"label") + len(b"label\r\n")
    for start, end in ((header, middle.start), (middle.end, len(content))):
        content[start:end] = b"\xff" * (end - start)  # no UTF-8: to read it is an error
    source.path.write_bytes(content)
    assert (
        list(found[1].read(LabelledFile(source.path, source.columns))) == whole[found[1].start : found[1].end]
    )


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


def test_a_fit_by_two_ranks_is_that_of_one(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "topics.csv", zip(*examples(2 * AT_ONCE + 60), strict=True))
    settings = {
        **QUICK,
        "input_dropout": 0.2,
        "recurrent_dropout": 0.2,
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
