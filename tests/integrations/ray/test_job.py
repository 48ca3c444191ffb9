"""Claims about what a job takes and refuses before there is a cluster: columns, names, files and folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from bough.integrations.ray import files, scoring
from bough.integrations.ray.files import File, Part, cut, find
from bough.integrations.ray.scoring import BatchScorer, Job, score, score_files
from bough.pipelines import RelatednessPipeline, SentimentPipeline
from bundled_pipelines import related, sentiment

Jobs = list[Job]


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jobs:
    """The jobs of `score_files`, in a folder with three lines to score; their parts are empty, and made here."""
    pytest.importorskip("pyarrow")
    done: Jobs = []

    def score_parts(ray: Any, job: Job, parts: list[tuple[int, Part]], workers: int | None) -> Iterator[int]:
        done.append(job)
        for number, part in parts:
            files.write(job.out, job.name(number), b"")
            yield part.rows

    def cut_all(ray: Any, found: list[File], rows: int) -> list[Part]:
        return [part for file in found for part in cut(file, rows)]

    own = {"_score_parts": score_parts, "_cut_all": cut_all, "connected": nullcontext}
    for name, function in own.items():
        monkeypatch.setattr(scoring, name, function)
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/a.txt").write_text("one\ntwo\nthree\n")
    return done


def scorer(pipeline: SentimentPipeline | RelatednessPipeline) -> BatchScorer:
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
    assert score_files(["in"], "out") == 3
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
    for source, out in (("in", "in/scores"), ("in/**/*", "in/of-a-glob"), ("in", "in/../in/./again")):
        before = [file.name for file in find(source)]
        rows = score_files([source], out)
        assert len(find(source)) > len(before)
        assert score_files([source], out) == rows
    for inside in ("in/scores", "in/scores/plan.json"):
        with pytest.raises(ValueError, match="lies in"):
            score_files([inside], "in/scores")


def test_a_uri_keeps_what_it_says_of_its_filesystem(jobs: Jobs, tmp_path: Path) -> None:
    for source in (f"file://{tmp_path}/in?use_mmap=false", f"file://{tmp_path}/in/*.txt?use_mmap=false"):
        (found,) = find(source)
        assert found.name == f"file://{tmp_path}/in/a.txt"
    Path("in/b.csv").write_text("text\nfour\n")
    source, out = f"file://{tmp_path}/in?use_mmap=false", f"file://{tmp_path}/in/out?use_mmap=false"
    for _ in range(2):
        assert score_files([source], out) == 4
    assert sorted(path.name for path in Path("in/out").iterdir()) == [
        "part-000000.jsonl",
        "part-000001.jsonl",
        "plan.json",
    ]


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
    for name in ("plan.json", "part-000000.jsonl"):
        Path(f"out/.{name}.x1.bough-torn").write_text("{")
    assert score_files(["in"], "out") == 3
    assert sorted(path.name for path in Path("out").iterdir()) == ["part-000000.jsonl", "plan.json"]
