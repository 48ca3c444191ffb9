"""The layers, one file per section of the paper, and what it takes to write one's own."""

from bough.nn.attentive import AttentiveChildSum
from bough.nn.chain import LSTM
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.cnn import CNN
from bough.nn.dcnn import DCNN
from bough.nn.drnn import DRNN
from bough.nn.edges import Edges
from bough.nn.encoder import Encoder
from bough.nn.gru import ChildSumTreeGRU
from bough.nn.heads import Classifier, Similarity
from bough.nn.layer import TreeLayer
from bough.nn.leaf_lstm import LeafLSTMTree
from bough.nn.mean import MeanVectors
from bough.nn.mv_rnn import MVRNN
from bough.nn.nary import NaryTreeLSTM
from bough.nn.recursive import DTRNN, SDTRNN
from bough.nn.registry import kinds, register
from bough.nn.rnn import RecursiveNetwork
from bough.nn.rntn import RNTN
from bough.nn.sequence import SequenceEncoder
from bough.nn.span_mean import SpanMean
from bough.nn.top_down import BiTreeLSTM, TopDownTreeLSTM
from bough.nn.tree_and_mean import TreeAndMean

__all__ = [
    "CNN",
    "DCNN",
    "DRNN",
    "DTRNN",
    "LSTM",
    "MVRNN",
    "RNTN",
    "SDTRNN",
    "AttentiveChildSum",
    "BiTreeLSTM",
    "ChildSumTreeGRU",
    "ChildSumTreeLSTM",
    "Classifier",
    "Edges",
    "Encoder",
    "LeafLSTMTree",
    "MeanVectors",
    "NaryTreeLSTM",
    "RecursiveNetwork",
    "SequenceEncoder",
    "Similarity",
    "SpanMean",
    "TopDownTreeLSTM",
    "TreeAndMean",
    "TreeLayer",
    "kinds",
    "register",
]
