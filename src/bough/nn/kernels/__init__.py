"""Compiled code for layers, losses and the parser, with the same results as the equations in Python."""

from bough.nn.kernels.loader import path, why

__all__ = ["path", "why"]
