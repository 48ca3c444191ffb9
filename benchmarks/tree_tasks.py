"""Train a layer on tasks that depend on the tree: classify one tree or a pair of trees."""

import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional

from benchmarks import store
from benchmarks.store import made_by
from bough import Forest, Tree
from bough.files import read_json, write_json
from bough.formats import ptb
from bough.models.settings import kind_named
from bough.nn import BaseLayer, Classifier
from paper.cli import Data as Data

RESULTS, PUBLISHED = store.RESULTS, Path(__file__).with_name("published.toml")
# options that every task has
Layer = Annotated[str, Parameter(help="A name in bough.nn.kinds().")]
Show = Annotated[bool, Parameter(negative="", help="Print the stored results and train nothing.")]


class Example(NamedTuple):
    """One tree or two, the ids of the words at the nodes of each (0 for none), and a class."""

    trees: tuple[Tree, ...]
    ids: tuple[np.ndarray[Any, np.dtype[np.int64]], ...]
    label: int


@dataclass(frozen=True)
class Settings:
    """The settings of a training run; the learning rate falls linearly to zero."""

    layer: str
    hidden_size: int
    epochs: int
    batch_size: int
    learning_rate: float = 1e-3
    dropout: float = 0.0  # inside the recursion
    pair_hidden: int = 256
    seed: int = 1


class Words(dict[str | None, int]):
    """Number words from 1 in the order in which they are met; 0 is for a node without a word."""

    def __init__(self) -> None:
        super().__init__({None: 0})

    def __missing__(self, word: str | None) -> int:
        self[word] = len(self)
        return self[word]

    def example(self, trees: Iterable[Tree], label: int) -> Example:
        """Return an example of one tree or two, with new words numbered."""
        trees = tuple(trees)
        ids = tuple(np.array([self[word] for word in tree.tokens or [None] * len(tree)]) for tree in trees)
        return Example(tuple(Tree(tree.parents) for tree in trees), ids, label)

    def bracketed(self, texts: Iterable[str], label: int) -> Example:
        """Return an example of trees, each written as `( ( a b ) c )` or as a single word."""
        texts = (text if text.startswith("(") else f"( {text} )" for text in texts)
        return self.example((ptb.parse(text, unescape=False, labelled=False) for text in texts), label)


class TreeClassifier(nn.Module):
    """Word vectors, a layer of the library, and a head: linear for a tree, one hidden layer for a pair.

    A pair's features are [a; b; |a - b|; a * b] of the two roots' states.
    """

    def __init__(self, settings: Settings, vectors: nn.Embedding, classes: int, *, pairs: bool) -> None:
        super().__init__()
        self.vectors, kind = vectors, kind_named(settings.layer)
        given: dict[str, Any] = {"recurrent_dropout": settings.dropout} if settings.dropout else {}
        if "leaf" in kind.settings and kind.reads == "constituency":
            given["leaf"] = "affine"  # the words are at the leaves
        self.layer: BaseLayer = kind.build(vectors.embedding_dim, settings.hidden_size, 0, given)
        width, hidden = self.layer.width, settings.pair_hidden
        self.head: nn.Module
        # only one head is built, because a second one would draw the numbers that initialize the first
        if pairs:
            self.head = nn.Sequential(nn.Linear(4 * width, hidden), nn.ReLU(), nn.Linear(hidden, classes))
        else:
            self.head = Classifier(width, classes)

    def forward(self, examples: Sequence[Example]) -> Tensor:
        """Return logits (examples, classes)."""
        trees = [tree for example in examples for tree in example.trees]
        ids = [part for example in examples for part in example.ids]
        forest = Forest(trees, ids if self.layer.shares else None)
        nodes = self.layer.input_nodes(forest)
        x = self.vectors(torch.from_numpy(np.concatenate(ids)).index_select(0, nodes))  # (M, X)
        roots = self.layer.sentences(x, forest)  # (trees, D)
        if len(trees) > len(examples):
            a, b = roots[::2], roots[1::2]
            roots = torch.cat([a, b, (a - b).abs(), a * b], dim=1)  # (pairs, 4D)
        return torch.as_tensor(self.head(roots))


def train(
    model: TreeClassifier, settings: Settings, examples: Sequence[Example], dev: Sequence[Example]
) -> dict[str, Any]:
    """Train with AdamW, and leave the weights of the best epoch on dev. Return facts of the run."""
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=settings.learning_rate)
    steps = settings.epochs * -(-len(examples) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    figures: list[float] = []
    best: dict[str, Tensor] = {}
    started = time.process_time()
    for epoch in range(settings.epochs):
        torch.manual_seed(1000 * settings.seed + epoch)
        model.train()
        total = 0.0
        for rows in buckets([sum(map(len, example.trees)) for example in examples], settings.batch_size):
            batch = [examples[row] for row in rows]
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(batch), torch.tensor([example.label for example in batch]))
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        figures.append(accuracy(model, dev))
        if figures[-1] == max(figures):  # of equal epochs, the last
            best = {name: value.clone() for name, value in model.state_dict().items()}
        print(f"epoch {epoch + 1}: loss {total / len(examples):.4f}, dev {100 * figures[-1]:.2f}", flush=True)
    model.load_state_dict(best)
    return {
        "dev": [round(100 * figure, 2) for figure in figures],
        "best_epoch": len(figures) - figures[::-1].index(max(figures)),
        "cpu_seconds": round(time.process_time() - started),
    }


def buckets(sizes: Sequence[int], batch_size: int) -> list[list[int]]:
    """Return batches of examples of similar size, which fill the same levels, in random order."""
    order, pool = torch.randperm(len(sizes)).tolist(), 20 * batch_size
    batches = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=sizes.__getitem__)
        batches += [part[k : k + batch_size] for k in range(0, len(part), batch_size)]
    return [batches[k] for k in torch.randperm(len(batches)).tolist()]


@torch.inference_mode()
def accuracy(model: TreeClassifier, examples: Sequence[Example], batch_size: int = 256) -> float:
    """Return the share of examples whose class is predicted correctly."""
    model.eval()
    order = sorted(range(len(examples)), key=lambda row: sum(map(len, examples[row].trees)))
    right = 0
    for start in range(0, len(order), batch_size):
        batch = [examples[row] for row in order[start : start + batch_size]]
        right += int((model(batch).argmax(dim=1) == torch.tensor([part.label for part in batch])).sum())
    return right / len(examples)


def run(
    task: str,
    model: TreeClassifier,
    settings: Settings,
    splits: tuple[Sequence[Example], Sequence[Example]],
    test: Mapping[str, Sequence[Example]],
) -> None:
    """Train, choose the epoch on the second split, test once, and store the result."""
    found = train(model, settings, *splits)
    found["test"] = {name: round(100 * accuracy(model, part), 2) for name, part in test.items()}
    found["made_by"] = made_by()
    same = (settings.layer, settings.seed)
    others = [line for line in stored_runs(task) if (line["layer"], line["seed"]) != same]
    runs = sorted([*others, asdict(settings) | found], key=lambda line: (line["layer"], line["seed"]))
    write_json(RESULTS / f"{task}.json", {"runs": runs})


def stored_runs(task: str) -> list[dict[str, Any]]:
    """Return the results of a task, one dictionary per layer and seed."""
    path = RESULTS / f"{task}.json"
    return list(read_json(path)["runs"]) if path.is_file() else []


def show(task: str) -> None:
    """Print the stored runs of a task, their means, and published figures with their sources."""
    rows = list[tuple[str, Mapping[str, float], str]]()
    runs = stored_runs(task)
    for layer in dict.fromkeys(line["layer"] for line in runs):
        own = [line for line in runs if line["layer"] == layer]
        for line in own:
            epoch = f"seed {line['seed']}, epoch {line['best_epoch']} of {line['epochs']}"
            rows.append((f"bough, {layer}", line["test"], epoch))
        if len(own) > 1:
            means = {name: float(np.mean([line["test"][name] for line in own])) for name in own[0]["test"]}
            rows.append((f"bough, {layer}", means, f"mean of {len(own)} seeds"))
    published = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))[task]
    rows += [(line["system"], line["figures"], line["source"]) for line in published]
    columns = list(dict.fromkeys(name for _, figures, _ in rows for name in figures))
    table = Table("system", *columns, "from", title=f"{task}: test accuracy in percent", title_justify="left")
    table.caption = "Published figures are those of the papers; docs/tree-tasks.md says which were checked."
    for system, figures, source in rows:
        cells = [f"{figures[name]:.4g}" if name in figures else "" for name in columns]
        table.add_row(system, *cells, source)
    Console().print(table)
