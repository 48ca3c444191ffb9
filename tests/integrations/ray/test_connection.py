"""Claims about getting to a cluster: what is missing or out of reach is one line, at once."""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bough.cli import main


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("good\n")
    return path


def one_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    return said


def test_without_the_extra_one_line_says_how_to_get_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ray", "ray.data"):
        monkeypatch.setitem(sys.modules, name, None)
    said = one_line(capsys, "score", str(source), "--out", str(tmp_path / "out"), "--ray")
    assert 'pip install "bough[ray]"' in said


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no.such.host.invalid:6379"])
def test_a_cluster_out_of_reach_is_one_line(
    address: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray.data")
    said = one_line(capsys, "score", str(source), "--out", str(tmp_path / "out"), "--ray", address)
    assert f"no Ray cluster at {address}" in said
    assert "start one with `ray start --head`" in said  # Ray itself would try for two minutes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--out", "out", "--ray", "nowhere"), "Ray address 'nowhere': must be host:port"),
        (
            ("--out", "out", "--ray", "ray://127.0.0.1:1"),
            "Ray address 'ray://127.0.0.1:1': must be host:port",
        ),
        (("--ray",), "name it with --out"),
        (("--workers", "2"), "--workers: only with --ray"),
        (("--out", "out", "--ray", "--device", "cuda"), "--device, --batch-size: not with --ray"),
        (("other.txt",), "2 files: only with --ray"),
    ],
)
def test_arguments_that_do_not_fit(
    arguments: tuple[str, ...], said: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in one_line(capsys, "score", str(source), *arguments)


def test_nothing_else_notices_ray() -> None:
    code = "import sys; sys.modules['ray'] = sys.modules['pyarrow'] = None; import bough.cli"
    code += "; import bough.integrations.ray; bough.load('sentiment')('good')"
    subprocess.run([sys.executable, "-c", code], check=True)


LISTENING = """
import json, os, pathlib, socket, sys

from bough.integrations.ray.connection import connected


def below(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from (child, *below(child))


def listening():
    sockets = set()
    for pid in ("self", *below("self")):
        for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(os.readlink(file))
            except OSError:  # closed since
                pass
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in sockets:
                words = bytes.fromhex(local.split(":")[0])
                host = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                yield socket.inet_ntop(family, host)


with connected() as ray:
    assert ray.get(ray.remote(lambda: 1).remote()) == 1
    print(json.dumps(sorted(listening())))
"""


def with_own_ray(code: str) -> subprocess.CompletedProcess[str]:
    """Run a program that finds no cluster on this machine."""
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as place:  # a socket's path has to be short
        environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
        environment["RAY_TMPDIR"] = place
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def on_loopback(host: str) -> bool:
    found = ipaddress.ip_address(host)
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_cluster_of_ones_own_listens_on_this_machine_alone() -> None:
    pytest.importorskip("ray.data")
    ran = with_own_ray(LISTENING)
    assert ran.returncode == 0, ran.stderr
    hosts = json.loads(ran.stdout.splitlines()[-1])
    assert len(hosts) > 3  # the head, a node, a worker and the program itself
    assert [host for host in hosts if not on_loopback(host)] == []


def test_a_cluster_that_would_listen_elsewhere_is_ended() -> None:
    pytest.importorskip("ray.data")
    code = "from bough.integrations.ray import connection\nconnection.ENABLE_RAY_CLUSTER = True\n"
    ran = with_own_ray(f"{code}with connection.connected() as ray: print(ray.util.get_node_ip_address())")
    if ran.returncode == 0:
        assert on_loopback(ran.stdout.splitlines()[-1])
        pytest.skip("this machine has no other address")
    assert "not on this machine alone; start a cluster with `ray start --head`" in ran.stderr
