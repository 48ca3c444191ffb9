"""A training run: its epochs, batches and rates, the average of the weights, the best parser, the checkpoint."""

from __future__ import annotations

import copy
import json
import logging
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bough.errors import FormatError
from bough.files import read_tensors_and_metadata, remove_torn, write_tensors, write_text
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.config import Config
from bough.train.parser.evaluation import Scores, score
from bough.train.parser.examples import Example
from bough.train.parser.learner import Learner, folded

log = logging.getLogger(__name__)

FIXED = frozenset(["seed", "size", "vectors", "words", "frequent", "longest", "silver"])  # for resuming
CHECKPOINT = "checkpoint.safetensors"
AVERAGE_EVERY = 4  # steps; the decay is raised to this power


class Run:
    """The state of a training run: network, its running average, optimizer, and the best epoch so far.

    Args:
        config: the settings of the run.
        learner: the network to train.
        folder: receives the best parser, `metrics.jsonl` and the checkpoint.
        held_out: the treebanks of which the examples leave a part out; the parser's `config.json` names them.
    """

    def __init__(self, config: Config, learner: Learner, folder: Path, held_out: Sequence[str] = ()) -> None:
        self.config, self.learner, self.folder, self.held_out = config, learner, folder, held_out
        self.average = copy.deepcopy(learner)
        self.optimizer = torch.optim.Adam(
            learner.parameters(), lr=config.learning_rate, betas=(0.9, 0.95), fused=True
        )
        self.epoch = self.step = 0
        self.best: dict[str, float] = {}
        self.changes: list[dict[str, Any]] = []  # what resuming changed, and after which epoch
        self.checkpoint = Checkpoint(folder / CHECKPOINT)
        remove_torn(folder)

    def train_epoch(self, examples: Sequence[Example]) -> dict[str, float]:
        """Train on each example once, and return the losses per word."""
        config = self.config
        torch.manual_seed(config.seed * 10_007 + self.epoch)
        order = random.Random(f"{config.seed} {self.epoch}")
        groups = batches(_sample(examples, config, order), config.batch_tokens, order)
        sums: dict[str, float] = {}
        words = 0
        self.learner.train()
        for place, group in enumerate(groups):
            done = (self.epoch + place / len(groups)) / config.epochs
            for options in self.optimizer.param_groups:
                options["lr"] = rate_at(self.step, done, config)
            losses = self.learner(group)
            count = len(group) * len(group[0].tokens)
            (torch.stack(list(losses.values())).sum() / count).backward()
            nn.utils.clip_grad_norm_(self.learner.parameters(), 5.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.step += 1
            if self.step % AVERAGE_EVERY == 0:
                self._average()
            words += count
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + loss.item()
        self.epoch += 1
        return {name: round(value / words, 4) for name, value in sums.items()}

    @torch.no_grad()
    def _average(self) -> None:
        decay = min(self.config.average**AVERAGE_EVERY, 1 - 1 / (1 + self.step / 10))
        for mean, now in zip(self.average.parameters(), self.learner.parameters(), strict=True):
            mean.lerp_(now, 1 - decay)

    def parser(self, *, rounded: bool = True) -> BuiltinParser:
        """Return the parser of the averaged network; without `rounded` its numbers stay floats."""
        learner = self.average
        tensors = folded(learner, rounded=rounded)
        return BuiltinParser(learner.lexicon, self.config.size, learner.relations, tensors, self.held_out)

    def keep(
        self,
        parser: BuiltinParser,
        losses: dict[str, float],
        dev: Scores,
        others: Mapping[str, Scores],
        seconds: float,
    ) -> None:
        """Log the epoch, save the parser if it is the best on `dev` so far, and write the checkpoint."""
        quality = (dev.brackets + dev.heads) / 2
        entry = {"epoch": self.epoch, "seconds": round(seconds, 1), "losses": losses}
        entry |= {name: asdict(scores) for name, scores in {"dev": dev, **others}.items()}
        log.info("epoch %d: brackets %.2f, heads %.2f on dev", self.epoch, dev.brackets, dev.heads)
        if not self.best or quality > self.best["quality"]:
            self.best = {
                "quality": quality,
                "epoch": self.epoch,
                "brackets": dev.brackets,
                "heads": dev.heads,
            }
            parser.save(self.folder)
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        progress = {"epoch": self.epoch, "step": self.step, "best": self.best, "changes": self.changes}
        progress["config"] = asdict(self.config)
        self.checkpoint.write(progress, self.learner, self.average, self.optimizer)

    def resume(self) -> None:
        """Restore the last checkpoint of the folder, if there is one, and drop later lines of the log."""
        if not self.checkpoint.path.is_file():
            return
        progress, tensors = self.checkpoint.read()
        self.changes = progress["changes"]
        changed = _changed(Config.from_dict(progress["config"]), self.config)
        if changed.keys() & FIXED:
            key = next(iter(changed.keys() & FIXED))
            raise ValueError(f"{self.checkpoint.path}: made with another {key}; keep it, or use a new folder")
        self.checkpoint.restore(tensors, self.learner, self.average, self.optimizer)
        if changed:
            self.changes.append({"after": progress["epoch"], **changed})
        self.epoch, self.step, self.best = progress["epoch"], progress["step"], progress["best"]
        metrics = self.folder / "metrics.jsonl"
        lines = metrics.read_text(encoding="utf-8").splitlines(keepends=True)
        write_text(metrics, "".join(lines[: self.epoch]))


def fit(
    run: Run,
    examples: Sequence[Example],
    dev: Sequence[Example],
    others: Mapping[str, Sequence[Example]] | None = None,
) -> None:
    """Train the remaining epochs of a run and save the parser that is best on dev.

    Args:
        run: the run, fresh or resumed.
        examples: the sentences to train on.
        dev: the sentences that choose the best epoch.
        others: more sentences to score after each epoch, by their name in `metrics.jsonl`; they choose nothing.
    """
    while run.epoch < run.config.epochs:
        started = time.perf_counter()
        losses = run.train_epoch(examples)
        parser = run.parser()
        more = {name: score(parser, sentences) for name, sentences in (others or {}).items()}
        run.keep(parser, losses, score(parser, dev), more, time.perf_counter() - started)


def _changed(before: Config, now: Config) -> dict[str, Any]:
    old, new = asdict(before), asdict(now)
    return {key: value for key, value in new.items() if value != old[key]}


def rate_at(step: int, done: float, config: Config) -> float:
    """Return the learning rate at a step: a warm-up, then half a cosine down to a fiftieth at the end (`done` = 1)."""
    share = 0.5 * (1 + math.cos(math.pi * done))
    return config.learning_rate * min(1.0, (step + 1) / config.warmup) * (0.02 + 0.98 * share)


def batches(examples: Sequence[Example], tokens: int, order: random.Random) -> list[list[Example]]:
    """Return all examples in batches of one sentence length and about `tokens` words, in random order."""
    by_length: dict[int, list[Example]] = {}
    for example in examples:
        by_length.setdefault(len(example.tokens), []).append(example)
    found: list[list[Example]] = []
    for length, group in sorted(by_length.items()):
        order.shuffle(group)
        size = max(1, min(64, tokens // (length + 2)))
        found += [group[low : low + size] for low in range(0, len(group), size)]
    order.shuffle(found)
    return found


def _sample(examples: Sequence[Example], config: Config, order: random.Random) -> list[Example]:
    """Draw the examples of one epoch: a share of GUM's and of the silver ones, and all others."""
    shares = {"gum": config.gum_share, "silver": config.silver_share}
    kept = [example for example in examples if example.source not in shares]
    for source, share in shares.items():
        found = [example for example in examples if example.source == source]
        kept += order.sample(found, round(share * len(found)))
    return kept


class Checkpoint:
    """Weights, their average and Adam's moments, with the run's progress in the file's header."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(
        self, progress: dict[str, Any], now: nn.Module, average: nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        """Replace the file; a kill at any time leaves the old one or the new one."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in now.named_parameters():
            tensors[f"now.{name}"] = parameter.detach()
            state = optimizer.state.get(parameter, {})
            tensors |= {f"{key}.{name}": value for key, value in state.items()}
        tensors |= {f"average.{name}": parameter.detach() for name, parameter in average.named_parameters()}
        write_tensors(
            self.path,
            {name: tensor.contiguous() for name, tensor in tensors.items()},
            {"progress": json.dumps(progress)},
        )

    def read(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the progress and the tensors in the file; a truncated file is a FormatError."""
        tensors, metadata = read_tensors_and_metadata(self.path)
        try:
            return json.loads(metadata["progress"]), tensors
        except (KeyError, ValueError) as error:
            raise FormatError(f"not a checkpoint of a parser: {error}", where=str(self.path)) from None

    @torch.no_grad()
    def restore(
        self,
        tensors: dict[str, Tensor],
        now: nn.Module,
        average: nn.Module,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        """Copy tensors of `read` into the weights, their average and the optimizer."""
        try:
            for name, parameter in average.named_parameters():
                parameter.copy_(tensors[f"average.{name}"])
            for name, parameter in now.named_parameters():
                parameter.copy_(tensors[f"now.{name}"])
                keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"{key}.{name}" in tensors]
                if keys:
                    optimizer.state[parameter] = {key: tensors[f"{key}.{name}"] for key in keys}
        except (KeyError, RuntimeError) as error:
            raise FormatError(f"not a checkpoint of this run: {error}", where=str(self.path)) from None
