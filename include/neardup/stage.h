/* The walk of a job cut into stages, for engines that run each of them apart:
 * on other machines, over pieces of the input, in any order (Spark does).
 *
 *   sign → copies → keys → edges → verify → settle → keep
 *
 * Every stage is a pure function over flat arrays.  The stages give the bytes
 * that nd_dedup gives on one machine, for any division of the input, as long as
 * blocks are numbered in input order.  Stages exchange blocks and runs, packed
 * and checksummed:
 *
 *   block  an opaque image of about two megabytes of input and, unless the input
 *          can be read again, the token texts
 *   run    sorted items: u32 "NDR1", u32 bytes per value, u64 n, u64 checksum,
 *          n keys of 8 bytes, n values of 1, 4 or 8 bytes; little-endian
 *
 * Documents are numbered in input order: the first number of the block plus the
 * row.  A position is an index into the keep order (with --keep first it equals
 * the number). */
#ifndef NEARDUP_STAGE_H
#define NEARDUP_STAGE_H

#include "neardup/options.h"
#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options resolved, and buffers.  Not for several threads at once. */
typedef struct nd_stage nd_stage;

typedef struct nd_stage_facts {
  int exact; /* found by nd_stage_prints and so on, not by keys */
  uint32_t permutations, bands, rows;
  /* Kinds of keys by which documents are brought together (0: nothing but copies), how many
   * items a document has of them all, and the bytes of an item's value. */
  uint32_t keys, key_items, key_bytes;
  double predicted_recall;
  int ranked;     /* --keep asks for an order other than the input's */
  int components; /* --cluster components */
  int direct;     /* method exact: what it counts is the result, nothing is compared */
  int open;       /* two equal documents can miss the threshold (--similarity overlap) */
  uint64_t sct;   /* --sample sct:N; 0: none */
  uint64_t max_document;
  uint64_t reserved[8]; /* 0 */
} nd_stage_facts;

enum { ND_STAGE_SECRET = 192 };

/* Creates a stage.  `secret`, ND_STAGE_SECRET random bytes shared by all stages of a job, keys the
 * digests that find exact duplicates, so authors of documents cannot force collisions.  `dedup`:
 * the options are those of nd_dedup, which needs a threshold, not of nd_pairs.  ND_ERR_USAGE: an
 * option works on one machine only, such as --against. */
ND_API nd_status nd_stage_new(nd_stage **out, const nd_options *options, int dedup,
                              const char *secret, nd_error *err) ND_MUST_CHECK;
/* Frees a stage; NULL is allowed. */
ND_API void nd_stage_free(nd_stage *s);
/* Fills *out with facts that follow from the options of a stage. */
ND_API void nd_stage_about(nd_stage_facts *out, const nd_stage *s);

/* ---- the input ------------------------------------------------------------ */

typedef struct nd_stage_file {
  const char *path; /* the path used in ids */
  const char *real; /* the path to read */
  const char *name; /* relative name in kept/ */
  uint64_t size;
  int64_t mtime_ns;
} nd_stage_file;

typedef struct nd_stage_task {
  int range;            /* 1: bytes [begin, end) of one large plain file; 0: entire files */
  uint32_t file, files; /* the first file, and their number */
  uint64_t begin, end;
} nd_stage_task;

/* Files and tasks of an input.  Tasks can be read independently of each other. */
typedef struct nd_intake nd_intake;
typedef struct nd_intake_request {
  const char *const *inputs; /* files and directories */
  size_t input_n;
  const char *avoid;    /* a directory to leave out, such as the output; NULL: none */
  uint64_t reserved[4]; /* 0 */
} nd_intake_request;
/* Walks the inputs and splits them into tasks; free the intake by nd_intake_free.
 * ND_ERR_IO: an input cannot be read at all. */
ND_API nd_status nd_intake_new(nd_intake **out, const nd_stage *s, const nd_intake_request *request,
                               nd_error *err) ND_MUST_CHECK;
/* Splits a known list of files, which is borrowed, into tasks.  ND_ERR_IO: a file cannot be read.
 * It is not skipped, because tasks are numbered and every machine must get the same tasks. */
ND_API nd_status nd_intake_files(nd_intake **out, const nd_stage *s, const nd_stage_file *files,
                                 size_t n, nd_error *err) ND_MUST_CHECK;
/* Frees an intake; NULL is allowed. */
ND_API void nd_intake_free(nd_intake *p);
/* Returns the number of files. */
ND_API size_t nd_intake_file_count(const nd_intake *p);
/* Returns file number `i`; its texts are borrowed from the intake. */
ND_API nd_stage_file nd_intake_file(const nd_intake *p, size_t i);
/* Returns the number of tasks. */
ND_API uint32_t nd_intake_task_count(const nd_intake *p);
/* Returns task number `i`. */
ND_API nd_stage_task nd_intake_task(const nd_intake *p, uint32_t i);
/* Returns the number of entries that could not be read: they are rejected. */
ND_API size_t nd_intake_problem_count(const nd_intake *p);
/* Returns the path of such an entry and sets *reason; both are borrowed. */
ND_API const char *nd_intake_problem(const char **reason, const nd_intake *p, size_t i);

/* ---- sign ------------------------------------------------------------------ */

typedef struct nd_stage_block {
  uint32_t task, part, docs, rejects;
  int last;            /* of its task */
  int range, raw;      /* of a range; its texts are not here */
  uint64_t lines;      /* of a range: they count from its start */
  uint64_t begin, end; /* of its records, in a range's file; begin > end: none */
  uint64_t raw_bytes, others, empties, tokens;
  nd_str image, texts; /* borrowed until the next block */
  uint64_t texts_sum;
  uint64_t reserved[8]; /* 0 */
} nd_stage_block;

typedef struct nd_reader nd_reader;
typedef struct nd_reader_request {
  const nd_intake *plan;
  uint32_t begin, end;  /* tasks of the plan: from `begin` up to `end`, without it */
  int keep_texts;       /* not 0: the texts of ranges are kept too */
  uint64_t reserved[4]; /* 0 */
} nd_reader_request;
/* Opens a reader of some tasks; it borrows the stage and the plan.  Close it by
 * nd_reader_close. */
ND_API nd_status nd_reader_open(nd_reader **out, nd_stage *s, const nd_reader_request *request,
                                nd_error *err) ND_MUST_CHECK;
/* Reads and signs the next block; *more is 0, and *out untouched, after the last. */
ND_API nd_status nd_reader_next(int *more, nd_stage_block *out, nd_reader *r,
                                nd_error *err) ND_MUST_CHECK;
/* Frees a reader; NULL is allowed. */
ND_API void nd_reader_close(nd_reader *r);

/* Is called before a record is looked into, so that whoever sees a process die knows in which
 * record.  `raw` is borrowed. */
typedef void (*nd_reader_watch)(void *context, uint32_t file, uint64_t offset, nd_str raw);
/* Sets the function to call; NULL: none. */
ND_API void nd_reader_watched(nd_reader *r, nd_reader_watch watch, void *context);
/* The first step of nd_reader_next: cuts the records of the next block without looking into
 * them.  *more is 0 after the last block. */
ND_API nd_status nd_reader_read(int *more, nd_reader *r, nd_error *err) ND_MUST_CHECK;
/* The second step: signs the records that were read last, as often as wanted.  *out is borrowed
 * until the next call on `r`. */
ND_API nd_status nd_reader_sign(nd_stage_block *out, nd_reader *r, nd_error *err) ND_MUST_CHECK;

#define ND_STAGE_SKIPPED "it killed the process that read it, and was left out"
/* Rejects, for the reason ND_STAGE_SKIPPED, the record that begins at `offset` of a file of the
 * plan: it must not be looked into.  *found becomes whether the records that were read last hold
 * it. */
ND_API nd_status nd_reader_skip(int *found, nd_reader *r, uint32_t file, uint64_t offset,
                                nd_error *err) ND_MUST_CHECK;

/* Documents that lie in memory, as UTF-8; only `text` is needed.  p == NULL: a
 * row without text. */
typedef struct nd_stage_rows {
  size_t n;
  const nd_str *text, *id, *url, *time, *field;
  uint64_t reserved[4]; /* 0 */
} nd_stage_rows;
/* The name of a block: a part of a task. */
typedef struct nd_block_name {
  uint32_t task, part;
} nd_block_name;
/* Signs documents that lie in memory: *out is their block, borrowed until the next call
 * on `s`. */
ND_API nd_status nd_stage_sign(nd_stage_block *out, nd_stage *s, const nd_block_name *name,
                               const nd_stage_rows *rows, nd_error *err) ND_MUST_CHECK;

/* A block as an engine stored it, and which rows of it a call is about. */
typedef struct nd_stored_block {
  nd_str image;
  nd_str texts; /* its token texts, and their checksum */
  uint64_t texts_sum;
  const nd_intake *plan;    /* holds the file of a raw block, whose texts are read again; or NULL */
  uint32_t first;           /* the number of its first document */
  uint64_t lines;           /* of its file, before it */
  const char *const *paths; /* of the plan's files, for ids; NULL: ids as they are */
  const uint32_t *rows;
  size_t row_n;
  uint64_t reserved[4]; /* 0 */
} nd_stored_block;

/* Texts (token texts, evidence or ids) of documents, whose numbers ascend. */
typedef struct nd_document_texts {
  const uint32_t *document;
  const nd_str *text;
  size_t n;
} nd_document_texts;

/* ---- runs --------------------------------------------------------------- */

/* Buffers items per partition. */
typedef struct nd_spread nd_spread;
/* Creates a spread for values of 1, 4 or 8 bytes; free it by nd_spread_free. */
ND_API nd_status nd_spread_new(nd_spread **out, uint32_t partitions, unsigned value_bytes,
                               nd_error *err) ND_MUST_CHECK;
/* Frees a spread; NULL is allowed. */
ND_API void nd_spread_free(nd_spread *s);
/* Returns the number of items in all partitions. */
ND_API uint64_t nd_spread_waiting(const nd_spread *s);
/* Empties a partition: sets *run to its items, sorted (n == 0: no items), borrowed until the
 * next call on `s`. */
ND_API nd_status nd_spread_take(nd_str *run, nd_spread *s, uint32_t partition,
                                nd_error *err) ND_MUST_CHECK;

/* Runs of one partition. */
typedef struct nd_runs {
  const nd_str *run;
  size_t n;
} nd_runs;

/* Equal keys keep their smallest value, or the sum of their values. */
typedef enum nd_merge { ND_MERGE_LEAST, ND_MERGE_SUM } nd_merge;
/* Merges runs into one, borrowed until the next call on `s`.  ND_ERR_DATA: a run is
 * damaged. */
ND_API nd_status nd_stage_merge(nd_str *run, nd_stage *s, const nd_runs *runs, nd_merge how,
                                nd_error *err) ND_MUST_CHECK;
/* Sets *n to the number of items in a run.  ND_ERR_DATA: the run is damaged. */
ND_API nd_status nd_run_count(uint64_t *n, nd_str run, nd_error *err) ND_MUST_CHECK;
/* Writes the items of a run to `keys` and `values`, which have room for all. */
ND_API nd_status nd_run_items(uint64_t *keys, uint64_t *values, nd_str run,
                              nd_error *err) ND_MUST_CHECK;

/* ---- exact duplicates ---------------------------------------------------- */

/* Adds the digests (values of 8 bytes) and the hashes of ids (values of 4) of a block's
 * documents to two spreads.  Reads only `image` and `first` of the block. */
ND_API nd_status nd_stage_digests(nd_spread *digests, nd_spread *ids, nd_stage *s,
                                  const nd_stored_block *block, nd_error *err) ND_MUST_CHECK;
/* Lists the exact duplicates in the runs of one partition: pairs (duplicate, first occurrence) of 8
 * bytes, ascending. */
ND_API nd_status nd_stage_copies(nd_str *pairs, nd_stage *s, const nd_str *runs, size_t n,
                                 nd_error *err) ND_MUST_CHECK;
/* Lists the documents (4 bytes each) with a repeated id, from runs of hashes of ids. */
ND_API nd_status nd_stage_repeated(nd_str *documents, nd_stage *s, const nd_str *runs, size_t n,
                                   nd_error *err) ND_MUST_CHECK;

/* ---- candidates ------------------------------------------------------------ */

typedef struct nd_keys_request {
  nd_str image;             /* of a block */
  const uint32_t *position; /* of each row; UINT32_MAX: an exact duplicate, or empty */
  uint32_t ranges;          /* ranges of keys per kind */
  uint64_t reserved[4];     /* 0 */
} nd_keys_request;
/* Adds the keys of a block's documents to a spread with facts.keys × ranges partitions, to
 * partition kind × ranges + range of the key. */
ND_API nd_status nd_stage_keys(nd_spread *out, nd_stage *s, const nd_keys_request *request,
                               nd_error *err) ND_MUST_CHECK;

typedef struct nd_stage_buckets {
  uint64_t buckets, hot, hot_documents, largest;
  uint64_t reserved[4]; /* 0 */
} nd_stage_buckets;
/* Values of edges, of 1 byte. */
enum { ND_STAGE_FULL = 0, ND_STAGE_STAR = 1 };
typedef struct nd_group_request {
  uint32_t kind;        /* kind of the keys, below facts.keys */
  nd_runs runs;         /* runs of keys, of one partition */
  uint64_t positions;   /* number of positions */
  uint64_t reserved[4]; /* 0 */
} nd_group_request;
/* Adds the edges between documents with equal keys to a spread, by their first position,
 * and the counts of buckets to *stats. */
ND_API nd_status nd_stage_group(nd_spread *edges, nd_stage_buckets *stats, nd_stage *s,
                                const nd_group_request *request, nd_error *err) ND_MUST_CHECK;

/* ---- method exact ----------------------------------------------------------- */

/* Adds the distinct shingles of documents (values of 8 bytes) to a spread, and writes how
 * many each document has to `sizes`. */
ND_API nd_status nd_stage_prints(nd_spread *out, uint32_t *sizes, nd_stage *s,
                                 const nd_document_texts *texts, nd_error *err) ND_MUST_CHECK;
/* --sample sct:N.  Adds the distinct shingles of texts, each with the value 1 (of 4 bytes),
 * to a spread. */
ND_API nd_status nd_stage_census(nd_spread *out, nd_stage *s, const nd_str *text, size_t n,
                                 nd_error *err) ND_MUST_CHECK;
/* Sets *keys to the shingles (8 bytes each) that more than N documents have, by a run that
 * was merged by ND_MERGE_SUM; borrowed until the next call on `s`. */
ND_API nd_status nd_stage_common(nd_str *keys, nd_stage *s, nd_str counts,
                                 nd_error *err) ND_MUST_CHECK;
/* Leaves out these shingles, in ascending order, from now on. */
ND_API nd_status nd_stage_leave_out(nd_stage *s, const uint64_t *keys, size_t n,
                                    nd_error *err) ND_MUST_CHECK;
/* Adds counted pairs (values of 4 bytes) of the documents that share a shingle to a spread,
 * by the first of `documents`. */
ND_API nd_status nd_stage_expand(nd_spread *counts, nd_stage *s, const nd_runs *runs,
                                 uint64_t documents, nd_error *err) ND_MUST_CHECK;
/* Numbers of distinct shingles per document. */
typedef struct nd_document_sizes {
  const uint32_t *size;
  uint64_t n;
} nd_document_sizes;
/* Sets *pairs to a run of the pairs that reach the threshold, with their similarities, by a
 * merged run of counts; borrowed until the next call on `s`. */
ND_API nd_status nd_stage_judge(nd_str *pairs, nd_stage *s, nd_str counts,
                                const nd_document_sizes *sizes, nd_error *err) ND_MUST_CHECK;

/* ---- texts and ids ---------------------------------------------------------- */

/* Sets *texts to the token texts of the block's rows; text i ends at ends[i] bytes from the
 * start.  Borrowed until the next call on `s`.  ND_ERR_STATE: the file of a raw block has
 * changed; ND_ERR_DATA: the block is damaged. */
ND_API nd_status nd_stage_texts(nd_str *texts, uint64_t *ends, nd_stage *s,
                                const nd_stored_block *block, nd_error *err) ND_MUST_CHECK;
/* Sets *out to what nd_stage_verify compares the block's rows by: their sketches (8 bytes a
 * word), their texts, or one after the other, as the method needs.  Ends and failures are
 * those of nd_stage_texts. */
ND_API nd_status nd_stage_evidence(nd_str *out, uint64_t *ends, nd_stage *s,
                                   const nd_stored_block *block, nd_error *err) ND_MUST_CHECK;
/* Sets *ids to the ids of the block's rows, escaped for a list; without paths they are
 * unescaped, and empty where a document has none.  Ends as in nd_stage_texts. */
ND_API nd_status nd_stage_ids(nd_str *ids, uint64_t *ends, nd_stage *s,
                              const nd_stored_block *block, nd_error *err) ND_MUST_CHECK;
/* Sets *lines_out to the block's rejected records, a line each: location TAB reason.  Reads only
 * `image`, `paths` and `lines` of the block; borrowed until the next call on `s`. */
ND_API nd_status nd_stage_rejects(nd_str *lines_out, nd_stage *s, const nd_stored_block *block,
                                  nd_error *err) ND_MUST_CHECK;
/* Ranks (--keep) of a block's documents, and whether each has tokens. */
ND_API nd_status nd_stage_ranks(uint64_t *ranks, uint8_t *has_tokens, nd_stage *s, nd_str image,
                                nd_error *err) ND_MUST_CHECK;

/* ---- verify ------------------------------------------------------------------ */

#define ND_STAGE_NOT_SIMILAR UINT64_MAX
typedef struct nd_comparison {
  const uint64_t *pairs; /* number << 32 | number */
  size_t n;
  nd_document_texts evidence; /* of their documents, as nd_stage_evidence gives it */
  int all;                    /* not 0: similarities below the threshold too */
  uint64_t reserved[4];       /* 0 */
} nd_comparison;
/* Compares pairs: values[i] becomes numerator << 32 | denominator, or ND_STAGE_NOT_SIMILAR
 * below the threshold.  ND_ERR_STATE: the evidence of a document is missing. */
ND_API nd_status nd_stage_verify(uint64_t *values, nd_stage *s, const nd_comparison *comparison,
                                 nd_error *err) ND_MUST_CHECK;

/* Finds connected components: root[d] becomes the smallest document connected with d.
 * ND_ERR_DATA: a pair names a document that does not exist. */
ND_API nd_status nd_stage_components(uint32_t *root, uint64_t documents, const uint64_t *pairs,
                                     size_t n, nd_error *err) ND_MUST_CHECK;

/* ---- settle ------------------------------------------------------------------ */

/* The steps that run in one process: the keep order, the rounds of the verifier (as on one
 * machine), the clusters, the lists. */
typedef struct nd_settle nd_settle;
typedef struct nd_settle_request {
  const uint32_t *same; /* per document: the first one with its tokens; UINT32_MAX: no tokens */
  const uint64_t *rank; /* per document, by nd_stage_ranks; NULL unless facts.ranked */
  uint64_t documents;
  const char *tmp;      /* a directory for temporary files */
  uint64_t reserved[4]; /* 0 */
} nd_settle_request;
/* Begins; the arrays are copied.  ND_ERR_LIMIT: more documents than one run can number;
 * ND_ERR_DATA: `same` contradicts itself. */
ND_API nd_status nd_settle_new(nd_settle **out, const nd_stage *s, const nd_settle_request *request,
                               nd_error *err) ND_MUST_CHECK;
/* Frees; NULL is allowed. */
ND_API void nd_settle_free(nd_settle *t);
/* Writes the position of every document, for nd_stage_keys, to `out`. */
ND_API void nd_settle_positions(uint32_t *out, const nd_settle *t);
/* Replaces pairs of positions by pairs of documents. */
ND_API void nd_settle_documents(uint64_t *pairs, size_t n, const nd_settle *t);
/* All candidates. */
typedef struct nd_candidates {
  const uint64_t *pairs;  /* of positions, ascending */
  const uint64_t *kinds;  /* values of their edges */
  const uint64_t *values; /* by nd_stage_verify */
  size_t n;
} nd_candidates;
/* Runs the rounds of the verifier over all candidates, with the values that nd_stage_verify
 * computed.  ND_ERR_DATA: the candidates are not ascending or name a position that does not
 * exist. */
ND_API nd_status nd_settle_verify(nd_settle *t, const nd_candidates *candidates,
                                  nd_error *err) ND_MUST_CHECK;
/* Takes pairs of documents, ascending, that are results already (facts.direct). */
ND_API nd_status nd_settle_direct(nd_settle *t, const uint64_t *pairs, const uint64_t *values,
                                  size_t n, nd_error *err) ND_MUST_CHECK;
/* Returns the number of pairs that reached the threshold. */
ND_API uint64_t nd_settle_pair_count(const nd_settle *t);
/* Writes those pairs of documents, and their values, to arrays with room for all. */
ND_API nd_status nd_settle_pairs(uint64_t *pairs, uint64_t *values, nd_settle *t,
                                 nd_error *err) ND_MUST_CHECK;
/* Makes the clusters.  `roots` are components by nd_stage_components; NULL: they are found
 * here.  Sets *missing to the *n pairs of documents whose similarity nd_settle_finish needs,
 * computed with `all`; borrowed from `t`. */
ND_API nd_status nd_settle_cluster(const uint64_t **missing, size_t *n, nd_settle *t,
                                   const uint32_t *roots, nd_error *err) ND_MUST_CHECK;
/* Takes the values of the missing pairs.  ND_ERR_USAGE: there are more or fewer. */
ND_API nd_status nd_settle_finish(nd_settle *t, const uint64_t *values, size_t n,
                                  nd_error *err) ND_MUST_CHECK;
/* Writes for every document the kept document it is assigned to, and the packed similarity to it.
 */
ND_API void nd_settle_result(uint32_t *centre, uint64_t *value, const nd_settle *t);
/* Writes 1 for every document that the lists name, and 0 for the others. */
ND_API void nd_settle_wanted(uint8_t *wanted, const nd_settle *t);
/* Writes the list of pairs to a file.  `ids` are the ids, by nd_stage_ids, of all documents that
 * the list names.  With `collapse` an exact duplicate is listed once, with its first occurrence. */
ND_API nd_status nd_settle_write_pairs(nd_settle *t, const char *path, const nd_document_texts *ids,
                                       int collapse, nd_error *err) ND_MUST_CHECK;
/* Writes the list of clusters to a file, after nd_settle_finish.  `ids` as for the pairs. */
ND_API nd_status nd_settle_write_clusters(nd_settle *t, const char *path,
                                          const nd_document_texts *ids,
                                          nd_error *err) ND_MUST_CHECK;
/* Fills the counts of pairs, candidates, skipped edges, copies, clusters, kept and dropped
 * documents. */
ND_API void nd_settle_counts(nd_summary *out, const nd_settle *t);
/* Writes summary.json, with these counts, to a file. */
ND_API nd_status nd_settle_write_summary(const nd_settle *t, const nd_summary *summary,
                                         const char *path, nd_error *err) ND_MUST_CHECK;

/* ---- report.html ------------------------------------------------------------------ */

/* Parts of the corpus in a block, a line each: kind TAB documents TAB dropped TAB
 * name.  Kinds are f (the name is the number of a file of its plan), s (a site)
 * and z (a size, by number).  dropped[i] != 0 for row i. */
ND_API nd_status nd_stage_parts(nd_str *lines, nd_stage *s, nd_str image, const uint8_t *dropped,
                                nd_error *err) ND_MUST_CHECK;

/* Contents of a report beyond the results of nd_settle. */
typedef struct nd_settle_page {
  const nd_summary *summary;
  const uint32_t *document; /* ids, as for the lists */
  const nd_str *id;
  size_t n;
  const uint32_t *text_document; /* documents of nd_settle_report_texts, ascending */
  const nd_str *text;
  size_t texts;
  nd_str parts;    /* lines of nd_stage_parts, summed; kind f names files */
  int by_folder;   /* 1: kind f names directories */
  nd_str rejected; /* lines of nd_stage_rejects */
  const char *const *inputs;
  size_t input_n;
  const char *directory;
  uint64_t reserved[8]; /* 0 */
} nd_settle_page;

/* Lists the documents whose texts the report shows: *n numbers, ascending, borrowed. */
ND_API nd_status nd_settle_report_texts(const uint32_t **documents, size_t *n, nd_settle *t,
                                        nd_error *err) ND_MUST_CHECK;
/* Writes `dir`/report.html; after the lists. */
ND_API nd_status nd_settle_write_report(nd_settle *t, const nd_settle_page *page, const char *dir,
                                        nd_error *err) ND_MUST_CHECK;

/* ---- keep ----------------------------------------------------------------------- */

/* Sets *out to the number of dropped bytes in the block of a range: dropped[i] != 0 for row i. */
ND_API nd_status nd_stage_cut_bytes(uint64_t *out, nd_stage *s, nd_str image,
                                    const uint8_t *dropped, nd_error *err) ND_MUST_CHECK;
typedef struct nd_cut_request {
  nd_str image;           /* of a range's block */
  const uint8_t *dropped; /* per row: not 0 if it is dropped */
  const char *from;       /* the plain file, and the part of it: [begin, end) */
  uint64_t begin, end;
  const char *to; /* the file to write, from offset `at` */
  uint64_t at;
  uint64_t reserved[4]; /* 0 */
} nd_cut_request;
/* Copies a part of a plain file without its dropped and rejected records. */
ND_API nd_status nd_stage_cut(nd_stage *s, const nd_cut_request *request,
                              nd_error *err) ND_MUST_CHECK;
typedef struct nd_keep_request {
  nd_intake *plan;
  const nd_str *images; /* all blocks of the plan's tasks, numbered from 0 */
  size_t image_n;
  const uint8_t *dropped; /* per document: not 0 if it is dropped */
  const char *directory;  /* the kept files go below it */
  const char *work;       /* an empty directory for the blocks meanwhile */
  uint64_t reserved[4];   /* 0 */
} nd_keep_request;
/* Writes what is kept of whole files.  ND_ERR_DATA: a block is damaged. */
ND_API nd_status nd_stage_keep(nd_stage *s, const nd_keep_request *request,
                               nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
