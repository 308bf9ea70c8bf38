# The public headers of the library, as far as the package uses them.
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "neardup.h" nogil:
    ctypedef enum nd_status:
        ND_OK
        ND_ERR_USAGE
        ND_ERR_MEMORY
        ND_ERR_IO
        ND_ERR_DATA
        ND_ERR_LIMIT
        ND_ERR_STATE
        ND_ERR_CANCELLED
    ctypedef struct nd_error:
        nd_status status
        char message[1000]
    ctypedef struct nd_str:
        const char *p
        size_t n
    const char *nd_status_name(nd_status status)

    ctypedef struct nd_options:
        pass
    ctypedef enum nd_option_type:
        ND_OPTION_FLAG
        ND_OPTION_WORD
        ND_OPTION_TEXT
        ND_OPTION_LIST
        ND_OPTION_COUNT
        ND_OPTION_SIZE
        ND_OPTION_DECIMAL
        ND_OPTION_SEED
    unsigned ND_FOR_DEDUP, ND_FOR_PAIRS, ND_FOR_CLUSTER, ND_FOR_INSPECT
    unsigned ND_FOR_STUDY, ND_FOR_PLAN, ND_FOR_EVAL
    ctypedef struct nd_option_info:
        const char *name
        nd_option_type type
        const char *standard
        const char *metavar
        const char *values
        uint64_t min
        uint64_t max
        unsigned commands
        const char *help
    const nd_option_info *nd_option_at(size_t i)
    const char *nd_option_value_help(const nd_option_info *info, const char *value)
    nd_status nd_options_new(nd_options **out, nd_error *err)
    void nd_options_free(nd_options *options)
    nd_status nd_options_set(nd_options *options, const char *name, const char *value,
                             nd_error *err)
    const char *nd_options_get(nd_options *options, const char *name)
    nd_status nd_options_check(const nd_options *options, nd_error *err)

    ctypedef struct nd_progress:
        const char *stage
        uint64_t done
        uint64_t total
        uint64_t documents
        double seconds
    ctypedef struct nd_hooks:
        void *context
        void (*progress)(void *context, const nd_progress *progress)
        int (*cancelled)(void *context)
    ctypedef struct nd_sink:
        void *context
        nd_status (*write)(void *context, const char *bytes, size_t n, nd_error *err)
    ctypedef struct nd_summary:
        uint64_t files, bytes, raw_bytes, documents, kept, dropped, rejected
        uint64_t against_documents, others, empty, tokens, copies, repeated_ids
        uint64_t buckets, hot_buckets, hot_documents, largest_bucket
        uint64_t candidates, pairs, skipped, clusters, largest_cluster, resumed_documents
        uint32_t permutations, bands, rows
        double predicted_recall
        uint64_t max_document
        unsigned threads
        uint64_t memory
        double seconds, cpu_seconds
        double read_seconds, find_seconds, verify_seconds, write_seconds
        uint64_t peak_memory, temporary_bytes
        int already_complete, shard_only, counts
    ctypedef struct nd_dedup_request:
        const char *const *inputs
        size_t input_n
        const char *directory
    nd_status nd_dedup(nd_summary *out, const nd_dedup_request *request,
                       const nd_options *options, const nd_hooks *hooks, nd_error *err)
    ctypedef struct nd_output_path:
        const char *role
        const char *path
        int directory
    nd_status nd_output_check(const nd_output_path *outputs, size_t n,
                              const nd_output_path *inputs, size_t m, nd_error *err)
    ctypedef struct nd_output_dir:
        pass
    nd_status nd_output_dir_open(nd_output_dir **out, const char *dir, const nd_options *options,
                             nd_error *err)
    int nd_output_dir_is_complete(const nd_output_dir *o)
    nd_status nd_output_dir_begin(const char **folder, nd_output_dir *o, nd_error *err)
    nd_status nd_output_dir_commit(nd_output_dir *o, nd_str summary, nd_error *err)
    void nd_output_dir_close(nd_output_dir *o)
    nd_status nd_output_dir_verify(const char *dir, nd_error *err)
    const char *nd_version()
    const char *nd_cpu_level_name()
    size_t nd_field_escape(char *out, nd_str text)
    size_t nd_field_unescape(char *out, nd_str field)

    ctypedef struct nd_sketcher:
        pass
    nd_status nd_sketcher_new(nd_sketcher **out, const nd_options *options, nd_error *err)
    void nd_sketcher_free(nd_sketcher *s)
    uint32_t nd_sketcher_length(const nd_sketcher *s)
    nd_status nd_sketcher_text(uint64_t *out, uint64_t *shingles, nd_sketcher *s, nd_str text,
                               nd_error *err)
    double nd_sketcher_estimate(const nd_sketcher *s, const uint64_t *a, const uint64_t *b)
    nd_status nd_sketcher_compare(double *resemblance, nd_sketcher *s, nd_str a, nd_str b,
                                  nd_error *err)

    ctypedef enum nd_layout:
        ND_LAYOUT_STR
        ND_LAYOUT_OFFSET32
        ND_LAYOUT_OFFSET64
        ND_LAYOUT_VIEW
    ctypedef struct nd_chunk:
        nd_layout layout
        uint64_t n
        uint64_t first
        const uint8_t *valid
        const void *index
        const char *bytes
        const char *const *buffers
        const int64_t *sizes
        uint64_t buffer_n
    ctypedef struct nd_text_stream:
        const nd_chunk *chunks
        size_t n
        const nd_chunk *facts
        void *context
        nd_status (*next)(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *err)
    ctypedef struct nd_corpus:
        const nd_text_stream *texts
        const nd_text_stream *against
        const char *const *files
        size_t file_n
    ctypedef struct nd_rejection:
        uint64_t text
        uint64_t place
        uint64_t reason
    ctypedef struct nd_result:
        uint64_t n
        uint8_t *keep
        uint32_t *cluster
        double *similarity
        uint64_t pair_n
        uint32_t *a
        uint32_t *b
        double *value
        uint64_t rejection_n
        nd_rejection *rejections
        char *strings
        uint64_t *id_end
        char *ids
        nd_summary summary
    void nd_result_clear(nd_result *r)
    nd_status nd_dedup_memory(nd_result *out, const nd_corpus *corpus, const nd_options *options,
                              const nd_hooks *hooks, nd_error *err)
    nd_status nd_pairs_memory(nd_result *out, const nd_corpus *corpus, const nd_options *options,
                              const nd_hooks *hooks, nd_error *err)
    nd_status nd_chunk_text(nd_str *out, int *null, const nd_chunk *chunk, uint64_t i,
                            nd_error *err)
    nd_status nd_sketcher_fingerprints(const uint64_t **out, size_t *n, nd_sketcher *s,
                                       nd_str text, nd_error *err)
    uint64_t nd_sketcher_feature(const nd_sketcher *s, nd_str feature)
    nd_status nd_sketcher_sketch(uint64_t *out, nd_sketcher *s, const uint64_t *fingerprint,
                                 size_t n, nd_error *err)
    void nd_sketcher_merge(uint64_t *sketch, const nd_sketcher *s, const uint64_t *other)
    uint32_t nd_sketcher_bands(const nd_sketcher *s)
    uint32_t nd_sketcher_rows(const nd_sketcher *s)
    void nd_sketcher_keys(uint64_t *keys, const nd_sketcher *s, const uint64_t *sketch)
    ctypedef enum nd_votes:
        ND_VOTES_SIMHASH
        ND_VOTES_PROJECTION
    ctypedef struct nd_votes_spec:
        nd_votes kind
        uint32_t bits
        uint64_t seed
    nd_status nd_votes_add(int64_t *sums, const nd_votes_spec *spec, const uint64_t *fingerprint,
                           size_t n, nd_error *err)
    void nd_votes_bits(uint64_t *out, const int64_t *sums, uint32_t bits)
