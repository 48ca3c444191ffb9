"""`TreeLayer`: base class of layers defined by what a node computes from its input and its children."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from bough.nn.base import BaseLayer, outside_compilation
from bough.nn.children import Children
from bough.nn.dropout import dropout_mask
from bough.nn.engine import run_equations, threads_for, without_autocast
from bough.nn.kernels.loader import takes
from bough.nn.step import run_step
from bough.trees.forest import Forest

DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)


class TreeLayer(BaseLayer):
    """Recursive layer: `node` computes the states of a node, and the engine runs it over any forest.

    A subclass declares its weights and defines two methods. `input_map` is the part of the
    equations that depends on x alone, such as W x + b; it is computed once per distinct input.
    `node` has the equations for any number of nodes whose children have been computed. Batching,
    sharing of equal subtrees, gradients and checks are inherited.

    The attribute `from_roots = True` reverses the direction: `node(a, above)` reads the states of the parents.
    With the attribute `leaf_inputs = True` only leaves have an input; `at_leaf` computes them, and `node` gets None for
    `a`. With `integer_inputs = True` x has ints, for an embedding in `input_map`: (N, X), or (N,) if X is 1. A layer
    whose `node` reads `below.features` is called with `edge_features=`.

    Args:
        input_size: the width X of an input row.
        states: the width of each state of a node; heads read the first.
        recurrent_dropout: the probability with which `below.drop(...)` drops an entry while training.
        device: where the weights are made.
        dtype: their type.

    Shape:
        x (N, X), a forest of N nodes, edge_features (E, F) in the order of `forest.edge_index` or None -> one (N, D)
        per state; a single state is returned without a tuple.

    Examples:
        >>> import torch, bough
        >>> class Sum(bough.nn.TreeLayer):
        ...     def __init__(self, input_size, hidden_size):
        ...         super().__init__(input_size, states=(hidden_size,))
        ...         self.W = torch.nn.Linear(input_size, hidden_size)
        ...         self.U = torch.nn.Linear(hidden_size, hidden_size)
        ...
        ...     def input_map(self, x):
        ...         return self.W(x)
        ...
        ...     def node(self, a, below):
        ...         (h_k,) = below.states
        ...         return (torch.tanh(a + self.U(below.sum(h_k))),)
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1])])
        >>> Sum(300, 150)(torch.randn(3, 300), forest).shape
        torch.Size([3, 150])
    """

    takes_kinds = True
    from_roots: ClassVar[bool] = False
    leaf_inputs: bool = False
    equations: ClassVar[tuple[str, ...]] = ("node", "at_leaf")  # the methods that a kernel replaces

    def __init__(
        self,
        input_size: int,
        states: Sequence[int],
        *,
        recurrent_dropout: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if not isinstance(states, Sequence):
            raise TypeError(f"states={states!r}: one width per state, as in states=({states!r},)")
        if not states:
            raise ValueError("states=(): a node has at least one state")
        if not 0 <= recurrent_dropout < 1:
            raise ValueError(f"recurrent_dropout={recurrent_dropout}: at least 0, below 1")
        super().__init__(input_size, states[0], device=device, dtype=dtype)
        self.states, self.recurrent_dropout = tuple(states), recurrent_dropout
        self.dropout_width = states[-1]  # the width of what `below.drop` takes
        self.fast = True  # False: run the equations even if there is a kernel for them

    def input_map(self, x: Tensor) -> Tensor:
        """Return the part of the equations that depends on x alone, (M, A) from x (M, X)."""
        return x

    def node(self, a: Any, below: Children) -> tuple[Tensor, ...]:
        """Return one (n, D) per state, from a (n, A) and the children's states."""
        raise NotImplementedError

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        """Return the states of leaves, as `node` does for other nodes; `below` is empty."""
        return self.node(a, below)

    def check(self, forest: Forest) -> None:
        """Raise a ValueError if the layer cannot read this forest."""

    def map_inputs(self, x: Tensor, forest: Forest) -> Tensor:
        """Return `a` (M, A) for `node`, from x (M, X) of `input_nodes(forest)`; by default `input_map(x)`."""
        return self.input_map(x)

    def node_states(
        self, x: Tensor, forest: Forest, edge_features: Tensor | None = None, **more: Any
    ) -> tuple[Tensor, ...]:
        states = self.compose(self.map_inputs(x, forest, **more), forest, edge_features)
        return tuple(state.index_select(0, self.schedule(forest).unique_of) for state in states)

    @property
    def shares(self) -> bool:
        if self.from_roots:
            return False
        # with dropout, nodes with equal subtrees have different masks, and so different states
        drops = (isinstance(m, DROPOUTS) and m.training and m.p > 0 for m in self.modules())
        return not self.training or not (self.recurrent_dropout or any(drops))

    def schedule(self, forest: Forest) -> Forest:
        """Return the forest in the order in which the layer computes it."""
        if self.from_roots:
            return forest.from_roots
        return forest if forest.keys is None or self.shares else forest.unshared

    def input_nodes(self, forest: Forest) -> Tensor:
        forest = self.schedule(forest)
        return forest.node_of[: forest.num_unique_leaves] if self.leaf_inputs else forest.inputs

    def rows(self, x: Tensor, forest: Forest, edge_features: Tensor | None = None) -> tuple[Tensor, Tensor]:
        states = self.compose(self.map_inputs(x, forest), forest, edge_features)
        return states[0], self.schedule(forest).unique_of

    def compose(self, a: Tensor, forest: Forest, edge_features: Tensor | None = None) -> tuple[Tensor, ...]:
        """Run the equations or the kernel over a forest, and return one (U, D) per state.

        U is the number of unique nodes of `schedule(forest)`; `a` (M, A) comes from `map_inputs`.
        """
        forest = self.schedule(forest)
        self.check(forest)
        some = next(self.parameters(), None)
        if some is not None and a.dtype != some.dtype:
            a = a.to(some.dtype)  # autocast may have changed it
        dropout = None
        if self.training and self.recurrent_dropout:
            rows = len(forest.node_of) - (forest.num_unique_leaves if self.leaf_inputs else 0)
            dropout = dropout_mask(a, rows, self.dropout_width, self.recurrent_dropout)
        equations = edge_features is not None or forest.kinds is not None
        if not equations and self._has_kernel() and takes(a, dropout, *self.parameters()):
            return self.run_kernel(a, forest, dropout)
        return run_equations(self, a, forest, dropout, edge_features)

    @outside_compilation
    def step(
        self,
        x: Tensor | None,
        states: Tensor | Sequence[Tensor] | None = None,
        parents: Tensor | Sequence[int] | None = None,
        *,
        places: Tensor | Sequence[int] | None = None,
        relations: Tensor | Sequence[int] | None = None,
        sizes: Tensor | Sequence[int] | None = None,
        kinds: Tensor | Sequence[int] | None = None,
        edge_features: Tensor | None = None,
        **more: Any,
    ) -> Any:
        """Return the states of n nodes from the states of their children, by the same equations as `forward`.

        It is for programs that make a tree as they go, such as decoders and parsers. It is plain autograd, so a later
        step may read the result, and there are second derivatives. Without `states` the nodes are leaves. In a layer
        from the roots, `states` are those of parents, and `parents[e]` is the node that reads row e.

        Args:
            x: (n, X), or None if the layer has `leaf_inputs` and no node is a leaf.
            states: one (E, D) per state of the layer, those of E children; a single state without a tuple.
            parents: (E,) the row of x of each child's parent, in any order; siblings are in the order of their rows.
            places: (E,) for `below.places`; without it, the order among siblings. From the roots, the position of the
                node among its own siblings.
            relations: (E,) for `below.relations`.
            sizes: (E,) the number of nodes in each child's subtree, for `below.sizes`.
            kinds: (n,) for `below.kinds`.
            edge_features: (E, F) for `below.features`.
            more: arguments of `step_inputs`.
        """
        weight = next(self.parameters(), None)
        like = weight if x is None or weight is not None else x
        if x is not None:
            x = self._checked_inputs(x)
        if states is None:
            assert like is not None
            states = [like.new_empty(0, width) for width in self.states]
        states = (states,) if isinstance(states, Tensor) else tuple(states)
        ids = {"parents": [] if parents is None else parents, "kinds": kinds}
        ids |= {"places": places, "relations": relations, "sizes": sizes}
        device = states[0].device
        rows = {name: torch.as_tensor(of, device=device).long() for name, of in ids.items() if of is not None}
        parents = rows.pop("parents")
        wanted = [(len(parents), width) for width in self.states]
        if [state.shape for state in states] != wanted or parents.dim() != 1:
            given = [tuple(state.shape) for state in states]
            raise ValueError(f"states are {given} and parents {tuple(parents.shape)}; they must be {wanted}")
        if edge_features is not None:
            rows["edge_features"] = edge_features
        with threads_for([len(parents) if x is None else len(x)]), without_autocast(device):
            results = run_step(self, x, states, parents, rows, more)
        return results if len(results) > 1 else results[0]

    def step_inputs(self, x: Tensor) -> Tensor:
        """Return `a` (n, A) for the nodes of a step, from x (n, X); by default `input_map(x)`."""
        return self.input_map(x)

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        """Return the weights for which `input_map(x)` is W x + b, for a bundled model with a smaller x per word."""
        raise ValueError(f"{type(self).__name__} has no input map that can be replaced")

    def run_kernel(self, a: Tensor, forest: Forest, dropout: Tensor | None) -> tuple[Tensor, ...]:
        """Compute the result of `run_equations` by compiled code; see `bough.nn.kernels`."""
        raise NotImplementedError

    def _has_kernel(self) -> bool:
        """Return whether there is a kernel for the equations, and no subclass has changed them."""
        layers = (kind for kind in type(self).__mro__ if issubclass(kind, TreeLayer))
        owner = next(kind for kind in layers if "run_kernel" in vars(kind))
        same = all(getattr(type(self), name) is getattr(owner, name) for name in owner.equations)
        return self.fast and owner is not TreeLayer and same and not self.from_roots
