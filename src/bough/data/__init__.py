"""The data folder, word vectors, downloads with checksums, and labelled files."""

from bough.data.checksums import fingerprint
from bough.data.paths import find_data, user_cache
from bough.errors import DataError

__all__ = ["DataError", "find_data", "fingerprint", "user_cache"]
