"""Evaluate a trained run on a split of its data set."""

from pathlib import Path

import numpy as np

from bough.files import read_json, write_text
from bough.models.model import Model
from bough.outputs import Report
from paper.config import PaperConfig
from paper.fit_system import fit_system, score_system
from paper.tasks import SentimentTask, read_some


def evaluate(
    run: Path,
    split: str = "test",
    *,
    data: Path | str | None = None,
    device: str = "cpu",
    out: Path | None = None,
    settings: type[PaperConfig] = PaperConfig,
) -> Report:
    """Evaluate the model in a folder on one split of its data set.

    Args:
        run: the folder of a run or a model.
        split: "train", "dev" or "test".
        data: the data folder; None looks where `bough.data.find_data` does.
        device: the device to compute on.
        out: a file for the predictions.
        settings: the class of the run's configuration.

    Examples:
        >>> import pathlib
        >>> from paper.evaluate import evaluate
        >>> evaluate(pathlib.Path("runs/sick-dependency-1")).examples  # doctest: +SKIP
        4927
    """
    facts = read_json(run / "run.json")
    # the trees that it learned from, whatever else is in the data folder now
    trees = {"trees": facts["trees"]} if "trees" in facts else {}
    config = settings().with_settings(facts["config"] | trees)
    task = config.build_task(data)
    raw, classes = read_some(task, split), []
    if config.system:
        # such a system is not stored: the same seed on the same data gives the same system
        metrics, predicted = score_system(fit_system(task, facts["seed"]), task, raw)
    else:
        model = Model.load(run, device)
        examples = task.prepare(raw, model)
        predicted = task.predict(model, examples)
        metrics = task.figures(model, predicted, examples)
        if isinstance(task, SentimentTask):
            gold = np.array([sentence.label for sentence in examples])
            fine = gold < predicted.shape[1]  # coarser labels of sources beside SST are left out
            shown = predicted[fine]
            if config.task == "sst2":
                shown[:, 1:-1] = 0  # neutral is a class inside sentences only
            classes = model.output.metrics(shown, gold[fine]).classes
    if out is not None:
        rows = np.atleast_2d(predicted.T).T
        write_text(out, "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows))
    return Report(metrics, classes, len(raw))
