"""Finds near-duplicate documents.

>>> import neardup
>>> neardup.__version__.count(".")
2
"""

from __future__ import annotations

from neardup import _core
from neardup._core import LSH, Array, MinHash, Pairs, Projection, SimHash
from neardup.api import Result, dedup, dedup_files, options, pairs
from neardup.errors import (
    Cancelled,
    DataError,
    Error,
    IOFailure,
    LimitError,
    OutOfMemory,
    RejectedWarning,
    StateError,
    UsageError,
)

__version__: str = _core.version()

__all__ = [
    "Array",
    "Cancelled",
    "DataError",
    "Error",
    "IOFailure",
    "LSH",
    "LimitError",
    "MinHash",
    "OutOfMemory",
    "Pairs",
    "Projection",
    "RejectedWarning",
    "Result",
    "SimHash",
    "StateError",
    "UsageError",
    "__version__",
    "dedup",
    "dedup_files",
    "options",
    "pairs",
]
