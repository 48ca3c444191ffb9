"""The paper's data: where it is, what it holds, and how to get it (`bough.datasets.fetch`)."""

from bough.datasets.identity import fingerprint
from bough.datasets.location import find_data, user_cache
from bough.datasets.sick import Pair, load_sick, sick_files
from bough.datasets.sst import load_sst, sst_files
from bough.errors import DataError

__all__ = [
    "DataError",
    "Pair",
    "find_data",
    "fingerprint",
    "load_sick",
    "load_sst",
    "sick_files",
    "sst_files",
    "user_cache",
]
