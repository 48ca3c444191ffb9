"""Measurements of speed, scaling and load, outside the library."""
