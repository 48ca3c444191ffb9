"""Derivatives written by hand, beside the equations they belong to."""
