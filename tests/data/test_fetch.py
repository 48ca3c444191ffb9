from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bough.data import DataError, load_sick, load_sst
from bough.data.fetch import GLOVE, SICK, SST, WORDNET, Archive, fetch
from bough.data.wordnet import SYNSETS

if TYPE_CHECKING:
    from data.conftest import Server

Zipped = Callable[[dict[str, str]], bytes]


def tree_of(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_texts(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def served(server: Server, archive: Archive, body: bytes, sha256: str | None = None) -> Archive:
    server.files[f"/{archive.name}"] = body
    return Archive(f"{server.url}/{archive.name}", archive.files, sha256, archive.optional)


@pytest.fixture
def packed(data: Path, zipped: Zipped) -> dict[str, bytes]:
    """The data folder's files in archives named and built like the official ones, with something to read."""
    bodies = {}
    for archive in (SST, *SICK):
        files = {name: (data / place).read_bytes().decode() for name, place in archive.files.items()}
        bodies[archive.name] = zipped({"readme.txt": "Lorem ipsum. " * 10_000, **files})
    return bodies


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target"


def test_the_treebank_from_the_net(
    data: Path, target: Path, server: Server, packed: dict[str, bytes]
) -> None:
    body = packed[SST.name]
    archive = served(server, SST, body, hashlib.sha256(body).hexdigest())
    placed = fetch("sst", target, archives=[archive], check=False)
    assert [path.relative_to(target).as_posix() for path in placed] == [
        f"sst/trees/{split}.txt" for split in ("dev", "test", "train")
    ]
    assert sorted(tree_of(target)) == [f"sst/trees/{split}.txt" for split in ("dev", "test", "train")]
    assert load_sst(target, "dev", check=False) == load_sst(data, "dev", check=False)


def test_the_pairs_from_the_net(target: Path, server: Server, packed: dict[str, bytes]) -> None:
    archives = [served(server, archive, packed[archive.name]) for archive in SICK]
    fetch("sick", target, archives=archives, check=False)
    assert sorted(tree_of(target)) == [
        "sick/SICK_test_annotated.txt",
        "sick/SICK_train.txt",
        "sick/SICK_trial.txt",
    ]
    with pytest.raises(
        DataError, match=r"the official archives have no parses, `bough fetch sick --from DIR`"
    ):
        load_sick(target, "train")


def test_vectors_from_the_net(target: Path, server: Server, zipped: Zipped) -> None:
    small = Archive("x/glove.9B.zip", {"glove.9B.3d.txt": "glove/glove.9B.3d.txt"})
    body = zipped({"glove.9B.2d.txt": "a 1 2\n", "glove.9B.3d.txt": "a 1 2 3\n"})
    fetch("glove", target, archives=[served(server, small, body)])
    assert tree_of(target) == {"glove/glove.9B.3d.txt": b"a 1 2 3\n"}


WORDNET_FILES = {
    **{f"data.{part}": "  1 A licence.\n00000015 02 r 01 elm 0 000 | a tree\n" for part in SYNSETS},
    **{f"index.{part}": "  1 A licence.\nelm n 1 0 1 0 00000015\n" for part in SYNSETS},
    **{f"{part}.exc": "elms elm\n" for part in SYNSETS},
    "cntlist.rev": "elm%1:20:00:: 1 7\n",
}


def tarred(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_wordnet_from_the_net(target: Path, server: Server) -> None:
    files = {f"WordNet-3.0/dict/{name}": text for name, text in WORDNET_FILES.items()}
    body = tarred({"WordNet-3.0/README": "?", "WordNet-3.0/LICENSE": "free", **files})
    archive = served(server, WORDNET, body, hashlib.sha256(body).hexdigest())
    with pytest.raises(DataError, match=rf"{target}/wordnet/data\.noun: 1 synsets, expected 82,115"):
        fetch("wordnet", target, archives=[archive])
    assert not (target / "wordnet").exists()
    fetch("wordnet", target, archives=[archive], check=False)
    assert tree_of(target) == {
        "wordnet/LICENSE": b"free",
        **{f"wordnet/{name}": text.encode() for name, text in WORDNET_FILES.items()},
    }


@pytest.mark.parametrize("inside", [".", "dict", "wordnet"])
def test_an_installed_wordnet_is_a_local_copy(tmp_path: Path, target: Path, inside: str) -> None:
    write_texts(tmp_path / "copy" / inside, {**WORDNET_FILES, "index.sense": "not ours"})
    fetch("wordnet", target, source=tmp_path / "copy", check=False)
    assert tree_of(target) == {f"wordnet/{name}": text.encode() for name, text in WORDNET_FILES.items()}


def test_a_synset_out_of_its_place_is_named(tmp_path: Path, target: Path) -> None:
    shifted = WORDNET_FILES["data.verb"].replace("A licence.", "Another licence.")
    write_texts(tmp_path / "copy", {**WORDNET_FILES, "data.verb": shifted})
    with pytest.raises(
        DataError, match=r"copy/wordnet/data\.verb:2: a synset numbered b'00000015' at byte 21"
    ):
        fetch("wordnet", target, source=tmp_path / "copy", check=False)
    assert tree_of(target) == {}


def test_half_a_wordnet_is_refused(tmp_path: Path, target: Path) -> None:
    write_texts(tmp_path / "copy", {name: text for name, text in WORDNET_FILES.items() if "adv" not in name})
    with pytest.raises(
        DataError, match=r"neither wordnet/index\.adv, .*wordnet/adv\.exc nor WordNet-3\.0\.tar\.bz2 in it"
    ):
        fetch("wordnet", target, source=tmp_path / "copy", check=False)
    assert tree_of(target) == {}


def test_the_real_wordnet_passes_every_check(real_data: Path, target: Path) -> None:
    if not (real_data / "wordnet").is_dir():
        pytest.skip("no WordNet among the real data")
    fetch("wordnet", target, source=real_data / "wordnet")
    assert tree_of(target) == {
        f"wordnet/{name}": text for name, text in tree_of(real_data / "wordnet").items()
    }


def test_a_cut_connection_resumes_and_leaves_nothing_behind(
    target: Path, server: Server, packed: dict[str, bytes]
) -> None:
    server.cuts = [70_000]
    fetch("sst", target, archives=[served(server, SST, packed[SST.name])], check=False)
    assert [bool(asked) for asked in server.requests] == [False, True]
    assert not (target / ".fetch").exists()


def test_a_dead_connection_leaves_only_what_a_later_fetch_continues(
    target: Path, server: Server, packed: dict[str, bytes]
) -> None:
    archive = served(server, SST, packed[SST.name])
    server.cuts = [70_000, 0, 0, 0, 0]
    with pytest.raises(DataError, match=r"trainDevTestTrees_PTB\.zip: .*`bough fetch sst --from DIR`"):
        fetch("sst", target, archives=[archive], check=False)
    assert set(tree_of(target)) == {f".fetch/{SST.name}.part", f".fetch/{SST.name}.part.json"}
    fetch("sst", target, archives=[archive], check=False)
    assert str(server.requests[-1]).startswith("bytes=6")
    assert sorted(path.name for path in target.iterdir()) == ["sst"]


def test_a_corrupted_archive_changes_nothing(target: Path, server: Server, packed: dict[str, bytes]) -> None:
    (target / "sst" / "trees").mkdir(parents=True)
    (target / "sst" / "trees" / "dev.txt").write_text("what was there before")
    before = tree_of(target)
    body = packed[SST.name]
    known = hashlib.sha256(body).hexdigest()
    with pytest.raises(DataError, match=f"its sha256 is not the known {known}"):
        fetch("sst", target, archives=[served(server, SST, body[:-9] + b"corrupted", known)], check=False)
    assert tree_of(target) == before
    with pytest.raises(DataError, match="a damaged archive"):
        fetch("sst", target, archives=[served(server, SST, body.replace(b"rained", b"reined"))], check=False)
    assert tree_of(target) == before


def test_an_archive_that_reaches_outside_changes_nothing(
    target: Path, server: Server, zipped: Zipped
) -> None:
    body = zipped({"trees/train.txt": "(2 Oh)", "../evil": "evil"})
    with pytest.raises(DataError, match=r"'\.\./evil' lies outside the folder"):
        fetch("sst", target, archives=[served(server, SST, body)], check=False)
    assert tree_of(target.parent) == {}


def test_a_missing_archive_keeps_none_of_the_others(
    target: Path, server: Server, packed: dict[str, bytes]
) -> None:
    first = served(server, SICK[0], packed[SICK[0].name])
    gone = Archive(f"{server.url}/gone.zip", SICK[1].files)
    with pytest.raises(
        DataError, match=r"404 Not Found; or get it by hand and run `bough fetch sick --from DIR`"
    ):
        fetch("sick", target, archives=[first, gone], check=False)
    assert tree_of(target) == {}


def test_wrong_counts_change_nothing(target: Path, server: Server, packed: dict[str, bytes]) -> None:
    with pytest.raises(DataError, match=rf"{target}/sst/trees/train\.txt: 3 sentences, expected 8,544"):
        fetch("sst", target, archives=[served(server, SST, packed[SST.name])])
    with pytest.raises(DataError, match=r"SICK_train\.txt: 2 pairs, expected 4,500"):
        fetch("sick", target, archives=[served(server, archive, packed[archive.name]) for archive in SICK])
    assert tree_of(target) == {}


def test_too_few_vectors_change_nothing(target: Path, server: Server, zipped: Zipped) -> None:
    text = "a " + " ".join(["0.5"] * 300) + "\n"
    body = zipped({"glove.6B.300d.txt": text})
    with pytest.raises(DataError, match=r"glove\.6B\.300d\.txt: 1 vectors, expected 400,000"):
        fetch("glove", target, archives=[served(server, GLOVE["6B"], body)])
    assert tree_of(target) == {}


@pytest.mark.parametrize("what", ["sst", "sick"])
def test_a_local_copy_comes_with_its_parses(data: Path, target: Path, what: str) -> None:
    fetch(what, target, source=data, check=False)  # type: ignore[arg-type]
    expected = {name: text for name, text in tree_of(data).items() if name.startswith(f"{what}/")}
    assert tree_of(target) == expected


def test_local_zip_files_are_unpacked(
    tmp_path: Path, data: Path, target: Path, packed: dict[str, bytes]
) -> None:
    source = tmp_path / "archives"
    source.mkdir()
    for archive in SICK:
        (source / archive.name).write_bytes(packed[archive.name])
    fetch("sick", target, source=source, archives=[replace(each, digests={}) for each in SICK], check=False)
    assert tree_of(target) == {n: t for n, t in tree_of(data).items() if n.startswith("sick/SICK")}


@pytest.mark.parametrize("way", ["net", "folder"])
def test_every_file_of_an_archive_has_the_known_hash(
    way: str, tmp_path: Path, target: Path, server: Server, packed: dict[str, bytes]
) -> None:
    source = tmp_path / "archives"
    source.mkdir()
    for archive in SICK:
        (source / archive.name).write_bytes(packed[archive.name])
        server.files[f"/{archive.name}"] = packed[archive.name]
    archives = [replace(each, url=f"{server.url}/{each.name}") for each in SICK]
    with pytest.raises(
        DataError,
        match=r"SICK_train\.txt in it has the sha256 \w+, not the known 266cf.*`bough fetch sick --from DIR`",
    ):
        fetch("sick", target, source=source if way == "folder" else None, archives=archives, check=False)
    assert tree_of(target) == {}


def test_everything_official_comes_encrypted_and_with_a_hash() -> None:
    for archive in (SST, *SICK, *GLOVE.values(), WORDNET):
        assert archive.url.startswith("https://")
        assert archive.sha256 or set(archive.digests) == set(archive.files.values())


def test_a_local_zip_file_must_have_the_known_hash(
    tmp_path: Path, target: Path, packed: dict[str, bytes]
) -> None:
    source = tmp_path / "archives"
    source.mkdir()
    (source / SST.name).write_bytes(packed[SST.name])
    with pytest.raises(DataError, match=f"its sha256 is not the known {SST.sha256}"):
        fetch("sst", target, source=source, check=False)
    assert tree_of(target) == {}


@pytest.mark.parametrize("inside", ["glove", "."])
def test_local_vectors_may_be_a_part_of_the_set(tmp_path: Path, target: Path, inside: str) -> None:
    source = tmp_path / "copies" / inside
    source.mkdir(parents=True)
    text = "elm " + " ".join(["0.25"] * 300) + "\n"
    (source / "glove.6B.300d.txt").write_text(text)
    fetch("glove", target, source=tmp_path / "copies", vectors="6B")
    assert tree_of(target) == {"glove/glove.6B.300d.txt": text.encode()}


def test_a_local_copy_with_a_fault_is_told_by_its_own_path(data: Path, target: Path) -> None:
    path = data / "sst" / "trees" / "dev.txt"
    path.write_text("(3 (2 Oh) (9 no))\n")
    with pytest.raises(DataError, match=rf"{path}: tree 1: label '9'"):
        fetch("sst", target, source=data, check=False)
    assert tree_of(target) == {}


def test_an_empty_source_says_what_was_looked_for(tmp_path: Path, target: Path) -> None:
    with pytest.raises(
        DataError, match=r"--from .*: neither sst/trees/train\.txt, .* nor trainDevTestTrees_PTB\.zip"
    ):
        fetch("sst", target, source=tmp_path)
    with pytest.raises(DataError, match=r"--from .*nowhere: no such folder"):
        fetch("sst", target, source=tmp_path / "nowhere")


@pytest.mark.parametrize(("name", "value"), [("what", "snli"), ("vectors", "7B")])
def test_unknown_choices_are_an_error(target: Path, name: str, value: str) -> None:
    choices = {"what": "glove", "data": target, name: value}
    with pytest.raises(ValueError, match=rf"{name} '{value}': '"):
        fetch(**choices)  # type: ignore[arg-type]
    assert not target.exists()


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path, data: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(DataError, match=f"{blocked}"):
        fetch("sst", blocked, source=data, check=False)


def test_the_real_data_passes_every_check(real_data: Path, target: Path) -> None:
    fetch("sick", target, source=real_data)
    assert (target / "sick" / "train" / "a.cparents").is_file()
