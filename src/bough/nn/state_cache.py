"""`StateCache`: keep the states of subtrees between calls."""

import threading

import torch
from torch import Tensor

from bough.nn.kernels.loader import structure
from bough.nn.layer import TreeLayer
from bough.trees.forest import Forest

Table = structure("capacity slots count newest oldest hits keys slot newer older h c")


class StateCache:
    """Layer for inference that caches the states of all subtrees it has computed.

    A subtree whose shape and inputs have been seen before is not computed again. If a tree differs
    from an earlier one in a single node, only the path from that node to the root is computed.
    Query optimisers, search and editors score many such trees. Subtrees are identified by a 128-bit
    digest of their inputs and their shape.

    The cache is cleared when a weight of the layer changes. As in autograd, changes through `weight.data` are not
    noticed: call `clear()` after them. There are no gradients. The cache works for
    `ChildSumTreeLSTM` and `NaryTreeLSTM` (with `forget="full"`) in float32 by the compiled code.
    Others are computed in full.

    Args:
        layer: the layer.
        max_entries: the most subtrees in the cache; the least recently used are dropped first.
        max_bytes: the most memory of the cache.

    Shape:
        x (N, X), a forest of N nodes -> what the layer returns.

    Examples:
        >>> import torch, bough
        >>> layer, x = bough.nn.ChildSumTreeLSTM(4, 3), torch.randn(3, 4)
        >>> cached, forest = bough.nn.StateCache(layer), bough.Forest([bough.Tree([1, -1, 1])])
        >>> h, c = cached(x, forest)
        >>> x[0] = 0.0
        >>> h, c = cached(x, forest)  # computes nodes 0 and 1, not node 2
        >>> h.shape
        torch.Size([3, 3])
    """

    def __init__(self, layer: TreeLayer, *, max_entries: int = 100_000, max_bytes: int = 256 * 2**20) -> None:
        if not isinstance(layer, TreeLayer):
            raise TypeError(f"layer is a {type(layer).__name__}; StateCache takes a TreeLayer")
        # a key, an entry in two lists, up to four slots, and the states
        per_entry = 16 + 8 + 16 + 4 * sum(layer.states)
        entries = min(max_entries, max_bytes // per_entry, 2**30)
        if entries < 1:
            given = f"max_entries={max_entries}, max_bytes={max_bytes}"
            raise ValueError(f"{given}: no room; an entry has {per_entry} bytes")
        self.layer, self.max_entries = layer, entries
        slots = 1 << (2 * entries - 1).bit_length()
        with torch.inference_mode(False):  # `empty` takes no memory before it is written to
            self._keys = torch.empty((entries, 2), dtype=torch.int64)
            self._lists = torch.full((slots + 2 * entries,), -1, dtype=torch.int32)
            self._states = torch.empty((2, entries, layer.states[0]), dtype=torch.float32)
        lists = (part.data_ptr() for part in self._lists.split([slots, entries, entries]))
        states = (part.data_ptr() for part in self._states)
        self._table = Table(entries, slots, 0, -1, -1, 0, self._keys.data_ptr(), *lists, *states)
        self._weights: list[tuple[Tensor, Tensor, int]] = []
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"StateCache({self.layer}, {len(self)} of {self.max_entries} subtrees)"

    def __len__(self) -> int:
        """Return the number of subtrees in the cache."""
        return int(self._table.count)

    @property
    def hits(self) -> int:
        """Number of nodes so far whose states came from the cache."""
        return int(self._table.hits)

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._lists.fill_(-1)
            self._table.count, self._table.newest, self._table.oldest = 0, -1, -1

    @torch.no_grad()
    def __call__(self, x: Tensor, forest: Forest) -> Tensor | tuple[Tensor, ...]:
        """Return the states of all nodes, as the layer does, without a gradient."""
        with self._lock:
            parameters = list(self.layer.parameters())
            unchanged = len(parameters) == len(self._weights) and all(
                new is old and new.data_ptr() == before.data_ptr() and new._version == version
                for new, (old, before, version) in zip(parameters, self._weights, strict=True)
            )
            if not unchanged:
                self.clear()
                known = not any(parameter.is_inference() for parameter in parameters)  # these have no version
                self._weights = [(p, p.detach(), p._version) for p in parameters] if known else []
            found = self.layer.infer(x, forest, self._table)
        return self.layer(x, forest) if found is None else found
