"""The version of bough."""

__version__ = "0.3.0"
