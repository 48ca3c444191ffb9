"""Derivatives written by hand and compiled, beside the equations they belong to; `path` tells which are on."""

from bough.nn.kernels.loader import path, why

__all__ = ["path", "why"]
