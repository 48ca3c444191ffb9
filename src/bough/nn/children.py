"""`Children`: the states that the equations of a node read from its children, or from its parents."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from bough.trees.forest import Forest

T = TypeVar("T")


class Children:
    """Neighbours of the nodes of one level, with one row per neighbour, sorted by node.

    The engine passes it to `node`: children to a layer from the leaves, parents to a layer from the roots.

    Shape:
        n nodes, E neighbours: `states` one (E, D) per state of the layer; `relations` (E,) the ids
        of the edges; `features` (E, F) the edges' rows of `edge_features`; `places` (E,) the
        position of the lower end among its siblings; `count` (n, 1) the neighbours of each node;
        `kinds` (n,) the kind of each node.

    Examples:
        >>> import torch, bough
        >>> class Attention(bough.nn.TreeLayer):  # children weighed by a softmax over their first entries
        ...     def node(self, a, below):
        ...         (h_k,) = below.states
        ...         return (a + below.sum(below.softmax(h_k[:, :1]) * h_k),)
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1])])
        >>> Attention(4, states=(4,))(torch.ones(3, 4), forest)[1]
        tensor([2., 2., 2., 2.])
    """

    def __init__(
        self,
        states: tuple[Tensor, ...],
        forest: Any,
        level: int,
        owners: Tensor,
        mask: Tensor | None,
        features: Tensor | None,
        known: dict[Any, Any],
    ) -> None:
        self.states, self._features, self._known = states, features, known
        self._forest: Forest = forest  # in a step, what stands for one
        self._level, self._owners, self._mask = level, owners, mask
        self.nodes = forest.level_sizes[level]
        # a node that is no leaf has at least one neighbour, so as many neighbours as nodes means one each
        self._one_each = len(owners) == self.nodes

    def sum(self, rows: Tensor) -> Tensor:
        """Return the sum of each node's rows: (E, D) -> (n, D)."""
        if self._one_each:
            return rows.clone()
        return rows.new_zeros(self.nodes, *rows.shape[1:]).index_add_(0, self._owners, rows)

    def max(self, rows: Tensor) -> Tensor:
        """Return the maximum of each node's rows, zeros for a node without neighbours: (E, D) -> (n, D)."""
        if self._one_each:
            return rows.clone()
        index = self._owners.unsqueeze(1).expand_as(rows)
        zeros = rows.new_zeros(self.nodes, rows.shape[1])
        return zeros.scatter_reduce(0, index, rows, "amax", include_self=False)

    def softmax(self, scores: Tensor) -> Tensor:
        """Return weights that sum to one over each node's rows, for each column: (E, K) -> (E, K)."""
        risen = (scores - self.spread(self.max(scores.detach()))).exp()
        return risen / self.spread(self.sum(risen))

    def spread(self, rows: Tensor) -> Tensor:
        """Copy each node's row to all of its neighbours: (n, D) -> (E, D)."""
        if self._one_each:
            return rows.clone()
        return rows.index_select(0, self._owners)

    def slots(self, rows: Tensor, arity: int) -> Tensor:
        """Arrange the rows by `places`, with zeros in empty slots: (E, D) -> (n, arity, D)."""
        self._forest.check_arity(arity)
        if self._forest.runs_down and bool((self.count > 1).any()):
            self._forest.check_one_parent()
        if len(rows) == self.nodes * arity and not self._forest.runs_down:
            return rows.view(self.nodes, arity, rows.shape[1])
        index = self._owners * arity + self.places
        slots = rows.new_zeros(self.nodes * arity, rows.shape[1]).index_copy_(0, index, rows)
        return slots.view(self.nodes, arity, rows.shape[1])

    def drop(self, rows: Tensor) -> Tensor:
        """Apply the layer's `recurrent_dropout` in training, with a mask for each node: (n, D) -> (n, D)."""
        return rows if self._mask is None else rows * self._mask

    def addmm(self, b: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
        """Return b + rows @ weight. Faster than `torch.addmm`: the weight's gradient is one product for all levels."""
        if not (torch.is_grad_enabled() and weight.requires_grad):
            return torch.addmm(b, rows, weight)
        if weight not in self._known:
            products: list[tuple[Tensor, Tensor]] = []
            self._known[weight] = products, _Weight.apply(products, weight)  # type: ignore[no-untyped-call]
        product: Tensor = _Addmm.apply(*self._known[weight], b, rows)  # type: ignore[no-untyped-call]
        return product

    def once(self, compute: Callable[[], T]) -> T:
        """Return `compute()`, which is called at the first level only: for tensors computed from the weights."""
        if compute not in self._known:
            self._known[compute] = compute()
        found: T = self._known[compute]
        return found

    def by_kind(
        self,
        modules: Sequence[Callable[..., Any]] | nn.ModuleList,
        *rows: Tensor,
        kinds: Tensor | None = None,
    ) -> Any:
        """Return the results of `modules[k]` for the rows of each kind k, in the order of the rows.

        Each module is called once, with all rows of its kind, and returns a tensor or a tuple of tensors.

        Args:
            modules: one module or function for each kind, such as an `nn.ModuleList`.
            rows: the arguments of the modules; each has one row per node, or per entry of `kinds`.
            kinds: the kind of each row, for rows other than those of nodes; `relations` is an example.
        """
        sizes = order = None
        if kinds is None:
            kinds, sizes = self.kinds, self._forest.kind_sizes  # in a forest, nodes are sorted by kind
        for part in rows:
            if len(part) != len(kinds):
                raise ValueError(f"by_kind got {len(part)} rows for {len(kinds)} kinds; one row per kind")
        if sizes is not None:
            runs = sizes[self._level]
        else:
            order = kinds.argsort(stable=True)
            present, counts = kinds[order].unique_consecutive(return_counts=True)
            runs = list(zip(present.tolist(), counts.tolist(), strict=True))
            rows = tuple(part.index_select(0, order) for part in rows)
        runs = runs or [(0, 0)]  # a module says how wide the result without rows is
        if runs[-1][0] >= len(modules):
            raise ValueError(f"kind {runs[-1][0]}: by_kind got {len(modules)} modules, for the kinds from 0")
        parts = zip(*(part.split([size for _, size in runs]) for part in rows), strict=True)
        results = [modules[kind](*part) for (kind, _), part in zip(runs, parts, strict=True)]
        several = isinstance(results[0], tuple)
        joined = [torch.cat(part) for part in (zip(*results, strict=True) if several else [results])]
        if order is not None:
            joined = [torch.empty_like(part).index_copy(0, order, part) for part in joined]
        return tuple(joined) if several else joined[0]

    @cached_property
    def kinds(self) -> Tensor:
        """(n,) the kind of each node, from `layer(x, forest, kinds=...)`."""
        if self._forest.kinds is None:
            raise ValueError("the layer reads the kinds of nodes; call it with kinds=...")
        self._known["kinds"] = True  # the engine raises an error if no level has read them
        start, end = self._forest.slices[self._level]
        return self._forest.kinds[start:end]

    @cached_property
    def relations(self) -> Tensor:
        """(E,) the relation id of each edge."""
        if self._forest.edge_relations is None:
            raise ValueError("the forest's trees have no relation ids; see Forest(trees, relations=...)")
        return self._of_edges(self._forest.edge_relations)

    @property
    def features(self) -> Tensor:
        """(E, F) the features of each edge, from `layer(x, forest, edge_features=...)`."""
        if self._features is None:
            raise ValueError("the layer reads the features of edges; call it with edge_features=...")
        self._known["features"] = True  # the engine raises an error if no level has read them
        return self._features

    @cached_property
    def places(self) -> Tensor:
        """(E,) the position of each child among its siblings, from 0."""
        return self._of_edges(self._forest.edge_places)

    @cached_property
    def count(self) -> Tensor:
        """(n, 1) the number of neighbours of each node."""
        ones = torch.ones(len(self._owners), 1, dtype=torch.int64, device=self._owners.device)
        return self.sum(ones)

    @property
    def sizes(self) -> Tensor:
        """(E, 1) the number of nodes in each child's subtree, itself included."""
        return self._forest.subtree_sizes[self._of_edges(self._forest.children)].unsqueeze(1)

    @property
    def own_sizes(self) -> Tensor:
        """(n, 1) the number of nodes in each node's subtree, itself included."""
        start, end = self._forest.slices[self._level]
        return self._forest.subtree_sizes[start:end].unsqueeze(1)

    def _of_edges(self, values: Tensor) -> Tensor:
        return values[self._forest.edge_slices[self._level]]


class _Weight(torch.autograd.Function):
    """Return the weight. Its gradient is one product, of the rows and the gradients of all levels."""

    @staticmethod
    def forward(ctx: Any, products: list[tuple[Tensor, Tensor]], weight: Tensor) -> Tensor:
        ctx.products = products
        ctx.set_materialize_grads(False)
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[None, Tensor | None]:
        if not ctx.products:
            return None, None
        rows, gradients = (torch.cat(parts) for parts in zip(*ctx.products, strict=True))
        ctx.products.clear()
        return None, rows.t() @ gradients


class _Addmm(torch.autograd.Function):
    """`torch.addmm` that leaves the gradient of the weight to `_Weight`, instead of a matrix per level."""

    @staticmethod
    def forward(ctx: Any, products: list[Any], weight: Tensor, b: Tensor, rows: Tensor) -> Tensor:
        ctx.products, ctx.b_rows = products, b.dim() == 2
        ctx.save_for_backward(rows, weight)
        return torch.addmm(b, rows, weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor, Tensor]:
        (d_product,), (rows, weight) = grads, ctx.saved_tensors
        ctx.products.append((rows, d_product))
        return None, None, d_product if ctx.b_rows else d_product.sum(0), d_product @ weight.t()
