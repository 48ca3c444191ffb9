"""Trained runs made into models that travel: small, without raw word vectors, at home with any word."""

from bough.shipping.shipped import ShippedModel, load_model

__all__ = ["ShippedModel", "load_model"]
