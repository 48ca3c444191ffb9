"""Words that know their sentence: the states of a pretrained encoder as the leaves of any tree."""

from bough.contextual.leaves import Leaves

__all__ = ["Leaves"]
