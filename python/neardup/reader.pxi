# Reading files block by block, and finding records that kill the process that parses them.
import mmap

from libc.stdlib cimport abort

cdef extern from "<string.h>" nogil:
    void *memmem(const void *hay, size_t hay_n, const void *needle, size_t needle_n)


ctypedef struct watching:
    uint64_t *now  # 1, file, offset of the record being parsed; or NULL
    const char *crash
    size_t crash_n


cdef void watch_record(void *context, uint32_t file, uint64_t offset, nd_str raw) noexcept nogil:
    cdef watching *w = <watching *>context
    if w.now != NULL:
        w.now[0] = 1
        w.now[1] = file
        w.now[2] = offset
    if w.crash_n and memmem(raw.p, raw.n, w.crash, w.crash_n) != NULL:
        abort()


cdef class Reader:
    """Reads the blocks of the tasks `begin` to `end` - 1 of a plan."""
    cdef nd_reader *c
    cdef readonly Stage stage
    cdef Plan plan
    cdef watching watch
    cdef bytes crash
    cdef object shared

    def __cinit__(self, Stage stage, Plan plan, uint32_t begin, uint32_t end, bint keep_texts):
        cdef nd_error err
        self.stage = stage
        self.plan = plan
        cdef nd_reader_request request
        memset(&request, 0, sizeof(request))
        request.plan = plan.c
        request.begin = begin
        request.end = end
        request.keep_texts = keep_texts
        err.message[0] = 0
        check(nd_reader_open(&self.c, stage.c, &request, &err), &err)
        # Tests: a record with this in it kills its worker.
        self.crash = os.environb.get(b"NEARDUP_TEST_CRASH", b"")
        if self.crash:
            self.watch.crash = self.crash
            self.watch.crash_n = len(self.crash)
            nd_reader_watched(self.c, watch_record, &self.watch)

    def __dealloc__(self):
        if self.c != NULL:
            nd_reader_close(self.c)

    def read(self):
        """Splits off the records of the next block; returns False at the end."""
        cdef nd_error err
        cdef nd_status status
        cdef int more = 0
        err.message[0] = 0
        with nogil:
            status = nd_reader_read(&more, self.c, &err)
        check(status, &err)
        return bool(more)

    def sign(self):
        """Returns the block of the records read last."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_stage_block b
        err.message[0] = 0
        with nogil:
            status = nd_reader_sign(&b, self.c, &err)
        check(status, &err)
        return block_of(&b)

    def skip(self, uint32_t file, uint64_t offset):
        """Skips the record at this position.  Returns whether it is one of those read last."""
        cdef nd_error err
        cdef int found = 0
        err.message[0] = 0
        check(nd_reader_skip(&found, self.c, file, offset, &err), &err)
        return bool(found)

    def deadly(self):
        """Returns (file, offset) of the record that kills the process that sketches the records read last,
        or None.  Tries them in a child process."""
        cdef uint64_t[::1] now
        if self.shared is None:
            self.shared = mmap.mmap(-1, 4096)
        view = memoryview(self.shared)[:24].cast("Q")
        now = view
        now[0] = 0
        self.watch.now = &now[0]
        nd_reader_watched(self.c, watch_record, &self.watch)
        child = os.fork()
        if child == 0:
            try:
                self.sign()
            except BaseException:
                pass  # the caller reports errors; only death matters here
            os._exit(0)
        _, status = os.waitpid(child, 0)
        self.watch.now = NULL
        if status == 0:
            return None
        if not now[0]:
            raise Error("the worker dies before it parses a document")
        return now[1], now[2]
