"""The compiled Tree-LSTM as a function of torch: its graph, its numbers out of range, threads."""

from __future__ import annotations

import ctypes
import threading

import pytest
import torch
from torch import Tensor

from bough import Tree
from bough.nn.kernels import loader as library
from bough.nn.kernels.loader import address, takes
from bough.nn.kernels.tree_lstm import run_tree_lstm
from kernel_cases import Case, every_isa, needs_c, on

pytestmark = needs_c
KINDS: list[dict[str, object]] = [
    {"arity": None},
    {"arity": 2, "affine": True},
    {"arity": 2, "affine": False},
    {"arity": 1},
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
TREES = [Tree([2, 2, 4, 4, -1]), Tree([-1]), Tree([1, 2, -1])]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")


def case_of(kind: dict[str, object], seed: int = 0, **more: object) -> Case:
    trees = [Tree([1, 2, -1]), Tree([-1])] if kind["arity"] == 1 else TREES
    case = Case(seed, trees, d=5, **kind, **more)
    case.onto = [torch.randn(case.forest.num_unique, 5) for _ in "hc"]
    for tensor in case.tensors:
        tensor.requires_grad_()
    return case


@every_kind
def test_a_retained_graph_gives_the_same_gradients_twice(kind: dict[str, object]) -> None:
    case = case_of(kind)
    states = case.compiled()
    assert same(case.gradients(states, again=True), case.gradients(states))


@every_kind
def test_two_passes_before_their_gradients(kind: dict[str, object]) -> None:
    cases = [case_of(kind, seed) for seed in range(3)]
    alone = [case.gradients(case.compiled()) for case in cases]
    states = [case.compiled() for case in cases]
    together = [case.gradients(s) for case, s in reversed(list(zip(cases, states, strict=True)))]
    for a, b in zip(alone, reversed(together), strict=True):
        assert same(a, b)


@every_kind
def test_weights_changed_in_between_are_an_error(kind: dict[str, object]) -> None:
    case = case_of(kind)
    states = case.compiled()
    with torch.no_grad():
        case.U.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        case.gradients(states)


@every_kind
def test_there_are_first_derivatives_only(kind: dict[str, object]) -> None:
    case = case_of(kind)
    h, _ = case.compiled()
    (grad,) = torch.autograd.grad(h.sum(), case.a, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        grad.square().sum().backward()


@every_kind
@every_isa
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e30, -89.0])
def test_numbers_out_of_range(
    number: float, isa: int, kind: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A NaN gives a NaN where the equations do and nowhere else; the squashing of infinities is exact."""
    on(isa, monkeypatch)
    for column in range(5):
        case = case_of(kind, masked=False)
        with torch.no_grad():
            case.a[0, column::5] = number  # in every gate
        found, wanted = case.run(case.compiled), case.run(case.by_equations)
        for a, b in zip(found, wanted, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


@every_isa
def test_the_squashing_functions_are_accurate(isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """h = σ(a_o) tanh(a_c) of an affine leaf, by one's own exp: 4e-7 relative, also about 0."""
    on(isa, monkeypatch)
    x = torch.cat([torch.linspace(-20, 20, 4001), torch.logspace(-30, 1, 500), -torch.logspace(-30, 1, 499)])
    case = Case(0, [Tree([-1])], d=len(x), arity=1, affine=True, output_gate=True, masked=False)
    case.a = torch.cat([x, torch.full_like(x, 100.0)]).unsqueeze(0)
    tanh = case.compiled()[0][0]
    case.a = torch.cat([torch.full_like(x, 100.0), x]).unsqueeze(0)
    sigmoid = case.compiled()[0][0]
    for found, function in ((tanh, torch.tanh), (sigmoid, torch.sigmoid)):
        exact = function(x.double())
        assert ((found - exact).abs() / exact.abs()).max() < 4e-7


def test_threads_do_not_meet() -> None:
    cases = [case_of(KINDS[k % 4], seed=k) for k in range(4)]
    wanted = [case.gradients(case.compiled()) for case in cases]
    wrong: list[int] = []

    def work(k: int) -> None:
        rounds = (same(wanted[k], cases[k].gradients(cases[k].compiled())) for _ in range(200))
        wrong.extend(k for right in rounds if not right)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_callers_threads_stay_as_they_were() -> None:
    blas = library._torch_cpu()
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        local = blas.MKL_Set_Num_Threads_Local(ctypes.c_int(0))
        blas.MKL_Set_Num_Threads_Local(ctypes.c_int(local))
        case = case_of(KINDS[0])
        case.gradients(case.compiled())
        assert blas.MKL_Set_Num_Threads_Local(ctypes.c_int(local)) == local
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_left_to_the_equations(dtype: torch.dtype) -> None:
    assert not takes(torch.zeros(2, dtype=dtype), torch.zeros(2))
    assert takes(torch.zeros(2), torch.zeros(2), None)


def test_too_many_children_are_named() -> None:
    case = Case(0, [Tree([-1, 0, 0, 0])], arity=3)
    case.arity = 2
    with pytest.raises(ValueError, match="node 0 of tree 0 has 3 children; the layer's arity is 2"):
        case.compiled()


def same(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


@every_kind
def test_inputs_that_do_not_fit_are_an_error(kind: dict[str, object]) -> None:
    case = case_of(kind)
    case.a = case.a[:-1]
    with pytest.raises(ValueError, match=r"a is \(\d+, \d+\) .*; the compiled code takes"):
        case.compiled()


@every_kind
@pytest.mark.parametrize("name", ["U", "b", "mask"])
@pytest.mark.parametrize("change", ["narrow", "one number", "a row less", "another type"])
def test_no_tensor_that_does_not_fit_reaches_c(name: str, change: str, kind: dict[str, object]) -> None:
    case = case_of(kind, masked=True)
    tensor = getattr(case, name)
    if tensor is None:
        pytest.skip("this kind has none")
    one = (1,) * tensor.dim()
    changed = {
        "narrow": tensor[..., :1],
        "one number": tensor.reshape(-1)[:1].reshape(one),
        "a row less": tensor[:-1],
        "another type": tensor.double(),
    }[change]
    forest, rest = case.forest, {"a": case.a, "U": case.U, "b": case.b, "mask": case.mask}
    given = rest | {name: changed}
    with pytest.raises(ValueError, match="the compiled code takes"):
        run_tree_lstm(
            given["a"],
            given["U"],
            given["b"],
            forest,
            case.arity,
            case.output_gate,
            given["mask"],
        )


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.zeros(3, 2), r"x is \(3, 2\) torch.float32"),
        (torch.zeros(2, 3, dtype=torch.float64), "x is .* torch.float64"),
        (torch.zeros(2, 3, device="meta"), "x is .* on meta"),
        (torch.zeros(3, 2).t(), r"x is .* strides \(1, 2\)"),
    ],
)
def test_an_address_is_that_of_a_tensor_that_fits(tensor: Tensor, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        address("x", tensor, (2, 3))
    fitting = torch.zeros(2, 3)
    assert address("x", fitting, (2, 3)) == fitting.data_ptr()
    assert address("x", None, (2, 3)) == 0


def test_rows_may_be_apart() -> None:
    wide = torch.zeros(2, 5)[:, :3]
    with pytest.raises(ValueError, match="contiguous"):
        address("x", wide, (2, 3))
    assert address("x", wide, (2, 3), by_row=True) == wide.data_ptr()
    with pytest.raises(ValueError, match="contiguous"):
        address("x", torch.zeros(3, 2).t(), (2, 3), by_row=True)
