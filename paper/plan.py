"""Plan the runs that each part of the paper needs."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bough.data import fingerprint
from bough.models.settings import all_settings, kind_named
from paper.config import PaperConfig
from paper.parses import PARSER_FILES, deciding_files
from paper.published import CLAIMS, TABLE2, TABLE2_CITED, TABLE3, TABLE3_CITED
from paper.recipes import load_recipe

# Raise this by hand when a change to training or to a default changes results, and add the old number to EARLIER.
CODE = 2
# Stored runs of these versions of the code are shown with the version of bough that made them, and count as done
# unless all is trained again.
EARLIER = (1,)

# Settings that are newer than the first runs, with the value that gives the behaviour of those runs. A setting with
# this value is not part of the key. All other settings are, whether they have their default value or not.
ADDED: dict[str, Any] = {"node_text": False, "combine": "sum", "category_size": 32, "log_numbers": "auto"}
ADDED |= {"trees": "auto"}
# Settings that were removed, with the value that all runs had. They are still part of the key.
REMOVED: dict[str, Any] = {"pair_features": False}

# the titles of our own rows below the paper's, and of the ensembles of all their seeds
OURS = {"constituency-regularised": "Constituency Tree-LSTM, regularised (ours)"}
TOGETHER = {"constituency-regularised": "Ensemble of all seeds of this model (ours)"}
CLAIM_SEEDS = 3
CITED_SEEDS = 3  # seeds of each rebuilt cited system
# five seeds do not decide whether the Tree-LSTM is above the LSTMs in five classes
MORE_SEEDS = 10
MORE_SYSTEMS = ("constituency-tuned", "lstm", "bilstm", "lstm-2layer", "bilstm-2layer")
DERIVED = "drnn"  # its binary figure comes from the five-class model, as in its paper
FRESH = 100  # the first seed of our own rows; their settings were chosen with other seeds
PARTS = ("table1", "table2", "table3", "table4", "figure3", "figure4", "claims", "all", "beyond", "parser")
# with the parse, without a tree, with balanced trees
BEYOND = ("contextual", "contextual-mean", "contextual-balanced")
BEYOND_SICK = ("contextual", "contextual-mean", "contextual-attentive")
ENCODERS = {"all-MiniLM-L6-v2": "MiniLM", "all-mpnet-base-v2": "MPNet"}
# the small encoder is used on SICK, the large one also on the binary task
SICK_ENCODER, BINARY_ENCODER = ENCODERS
# chosen on dev; the recipe has the value for the large encoder
SST_SETTINGS = {SICK_ENCODER: (("encoder_learning_rate", "2e-4"),)}
BEYOND_SEEDS = 3
# the systems that are also trained on the built-in parser's trees, to measure what these cost
PARSED = ("sick-dependency", "sick-constituency", "sst5-dependency")
PARSED_SEEDS = 3


@dataclass(frozen=True)
class Run:
    """One training: a recipe, settings over it, and a seed.

    `settings` are part of the name and take precedence over `overrides`, which are set for all runs
    of a system or of a command. Both are part of the key.
    """

    recipe: str
    seed: int
    settings: tuple[tuple[str, str], ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()

    @property
    def system(self) -> str:
        """Return the name of the system: the recipe, and the settings over it."""
        return "+".join([self.recipe, *(f"{key}={value}" for key, value in self.settings)])

    @property
    def name(self) -> str:
        """Return the name of the result file and of the working folder."""
        return f"{self.system}.{self.seed}"

    def config(self) -> PaperConfig:
        return load_recipe(self.recipe).with_settings({**dict(self.overrides), **dict(self.settings)})

    def made_by(self, key: str, data: Path) -> int | None:
        """Return the version of the code whose run with these settings, seed and data has this key, or None."""
        return next((code for code in (CODE, *EARLIER) if self.key(data, code) == key), None)

    def key(self, data: Path, code: int | None = None) -> str:
        """Return a hash of all that decides the result: settings, seed, the bytes of the data, the version of the code.

        Only the name of a pretrained encoder is part of it.
        """
        config = self.config()
        unchanged = {"about": config.about, **ADDED}
        settings = {k: v for k, v in config.as_dict().items() if not (k in unchanged and v == unchanged[k])}
        settings |= REMOVED
        task = config.build_task(data)
        files = [file for split in ("train", "dev", "test") for file in task.files(split)]
        files = deciding_files(files)
        files += sorted((data / "wordnet").glob("*")) if config.system and config.task == "sick" else []
        if config.embeddings != "random" and not config.encoder:
            files += sorted((data / "glove").glob("*"))
        identity: dict[str, str] = {}
        for file in files:
            if file.is_file():  # the run itself reports a missing one
                status = file.stat()
                root = PARSER_FILES[0].parents[1] if file in PARSER_FILES else data
                identity |= _hashed(file, root, status.st_size, status.st_mtime_ns)
        parts = {"config": settings, "seed": self.seed, "data": identity, "code": code or CODE}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@lru_cache(maxsize=256)  # the runs share their files, and there are 150 runs
def _hashed(file: Path, data: Path, size: int, modified: int) -> dict[str, str]:
    return fingerprint([file], data=data)


def runs_for(part: str, seeds: int, overrides: Mapping[str, str] | None = None) -> list[Run]:
    """Return the runs of a part of the paper. `overrides` apply to systems with such a setting."""
    if seeds < 1:
        raise ValueError(f"--seeds {seeds}: at least 1")
    if part not in PARTS:
        raise ValueError(f"{part!r}: one of {', '.join(PARTS)}")
    return [planned(run, overrides) for run in dict.fromkeys(_parts(seeds)[part])]


def planned(run: Run, overrides: Mapping[str, str] | None = None) -> Run:
    """Return a run with the settings of its encoder and the overrides that its system has."""
    leaves = dict(run.settings).get("encoder", "")
    own = SST_SETTINGS.get(leaves, ()) if run.recipe.startswith("sst") else ()
    config = load_recipe(run.recipe)
    layer = (overrides or {}).get("layer", config.layer)
    # the settings of other layers do not apply; a system has no layer
    others = all_settings() - ({} if config.system else kind_named(layer).settings).keys()
    taken = [(key, value) for key, value in (overrides or {}).items() if key not in others]
    return replace(run, overrides=(*own, *taken))


def _parts(seeds: int) -> dict[str, list[Run]]:
    """Return the runs of each part of the paper."""
    sick = _seeded([f"sick-{row.system}" for row in TABLE3], seeds)
    fine = _seeded([f"sst5-{row.system}" for row in TABLE2], seeds)
    if seeds >= 5:
        more = _seeded([f"sst5-{system}" for system in MORE_SYSTEMS], MORE_SEEDS)
        fine += [run for run in more if run.seed > seeds]
    binary = _seeded([f"sst2-{row.system}" for row in TABLE2], seeds)
    ours = _seeded([f"{task}-{system}" for system in OURS for task in ("sst5", "sst2")], seeds, first=FRESH)
    few = min(CITED_SEEDS, seeds)
    cited_sick = _seeded([f"sick-{row.system}" for row in TABLE3_CITED], few)
    cited = [f"{task}-{row.system}" for row in TABLE2_CITED for task in ("sst5", "sst2")]
    cited_sst = _seeded([name for name in cited if name != f"sst2-{DERIVED}"], few)
    # the systems of the claims are rows of the tables, or variants with a "+" that only a claim needs
    named = dict.fromkeys(term["system"] for claim in CLAIMS for term in claim["terms"] if "system" in term)
    claimed = _seeded([name for name in named if "+" not in name], seeds)
    variants = _seeded([name for name in named if "+" in name], min(CLAIM_SEEDS, seeds))
    beyond = [f"sick-{system}+encoder={SICK_ENCODER}" for system in BEYOND_SICK]
    beyond += [f"sst5-{system}+encoder={encoder}" for encoder in ENCODERS for system in BEYOND]
    beyond += [f"sst2-contextual+encoder={BINARY_ENCODER}"]
    return {
        "table1": [],
        "table2": [*fine, *binary, *ours, *cited_sst],
        "table3": [*sick, *cited_sick],
        "table4": [TABLE4_RUN],
        "figure3": fine,
        "figure4": sick,
        "claims": [*variants, *claimed],
        # not part of "all", because it needs the two encoders and twice the time
        "beyond": _seeded(beyond, min(BEYOND_SEEDS, seeds)),
        # with setting `trees`, so that these runs are beside those with the paper's trees
        "parser": _seeded([f"{name}+trees=builtin" for name in PARSED], min(PARSED_SEEDS, seeds)),
        "all": [*sick, *cited_sick, *variants, *fine, *binary, *ours, *cited_sst],
    }


def _seeded(systems: Iterable[str], seeds: int, first: int = 1) -> list[Run]:
    """Return `seeds` runs of each system, which is a recipe with `+key=value` for settings over it."""
    runs = []
    for seed in range(first, first + seeds):
        for recipe, *settings in (system.split("+") for system in systems):
            pairs = (setting.partition("=") for setting in settings)
            runs.append(Run(recipe, seed, tuple((key, value) for key, _, value in pairs)))
    return runs


TABLE4_RUN = Run("sick-dependency", 1)
