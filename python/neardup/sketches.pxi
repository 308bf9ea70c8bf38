# Sketch objects.  Sketches with the same parameters share a sketcher of the library,
# protected by the GIL.

cdef class _Sketcher:
    cdef nd_sketcher *c
    cdef Options options
    cdef uint32_t length
    cdef uint32_t bands
    cdef uint64_t seed

    def __cinit__(self, Options options, uint64_t seed):
        cdef nd_error err
        err.message[0] = 0
        self.options = options
        self.seed = seed
        check(nd_sketcher_new(&self.c, options.c, &err), &err)
        self.length = nd_sketcher_length(self.c)
        self.bands = nd_sketcher_bands(self.c)

    def __dealloc__(self):
        nd_sketcher_free(self.c)


cdef dict _sketchers = {}


cdef _Sketcher _sketcher(dict options):
    key = tuple(sorted((k, str(v)) for k, v in options.items()))
    cdef _Sketcher out = _sketchers.get(key)
    if out is None:
        made = Options(**options)
        seed = int(made.as_dict()["seed"])
        out = _Sketcher(made, seed)
        if len(_sketchers) > 64:
            _sketchers.clear()
        _sketchers[key] = out
    return out


cdef nd_str _utf8(text) except *:
    cdef nd_str out
    cdef Py_ssize_t n = 0
    try:
        out.p = PyUnicode_AsUTF8AndSize(text, &n)
    except UnicodeEncodeError as e:
        raise DataError(f"a text cannot be encoded as UTF-8: {e.reason}") from None
    out.n = n
    return out


cdef uint64_t _feature(_Sketcher s, item) except? 0:
    """Returns the fingerprint of a feature, str or bytes."""
    cdef nd_str view
    if isinstance(item, str):
        return nd_sketcher_feature(s.c, _utf8(item))
    if isinstance(item, (bytes, bytearray, memoryview)):
        data = bytes(item)
        view.p = data
        view.n = len(data)
        return nd_sketcher_feature(s.c, view)
    raise DataError(f"a feature must be str or bytes, not {type(item).__name__}")


cdef class _Fingerprints:
    """Returns the fingerprints of a text or of features."""
    cdef const uint64_t *p
    cdef size_t n
    cdef object own

    def __cinit__(self, _Sketcher s, what):
        cdef nd_error err
        cdef _Block block
        cdef uint64_t *list_
        err.message[0] = 0
        if isinstance(what, str):
            check(nd_sketcher_fingerprints(&self.p, &self.n, s.c, _utf8(what), &err), &err)
            return
        if isinstance(what, (bytes, bytearray, memoryview)):
            what = (what,)
        try:
            items = tuple(what)
        except TypeError:
            raise UsageError(f"update takes a text (str), a feature (bytes) or features, not "
                             f"{type(what).__name__}") from None
        block = _Block(len(items) * sizeof(uint64_t))
        list_ = <uint64_t *>block.p
        for i, item in enumerate(items):
            list_[i] = _feature(s, item)
        self.own = block
        self.p = list_
        self.n = len(items)


_SKETCH_HEAD = struct.Struct("<4sBBHIQ")  # magic, kind, version, n of spec, values, seed
_KINDS = {"MinHash": 1, "SimHash": 2, "Projection": 3}


cdef class _Sketch:
    """Base class of the sketches."""
    cdef _Sketcher s
    cdef _Block block
    cdef uint32_t n  # values
    cdef str shingle
    cdef str tokens

    cdef _same(self, other):
        if type(other) is not type(self):
            raise UsageError(f"{type(self).__name__} cannot be compared with {type(other).__name__}")
        cdef _Sketch o = other
        if (o.n, o.s.seed, o.shingle, o.tokens) != (self.n, self.s.seed, self.shingle, self.tokens):
            raise UsageError(
                f"the sketches have different parameters: ({self._told()}) and ({o._told()})")

    cdef str _told(self):
        return f"{self.n}, seed={self.s.seed}, shingle={self.shingle!r}, tokens={self.tokens!r}"

    @property
    def seed(self):
        """The seed of the hash functions."""
        return self.s.seed

    def copy(self):
        """Returns a copy of the sketch."""
        return type(self).from_bytes(bytes(self))

    def bytes(self):
        """Returns the sketch as bytes, for `from_bytes`; the same on every machine."""
        spec = f"{self.shingle} {self.tokens}".encode()
        head = _SKETCH_HEAD.pack(b"NDSK", _KINDS[type(self).__name__], 1, len(spec), self.n,
                                 self.s.seed)
        raw = (<const char *>self.block.p)[:self.n * 8]
        if sys.byteorder == "big":
            raw = b"".join(raw[i:i + 8][::-1] for i in range(0, len(raw), 8))
        return head + spec + raw

    def __bytes__(self):
        return self.bytes()

    @classmethod
    def from_bytes(cls, data):
        """Returns the sketch that `bytes` encoded."""
        data = bytes(data)
        size = _SKETCH_HEAD.size
        name = cls.__name__
        if len(data) < size:
            raise DataError(f"these {len(data)} bytes are not a {name}: too short")
        magic, kind, version, spec_n, n, seed = _SKETCH_HEAD.unpack_from(data)
        if magic != b"NDSK" or kind != _KINDS[name] or version != 1:
            raise DataError(f"these bytes are not a {name} of this version")
        if len(data) != size + spec_n + 8 * n:
            raise DataError(f"a {name} of {n} values needs {size + spec_n + 8 * n} bytes, not "
                            f"{len(data)}")
        try:
            shingle, tokens = data[size:size + spec_n].decode().split(" ")
        except ValueError:
            raise DataError(f"these bytes are not a {name}: invalid parameters") from None
        cdef _Sketch out = cls(**{_LENGTH[name]: n} if name != "SimHash" else {}, seed=seed,
                               shingle=shingle, tokens=tokens)
        raw = data[size + spec_n:]
        if out.n * 8 != len(raw):
            raise DataError(f"a {name} has {out.n} values, not {n}")
        if sys.byteorder == "big":
            raw = b"".join(raw[i:i + 8][::-1] for i in range(0, len(raw), 8))
        memcpy(out.block.p, <const char *>raw, len(raw))
        return out

    def __reduce__(self):
        return type(self).from_bytes, (bytes(self),)

    def __eq__(self, other):
        return type(other) is type(self) and bytes(self) == bytes(other)

    def __hash__(self):
        return hash(bytes(self))

    def __len__(self):
        return self.n

    def __repr__(self):
        return f"<neardup.{type(self).__name__}({self._told()})>"


_LENGTH = {"MinHash": "permutations", "Projection": "bits"}


cdef class MinHash(_Sketch):
    """A set as `permutations` values, each equal in two sets with probability their Jaccard value.

    >>> import neardup
    >>> a = neardup.MinHash("the cat sat on the mat and there it slept")
    >>> b = neardup.MinHash("The cat sat on the mat, and there it slept!")
    >>> a.jaccard(b)
    1.0

    A text is split into shingles as in `dedup`. Your own features are bytes, or a list:

    >>> c = neardup.MinHash(permutations=64)
    >>> c.update(b"one feature")
    >>> c.update(["more", "of", "them"])
    >>> c.is_empty()
    False

    `merge` updates it to the sketch of the union.
    """

    def __init__(self, what=None, *, permutations=128, seed=1, shingle="words:5", tokens="words"):
        self.s = _sketcher({"permutations": permutations, "bands": 1, "rows": 1, "seed": seed,
                            "shingle": shingle, "tokens": tokens})
        self.n = self.s.length
        self.shingle = str(shingle)
        self.tokens = str(tokens)
        self.block = _Block(self.n * 8)
        memset(self.block.p, 255, self.n * 8)
        if what is not None:
            self.update(what)

    def update(self, what):
        """Adds a text (str), a feature (bytes), or features (an iterable of str or bytes)."""
        cdef nd_error err
        cdef _Fingerprints f = _Fingerprints(self.s, what)
        cdef _Block more = _Block(self.n * 8)
        err.message[0] = 0
        check(nd_sketcher_sketch(<uint64_t *>more.p, self.s.c, f.p, f.n, &err), &err)
        nd_sketcher_merge(<uint64_t *>self.block.p, self.s.c, <const uint64_t *>more.p)

    def merge(self, other):
        """Updates it to the sketch of the union."""
        self._same(other)
        nd_sketcher_merge(<uint64_t *>self.block.p, self.s.c,
                          <const uint64_t *>(<_Sketch>other).block.p)

    def jaccard(self, other):
        """Returns the estimated Jaccard similarity: the share of equal values. Empty sets match nothing."""
        self._same(other)
        if self.is_empty() or other.is_empty():
            return 0.0
        return nd_sketcher_estimate(self.s.c, <const uint64_t *>self.block.p,
                                    <const uint64_t *>(<_Sketch>other).block.p)

    def is_empty(self):
        """Tests for the empty set."""
        return (<const uint64_t *>self.block.p)[0] == <uint64_t>-1

    @property
    def permutations(self):
        """The number of values."""
        return self.n

    def values(self):
        """Returns the values as a list."""
        return [(<const uint64_t *>self.block.p)[i] for i in range(self.n)]


cdef class _Votes(_Sketch):
    cdef nd_votes_spec spec

    cdef _make(self, nd_votes kind, bits, seed, shingle, tokens, what):
        cdef nd_error err
        err.message[0] = 0
        self.s = _sketcher({"permutations": 1, "bands": 1, "rows": 1, "seed": seed,
                            "shingle": shingle, "tokens": tokens})
        if not 0 < bits <= 1024:
            raise UsageError(f"bits={bits} is out of range: a multiple of 64, at most 1024")
        self.n = bits
        self.spec.kind = kind
        self.spec.bits = bits
        self.spec.seed = self.s.seed
        self.shingle = str(shingle)
        self.tokens = str(tokens)
        self.block = _Block(self.n * 8)
        check(nd_votes_add(<int64_t *>self.block.p, &self.spec, NULL, 0, &err), &err)
        if what is not None:
            self.update(what)

    def update(self, what):
        """Adds a text (str), a feature (bytes), or features (an iterable of str or bytes)."""
        cdef nd_error err
        cdef _Fingerprints f = _Fingerprints(self.s, what)
        err.message[0] = 0
        check(nd_votes_add(<int64_t *>self.block.p, &self.spec, f.p, f.n, &err), &err)

    def merge(self, other):
        """Updates it to the sketch of both documents together."""
        self._same(other)
        cdef int64_t *mine = <int64_t *>self.block.p
        cdef const int64_t *theirs = <const int64_t *>(<_Sketch>other).block.p
        for i in range(self.n):
            mine[i] = <int64_t>(<uint64_t>mine[i] + <uint64_t>theirs[i])

    def digest(self):
        """Returns the bits as bytes: bit i is bit i % 8 of byte i // 8."""
        cdef uint64_t words[16]
        nd_votes_bits(words, <const int64_t *>self.block.p, self.n)
        return b"".join(int(words[i]).to_bytes(8, "little") for i in range(self.n // 64))

    def __int__(self):
        return int.from_bytes(self.digest(), "little")

    def distance(self, other):
        """Returns the number of differing bits."""
        self._same(other)
        return (int(self) ^ int(other)).bit_count()

    def cosine(self, other):
        """Returns the estimated cosine of the two vectors of counts."""
        return math.cos(math.pi * self.distance(other) / self.n)

    def jaccard(self, other):
        """Returns the Jaccard similarity of two sets of equal size with this cosine: c / (2 - c)."""
        c = max(0.0, self.cosine(other))
        return c / (2 - c)


cdef class SimHash(_Votes):
    """A simhash: 64 bits, few of which differ between similar documents (Charikar; Manku et al.).

    >>> import neardup
    >>> a = neardup.SimHash("the cat sat on the mat and there it slept all day long")
    >>> b = neardup.SimHash("the cat sat on the mat and there it slept all day")
    >>> a.distance(b) < 20
    True
    >>> len(a.digest())
    8

    Words count as often as they occur. The sums behind the bits are kept, so `update` and `merge`
    give the sketch of the combined text.
    """

    def __init__(self, what=None, *, seed=1, shingle="words:1", tokens="words"):
        self._make(ND_VOTES_SIMHASH, 64, seed, shingle, tokens, what)


cdef class Projection(_Votes):
    """Random projections: the share of agreeing bits estimates the angle (Henzinger 2006).

    >>> import neardup
    >>> a = neardup.Projection("the cat sat on the mat", bits=256)
    >>> a.cosine(a)
    1.0
    >>> a.distance(neardup.Projection("something else altogether", bits=256)) > 64
    True
    """

    def __init__(self, what=None, *, bits=384, seed=1, shingle="words:1", tokens="words"):
        self._make(ND_VOTES_PROJECTION, bits.__index__(), seed, shingle, tokens, what)

    @property
    def bits(self):
        """The number of bits."""
        return self.n


cdef class LSH:
    """An index of `MinHash` sketches: insert, query, remove.

    >>> import neardup
    >>> index = neardup.LSH(threshold=0.8)
    >>> texts = {"a": "one two three four five six seven", "b": "nothing of the kind is in here"}
    >>> for key, text in texts.items():
    ...     index.insert(key, neardup.MinHash(text))
    >>> index.query(neardup.MinHash("One, two, three, four, five, six, seven!"))
    ['a']
    >>> index.remove("a")
    >>> "a" in index, len(index)
    (False, 1)

    Bands and rows follow from `threshold` and `recall`, the share of pairs right at the threshold
    that a query finds; `predicted_recall` is the prediction. Candidates whose estimate is below
    the threshold are left out, unless `verify` is False.
    """
    cdef _Sketcher s
    cdef object threshold
    cdef bint verify
    cdef list tables
    cdef dict sketches
    cdef readonly double predicted_recall
    cdef readonly int bands
    cdef readonly int rows

    def __init__(self, threshold=0.8, *, permutations=128, recall=0.95, bands=None, rows=None,
                 verify=True, seed=1):
        options = {"threshold": threshold, "permutations": permutations, "recall": recall,
                   "bands": bands, "rows": rows, "seed": seed}
        self.s = _sketcher({k: v for k, v in options.items() if v is not None})
        self.threshold = Fraction(self.s.options.as_dict()["threshold"])
        self.verify = verify
        self.bands = self.s.bands
        self.rows = nd_sketcher_rows(self.s.c)
        self.predicted_recall = 1 - (1 - float(self.threshold) ** self.rows) ** self.bands
        self.tables = [{} for _ in range(self.bands)]
        self.sketches = {}

    cdef list _keys(self, sketch):
        cdef MinHash m
        cdef uint64_t keys[2000]
        if not isinstance(sketch, MinHash):
            raise UsageError(f"an index needs MinHash sketches, not {type(sketch).__name__}")
        m = sketch
        if m.n != self.s.length or m.s.seed != self.s.seed:
            raise UsageError(f"the index needs sketches of {self.s.length} values with seed "
                             f"{self.s.seed}, not {m.n} with seed {m.s.seed}")
        nd_sketcher_keys(keys, self.s.c, <const uint64_t *>m.block.p)
        return [keys[i] for i in range(self.bands)]

    def insert(self, key, sketch):
        """Adds a sketch under a key, which must be new."""
        if key in self.sketches:
            raise UsageError(f"the key {key!r} is already in the index; remove it first")
        keys = self._keys(sketch)
        self.sketches[key] = sketch.copy()
        if sketch.is_empty():
            return  # matches nothing
        for table, k in zip(self.tables, keys):
            table.setdefault(k, []).append(key)

    def query(self, sketch):
        """Returns the keys of similar sketches."""
        found = {}
        keys = self._keys(sketch)
        if not sketch.is_empty():
            for table, k in zip(self.tables, keys):
                for key in table.get(k, ()):
                    found[key] = None
        if not self.verify:
            return list(found)
        # The estimate is a fraction of values, compared in integers.
        return [key for key in found
                if round(sketch.jaccard(self.sketches[key]) * self.s.length)
                >= self.threshold * self.s.length]

    def remove(self, key):
        """Removes a key."""
        sketch = self.sketches.pop(key, None)
        if sketch is None:
            raise UsageError(f"the key {key!r} is not in the index")
        if sketch.is_empty():
            return
        for table, k in zip(self.tables, self._keys(sketch)):
            bucket = table[k]
            bucket.remove(key)
            if not bucket:
                del table[k]

    def __contains__(self, key):
        return key in self.sketches

    def __len__(self):
        return len(self.sketches)

    def __repr__(self):
        return (f"<neardup.LSH of {len(self)} sketches: {self.bands} bands x {self.rows} rows, "
                f"recall {self.predicted_recall:.4f} at {float(self.threshold)}>")
