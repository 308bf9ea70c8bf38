# The stages of a job (neardup/stage.h) over buffers and NumPy arrays: what the
# Spark job runs on its executors and its driver.  Not a public interface.
import os

import numpy

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from neardup.libneardup cimport *
from neardup.libstage cimport *
from neardup._core cimport Options, check

from neardup.errors import Error

SECRET_BYTES = ND_STAGE_SECRET
NOT_SIMILAR = 0xffffffffffffffff
MERGE_LEAST = ND_MERGE_LEAST
MERGE_SUM = ND_MERGE_SUM
SKIPPED = (<bytes>ND_STAGE_SKIPPED).decode()


cdef nd_str view_of(const uint8_t[::1] data) noexcept:
    cdef nd_str out
    out.p = b""
    out.n = data.shape[0]
    if out.n:
        out.p = <const char *>&data[0]
    return out


cdef class Views:
    """Several buffers as an array of nd_str; keeps them alive."""
    cdef nd_str *strings
    cdef size_t n
    cdef list keep

    def __cinit__(self, buffers):
        cdef const uint8_t[::1] data
        self.keep = []
        self.n = len(buffers)
        self.strings = <nd_str *>malloc((self.n + 1) * sizeof(nd_str))
        if self.strings == NULL:
            raise MemoryError
        for i, buffer in enumerate(buffers):
            data = buffer
            self.keep.append(data)
            self.strings[i] = view_of(data)

    def __dealloc__(self):
        free(self.strings)


cdef class Column:
    """An Arrow string or binary column (pyarrow) as an array of nd_str."""
    cdef nd_str *strings
    cdef size_t n
    cdef object keep

    def __cinit__(self, array):
        cdef uintptr_t offsets = 0, data = 0, valid = 0
        cdef size_t i, at, begin, end
        cdef bint wide
        kind = str(array.type)
        if kind not in ("string", "large_string", "binary", "large_binary"):
            raise TypeError(f"a column of strings is needed, not {kind}")
        wide = kind.startswith("large")
        self.n = len(array)
        self.strings = <nd_str *>malloc((self.n + 1) * sizeof(nd_str))
        if self.strings == NULL:
            raise MemoryError
        self.keep = array
        buffers = array.buffers()
        if self.n == 0:
            return
        if buffers[0] is not None and array.null_count:
            valid = buffers[0].address
        offsets = buffers[1].address
        data = buffers[2].address if buffers[2] is not None else offsets
        at = array.offset
        for i in range(self.n):
            if wide:
                begin = (<int64_t *>offsets)[at + i]
                end = (<int64_t *>offsets)[at + i + 1]
            else:
                begin = (<int32_t *>offsets)[at + i]
                end = (<int32_t *>offsets)[at + i + 1]
            self.strings[i].p = <const char *>(data + begin)
            self.strings[i].n = end - begin
            if valid and not (<uint8_t *>valid)[(at + i) >> 3] >> ((at + i) & 7) & 1:
                self.strings[i].p = NULL
                self.strings[i].n = 0

    def __dealloc__(self):
        free(self.strings)


cdef class Paths:
    """Paths as C strings."""
    cdef const char **strings
    cdef size_t n
    cdef list keep

    def __cinit__(self, paths):
        self.keep = [os.fsencode(p) for p in paths]
        self.n = len(self.keep)
        self.strings = <const char **>malloc((self.n + 1) * sizeof(char *))
        if self.strings == NULL:
            raise MemoryError
        for i, p in enumerate(self.keep):
            self.strings[i] = p

    def __dealloc__(self):
        free(self.strings)


cdef class Plan:
    cdef nd_intake *c
    cdef nd_stage_file *given
    cdef list keep

    def __dealloc__(self):
        nd_intake_free(self.c)
        free(self.given)

    def files(self):
        """(path, real, name, size, mtime) of every file."""
        cdef nd_stage_file f
        out = []
        for i in range(nd_intake_file_count(self.c)):
            f = nd_intake_file(self.c, i)
            out.append((os.fsdecode(f.path), os.fsdecode(f.real), os.fsdecode(f.name), f.size,
                        f.mtime_ns))
        return out

    def tasks(self):
        """(is a range, first file, files, begin, end) of every task."""
        cdef nd_stage_task t
        out = []
        for i in range(nd_intake_task_count(self.c)):
            t = nd_intake_task(self.c, i)
            out.append((bool(t.range), t.file, t.files, t.begin, t.end))
        return out

    def problems(self):
        cdef const char *reason
        out = []
        for i in range(nd_intake_problem_count(self.c)):
            path = nd_intake_problem(&reason, self.c, i)
            out.append((os.fsdecode(path), reason.decode("utf-8", "replace")))
        return out


cdef class Spread:
    """Buffers items per partition; gives sorted, packed runs."""
    cdef nd_spread *c
    cdef readonly uint32_t partitions

    def __cinit__(self, partitions, value_bytes):
        cdef nd_error err
        self.partitions = partitions
        check(nd_spread_new(&self.c, partitions, value_bytes, &err), &err)

    def __dealloc__(self):
        nd_spread_free(self.c)

    @property
    def waiting(self):
        return nd_spread_waiting(self.c)

    def take(self, uint32_t partition):
        """The run of a partition, which is then empty; None without items."""
        cdef nd_str run
        cdef nd_error err
        cdef nd_status status
        with nogil:
            status = nd_spread_take(&run, self.c, partition, &err)
        check(status, &err)
        return run.p[:run.n] if run.n else None

    def runs(self):
        """(partition, run) of every partition that has items."""
        for partition in range(self.partitions):
            run = self.take(partition)
            if run is not None:
                yield partition, run


def run_items(const uint8_t[::1] run):
    """The keys and values of a run."""
    cdef uint64_t n
    cdef nd_error err
    cdef nd_str data = view_of(run)
    check(nd_run_count(&n, data, &err), &err)
    keys = numpy.empty(n, numpy.uint64)
    values = numpy.empty(n, numpy.uint64)
    cdef uint64_t[::1] k = keys, v = values
    if n:
        check(nd_run_items(&k[0], &v[0], data, &err), &err)
    return keys, values


def components(documents, const uint64_t[::1] pairs):
    """The smallest document that each one hangs together with."""
    cdef nd_error err
    cdef nd_status status
    cdef uint64_t none = 0, count = documents
    cdef size_t n = pairs.shape[0]
    cdef const uint64_t *p = &pairs[0] if n else &none
    root = numpy.empty(documents + 1, numpy.uint32)
    cdef uint32_t[::1] r = root
    with nogil:
        status = nd_stage_components(&r[0], count, p, n, &err)
    check(status, &err)
    return root[:-1]


cdef dict block_of(const nd_stage_block *b):
    return {"task": b.task, "part": b.part, "docs": b.docs, "rejects": b.rejects,
            "last": bool(b.last), "range": bool(b.range), "raw": bool(b.raw), "lines": b.lines,
            "begin": b.begin if b.begin < b.end else 0, "end": b.end, "raw_bytes": b.raw_bytes,
            "others": b.others, "empties": b.empties, "tokens": b.tokens,
            "image": b.image.p[:b.image.n], "texts": b.texts.p[:b.texts.n],
            "texts_sum": <int64_t>b.texts_sum}


cdef class Stage:
    cdef nd_stage *c
    cdef readonly dict facts
    cdef readonly Options options

    def __cinit__(self, options, bint dedup, bytes secret):
        cdef nd_error err
        cdef nd_stage_facts f
        err.message[0] = 0
        if len(secret) != ND_STAGE_SECRET:
            raise ValueError("the secret has the wrong length")
        self.options = options if isinstance(options, Options) else Options(**options)
        check(nd_stage_new(&self.c, self.options.c, dedup, secret, &err), &err)
        nd_stage_about(&f, self.c)
        self.facts = {"permutations": f.permutations, "bands": f.bands, "rows": f.rows,
                      "exact": bool(f.exact), "keys": f.keys, "key_items": f.key_items,
                      "key_bytes": f.key_bytes,
                      "predicted_recall": f.predicted_recall, "ranked": bool(f.ranked),
                      "components": bool(f.components), "direct": bool(f.direct), "open": bool(f.open),
                      "sct": f.sct, "max_document": f.max_document}

    def __dealloc__(self):
        nd_stage_free(self.c)

    # --- the input ---

    def plan(self, inputs, avoid=None):
        cdef Plan p = Plan()
        cdef nd_error err
        cdef nd_status status
        cdef Paths paths = Paths(inputs)
        cdef bytes skip = os.fsencode(avoid) if avoid is not None else b""
        cdef nd_intake_request request
        memset(&request, 0, sizeof(request))
        request.inputs = paths.strings
        request.input_n = paths.n
        if skip:
            request.avoid = skip
        err.message[0] = 0
        with nogil:
            status = nd_intake_new(&p.c, self.c, &request, &err)
        check(status, &err)
        return p

    def plan_files(self, files):
        """A plan of files (path, real, name, size, mtime)."""
        cdef Plan p = Plan()
        cdef nd_error err
        cdef nd_status status
        cdef size_t n = len(files)
        err.message[0] = 0
        p.keep = []
        p.given = <nd_stage_file *>malloc((n + 1) * sizeof(nd_stage_file))
        if p.given == NULL:
            raise MemoryError
        for i, (path, real, name, size, mtime) in enumerate(files):
            texts = [os.fsencode(x) for x in (path, real, name)]
            p.keep.append(texts)
            p.given[i].path = texts[0]
            p.given[i].real = texts[1]
            p.given[i].name = texts[2]
            p.given[i].size = size
            p.given[i].mtime_ns = mtime
        with nogil:
            status = nd_intake_files(&p.c, self.c, p.given, n, &err)
        check(status, &err)
        return p

    def read(self, Plan plan, uint32_t begin, uint32_t end, bint keep_texts=True):
        """Blocks of the plan's tasks from `begin` up to `end`."""
        reader = Reader(self, plan, begin, end, keep_texts)
        while reader.read():
            yield reader.sign()

    def sign(self, uint32_t task, uint32_t part, text, id=None, url=None, time=None, field=None):
        """The block of documents in Arrow columns."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_stage_block b
        cdef nd_stage_rows rows
        cdef nd_block_name block = nd_block_name(task, part)
        cdef Column column
        memset(&rows, 0, sizeof(rows))
        err.message[0] = 0
        keep = []
        for name, array in (("text", text), ("id", id), ("url", url), ("time", time),
                            ("field", field)):
            if array is None:
                continue
            column = Column(array)
            keep.append(column)
            rows.n = column.n
            if name == "text":
                rows.text = column.strings
            elif name == "id":
                rows.id = column.strings
            elif name == "url":
                rows.url = column.strings
            elif name == "time":
                rows.time = column.strings
            else:
                rows.field = column.strings
        with nogil:
            status = nd_stage_sign(&b, self.c, &block, &rows, &err)
        check(status, &err)
        return block_of(&b)

    # --- copies and candidates ---

    def digests(self, Spread digests, Spread ids, const uint8_t[::1] image, uint32_t first):
        cdef nd_error err
        cdef nd_status status
        cdef nd_stored_block block
        memset(&block, 0, sizeof(block))
        block.image = view_of(image)
        block.first = first
        with nogil:
            status = nd_stage_digests(digests.c, ids.c, self.c, &block, &err)
        check(status, &err)

    def copies(self, runs):
        """(copy, first) rows."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_str out
        cdef Views v = Views(runs)
        with nogil:
            status = nd_stage_copies(&out, self.c, v.strings, v.n, &err)
        check(status, &err)
        return out.p[:out.n] if out.n else b""

    def repeated(self, runs):
        cdef nd_error err
        cdef nd_status status
        cdef nd_str out
        cdef Views v = Views(runs)
        with nogil:
            status = nd_stage_repeated(&out, self.c, v.strings, v.n, &err)
        check(status, &err)
        return out.p[:out.n] if out.n else b""

    def keys(self, Spread out, const uint8_t[::1] image, const uint32_t[::1] position,
             uint32_t ranges):
        cdef nd_error err
        cdef nd_status status
        cdef uint32_t none = 0
        cdef nd_keys_request request
        memset(&request, 0, sizeof(request))
        request.image = view_of(image)
        request.position = &position[0] if position.shape[0] else &none
        request.ranges = ranges
        err.message[0] = 0
        with nogil:
            status = nd_stage_keys(out.c, self.c, &request, &err)
        check(status, &err)

    def group(self, Spread edges, uint32_t kind, runs, uint64_t positions):
        """Counts of the buckets; the edges go to `edges`."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_stage_buckets stats
        cdef Views v = Views(runs)
        cdef nd_group_request request
        memset(&stats, 0, sizeof(stats))
        memset(&request, 0, sizeof(request))
        request.kind = kind
        request.runs = nd_runs(v.strings, v.n)
        request.positions = positions
        with nogil:
            status = nd_stage_group(edges.c, &stats, self.c, &request, &err)
        check(status, &err)
        return stats.buckets, stats.hot, stats.hot_documents, stats.largest

    def merge(self, runs, int how):
        cdef nd_error err
        cdef nd_status status
        cdef nd_str out
        cdef Views v = Views(runs)
        cdef nd_runs given = nd_runs(v.strings, v.n)
        with nogil:
            status = nd_stage_merge(&out, self.c, &given, <nd_merge>how, &err)
        check(status, &err)
        return out.p[:out.n]

    # --- method exact ---

    def prints(self, Spread out, const uint32_t[::1] documents, texts):
        """How many distinct shingles each has; the shingles go to `out`."""
        cdef nd_error err
        cdef nd_status status
        cdef Views v = Views(texts)
        err.message[0] = 0
        sizes = numpy.empty(v.n, numpy.uint32)
        cdef uint32_t[::1] o = sizes
        cdef nd_document_texts given
        if v.n:
            given = nd_document_texts(&documents[0], v.strings, v.n)
            with nogil:
                status = nd_stage_prints(out.c, &o[0], self.c, &given, &err)
            check(status, &err)
        return sizes

    def census(self, Spread out, texts):
        cdef nd_error err
        cdef nd_status status
        cdef Views v = Views(texts)
        err.message[0] = 0
        with nogil:
            status = nd_stage_census(out.c, self.c, v.strings, v.n, &err)
        check(status, &err)

    def common(self, const uint8_t[::1] counts):
        """Shingles that too many documents have, 8 bytes each."""
        cdef nd_error err
        cdef nd_str out
        check(nd_stage_common(&out, self.c, view_of(counts), &err), &err)
        return out.p[:out.n] if out.n else b""

    def leave_out(self, const uint64_t[::1] keys):
        cdef nd_error err
        cdef uint64_t none = 0
        cdef size_t n = keys.shape[0]
        err.message[0] = 0
        check(nd_stage_leave_out(self.c, &keys[0] if n else &none, n, &err), &err)

    def expand(self, Spread counts, runs, uint64_t documents):
        cdef nd_error err
        cdef nd_status status
        cdef Views v = Views(runs)
        cdef nd_runs given = nd_runs(v.strings, v.n)
        err.message[0] = 0
        with nogil:
            status = nd_stage_expand(counts.c, self.c, &given, documents, &err)
        check(status, &err)

    def judge(self, const uint8_t[::1] counts, const uint32_t[::1] sizes):
        """The pairs that count, with their similarities: a run."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_str out, data = view_of(counts)
        cdef nd_document_sizes given = nd_document_sizes(&sizes[0], sizes.shape[0])
        err.message[0] = 0
        with nogil:
            status = nd_stage_judge(&out, self.c, data, &given, &err)
        check(status, &err)
        return out.p[:out.n]

    # --- texts, ids ---

    def texts(self, const uint8_t[::1] image, const uint8_t[::1] stored, int64_t texts_sum,
              Plan plan, const uint32_t[::1] rows, bint evidence=False):
        """(bytes, ends): the token texts of some rows; or what `verify` compares them by."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_str out
        cdef size_t n = rows.shape[0]
        cdef nd_stored_block block
        memset(&block, 0, sizeof(block))
        err.message[0] = 0
        ends = numpy.empty(n, numpy.uint64)
        cdef uint64_t[::1] e = ends
        if n == 0:
            return b"", ends
        block.image = view_of(image)
        block.texts = view_of(stored)
        block.texts_sum = <uint64_t>texts_sum
        block.plan = plan.c if plan is not None else NULL
        block.rows = &rows[0]
        block.row_n = n
        with nogil:
            if evidence:
                status = nd_stage_evidence(&out, &e[0], self.c, &block, &err)
            else:
                status = nd_stage_texts(&out, &e[0], self.c, &block, &err)
        check(status, &err)
        return out.p[:out.n] if out.n else b"", ends

    def ids(self, const uint8_t[::1] image, paths, uint64_t lines, const uint32_t[::1] rows):
        """(bytes, ends): the ids of some rows, escaped."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_str out
        cdef size_t n = rows.shape[0]
        cdef Paths p = Paths(paths or [])
        cdef nd_stored_block block
        memset(&block, 0, sizeof(block))
        ends = numpy.empty(n, numpy.uint64)
        cdef uint64_t[::1] e = ends
        if n == 0:
            return b"", ends
        block.image = view_of(image)
        if paths is not None:
            block.paths = p.strings
        block.lines = lines
        block.rows = &rows[0]
        block.row_n = n
        with nogil:
            status = nd_stage_ids(&out, &e[0], self.c, &block, &err)
        check(status, &err)
        return out.p[:out.n] if out.n else b"", ends

    def rejects(self, const uint8_t[::1] image, paths, uint64_t lines):
        cdef nd_error err
        cdef nd_str out
        cdef Paths p = Paths(paths)
        cdef nd_stored_block block
        memset(&block, 0, sizeof(block))
        block.image = view_of(image)
        block.paths = p.strings
        block.lines = lines
        check(nd_stage_rejects(&out, self.c, &block, &err), &err)
        return out.p[:out.n] if out.n else b""

    def ranks(self, const uint8_t[::1] image, size_t docs):
        """(ranks, has tokens) of a block's documents."""
        cdef nd_error err
        cdef nd_str data = view_of(image)
        ranks = numpy.empty(docs, numpy.uint64)
        tokens = numpy.empty(docs, numpy.uint8)
        cdef uint64_t[::1] r = ranks
        cdef uint8_t[::1] t = tokens
        if docs:
            check(nd_stage_ranks(&r[0], &t[0], self.c, data, &err), &err)
        return ranks, tokens

    # --- verify ---

    def verify(self, const uint64_t[::1] pairs, const uint32_t[::1] documents, texts,
               bint everything=False):
        """The values of pairs of documents; `documents` rise, `texts` is their evidence."""
        cdef nd_error err
        cdef nd_status status
        cdef size_t n = pairs.shape[0]
        cdef Views v = Views(texts)
        err.message[0] = 0
        values = numpy.empty(n, numpy.uint64)
        cdef uint64_t[::1] out = values
        if n == 0:
            return values
        cdef nd_comparison given
        memset(&given, 0, sizeof(given))
        given.pairs = &pairs[0]
        given.n = n
        given.evidence = nd_document_texts(&documents[0], v.strings, v.n)
        given.all = everything
        with nogil:
            status = nd_stage_verify(&out[0], self.c, &given, &err)
        check(status, &err)
        return values

    # --- keep ---

    def parts(self, const uint8_t[::1] image, const uint8_t[::1] dropped):
        """Lines of the parts of the corpus in a block."""
        cdef nd_error err
        cdef nd_str out
        cdef uint8_t nothing = 0
        cdef const uint8_t *d = &dropped[0] if dropped.shape[0] else &nothing
        check(nd_stage_parts(&out, self.c, view_of(image), d, &err), &err)
        return out.p[:out.n]

    def cut_bytes(self, const uint8_t[::1] image, const uint8_t[::1] dropped):
        cdef nd_error err
        cdef uint64_t out
        cdef uint8_t nothing = 0
        cdef const uint8_t *d = &dropped[0] if dropped.shape[0] else &nothing
        check(nd_stage_cut_bytes(&out, self.c, view_of(image), d, &err), &err)
        return out

    def cut(self, const uint8_t[::1] image, const uint8_t[::1] dropped, source, uint64_t begin,
            uint64_t end, target, uint64_t at):
        cdef nd_error err
        cdef nd_status status
        cdef uint8_t nothing = 0
        cdef bytes a = os.fsencode(source), b = os.fsencode(target)
        cdef nd_cut_request request
        memset(&request, 0, sizeof(request))
        request.image = view_of(image)
        request.dropped = &dropped[0] if dropped.shape[0] else &nothing
        request.from_ = a
        request.begin = begin
        request.end = end
        request.to = b
        request.at = at
        err.message[0] = 0
        with nogil:
            status = nd_stage_cut(self.c, &request, &err)
        check(status, &err)

    def keep(self, Plan plan, images, const uint8_t[::1] dropped, directory, work):
        cdef nd_error err
        cdef nd_status status
        cdef Views v = Views(images)
        cdef uint8_t nothing = 0
        cdef bytes a = os.fsencode(directory), b = os.fsencode(work)
        cdef nd_keep_request request
        memset(&request, 0, sizeof(request))
        request.plan = plan.c
        request.images = v.strings
        request.image_n = v.n
        request.dropped = &dropped[0] if dropped.shape[0] else &nothing
        request.directory = a
        request.work = b
        err.message[0] = 0
        with nogil:
            status = nd_stage_keep(self.c, &request, &err)
        check(status, &err)


include "reader.pxi"
include "settle.pxi"
