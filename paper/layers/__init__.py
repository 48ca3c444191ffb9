"""The layers of the systems that the paper cites, and the baselines without a tree."""

from paper.layers.cnn import CNN
from paper.layers.dcnn import DCNN
from paper.layers.drnn import DRNN
from paper.layers.mean import MeanVectors
from paper.layers.mv_rnn import MVRNN
from paper.layers.recursive import DTRNN, SDTRNN
from paper.layers.rnn import RecursiveNetwork
from paper.layers.rntn import RNTN
from paper.layers.sequence import SequenceEncoder
from paper.layers.span_mean import SpanMean

__all__ = [
    "CNN",
    "DCNN",
    "DRNN",
    "DTRNN",
    "MVRNN",
    "RNTN",
    "SDTRNN",
    "MeanVectors",
    "RecursiveNetwork",
    "SequenceEncoder",
    "SpanMean",
]
