"""Claims about fetching: whole or not at all, from the net or from copies, and nothing that is not as known."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from bough.data import DataError
from bough.data.fetch import GLOVE, Archive, Dataset, fetch
from bough.data.paths import check_count
from bough.errors import FormatError
from web_server import Server, tree_of, write_files, zipped

TEXTS = {"oak": "Acorn\nLeaf\n", "elm": "Leaf\nTwig\n", "ash": "Key\nLeaf\n"}


def check(folder: Path, *, counts: bool) -> None:
    """Every file of the data set has names, 100 of them if they are counted."""
    for path in sorted((folder / "woods").glob("*.txt")):
        names = path.read_text().splitlines()
        for number, name in enumerate(names, 1):
            if not name.istitle():
                raise FormatError(f"{name!r} is no name", where=str(path), line=number)
        if counts:
            check_count(path, len(names), 100, "names")


def archive_of(*names: str, url: str) -> Archive:
    return Archive(url, {f"texts/{name}.txt": f"woods/{name}.txt" for name in names})


OAK, OTHERS = archive_of("oak", url="https://x/oak.zip"), archive_of("elm", "ash", url="https://x/others.zip")
WOODS = Dataset("woods", (OAK, OTHERS), check, command="grow")
LAYOUT = {f"woods/{name}.txt": text.encode() for name, text in TEXTS.items()}


def packed(archive: Archive) -> bytes:
    """An archive with what it promises, and something to read."""
    files = {name: TEXTS[Path(name).stem] for name in archive.files}
    return zipped({"readme.txt": "Lorem ipsum. " * 10_000, **files})


def served(server: Server, archive: Archive, body: bytes | None = None, sha256: str | None = None) -> Archive:
    server.files[f"/{archive.name}"] = packed(archive) if body is None else body
    return replace(archive, url=f"{server.url}/{archive.name}", sha256=sha256)


def of(*archives: Archive) -> Dataset:
    return replace(WOODS, archives=archives)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """A folder with a local copy."""
    write_files(tmp_path / "copies" / "woods", {f"{name}.txt": text for name, text in TEXTS.items()})
    return tmp_path / "copies"


def test_files_from_the_net_are_the_archives_and_nothing_else(target: Path, server: Server) -> None:
    known = hashlib.sha256(packed(OAK)).hexdigest()
    placed = fetch(of(served(server, OAK, sha256=known), served(server, OTHERS)), target, check=False)
    assert [path.relative_to(target).as_posix() for path in placed] == sorted(LAYOUT)
    assert tree_of(target) == LAYOUT


def test_vectors_from_the_net(target: Path, server: Server) -> None:
    small = Archive("x/glove.9B.zip", {"glove.9B.3d.txt": "glove/glove.9B.3d.txt"})
    body = zipped({"glove.9B.2d.txt": "a 1 2\n", "glove.9B.3d.txt": "a 1 2 3\n"})
    fetch(replace(GLOVE["6B"], archives=(served(server, small, body),)), target)
    assert tree_of(target) == {"glove/glove.9B.3d.txt": b"a 1 2 3\n"}


def test_progress_is_told_of_every_byte(target: Path, server: Server) -> None:
    calls: list[tuple[str, int, int | None]] = []
    fetch(of(served(server, OAK)), target, check=False, progress=lambda *step: calls.append(step))
    size = len(packed(OAK))
    assert calls[-1] == ("oak.zip", size, size)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)


def test_a_dead_connection_changes_nothing_and_says_what_to_do(target: Path, server: Server) -> None:
    server.cuts = [70_000]
    with pytest.raises(
        DataError, match=r"oak\.zip: [^\n]+; or get it by hand and run `grow woods --from DIR`"
    ):
        fetch(of(served(server, OAK)), target, check=False)
    assert list(target.iterdir()) == []


def test_no_server_is_an_error_of_one_line(target: Path) -> None:
    gone = replace(OAK, url="http://127.0.0.1:1/oak.zip")
    with pytest.raises(DataError, match=r"^http://127\.0\.0\.1:1/oak\.zip: [^\n]+$"):
        fetch(of(gone), target)


def test_a_corrupted_archive_changes_nothing(target: Path, server: Server) -> None:
    write_files(target / "woods", {"oak.txt": "what was there before"})
    before, body = tree_of(target), packed(OAK)
    known = hashlib.sha256(body).hexdigest()
    with pytest.raises(DataError, match=f"its sha256 is not the known {known}"):
        fetch(of(served(server, OAK, body[:-9] + b"corrupted", known)), target, check=False)
    assert tree_of(target) == before
    with pytest.raises(DataError, match="a damaged archive"):
        fetch(of(served(server, OAK, body.replace(b"Acorn", b"Scorn"))), target, check=False)
    assert tree_of(target) == before


@pytest.mark.parametrize("name", ["../texts/oak.txt", "/texts/oak.txt", "good/../../texts/oak.txt"])
def test_an_archive_never_writes_outside(target: Path, server: Server, name: str) -> None:
    fetch(of(served(server, OAK, zipped({name: "Acorn\n", "../evil": "evil"}))), target, check=False)
    assert tree_of(target.parent) == {"target/woods/oak.txt": b"Acorn\n"}


def test_an_archive_without_its_file_is_another_archive(target: Path, server: Server) -> None:
    with pytest.raises(DataError, match=r"oak\.zip: no texts/oak\.txt in it"):
        fetch(of(served(server, OAK, zipped({"readme.txt": "?"}))), target)


@pytest.mark.parametrize("damage", ["no tar", "cut", "flipped", "link", "folder"])
def test_a_damaged_tar_archive_is_an_error(tmp_path: Path, target: Path, damage: str) -> None:
    member = tarfile.TarInfo("texts/oak.txt")
    content = random.Random(0).randbytes(4000)
    if damage == "link":
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
    elif damage == "folder":
        member.type = tarfile.DIRTYPE
    else:
        member.size = len(content)
    path = tmp_path / "oak.tar.bz2"
    with tarfile.open(path, "w:bz2") as archive:
        archive.addfile(member, io.BytesIO(content))
    whole = path.read_bytes()
    changed = {
        "no tar": b"no tar at all",
        "cut": whole[:-1000],
        "flipped": whole[:2000] + bytes([whole[2000] ^ 255]) + whole[2001:] if len(whole) > 2000 else b"",
    }
    path.write_bytes(changed.get(damage, whole))
    with pytest.raises(DataError, match=r"oak\.tar\.bz2: a damaged archive"):
        fetch(of(replace(OAK, url="https://x/oak.tar.bz2")), target, source=tmp_path, check=False)
    assert tree_of(target) == {}


def test_a_missing_archive_keeps_none_of_the_others(target: Path, server: Server) -> None:
    gone = replace(OTHERS, url=f"{server.url}/gone.zip")
    with pytest.raises(DataError, match=r"404 Not Found; or get it by hand and run `grow woods --from DIR`"):
        fetch(of(served(server, OAK), gone), target, check=False)
    assert tree_of(target) == {}


def test_wrong_counts_change_nothing(target: Path, server: Server) -> None:
    with pytest.raises(DataError, match=rf"{target}/woods/oak\.txt: 2 names, expected 100"):
        fetch(of(served(server, OAK)), target)
    assert tree_of(target) == {}


def test_a_local_copy_comes_with_all_that_is_in_its_folder(copies: Path, target: Path) -> None:
    write_files(copies, {"woods/maps/north.txt": "a map", "elsewhere/oak.txt": "not ours"})
    fetch(WOODS, target, source=copies, check=False)
    assert tree_of(target) == {**LAYOUT, "woods/maps/north.txt": b"a map"}


def test_local_zip_files_are_unpacked(tmp_path: Path, target: Path) -> None:
    for archive in WOODS.archives:
        (tmp_path / archive.name).write_bytes(packed(archive))
    fetch(WOODS, target, source=tmp_path, check=False)
    assert tree_of(target) == LAYOUT


@pytest.mark.parametrize("way", ["net", "folder"])
def test_every_file_of_an_archive_has_the_known_hash(
    way: str, tmp_path: Path, target: Path, server: Server
) -> None:
    (tmp_path / OTHERS.name).write_bytes(packed(OTHERS))
    right, wrong = hashlib.sha256(TEXTS["elm"].encode()).hexdigest(), "0" * 64
    archive = replace(served(server, OTHERS), digests={"woods/elm.txt": right, "woods/ash.txt": wrong})
    with pytest.raises(
        DataError, match=rf"ash\.txt in it has the sha256 \w+, not the known {wrong}.*`grow woods --from DIR`"
    ):
        fetch(of(archive), target, source=tmp_path if way == "folder" else None, check=False)
    assert tree_of(target) == {}
    whole = replace(archive, digests={"woods/elm.txt": right})
    fetch(of(whole), target, source=tmp_path if way == "folder" else None, check=False)
    assert set(tree_of(target)) == {"woods/elm.txt", "woods/ash.txt"}


@pytest.mark.parametrize("name", GLOVE)
def test_official_vectors_come_encrypted_and_with_a_hash(name: str) -> None:
    for archive in GLOVE[name].archives:
        assert archive.url.startswith("https://")
        assert archive.sha256


def test_a_local_zip_file_must_have_the_known_hash(tmp_path: Path, target: Path) -> None:
    (tmp_path / OAK.name).write_bytes(packed(OAK))
    known = "0" * 64
    with pytest.raises(DataError, match=f"its sha256 is not the known {known}"):
        fetch(of(replace(OAK, sha256=known)), target, source=tmp_path, check=False)
    assert tree_of(target) == {}


@pytest.mark.parametrize("inside", ["glove", "."])
def test_local_vectors_may_be_a_part_of_the_set(tmp_path: Path, target: Path, inside: str) -> None:
    text = "elm " + " ".join(["0.25"] * 300) + "\n"
    write_files(tmp_path / "copies" / inside, {"glove.6B.300d.txt": text})
    fetch(GLOVE["6B"], target, source=tmp_path / "copies")
    assert tree_of(target) == {"glove/glove.6B.300d.txt": text.encode()}


def test_local_vectors_with_a_short_line_are_refused(tmp_path: Path, target: Path) -> None:
    write_files(tmp_path / "copies", {"glove.6B.300d.txt": "elm 0.25\n"})
    with pytest.raises(DataError, match=r"glove\.6B\.300d\.txt:1: 1 values; a vector of .* has 300"):
        fetch(GLOVE["6B"], target, source=tmp_path / "copies")


def test_a_local_copy_with_a_fault_is_told_by_its_own_path(copies: Path, target: Path) -> None:
    path = copies / "woods" / "elm.txt"
    path.write_text("Leaf\ntwig\n")
    with pytest.raises(DataError, match=rf"{path}:2: 'twig' is no name"):
        fetch(WOODS, target, source=copies, check=False)
    assert tree_of(target) == {}


def test_an_empty_source_says_what_was_looked_for(tmp_path: Path, target: Path) -> None:
    with pytest.raises(DataError, match=r".*: neither woods/oak\.txt nor oak\.zip in it"):
        fetch(WOODS, target, source=tmp_path)
    with pytest.raises(DataError, match=r".*nowhere: no such folder"):
        fetch(WOODS, target, source=tmp_path / "nowhere")


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path, copies: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(DataError, match=f"{blocked}"):
        fetch(WOODS, blocked, source=copies, check=False)
