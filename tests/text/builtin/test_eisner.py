"""Against every projective tree of a few words."""

from itertools import product

import numpy as np
import pytest

from bough.text.builtin.eisner import best_heads


def is_projective_tree(heads: tuple[int, ...]) -> bool:
    if heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    arcs = [(min(word, head), max(word, head)) for word, head in enumerate(heads, start=1) if head]
    root = heads.index(0) + 1
    crossing = any(a < c < b < d for a, b in arcs for c, d in arcs)
    return not crossing and not any(a < root < b for a, b in arcs)


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_is_the_best_projective_one_with_one_root(seed: int) -> None:
    lengths = np.array([5, 4, 3, 2, 1])
    scores = np.random.default_rng(seed).normal(size=(5, 5, 6)).astype(np.float32)
    for sentence, heads in enumerate(best_heads(scores, lengths)):
        length = int(lengths[sentence])
        trees = [t for t in product(range(length + 1), repeat=length) if is_projective_tree(t)]
        best = max(trees, key=lambda t: sum(scores[sentence, word, head] for word, head in enumerate(t)))
        assert heads == list(best)
