"""What the package raises: one class per status of the library."""

from __future__ import annotations


class Error(Exception):
    """Any failure of neardup. The message says what, where and what to do."""


class UsageError(Error, ValueError):
    """A wrong option or argument."""


class OutOfMemory(Error, MemoryError):
    """An allocation failed."""


class IOFailure(Error, OSError):
    """The system refused a read, a write, an open."""


class DataError(Error, ValueError):
    """The input is damaged or not what it claims to be."""


class LimitError(Error, ValueError):
    """A stated limit was exceeded: a document's size, a count."""


class StateError(Error, RuntimeError):
    """The output directory cannot be used as it is."""


class Cancelled(Error):
    """The job was asked to stop."""


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
