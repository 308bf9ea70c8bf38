# Reading files block by block, and finding records that kill whoever looks into them.
import mmap

from libc.stdlib cimport abort

cdef extern from "<string.h>" nogil:
    void *memmem(const void *hay, size_t hay_n, const void *needle, size_t needle_n)


ctypedef struct watching:
    uint64_t *now  # 1, file, offset of the record that is looked into; NULL: nobody asks
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
    """The blocks of a plan's tasks from `begin` up to `end`, one after another."""
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
        err.message[0] = 0
        check(nd_reader_open(&self.c, stage.c, plan.c, begin, end, keep_texts, &err), &err)
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
        """The records of the next block are cut; False: there is none."""
        cdef nd_error err
        cdef nd_status status
        cdef int more = 0
        err.message[0] = 0
        with nogil:
            status = nd_reader_read(&more, self.c, &err)
        check(status, &err)
        return bool(more)

    def sign(self):
        """The block of the records that were read."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_stage_block b
        err.message[0] = 0
        with nogil:
            status = nd_reader_sign(&b, self.c, &err)
        check(status, &err)
        return block_of(&b)

    def skip(self, uint32_t file, uint64_t offset):
        """The record that begins there is not looked into.  Is it one of those read last?"""
        cdef nd_error err
        cdef int found = 0
        err.message[0] = 0
        check(nd_reader_skip(&found, self.c, file, offset, &err), &err)
        return bool(found)

    def deadly(self):
        """(file, offset) of the record that kills the process which signs what was read last; None:
        it stays alive.  A child tries it."""
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
                pass  # an error is said by the caller; only death matters here
            os._exit(0)
        _, status = os.waitpid(child, 0)
        self.watch.now = NULL
        if status == 0:
            return None
        if not now[0]:
            raise Error("the worker dies before it looks into a document")
        return now[1], now[2]
