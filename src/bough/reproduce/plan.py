"""Which runs each part of the paper needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bough.config import Config, load_recipe
from bough.datasets import fingerprint
from bough.tasks import task_for

CODE = 1  # raised by hand when training changes what a run gives, so that old results no longer count

SST_SYSTEMS = (
    "lstm",
    "bilstm",
    "lstm-2layer",
    "bilstm-2layer",
    "dependency",
    "constituency-random",
    "constituency-fixed",
    "constituency-tuned",
)
OURS = "constituency-regularised"
SICK_SYSTEMS = (
    "mean",
    "dt-rnn",
    "sdt-rnn",
    "lstm",
    "bilstm",
    "lstm-2layer",
    "bilstm-2layer",
    "constituency",
    "dependency",
)
CLAIM_VARIANTS = (  # the paper's sentences that are experiments, each against a row of Table 3
    ("sick-bilstm", {"tied": "false", "hidden": "87"}),  # 203,580 parameters, as near 203,400 as d allows
    ("sick-dependency", {"objective": "mse"}),
    ("sick-dependency", {"features": "product"}),
    ("sick-dependency", {"features": "difference"}),
    ("sick-dependency", {"embeddings": "tuned"}),
    ("sick-dependency", {"dropout": "0.5"}),
)
CLAIM_SEEDS = 3
FRESH = 100  # the seeds of our own rows start here, apart from those that their settings were chosen with
PARTS = ("table1", "table2", "table3", "table4", "figure3", "figure4", "claims", "all")


@dataclass(frozen=True)
class Run:
    """One training: a recipe, settings over it, and a seed."""

    recipe: str
    seed: int
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def system(self) -> str:
        """What the seeds of one system have in common: the recipe and what was set over it."""
        return "+".join([self.recipe, *(f"{key}={value}" for key, value in self.settings)])

    @property
    def name(self) -> str:
        """Of the result file and the working folder."""
        return f"{self.system}.{self.seed}"

    def config(self) -> Config:
        """The recipe with the settings."""
        return load_recipe(self.recipe).with_settings(dict(self.settings))

    def key(self, data: Path) -> str:
        """A hash of all that decides the result: settings, seed, the data's bytes, the training code's version."""
        config = {name: value for name, value in self.config().as_dict().items() if name != "about"}
        task = task_for(self.config(), data)
        files = [file for split in ("train", "dev", "test") for file in task.files(split)]
        files += sorted((data / "glove").glob("*")) if self.config().embeddings != "random" else []
        parts = {"config": config, "seed": self.seed, "data": fingerprint(files, data=data), "code": CODE}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def runs_for(part: str, seeds: int) -> list[Run]:
    """The runs behind one part of the paper, quick ones first."""
    if part not in PARTS:
        raise ValueError(f"{part!r}: one of {', '.join(PARTS)}")
    if seeds < 1:
        raise ValueError(f"--seeds {seeds}: at least 1")
    sick = [f"sick-{system}" for system in SICK_SYSTEMS]
    fine = [f"sst5-{system}" for system in SST_SYSTEMS]
    binary = [f"sst2-{system}" for system in SST_SYSTEMS]
    if part == "table1":
        return []
    if part == "table4":
        return [Run("sick-dependency", 1)]
    if part == "figure4":
        return _seeded(sick, seeds)
    if part == "figure3":
        return _seeded(fine, seeds)
    if part == "table3":
        return _seeded(sick, seeds)
    ours = _seeded([f"sst5-{OURS}", f"sst2-{OURS}"], seeds, first=FRESH)
    if part == "table2":
        return [*_seeded([*fine, *binary], seeds), *ours]
    claims = [
        Run(recipe, seed, tuple(settings.items()))
        for seed in range(1, min(CLAIM_SEEDS, seeds) + 1)
        for recipe, settings in CLAIM_VARIANTS
    ]
    compared = _seeded(["sick-dependency", "sick-bilstm"], min(CLAIM_SEEDS, seeds))
    if part == "claims":
        tuning = ("constituency-fixed", "constituency-tuned")
        return [*compared, *claims, *_seeded([f"{t}-{s}" for t in ("sst5", "sst2") for s in tuning], seeds)]
    return [*_seeded(sick, seeds), *claims, *_seeded([*fine, *binary], seeds), *ours]


def _seeded(recipes: Iterable[str], seeds: int, first: int = 1) -> list[Run]:
    return [Run(recipe, seed) for seed in range(first, first + seeds) for recipe in recipes]
