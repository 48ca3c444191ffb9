"""Compiled code for the layers, the losses and the parser, beside the equations it stands for."""

from bough.nn.kernels.loader import path, why

__all__ = ["path", "why"]
