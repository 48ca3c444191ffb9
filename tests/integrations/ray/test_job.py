"""Claims about what a job takes and refuses before there is a cluster: columns, names, files and parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from bough.errors import FormatError
from bough.integrations.ray import scoring
from bough.integrations.ray.scoring import BatchScorer, Job, Worker, find, read_parts, score, score_files
from bough.pipelines import AnyPipeline
from bough.pipelines.files import layout_of, score_file
from bundled_pipelines import related, sentiment
from fitted_pipelines import PLANS, fitted, folder_of

Jobs = list[Job]


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jobs:
    """The jobs of `score_files`, in a folder with three lines to score; their parts are scored in this process."""
    done: Jobs = []

    def score_parts(
        ray: Any, job: Job, files: Sequence[dict[str, Any]], workers: int | None
    ) -> Iterator[Any]:
        done.append(job)
        worker = Worker(job)
        worker.pipeline = fitted("trees") if job.layout.trees else sentiment()
        for file in files:
            yield from map(worker, read_parts(file, job, scoring.names_in(job.out)))

    monkeypatch.setattr(scoring, "_score_parts", score_parts)
    monkeypatch.setattr(scoring, "connected", nullcontext)
    monkeypatch.setattr(scoring, "load", lambda *args, **options: sentiment())
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/a.txt").write_text("one\ntwo\nthree\n")
    return done


def scorer(pipeline: AnyPipeline) -> BatchScorer:
    """As on a node, with a pipeline that is loaded already."""
    made = object.__new__(BatchScorer)
    made.pipeline = pipeline
    return made


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_missing_text_of_a_dataset_is_no_text(kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    texts = pandas.Series(["A fine film.", None, "Dull."], dtype=kind)
    found = scorer(sentiment())(pandas.DataFrame({"text": texts, "id": [1, 2, 3]}))
    assert list(found) == ["text", "id", "label", "polarity", "score", "probabilities"]
    assert found["polarity"].tolist()[::2] == ["positive", "negative"]
    assert found["score"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["label", "polarity", "score", "probabilities"])
def test_no_column_of_a_dataset_is_replaced(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=f"has a column '{name}' already"):
        scorer(sentiment())(pandas.DataFrame({"text": ["good"], name: ["mine"]}))
    pairs = pandas.DataFrame({"a": ["A cat"], "b": ["A dog"], "label": ["mine"]})
    assert scorer(related())(pairs)["label"].tolist() == ["mine"]


def test_a_name_that_bough_knows_is_no_folder(jobs: Jobs) -> None:
    for name in ("sentiment", "builtin"):
        Path(name).mkdir()
    assert score_files(["in"], "out", brief=True) == 3
    assert (jobs[0].model, jobs[0].parser) == ("sentiment", "builtin")


@pytest.mark.parametrize("what", ["model", "parser"])
def test_a_folder_of_ones_own_is_known_by_its_place_and_what_is_in_it(what: str, jobs: Jobs) -> None:
    Path("own").mkdir()
    Path("own/config.json").write_text("{}")
    given: dict[str, Any] = {what: "own"}
    score_files(["in"], "out", **given)
    assert getattr(jobs[0], what) == str(Path("own").absolute())
    assert score_files(["in"], "out", **given) == 3
    Path("own/config.json").write_text('{"other": 1}')
    with pytest.raises(ValueError, match=f"begun with other {what}"):
        score_files(["in"], "out", **given)


def test_results_may_lie_in_the_folder_that_is_read(jobs: Jobs) -> None:
    for source, out in (
        ("in/", "in/scores"),
        ("in/**/*.txt", "in/of-a-glob"),
        ("in/*.txt", "in/../in/./again"),
    ):
        rows = score_files([source], out, brief=True)
        assert score_files([source], out, brief=True) == rows
    for inside in ("in/scores", "in/scores/plan.json"):
        with pytest.raises(ValueError, match="lies in"):
            score_files([inside], "in/scores")


def test_files_folders_globs_and_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.txt", "in/b.jsonl", "in/sub/c.txt", "in/.hidden", "in/sub/_log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")

    def names(source: str) -> list[str]:
        return [file["name"] for file in find([source], "out")]

    assert names("in") == names("./in/") == ["in/a.txt", "in/b.jsonl", "in/sub/c.txt"]
    assert names("in/*.txt") == names("*/a.txt") == names("in/?.txt") == ["in/a.txt"]
    assert names("in/**/*.txt") == ["in/a.txt", "in/sub/c.txt"]
    assert names(f"file://{tmp_path}/in/*.txt") == [f"file://{tmp_path}/in/a.txt"]
    for source in ("in/none.txt", "in/*.csv", "no/*.txt"):
        with pytest.raises(FormatError, match="no such file"):
            find([source], "out")
    with pytest.raises(ValueError, match="nowhere://x"):
        find(["nowhere://x"], "out")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_parts_together_are_the_file_row_for_row(tmp_path: Path, size: int) -> None:
    path = tmp_path / "in.csv"
    path.write_text('id,text\n1,good\n\n2,"two\nlines, ""quoted"""\n3,bad\n,\n\n4,"a\n\nb"\n')
    layout = layout_of(sentiment(), own=("file", "line"))
    job = Job(str(tmp_path / "out"), "sentiment", "builtin", layout, True, size)
    (file,) = find([str(path)], job.out)
    parts = list(read_parts(file, job, set()))
    assert [part["rows"] for part in parts[:-1]] == [size] * (len(parts) - 1)
    rows = [row for part in parts for row in json.loads(part["records"])[1]]
    assert [(columns["id"], line) for line, _, columns, _ in rows] == [("1", 2), ("2", 4), ("3", 6), ("4", 9)]
    assert [texts for _, texts, _, _ in rows] == [["good"], ['two\nlines, "quoted"'], ["bad"], ["a\n\nb"]]
    (again, *_) = read_parts(file, job, {parts[0]["name"]})
    assert (again["name"], again["records"]) == (parts[0]["name"], "")
    path.write_text("id,text\n1,good\n2\n")
    *_, wrong = read_parts({**file, "size": path.stat().st_size}, job, set())
    assert "in.csv:3: 1 cell, 2 columns" in wrong["error"]
    (changed,) = read_parts(file, job, set())
    assert "has changed since the run began" in changed["error"]


@pytest.mark.parametrize(("model", "known"), [("own", False), ("sentiment", True)])
def test_the_nodes_are_told_where_a_folder_lies(
    model: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    Path(model).mkdir()

    class Dataset:
        def map_batches(self, scorer: type, **given: Any) -> dict[str, Any]:
            return given

    given: Any = score(Dataset(), model=model, workers=1)  # type: ignore[arg-type]
    place = model if known else str(tmp_path / model)
    assert given["fn_constructor_args"] == (place, "builtin")


def test_what_a_kill_left_of_the_plan_or_a_part_is_no_obstacle(jobs: Jobs) -> None:
    Path("out").mkdir()
    for name in ("plan.json", "part-00000-000000.jsonl"):
        Path(f"out/.{name}.x1.bough-partial").write_text("{")
    assert score_files(["in"], "out") == 3
    assert sorted(path.name for path in Path("out").iterdir()) == ["part-00000-000000.jsonl", "plan.json"]


def test_trees_are_built_where_they_are_scored(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "load", lambda *args, **options: fitted("trees"))
    deep = '{"op": "sort", "cost": 2.0, "parts": [' * 3000 + '{"op": "scan", "cost": 1.0}' + "]}" * 3000
    rows = [f'{{"plan": {json.dumps(plan)}}}' for plan in PLANS[:3]] + [f'{{"plan": {deep}}}']
    Path("in/a.txt").unlink()
    Path("in/plans.jsonl").write_text("\n".join(rows) + "\n")
    model = str(folder_of("trees"))
    score_files(["in"], "out", model=model, brief=True)
    score_file(fitted("trees"), "in/plans.jsonl", tmp_path / "here.jsonl", brief=True)
    (part,) = Path("out").glob("part-*")
    here = (tmp_path / "here.jsonl").read_text().splitlines()
    front = [f'{{"file": "in/plans.jsonl", "line": {line}, ' for line in (1, 2, 3, 4)]
    assert part.read_text().splitlines() == [start + row[1:] for start, row in zip(front, here, strict=True)]

    Path("in/plans.jsonl").write_text(f'{rows[0]}\n{{"plan": {{"op": "scan", "cost": "many"}}}}\n')
    with pytest.raises(ValueError, match=r'^in/plans\.jsonl:2: plan: "cost" is \'many\''):
        score_files(["in"], "other", model=model, brief=True)
