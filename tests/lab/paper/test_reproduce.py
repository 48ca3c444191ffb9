"""Claims about `python -m paper reproduce`: one command, resumable, with a report that only the results decide."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import minidata
from lab_calls import command_of, surroundings
from paper import plan, results
from paper.neighbours import ranked, stored_neighbours
from paper.plan import Run, runs_for
from paper.report import write_report
from paper.results import all_finished, finished, result_path
from paper.runner import execute, kept_model, reproduce
from waiting import LIMIT, wait_until

QUICK = {"source": "own", "epochs": "1", "hidden_size": "4", "similarity_hidden": "3"}
SETTINGS = tuple(QUICK.items())
REPORT = ("results.json", "report.md", "report.html", "figure4.svg", "figure4.png")


RUNS = 13  # nine rows of Table 3, and four cited systems rebuilt


def command(part: str, out: Path, data: Path, *more: str) -> list[str]:
    settings = [word for key, value in QUICK.items() for word in ("--set", f"{key}={value}")]
    where = ["--seeds", "1", "--out", str(out), "--data", str(data)]
    return command_of("paper", "reproduce", part, *where, *settings, *more)


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("mini"), sentences=40)


@pytest.fixture(scope="module")
def done(mini: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`python -m paper reproduce table3 --seeds 1` as a user runs it, on a small data folder."""
    out = tmp_path_factory.mktemp("results")
    said = subprocess.run(
        command("table3", out, mini), capture_output=True, text=True, env=surroundings(), timeout=LIMIT
    )
    assert said.returncode == 0, said.stderr
    assert f"{RUNS} runs, 0 done before" in said.stdout
    assert f"[{RUNS}/{RUNS}] " in said.stdout
    assert "Table 3. SICK" in said.stdout
    assert "\x1b" not in said.stdout  # plain lines where there is no terminal
    return out


def contents(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in REPORT}


def without_times(out: Path) -> None:
    """Two sittings take different times; all else in their results is to be the same."""
    for path in (out / "runs").glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "seconds": 1.0}))


def test_table_3_from_one_command(done: Path, mini: Path) -> None:
    results = json.loads((done / "results.json").read_text())
    assert set(results) == {run.recipe for run in runs_for("table3", 1)}
    entry = results["sick-dependency"]
    assert entry["seeds"] == [1]
    assert entry["vectors"] == "glove.6B.300d"
    assert "tokens" in entry["coverage"]
    assert set(entry["test"]) == {"pearson", "spearman", "mse"}
    assert entry["test"]["mse"]["mean"] == entry["test"]["mse"]["values"][0]
    assert entry["test"]["mse"]["sd"] == 0
    written = (done / "report.md").read_text()
    assert f"{entry['test']['pearson']['mean']:.4f} (n 1)" in written
    assert "Figure 3" in written
    assert "Missing: none of its systems has been run" in written
    assert not (done / "figure3.svg").exists()
    left = {path.name for path in (done / "work").iterdir()}
    assert left == {"lock"}


def test_the_page_needs_nothing_but_itself(done: Path) -> None:
    page = (done / "report.html").read_text()
    assert page.count("<svg") == 1
    assert "prefers-color-scheme:dark" in page
    assert 'name="viewport"' in page
    for outside in ("<script", "<link", "<img", "@import", "url(http", 'src="', 'href="http'):
        assert outside not in page


def test_the_report_is_a_function_of_the_results(done: Path, mini: Path) -> None:
    before = contents(done)
    write_report(done, mini, QUICK)
    assert contents(done) == before


def test_finished_runs_are_not_repeated(done: Path, mini: Path) -> None:
    stamps = {path: path.stat().st_mtime_ns for path in (done / "runs").iterdir()}
    boards: list[Any] = []
    reproduce("table3", out=done, data=mini, seeds=1, overrides=QUICK, show=boards.append)
    assert boards[-1].skipped == RUNS
    assert boards[-1].done == 0
    assert {path: path.stat().st_mtime_ns for path in (done / "runs").iterdir()} == stamps


def test_killed_in_the_middle_it_goes_on_to_the_same_report(done: Path, mini: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(done, out)
    redone = Run("sick-lstm", 1)
    result_path(out, redone).unlink()
    for name in REPORT:
        (out / name).unlink()
    stamps = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    process = subprocess.Popen(
        command("table3", out, mini, "--jobs", "1"), stdout=subprocess.DEVNULL, env=surroundings()
    )
    wait_until((out / "work" / "sick-lstm.1" / "run" / "run.json").exists, process)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not result_path(out, redone).exists()
    boards: list[Any] = []
    reproduce(
        "table3", out=out, data=mini, seeds=1, overrides=QUICK, show=boards.append
    )  # the lock is free again
    assert (boards[-1].skipped, boards[-1].done) == (RUNS - 1, 1)
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps
    whole = tmp_path / "whole"
    shutil.copytree(done, whole)
    for folder in (out, whole):
        without_times(folder)
        write_report(folder, mini, QUICK)
    assert contents(out) == contents(whole)


STARTER = """
import json, sys
from pathlib import Path
from paper.runner import start_process
if __name__ == "__main__":
    process = start_process(json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
    print(process.pid, flush=True)
    process.join()
"""


def test_a_worker_ends_with_the_one_who_started_it(mini: Path, tmp_path: Path) -> None:
    run = Run("sick-lstm", 1, overrides=(*SETTINGS, ("epochs", "100000")))
    job = {"config": run.config().as_dict(), "seed": 1, "recipe": run.recipe, "data": str(mini)}
    (tmp_path / "starter.py").write_text(STARTER)
    what = [json.dumps(job), str(tmp_path / "work"), str(tmp_path / "log")]
    starter = subprocess.Popen(
        [sys.executable, tmp_path / "starter.py", *what], stdout=subprocess.PIPE, env=surroundings()
    )
    assert starter.stdout is not None
    with starter.stdout as said:
        worker = int(said.readline())
        wait_until((tmp_path / "work" / "run.json").exists, starter)
        starter.kill()
        starter.wait()
    wait_until(lambda: not alive(worker))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_failing_run_stops_no_other(mini: Path, tmp_path: Path) -> None:
    good = Run("sick-mean", 1, overrides=SETTINGS)
    bad = Run("sick-mean", 2, (("vectors", "no-such-file"),), SETTINGS)
    unknown = Run("sick-nothing", 1, overrides=SETTINGS)
    results, failed = execute([unknown, bad, good], tmp_path, mini, jobs=lambda: 1)
    assert [result["seed"] for result in results] == [1]
    assert "no-such-file" in failed[bad.name]
    assert "unknown recipe 'sick-nothing'" in failed[unknown.name]


def test_failures_are_told_at_the_end_with_exit_code_1(mini: Path, tmp_path: Path) -> None:
    said = subprocess.run(
        command("table4", tmp_path, mini, "--set", "vectors=none.txt"),
        capture_output=True,
        text=True,
        env=surroundings(),
        timeout=LIMIT,
    )
    assert said.returncode == 1
    assert "1 run failed" in said.stderr
    assert "sick-dependency.1: vectors 'none.txt': no such file" in said.stderr
    assert "Traceback" not in said.stderr
    assert (tmp_path / "report.html").exists()


def test_a_torn_result_is_redone_and_never_shown(done: Path, mini: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "runs", tmp_path / "runs")
    run = Run("sick-mean", 1, overrides=SETTINGS)
    path = result_path(tmp_path, run)
    path.write_text(path.read_text()[:100])
    assert finished(tmp_path, run, mini) is None
    assert len(all_finished(tmp_path, mini, QUICK)) == RUNS - 1
    path.write_text("{}")
    assert finished(tmp_path, run, mini) is None


def test_results_of_other_settings_do_not_count(done: Path, mini: Path) -> None:
    assert len(all_finished(done, mini, QUICK)) == RUNS
    assert all_finished(done, mini, {**QUICK, "hidden_size": "5"}) == []


def test_stored_runs_of_earlier_code_are_told_and_their_rows_are_not_mixed(
    done: Path, mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(done / "runs", tmp_path / "runs")
    missing = Run("sick-mean", 2, overrides=SETTINGS)
    stored = Run("sick-mean", 1, overrides=SETTINGS)
    monkeypatch.setattr(plan, "CODE", 3)
    monkeypatch.setattr(plan, "EARLIER", (1, 2))
    monkeypatch.setattr(results, "CODE", 3)
    monkeypatch.setattr(results, "EARLIER", (1, 2))
    boards: list[Any] = []
    execute([stored, missing], tmp_path, mini, show=boards.append)
    assert (boards[-1].skipped, boards[-1].done, len(boards[-1].stored)) == (1, 0, 1)
    assert boards[-1].missing == [missing]
    write_report(tmp_path, mini, QUICK)
    assert "Training has changed since" in (tmp_path / "report.md").read_text()
    started: list[int] = []

    def refuse(job: Any, work: Path, log: Path) -> Any:
        started.append(job["seed"])
        raise ValueError("not today")

    execute([stored, missing], tmp_path, mini, again=True, start=refuse, jobs=lambda: 1)
    assert started == [1, 2]


def test_two_sittings_in_one_folder_are_kept_apart(mini: Path, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / "work").mkdir()
    with (tmp_path / "work" / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another `python -m paper reproduce` is running here"):
            execute([Run("sick-mean", 1, overrides=SETTINGS)], tmp_path, mini)


def test_table_4_keeps_its_outcome_and_needs_the_model_once(done: Path, mini: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(done, out)
    run = Run("sick-dependency", 1, overrides=SETTINGS)
    before = result_path(out, run).read_bytes()
    reproduce("table4", out=out, data=mini, overrides=QUICK)
    assert result_path(out, run).read_bytes() == before  # trained again for its model, but the result stays
    stored = stored_neighbours(out, mini, run)
    assert stored is not None
    assert [entry["cosine"] for entry in stored["queries"]] == [[], [], []]  # these are not in the small data
    folder = kept_model(out, run, mini)
    assert folder is not None

    from bough.models.model import Model

    model = Model.load(folder)
    from paper.neighbours import distinct

    task = run.config().build_task(mini)
    query = sorted(distinct(list(task.trees(task.read("test")))))[0]
    (entry,) = ranked(model, task, [query])
    for ranking in (entry["cosine"], entry["model"]):
        assert len(ranking) == 3
        assert query not in [text for text, _ in ranking]
        assert [score for _, score in ranking] == sorted((score for _, score in ranking), reverse=True)
    assert ranked(model, task, [query]) == [entry]
    shutil.rmtree(out / "work")
    boards: list[Any] = []
    reproduce("table4", out=out, data=mini, overrides=QUICK, show=boards.append)
    assert boards[-1].done == 0
