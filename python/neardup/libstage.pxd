# neardup/stage.h, as far as the package uses it.
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from neardup.libneardup cimport nd_error, nd_options, nd_status, nd_str, nd_summary

cdef extern from "neardup/stage.h" nogil:
    ctypedef struct nd_stage:
        pass
    ctypedef struct nd_stage_facts:
        int exact
        uint32_t permutations, bands, rows
        uint32_t keys, key_items, key_bytes
        double predicted_recall
        int ranked, components, direct, open
        uint64_t sct
        uint64_t max_document
    enum:
        ND_STAGE_SECRET
    ctypedef enum nd_merge:
        ND_MERGE_LEAST
        ND_MERGE_SUM
    nd_status nd_stage_new(nd_stage **out, const nd_options *options, int dedup,
                           const char *secret, nd_error *err)
    void nd_stage_free(nd_stage *s)
    void nd_stage_about(nd_stage_facts *out, const nd_stage *s)

    ctypedef struct nd_stage_file:
        const char *path
        const char *real
        const char *name
        uint64_t size
        int64_t mtime_ns
    ctypedef struct nd_stage_task:
        int range
        uint32_t file, files
        uint64_t begin, end
    ctypedef struct nd_intake:
        pass
    ctypedef struct nd_intake_request:
        const char *const *inputs
        size_t input_n
        const char *avoid
    nd_status nd_intake_new(nd_intake **out, const nd_stage *s, const nd_intake_request *request,
                            nd_error *err)
    nd_status nd_intake_files(nd_intake **out, const nd_stage *s, const nd_stage_file *files, size_t n,
                            nd_error *err)
    void nd_intake_free(nd_intake *p)
    size_t nd_intake_file_count(const nd_intake *p)
    nd_stage_file nd_intake_file(const nd_intake *p, size_t i)
    uint32_t nd_intake_task_count(const nd_intake *p)
    nd_stage_task nd_intake_task(const nd_intake *p, uint32_t i)
    size_t nd_intake_problem_count(const nd_intake *p)
    const char *nd_intake_problem(const char **reason, const nd_intake *p, size_t i)

    ctypedef struct nd_stage_block:
        uint32_t task, part, docs, rejects
        int last, range, raw
        uint64_t lines, begin, end, raw_bytes, others, empties, tokens
        nd_str image, texts
        uint64_t texts_sum
    ctypedef struct nd_reader:
        pass
    ctypedef struct nd_reader_request:
        const nd_intake *plan
        uint32_t begin, end
        int keep_texts
    nd_status nd_reader_open(nd_reader **out, nd_stage *s, const nd_reader_request *request,
                             nd_error *err)
    void nd_reader_close(nd_reader *r)
    ctypedef void (*nd_reader_watch)(void *context, uint32_t file, uint64_t offset,
                                     nd_str raw) noexcept nogil
    void nd_reader_watched(nd_reader *r, nd_reader_watch watch, void *context)
    nd_status nd_reader_read(int *more, nd_reader *r, nd_error *err)
    nd_status nd_reader_sign(nd_stage_block *out, nd_reader *r, nd_error *err)
    const char *ND_STAGE_SKIPPED
    nd_status nd_reader_skip(int *found, nd_reader *r, uint32_t file, uint64_t offset,
                             nd_error *err)
    ctypedef struct nd_stage_rows:
        size_t n
        const nd_str *text
        const nd_str *id
        const nd_str *url
        const nd_str *time
        const nd_str *field
    ctypedef struct nd_block_name:
        uint32_t task, part
    nd_status nd_stage_sign(nd_stage_block *out, nd_stage *s, const nd_block_name *name,
                            const nd_stage_rows *rows, nd_error *err)
    ctypedef struct nd_stored_block:
        nd_str image, texts
        uint64_t texts_sum
        const nd_intake *plan
        uint32_t first
        uint64_t lines
        const char *const *paths
        const uint32_t *rows
        size_t row_n
    ctypedef struct nd_document_texts:
        const uint32_t *document
        const nd_str *text
        size_t n
    ctypedef struct nd_runs:
        const nd_str *run
        size_t n

    ctypedef struct nd_spread:
        pass
    nd_status nd_spread_new(nd_spread **out, uint32_t partitions, unsigned value_bytes, nd_error *err)
    void nd_spread_free(nd_spread *s)
    uint64_t nd_spread_waiting(const nd_spread *s)
    nd_status nd_spread_take(nd_str *run, nd_spread *s, uint32_t partition, nd_error *err)
    nd_status nd_stage_merge(nd_str *run, nd_stage *s, const nd_runs *runs, nd_merge how,
                             nd_error *err)
    nd_status nd_run_count(uint64_t *n, nd_str run, nd_error *err)
    nd_status nd_run_items(uint64_t *keys, uint64_t *values, nd_str run, nd_error *err)

    nd_status nd_stage_digests(nd_spread *digests, nd_spread *ids, nd_stage *s,
                               const nd_stored_block *block, nd_error *err)
    nd_status nd_stage_copies(nd_str *pairs, nd_stage *s, const nd_str *runs, size_t n,
                              nd_error *err)
    nd_status nd_stage_repeated(nd_str *documents, nd_stage *s, const nd_str *runs, size_t n,
                                nd_error *err)
    ctypedef struct nd_keys_request:
        nd_str image
        const uint32_t *position
        uint32_t ranges
    nd_status nd_stage_keys(nd_spread *out, nd_stage *s, const nd_keys_request *request,
                            nd_error *err)
    ctypedef struct nd_stage_buckets:
        uint64_t buckets, hot, hot_documents, largest
    ctypedef struct nd_group_request:
        uint32_t kind
        nd_runs runs
        uint64_t positions
    nd_status nd_stage_group(nd_spread *edges, nd_stage_buckets *stats, nd_stage *s,
                             const nd_group_request *request, nd_error *err)

    nd_status nd_stage_prints(nd_spread *out, uint32_t *sizes, nd_stage *s,
                              const nd_document_texts *texts, nd_error *err)
    nd_status nd_stage_census(nd_spread *out, nd_stage *s, const nd_str *text, size_t n,
                              nd_error *err)
    nd_status nd_stage_common(nd_str *keys, nd_stage *s, nd_str counts, nd_error *err)
    nd_status nd_stage_leave_out(nd_stage *s, const uint64_t *keys, size_t n, nd_error *err)
    nd_status nd_stage_expand(nd_spread *counts, nd_stage *s, const nd_runs *runs,
                              uint64_t documents, nd_error *err)
    ctypedef struct nd_document_sizes:
        const uint32_t *size
        uint64_t n
    nd_status nd_stage_judge(nd_str *pairs, nd_stage *s, nd_str counts,
                             const nd_document_sizes *sizes, nd_error *err)
    nd_status nd_stage_texts(nd_str *out, uint64_t *ends, nd_stage *s,
                             const nd_stored_block *block, nd_error *err)
    nd_status nd_stage_evidence(nd_str *out, uint64_t *ends, nd_stage *s,
                             const nd_stored_block *block, nd_error *err)
    nd_status nd_stage_ids(nd_str *out, uint64_t *ends, nd_stage *s,
                             const nd_stored_block *block, nd_error *err)
    nd_status nd_stage_rejects(nd_str *lines_out, nd_stage *s, const nd_stored_block *block,
                               nd_error *err)
    nd_status nd_stage_ranks(uint64_t *ranks, uint8_t *has_tokens, nd_stage *s, nd_str image,
                             nd_error *err)
    ctypedef struct nd_comparison:
        const uint64_t *pairs
        size_t n
        nd_document_texts evidence
        int all
    nd_status nd_stage_verify(uint64_t *values, nd_stage *s, const nd_comparison *comparison,
                              nd_error *err)

    nd_status nd_stage_components(uint32_t *root, uint64_t documents, const uint64_t *pairs,
                                  size_t n, nd_error *err)

    ctypedef struct nd_settle:
        pass
    ctypedef struct nd_settle_request:
        const uint32_t *same
        const uint64_t *rank
        uint64_t documents
        const char *tmp
    nd_status nd_settle_new(nd_settle **out, const nd_stage *s, const nd_settle_request *request,
                            nd_error *err)
    void nd_settle_free(nd_settle *t)
    void nd_settle_positions(uint32_t *out, const nd_settle *t)
    void nd_settle_documents(uint64_t *pairs, size_t n, const nd_settle *t)
    ctypedef struct nd_candidates:
        const uint64_t *pairs
        const uint64_t *kinds
        const uint64_t *values
        size_t n
    nd_status nd_settle_verify(nd_settle *t, const nd_candidates *candidates, nd_error *err)
    nd_status nd_settle_direct(nd_settle *t, const uint64_t *pairs, const uint64_t *values,
                               size_t n, nd_error *err)
    uint64_t nd_settle_pair_count(const nd_settle *t)
    nd_status nd_settle_pairs(uint64_t *pairs, uint64_t *values, nd_settle *t, nd_error *err)
    nd_status nd_settle_cluster(const uint64_t **missing, size_t *n, nd_settle *t,
                                const uint32_t *roots, nd_error *err)
    nd_status nd_settle_finish(nd_settle *t, const uint64_t *values, size_t n, nd_error *err)
    void nd_settle_result(uint32_t *centre, uint64_t *value, const nd_settle *t)
    void nd_settle_wanted(uint8_t *wanted, const nd_settle *t)
    nd_status nd_settle_write_pairs(nd_settle *t, const char *path, const nd_document_texts *ids,
                                    int collapse, nd_error *err)
    nd_status nd_settle_write_clusters(nd_settle *t, const char *path,
                                       const nd_document_texts *ids, nd_error *err)
    void nd_settle_counts(nd_summary *out, const nd_settle *t)
    nd_status nd_settle_write_summary(const nd_settle *t, const nd_summary *summary,
                                      const char *path, nd_error *err)

    nd_status nd_stage_parts(nd_str *lines, nd_stage *s, nd_str image, const uint8_t *dropped,
                             nd_error *err)
    ctypedef struct nd_settle_page:
        const nd_summary *summary
        const uint32_t *document
        const nd_str *id
        size_t n
        const uint32_t *text_document
        const nd_str *text
        size_t texts
        nd_str parts
        int by_folder
        nd_str rejected
        const char *const *inputs
        size_t input_n
        const char *directory
    nd_status nd_settle_report_texts(const uint32_t **documents, size_t *n, nd_settle *t,
                                     nd_error *err)
    nd_status nd_settle_write_report(nd_settle *t, const nd_settle_page *page, const char *dir,
                                     nd_error *err)

    nd_status nd_stage_cut_bytes(uint64_t *out, nd_stage *s, nd_str image, const uint8_t *dropped,
                                 nd_error *err)
    ctypedef struct nd_cut_request:
        nd_str image
        const uint8_t *dropped
        const char *from_ "from"
        uint64_t begin, end
        const char *to
        uint64_t at
    nd_status nd_stage_cut(nd_stage *s, const nd_cut_request *request, nd_error *err)
    ctypedef struct nd_keep_request:
        nd_intake *plan
        const nd_str *images
        size_t image_n
        const uint8_t *dropped
        const char *directory
        const char *work
    nd_status nd_stage_keep(nd_stage *s, const nd_keep_request *request, nd_error *err)
