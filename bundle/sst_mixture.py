"""SST beside other sources, whose labels are coarser: one model of SST's classes learns from all of them.

A source has a file per split below the data folder, `extra/NAME/SPLIT.txt`: a tree in brackets per
line, `#` at the nodes without a label; the label `3|4` is one of the classes 3 and 4.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import Tensor
from torch.nn import functional

from bough import Tree
from bough.data.paths import find_data, require
from bough.errors import FormatError
from bough.formats import ptb
from bough.models.batching import UNLABELLED, PreparedTree, collate
from bough.models.model import Model
from bough.nn import Classifier
from bough.nn.dropout import dropout_mask
from bough.train.tasks import Floats, Indices, shuffled
from bundle.config import BundleConfig, shares
from paper.tasks import SentimentTask

STEPS = 100  # of the optimiser that calibrates
Classes = tuple[int, ...]  # the one or more that a label stands for
Group = tuple[str, Classes]  # a source, and the classes that one of its labels stands for


def extra_file(data: Path, name: str, split: str) -> Path:
    return data / "extra" / name / f"{split}.txt"


def load_extra(data: Path | str | None, name: str, split: str, classes: int) -> list[Tree]:
    """Read the trees of a source; a label is a tuple of class numbers below `classes`, or None."""
    path = extra_file(find_data(data), name, split)
    require([path], "extra", hint="`python -m bundle prepare` makes goemotions, xed and newsmtsc")
    trees = []
    for number, tree in enumerate(ptb.iterate(path), 1):
        where = f"{path}: tree {number}"
        labels = [_read_label(label, classes, where) for label in tree.labels or ()]
        if not labels or labels[tree.root] is None:
            raise FormatError("no label at the root; a text has one", where=where)
        trees.append(tree.replace(labels=labels))
    return trees


def _read_label(label: object, classes: int, where: str) -> Classes | None:
    if label is None or label == "#":
        return None
    parts = str(label).split("|")
    if not all(part.isdecimal() and int(part) < classes for part in parts):
        reason = f"the label {label!r}; a class is 0 to {classes - 1}, several go as 3|4"
        raise FormatError(reason, where=where)
    return tuple(sorted({int(part) for part in parts}))


class MixedTask(SentimentTask):
    """SST and the sources of `mix`: a step takes `batch` sentences of SST and so many of each source.

    A source's classes take turns in a step, however frequent each is. The label K + g of a node
    means one of the classes of group g, with p the sum of theirs. The loss is (Σ_fine -log p +
    `mix_weight` Σ_coarse -log p) / trees, where only those of SST count as trees. Polar texts also
    have `polar_weight` times -log p / (1 - p_neutral).
    """

    def __init__(self, config: BundleConfig, data: Path) -> None:
        super().__init__(config, data)
        self.config: BundleConfig = config
        self.shares = shares(config.mix)
        self.classes = len(config.output.classes)
        self.groups: list[Group] = []

    def read(self, split: str) -> list[Tree]:
        trees = super().read(split)
        for name in self.shares:
            for tree in load_extra(self.data, name, split, self.classes)[: self.config.max_examples or None]:
                trees.append(tree.replace(labels=[self._number(name, label) for label in tree.labels or ()]))
        return trees

    def _number(self, name: str, label: object) -> int | None:
        if not isinstance(label, tuple):
            return None
        group = (name, label)
        if group not in self.groups:
            self.groups.append(group)
        return self.classes + self.groups.index(group)

    def files(self, split: str) -> list[Path]:
        return [*super().files(split), *(extra_file(self.data, name, split) for name in self.shares)]

    def batches(self, examples: Sequence[PreparedTree], rng: np.random.Generator) -> list[Indices]:
        labels = np.array([sentence.label for sentence in examples])
        own = np.flatnonzero(labels < self.classes)
        steps = [own[chosen] for chosen in shuffled(len(own), self.config.batch_size, rng)]
        for name, count in self.shares.items():
            # a source's classes take turns, each in a fresh order and again from the start
            pools = [np.flatnonzero(labels == k) for k in self._labels_of(name)]
            pools = [pool for pool in pools if len(pool)]
            each = -(-count * len(steps) // len(pools))
            columns = []
            for pool in pools:
                orders = [rng.permutation(pool) for _ in range(-(-each // len(pool)))]
                columns.append(np.concatenate(orders)[:each])
            drawn = np.stack(columns, axis=1).ravel()[: count * len(steps)].reshape(-1, count)
            steps = [np.concatenate(both) for both in zip(steps, drawn, strict=True)]
        return steps

    def _labels_of(self, name: str) -> list[int]:
        return [self.classes + g for g, (source, _) in enumerate(self.groups) if source == name]

    def loss(
        self,
        model: Model,
        batch: Sequence[PreparedTree],
        rng: np.random.Generator,
        whole: Sequence[PreparedTree] | None = None,
    ) -> Tensor:
        assert isinstance(model.head, Classifier)
        forest, ids = collate(batch, model)
        states, row_of = model.states(forest, ids)
        at_nodes = torch.from_numpy(np.concatenate([sentence.labels for sentence in batch])).to(row_of.device)
        fine = ((at_nodes != UNLABELLED) & (at_nodes < self.classes)).nonzero().squeeze(1)
        coarse = (at_nodes >= self.classes).nonzero().squeeze(1)
        loss = model.head.loss(states, at_nodes[fine], row_of[fine])
        if len(coarse):
            h = states.index_select(0, row_of[coarse])
            if model.training and model.head.dropout:
                h = h * dropout_mask(h, len(h), h.shape[1], model.head.dropout)
            log_p = functional.linear(h, model.head.W_s, model.head.b_s).log_softmax(dim=1)  # (n, K)
            outside = ~self.members().to(log_p.device)[at_nodes[coarse] - self.classes]
            log_right = log_p.masked_fill(outside, -torch.inf).logsumexp(dim=1)
            neutral = self.classes // 2
            polar = outside[:, neutral]
            log_polar = log_p[:, [k for k in range(self.classes) if k != neutral]].logsumexp(dim=1)
            log_side = (log_right - log_polar)[polar]  # of the right side, were neutral impossible
            mixed = log_right.sum() + self.config.polar_weight * log_side.sum()
            loss = loss - self.config.mix_weight * mixed
        return loss / max(1, sum(sentence.label < self.classes for sentence in whole or batch))

    def members(self) -> Tensor:
        """(groups, K) which classes each group has."""
        found = torch.zeros(len(self.groups), self.classes, dtype=torch.bool)
        for g, (_, classes) in enumerate(self.groups):
            found[g, list(classes)] = True
        return found

    def finish(self, model: Model, dev: Sequence[PreparedTree]) -> None:
        """Calibrate the model on all sources."""
        calibrate(model, self, dev)

    def metrics(self, predicted: Floats, examples: Sequence[PreparedTree]) -> dict[str, float]:
        """Return SST's figures, the macro F1 of each source, and the mean of all losses."""
        labels = np.array([sentence.label for sentence in examples])
        own = np.flatnonzero(labels < self.classes)
        figures = super().metrics(predicted[own], [examples[i] for i in own.tolist()])
        losses = [figures.pop("loss")]
        figures["sst_loss"] = losses[0]
        for name in self.shares:
            numbers = self._labels_of(name)
            here = np.flatnonzero(np.isin(labels, numbers))
            if len(here):
                members = self.members().double().numpy()[np.array(numbers) - self.classes]
                sums, gold = predicted[here] @ members.T, np.searchsorted(numbers, labels[here])
                known = {"labels": np.unique(gold), "average": "macro", "zero_division": 0}
                losses.append(float(-np.log(sums[np.arange(len(gold)), gold].clip(1e-30)).mean()))
                figures[f"{name}_f1"] = float(f1_score(gold, sums.argmax(axis=1), **known))
                figures[f"{name}_loss"] = losses[-1]
        return {**figures, "loss": float(np.mean(losses))}


def calibrate(model: Model, task: MixedTask, dev: Sequence[PreparedTree]) -> None:
    """Make the head's logits z into z / T + b, where the loss on dev is least and every source counts alike.

    A source that knows no neutral text says nothing about how likely that is: its p are among its own classes.
    """
    assert isinstance(model.head, Classifier)
    # (n, K), logits but for a constant
    log_p = torch.from_numpy(np.log(task.predict(model, dev).clip(1e-30)))
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
    """(n, K) the right classes, those the source has, and (n,) weights that make sources equal."""
    members, sources = task.members(), [""] * task.classes + [name for name, _ in task.groups]
    of_label = torch.cat([torch.eye(task.classes, dtype=torch.bool), members])
    known = {name: of_label[[other == name for other in sources]].any(dim=0) for name in sources}
    of_source = torch.stack([known[name] for name in sources])
    of = [sources[label] for label in labels.tolist()]
    sizes = Counter(of)
    weights = torch.tensor([1 / sizes[name] / len(sizes) for name in of], dtype=dtype)
    return of_label[labels], of_source[labels], weights
