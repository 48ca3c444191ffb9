"""Build balanced trees over the words of a sentence, in any language and without a model."""

from collections.abc import Sequence

from bough.text.join_sentences import check_sentences
from bough.trees.builders import balanced, with_words
from bough.trees.tree import Tree


class BalancedParser:
    """Parser that splits a sentence into halves recursively, for any language and without a model.

    Examples:
        >>> from bough.text import get_parser
        >>> get_parser("balanced").constituency([["Katzen", "klettern", "gern"]])
        [Tree((· (· Katzen klettern) gern), 5 nodes)]
    """

    name = "balanced"

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one balanced binary tree per sentence: words at the leaves, nodes in preorder."""
        return [with_words(balanced(len(words)), words) for words in check_sentences(sentences)]

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree per sentence: the middle word is the root, the middle words of both halves its children."""
        trees = []
        for words in check_sentences(sentences):
            heads = [-1] * len(words)
            stack = [(-1, 0, len(words))]  # the head of the words from `low` to `high`
            while stack:
                head, low, high = stack.pop()
                if low < high:
                    middle = (low + high) // 2
                    heads[middle] = head
                    stack += [(middle, low, middle), (middle, middle + 1, high)]
            trees.append(Tree(heads, tokens=list(words)))
        return trees
