"""Claims about the Hub: a model goes there and comes back, and without one it is a clear line."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bough.pipelines import hub

pytest.importorskip("huggingface_hub")
FILES: dict[str, bytes] = {}
COMMIT = "a" * 40


class Handler(BaseHTTPRequestHandler):
    """A stand-in for the Hub: one repository whose files are `FILES`, which commits may add to."""

    def answer(self, body: bytes, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Content-Length": str(len(body)), "X-Repo-Commit": COMMIT, **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if "/tree/" in path:
            sizes = {name: len(content) for name, content in FILES.items()}
            rows = [{"type": "file", "path": n, "size": size, "oid": n} for n, size in sizes.items()]
            self.answer(json.dumps(rows).encode())
        elif path.startswith("/api/models/org/own"):
            files = [{"rfilename": name} for name in FILES]
            self.answer(json.dumps({"id": "org/own", "sha": COMMIT, "siblings": files}).encode())
        elif (name := path.rpartition("/")[2]) in FILES:
            tag = hashlib.sha256(FILES[name]).hexdigest()
            self.answer(FILES[name], ETag=f'"{tag}"', Accept_Ranges="bytes")
        else:
            self.send_error(404)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        here = f"http://{self.headers['Host']}/org/own"
        if self.headers["Authorization"] != "Bearer secret":
            self.send_error(401)
        elif self.path == "/api/repos/create":
            assert json.loads(body)["name"] == "own"
            self.answer(json.dumps({"url": here}).encode())
        elif self.path.startswith("/api/models/org/own/preupload/"):
            paths = [file["path"] for file in json.loads(body)["files"]]
            files = [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in paths]
            self.answer(json.dumps({"files": files}).encode())
        elif self.path.startswith("/api/models/org/own/commit/"):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    FILES[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            self.answer(json.dumps({"commitUrl": f"{here}/commit/{COMMIT}", "commitOid": COMMIT}).encode())
        else:
            self.answer(b"{}")  # such as the check of a card's metadata

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def run(endpoint: str, home: Path, code: str, token: str = "secret") -> str:
    """Run a program in another process: huggingface_hub reads its address when it is imported."""
    own = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": token}
    program = f"import bough\ntry: print({code})\nexcept ValueError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ, **own}
    )
    return done.stdout.strip()


def test_a_model_goes_to_the_hub_and_is_loaded_by_its_name(endpoint: str, tmp_path: Path) -> None:
    push = "bough.load('sentiment').push_to_hub('org/own', license='mit', datasets=['sst'])"
    load = "bough.load('org/own')('A delight.').label"
    assert run(endpoint, tmp_path, f"{push}, {load}") == f"{endpoint}/org/own very positive"
    assert sorted(FILES) == ["README.md", "config.json", "model.safetensors", "vocab.txt"]
    assert FILES["README.md"].startswith(b"---\n")
    refused = run(endpoint, tmp_path, push, token="wrong")
    assert refused.startswith("cannot upload to 'org/own': ")
    FILES.clear()
    gone = run("http://127.0.0.1:1", tmp_path / "other", load)
    assert gone == "no model 'org/own': no such folder, and the Hub cannot be reached"
    assert run("http://127.0.0.1:1", tmp_path, push).startswith("cannot upload to 'org/own': ")


def test_only_the_files_of_a_model_go_to_the_hub(endpoint: str, tmp_path: Path) -> None:
    own = ("README.md", "config.json", "encoder/config.json", "model.safetensors", "vocab.txt")
    (tmp_path / "run" / "encoder").mkdir(parents=True)
    for name in (*own, "report.html", "fit.json", "checkpoint.safetensors", "texts/train.csv"):
        (tmp_path / "run" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text(name)
    FILES.clear()
    upload = f"upload(Path({str(tmp_path / 'run')!r}), 'org/own', private=True)"
    names = "__import__('bough.pipelines.hub', fromlist=['upload']), __import__('pathlib').Path"
    run(endpoint, tmp_path, f"(lambda hub, Path: hub.{upload})({names})")
    assert sorted(FILES) == sorted(own)
    FILES.clear()


def test_a_card_says_its_licence_and_data() -> None:
    card = hub.with_metadata("# A model", "mit", ["sst"])
    assert card.startswith("---\nlibrary_name: bough\nlicense: mit\n")
    assert "datasets: [sst]" in card
    assert hub.with_metadata(card, "other", []) == card
