"""A dependency tree being changed; each change leaves it a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.trees.tree import Tree


class Draft:
    """Heads (counted from 0, -1 above the root) and relations of a sentence, to be changed step by step.

    A step either swaps a word with its head or moves it to a word above or beside it that is not below it,
    so that there is one root and no cycle after any number of steps.
    """

    def __init__(self, words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> None:
        self.words = list(words)
        self.heads = list(heads)
        self.relations = [
            "root" if head < 0 else relation for head, relation in zip(heads, relations, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.words)

    def below(self, node: int, *relations: str) -> list[int]:
        """The words that hang from `node`, first word first; by any of `relations` if given."""
        return [
            child
            for child, head in enumerate(self.heads)
            if head == node and (not relations or self.relations[child] in relations)
        ]

    def lift(self, node: int, relation: str) -> None:
        """`node` takes its head's place and relation; the head comes to hang from it by `relation`."""
        above = self.heads[node]
        self.heads[node], self.relations[node] = self.heads[above], self.relations[above]
        self.heads[above], self.relations[above] = node, relation

    def lift_all(self, node: int, relation: str) -> None:
        """The same, and what else hung from the head hangs from `node` now."""
        above = self.heads[node]
        sisters = [child for child in self.below(above) if child != node]
        self.lift(node, relation)
        for sister in sisters:
            self.heads[sister] = node

    def hang(self, node: int, above: int) -> None:
        """`node` with all below it hangs from `above` now, which is not below it."""
        self.heads[node] = above

    def rename(self, name: Callable[[int], str]) -> None:
        """Every relation anew, all at once: `name` sees the old ones. The root's stays `root`."""
        self.relations = ["root" if head < 0 else name(node) for node, head in enumerate(self.heads)]

    def tree(self) -> Tree:
        """What it has become: node i is word i."""
        return Tree(self.heads, tokens=self.words, relations=self.relations)
