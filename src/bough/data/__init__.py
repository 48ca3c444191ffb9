"""The paper's data: where it is, what it holds, and how to get it (`bough.data.fetch`)."""

from bough.data.identity import fingerprint
from bough.data.location import find_data, user_cache
from bough.data.sick import Pair, load_sick, sick_files
from bough.data.sst import load_sst, sst_files
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
