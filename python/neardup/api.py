"""`dedup` and `pairs` for texts in memory and for files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union, runtime_checkable

from neardup import _core
from neardup.errors import RejectedWarning, UsageError

if TYPE_CHECKING:
    from neardup._core import Array, Pairs

Progress: TypeAlias = Callable[[str, int, int, int, float], object]
"""Called with the stage, its progress, its total (0 if unknown), the number of documents so far and
the seconds since the start."""


@runtime_checkable
class ArrowStream(Protocol):
    """Tables, series and chunked arrays of pyarrow, polars, pandas and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class ArrowColumn(Protocol):
    """Arrays of pyarrow and others."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Path: TypeAlias = Union[str, "os.PathLike[str]"]
Texts: TypeAlias = Union[Iterable["str | None"], ArrowStream, ArrowColumn]
Input: TypeAlias = Union[Texts, Path, Sequence["os.PathLike[str]"]]


class Result:
    """The result of `dedup`.

    Documents are numbered from 0, in input order. ``keep``, ``cluster``, ``similarity`` and ``pairs``
    are Arrow arrays: ``table.filter(pyarrow.array(result.keep))`` is the corpus without its
    near-duplicates.
    """

    keep: Array
    """True for kept documents. A rejected document has False and is listed in ``rejected``."""
    cluster: Array
    """The number of the document kept in its place; its own if it is kept."""
    similarity: Array
    """The similarity to that document."""
    pairs: Pairs
    """The near-duplicate pairs (a, b, similarity), each verified; an exact duplicate appears only with
    its first occurrence."""
    ids: Array | None
    """The ids of the documents, for files."""
    rejected: list[tuple[int | str, str]]
    """Documents that could not be read: number (for files: location) and reason."""
    summary: dict[str, Any]
    """Counts, parameters, predicted recall, times and memory."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.keep = parts["keep"]
        self.cluster = parts["cluster"]
        self.similarity = parts["similarity"]
        self.pairs = parts["pairs"]
        self.ids = parts["ids"]
        self.rejected = parts["rejected"]
        self.summary = parts["summary"]

    def __len__(self) -> int:
        return len(self.keep)

    def kept(self) -> list[int]:
        """The numbers of the kept documents."""
        return [i for i, k in enumerate(self.keep) if k]

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<neardup.Result: {s['documents']} documents, {s['kept']} kept, {s['dropped']} dropped "
            f"in {s['clusters']} clusters, {len(self.pairs)} pairs>"
        )


def paths_of(texts: object) -> list[str] | None:
    """The paths if the argument is one str or PathLike, or a sequence of PathLike; else None."""
    if isinstance(texts, (str, os.PathLike)):
        return [os.fspath(texts)]
    if isinstance(texts, (list, tuple)) and texts and all(isinstance(t, os.PathLike) for t in texts):
        return [os.fspath(t) for t in texts]
    return None


def _unwrap(texts: Any) -> Any:
    """Returns the Arrow table of a Hugging Face Dataset, any other object unchanged."""
    if hasattr(texts, "__arrow_c_stream__") or not hasattr(texts, "with_format"):
        return texts
    if getattr(texts, "_indices", None) is not None:
        texts = texts.flatten_indices()
    table = getattr(getattr(texts, "data", None), "table", None)
    return texts if table is None else table


def keep_column(options: dict[str, Any]) -> str | None:
    """The column that keep= reads, if any."""
    keep = options.get("keep")
    if not isinstance(keep, str):
        return None
    if keep in ("oldest", "newest"):
        return str(options.get("time_field") or "time")
    if keep == "url":
        return str(options.get("url_field") or "url")
    return keep[6:] if keep.startswith("field:") else None


def _job(
    dedup: bool,
    texts: Any,
    against: Any,
    keep_values: Any,
    progress: Progress | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    paths = paths_of(texts)
    if paths is not None:
        from neardup import parquet

        if parquet.any_table(paths):
            if against is not None or keep_values is not None:
                raise UsageError("against= and keep_values= do not support Parquet")
            flow = parquet.flow(paths, options)
            return _run(_core.MemoryJob(_core.Options(**options), progress, flow, dedup=dedup))
        if keep_values is not None:
            raise UsageError("keep_values= needs texts in memory; files have their own values")
        if against is not None:
            if paths_of(against) is None:
                raise UsageError("against= must be files too")
            options["against"] = os.fspath(against)
        return _run(_core.MemoryJob(_core.Options(**options), progress, None, files=paths, dedup=dedup))
    if paths_of(against) is not None:
        raise UsageError("against= must be texts in memory too")
    checked = _core.Options(**options)
    checked.check()
    field = str(options.get("text_field") or "text")
    keep = options.get("keep")
    column = _core.make_texts(_unwrap(texts), field, keep, keep_column(options), keep_values)
    other = None if against is None else _core.make_texts(_unwrap(against), field)
    return _run(_core.MemoryJob(checked, progress, column, other, dedup=dedup))


def _run(job: _core.MemoryJob) -> dict[str, Any]:
    parts = job.result()
    if parts["rejected"]:
        place, reason = parts["rejected"][0]
        warnings.warn(
            f"{len(parts['rejected'])} documents were rejected, e.g. {place}: {reason}",
            RejectedWarning,
            stacklevel=4,
        )
    return parts


def dedup(
    texts: Input,
    threshold: float | str | None = 0.8,
    *,
    against: Input | None = None,
    keep_values: Iterable[object] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Finds near-duplicates and the document of each cluster to keep.

    `texts` is a list of str, or any object with the Arrow PyCapsule interface (a column or table of
    pyarrow, polars, pandas or datasets; the option `text_field` names the column), which is read
    in place; or a path, or a list of `pathlib.Path`, to files of any format the command reads.

    >>> import neardup
    >>> result = neardup.dedup([
    ...     "The cat sat on the mat, and there it slept all day.",
    ...     "A dog ran over the hill at dawn.",
    ...     "the cat sat on the mat and there it slept all day",
    ... ])
    >>> result.keep.to_pylist()
    [True, True, False]
    >>> result.cluster.to_pylist()
    [0, 1, 0]
    >>> result.pairs.to_pylist()
    [(0, 2, 1.0)]

    `threshold` is applied exactly as the decimal you give. `against` is a reference collection: only
    near-duplicates of its documents are dropped. Its documents are numbered from ``len(texts)``.
    `keep_values` has a value per text for ``keep="newest"``, ``"oldest"``, ``"url"`` or
    ``"field:NAME"``; a table has them in its columns. `options` are those of the command, with
    underscores: ``shingle="chars:9"``, ``method="exact"``, ``keep="longest"``, ``threads=4``; see
    `neardup.options`.

    >>> neardup.dedup(["a"], treshold=0.5)
    Traceback (most recent call last):
        ...
    neardup.errors.UsageError: unknown option treshold; did you mean threshold?
    """
    return Result(_job(True, texts, against, keep_values, progress, {"threshold": threshold, **options}))


def pairs(
    texts: Input,
    threshold: float | str | None = 0.8,
    *,
    against: Input | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Pairs:
    """Lists near-duplicate pairs (a, b, similarity), including every pair of exact duplicates.

    >>> import neardup
    >>> neardup.pairs(["one two three", "One, two, three!", "one two three"]).to_pylist()
    [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]
    >>> neardup.pairs(["one two three four", "one two three five"], 0.3, shingle="words:1",
    ...               method="exact").to_pylist()
    [(0, 1, 0.6)]

    The arguments are those of `dedup`.
    """
    parts = _job(False, texts, against, None, progress, {"threshold": threshold, **options})
    found: Pairs = parts["pairs"]
    return found


def options(command: str = "dedup") -> dict[str, dict[str, Any]]:
    """Returns the options of a command.

    >>> import neardup
    >>> neardup.options()["recall"]["default"]
    '0.95'
    >>> neardup.options()["method"]["values"][:2]
    ['minhash', 'digest']
    """
    return {row["name"]: row for row in _core.option_table() if command in row["commands"]}


def dedup_files(
    inputs: Path | Sequence[Path],
    output: Path,
    threshold: float | str | None = 0.8,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Runs ``neardup dedup INPUT... -o OUTPUT`` and returns the summary.

    Parquet files and directories of Hugging Face datasets are read and written with pyarrow.
    """
    given = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    paths = [os.fspath(p) for p in given]
    options = {"threshold": threshold, **options}
    from neardup import parquet

    if parquet.any_table(paths):
        return parquet.dedup(paths, os.fspath(output), options, progress)
    return _core.FileJob(_core.Options(**options), progress, paths, output).run()
