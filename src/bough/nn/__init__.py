"""The layers, one file a section of the paper."""

from bough.nn.chain import LSTM
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.nary import NaryTreeLSTM
from bough.nn.recursive import DTRNN, SDTRNN

__all__ = ["DTRNN", "LSTM", "SDTRNN", "ChildSumTreeLSTM", "NaryTreeLSTM"]
