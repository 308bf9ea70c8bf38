"""Parquet files and directories of Hugging Face datasets, batch by batch, through pyarrow.

The first pass reads the text column (and the column of keep=) and finds the rows to drop. The second
copies every file without them, with all columns, and collects the ids of documents in pairs. Memory
holds a few batches, and about 30 bytes per document.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from typing import Any

from neardup import _core
from neardup.errors import DataError, IOFailure, RejectedWarning, StateError, UsageError

BATCH = 8192
"""Rows per batch."""
DATASET_FILES = ("state.json", "dataset_info.json", "dataset_dict.json")
"""Metadata files in the directory of a dataset."""
GROUP_BYTES = 64 << 20
"""Approximate size of a row group."""


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet and datasets need pyarrow: pip install 'neardup[parquet]'") from None
    return pyarrow


def _is_parquet(path: str) -> bool:
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"PAR1"
    except OSError:
        return False


def _is_dataset(folder: str) -> bool:
    """Tests for a directory written by `Dataset.save_to_disk`."""
    return os.path.isfile(os.path.join(folder, "state.json")) and os.path.isfile(
        os.path.join(folder, "dataset_info.json")
    )


class Source:
    """A file of rows: its path, its name in the output, and its reader."""

    def __init__(self, path: str, name: str, ipc: bool) -> None:
        self.path = path
        self.name = name
        self.ipc = ipc

    def schema(self) -> Any:
        pa = _pyarrow()
        try:
            if not self.ipc:
                return pa.parquet.read_schema(self.path)
            with pa.memory_map(self.path) as f:
                return pa.ipc.open_stream(f).schema
        except (OSError, pa.ArrowException) as e:
            raise _failed(self.path, e) from e

    def batches(self, columns: list[str] | None) -> Iterator[Any]:
        pa = _pyarrow()
        try:
            if self.ipc:
                with pa.memory_map(self.path) as f:
                    for batch in pa.ipc.open_stream(f):
                        yield batch if columns is None else batch.select(columns)
                return
            with self._parquet(page_checksum_verification=True) as file:
                rows = 0
                for batch in file.iter_batches(BATCH, columns=columns, use_threads=False):
                    rows += batch.num_rows
                    yield batch
                # A page header has no checksum: if it is damaged, its page and all later ones may be skipped.
                if rows != file.metadata.num_rows:
                    raise DataError(
                        f"{self.path} has {rows} readable rows, but its footer says "
                        f"{file.metadata.num_rows}: the file is damaged"
                    )
        except (OSError, pa.ArrowException) as e:
            raise _failed(self.path, e) from e

    def _parquet(self, **options: Any) -> Any:
        pa = _pyarrow()
        try:
            return pa.parquet.ParquetFile(self.path, **options)
        except TypeError:
            raise UsageError(
                f"pyarrow {pa.__version__} does not check the checksums of Parquet pages: install "
                "pyarrow 15 or later"
            ) from None

    def writer(self, path: str, schema: Any) -> Writer:
        return Writer(self, path, schema)

    def compression(self) -> str:
        """The compression of the first column of a Parquet file."""
        with self._parquet() as file:
            meta = file.metadata
            if meta.num_row_groups and meta.num_columns:
                return str(meta.row_group(0).column(0).compression).lower().replace("uncompressed", "none")
        return "snappy"


class Writer:
    """Writes a file in the format of its source, in full row groups."""

    def __init__(self, source: Source, path: str, schema: Any) -> None:
        pa = _pyarrow()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.held: list[Any] = []
        self.bytes = 0
        self.ipc = source.ipc
        if self.ipc:
            self.out = pa.ipc.new_stream(path, schema)
        else:
            self.out = pa.parquet.ParquetWriter(
                path, schema, compression=source.compression(), write_page_checksum=True
            )

    def write(self, batch: Any) -> None:
        if self.ipc:
            self.out.write_batch(batch)
            return
        self.held.append(batch)
        self.bytes += batch.nbytes
        if self.bytes >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        pa = _pyarrow()
        if self.held:
            table = pa.Table.from_batches(self.held)
            self.out.write_table(table, row_group_size=max(1, table.num_rows))
        self.held = []
        self.bytes = 0

    def close(self) -> None:
        if not self.ipc:
            self.flush()
        self.out.close()


def _failed(path: str, e: Exception) -> Exception:
    kind = IOFailure if isinstance(e, OSError) and e.errno else DataError
    return kind(f"{path}: {' '.join(str(e).split())}")


def _walk(folder: str) -> list[str]:
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(place, n) for n in names]
    return sorted(found, key=os.fsencode)


def find(paths: list[str]) -> list[Source]:
    """Returns the files of rows in paths, in order."""
    out = []
    for path in paths:
        base = os.path.basename(os.path.normpath(path))
        if _is_parquet(path):
            out.append(Source(path, base, False))
        elif os.path.isdir(path):
            for file in _walk(path):
                name = os.path.join(base, os.path.relpath(file, path))
                if _is_parquet(file):
                    out.append(Source(file, name, False))
                elif file.endswith(".arrow") and _is_dataset(os.path.dirname(file)):
                    out.append(Source(file, name, True))
    return out


def any_table(paths: list[str]) -> bool:
    """Tests whether one of the paths needs pyarrow."""
    return any(_is_parquet(p) for p in paths) or any(os.path.isdir(p) and find([p]) for p in paths)


def _check_rest(paths: list[str]) -> None:
    """Raises UsageError for a mixture of Parquet and other files."""
    for path in paths:
        if not find([path]):
            raise UsageError(f"{path} is neither Parquet nor a dataset; use a separate run for it")


def _keep_column(options: dict[str, Any]) -> str | None:
    from neardup.api import keep_column

    return keep_column(options)


def flow(paths: list[str], options: dict[str, Any]) -> _core.Flow:
    """Returns the texts, batch by batch."""
    _check_rest(paths)
    text = str(options.get("text_field") or "text")
    keep = _keep_column(options)

    def batches() -> Iterator[Any]:
        for source in find(paths):
            names = source.schema().names
            for wanted in filter(None, (text, keep)):
                if wanted not in names:
                    raise UsageError(
                        f"{source.path} has no column {wanted!r}; it has: {', '.join(names[:20])}"
                        + (" (text_field= names the texts)" if wanted == text else "")
                    )
            columns = [text] if keep in (None, text) else [text, str(keep)]
            yield from source.batches(columns)

    return _core.Flow(batches(), text, keep)


def _escape(text: object) -> str:
    return _core.escape(str(text))


class _Ids:
    """Ids of the documents in a pair or a cluster."""

    def __init__(self, parts: dict[str, Any], field: str) -> None:
        self.wanted = set(parts["pairs"].a) | set(parts["pairs"].b)
        for i, c in enumerate(parts["cluster"]):
            if i != c:
                self.wanted |= {i, c}
        self.wanted |= {place for place, _ in parts["rejected"]}
        self.order = sorted(self.wanted)
        self.at = 0
        self.field = field
        self.names: dict[int, str] = {}

    def take(self, source: Source, batch: Any, first: int, row: int) -> None:
        """Collects the ids in a batch whose first row is document `first`."""
        column = batch.column(self.field) if self.field in batch.schema.names else None
        while self.at < len(self.order) and self.order[self.at] < first + batch.num_rows:
            i = self.order[self.at] - first
            value = None if column is None else column[i].as_py()
            self.names[first + i] = _escape(f"{source.path}:{row + i + 1}" if value is None else value)
            self.at += 1


def _write_kept(folder: str, sources: list[Source], parts: dict[str, Any], ids: _Ids) -> None:
    pa = _pyarrow()
    keep = pa.array(parts["keep"])
    first = 0
    for source in sources:
        row = 0
        writer = source.writer(os.path.join(folder, source.name), source.schema())
        try:
            for batch in source.batches(None):
                if first + batch.num_rows > len(keep):
                    raise StateError(f"{source.path} has changed while it was being read; run again")
                ids.take(source, batch, first, row)
                writer.write(batch.filter(keep.slice(first, batch.num_rows)))
                first += batch.num_rows
                row += batch.num_rows
        finally:
            writer.close()
    if first != len(keep):
        raise StateError("an input has changed while it was being read; run again")


def _copy_dataset_files(folder: str, paths: list[str], sources: list[Source], parts: dict[str, Any]) -> None:
    """Copies the metadata of a dataset, without the values that are no longer valid."""
    print_ = hashlib.sha256(memoryview(parts["cluster"]))
    for path in paths:
        if not os.path.isdir(path):
            continue
        base = os.path.basename(os.path.normpath(path))
        for file in _walk(path):
            target = os.path.join(folder, base, os.path.relpath(file, path))
            name = os.path.basename(file)
            if name not in DATASET_FILES:
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(file, encoding="utf-8") as f:
                content = json.load(f)
            print_.update(json.dumps(content, sort_keys=True).encode())
            if name == "state.json":
                content["_fingerprint"] = print_.hexdigest()[:16]
            elif name == "dataset_info.json":
                for key in ("splits", "dataset_size", "size_in_bytes", "download_size", "download_checksums"):
                    content.pop(key, None)
            with open(target, "w", encoding="utf-8") as f:
                json.dump(content, f, indent=2)


def shown(parts: dict[str, Any], similarity: float) -> str:
    """Returns a similarity as lists write it."""
    return f"{similarity:.0f}" if parts["counts"] else f"{similarity:.6f}"


def _write_lists(folder: str, parts: dict[str, Any], ids: _Ids) -> None:
    names = ids.names
    with open(os.path.join(folder, "pairs.tsv"), "w", encoding="utf-8", newline="\n") as f:
        f.writelines(f"{names[a]}\t{names[b]}\t{shown(parts, s)}\n" for a, b, s in parts["pairs"])
    centres = {c for i, c in enumerate(parts["cluster"]) if i != c}
    with open(os.path.join(folder, "clusters.tsv"), "w", encoding="utf-8", newline="\n") as f:
        for i, (c, s) in enumerate(zip(parts["cluster"], parts["similarity"])):
            if c in centres:
                f.write(f"{names[i]}\t{names[c]}\t{'kept' if i == c else 'dropped'}\t{shown(parts, s)}\n")
    with open(os.path.join(folder, "rejected.tsv"), "w", encoding="utf-8", newline="\n") as f:
        f.writelines(f"{names[place]}\t{_escape(reason)}\n" for place, reason in parts["rejected"])


# Options that cannot change the result.
NEUTRAL = ("threads", "memory", "tmp", "progress", "resume", "force", "sync", "max_stdin")


def _run_of(sources: list[Source], files: list[str], given: dict[str, str]) -> dict[str, Any]:
    """Returns the identity of a run: options, and the names, sizes and times of the inputs."""
    prints = hashlib.sha256()
    for path in [s.path for s in sources] + files:
        now = os.stat(path)
        prints.update(f"{path!r} {now.st_size} {now.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    options = {name: value for name, value in given.items() if name not in NEUTRAL}
    sample = given.get("sample", "")
    for part in sample.split(","):
        if part.startswith("adaptive:") and os.path.isfile(part[9:]):
            with open(part[9:], "rb") as f:
                prints.update(f.read())
    return {"neardup": _core.version(), "options": options, "inputs": prints.hexdigest()[:32]}


def _fingerprint(run: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()[:16]


def _finished(output: str, run: dict[str, Any]) -> dict[str, Any]:
    """Returns the summary of the complete result of this run; raises StateError for another run."""
    with open(os.path.join(output, "summary.json"), encoding="utf-8") as f:
        told: dict[str, Any] = json.load(f)
    if told.get("run") != _fingerprint(run):
        was = told.get("options") or {}
        differ = [
            f"there {name} {was.get(name)}, now {value}"
            for name, value in run["options"].items()
            if was.get(name) != value
        ]
        if not differ:
            differ = ["other input files, sizes, times or version"]
        raise StateError(
            f"{output} holds the result of another run ({'; '.join(differ)}); choose another directory, or "
            "use resume='never' (--resume never) to replace it"
        )
    _core.verify_output(output)
    told["files"] = told.pop("input_files")
    return told


def _inputs(paths: list[str], options: dict[str, Any]) -> list[tuple[str, str]]:
    found = [("the input", p) for p in paths]
    for part in str(options.get("sample") or "").split(","):
        if part.startswith("adaptive:") and os.path.isfile(part[9:]):
            found.append(("the plan", part[9:]))
    return found


def dedup(paths: list[str], output: str, options: dict[str, Any], progress: Any) -> dict[str, Any]:
    """Writes Parquet files or datasets to a directory, as ``neardup dedup -o`` does for other files.

    The summary has "complete" if the result of an earlier run is already complete.
    """
    if options.get("against"):
        raise UsageError("against= does not support Parquet; read the reference collection into memory")
    checked = _core.Options(**options)
    checked.check()
    given = checked.as_dict()
    _check_rest(paths)
    _core.check_outputs([("the output", output, True)], _inputs(paths, options))
    sources = find(paths)
    others = [f for p in paths if os.path.isdir(p) for f in _walk(p) if os.path.basename(f) in DATASET_FILES]
    run = _run_of(sources, others, given)
    place = _core.Output(output, checked)
    try:
        if place.complete and given["resume"] != "never":
            return {**_finished(output, run), "complete": True}
        folder = place.begin()
        parts = _core.MemoryJob(checked, progress, flow(paths, options)).result()
        ids = _Ids(parts, str(options.get("id_field") or "id"))
        kept = os.path.join(folder, "kept")
        _write_kept(kept, sources, parts, ids)
        _copy_dataset_files(kept, paths, sources, parts)
        _write_lists(folder, parts, ids)
        summary = {**parts["summary"], "options": given}
        summary.pop("files", None)
        text = {"neardup": _core.version(), "run": _fingerprint(run), **summary, "input_files": len(sources)}
        if _run_of(sources, others, given) != run:
            raise StateError("an input has changed while it was being read; run again")
        place.commit(json.dumps(text, indent=2))
    finally:
        place.close()
    if parts["rejected"]:
        warnings.warn(
            f"{len(parts['rejected'])} documents were rejected, see {output}/rejected.tsv",
            RejectedWarning,
            stacklevel=3,
        )
    return {**summary, "files": len(sources)}
