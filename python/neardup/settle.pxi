# The end of a job, on the driver; included by _stage.pyx.
cdef class Settle:
    """The end of a job, on the driver."""
    cdef nd_settle *c
    cdef Stage stage
    cdef readonly uint64_t documents
    cdef nd_summary summary

    def __cinit__(self, Stage stage, const uint32_t[::1] same, rank, tmp):
        cdef nd_error err
        cdef nd_status status
        cdef uint32_t none = 0
        cdef const uint64_t[::1] r
        cdef bytes folder = os.fsencode(tmp)
        cdef nd_settle_request request
        memset(&request, 0, sizeof(request))
        request.same = &same[0] if same.shape[0] else &none
        request.documents = same.shape[0]
        request.tmp = folder
        err.message[0] = 0
        self.stage = stage
        self.documents = same.shape[0]
        memset(&self.summary, 0, sizeof(self.summary))
        if rank is not None and len(rank):
            r = rank
            request.rank = &r[0]
        with nogil:
            status = nd_settle_new(&self.c, stage.c, &request, &err)
        check(status, &err)

    def __dealloc__(self):
        nd_settle_free(self.c)

    def positions(self):
        out = numpy.empty(self.documents, numpy.uint32)
        cdef uint32_t[::1] o = out
        if self.documents:
            nd_settle_positions(&o[0], self.c)
        return out

    def as_documents(self, pairs):
        """Converts pairs of positions to pairs of documents."""
        out = numpy.array(pairs, numpy.uint64)
        cdef uint64_t[::1] o = out
        if len(out):
            nd_settle_documents(&o[0], o.shape[0], self.c)
        return out

    def verify(self, const uint64_t[::1] pairs, const uint64_t[::1] kinds,
                const uint64_t[::1] values):
        cdef nd_error err
        cdef nd_status status
        cdef uint64_t none = 0
        cdef size_t n = pairs.shape[0]
        cdef nd_candidates all
        all.pairs = &pairs[0] if n else &none
        all.kinds = &kinds[0] if n else &none
        all.values = &values[0] if n else &none
        all.n = n
        err.message[0] = 0
        with nogil:
            status = nd_settle_verify(self.c, &all, &err)
        check(status, &err)

    def direct(self, const uint64_t[::1] pairs, const uint64_t[::1] values):
        cdef nd_error err
        cdef uint64_t none = 0
        cdef size_t n = pairs.shape[0]
        err.message[0] = 0
        check(nd_settle_direct(self.c, &pairs[0] if n else &none, &values[0] if n else &none, n,
                               &err), &err)

    def pairs(self):
        cdef nd_error err
        cdef size_t n = nd_settle_pair_count(self.c)
        pairs = numpy.empty(n, numpy.uint64)
        values = numpy.empty(n, numpy.uint64)
        cdef uint64_t[::1] p = pairs, v = values
        err.message[0] = 0
        if n:
            check(nd_settle_pairs(&p[0], &v[0], self.c, &err), &err)
        return pairs, values

    def cluster(self, roots=None):
        """Returns pairs of documents whose similarities finish() needs; `roots`: precomputed
        components."""
        cdef const uint32_t[::1] given
        cdef const uint32_t *r = NULL
        if roots is not None and len(roots):
            given = roots
            r = &given[0]
        cdef nd_error err
        cdef nd_status status
        cdef const uint64_t *missing
        cdef size_t n
        err.message[0] = 0
        with nogil:
            status = nd_settle_cluster(&missing, &n, self.c, r, &err)
        check(status, &err)
        out = numpy.empty(n, numpy.uint64)
        for i in range(n):
            out[i] = missing[i]
        return out

    def finish(self, const uint64_t[::1] values):
        cdef nd_error err
        cdef uint64_t none = 0
        cdef size_t n = values.shape[0]
        err.message[0] = 0
        check(nd_settle_finish(self.c, &values[0] if n else &none, n, &err), &err)

    def result(self):
        """Returns (centre, value) of every document."""
        centre = numpy.empty(self.documents, numpy.uint32)
        value = numpy.empty(self.documents, numpy.uint64)
        cdef uint32_t[::1] c = centre
        cdef uint64_t[::1] v = value
        if self.documents:
            nd_settle_result(&c[0], &v[0], self.c)
        return centre, value

    def wanted(self):
        out = numpy.zeros(self.documents + 1, numpy.uint8)
        cdef uint8_t[::1] o = out
        nd_settle_wanted(&o[0], self.c)
        return out[:-1]

    def _write(self, path, documents, ids, bint clusters, bint collapse):
        cdef nd_error err
        cdef nd_status status
        cdef const uint32_t[::1] d = documents
        cdef uint32_t none = 0
        cdef Views v = Views(ids)
        cdef nd_document_texts given
        cdef bytes name = os.fsencode(path)
        cdef const char *to = name
        given.document = &d[0] if d.shape[0] else &none
        given.text = v.strings
        given.n = v.n
        err.message[0] = 0
        with nogil:
            if clusters:
                status = nd_settle_write_clusters(self.c, to, &given, &err)
            else:
                status = nd_settle_write_pairs(self.c, to, &given, collapse, &err)
        check(status, &err)

    def write_pairs(self, path, documents, ids, bint collapse=True):
        self._write(path, documents, ids, False, collapse)

    def write_clusters(self, path, documents, ids):
        self._write(path, documents, ids, True, True)

    def counts(self):
        nd_settle_counts(&self.summary, self.c)
        s = self.summary
        return {"pairs": s.pairs, "candidates": s.candidates, "spared": s.skipped,
                "copies": s.copies, "dropped": s.dropped, "kept": s.kept, "clusters": s.clusters,
                "largest_cluster": s.largest_cluster}

    def write_summary(self, path, given):
        """Writes summary.json with the counts of the engine."""
        cdef nd_error err
        cdef nd_summary *s = &self.summary
        err.message[0] = 0
        nd_settle_counts(s, self.c)
        s.files = given["files"]
        s.bytes = given["bytes"]
        s.raw_bytes = given["raw_bytes"]
        s.documents = given["documents"]
        s.rejected = given["rejected"]
        s.others = given["others"]
        s.empty = given["empty"]
        s.tokens = given["tokens"]
        s.repeated_ids = given["repeated_ids"]
        s.buckets = given["buckets"]
        s.hot_buckets = given["hot_buckets"]
        s.hot_documents = given["hot_documents"]
        s.largest_bucket = given["largest_bucket"]
        s.seconds = given["seconds"]
        s.threads = given["threads"]
        s.temporary_bytes = given["temporary_bytes"]
        s.read_seconds = given["read_seconds"]
        s.find_seconds = given["find_seconds"]
        s.verify_seconds = given["verify_seconds"]
        s.write_seconds = given["write_seconds"]
        cdef bytes name = os.fsencode(path)
        check(nd_settle_write_summary(self.c, s, name, &err), &err)

    def report_texts(self):
        """Returns the documents whose texts the report shows."""
        cdef nd_error err
        cdef nd_status status
        cdef const uint32_t *documents = NULL
        cdef size_t n = 0, i
        err.message[0] = 0
        with nogil:
            status = nd_settle_report_texts(&documents, &n, self.c, &err)
        check(status, &err)
        out = numpy.empty(n, numpy.uint32)
        cdef uint32_t[::1] o = out
        for i in range(n):
            o[i] = documents[i]
        return out

    def write_report(self, folder, documents, ids, text_documents, texts, bytes parts,
                     bint by_folder, bytes rejected, inputs, directory):
        """Writes report.html with the counts of the last write_summary."""
        cdef nd_error err
        cdef nd_status status
        cdef nd_settle_page page
        cdef const uint32_t[::1] d = documents, td = text_documents
        cdef Views id_views = Views(ids), text_views = Views(texts)
        cdef Paths paths = Paths(inputs)
        cdef bytes to = os.fsencode(folder), called = os.fsencode(directory)
        cdef const char *where = to
        memset(&page, 0, sizeof(page))
        err.message[0] = 0
        page.summary = &self.summary
        page.document = &d[0] if d.shape[0] else NULL
        page.id = id_views.strings
        page.n = id_views.n
        page.text_document = &td[0] if td.shape[0] else NULL
        page.text = text_views.strings
        page.texts = text_views.n
        page.parts.p = parts
        page.parts.n = len(parts)
        page.by_folder = by_folder
        page.rejected.p = rejected
        page.rejected.n = len(rejected)
        page.inputs = paths.strings
        page.input_n = paths.n
        page.directory = called
        with nogil:
            status = nd_settle_write_report(self.c, &page, where, &err)
        check(status, &err)
