"""Claims about scoring on Ray: the rows of `bough score`, each exactly once, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bough.errors import FormatError
from bough.integrations.ray import score, score_files
from bough.pipelines.files import score_file
from bundled_pipelines import related, sentiment
from waiting import LIMIT, wait_until

pytestmark = [
    pytest.mark.slow,
    # Ray sets options of its own that it warns of itself
    pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*"),
]
TEXTS = ["A fine film.", "", "Dull. Boring. Bad!", "I <loved> it \U0001f600", "caf\u00e9 \u202e rtl"]


def results(out: Path) -> list[dict[str, Any]]:
    lines = [line for part in sorted(out.glob("part-*.jsonl")) for line in part.read_text().split("\n")[:-1]]
    return [json.loads(line) for line in lines]


def without_ids(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("file", "line")}


def many(path: Path, count: int) -> Path:
    """A file of so many lines, no two alike."""
    path.write_text("".join(f"Film {i} is {'not ' * (i % 3 == 0)}good.\n" for i in range(count)))
    return path


@pytest.mark.usefixtures("cluster")
def test_the_rows_are_those_of_bough_score(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("".join(f"{TEXTS[i % len(TEXTS)]} {i}\n" if i % 7 else "\n" for i in range(600)))
    score_file(sentiment(), source, tmp_path / "here.jsonl")
    told: list[int] = []
    done = score_files([str(source)], str(tmp_path / "out"), rows=256, callback=told.append)
    found = results(tmp_path / "out")
    assert done == len(found) == 600
    assert told[-1] == 600
    here = (tmp_path / "here.jsonl").read_text().split("\n")[:-1]
    assert [json.dumps(without_ids(row)) for row in found] == [json.dumps(json.loads(line)) for line in here]
    assert [(row["file"], row["line"]) for row in found] == [(str(source), i + 1) for i in range(600)]
    assert len(list((tmp_path / "out").glob("part-*"))) == 3


@pytest.mark.usefixtures("cluster")
def test_a_folder_of_all_formats(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path / "in"
    folder.mkdir()
    texts = [text for text in TEXTS if text]
    parquet.write_table(pa.table({"text": texts, "id": range(4)}), folder / "a.parquet")
    (folder / "b.csv").write_text("id,text\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts)))
    (folder / "c.jsonl").write_text(
        "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts))
    )
    (folder / "d.txt").write_text("".join(f"{text}\n" for text in texts))
    out = tmp_path / "out"
    assert score_files([str(folder)], str(out)) == 16
    found = results(out)
    assert [row["file"] for row in found] == [
        str(folder / n) for n in sorted(os.listdir(folder)) for _ in texts
    ]
    assert [row["label"] for row in found] == [sentiment()(text).label for text in texts] * 4
    assert [str(row["id"]) for row in found[:12]] == ["0", "1", "2", "3"] * 3


@pytest.mark.usefixtures("cluster")
def test_a_second_start_does_what_is_missing_and_nothing_else(tmp_path: Path) -> None:
    source, out = many(tmp_path / "in.txt", 100), tmp_path / "out"
    score_files([str(source)], str(out), rows=20, brief=True)
    before = {part: part.read_bytes() for part in out.iterdir()}
    gone = [out / "part-00000-000001.jsonl", out / "part-00000-000003.jsonl"]
    for part in gone:
        part.unlink()
    stamps = {part: part.stat().st_mtime_ns for part in out.iterdir()}
    (out / ".part-00000-000003.jsonl.x.bough-partial").write_text("what a kill left")
    assert score_files([str(source)], str(out), rows=20, brief=True) == 100
    assert {part: part.read_bytes() for part in out.glob("[!.]*")} == before
    assert {part: part.stat().st_mtime_ns for part in stamps} == stamps
    for more, what in (({"brief": False}, "brief"), ({"model": "relatedness"}, "model")):
        with pytest.raises(ValueError, match=f"begun with other {what}"):
            score_files([str(source)], str(out), **{"rows": 20, "brief": True, **more})  # type: ignore[arg-type]
    many(source, 99)
    with pytest.raises(ValueError, match="begun with other"):
        score_files([str(source)], str(out), rows=20, brief=True)


@pytest.mark.usefixtures("cluster")
def test_what_is_wrong_is_one_line_and_costs_no_part(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text('{"text": "good"}\n' * 4 + '{"test": "bad"}\n')
    with pytest.raises(ValueError, match=r'in\.jsonl:5: no "text" with a string'):
        score_files([str(source)], str(out), rows=2, workers=1)
    with pytest.raises(FormatError, match="no such file"):
        score_files([str(tmp_path / "none.txt")], str(out))
    (tmp_path / "empty.txt").write_text("")
    assert score_files([str(tmp_path / "empty.txt")], str(tmp_path / "none")) == 0
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x\n")
    with pytest.raises(ValueError, match="is not empty"):
        score_files([str(tmp_path / "empty.txt")], str(tmp_path / "full"))
    with pytest.raises(ValueError, match="lies in"):
        score_files([str(tmp_path / "full")], str(tmp_path / "full"))


@pytest.mark.usefixtures("cluster")
def test_a_dataset_of_pairs_gets_its_columns() -> None:
    import ray

    pairs = [("A man plays a guitar", "A man plays music"), ("", "x"), ("A dog", "A cat")]
    rows = [{"a": a, "b": b, "id": i} for i, (a, b) in enumerate(pairs)]
    found = score(ray.data.from_items(rows), model="relatedness", workers=1).take_all()
    by_id = {row["id"]: row for row in found}
    for i, wanted in enumerate(related().stream(pairs, allow_empty=True)):
        assert by_id[i]["score"] == (None if wanted is None else wanted.as_dict()["score"])


def test_a_node_killed_in_the_middle_loses_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    source, out = many(tmp_path / "in.txt", 20_000), tmp_path / "out"
    doomed = cluster.add_node(num_cpus=1)
    killed: list[int] = []

    def tell(done: int) -> None:
        if done >= 4_000 and not killed:
            killed.append(done)
            cluster.remove_node(doomed, allow_graceful=False)

    assert score_files([str(source)], str(out), brief=True, workers=3, callback=tell) == 20_000
    assert 4_000 <= killed[0] < 19_000
    counts = Counter(row["line"] for row in results(out))
    assert counts == Counter(range(1, 20_001))
    texts = source.read_text().split("\n")
    assert all(row["text"] == texts[row["line"] - 1] for row in results(out))


def test_a_driver_killed_in_the_middle_goes_on(cluster: Any, tmp_path: Path) -> None:
    source, out = many(tmp_path / "in.txt", 6_000), tmp_path / "out"
    command = [sys.executable, "-m", "bough", "score", str(source), "--out", str(out), "--brief"]
    command += ["--ray", cluster.address]
    driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(list(out.glob("part-*"))) >= 2, driver)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    kept = {part: part.stat().st_mtime_ns for part in out.glob("part-*")}
    assert 2 <= len(kept) < 6
    said = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert said.returncode == 0, said.stderr
    assert "6,000 lines in" in said.stderr
    assert [row["line"] for row in results(out)] == list(range(1, 6_001))
    assert {part: part.stat().st_mtime_ns for part in kept} == kept
