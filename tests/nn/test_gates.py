"""Claims about the weights by their names in the paper: copies to read, and the same names to load."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from bough import Forest, Tree
from bough.nn import LSTM, ChildSumTreeLSTM, NaryTreeLSTM, TreeLayer
from oracle import TOLERANCE, D, X, assert_recursive, inputs

PAIR, CHAIN = Tree([2, 2, -1]), Tree([1, 2, -1])
Layer = ChildSumTreeLSTM | NaryTreeLSTM | LSTM
MADE: dict[str, Callable[[], Layer]] = {
    "child-sum": lambda: ChildSumTreeLSTM(X, D),
    "child-sum, no output gate": lambda: ChildSumTreeLSTM(X, D, output_gate=False),
    "lstm": lambda: LSTM(X, D),
    "two layers": lambda: LSTM(X, D, layers=2),
    "both directions": lambda: LSTM(X, D, layers=2, bidirectional=True, tied=False),
    "both directions, tied": lambda: LSTM(X, D, bidirectional=True, output_gate=False),
}
for forget in ("full", "diagonal", "tied"):
    for leaf in ("gated", "affine"):
        options: Any = {"forget": forget, "leaf": leaf, "output_gate": forget != "tied"}
        MADE[f"{forget}, {leaf}"] = partial(NaryTreeLSTM, X, D, 3, **options)
every_layer = pytest.mark.parametrize("kind", MADE)


def states(layer: Layer, x: Tensor) -> Tensor:
    h, c = layer(x, Forest([CHAIN if layer.reads == "words" else PAIR]))
    return torch.cat([h, c], dim=1)


@every_layer
def test_gates_are_copies(kind: str) -> None:
    layer = MADE[kind]()
    before = {name: weight.clone() for name, weight in layer.state_dict().items()}
    with torch.no_grad():
        for weight in layer.gates().values():
            weight.fill_(7)
    assert all(torch.equal(weight, before[name]) for name, weight in layer.state_dict().items())


@every_layer
@pytest.mark.parametrize("fast", [True, False])
def test_loaded_gates_are_read_again_and_compute_the_same(kind: str, fast: bool) -> None:
    one, two, x = MADE[kind](), MADE[kind](), inputs([PAIR]).float()
    for layer in (one, two):
        for part in (part for part in layer.modules() if isinstance(part, TreeLayer)):
            part.fast = fast
    assert not torch.allclose(states(one, x), states(two, x))
    assert two.load_gates(one.gates()) == []
    theirs = one.gates()
    for name, weight in two.gates().items():
        torch.testing.assert_close(weight, theirs[name], msg=name)
    torch.testing.assert_close(states(two, x), states(one, x))


@every_layer
def test_a_loaded_layer_follows_the_equations(kind: str) -> None:
    layer = MADE[kind]().double()
    layer.load_gates({name: 0.1 * torch.randn_like(weight) for name, weight in layer.gates().items()
                      if name != "U_f" or getattr(layer, "forget", "full") == "full"})  # fmt: skip
    assert_recursive(layer, [CHAIN if layer.reads == "words" else PAIR])


@every_layer
def test_what_is_not_given_keeps_its_value(kind: str) -> None:
    layer = MADE[kind]()
    before = layer.gates()
    name = next(name for name in before if name.startswith("b_i"))
    rest = layer.load_gates({name: torch.full(before[name].shape, 0.5).numpy()})
    assert rest == [other for other in before if other != name]
    after = layer.gates()
    assert bool((after[name] == 0.5).all())
    assert all(torch.equal(after[other], before[other]) for other in rest)


@every_layer
def test_a_wrong_name_or_shape_is_an_error_and_changes_nothing(kind: str) -> None:
    layer = MADE[kind]()
    before = layer.gates()
    name = next(name for name in before if name.startswith("U_i"))
    good = {other: weight + 1 for other, weight in before.items() if other != name and other[:3] != "U_f"}
    shape = tuple(before[name].shape)
    with pytest.raises(ValueError, match=rf"^{name} is \(2, 5\); it must be \({shape[0]}, "):
        layer.load_gates({**good, name: torch.zeros(2, 5)})
    with pytest.raises(ValueError, match=rf"^{type(layer).__name__} has no weight 'W_g'; it has .*, {name}"):
        layer.load_gates({**good, "W_g": torch.zeros(2, 5)})
    assert all(torch.equal(weight, before[other]) for other, weight in layer.gates().items())


@pytest.mark.parametrize(("forget", "must"), [("diagonal", "0"), ("tied", "equal to each other")])
def test_forget_matrices_that_the_layer_cannot_hold_are_an_error(forget: Any, must: str) -> None:
    layer = NaryTreeLSTM(X, D, 3, forget=forget)
    before = layer.gates()
    wrong = torch.randn(3, 3, D, D)
    with pytest.raises(ValueError, match=rf"^U_f\[k, l\], k ≠ l, must be {must} .* forget='{forget}'"):
        layer.load_gates({"b_i": torch.ones(D), "U_f": wrong})
    assert all(torch.equal(weight, before[name]) for name, weight in layer.gates().items())


def test_the_weights_of_torchs_lstm_load_by_the_names_of_the_gates() -> None:
    layer, x = LSTM(X, D, layers=2, bidirectional=True, tied=False).double(), inputs([CHAIN])
    theirs = nn.LSTM(X, D, 2, bidirectional=True).double()
    weights: dict[str, Tensor] = {}
    for ending in ("_l0", "_l0_reverse"):
        for kind, name in (("W", "weight_ih"), ("U", "weight_hh"), ("b", "bias_ih")):
            whole = getattr(theirs, name + ending)
            if kind == "b":
                whole = whole + getattr(theirs, f"bias_hh{ending}")
            weights |= {
                f"{kind}_{gate}{ending}": rows for gate, rows in zip("ifuo", whole.chunk(4), strict=True)
            }
    assert {name[3:] for name in layer.load_gates(weights)} == {"_l1", "_l1_reverse"}
    h, _ = layer(x, Forest([CHAIN]))
    one_layer = nn.LSTM(X, D, bidirectional=True).double()
    one_layer.load_state_dict({n: w for n, w in theirs.state_dict().items() if "_l0" in n})
    expected = one_layer(x)[0]
    torch.testing.assert_close(h[:, :D], expected[:, :D], **TOLERANCE)
    torch.testing.assert_close(h[:, 2 * D : 3 * D], expected[:, D:], **TOLERANCE)


def test_a_parametrized_layer_is_loaded_before_its_parametrization() -> None:
    layer = ChildSumTreeLSTM(X, D)
    parametrizations.weight_norm(layer, "U_f")
    with pytest.raises(ValueError, match="a parametrization computes U_f; load"):
        layer.load_gates({"b_i": torch.zeros(D)})
