# Results: the library's arrays as Python objects, without a copy.

cdef class Holder:
    """The owner of an nd_result."""
    cdef nd_result c
    def __dealloc__(self):
        nd_result_clear(&self.c)


cdef struct _Export:
    const void *buffers[3]
    ArrowArray children[3]
    ArrowArray *child[3]
    void *owner


cdef void _release_array(ArrowArray *a) noexcept with gil:
    cdef _Export *e = <_Export *>a.private_data
    for i in range(a.n_children):
        if a.children[i].release != NULL:
            a.children[i].release(a.children[i])
    Py_DECREF(<object>e.owner)
    free(e)
    a.release = NULL


cdef struct _Names:
    ArrowSchema children[3]
    ArrowSchema *child[3]


cdef void _release_schema(ArrowSchema *s) noexcept nogil:
    for i in range(s.n_children):
        if s.children[i].release != NULL:
            s.children[i].release(s.children[i])
    free(s.private_data)
    s.release = NULL


cdef void _free_schema_capsule(object capsule) noexcept:
    cdef ArrowSchema *s = <ArrowSchema *>PyCapsule_GetPointer(capsule, b"arrow_schema")
    if s.release != NULL:
        s.release(s)
    free(s)


cdef void _free_array_capsule(object capsule) noexcept:
    cdef ArrowArray *a = <ArrowArray *>PyCapsule_GetPointer(capsule, b"arrow_array")
    if a.release != NULL:
        a.release(a)
    free(a)


cdef int _export_schema(ArrowSchema *s, const char *form, const char *name) except -1:
    memset(s, 0, sizeof(ArrowSchema))
    s.private_data = calloc(1, sizeof(_Names))
    if s.private_data == NULL:
        raise OutOfMemory("cannot allocate an Arrow schema")
    s.format = form
    s.name = name
    s.release = _release_schema
    return 0


cdef int _export_array(ArrowArray *a, object owner, int64_t n, list buffers) except -1:
    cdef _Export *e = <_Export *>calloc(1, sizeof(_Export))
    if e == NULL:
        raise OutOfMemory("cannot allocate an Arrow array")
    memset(a, 0, sizeof(ArrowArray))
    for i, p in enumerate(buffers):
        e.buffers[i] = <const void *><uintptr_t>p
    Py_INCREF(owner)
    e.owner = <void *>owner
    a.length = n
    a.n_buffers = len(buffers)
    a.buffers = e.buffers
    a.private_data = e
    a.release = _release_array
    return 0


cdef class Array:
    """A column of a result, without a copy: an Arrow array, and a sequence.

    ``pyarrow.array(x)``, ``polars.Series(x)`` and ``numpy.asarray(x)`` take it.
    """
    cdef Holder holder
    cdef const void *data
    cdef const void *text
    cdef readonly Py_ssize_t length
    cdef bytes form
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t strides[1]

    def __init__(self):
        raise TypeError("created by results only")

    def __len__(self):
        return self.length

    cdef _at(self, Py_ssize_t i):
        cdef const uint64_t *end
        if self.form == b"b":
            return bool(_bit(self.data, i))
        if self.form == b"I":
            return (<const uint32_t *>self.data)[i]
        if self.form == b"g":
            return (<const double *>self.data)[i]
        end = <const uint64_t *>self.data
        return (<const char *>self.text)[end[i]:end[i + 1]].decode("utf-8", "surrogateescape")

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self._at(k) for k in range(*i.indices(self.length))]
        i = i.__index__()
        if i < 0:
            i += self.length
        if i < 0 or i >= self.length:
            raise IndexError("index out of range")
        return self._at(i)

    def __iter__(self):
        cdef Py_ssize_t i
        for i in range(self.length):
            yield self._at(i)

    def to_pylist(self):
        """All values in a list."""
        return [self._at(i) for i in range(self.length)]

    def __eq__(self, other):
        if isinstance(other, (Array, list, tuple)):
            return self.to_pylist() == list(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        shown = ", ".join(repr(x) for x in self[:8])
        return f"<neardup.Array of {self.length}: [{shown}{', …' if self.length > 8 else ''}]>"

    def __getbuffer__(self, Py_buffer *view, int flags):
        if self.form not in (b"I", b"g"):
            raise BufferError("this column has no plain buffer; use numpy.asarray or pyarrow.array")
        if flags & PyBUF_WRITABLE:
            raise BufferError("a result is read-only")
        size = 4 if self.form == b"I" else 8
        self.shape[0] = self.length
        self.strides[0] = size
        view.buf = <void *>self.data
        view.obj = self
        view.len = self.length * size
        view.readonly = 1
        view.itemsize = size
        view.format = b"I" if size == 4 else b"d"
        view.ndim = 1
        view.shape = self.shape
        view.strides = self.strides
        view.suboffsets = NULL
        view.internal = NULL

    def __releasebuffer__(self, Py_buffer *view):
        pass

    def __array__(self, dtype=None, copy=None):
        import numpy
        if self.form == b"b":
            n = (self.length + 7) // 8
            raw = numpy.frombuffer((<const char *>self.data)[:n], dtype=numpy.uint8)
            out = numpy.unpackbits(raw, count=self.length, bitorder="little").astype(bool)
        elif self.form == b"U":
            out = numpy.array(self.to_pylist(), dtype=object)
        else:
            out = numpy.frombuffer(self, dtype=numpy.uint32 if self.form == b"I" else numpy.float64)
            if copy:
                out = out.copy()
        return out if dtype is None else out.astype(dtype)

    cdef list _buffers(self):
        if self.form == b"U":
            return [0, <uintptr_t>self.data, <uintptr_t>self.text]
        return [0, <uintptr_t>self.data]

    def __arrow_c_schema__(self):
        cdef ArrowSchema *s = <ArrowSchema *>calloc(1, sizeof(ArrowSchema))
        if s == NULL:
            raise OutOfMemory("cannot allocate an Arrow schema")
        _export_schema(s, self.form, b"")
        return PyCapsule_New(s, b"arrow_schema", _free_schema_capsule)

    def __arrow_c_array__(self, requested_schema=None):
        cdef ArrowArray *a = <ArrowArray *>calloc(1, sizeof(ArrowArray))
        if a == NULL:
            raise OutOfMemory("cannot allocate an Arrow array")
        _export_array(a, self, self.length, self._buffers())
        return self.__arrow_c_schema__(), PyCapsule_New(a, b"arrow_array", _free_array_capsule)


cdef Array _array(Holder holder, bytes form, Py_ssize_t n, const void *data,
                  const void *text=NULL):
    cdef Array out = Array.__new__(Array)
    # Arrow needs a pointer even for an empty buffer.
    static = b""
    out.holder = holder
    out.form = form
    out.length = n
    out.data = data if data != NULL else <const void *><const char *>static
    out.text = text if text != NULL else <const void *><const char *>static
    return out


cdef class Pairs:
    """Pairs of documents: an Arrow table of a, b and similarity, and a sequence.

    ``pyarrow.table(x)`` and ``polars.DataFrame(x)`` take it.
    """
    cdef readonly Array a
    cdef readonly Array b
    cdef readonly Array similarity

    def __init__(self):
        raise TypeError("created by results only")

    def __len__(self):
        return self.a.length

    def __getitem__(self, i):
        if isinstance(i, slice):
            return list(zip(self.a[i], self.b[i], self.similarity[i]))
        return self.a[i], self.b[i], self.similarity[i]

    def __iter__(self):
        return iter(zip(self.a, self.b, self.similarity))

    def to_pylist(self):
        """All pairs in a list of (a, b, similarity)."""
        return list(self)

    def __eq__(self, other):
        if isinstance(other, (Pairs, list, tuple)):
            return self.to_pylist() == list(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        shown = ", ".join(f"({a}, {b}, {s:.6f})" for a, b, s in self[:4])
        more = ", …" if len(self) > 4 else ""
        return f"<neardup.Pairs of {len(self)}: [{shown}{more}]>"

    def __arrow_c_schema__(self):
        cdef ArrowSchema *s = <ArrowSchema *>calloc(1, sizeof(ArrowSchema))
        cdef _Names *names
        if s == NULL:
            raise OutOfMemory("cannot allocate an Arrow schema")
        _export_schema(s, b"+s", b"")
        names = <_Names *>s.private_data
        _export_schema(&names.children[0], b"I", b"a")
        _export_schema(&names.children[1], b"I", b"b")
        _export_schema(&names.children[2], b"g", b"similarity")
        for i in range(3):
            names.child[i] = &names.children[i]
        s.n_children = 3
        s.children = names.child
        return PyCapsule_New(s, b"arrow_schema", _free_schema_capsule)

    def __arrow_c_array__(self, requested_schema=None):
        cdef ArrowArray *a = <ArrowArray *>calloc(1, sizeof(ArrowArray))
        cdef _Export *e
        cdef Array column
        if a == NULL:
            raise OutOfMemory("cannot allocate an Arrow array")
        _export_array(a, self, self.a.length, [0])
        e = <_Export *>a.private_data
        for i, column in enumerate((self.a, self.b, self.similarity)):
            _export_array(&e.children[i], column, column.length, column._buffers())
            e.child[i] = &e.children[i]
        a.n_children = 3
        a.children = e.child
        return self.__arrow_c_schema__(), PyCapsule_New(a, b"arrow_array", _free_array_capsule)


cdef class MemoryJob(Job):
    """A call of nd_dedup_memory or nd_pairs_memory."""
    cdef nd_corpus corpus
    cdef Holder holder
    cdef object texts, against
    cdef FilePaths files
    cdef bint dedup

    def __cinit__(self, Options options, progress, texts, against=None, files=None,
                  dedup=True):
        self.holder = Holder()
        self.texts = texts
        self.against = against
        self.dedup = dedup
        if files is not None:
            self.files = FilePaths(files)
            self.corpus.files = self.files.paths
            self.corpus.file_n = self.files.n
        elif isinstance(texts, Flow):
            self.corpus.texts = &(<Flow>texts).stream
        else:
            self.corpus.texts = &(<Texts?>texts).stream
        if against is not None:
            self.corpus.against = &(<Texts?>against).stream

    cdef nd_status work(self) noexcept nogil:
        cdef nd_status status
        if self.dedup:
            status = nd_dedup_memory(&self.holder.c, &self.corpus, self.options.c, &self.hooks,
                                     &self.err)
        else:
            status = nd_pairs_memory(&self.holder.c, &self.corpus, self.options.c, &self.hooks,
                                     &self.err)
        self.summary = self.holder.c.summary
        return status

    def result(self):
        """Runs the job and returns the parts of the result."""
        cdef const nd_result *r = &self.holder.c
        cdef Pairs pairs = Pairs.__new__(Pairs)
        try:
            summary = self.run()
        except Error:
            if isinstance(self.texts, Flow) and (<Flow>self.texts).failure is not None:
                raise (<Flow>self.texts).failure
            raise
        pairs.a = _array(self.holder, b"I", r.pair_n, r.a)
        pairs.b = _array(self.holder, b"I", r.pair_n, r.b)
        pairs.similarity = _array(self.holder, b"g", r.pair_n, r.value)
        out = {"pairs": pairs, "summary": summary, "counts": bool(r.summary.counts), "n": r.n,
               "rejected": [], "ids": None}
        if self.dedup:
            out["keep"] = _array(self.holder, b"b", r.n, r.keep)
            out["cluster"] = _array(self.holder, b"I", r.n, r.cluster)
            out["similarity"] = _array(self.holder, b"g", r.n, r.similarity)
        if r.id_end != NULL:
            out["ids"] = _array(self.holder, b"U", r.n, r.id_end, r.ids)
        for i in range(r.rejection_n):
            reason = (r.strings + r.rejections[i].reason).decode("utf-8", "replace")
            place = (r.strings + r.rejections[i].place).decode("utf-8", "surrogateescape")
            if r.rejections[i].text != <uint64_t>-1:
                place = r.rejections[i].text
            out["rejected"].append((place, _python_words(reason)))
        return out
