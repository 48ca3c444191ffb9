"""The compiled code on other machines: calls recorded here, repeated there, compared with torch's equations."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence

from bough import Forest
from bough.nn import ChildSumTreeLSTM, NaryTreeLSTM, StateCache, TreeLayer
from bough.nn.heads import Classifier, Similarity
from bough.nn.kernels import loader, tree_lstm
from bough.nn.kernels.buffers import Buffer
from bough.nn.kernels.losses import node_loss, pair_loss
from bough.nn.kernels.parser import brackets, lstm_forward
from bough.text.builtin.cky import best_parents, span_probabilities
from bough.text.builtin.network import by_width
from kernel_cases import Case, needs_c, on, random_tree

HERE = Path(__file__).parent
ARGUMENTS = 16
# checks by calls, and none before each vector is loaded: else compiling takes minutes
SANITIZERS = (
    "-fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,pointer-overflow "
    "-fno-sanitize-recover=all --param asan-instrumentation-with-call-threshold=0"
)
MACHINES = {
    "this": ("cc", ""),
    "clang": ("clang", ""),
    "sanitizers": (f"cc -O1 {SANITIZERS}", ""),
    "aarch64": ("aarch64-linux-gnu-gcc -static", "qemu-aarch64"),
    "windows": ("x86_64-w64-mingw32-gcc -static -Wa,-muse-unaligned-vector-move", "wine"),
}


class Recorder:
    """Stands for the loaded library: notes each call and the memory it reads before it goes on to C.

    A block is a tensor's memory, as it was when its address was first asked for.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.library = loader.library().functions
        self.blocks: list[bytes] = []
        self.owners: list[tuple[int, int, object]] = []  # first and last address; the owner, so that it stays
        self.pointers: list[tuple[int, int, int, int]] = []
        self.calls: list[tuple[str, list[tuple[int, int]]]] = []
        self.checks: list[tuple[int, int, Tensor]] = []
        plain = torch.Tensor.data_ptr

        def data_ptr(tensor: Tensor) -> int:
            if self.find(plain(tensor)) is None and tensor.device.type == "cpu":
                storage = tensor.untyped_storage()
                content = ctypes.string_at(storage.data_ptr(), storage.nbytes())
                self.add(storage.data_ptr(), content, tensor)
            return plain(tensor)

        def array_address(array: NDArray[np.int64]) -> int:
            self.add(array.ctypes.data, array.tobytes(), array)
            return array.ctypes.data

        monkeypatch.setattr(torch.Tensor, "data_ptr", data_ptr)
        monkeypatch.setattr(tree_lstm, "array_address", array_address)

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            noted = [self.argument(argument) for argument in arguments]
            self.calls.append((name, noted + [(-1, 0)] * (ARGUMENTS - len(noted))))
            return int(getattr(self.library, name)(*arguments))

        return call

    def add(self, address: int, content: bytes, owner: object) -> int:
        self.owners.append((address, address + len(content), owner))
        self.blocks.append(content)
        return len(self.blocks) - 1

    def find(self, address: int) -> tuple[int, int] | None:
        places = (
            (k, address - start) for k, (start, end, _) in enumerate(self.owners) if start <= address < end
        )
        return next(places, None)

    def argument(self, given: Any) -> tuple[int, int]:
        """A number as (-1, number), an address as (block, offset)."""
        if isinstance(given, int | ctypes.c_int64 | ctypes.c_void_p):
            value = given if isinstance(given, int) else given.value or 0
            return self.find(value) or (-1, value)
        held = given if isinstance(given, ctypes.Array) else given._obj
        block = self.add(ctypes.addressof(held), bytes(held), held)
        for offset in range(0, ctypes.sizeof(held), 8):
            (value,) = struct.unpack_from("<q", self.blocks[block], offset)
            if target := self.find(value):
                self.pointers.append((block, offset, *target))
        return block, 0

    def expect(self, found: Tensor, expected: Tensor) -> None:
        """After all calls, the memory of `found` holds `expected`."""
        if found.numel():
            place = self.find(found.data_ptr())
            assert place is not None
            self.checks.append((*place, expected.detach().contiguous()))

    def write(self, path: Path) -> None:
        def packed(*numbers: int) -> bytes:
            return struct.pack(f"<{len(numbers)}q", *numbers)

        parts = [packed(len(self.blocks)), *(packed(len(block)) + block for block in self.blocks)]
        parts += [packed(len(self.pointers)), *(packed(*pointer) for pointer in self.pointers)]
        parts += [packed(len(self.calls))]
        for name, arguments in self.calls:
            parts += [name.encode().ljust(32, b"\0"), *(packed(*argument) for argument in arguments)]
        parts += [packed(len(self.checks))]
        for block, offset, expected in self.checks:
            exact = expected.dtype != torch.float32
            parts += [packed(block, offset, exact, expected.numel() * (2 if exact else 1))]
            parts += [expected.numpy().tobytes()]
        path.write_bytes(b"".join(parts))


def record_trees(recorder: Recorder) -> None:
    for seed in range(60):
        case = Case(seed)
        for found, expected in zip(case.run(case.compiled), case.run(case.by_equations), strict=True):
            recorder.expect(found, expected)


def record_inference(recorder: Recorder) -> None:
    draw = np.random.default_rng(0)
    for arity in (None, 2, 3):
        for leaf in ("affine", "gated"):
            layer: TreeLayer = ChildSumTreeLSTM(5, 19)
            if arity:
                layer = NaryTreeLSTM(5, 19, arity, leaf="gated" if leaf == "gated" else "affine")
            forest = Forest([random_tree(draw, arity) for _ in range(3)])
            x = torch.randn(forest.num_nodes, 5)
            with torch.no_grad():
                found = layer.infer(x, forest)
                layer.fast = False
                assert found is not None
                for state, expected in zip(found, layer(x, forest), strict=True):
                    recorder.expect(state, expected)


def record_cached(recorder: Recorder) -> None:
    """Trees that differ from the one before in an input or two, in a cache that has to forget some of them."""
    draw = np.random.default_rng(1)
    layers = [ChildSumTreeLSTM(5, 19), NaryTreeLSTM(5, 19, 3), NaryTreeLSTM(5, 19, 3, leaf="affine")]
    for layer in layers:
        forest = Forest([random_tree(draw, 3) for _ in range(3)])
        cache, x = StateCache(layer, max_entries=forest.num_nodes + 10), torch.randn(forest.num_nodes, 5)
        for _ in range(8):
            x = x.clone()  # a block is what it was when it was first seen
            x[draw.integers(0, len(x), 2)] = torch.randn(2, 5)
            found, layer.fast = cache(x, forest), False
            with torch.no_grad():
                for state, expected in zip(found, layer(x, forest), strict=True):
                    recorder.expect(state, expected)
            layer.fast = True
        assert cache.hits


def record_losses(recorder: Recorder) -> None:
    head, h = Classifier(37, 5), torch.randn(20, 37, requires_grad=True)
    rows, labels = torch.randint(0, 20, (40,)), torch.randint(0, 5, (40,))
    tensors = [h, head.W_s, head.b_s]
    found = node_loss(h, head.W_s, head.b_s, rows, labels, None, 1.0)
    assert found is not None
    wanted = nn.functional.cross_entropy(head(h[rows]), labels, reduction="sum")
    check_loss(recorder, found, wanted, tensors)
    pairs = Similarity(7, hidden=4)
    left, right = (torch.randn(9, 7, requires_grad=True) for _ in range(2))
    y, weights = torch.linspace(1, 5, 9), [pairs.W_h, pairs.b_h, pairs.W_p, pairs.b_p]
    found = pair_loss(left, right, y, *weights)
    assert found is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUGH_FAST", "0")
        check_loss(recorder, found, pairs.loss(left, right, y), [left, right, *weights])


def check_loss(recorder: Recorder, found: Tensor, wanted: Tensor, tensors: list[Tensor]) -> None:
    made = found.grad_fn.saved_tensors  # type: ignore[union-attr]  # the gradients, made with the loss
    recorder.expect(found, wanted)
    for gradient, expected in zip(made, torch.autograd.grad(wanted, tensors), strict=True):
        recorder.expect(gradient, expected)


def record_parser(recorder: Recorder) -> None:
    layer = nn.LSTM(13, 19, bidirectional=True).requires_grad_(False)
    x = pack_sequence([torch.randn(length, 13) for length in (9, 9, 4, 1)])
    found = lstm_forward(layer, x.data, x.batch_sizes)
    assert found is not None
    recorder.expect(found, layer(x)[0].data)
    scores, lengths = by_width(4 * torch.randn(30, 13, 13)), torch.randint(1, 13, (30,))
    trees = brackets(scores, lengths.numpy())
    wanted = best_parents(span_probabilities(scores, lengths).numpy(), lengths.numpy())
    assert trees is not None
    for tree, expected in zip(trees, wanted, strict=True):
        recorder.expect(torch.from_numpy(tree), torch.from_numpy(expected))


@needs_c
@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_calls_repeated_on_another_machine(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_, run = (text.split() for text in MACHINES[machine])
    for program in (compile_[0], *run):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    Buffer._free.clear()
    recorder = Recorder(monkeypatch)
    isa = 128 if machine == "aarch64" else loader.library().isa
    on(isa, monkeypatch, functions=recorder, few=0, blas="", gemm=0, set_threads=0)
    monkeypatch.setenv("BOUGH_FAST", "1")
    for record in (record_trees, record_inference, record_cached, record_losses, record_parser):
        record(recorder)
    recorder.write(tmp_path / "calls")
    replay = tmp_path / "replay.exe"
    flags = ["-std=c11", "-ffp-contract=off", "-Wno-cast-function-type", "-lm"]
    source = [str(HERE / "replay.c"), "-I", str(loader.FOLDER)]
    subprocess.run([compile_[0], "-O3", *compile_[1:], *source, *flags, "-o", str(replay)], check=True)
    ran = subprocess.run([*run, str(replay), str(tmp_path / "calls")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert int(ran.stdout.split()[0]) > 300, ran.stdout
