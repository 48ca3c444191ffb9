"""What `Tree` and `Graph` have in common: immutable columns of nodes and edges, equality and pickling."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from bough.trees import validate
from bough.trees.validate import Floats, frozen

NODE_COLUMNS = ("tokens", "labels")
FEATURES = (("features", "feature_names"), ("edge_features", "edge_feature_names"))
COLUMNS = (*NODE_COLUMNS, "relations", "categories", *(name for pair in FEATURES for name in pair))


class Structure:
    """Base class of `Tree` and `Graph`. A subclass has an array of its edges, which is named in `shape`."""

    shape: ClassVar[str] = ""  # the attribute with the array that has the structure
    edge_owner: ClassVar[str] = "edge"  # what has an entry in `relations` and a row in `edge_features`
    tokens: tuple[str | None, ...] | None
    labels: tuple[Hashable, ...] | None
    relations: tuple[Hashable, ...] | None
    features: Floats | None = None
    feature_names: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str | None, ...]] | None = None
    edge_features: Floats | None = None
    edge_feature_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def _edge_rows(self) -> int:
        """The number of entries of `relations` and of rows of `edge_features`."""
        raise NotImplementedError

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return (cls.shape, *COLUMNS)

    def _set_columns(self, given: dict[str, Any]) -> None:
        own, nodes, edges = self.__dict__, len(self), self._edge_rows
        for name in NODE_COLUMNS:
            if name in given:
                own[name] = validate.column(name, given[name], nodes)
        if "relations" in given:
            own["relations"] = validate.column("relations", given["relations"], edges, self.edge_owner)
        if "categories" in given:
            own["categories"] = validate.category_columns(given["categories"], nodes)
        for (name, names), size, per in zip(FEATURES, (nodes, edges), ("node", self.edge_owner), strict=True):
            if name in given or names in given:
                rows = given.get(name, getattr(self, name))
                old = () if rows is None else getattr(self, names)
                own[name], own[names] = validate.feature_rows(name, rows, given.get(names, old), size, per)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(self._unchangeable(f"{name}=..."))

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(self._unchangeable(f"{name}=None"))

    def _unchangeable(self, change: str) -> str:
        kind = type(self).__name__
        return f"a {kind} does not change; {kind.lower()}.replace({change}) makes another"

    def __getstate__(self) -> dict[str, Any]:
        state = {name: self.__dict__[name] for name in self._fields() if name in self.__dict__}
        if self.categories is not None:
            state["categories"] = dict(self.categories)  # a mappingproxy cannot be pickled
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in (self.shape, "features", "edge_features"):
            if (array := state.get(name)) is not None:
                frozen(array)
        if self.categories is not None:
            self.__dict__["categories"] = MappingProxyType(self.categories)

    def _entries_shown(self, node: int) -> str:
        """Return a node's label and token, or an empty string if it has neither."""
        parts = [column[node] for column in (self.labels, self.tokens) if column is not None]
        return ":".join(str(part) for part in parts if part is not None)

    def sketch(self) -> str:
        """Return the structure on one line."""
        return repr(self)

    def _repr_svg_(self) -> str | None:
        """Return the picture that a notebook shows, unless the tree or graph is too large for one."""
        from bough.draw.tree_svg import svg

        return svg([self], self.sketch())  # type: ignore[list-item]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        """Return all columns as objects that are equal, and have equal hashes, if the columns are equal."""
        categories = None if self.categories is None else frozenset(self.categories.items())
        structure = getattr(self, self.shape).tobytes()
        parts: list[Any] = [len(self), structure, self.tokens, self.labels, self.relations, categories]
        for name, names in FEATURES:
            rows = getattr(self, name)
            if rows is not None:  # 0 equals -0, and all kinds of NaN are equal
                rows = rows.shape, np.where(np.isnan(rows), np.nan, rows + 0.0).tobytes()
            parts += [rows, getattr(self, names)]
        return tuple(parts)
