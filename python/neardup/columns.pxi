# Texts for the library: chunks that point into Python strings or Arrow arrays.
# Nothing is copied; `owners` keeps the objects alive.

cdef class _Schema:
    cdef ArrowSchema c
    def __dealloc__(self):
        if self.c.release != NULL:
            self.c.release(&self.c)


cdef class _Array:
    cdef ArrowArray c
    def __dealloc__(self):
        if self.c.release != NULL:
            self.c.release(&self.c)


cdef class _Block:
    """An owned block of memory."""
    cdef void *p
    def __cinit__(self, size_t n):
        self.p = calloc(n if n else 1, 1)
        if self.p == NULL:
            raise OutOfMemory(f"cannot allocate {n} bytes")
    def __dealloc__(self):
        free(self.p)


cdef void *_pointer(capsule, const char *name) except NULL:
    try:
        return PyCapsule_GetPointer(capsule, name)
    except (ValueError, TypeError) as e:
        raise DataError(f"the object's Arrow interface returned no {name.decode()}: {e}") from None


cdef str _format(const ArrowSchema *s):
    return s.format.decode("utf-8", "replace") if s.format != NULL else "?"


cdef str _name(const ArrowSchema *s):
    return s.name.decode("utf-8", "replace") if s.name != NULL else ""


cdef object _columns(const ArrowSchema *s):
    return [_name(s.children[i]) for i in range(s.n_children)]


cdef _choose_column(const ArrowSchema *s, str wanted, bint sure):
    """The index of the text column of a table."""
    names = _columns(s)
    if wanted in names:
        return names.index(wanted)
    strings = [i for i in range(s.n_children)
               if _format(s.children[i]) in ("u", "U", "vu")]
    if len(strings) == 1 and not sure:
        return strings[0]
    raise UsageError(f"there is no column {wanted!r}; text_field= names it, one of: "
                     + ", ".join(names[:20]))


cdef bint _fill(nd_chunk *out, const ArrowSchema *s, const ArrowArray *a, int64_t first,
                int64_t n) except -1:
    """Fills a chunk over an Arrow array; returns False if its type has another layout."""
    form = _format(s)
    memset(out, 0, sizeof(nd_chunk))
    out.n = n
    out.first = a.offset + first
    if n == 0:
        return True
    if form not in ("u", "U", "vu") or s.dictionary != NULL:
        return False
    if a.n_buffers < (2 if form == "vu" else 3) or a.buffers[1] == NULL:
        raise DataError(f"column {_name(s)!r}: an Arrow array of type {form} lacks buffers")
    if a.null_count != 0:
        out.valid = <const uint8_t *>a.buffers[0]
    out.index = a.buffers[1]
    if form == "u" or form == "U":
        out.layout = ND_LAYOUT_OFFSET32 if form == "u" else ND_LAYOUT_OFFSET64
        out.bytes = <const char *>a.buffers[2]
        return True
    out.layout = ND_LAYOUT_VIEW
    # The last buffer has the sizes of the data buffers.
    out.buffer_n = a.n_buffers - 3 if a.n_buffers > 3 else 0
    out.buffers = <const char **>(a.buffers + 2)
    out.sizes = <const int64_t *>a.buffers[a.n_buffers - 1] if a.n_buffers > 2 else NULL
    return True


cdef int64_t _index_at(str form, const void *p, int64_t i) except? -1:
    if form == "c": return (<const int8_t *>p)[i]
    if form == "C": return (<const uint8_t *>p)[i]
    if form == "s": return (<const int16_t *>p)[i]
    if form == "S": return (<const uint16_t *>p)[i]
    if form == "i": return (<const int32_t *>p)[i]
    if form == "I": return (<const uint32_t *>p)[i]
    if form == "l": return (<const int64_t *>p)[i]
    if form == "L": return <int64_t>(<const uint64_t *>p)[i]
    raise DataError(f"an Arrow dictionary has indices of type {form}")


cdef bint _bit(const void *p, int64_t i) noexcept:
    return (<const uint8_t *>p)[i >> 3] >> (i & 7) & 1


cdef bint _is_null(item):
    """Tests for None or the null values of pandas."""
    return (item is None or (isinstance(item, float) and item != item)
            or type(item).__name__ == "NAType")


cdef class Texts:
    """Texts in memory: chunks, and the objects that own their bytes."""
    cdef nd_text_stream stream
    cdef nd_chunk *chunks
    cdef nd_chunk *facts
    cdef size_t cap
    cdef list owners
    cdef readonly size_t n
    cdef str text_field, keep_field, keep_kind

    def __cinit__(self):
        self.owners = []

    def __dealloc__(self):
        free(self.chunks)
        free(self.facts)

    cdef nd_chunk *_new_chunk(self) except NULL:
        cdef size_t cap
        cdef void *p
        if self.stream.n == self.cap:
            cap = max(8, 2 * self.cap)
            p = realloc(self.chunks, cap * sizeof(nd_chunk))
            if p == NULL:
                raise OutOfMemory("cannot allocate a list of chunks")
            self.chunks = <nd_chunk *>p
            p = realloc(self.facts, cap * sizeof(nd_chunk))
            if p == NULL:
                raise OutOfMemory("cannot allocate a list of chunks")
            self.facts = <nd_chunk *>p
            self.cap = cap
            self.stream.chunks = self.chunks
        memset(&self.chunks[self.stream.n], 0, sizeof(nd_chunk))
        memset(&self.facts[self.stream.n], 0, sizeof(nd_chunk))
        self.stream.n += 1
        return &self.chunks[self.stream.n - 1]

    cdef _strings(self, nd_chunk *out, items, where):
        """Fills a chunk over Python strings, which cache their UTF-8 form."""
        cdef tuple texts = tuple(items)
        cdef size_t n = len(texts), i
        cdef _Block block = _Block(n * sizeof(nd_str))
        cdef nd_str *index = <nd_str *>block.p
        cdef Py_ssize_t size
        cdef const char *p
        for i in range(n):
            item = texts[i]
            if isinstance(item, str):
                try:
                    p = PyUnicode_AsUTF8AndSize(item, &size)
                except UnicodeEncodeError as e:
                    raise DataError(f"{where}[{i}] cannot be encoded as UTF-8: {e.reason}") \
                        from None
                index[i].p = p
                index[i].n = size
            elif _is_null(item):
                index[i].p = NULL
            else:
                raise DataError(f"{where}[{i}] is {type(item).__name__}, not str")
        out.layout = ND_LAYOUT_STR
        out.n = n
        out.index = index
        self.owners.append(texts)
        self.owners.append(block)

    cdef _dictionary(self, nd_chunk *out, const ArrowSchema *s, const ArrowArray *a,
                     int64_t first, int64_t n):
        """Fills a chunk over a dictionary column: pointers to its values."""
        cdef nd_chunk values
        cdef nd_error err
        cdef int null
        cdef int64_t i, k
        if a.dictionary == NULL or not _fill(&values, s.dictionary, a.dictionary, 0,
                                             a.dictionary.length):
            raise DataError(f"column {_name(s)!r} has a dictionary of type "
                            f"{_format(s.dictionary)}, not of strings")
        cdef _Block block = _Block(n * sizeof(nd_str))
        cdef nd_str *index = <nd_str *>block.p
        form = _format(s)
        for i in range(n):
            k = a.offset + first + i
            if a.null_count != 0 and a.buffers[0] != NULL and not _bit(a.buffers[0], k):
                continue
            k = _index_at(form, a.buffers[1], k)
            if k < 0 or k >= a.dictionary.length:
                raise DataError(f"column {_name(s)!r}: text {i} is not in its dictionary")
            check(nd_chunk_text(&index[i], &null, &values, k, &err), &err)
            if null:
                index[i].p = NULL
        memset(out, 0, sizeof(nd_chunk))
        out.layout = ND_LAYOUT_STR
        out.n = n
        out.index = index
        self.owners.append(block)

    cdef _column(self, nd_chunk *out, const ArrowSchema *s, const ArrowArray *a, int64_t first,
                 int64_t n):
        if n < 0 or first < 0 or a.offset < 0 or a.length < first + n:
            raise DataError(f"column {_name(s)!r}: an Arrow array has impossible lengths")
        if s.dictionary != NULL:
            self._dictionary(out, s, a, first, n)
        elif _format(s) == "n":
            self._strings(out, [None] * n, "texts")
        elif not _fill(out, s, a, first, n):
            raise DataError(f"column {_name(s)!r} has the Arrow type {_format(s)}, not string, "
                            "large_string or string_view")

    cdef _fact_column(self, nd_chunk *out, const ArrowSchema *s, const ArrowArray *a,
                      int64_t first, int64_t n):
        """Fills a chunk with the values for keep=, as text; numbers and times are formatted."""
        cdef int64_t i, k
        form = _format(s)
        if form in ("u", "U", "vu") or s.dictionary != NULL:
            self._column(out, s, a, first, n)
            return
        values = []
        for i in range(n):
            k = a.offset + first + i
            if a.null_count != 0 and a.buffers[0] != NULL and not _bit(a.buffers[0], k):
                values.append(None)
            elif form == "g":
                values.append(repr((<const double *>a.buffers[1])[k]))
            elif form == "f":
                values.append(repr(<double>(<const float *>a.buffers[1])[k]))
            elif form == "b":
                values.append(str(int(_bit(a.buffers[1], k))))
            elif form.startswith("ts"):
                values.append(_iso(form, (<const int64_t *>a.buffers[1])[k]))
            elif form == "tdD":
                values.append(_iso("tss", (<const int32_t *>a.buffers[1])[k] * 86400))
            elif form in ("c", "C", "s", "S", "i", "I", "l", "L"):
                values.append(str(_index_at(form, a.buffers[1], k)))
            else:
                raise DataError(f"column {_name(s)!r} has the Arrow type {form}; keep= needs "
                                "numbers, times or strings")
        self._strings(out, values, "values")

    cdef _no_facts(self):
        if self.keep_field:
            raise UsageError(f"keep={self.keep_kind!r} needs a table with that column, or "
                             "keep_values=")

    cdef _record(self, const ArrowSchema *s, const ArrowArray *a):
        """Adds an Arrow array of strings, or of records with a column of strings."""
        cdef nd_chunk *out = self._new_chunk()
        cdef nd_chunk *facts = &self.facts[self.stream.n - 1]
        if a.length < 0 or a.offset < 0:
            raise DataError("an Arrow array has impossible lengths")
        self.n += a.length
        if _format(s) != "+s":
            self._no_facts()
            self._column(out, s, a, 0, a.length)
            return
        if a.n_children != s.n_children:
            raise DataError("an Arrow table and its schema have different numbers of columns")
        if a.null_count > 0 and a.buffers[0] != NULL:
            raise DataError("an Arrow struct array has null records; pass the column of texts")
        i = _choose_column(s, self.text_field, False)
        self._column(out, s.children[i], a.children[i], a.offset, a.length)
        if self.keep_field:
            i = _choose_column(s, self.keep_field, True)
            self._fact_column(facts, s.children[i], a.children[i], a.offset, a.length)
            self.stream.facts = self.facts

    cdef _arrow_stream(self, capsule):
        cdef ArrowArrayStream *stream = <ArrowArrayStream *>_pointer(
            capsule, b"arrow_array_stream")
        try:
            self._read_stream(stream)
        finally:
            if stream.release != NULL:
                stream.release(stream)

    cdef _read_stream(self, ArrowArrayStream *stream):
        cdef _Schema schema = _Schema()
        cdef _Array array
        cdef int status
        if stream.release == NULL:
            raise DataError("the Arrow stream is already consumed")
        with nogil:
            status = stream.get_schema(stream, &schema.c)
        if status != 0:
            raise DataError("the Arrow stream has no schema: " + _last_error(stream, status))
        while True:
            array = _Array()
            with nogil:
                status = stream.get_next(stream, &array.c)
            if status != 0:
                raise DataError("the Arrow stream failed: " + _last_error(stream, status))
            if array.c.release == NULL:
                return
            self.owners.append(array)
            self._record(&schema.c, &array.c)

    def add(self, texts):
        """Adds the texts of an Arrow object or an iterable of str."""
        if hasattr(texts, "__arrow_c_stream__"):
            self._arrow_stream(texts.__arrow_c_stream__())
        elif hasattr(texts, "__arrow_c_array__"):
            pair = texts.__arrow_c_array__()
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DataError("__arrow_c_array__ did not return two capsules")
            self.owners.append(pair)
            self._record(<const ArrowSchema *>_pointer(pair[0], b"arrow_schema"),
                         <const ArrowArray *>_pointer(pair[1], b"arrow_array"))
        else:
            try:
                items = tuple(texts)
            except TypeError:
                raise UsageError(
                    f"texts is {type(texts).__name__}; pass a list of str, an Arrow column "
                    "(pyarrow, polars, pandas, datasets) or a path") from None
            self._no_facts()
            self._strings(self._new_chunk(), items, "texts")
            self.n += len(items)
        return self

    def clear(self):
        """Removes all texts."""
        self.stream.n = 0
        self.stream.facts = NULL
        self.n = 0
        self.owners.clear()

    def add_values(self, values):
        """Adds the values for keep=, one per text, in one chunk like the texts."""
        cdef nd_chunk *facts
        if values is None:
            return self
        items = [None if _is_null(v) else str(v) for v in values]
        if len(items) != self.n:
            raise UsageError(f"keep_values has {len(items)} values for {self.n} texts")
        at = 0
        for i in range(self.stream.n):
            n = self.chunks[i].n
            self._strings(&self.facts[i], items[at:at + n], "keep_values")
            at += n
        self.stream.facts = self.facts
        return self


cdef str _last_error(ArrowArrayStream *stream, int status):
    cdef const char *text = stream.get_last_error(stream)
    return text.decode("utf-8", "replace") if text != NULL else os.strerror(status)


cdef str _iso(str form, int64_t value):
    """Formats an Arrow timestamp as ISO 8601."""
    unit = {"s": 1, "m": 1000, "u": 1000000, "n": 1000000000}.get(form[2:3], 1)
    try:
        return (_EPOCH + datetime.timedelta(seconds=value // unit)).isoformat()
    except OverflowError:
        return None


def make_texts(texts, text_field="text", keep=None, keep_field=None, keep_values=None):
    cdef Texts out = Texts()
    out.text_field = text_field
    out.keep_field = keep_field if keep_values is None else None
    out.keep_kind = keep
    return out.add(texts).add_values(keep_values)


cdef nd_status _next_chunk(void *context, nd_chunk *texts, nd_chunk *facts,
                           nd_error *err) noexcept with gil:
    cdef Flow flow = <Flow>context
    cdef Texts t = flow.texts
    try:
        while True:
            if flow.at < t.stream.n:
                if t.chunks[flow.at].n:
                    texts[0] = t.chunks[flow.at]
                    if t.stream.facts != NULL:
                        facts[0] = t.facts[flow.at]
                    flow.at += 1
                    return ND_OK
                flow.at += 1
                continue
            t.clear()
            flow.at = 0
            try:
                t.add(next(flow.source))
            except StopIteration:
                return ND_OK
    except BaseException as e:
        flow.failure = e
        return ND_ERR_DATA


cdef class Flow:
    """Texts read batch by batch from an iterator of Arrow objects."""
    cdef object source
    cdef Texts texts
    cdef size_t at
    cdef object failure
    cdef nd_text_stream stream

    def __cinit__(self, source, text_field="text", keep_field=None):
        self.source = iter(source)
        self.texts = Texts()
        self.texts.text_field = text_field
        self.texts.keep_field = keep_field
        self.stream.context = <void *>self
        self.stream.next = _next_chunk
