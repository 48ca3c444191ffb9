from __future__ import annotations

import io
import random
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from bough.data.unpack import unpack
from bough.errors import DataError
from web_server import zipped


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "inside"
    path.mkdir()
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_named_members_come_out_at_their_places(tmp_path: Path, folder: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(zipped({"top/trees/a.txt": "oak", "top/b.txt": "elm", "__MACOSX/top/._b.txt": "?"}))
    calls: list[tuple[str, int, int | None]] = []
    unpack(
        archive,
        {"trees/a.txt": "sst/a.txt", "b.txt": "b.txt"},
        folder,
        progress=lambda *step: calls.append(step),
    )
    assert files_below(folder) == ["b.txt", "sst/a.txt"]
    assert (folder / "sst" / "a.txt").read_text() == "oak"
    assert calls == [("a.txt", 3, 3), ("b.txt", 3, 3)]


@pytest.mark.parametrize(
    "name",
    ["../evil", "good/../../evil", "/evil", "..\\evil", "\\evil", "C:\\evil", "C:evil", "a/..\\..\\evil"],
)
def test_a_name_outside_the_folder_refuses_the_whole_archive(tmp_path: Path, folder: Path, name: str) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(zipped({"a.txt": "fine", name: "evil"}))
    with pytest.raises(DataError, match=r"x\.zip: '.*evil' lies outside the folder; nothing was unpacked"):
        unpack(archive, {"a.txt": "a.txt"}, folder)
    assert files_below(tmp_path) == ["x.zip"]


def test_a_link_refuses_the_whole_archive(tmp_path: Path, folder: Path) -> None:
    archive = tmp_path / "x.zip"
    link = zipfile.ZipInfo("a.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(link, "/etc/hostname")
    with pytest.raises(DataError, match=r"'a\.txt' is a link"):
        unpack(archive, {"a.txt": "a.txt"}, folder)
    assert files_below(folder) == []


def test_a_missing_member_is_named(tmp_path: Path, folder: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(zipped({"a.txt": "fine"}))
    with pytest.raises(DataError, match=r"x\.zip: no b\.txt in it"):
        unpack(archive, {"a.txt": "a.txt", "b.txt": "b.txt"}, folder)
    assert files_below(folder) == []


def test_damage_is_found(tmp_path: Path, folder: Path) -> None:
    archive = tmp_path / "x.zip"
    whole = zipped({"a.txt": "".join(map(str, range(2000)))})
    for broken in (b"no zip at all", whole[:-40], whole[:900] + bytes([whole[900] ^ 255]) + whole[901:]):
        archive.write_bytes(broken)
        with pytest.raises(DataError, match=r"x\.zip: a damaged archive"):
            unpack(archive, {"a.txt": "a.txt"}, folder)


def tarred(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:bz2") as archive:
        for member in members:
            member.size = 4000 if member.isfile() else 0
            archive.addfile(member, io.BytesIO(random.Random(0).randbytes(member.size)))
    return path


def test_a_tar_archive_is_read_with_the_same_care(tmp_path: Path, folder: Path) -> None:
    plain, link, outside = map(tarfile.TarInfo, ("top/a.txt", "top/b.txt", "../evil"))
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
    archive = tarred(tmp_path / "x-1.0.tar.bz2", plain)
    files = {"a.txt": "a.txt", "c.txt": "c.txt"}
    with pytest.raises(DataError, match=r"x-1\.0\.tar\.bz2: no c\.txt in it"):
        unpack(archive, files, folder)
    whole = archive.read_bytes()
    for broken in (b"no tar at all", whole[:-1000], whole[:2000] + bytes([whole[2000] ^ 255]) + whole[2001:]):
        archive.write_bytes(broken)
        with pytest.raises(DataError, match=r"x-1\.0\.tar\.bz2: a damaged archive"):
            unpack(archive, {"a.txt": "a.txt"}, folder)
    for unsafe in (link, outside):
        with pytest.raises(DataError, match=r"is a link|lies outside"):
            unpack(tarred(tmp_path / "y.tar.bz2", plain, unsafe), {"a.txt": "a.txt"}, folder)
    archive.write_bytes(whole)
    unpack(archive, files, folder, optional={"c.txt"})
    assert files_below(folder) == ["a.txt"]


def test_a_full_disk_is_known_before(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(zipped({"a.txt": "four"}))
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 3})())
    with pytest.raises(DataError, match=r"needs 4 bytes unpacked, .* has 3 free"):
        unpack(archive, {"a.txt": "a.txt"}, folder)
    assert files_below(folder) == []
