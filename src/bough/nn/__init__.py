"""Layers for trees, heads and losses, and the base classes for custom layers."""

from bough.nn.attentive import AttentiveChildSum
from bough.nn.base import BaseLayer
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.children import Children
from bough.nn.gated_recursive import GatedRecursive
from bough.nn.gru import ChildSumTreeGRU
from bough.nn.heads import (
    Classifier,
    CosineSimilarity,
    MultiLabelClassifier,
    PairClassifier,
    Regressor,
    Similarity,
)
from bough.nn.layer import TreeLayer
from bough.nn.lstm import LSTM
from bough.nn.nary import NaryTreeLSTM
from bough.nn.readout import AttentionReadout
from bough.nn.registry import kinds, register
from bough.nn.state_cache import StateCache
from bough.nn.top_down import BiTreeLSTM, TopDownTreeLSTM
from bough.nn.tree_and_mean import MeanVectors, TreeAndMean
from bough.nn.tree_conv import TreeConv

__all__ = [
    "LSTM", "AttentionReadout", "AttentiveChildSum", "BaseLayer", "BiTreeLSTM", "ChildSumTreeGRU",
    "ChildSumTreeLSTM", "Children", "Classifier", "CosineSimilarity", "GatedRecursive", "MeanVectors",
    "MultiLabelClassifier", "NaryTreeLSTM", "PairClassifier", "Regressor", "Similarity", "StateCache",
    "TopDownTreeLSTM", "TreeAndMean", "TreeConv", "TreeLayer", "kinds", "register",
]  # fmt: skip
