"""Exceptions of the package: one class per status of the library."""

from __future__ import annotations


class Error(Exception):
    """Base class of all errors. The message names the cause and the remedy."""


class UsageError(Error, ValueError):
    """A wrong option or argument."""


class OutOfMemory(Error, MemoryError):
    """An allocation failed."""


class IOFailure(Error, OSError):
    """A file could not be opened, read or written."""


class DataError(Error, ValueError):
    """The input is damaged or invalid."""


class LimitError(Error, ValueError):
    """A limit was exceeded, such as the size of a document."""


class StateError(Error, RuntimeError):
    """The output directory is in a state that does not allow the operation."""


class Cancelled(Error):
    """The job was cancelled."""


class RejectedWarning(UserWarning):
    """Some documents were rejected: they are neither kept nor dropped."""


BY_STATUS: dict[str, type[Error]] = {
    "usage": UsageError,
    "memory": OutOfMemory,
    "io": IOFailure,
    "data": DataError,
    "limit": LimitError,
    "state": StateError,
    "cancelled": Cancelled,
}
