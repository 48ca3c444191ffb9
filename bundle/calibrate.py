"""Probabilities that mean something on every source: a temperature and a bias per class, fitted on dev."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bough.model.model import Model
from bough.model.sentences import Sentence
from bough.nn.heads import Classifier
from bough.training.tasks.mixed import MixedTask

STEPS = 100


def calibrate(model: Model, task: MixedTask, dev: Sequence[Sentence]) -> None:
    """Make the head's logits z into z / T + b, where the loss on dev is least and every source counts alike.

    A source that knows no neutral text says nothing about how likely that is: its p are among its own classes.
    """
    assert isinstance(model.head, Classifier)
    log_p = torch.from_numpy(
        np.log(task.predict(model, dev).clip(1e-30))
    )  # (n, K), logits but for a constant
    labels = torch.tensor([sentence.label for sentence in dev])
    inside, known, weights = _targets(task, labels, log_p.dtype)
    log_t = torch.zeros((), dtype=log_p.dtype, requires_grad=True)
    b = torch.zeros(log_p.shape[1], dtype=log_p.dtype, requires_grad=True)
    optimiser = torch.optim.LBFGS([log_t, b], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        z = log_p / log_t.exp() + b
        right, all_known = (z.masked_fill(~among, -torch.inf).logsumexp(dim=1) for among in (inside, known))
        found = ((all_known - right) * weights).sum()
        found.backward()
        return found

    optimiser.step(loss)
    with torch.no_grad():
        model.head.W_s.div_(float(log_t.exp()))
        model.head.b_s.div_(float(log_t.exp())).add_((b - b.mean()).to(model.head.b_s))


def _targets(task: MixedTask, labels: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """(n, K) the classes that are right for each example, those its source has, and (n,) weights.

    The weights make the sources equal.
    """
    members, sources = task.members(), [""] * task.classes + [name for name, _ in task.groups]
    of_label = torch.cat([torch.eye(task.classes, dtype=torch.bool), members])
    of_source = torch.stack(
        [of_label[[k for k, other in enumerate(sources) if other == name]].any(dim=0) for name in sources]
    )
    of = [sources[label] for label in labels.tolist()]
    sizes = {name: of.count(name) for name in {*of}}
    return (
        of_label[labels],
        of_source[labels],
        torch.tensor([1 / sizes[name] / len(sizes) for name in of], dtype=dtype),
    )
