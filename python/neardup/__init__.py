"""Finds near-duplicate documents.

>>> import neardup
>>> neardup.__version__.count(".")
2
"""

from __future__ import annotations

from neardup import _core
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
    "Cancelled",
    "DataError",
    "Error",
    "IOFailure",
    "LimitError",
    "OutOfMemory",
    "RejectedWarning",
    "StateError",
    "UsageError",
    "__version__",
]
