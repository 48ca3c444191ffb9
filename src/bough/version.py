"""Which bough this is: the one place that says so."""

__version__ = "0.2.0"
