# Result directories, and file checksums as in summary.json; included by _core.pyx.
cdef extern from "xxhash.h" nogil:
    ctypedef struct XXH3_state_t:
        pass
    XXH3_state_t *XXH3_createState()
    int XXH3_freeState(XXH3_state_t *state)
    int XXH3_64bits_reset(XXH3_state_t *state)
    int XXH3_64bits_update(XXH3_state_t *state, const void *data, size_t n)
    uint64_t XXH3_64bits_digest(const XXH3_state_t *state)


def file_sum(path):
    """The XXH3 of a file: 16 hexadecimal digits."""
    cdef XXH3_state_t *state = XXH3_createState()
    cdef const unsigned char[::1] view
    cdef size_t n
    if state == NULL:
        raise OutOfMemory("cannot allocate an XXH3 state")
    try:
        XXH3_64bits_reset(state)
        room = bytearray(1 << 20)
        view = room
        with open(path, "rb", buffering=0) as f:
            while True:
                n = f.readinto(room)
                if n == 0:
                    break
                with nogil:
                    XXH3_64bits_update(state, &view[0], n)
        return f"{XXH3_64bits_digest(state):016x}"
    finally:
        XXH3_freeState(state)


cdef class Output:
    """A result directory: files are written to `begin()`, and `commit` makes them the result."""
    cdef nd_output_dir *c

    def __init__(self, path, Options options):
        cdef nd_error err
        cdef nd_status status
        cdef bytes name = _bytes_of("output", os.fsdecode(path))
        cdef const char *dir = name
        err.message[0] = 0
        with nogil:
            status = nd_output_dir_open(&self.c, dir, options.c, &err)
        check(status, &err)

    def __dealloc__(self):
        nd_output_dir_close(self.c)

    cdef nd_output_dir *open(self) except NULL:
        if self.c == NULL:
            raise UsageError("the output is closed")
        return self.c

    @property
    def complete(self):
        """Tests for a complete result."""
        return bool(nd_output_dir_is_complete(self.open()))

    def begin(self):
        """Returns the path of an empty directory."""
        cdef nd_error err
        cdef const char *folder = NULL
        err.message[0] = 0
        check(nd_output_dir_begin(&folder, self.open(), &err), &err)
        return os.fsdecode(<bytes>folder)

    def commit(self, str summary):
        """Commits the files; summary.json is `summary`, a JSON object whose first member is "neardup",
        with the list of files."""
        cdef nd_error err
        cdef nd_status status
        cdef bytes text = summary.encode()
        cdef nd_str view
        cdef nd_output_dir *o = self.open()
        view.p = text
        view.n = len(text)
        err.message[0] = 0
        with nogil:
            status = nd_output_dir_commit(o, view, &err)
        check(status, &err)

    def close(self):
        nd_output_dir_close(self.c)
        self.c = NULL


def verify_output(path):
    """Raises StateError unless the files of a result match its summary.json."""
    cdef nd_error err
    cdef nd_status status
    cdef bytes name = _bytes_of("output", os.fsdecode(path))
    cdef const char *dir = name
    err.message[0] = 0
    with nogil:
        status = nd_output_dir_verify(dir, &err)
    check(status, &err)
