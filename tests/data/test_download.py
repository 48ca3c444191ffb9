from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

import pytest

from bough.data.download import download
from bough.errors import DataError
from web_server import Server

BODY = bytes(index * 7 % 256 for index in range(1_000_000))
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "downloads"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_good_download_is_the_file_and_nothing_else(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY
    calls: list[tuple[str, int, int | None]] = []
    path = download(f"{server.url}/x.zip", folder, sha256=SHA, progress=lambda *step: calls.append(step))
    assert path == folder / "x.zip"
    assert path.read_bytes() == BODY
    assert names(folder) == ["x.zip"]
    assert calls[-1] == ("x.zip", len(BODY), len(BODY))
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)


def test_a_file_with_the_right_hash_is_not_fetched_again(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY
    for _ in range(2):
        download(f"{server.url}/x.zip", folder, sha256=SHA)
    assert len(server.requests) == 1


@pytest.mark.parametrize("versions", [True, False])
def test_a_cut_connection_is_taken_up_where_it_broke_off(
    folder: Path, server: Server, versions: bool
) -> None:
    server.files["/x.zip"] = BODY
    server.cuts, server.versions = [600_000, 100_000], versions
    assert download(f"{server.url}/x.zip", folder, sha256=SHA).read_bytes() == BODY
    assert server.requests[0] is None
    starts = [int(str(asked).removeprefix("bytes=").rstrip("-")) for asked in server.requests[1:]]
    assert len(starts) == 2
    assert 0 < starts[0] < starts[1] <= 700_000
    assert names(folder) == ["x.zip"]


def test_a_later_call_goes_on_with_what_is_there(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY
    server.cuts = [600_000]
    with pytest.raises(DataError, match=r"/x\.zip: "):
        download(f"{server.url}/x.zip", folder, sha256=SHA, attempts=1)
    assert names(folder) == ["x.zip.part", "x.zip.part.json"]
    have = (folder / "x.zip.part").stat().st_size
    assert BODY.startswith((folder / "x.zip.part").read_bytes())
    assert download(f"{server.url}/x.zip", folder, sha256=SHA, attempts=1).read_bytes() == BODY
    assert server.requests == [None, f"bytes={have}-"]


def test_a_server_without_ranges_starts_over(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY
    server.cuts, server.ranges = [600_000], False
    assert download(f"{server.url}/x.zip", folder, sha256=SHA).read_bytes() == BODY
    assert len(server.requests) == 2


def test_another_version_on_the_server_starts_over(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY[::-1]
    server.cuts = [600_000]
    with pytest.raises(DataError):
        download(f"{server.url}/x.zip", folder, attempts=1)
    server.files["/x.zip"] = BODY
    assert download(f"{server.url}/x.zip", folder).read_bytes() == BODY


def test_a_shorter_version_without_a_tag_starts_over(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY
    server.cuts, server.versions = [600_000], False
    with pytest.raises(DataError):
        download(f"{server.url}/x.zip", folder, attempts=1)
    for shorter in (BODY[:900_000], BODY[:100]):  # another total, and a start beyond the end
        server.files["/x.zip"] = shorter
        assert download(f"{server.url}/x.zip", folder).read_bytes() == shorter
        (folder / "x.zip").rename(folder / "x.zip.part")
        (folder / "x.zip.part.json").write_text(
            json.dumps({"url": f"{server.url}/x.zip", "version": None, "total": 2_000_000})
        )


def test_a_whole_partial_file_is_not_fetched_again(folder: Path, server: Server) -> None:
    folder.mkdir()
    (folder / "x.zip.part").write_bytes(BODY)
    about = {"url": f"{server.url}/x.zip", "version": None, "total": len(BODY)}
    (folder / "x.zip.part.json").write_text(json.dumps(about))
    assert download(f"{server.url}/x.zip", folder, sha256=SHA).read_bytes() == BODY
    assert server.requests == []


@pytest.mark.parametrize("about", ["", "[]", "{", '{"url": "elsewhere", "total": 1000000}'])
def test_a_partial_file_of_unknown_origin_is_not_trusted(folder: Path, server: Server, about: str) -> None:
    folder.mkdir()
    (folder / "x.zip.part").write_bytes(b"?" * 100)
    (folder / "x.zip.part.json").write_text(about)
    server.files["/x.zip"] = BODY
    assert download(f"{server.url}/x.zip", folder, sha256=SHA).read_bytes() == BODY
    assert server.requests == [None]


def test_a_wrong_hash_is_an_error_and_the_file_is_not_kept(folder: Path, server: Server) -> None:
    server.files["/x.zip"] = BODY[:-1] + b"!"
    with pytest.raises(DataError, match=rf"/x\.zip: its sha256 is not the known {SHA}"):
        download(f"{server.url}/x.zip", folder, sha256=SHA)
    assert names(folder) == []


def test_a_missing_file_is_an_error_at_once(folder: Path, server: Server) -> None:
    with pytest.raises(DataError, match=r"/gone\.zip: the server says 404 Not Found"):
        download(f"{server.url}/gone.zip", folder)
    assert len(server.requests) == 1
    assert names(folder) == []


def test_no_server_is_an_error(folder: Path, server: Server) -> None:
    with pytest.raises(DataError, match=r"^http://127\.0\.0\.1:1/x\.zip: [^\n]+$"):
        download("http://127.0.0.1:1/x.zip", folder, attempts=2)
    assert names(folder) == []


def test_pooch_keeps_its_voice_for_others(
    folder: Path, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    server.files["/x.zip"] = BODY
    before = logging.getLogger("pooch").level
    download(f"{server.url}/x.zip", folder)
    assert logging.getLogger("pooch").level == before
    assert capfd.readouterr() == ("", "")
