"""Layers for trees, heads and losses, and what it takes to write a layer of your own."""

from bough.nn.attentive import AttentiveChildSum
from bough.nn.base import BaseLayer
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.children import Children
from bough.nn.gru import ChildSumTreeGRU
from bough.nn.heads import Classifier, Similarity
from bough.nn.layer import TreeLayer
from bough.nn.lstm import LSTM
from bough.nn.nary import NaryTreeLSTM
from bough.nn.registry import kinds, register
from bough.nn.top_down import BiTreeLSTM, TopDownTreeLSTM
from bough.nn.tree_and_mean import TreeAndMean

__all__ = [
    "LSTM",
    "AttentiveChildSum",
    "BaseLayer",
    "BiTreeLSTM",
    "ChildSumTreeGRU",
    "ChildSumTreeLSTM",
    "Children",
    "Classifier",
    "NaryTreeLSTM",
    "Similarity",
    "TopDownTreeLSTM",
    "TreeAndMean",
    "TreeLayer",
    "kinds",
    "register",
]
