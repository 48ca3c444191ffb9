"""Claims about getting to a cluster: what is missing or out of reach is one line, at once."""

from __future__ import annotations

import subprocess
import sys
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
        (("--out", "out", "--ray", "nowhere"), "--ray nowhere: host:port"),
        (("--out", "out", "--ray", "ray://127.0.0.1:1"), "--ray ray://127.0.0.1:1: host:port"),
        (("--ray",), "name it with --out"),
        (("--workers", "2"), "--workers: only with --ray"),
        (("--format", "parquet"), "--format: only with --ray"),
        (("other.txt",), "2 files: only with --ray"),
    ],
)
def test_arguments_that_do_not_fit(
    arguments: tuple[str, ...], said: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in one_line(capsys, "score", str(source), *arguments)


def test_nothing_else_notices_ray() -> None:
    code = "import sys; sys.modules['ray'] = sys.modules['pyarrow'] = None; import bough.cli, bough.cluster.scoring"
    code += "; bough.load('sentiment')('good')"
    subprocess.run([sys.executable, "-c", code], check=True)
