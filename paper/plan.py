"""Which runs each part of the paper needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bough.data import fingerprint
from bough.models.layers import all_settings, takes
from paper.config import PaperConfig
from paper.recipes import load_recipe

# raised by hand when training, or a default, changes what a run gives: old results then count no more
CODE = 1

# Settings that were added after runs had been made, with the value that is what those runs did: such a value does not
# count in a key. All other settings count by their value, whether it is the default or not.
ADDED: dict[str, Any] = {}

SST_SYSTEMS = (
    "lstm", "bilstm", "lstm-2layer", "bilstm-2layer", "dependency", "constituency-random", "constituency-fixed",
    "constituency-tuned",
)  # fmt: skip
OURS = {  # rows of our own below the paper's, by their title
    "constituency-regularised": "Constituency Tree-LSTM, regularised (ours)",
}
TOGETHER = {  # the same with the probabilities of all seeds averaged
    "constituency-regularised": "All seeds of it together (ours)",
}
SICK_SYSTEMS = (
    "mean", "dt-rnn", "sdt-rnn", "lstm", "bilstm", "lstm-2layer", "bilstm-2layer", "constituency", "dependency"
)  # fmt: skip
CLAIM_VARIANTS = (  # the paper's sentences that are experiments, each against a row of Table 3
    # 203,580 parameters, as near 203,400 as d allows
    ("sick-bilstm", {"tied": "false", "hidden_size": "87"}),
    ("sick-dependency", {"objective": "mse"}),
    ("sick-dependency", {"features": "product"}),
    ("sick-dependency", {"features": "difference"}),
    ("sick-dependency", {"embeddings": "tuned"}),
    ("sick-dependency", {"dropout": "0.5"}),
)
CLAIM_ROWS = (  # rows of Tables 2 and 3 that the claims also compare
    "sick-dependency", "sick-bilstm", "sick-constituency", "sick-lstm-2layer",
    "sst5-dependency", "sst5-constituency-fixed", "sst5-constituency-tuned",
    "sst2-dependency", "sst2-constituency-fixed", "sst2-constituency-tuned",
)  # fmt: skip
CLAIM_SEEDS = 3
CITED_SEEDS = 3  # of the cited systems, rebuilt: the paper quotes one figure for each
CITED_SST = (
    "rnn", "mv-rnn", "rntn", "dcnn", "paragraph-vec", "cnn-non-static", "cnn-multichannel", "drnn"
)  # fmt: skip
DERIVED = "drnn"  # its binary figure is read off the five-class model, as its authors did
CITED_SICK = ("illinois-lh", "unal-nlp", "meaning-factory", "ecnu")
FRESH = 100  # the seeds of our own rows start here, apart from those that their settings were chosen with
PARTS = ("table1", "table2", "table3", "table4", "figure3", "figure4", "claims", "all", "beyond")
# with a tree, without one, with halves for a parse
BEYOND = ("contextual", "contextual-mean", "contextual-balanced")
BEYOND_SICK = ("contextual", "contextual-mean", "contextual-attentive")
ENCODERS = {"all-MiniLM-L6-v2": "MiniLM", "all-mpnet-base-v2": "MPNet"}
# the small one reads pairs, the large one is trained on the binary task too
SICK_ENCODER, BINARY_ENCODER = ENCODERS
# by dev; what the recipe says is for the large one
SST_SETTINGS = {SICK_ENCODER: (("encoder_learning_rate", "2e-4"),)}
BEYOND_SEEDS = 3


@dataclass(frozen=True)
class Run:
    """One training: a recipe, settings over it, and a seed.

    `overrides` lie below `settings`, and change the key but not the name: what all runs of a system have in common,
    and what is set for a whole command.
    """

    recipe: str
    seed: int
    settings: tuple[tuple[str, str], ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()

    @property
    def system(self) -> str:
        """What the seeds of one system have in common: the recipe and what was set over it."""
        return "+".join([self.recipe, *(f"{key}={value}" for key, value in self.settings)])

    @property
    def name(self) -> str:
        """Of the result file and the working folder."""
        return f"{self.system}.{self.seed}"

    def config(self) -> PaperConfig:
        """The recipe with the settings."""
        return load_recipe(self.recipe).with_settings({**dict(self.overrides), **dict(self.settings)})

    def key(self, data: Path) -> str:
        """A hash of all that decides the result: settings, seed, the data's bytes, the training code's version.

        A pretrained encoder counts by its name.
        """
        config = self.config()
        unchanged = {"about": config.about, **ADDED}
        settings = {k: v for k, v in config.as_dict().items() if not (k in unchanged and v == unchanged[k])}
        task = config.build_task(data)
        files = [file for split in ("train", "dev", "test") for file in task.files(split)]
        files += sorted((data / "wordnet").glob("*")) if config.system and config.task == "sick" else []
        if config.embeddings != "random" and not config.encoder:
            files += sorted((data / "glove").glob("*"))
        identity = {name: value for file in files for name, value in _identity(file, data).items()}
        parts = {"config": settings, "seed": self.seed, "data": identity, "code": CODE}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _identity(file: Path, data: Path) -> dict[str, str]:
    if not file.is_file():  # the run itself will say so
        return {}
    status = file.stat()
    return _hashed(file, data, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=256)  # the runs share their files, and a plan of 150 runs is to take no time
def _hashed(file: Path, data: Path, size: int, modified: int) -> dict[str, str]:
    return fingerprint([file], data=data)


def runs_for(part: str, seeds: int, overrides: Mapping[str, str] | None = None) -> list[Run]:
    """The runs behind one part of the paper, quick ones first; `overrides` go to all that take them."""
    if part not in PARTS:
        raise ValueError(f"{part!r}: one of {', '.join(PARTS)}")
    if seeds < 1:
        raise ValueError(f"--seeds {seeds}: at least 1")
    return [planned(run, overrides) for run in dict.fromkeys(_runs(part, seeds))]


def planned(run: Run, overrides: Mapping[str, str] | None = None) -> Run:
    """Return a run with the overrides that it takes, over what its encoder wants."""
    leaves = dict(run.settings).get("encoder", "")
    own = SST_SETTINGS.get(leaves, ()) if run.recipe.startswith("sst") else ()
    config = load_recipe(run.recipe)
    layer = (overrides or {}).get("layer", config.layer)
    taken = {
        key: value
        for key, value in (overrides or {}).items()
        if (key not in all_settings() if config.system else takes(layer, key))  # a system has no layer
    }
    return replace(run, overrides=own + tuple(taken.items()))


def _runs(part: str, seeds: int) -> list[Run]:
    sick = _seeded([f"sick-{system}" for system in SICK_SYSTEMS], seeds)
    fine = _seeded([f"sst5-{system}" for system in SST_SYSTEMS], seeds)
    binary = _seeded([f"sst2-{system}" for system in SST_SYSTEMS], seeds)
    ours = _seeded([f"{task}-{system}" for system in OURS for task in ("sst5", "sst2")], seeds, first=FRESH)
    few = min(CITED_SEEDS, seeds)
    cited_sick = _seeded([f"sick-{system}" for system in CITED_SICK], few)
    cited = [f"{task}-{system}" for system in CITED_SST for task in ("sst5", "sst2")]
    cited_sst = _seeded([name for name in cited if name != f"sst2-{DERIVED}"], few)
    variants = [
        Run(recipe, seed, tuple(settings.items()))
        for seed in range(1, min(CLAIM_SEEDS, seeds) + 1)
        for recipe, settings in CLAIM_VARIANTS
    ]
    asked = [Run(f"sick-{system}", 1, (("encoder", SICK_ENCODER),)) for system in BEYOND_SICK]
    asked += [Run(f"sst5-{system}", 1, (("encoder", encoder),)) for encoder in ENCODERS for system in BEYOND]
    asked += [Run("sst2-contextual", 1, (("encoder", BINARY_ENCODER),))]
    beyond = [replace(run, seed=seed) for seed in range(1, min(BEYOND_SEEDS, seeds) + 1) for run in asked]
    return {
        "table1": [],
        "table2": [*fine, *binary, *ours, *cited_sst],
        "table3": [*sick, *cited_sick],
        "table4": [TABLE4_RUN],
        "figure3": fine,
        "figure4": sick,
        "claims": [*variants, *_seeded(CLAIM_ROWS, seeds)],
        "beyond": beyond,  # not among all: it needs the two encoders, and as many hours again
        "all": [*sick, *cited_sick, *variants, *fine, *binary, *ours, *cited_sst],
    }[part]


def _seeded(recipes: Iterable[str], seeds: int, first: int = 1) -> list[Run]:
    return [Run(recipe, seed) for seed in range(first, first + seeds) for recipe in recipes]


TABLE4_RUN = Run("sick-dependency", 1)
