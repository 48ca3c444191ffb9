"""Claims about the plan: which runs a part needs, and what makes a result count no more."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import minidata
from bough.files import write_json
from paper import plan
from paper.neighbours import stored_neighbours
from paper.plan import (
    DERIVED,
    MORE_SYSTEMS,
    OURS,
    PARTS,
    TABLE4_RUN,
    Run,
    planned,
    runs_for,
)
from paper.published import TABLE2, TABLE2_CITED, TABLE3
from paper.recipes import load_recipe
from paper.results import FIELDS, all_finished, finished, result_path


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return minidata.make(tmp_path / "mini", sentences=6, dimension=3)


def test_every_part_has_its_runs() -> None:
    counts = {part: len(runs_for(part, 5)) for part in PARTS}
    assert counts["table1"] == 0
    cited = 2 * len(TABLE2_CITED) - (DERIVED in {row.system for row in TABLE2_CITED})
    more = 5 * len(MORE_SYSTEMS)
    assert counts["table2"] == 5 * (16 + 2 * len(OURS)) + more + 3 * cited
    assert counts["figure4"] == 5 * 9
    assert counts["table3"] == 5 * 9 + 3 * 4
    assert counts["figure3"] == 5 * 8 + more
    assert counts["all"] == 5 * (9 + 16 + 2 * len(OURS)) + more + 3 * (6 + 4 + cited)
    everything = set(runs_for("all", 5))
    others = ("beyond", "parser")  # not part of all
    assert all(set(runs_for(part, 5)) <= everything for part in PARTS if part not in others)
    assert all(len({run.name for run in runs_for(part, 5)}) == counts[part] for part in PARTS)


@pytest.mark.parametrize(
    "name",
    [f"{task}-{row.system}" for task in ("sst5", "sst2") for row in TABLE2]
    + [f"sick-{row.system}" for row in TABLE3],
)
def test_a_row_has_the_papers_settings_or_a_departure_that_is_listed(name: str) -> None:
    """Sec. 5.3 of the paper; docs/paper.md lists the departures."""
    config, sst = load_recipe(name), name.startswith("sst")
    rates = {"sick-mean": 0.1, "sick-dt-rnn": 0.01, "sick-sdt-rnn": 0.01}
    assert config.learning_rate == rates.get(name, 0.05)
    assert config.batch_size * (config.spans + 1 if sst and config.layer == "lstm" else 1) == 25
    if config.layer not in ("mean", "dt-rnn", "sdt-rnn"):
        assert config.layer_settings["output_gate"] == sst
    assert config.similarity_hidden == 50
    assert config.weight_decay == 1e-4
    assert config.dropout == (0.5 if sst else 0.0)
    assert config.embedding_optimizer == "plain"
    assert config.embeddings == (
        "fixed" if not sst or "fixed" in name else "random" if "random" in name else "tuned"
    )
    assert config.embedding_learning_rate == 0.1


@pytest.mark.parametrize(("part", "seeds"), [("table5", 5), ("all", 0)])
def test_what_cannot_be_planned_is_said(part: str, seeds: int) -> None:
    with pytest.raises(ValueError, match=r"'table5': one of|--seeds 0: at least 1"):
        runs_for(part, seeds)


def test_the_key_follows_settings_seed_and_data(mini: Path) -> None:
    run = Run("sick-lstm", 1)
    others = [
        Run("sick-lstm", 2),
        Run("sick-bilstm", 1),
        Run("sick-lstm", 1, (("hidden_size", "7"),)),
        Run("sick-lstm", 1, (), (("hidden_size", "7"),)),
    ]
    keys = [run.key(mini), *(other.key(mini) for other in others)]
    assert keys[3] == keys[4]  # by whatever way it is set
    assert len(set(keys)) == 4
    assert run.key(mini) == keys[0]
    scores = mini / "sick" / "dev" / "sim.txt"
    scores.write_text(scores.read_text().replace("1.", "2.", 1))
    assert run.key(mini) != keys[0]


def test_the_key_follows_the_version_of_the_code(mini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Run("sick-lstm", 1).key(mini)
    monkeypatch.setattr(plan, "CODE", plan.CODE + 1)
    assert Run("sick-lstm", 1).key(mini) != before


def test_a_run_of_an_earlier_code_counts_only_where_it_is_asked_for(mini: Path, tmp_path: Path) -> None:
    run = Run("sick-lstm", 1)
    result = dict.fromkeys(FIELDS, "") | {"recipe": run.recipe, "settings": {}, "seed": 1}
    write_json(result_path(tmp_path, run), result | {"key": run.key(mini, 1)})
    assert finished(tmp_path, run, mini) is None
    assert finished(tmp_path, run, mini, earlier=True) is not None
    assert [one["code"] for one in all_finished(tmp_path, mini)] == [1]
    write_json(result_path(tmp_path, run), result | {"key": run.key(mini)})
    assert finished(tmp_path, run, mini) is not None


def test_five_rows_in_five_classes_have_ten_seeds() -> None:
    seeds: dict[str, list[int]] = {}
    for one in runs_for("all", 5):
        seeds.setdefault(one.system, []).append(one.seed)
    assert {name for name, own in seeds.items() if len(own) == 10} == {
        f"sst5-{name}" for name in MORE_SYSTEMS
    }
    assert len([one for one in runs_for("all", 3) if one.system == "sst5-lstm"]) == 3


def test_our_own_rows_have_other_seeds_than_their_search() -> None:
    page = (Path(plan.__file__).parents[1] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    search = page.partition("## How the settings of our own row were chosen")[2].partition("\n## ")[0]
    tried = {int(seed) for seed in re.findall(r"^\| (\d+) \|", search, re.MULTILINE)}
    reported = [run.seed for run in runs_for("table2", 5) if run.recipe.partition("-")[2] in OURS]
    assert len(reported) == 10
    assert min(reported) > max(tried)  # so that no number of seeds reaches them


def test_settings_of_a_variant_lie_over_those_of_the_sitting() -> None:
    run = Run("sick-bilstm", 1, (("hidden_size", "87"),), (("hidden_size", "8"), ("epochs", "1")))
    assert (run.config().hidden_size, run.config().epochs) == (87, 1)
    assert run.name == "sick-bilstm+hidden_size=87.1"


@pytest.mark.parametrize(
    "overrides", [{}, {"recurrent_dropout": "0.2", "epochs": "2"}, {"tied": "false"}], ids=str
)
def test_what_a_sitting_finds_finished_is_in_its_report(
    overrides: dict[str, str], mini: Path, tmp_path: Path
) -> None:
    runs = {run.name: run for part in PARTS for run in runs_for(part, 1, overrides)}
    for run in runs.values():
        result: dict[str, Any] = {key: {} for key in FIELDS}
        result |= {
            "key": run.key(mini),
            "recipe": run.recipe,
            "seed": run.seed,
            "settings": dict(run.settings),
        }
        write_json(result_path(tmp_path, run), {**result, "system": run.system})
    reported = {result["system"] for result in all_finished(tmp_path, mini, overrides)}
    assert reported == {run.system for run in runs.values()}
    assert all(finished(tmp_path, run, mini) for run in runs.values())
    others = [replace(run, overrides=(*run.overrides, ("batch_size", "7"))) for run in runs.values()]
    assert not any(finished(tmp_path, run, mini) for run in others)  # the same files, other settings
    write_json(tmp_path / "neighbours.json", {"key": "of another model"})
    assert stored_neighbours(tmp_path, mini, planned(TABLE4_RUN, overrides)) is None


def test_planning_everything_hashes_each_file_once(mini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    true = vars(plan)["fingerprint"]

    def noted(files: list[Path], data: Path) -> Any:
        read.extend(files)
        return true(files, data=data)

    monkeypatch.setattr(plan, "fingerprint", noted)
    plan._hashed.cache_clear()
    for run in runs_for("table3", 5):
        run.key(mini)
    assert len(read) == len(set(read)) > 10


def test_a_setting_at_its_default_is_as_good_as_none(mini: Path) -> None:
    usual, other = (Run("sst5-constituency-tuned", 1, (("forget_bias", value),)) for value in ("0.0", "1.0"))
    assert usual.key(mini) == Run("sst5-constituency-tuned", 1).key(mini) != other.key(mini)


def test_a_setting_goes_to_the_systems_that_take_it() -> None:
    runs = runs_for("table3", 1, {"recurrent_dropout": "0.2", "epochs": "1"})
    dropped = {run.recipe for run in runs if run.config().layer_settings.get("recurrent_dropout") == 0.2}
    assert dropped == {"sick-constituency", "sick-dependency"}
    assert {run.config().epochs for run in runs} == {1}
