"""Claims about the way from an empty folder: the official archives are fetched, and every kind of recipe trains."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import bough.data.fetch
import minidata
import paper.fetch
import paper.sick
import paper.sst
import small_encoder
from bough.data.fetch import Dataset
from bough.formats import ptb
from bough.train.recipes import recipe_files
from lab_calls import refused
from paper.cli import build_app
from paper.parses import MADE
from paper.recipes import FOLDER, load_recipe
from web_server import Server, serving, zipped

SPLITS = ("train", "dev", "test")
PAIRS = 12  # of each split, and twice as many sentences
SMALL = {"epochs": 1, "hidden_size": 8}


def kind_of(name: str) -> tuple[object, ...]:
    config = load_recipe(name)
    task, encoder = config.task, bool(config.encoder)
    return task, "" if config.system else config.kind.reads, config.system, config.examples, encoder


KINDS = sorted({kind_of(name): name for name in reversed(recipe_files(FOLDER))}.values())


def sick_text(folder: Path, split: str) -> str:
    """An official file of SICK: pairs of sentences of SST, written as plain text."""
    trees = ptb.read(folder / "sst" / "trees" / f"{split}.txt")
    texts = [" ".join(str(tree.tokens[node]) for node in tree.words) for tree in trees if tree.tokens]
    heading = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\r\n"
    pairs = zip(texts[::2], texts[1::2], strict=True)
    rows = [f"{i}\t{a}\t{b}\t{1 + i % 5 * 0.9:.1f}\tNEUTRAL\r\n" for i, (a, b) in enumerate(pairs)]
    return heading + "".join(rows)


def wordnet_archive(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        archive.add(folder / "wordnet", "WordNet-3.0/dict")
    return buffer.getvalue()


def served(server: Server, dataset: Dataset, bodies: list[bytes]) -> Dataset:
    archives = []
    for archive, body in zip(dataset.archives, bodies, strict=True):
        server.files[f"/{archive.name}"] = body
        url = f"{server.url}/{archive.name}"
        archives.append(replace(archive, url=url, sha256=None, digests={}))
    return replace(dataset, archives=archives)


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A web server with small archives of the official layout, and the known sizes of what is in them."""
    raw = minidata.make(tmp_path_factory.mktemp("raw"), sentences=2 * PAIRS)
    trees = {split: (raw / "sst" / "trees" / f"{split}.txt").read_text() for split in SPLITS}
    glove = (raw / "glove" / "glove.6B.300d.txt").read_text()
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        sst = zipped({f"trees/{split}.txt": text for split, text in trees.items()})
        patch.setattr(paper.fetch, "SST", served(server, paper.fetch.SST, [sst]))
        parts = [zipped({paper.sick.TEXTS[split][0]: sick_text(raw, split)}) for split in SPLITS]
        patch.setattr(paper.fetch, "SICK", served(server, paper.fetch.SICK, parts))
        wordnet = served(server, paper.fetch.WORDNET, [wordnet_archive(raw)])
        patch.setattr(paper.fetch, "WORDNET", wordnet)
        vectors = bough.data.fetch.GLOVE["840B"]
        packed = zipped({"glove.840B.300d.txt": glove})
        patch.setitem(bough.data.fetch.GLOVE, "840B", served(server, vectors, [packed]))
        for split in SPLITS:
            read = [tree.labels or () for tree in ptb.read(raw / "sst" / "trees" / f"{split}.txt")]
            polar = sum(labels[0] != "2" for labels in read)
            known = paper.sst.KNOWN[split]._replace(sentences=len(read), not_neutral=polar)
            patch.setitem(paper.sst.KNOWN, split, known._replace(phrases=sum(map(len, read))))
            patch.setitem(paper.sick.KNOWN, split, PAIRS)
        for name in paper.fetch.WORDNET_SIZES:
            size = (raw / "wordnet" / name).stat().st_size
            patch.setitem(paper.fetch.WORDNET_SIZES, name, size)
        yield server


@pytest.fixture(scope="module")
def fetched(downloads: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `python -m paper fetch` makes."""
    folder = tmp_path_factory.mktemp("empty") / "data"
    build_app()(["fetch", "--data", str(folder)])
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder.make(tmp_path_factory.mktemp("encoders") / "tiny")


def train(name: str, data: Path, out: Path, **settings: object) -> None:
    words = [f"{key}={value}" for key, value in (SMALL | settings).items()]
    build_app()(
        ["train", name, "--data", str(data), "--out", str(out), *(w for s in words for w in ("--set", s))]
    )


@pytest.mark.parametrize("name", KINDS)
def test_after_fetch_every_kind_of_recipe_trains_and_is_evaluated(
    name: str, fetched: Path, encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"encoder": encoder, "encoder_freeze": -1} if load_recipe(name).encoder else {}
    train(name, fetched, tmp_path / "run", **settings)
    capsys.readouterr()
    build_app()(["evaluate", str(tmp_path / "run"), "--json", "--data", str(fetched)])
    figures = json.loads(capsys.readouterr().out)
    assert figures == pytest.approx(json.loads((tmp_path / "run" / "test.json").read_text())["test"])
    config = load_recipe(name)
    parsed = config.kind.reads == "dependency" or (config.of_pairs and not config.reads_words)
    others = "none" if config.of_pairs else "paper"
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["trees"] == ("builtin" if parsed else others)
    card = (tmp_path / "run" / "README.md").read_text()
    assert ("Trees: by builtin" in card) == (parsed and not config.system)


def test_fetch_says_what_made_the_trees_and_when(fetched: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_app()(["fetch", "sick", "--data", str(fetched)])
    made = json.loads((fetched / "sick" / "parsed" / "builtin" / MADE).read_text())
    already, line = capsys.readouterr().out.replace("\n", " ").split("sick: ")[1:]
    assert "already in" in already
    assert "dependency and constituency trees by builtin" in line
    assert made["made"] in line
    assert (made["parser"], made["bough"]) == ("builtin", bough.__version__)
    assert f"sick/{paper.sick.TEXTS['dev'][0]}" in made["from"]


def test_a_second_fetch_downloads_and_parses_nothing(downloads: Server, fetched: Path) -> None:
    requests, stamps = len(downloads.requests), {path: path.stat().st_mtime_ns for path in fetched.rglob("*")}
    build_app()(["fetch", "--data", str(fetched)])
    assert len(downloads.requests) == requests
    assert {path: path.stat().st_mtime_ns for path in fetched.rglob("*")} == stamps


def test_a_sequential_model_needs_no_trees(fetched: Path, tmp_path: Path) -> None:
    for name in ("sick", "glove"):
        shutil.copytree(fetched / name, tmp_path / "data" / name)
    train("sick-lstm", tmp_path / "data", tmp_path / "with")
    shutil.rmtree(tmp_path / "data" / "sick" / "parsed")
    train("sick-lstm", tmp_path / "data", tmp_path / "without")
    written = [(tmp_path / run / "predictions.txt").read_bytes() for run in ("with", "without")]
    assert written[0] == written[1]
    where = ("--data", str(tmp_path / "data"), "--out", str(tmp_path / "tree"))
    line = refused("paper", "train", "sick-dependency", *where)
    assert "`python -m paper prepare sick` parses the sentences" in line


def test_fetch_of_copies_with_the_papers_trees_parses_nothing(downloads: Server, tmp_path: Path) -> None:
    copies = minidata.make(tmp_path / "copies", sentences=2 * PAIRS)
    for split in SPLITS:
        (copies / "sick" / paper.sick.TEXTS[split][0]).write_text(sick_text(copies, split))
    build_app()(["fetch", "sick", "--from", str(copies), "--data", str(tmp_path / "data")])
    assert not (tmp_path / "data" / "sick" / "parsed").exists()
    train("sick-dependency", copies, tmp_path / "run", source="own")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["trees"] == "paper"
