"""The layers of the systems that the paper cites, and the baselines without a tree."""

from paper.layers.constituency import DRNN, MVRNN, RNTN, RecursiveNetwork
from paper.layers.convolution import CNN, DCNN, SequenceEncoder
from paper.layers.dependency import DTRNN, SDTRNN
from paper.layers.mean import SpanMean

__all__ = ["CNN", "DCNN", "DRNN", "DTRNN", "MVRNN", "RNTN", "SDTRNN"]
__all__ += ["RecursiveNetwork", "SequenceEncoder", "SpanMean"]
