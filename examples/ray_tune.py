"""Search two settings of `bough.fit` with Ray Tune, on the small treebank in `demo/`; needs `ray[tune]`.

Every trial is scored on dev. The test trees are scored once, by the model with the best settings.
"""

import tempfile
from pathlib import Path
from typing import Any

from ray import tune

import bough
from bough.formats import ptb
from bough.integrations.ray.connection import connected

DEMO = Path(__file__).resolve().parent / "demo"
SPACE = {"hidden_size": tune.grid_search([20, 60]), "learning_rate": tune.grid_search([0.01, 0.05])}
EPOCHS = 12


def read(split: str) -> tuple[list[bough.Tree], list[str]]:
    """Return the trees of a split, and the class of each: the label of its root."""
    trees = ptb.read(DEMO / f"{split}.txt")
    return trees, [str((tree.labels or ())[tree.root]) for tree in trees]


def fitted(settings: dict[str, Any]) -> Any:
    """Return a model with these settings; a search may set any key of a recipe."""
    return bough.fit(*read("train"), dev=read("dev"), settings=settings, epochs=EPOCHS)


def trial(settings: dict[str, Any]) -> None:
    """Fit with some settings, and report the accuracy on dev."""
    tune.report({"accuracy": fitted(settings).evaluate(*read("dev")).figures["accuracy"]})


def main() -> None:
    """Try all combinations, one processor each, then measure the best one on test."""
    with connected(), tempfile.TemporaryDirectory() as folder:  # this machine's processors, or RAY_ADDRESS
        tuner = tune.Tuner(
            tune.with_resources(trial, {"cpu": 1}),
            param_space=SPACE,
            tune_config=tune.TuneConfig(metric="accuracy", mode="max"),
            run_config=tune.RunConfig(storage_path=folder, verbose=0),
        )
        results = tuner.fit()
    for result in [results[place] for place in range(len(results))]:
        print(f"dev {(result.metrics or {})['accuracy']:.3f}  {result.config}")
    best = results.get_best_result().config or {}
    report = fitted(best).evaluate(*read("test"))
    print(f"accuracy on the {report.examples} held out: {report.figures['accuracy']:.3f} with {best}")


if __name__ == "__main__":
    main()
