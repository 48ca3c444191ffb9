"""Claims about the paper's data sets as they are fetched: official archives, their hashes, and local copies."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bough.data import DataError
from bough.data.fetch import Archive, Dataset, fetch
from lab_calls import lab, refused
from paper.fetch import SICK, SST, WORDNET, WORDNET_FILES
from paper.sick import load_sick
from paper.sst import load_sst
from web_server import Server, serving, tree_of, write_files, zipped

SICK_TEXT = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\r\n"
    "11\tA cat naps\tThe cat sleeps\t4.6\tENTAILMENT\r\n"
    "12\tTwo owls\tAn owl hoots\t2\tNEUTRAL\r\n"
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as running:
        yield running


@pytest.fixture
def copies(few: Path) -> Path:
    """Local copies in the layout of the data folder, with parses."""
    texts = ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
    write_files(few / "sick", dict.fromkeys(texts, SICK_TEXT))
    return few


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target"


def packed(copies: Path, archive: Archive) -> bytes:
    """The files of a folder in an archive that is named and built like the official one."""
    return zipped({name: (copies / place).read_bytes().decode() for name, place in archive.files.items()})


def served(server: Server, archive: Archive, body: bytes, sha256: str | None = None) -> Archive:
    server.files[f"/{archive.name}"] = body
    return Archive(f"{server.url}/{archive.name}", archive.files, sha256, archive.optional)


def all_served(server: Server, dataset: Dataset, copies: Path) -> Dataset:
    archives = [served(server, archive, packed(copies, archive)) for archive in dataset.archives]
    return replace(dataset, archives=archives)


def test_the_treebank_from_the_net(copies: Path, target: Path, server: Server) -> None:
    fetch(all_served(server, SST, copies), target, check=False)
    assert sorted(tree_of(target)) == [f"sst/trees/{split}.txt" for split in ("dev", "test", "train")]
    assert load_sst(target, "dev", check=False) == load_sst(copies, "dev", check=False)


def test_the_pairs_from_the_net(copies: Path, target: Path, server: Server) -> None:
    fetch(all_served(server, SICK, copies), target, check=False)
    assert sorted(tree_of(target)) == [
        "sick/SICK_test_annotated.txt",
        "sick/SICK_train.txt",
        "sick/SICK_trial.txt",
    ]
    with pytest.raises(
        DataError, match=r"the official archives have no parses, `python -m paper fetch sick --from DIR`"
    ):
        load_sick(target, "train")


WORDNET_TEXTS = {name: f"{name} of another WordNet\n" for name in WORDNET_FILES}


def tarred(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_wordnet_from_the_net(target: Path, server: Server) -> None:
    files = {f"WordNet-3.0/dict/{name}": text for name, text in WORDNET_TEXTS.items()}
    body = tarred({"WordNet-3.0/README": "?", "WordNet-3.0/LICENSE": "free", **files})
    archive = served(server, WORDNET.archives[0], body, hashlib.sha256(body).hexdigest())
    with pytest.raises(DataError, match=rf"{target}/wordnet/data\.noun: 29 bytes, expected 15,300,280"):
        fetch(replace(WORDNET, archives=(archive,)), target)
    assert not (target / "wordnet").exists()
    fetch(replace(WORDNET, archives=(archive,)), target, check=False)
    assert tree_of(target) == {
        "wordnet/LICENSE": b"free",
        **{f"wordnet/{name}": text.encode() for name, text in WORDNET_TEXTS.items()},
    }


@pytest.mark.parametrize("inside", [".", "dict", "wordnet"])
def test_an_installed_wordnet_is_a_local_copy(tmp_path: Path, target: Path, inside: str) -> None:
    write_files(tmp_path / "copy" / inside, {**WORDNET_TEXTS, "index.sense": "not ours"})
    fetch(WORDNET, target, source=tmp_path / "copy", check=False)
    assert tree_of(target) == {f"wordnet/{name}": text.encode() for name, text in WORDNET_TEXTS.items()}


def test_half_a_wordnet_is_refused(tmp_path: Path, target: Path) -> None:
    write_files(tmp_path / "copy", {name: text for name, text in WORDNET_TEXTS.items() if "adv" not in name})
    with pytest.raises(
        DataError, match=r"neither wordnet/data\.adv, .*wordnet/adv\.exc nor WordNet-3\.0\.tar\.bz2 in it"
    ):
        fetch(WORDNET, target, source=tmp_path / "copy", check=False)
    assert tree_of(target) == {}


def test_the_real_wordnet_passes_every_check(data: Path, target: Path) -> None:
    if not (data / "wordnet").is_dir():
        pytest.skip("no WordNet among the real data")
    fetch(WORDNET, target, source=data / "wordnet")
    assert tree_of(target) == {f"wordnet/{name}": text for name, text in tree_of(data / "wordnet").items()}


def test_wrong_counts_change_nothing(copies: Path, target: Path, server: Server) -> None:
    with pytest.raises(DataError, match=rf"{target}/sst/trees/train\.txt: 3 sentences, expected 8,544"):
        fetch(all_served(server, SST, copies), target)
    with pytest.raises(DataError, match=r"SICK_train\.txt: 2 pairs, expected 4,500"):
        fetch(all_served(server, SICK, copies), target)
    assert tree_of(target) == {}


@pytest.mark.parametrize("dataset", [SST, SICK], ids=lambda dataset: dataset.name)
def test_a_local_copy_comes_with_its_parses(copies: Path, target: Path, dataset: Dataset) -> None:
    fetch(dataset, target, source=copies, check=False)
    expected = {name: text for name, text in tree_of(copies).items() if name.startswith(f"{dataset.name}/")}
    assert tree_of(target) == expected


@pytest.mark.parametrize("way", ["net", "folder"])
def test_the_pairs_have_known_hashes(
    way: str, tmp_path: Path, copies: Path, target: Path, server: Server
) -> None:
    source, archives = tmp_path / "archives", []
    source.mkdir()
    for archive in SICK.archives:
        body = packed(copies, archive)
        (source / archive.name).write_bytes(body)
        archives.append(replace(served(server, archive, body), digests=archive.digests))
    official = replace(SICK, archives=archives)
    with pytest.raises(
        DataError,
        match=r"SICK_train\.txt in it has the sha256 \w+, not the known 266cf.*`python -m paper fetch sick --from DIR`",
    ):
        fetch(official, target, source=source if way == "folder" else None, check=False)
    assert tree_of(target) == {}


@pytest.mark.parametrize("dataset", [SST, SICK, WORDNET], ids=lambda dataset: dataset.name)
def test_everything_official_comes_encrypted_and_with_a_hash(dataset: Dataset) -> None:
    for archive in dataset.archives:
        assert archive.url.startswith("https://")
        assert archive.sha256 or set(archive.digests) == set(archive.files.values())


def test_a_tree_with_a_fault_is_told_by_its_own_path(copies: Path, target: Path) -> None:
    path = copies / "sst" / "trees" / "dev.txt"
    path.write_text("(3 (2 Oh) (9 no))\n")
    with pytest.raises(DataError, match=rf"{path}: tree 1: label '9'"):
        fetch(SST, target, source=copies, check=False)
    assert tree_of(target) == {}


def test_an_empty_source_says_what_was_looked_for(tmp_path: Path, target: Path) -> None:
    with pytest.raises(
        DataError, match=r".*: neither sst/trees/train\.txt, .* nor trainDevTestTrees_PTB\.zip"
    ):
        fetch(SST, target, source=tmp_path)


def test_the_real_data_passes_every_check(data: Path, target: Path) -> None:
    fetch(SICK, target, source=data)
    assert (target / "sick" / "train" / "a.cparents").is_file()


# ---------------------------------------------------------------------------------- the command


def test_copies_of_the_real_data_are_taken_over(data: Path, tmp_path: Path) -> None:
    taken = lab("paper", "fetch", "sst", "sick", "--from", str(data), "--data", str(tmp_path))
    assert taken.returncode == 0, taken.stderr
    assert (tmp_path / "sst" / "trees" / "train.txt").read_bytes() == (
        data / "sst/trees/train.txt"
    ).read_bytes()
    assert (tmp_path / "sick" / "train" / "sim.txt").exists()


def test_copies_that_are_not_whole_are_refused(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "sst", tmp_path / "copy" / "sst", copy_function=shutil.copyfile)
    torn = tmp_path / "copy" / "sst" / "trees" / "dev.txt"
    torn.write_bytes(torn.read_bytes()[:1000])
    where = ("--from", str(tmp_path / "copy"), "--data", str(tmp_path / "out"))
    assert "dev.txt" in refused("paper", "fetch", "sst", *where)
    assert not (tmp_path / "out" / "sst").exists()


def test_an_unknown_data_set_is_one_line(tmp_path: Path) -> None:
    assert "snli" in refused("paper", "fetch", "snli", "--data", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
