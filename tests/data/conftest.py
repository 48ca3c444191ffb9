"""Small data folders in bough's layout, and a web server of one's own that can misbehave."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SPLITS = ("train", "dev", "test")

TREES = """\
(3 (2 The) (3 (2 elm) (4 (4 (3 grew) (2 tall)) (2 .))))
(2 (2 It) (2 (2 rained) (2 -LRB-)))
(0 (1 Rot) (0 (2 and\\/or) (1 rust)))
"""
DEPENDENCY = {
    "sents.toks": "The elm grew tall .\nIt rained (\nRot and\\/or rust\n",
    "dparents.txt": "2 3 0 3 3\n2 0 2\n0 1 1\n",
    "rels.txt": "det nsubj root acomp punct\nnsubj root punct\nroot cc conj\n",
    "dlabels.txt": "0 # 1 0 0\n0 # 0\n-2 0 -1\n",
}
SICK = {
    "a.toks": "A cat naps\nTwo owls\n",
    "a.parents": "2 3 0\n2 0\n",
    "a.rels": "det nsubj root\nnum root\n",
    "a.cparents": "5 5 4 0 4\n3 3 0\n",
    "b.toks": "The cat sleeps\nAn owl hoots\n",
    "b.parents": "2 3 0\n2 3 0\n",
    "b.rels": "det nsubj root\ndet nsubj root\n",
    "b.cparents": "5 5 4 0 4\n5 5 4 0 4\n",
    "id.txt": "11\n12\n",
    "sim.txt": "4.6\n2\n",
}
SICK_TEXTS = ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
SICK_TEXT = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\r\n"
    "11\tA cat naps\tThe cat sleeps\t4.6\tENTAILMENT\r\n"
    "12\tTwo owls\tAn owl hoots\t2\tNEUTRAL\r\n"
)
GLOVE = "the 0.1 0.2 0.3\nelm -1 2.5 1e-3\n"


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


@pytest.fixture
def zipped() -> Callable[[dict[str, str]], bytes]:
    """A function that makes a zip archive of names and texts."""
    return _zipped


def _zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a few sentences of SST, SICK and GloVe in every split."""
    folder = tmp_path / "data"
    for split in SPLITS:
        write_files(folder / "sst" / "trees", {f"{split}.txt": TREES})
        write_files(folder / "sst" / "dep" / split, DEPENDENCY)
        write_files(folder / "sick" / split, SICK)
    write_files(folder / "sick", dict.fromkeys(SICK_TEXTS, SICK_TEXT))
    write_files(folder / "glove", {"glove.840B.3d.txt": GLOVE})
    return folder


@pytest.fixture
def real_data() -> Path:
    """The real data; skips where BOUGH_DATA does not say where it is."""
    if not os.environ.get("BOUGH_DATA"):
        pytest.skip("BOUGH_DATA is not set: no real data")
    return Path(os.environ["BOUGH_DATA"])


class Server(ThreadingHTTPServer):
    """Serves `files` by path and writes down each request's Range header.

    `cuts` are the numbers of bytes after which the connections to come are closed, one a request.
    `ranges` switches range requests off, `versions` the ETag that makes them safe.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cuts: list[int] = []
        self.ranges = True
        self.versions = True
        self.requests: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append(asked)
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.server.ranges else 0
        if self.headers.get("If-Range", tag) != tag:
            start = 0
        if start >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if self.server.versions:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        cut = self.server.cuts.pop(0) if self.server.cuts else len(body)
        self.wfile.write(body[start : start + cut])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("bough.data.download.PAUSE", 0.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()
