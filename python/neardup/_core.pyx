# The extension module: options, jobs and errors over the library's public
# headers.  What users see is documented in the .py files beside it.
import datetime
import math
import os
import re
import struct
import sys
import threading
from decimal import Decimal
from fractions import Fraction

from cpython.buffer cimport PyBUF_WRITABLE
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport (int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                          uint64_t, uintptr_t)
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from neardup.arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema
from neardup.libneardup cimport *

from neardup.errors import BY_STATUS, DataError, Error, OutOfMemory, UsageError

_EPOCH = datetime.datetime(1970, 1, 1)


def version():
    return nd_version().decode()


def cpu_level():
    return nd_cpu_level_name().decode()


# --- fields of tables ---------------------------------------------------------

def escape(text):
    """An id or a reason (str, or the bytes of a name) as tables hold it: UTF-8, one line, no tabs."""
    if isinstance(text, str):
        try:
            text = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            text = text.encode("utf-8", "surrogatepass")
    cdef bytes data = bytes(text)
    cdef nd_str view
    view.p = data
    view.n = len(data)
    cdef size_t n = nd_field_escape(NULL, view)
    out = bytearray(n)
    cdef char[::1] room = out
    if n:
        nd_field_escape(&room[0], view)
    return out.decode()


def unescape(str field):
    """The bytes of what `escape` wrote."""
    cdef bytes data = field.encode("utf-8", "surrogateescape")
    cdef nd_str view
    view.p = data
    view.n = len(data)
    out = bytearray(view.n)
    cdef char[::1] room = out
    cdef size_t n = nd_field_unescape(&room[0], view) if view.n else 0
    return bytes(out[:n])


# --- errors -------------------------------------------------------------------

def _python_words(message):
    """Options are --like-this on the command line, like_this here; -o is output."""
    message = re.sub(r"(?<!\S)-o(?= )", "output", message)
    return re.sub(r"--([a-z][a-z-]*)", lambda m: m[1].replace("-", "_"), message)


cdef int check(nd_status status, const nd_error *err) except -1:
    if status == ND_OK:
        return 0
    name = nd_status_name(status).decode()
    message = err.message.decode("utf-8", "replace") if err.message[0] else name
    raise BY_STATUS.get(name, Error)(_python_words(message))


# --- options ------------------------------------------------------------------

cdef dict _TYPES = {
    ND_OPTION_FLAG: "flag", ND_OPTION_WORD: "word", ND_OPTION_TEXT: "text",
    ND_OPTION_LIST: "list", ND_OPTION_COUNT: "count", ND_OPTION_SIZE: "size", ND_OPTION_DECIMAL: "decimal",
    ND_OPTION_SEED: "seed"}


def option_table():
    """The library's table of options, a dict per row."""
    cdef const nd_option_info *info = nd_option_at(0)
    cdef const char *meaning
    cdef dict commands = {"dedup": ND_FOR_DEDUP, "pairs": ND_FOR_PAIRS,
                          "cluster": ND_FOR_CLUSTER, "inspect": ND_FOR_INSPECT,
                          "study": ND_FOR_STUDY, "plan": ND_FOR_PLAN, "eval": ND_FOR_EVAL}
    rows = []
    while info != NULL:
        meanings = {}
        for value in info.values.decode().split() if info.values != NULL else ():
            meaning = nd_option_value_help(info, value.encode())
            meanings[value] = meaning.decode() if meaning != NULL else ""
        rows.append({
            "name": info.name.decode().replace("-", "_"),
            "type": _TYPES.get(info.type, "text"),
            "default": info.standard.decode() if info.standard != NULL else "",
            "metavar": info.metavar.decode() if info.metavar != NULL else "",
            "values": list(meanings),
            "meanings": meanings,
            "min": info.min,
            "max": info.max,
            "commands": [c for c, bit in commands.items() if info.commands & bit],
            "help": info.help.decode(),
        })
        info = nd_option_at(len(rows))
    return rows


def _as_text(name, value):
    """A Python value as the user would type it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (list, tuple)):
        return ",".join(_as_text(name, v) for v in value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if hasattr(value, "__float__"):
        # More digits than a decimal option takes come from arithmetic, not from people.
        text = repr(float(value))
        if "e" in text or len(text) > 10:
            text = format(float(value), ".9f")
            if "." in text:
                text = text.rstrip("0").rstrip(".")
        return text
    raise UsageError(f"{name} takes a text or a number, not {type(value).__name__}")


cdef bytes _bytes_of(name, text):
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise UsageError(f"{name}: {text!r} cannot be written as UTF-8") from None
    if b"\0" in data:
        raise UsageError(f"{name}: {text!r} has a NUL character in it")
    return data


cdef class Options:
    """Options of the library by name; None leaves the default."""

    def __cinit__(self, **options):
        cdef nd_error err
        err.message[0] = 0
        check(nd_options_new(&self.c, &err), &err)

    def __dealloc__(self):
        nd_options_free(self.c)

    def __init__(self, **options):
        for name, value in options.items():
            self.set(name, value)

    def set(self, name, value):
        cdef nd_error err
        err.message[0] = 0
        if value is None:
            # Is there such an option at all?
            known = {row["name"]: row["default"] for row in option_table()}
            if name in known:
                return
            value = ""
        dashed = _bytes_of("an option's name", name.replace("_", "-"))
        text = _bytes_of(name, _as_text(name, value))
        check(nd_options_set(self.c, dashed, text, &err), &err)

    def check(self):
        """Do the options fit together?"""
        cdef nd_error err
        err.message[0] = 0
        check(nd_options_check(self.c, &err), &err)

    def as_dict(self):
        """Every option with its value as text."""
        cdef const nd_option_info *info = nd_option_at(0)
        out = {}
        while info != NULL:
            value = (<bytes>nd_options_get(self.c, info.name)).decode("utf-8", "surrogateescape")
            out[info.name.decode().replace("-", "_")] = value
            info = nd_option_at(len(out))
        return out


# --- jobs ---------------------------------------------------------------------

cdef void _on_progress(void *context, const nd_progress *p) noexcept with gil:
    cdef Job job = <Job>context
    if job.stop:
        return
    try:
        job.progress(p.stage.decode(), p.done, p.total, p.documents, p.seconds)
    except BaseException as e:
        job.failure = e
        job.stop = 1


cdef int _is_cancelled(void *context) noexcept nogil:
    return (<Job>context).stop


cdef class Job:
    def __cinit__(self, Options options, progress=None, *args, **words):
        if progress is not None and not callable(progress):
            raise UsageError("progress takes a callable, not " + type(progress).__name__)
        self.options = options
        self.progress = progress
        self.err.message[0] = 0
        self.hooks.context = <void *>self
        self.hooks.cancelled = _is_cancelled
        if progress is not None:
            self.hooks.progress = _on_progress

    cdef nd_status work(self) noexcept nogil:
        return ND_ERR_USAGE

    def _thread(self, done, answer):
        cdef nd_status status
        try:
            with nogil:
                status = self.work()
            answer.append(status)
        finally:
            done.set()

    def run(self):
        """Runs to the end and returns the summary; Ctrl-C stops it."""
        cdef nd_status status
        done = threading.Event()
        answer = []
        thread = threading.Thread(target=self._thread, args=(done, answer), daemon=True)
        thread.start()
        try:
            while not done.wait(60):
                pass
        except BaseException:
            self.stop = 1
            while not done.is_set():  # buffers are in use until it has stopped
                try:
                    done.wait(60)
                except BaseException:
                    pass
            raise
        finally:
            thread.join()
        if self.failure is not None:
            raise self.failure
        status = answer[0]
        check(status, &self.err)
        return summary_dict(&self.summary)


cdef dict summary_dict(const nd_summary *s):
    return {
        "files": s.files, "bytes": s.bytes, "raw_bytes": s.raw_bytes, "documents": s.documents,
        "kept": s.kept, "dropped": s.dropped, "rejected": s.rejected,
        "against_documents": s.against_documents, "others": s.others, "empty": s.empty,
        "tokens": s.tokens, "copies": s.copies, "repeated_ids": s.repeated_ids,
        "buckets": s.buckets, "hot_buckets": s.hot_buckets, "hot_documents": s.hot_documents,
        "largest_bucket": s.largest_bucket, "candidates": s.candidates, "pairs": s.pairs,
        "spared": s.skipped, "clusters": s.clusters, "largest_cluster": s.largest_cluster,
        "resumed_documents": s.resumed_documents, "permutations": s.permutations,
        "bands": s.bands, "rows": s.rows, "predicted_recall": s.predicted_recall,
        "max_document": s.max_document, "threads": s.threads, "memory": s.memory,
        "seconds": s.seconds, "cpu_seconds": s.cpu_seconds, "read_seconds": s.read_seconds,
        "find_seconds": s.find_seconds, "verify_seconds": s.verify_seconds,
        "write_seconds": s.write_seconds, "peak_memory": s.peak_memory,
        "temporary_bytes": s.temporary_bytes, "already_complete": bool(s.already_complete),
    }


cdef class FilePaths:
    """Paths as the library takes them."""
    cdef list kept
    cdef const char **paths
    cdef size_t n

    def __cinit__(self, paths):
        self.kept = [_bytes_of("an input", os.fsdecode(p)) for p in paths]
        self.n = len(self.kept)
        self.paths = <const char **>calloc(self.n + 1, sizeof(char *))
        if self.paths == NULL:
            raise OutOfMemory("a list of paths was refused")
        for i, p in enumerate(self.kept):
            self.paths[i] = p

    def __dealloc__(self):
        free(self.paths)


cdef class _OutputPaths:
    """(role, path) or (role, path, is a directory), as the library takes them."""
    cdef list kept
    cdef nd_output_path *c
    cdef size_t n

    def __cinit__(self, paths):
        self.kept = [(str(role).encode(), _bytes_of(role, os.fsdecode(path)), bool(more and more[0]))
                     for role, path, *more in paths]
        self.n = len(self.kept)
        self.c = <nd_output_path *>calloc(self.n + 1, sizeof(nd_output_path))
        if self.c == NULL:
            raise OutOfMemory("a list of paths was refused")
        for i, (role, path, directory) in enumerate(self.kept):
            self.c[i].role = <const char *>role
            self.c[i].path = <const char *>path
            self.c[i].directory = directory

    def __dealloc__(self):
        free(self.c)


def check_outputs(outputs, inputs):
    """Raises UsageError when an input is, holds or lies inside an output, or outputs overlap.

    Outputs are (role, path, is a directory), inputs (role, path); the roles are for messages. Call
    it before anything is written: links, folders and mounts are followed.
    """
    cdef nd_error err
    cdef nd_status status
    cdef _OutputPaths out = _OutputPaths(outputs)
    cdef _OutputPaths into = _OutputPaths(inputs)
    err.message[0] = 0
    with nogil:
        status = nd_output_check(out.c, out.n, into.c, into.n, &err)
    check(status, &err)


cdef class FileJob(Job):
    """nd_dedup: files into a directory."""
    cdef FilePaths files
    cdef bytes directory
    cdef nd_dedup_request request

    def __cinit__(self, Options options, progress, inputs, directory):
        self.files = FilePaths(inputs)
        self.directory = _bytes_of("output", os.fsdecode(directory))
        self.request.inputs = self.files.paths
        self.request.input_n = self.files.n
        self.request.directory = self.directory

    cdef nd_status work(self) noexcept nogil:
        return nd_dedup(&self.summary, &self.request, self.options.c, &self.hooks, &self.err)


include "outputs.pxi"
include "columns.pxi"
include "results.pxi"
include "sketches.pxi"
