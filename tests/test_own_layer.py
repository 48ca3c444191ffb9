"""A new layer is one file and nothing else: written, registered, trained, saved, loaded and used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import bough
from bough.errors import FormatError
from bough.formats import ptb
from bough.models.config import Config
from bough.models.model import Model
from bough.nn import Children, TreeLayer, registry
from bough.pipelines import Pipeline
from small_models import SMALL, model_of

DEMO = Path(__file__).parents[1] / "examples" / "demo" / "train.txt"


class Minimal(TreeLayer):
    """h_j = tanh(W x_j + z ⊙ max_k h_k), z = σ(U Σ_k h_k): a layer that nobody has heard of."""

    name = "minimal"
    reads = "constituency"

    def __init__(self, input_size: int, hidden_size: int, *, steepness: float = 1.0) -> None:
        super().__init__(input_size, states=(hidden_size,))
        self.W = nn.Linear(input_size, hidden_size)
        self.U = nn.Linear(hidden_size, hidden_size)
        self.steepness = steepness

    def input_map(self, x: Tensor) -> Tensor:
        a: Tensor = self.W(x)
        return a

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        (h_k,) = below.states
        z = torch.sigmoid(self.steepness * self.U(below.sum(h_k)))
        return (torch.tanh(a + z * below.max(h_k)),)


@pytest.fixture
def registry_as_before() -> Iterator[None]:
    before = dict(registry._KINDS)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


@pytest.fixture
def known(registry_as_before: None) -> None:
    bough.nn.register(Minimal)


@pytest.mark.usefixtures("registry_as_before")
def test_from_the_equations_to_a_scored_sentence(tmp_path: Path) -> None:
    trees = ptb.read(DEMO)
    labels = [str((tree.labels or ())[tree.root]) for tree in trees]
    given = [tree.replace(labels=None) for tree in trees]
    settings = {"steepness": "2", "hidden_size": 50, "embedding_size": 50}
    bough.fit(given, labels, layer=Minimal, settings=settings, epochs=8, out=tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    first, *_, last = [json.loads(line)["loss"] for line in lines]
    assert last < 0.8 * first

    del registry._KINDS["minimal"]  # another process, which has not heard of it
    with pytest.raises(FormatError, match=r"layer = 'minimal': one of .*bough\.nn\.register"):
        bough.load(tmp_path / "run")
    pipeline = bough.load(tmp_path / "run", layers=[Minimal])
    assert isinstance(pipeline, Pipeline)
    scored = pipeline(given[0])
    assert scored.label in scored.classes
    assert len(scored.nodes) == len(scored.tree)
    assert bough.load(tmp_path / "run").model.layer.steepness == 2.0


class Shifted(Minimal):
    """A layer with tensors that are not stored in a file: an attribute, and a buffer that is not persistent."""

    name = "shifted"

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size)
        self.shift = torch.tensor(0.5)
        self.register_buffer("factor", torch.tensor(2.0), persistent=False)

    def input_map(self, x: Tensor) -> Tensor:
        a: Tensor = self.factor * super().input_map(x) + self.shift
        return a


@pytest.mark.usefixtures("registry_as_before")
def test_tensors_that_a_layer_does_not_store_are_made_again(tmp_path: Path) -> None:
    bough.nn.register(Shifted)
    model = model_of(Config(**SMALL, layer="shifted")).eval()
    model.save(tmp_path, card="")
    forest = bough.Forest([bough.Tree([2, 2, -1])])
    x = torch.randn(3, 3)
    assert torch.equal(Model.load(tmp_path).layer(x, forest), model.layer(x, forest))


def test_a_name_is_taken_once() -> None:
    class Other(Minimal):
        name = "dependency"

    with pytest.raises(
        ValueError, match="the name 'dependency' is ChildSumTreeLSTM's; choose another for Other"
    ):
        bough.nn.register(Other)


def test_a_layer_without_a_name_or_a_default_is_refused() -> None:
    class Nameless(Minimal):
        name = ""

    class Demanding(Minimal):
        name = "demanding"

        def __init__(self, input_size: int, hidden_size: int, *, heads: int) -> None: ...

    with pytest.raises(ValueError, match="Nameless has no name"):
        bough.nn.register(Nameless)
    with pytest.raises(ValueError, match="the setting 'heads' has no default"):
        bough.nn.register(Demanding)


@pytest.mark.usefixtures("known")
def test_its_settings_are_checked_like_any_other() -> None:
    with pytest.raises(ValueError, match="unknown key 'steepnes'; did you mean 'steepness'"):
        Config().with_settings({"layer": "minimal", "steepnes": "2"})
    with pytest.raises(ValueError, match="steepness = 'much': a number"):
        Config().with_settings({"layer": "minimal", "steepness": "much"})
