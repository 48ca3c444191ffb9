"""From a configuration to the layer that turns trees into states, and from its states to sentence vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bough.model.config import Config
from bough.nn import DTRNN, LSTM, SDTRNN, ChildSumTreeLSTM, NaryTreeLSTM
from bough.trees.forest import Forest

TreeLayer = ChildSumTreeLSTM | NaryTreeLSTM | DTRNN


class MeanVectors(nn.Module):
    """A sentence as the mean of its words' vectors, the paper's simplest baseline."""

    def input_nodes(self, forest: Forest) -> Tensor:
        """(M,) the nodes whose x is looked at, one for each distinct input."""
        return forest.inputs

    def means(self, x: Tensor, forest: Forest) -> Tensor:
        """x (M, X) of `input_nodes(forest)` -> (trees, X)."""
        words = x.index_select(0, forest.input_of.index_select(0, forest.unit_of))  # (N, X)
        sums = x.new_zeros(len(forest), x.shape[1]).index_add(0, forest.tree_of, words)
        return sums / forest.tree_sizes.to(x.dtype).unsqueeze(1)


def build_encoder(config: Config, relations: int) -> nn.Module:
    """The layer that `config.encoder` names."""
    x, d, gate = config.dimension, config.hidden, config.output_gate
    if config.encoder == "constituency":
        return NaryTreeLSTM(
            x,
            d,
            2,
            forget=config.forget,
            output_gate=gate,
            recurrent_dropout=config.recurrent_dropout,
            forget_bias=config.forget_bias,
        )
    if config.encoder == "dependency":
        return ChildSumTreeLSTM(x, d, output_gate=gate, recurrent_dropout=config.recurrent_dropout)
    if config.encoder == "lstm":
        return LSTM(
            x, d, layers=config.layers, bidirectional=config.bidirectional, tied=config.tied, output_gate=gate
        )
    if config.encoder == "dt-rnn":
        return DTRNN(x, d, nonlinearity=config.nonlinearity, average=config.average)
    if config.encoder == "sdt-rnn":
        return SDTRNN(x, d, relations=relations, nonlinearity=config.nonlinearity, average=config.average)
    return MeanVectors()


def sentence_width(config: Config) -> int:
    """How long a sentence's vector is."""
    if config.encoder == "mean":
        return config.dimension
    directions = 2 if config.encoder == "lstm" and config.bidirectional else 1
    return config.hidden * directions * (config.layers if config.encoder == "lstm" else 1)


def input_nodes(encoder: nn.Module, forest: Forest) -> Tensor:
    """(M,) the nodes whose word the encoder looks at."""
    assert isinstance(encoder, TreeLayer | LSTM | MeanVectors)
    return encoder.input_nodes(forest)


def sentence_vectors(encoder: nn.Module, x: Tensor, forest: Forest) -> Tensor:
    """x (M, X) of `input_nodes` -> (trees, width): the root's state, every final state of an LSTM, or the mean."""
    if isinstance(encoder, MeanVectors):
        return encoder.means(x, forest)
    if isinstance(encoder, LSTM):
        return encoder.final(encoder.encode(x, forest)[0], forest)
    return unit_states(encoder, x, forest).index_select(0, forest.unit_of.index_select(0, forest.roots))


def unit_states(encoder: nn.Module, x: Tensor, forest: Forest) -> Tensor:
    """x (M, X) of `input_nodes` -> h (U, D) of the forest's units, for a layer over trees."""
    assert isinstance(encoder, TreeLayer)
    states = encoder.compose(encoder.input_map(x), forest)
    return states if isinstance(states, torch.Tensor) else states[0]
