/* The walk of a job cut into stages, for engines that run each of them apart:
 * on other machines, over pieces of the input, in any order (Spark does).
 *
 *   sign → copies → keys → edges → verify → settle → keep
 *
 * Every stage is a pure function over flat arrays.  What one machine gets from
 * nd_dedup comes out of them byte for byte, however the input was cut, as long
 * as blocks are numbered in input order.  What travels between stages are
 * blocks and runs, packed and checksummed:
 *
 *   block  what is kept of about two megabytes of input (an opaque image), and
 *          beside it the token texts, unless the input can be read again
 *   run    sorted items: u32 "NDR1", u32 bytes per value, u64 n, u64 checksum,
 *          n keys of 8 bytes, n values of 1, 4 or 8 bytes; little-endian
 *
 * A document's number is its place in the input: a block's first number plus
 * its row.  A position is its place in the order of --keep (with --keep first
 * they are the same). */
#ifndef NEARDUP_STAGE_H
#define NEARDUP_STAGE_H

#include "neardup/options.h"
#include "neardup/run.h"

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
  uint64_t sct;   /* --sample sct:N; 0: none */
  uint64_t max_document;
} nd_stage_facts;

enum { ND_STAGE_SECRET = 192 };

/* `secret` (ND_STAGE_SECRET random bytes, the same in all stages of a job) keys
 * the digests by which copies are told: nobody who writes documents knows it.
 * `dedup`: the options are nd_dedup's (a threshold is needed), not nd_pairs'.
 * ND_ERR_USAGE for what only one machine can do, such as --against. */
ND_API nd_status nd_stage_new(nd_stage **out, const nd_options *options, int dedup,
                              const char *secret, nd_error *err) ND_MUST_CHECK;
ND_API void nd_stage_free(nd_stage *s);
ND_API void nd_stage_about(nd_stage_facts *out, const nd_stage *s);

/* ---- the input ------------------------------------------------------------ */

typedef struct nd_stage_file {
  const char *path; /* as the ids call it */
  const char *real; /* where its bytes are */
  const char *name; /* below kept/ */
  uint64_t size;
  int64_t mtime_ns;
} nd_stage_file;

typedef struct nd_stage_task {
  int range;            /* a part of one large plain file … */
  uint32_t file, files; /* else whole files */
  uint64_t begin, end;
} nd_stage_task;

/* Files and tasks of an input.  A task can be read apart from all others. */
typedef struct nd_intake nd_intake;
ND_API nd_status nd_intake_new(nd_intake **out, const nd_stage *s, const char *const *inputs,
                               size_t n, const char *avoid, nd_error *err) ND_MUST_CHECK;
/* The same for files that are known already; borrowed.  Fails where one cannot be looked into:
 * tasks are told by their number, so all who plan the same files must come to the same ones. */
ND_API nd_status nd_intake_files(nd_intake **out, const nd_stage *s, const nd_stage_file *files,
                                 size_t n, nd_error *err) ND_MUST_CHECK;
ND_API void nd_intake_free(nd_intake *p);
ND_API size_t nd_intake_file_count(const nd_intake *p);
ND_API nd_stage_file nd_intake_file(const nd_intake *p, size_t i);
ND_API uint32_t nd_intake_task_count(const nd_intake *p);
ND_API nd_stage_task nd_intake_task(const nd_intake *p, uint32_t i);
/* Entries that could not be read: rejected. */
ND_API size_t nd_intake_problem_count(const nd_intake *p);
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
} nd_stage_block;

typedef struct nd_reader nd_reader;
/* Reads the tasks from `begin` up to `end` of the plan.  With `keep_texts` the
 * texts of ranges are kept too. */
ND_API nd_status nd_reader_open(nd_reader **out, nd_stage *s, const nd_intake *p, uint32_t begin,
                                uint32_t end, int keep_texts, nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_reader_next(int *more, nd_stage_block *out, nd_reader *r,
                                nd_error *err) ND_MUST_CHECK;
ND_API void nd_reader_close(nd_reader *r);

/* The two steps of nd_reader_next: cuts the records of the next block, which are
 * not looked into; signs them, as often as wanted.  `watch` (NULL: nobody) is
 * called before a record is looked into: whoever has seen a process die knows in
 * which one.  `raw` is borrowed. */
typedef void (*nd_reader_watch)(void *context, uint32_t file, uint64_t offset, nd_str raw);
ND_API void nd_reader_watched(nd_reader *r, nd_reader_watch watch, void *context);
ND_API nd_status nd_reader_read(int *more, nd_reader *r, nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_reader_sign(nd_stage_block *out, nd_reader *r, nd_error *err) ND_MUST_CHECK;

/* A record that must not be looked into, such as one that killed its process: it
 * begins at `offset` of a file of the plan.  It is rejected, ND_STAGE_SKIPPED is
 * the reason.  *found says whether the records that were read last hold it. */
#define ND_STAGE_SKIPPED "it killed the process that read it, and was left out"
ND_API nd_status nd_reader_skip(int *found, nd_reader *r, uint32_t file, uint64_t offset,
                                nd_error *err) ND_MUST_CHECK;

/* Documents that lie in memory, as UTF-8; only `text` is needed.  p == NULL: a
 * row without text.  `first_line` counts rows from 1, for rejects. */
typedef struct nd_stage_rows {
  size_t n;
  const nd_str *text, *id, *url, *time, *field;
} nd_stage_rows;
ND_API nd_status nd_stage_sign(nd_stage_block *out, nd_stage *s, uint32_t task, uint32_t part,
                               const nd_stage_rows *rows, nd_error *err) ND_MUST_CHECK;

/* ---- runs --------------------------------------------------------------- */

/* Items on their way to places. */
typedef struct nd_spread nd_spread;
ND_API nd_status nd_spread_new(nd_spread **out, uint32_t places, unsigned value_bytes,
                               nd_error *err) ND_MUST_CHECK;
ND_API void nd_spread_free(nd_spread *s);
ND_API uint64_t nd_spread_waiting(const nd_spread *s); /* items */
/* The run for a place (n == 0: none), borrowed until the next call; the place
 * is empty then. */
ND_API nd_status nd_spread_take(nd_str *run, nd_spread *s, uint32_t place,
                                nd_error *err) ND_MUST_CHECK;

/* Merges runs into one; equal keys: the smallest value, or the sum. */
enum { ND_MERGE_LEAST, ND_MERGE_SUM };
ND_API nd_status nd_stage_merge(nd_str *run, nd_stage *s, const nd_str *runs, size_t n, int how,
                                nd_error *err) ND_MUST_CHECK;
/* How many items; then the items themselves. */
ND_API nd_status nd_run_count(uint64_t *n, nd_str run, nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_run_items(uint64_t *keys, uint64_t *values, nd_str run,
                              nd_error *err) ND_MUST_CHECK;

/* ---- copies -------------------------------------------------------------- */

/* Digests (values of 8 bytes) and hashes of ids (values of 4) of a block. */
ND_API nd_status nd_stage_digests(nd_spread *digests, nd_spread *ids, nd_stage *s, nd_str image,
                                  uint32_t first, nd_error *err) ND_MUST_CHECK;
/* Runs of one place → (copy, first) pairs of numbers, 8 bytes each, rising. */
ND_API nd_status nd_stage_copies(nd_str *pairs, nd_stage *s, const nd_str *runs, size_t n,
                                 nd_error *err) ND_MUST_CHECK;
/* Runs of hashes of ids → the documents (4 bytes each) whose id came before. */
ND_API nd_status nd_stage_repeated(nd_str *documents, nd_stage *s, const nd_str *runs, size_t n,
                                   nd_error *err) ND_MUST_CHECK;

/* ---- candidates ------------------------------------------------------------ */

/* The keys of a block's documents, to facts.keys × ranges places: kind × ranges +
 * range of the key.  `position[i]` of row i; UINT32_MAX: a copy, or empty. */
ND_API nd_status nd_stage_keys(nd_spread *out, nd_stage *s, nd_str image, const uint32_t *position,
                               uint32_t ranges, nd_error *err) ND_MUST_CHECK;

typedef struct nd_stage_buckets {
  uint64_t buckets, hot, hot_documents, largest;
} nd_stage_buckets;
/* Runs of one place (keys of one kind) → edges, spread by the first position of
 * `positions`.  Their values, of 1 byte, are one of these. */
enum { ND_STAGE_FULL = 0, ND_STAGE_STAR = 1 };
ND_API nd_status nd_stage_group(nd_spread *edges, nd_stage_buckets *stats, nd_stage *s,
                                uint32_t kind, const nd_str *runs, size_t n, uint64_t positions,
                                nd_error *err) ND_MUST_CHECK;

/* ---- method exact ----------------------------------------------------------- */

/* Texts of documents → runs of their distinct shingles (values of 8 bytes), and
 * how many each has. */
ND_API nd_status nd_stage_prints(nd_spread *out, uint32_t *sizes, nd_stage *s,
                                 const uint32_t *document, const nd_str *text, size_t n,
                                 nd_error *err) ND_MUST_CHECK;
/* --sample sct:N.  Texts → runs of shingles, counting 1 (values of 4); a merged
 * run (ND_MERGE_SUM) → the shingles (8 bytes each) that more than N have; and
 * those, rising, are left out from then on. */
ND_API nd_status nd_stage_census(nd_spread *out, nd_stage *s, const nd_str *text, size_t n,
                                 nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_stage_common(nd_str *keys, nd_stage *s, nd_str counts,
                                 nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_stage_leave_out(nd_stage *s, const uint64_t *keys, size_t n,
                                    nd_error *err) ND_MUST_CHECK;
/* Runs of one place → counted pairs (values of 4), spread by the first of
 * `documents`. */
ND_API nd_status nd_stage_expand(nd_spread *counts, nd_stage *s, const nd_str *runs, size_t n,
                                 uint64_t documents, nd_error *err) ND_MUST_CHECK;
/* A merged run of counts → the pairs that count, with their similarities. */
ND_API nd_status nd_stage_judge(nd_str *pairs, nd_stage *s, nd_str counts, const uint32_t *sizes,
                                uint64_t documents, nd_error *err) ND_MUST_CHECK;

/* ---- texts and ids ---------------------------------------------------------- */

/* The token texts of some rows of a block: `ends[i]` bytes from the start.  For
 * a raw block `plan` holds its file; else it may be NULL. */
ND_API nd_status nd_stage_texts(nd_str *texts, uint64_t *ends, nd_stage *s, nd_str image,
                                nd_str stored, uint64_t texts_sum, const nd_intake *plan,
                                const uint32_t *rows, size_t n, nd_error *err) ND_MUST_CHECK;
/* The same for nd_stage_verify: what documents are compared by, which is their
 * sketches (facts of the method, 8 bytes a word), their texts, or one behind the
 * other.  Only what is compared is read. */
ND_API nd_status nd_stage_evidence(nd_str *out, uint64_t *ends, nd_stage *s, nd_str image,
                                   nd_str stored, uint64_t texts_sum, const nd_intake *plan,
                                   const uint32_t *rows, size_t n, nd_error *err) ND_MUST_CHECK;
/* The ids of some rows, escaped for a list; `paths` NULL: as they are, empty
 * where there is none. `lines`: of the file, before this block. */
ND_API nd_status nd_stage_ids(nd_str *ids, uint64_t *ends, nd_stage *s, nd_str image,
                              const char *const *paths, uint64_t lines, const uint32_t *rows,
                              size_t n, nd_error *err) ND_MUST_CHECK;
/* Rejected records, a line each: place TAB reason. */
ND_API nd_status nd_stage_rejects(nd_str *lines_out, nd_stage *s, nd_str image,
                                  const char *const *paths, uint64_t lines,
                                  nd_error *err) ND_MUST_CHECK;
/* Ranks (--keep) of a block's documents, and whether each has tokens. */
ND_API nd_status nd_stage_ranks(uint64_t *ranks, uint8_t *has_tokens, nd_stage *s, nd_str image,
                                nd_error *err) ND_MUST_CHECK;

/* ---- verify ------------------------------------------------------------------ */

#define ND_STAGE_NOT_SIMILAR UINT64_MAX
/* values[i] of pair i (number << 32 | number): numerator << 32 | denominator, or
 * ND_STAGE_NOT_SIMILAR below the threshold (unless `all`).  `evidence` of each
 * `document`, which rise, is what nd_stage_evidence gave. */
ND_API nd_status nd_stage_verify(uint64_t *values, nd_stage *s, const uint64_t *pairs, size_t n,
                                 const uint32_t *document, const nd_str *evidence, size_t documents,
                                 int all, nd_error *err) ND_MUST_CHECK;

/* Connected components: root[d] becomes the smallest document that hangs
 * together with d. */
ND_API nd_status nd_stage_components(uint32_t *root, uint64_t documents, const uint64_t *pairs,
                                     size_t n, nd_error *err) ND_MUST_CHECK;

/* ---- settle ------------------------------------------------------------------ */

/* What remains for one place: the order, the rounds over verified candidates
 * (as one machine cuts them), the clusters, the lists. */
typedef struct nd_settle nd_settle;
/* `same[d]`: the first document with its tokens, UINT32_MAX without tokens;
 * `rank`: NULL unless facts.ranked.  Both are copied. */
ND_API nd_status nd_settle_new(nd_settle **out, const nd_stage *s, const uint32_t *same,
                               const uint64_t *rank, uint64_t documents, const char *tmp,
                               nd_error *err) ND_MUST_CHECK;
ND_API void nd_settle_free(nd_settle *t);
/* For nd_stage_bands: the position of every document. */
ND_API void nd_settle_positions(uint32_t *out, const nd_settle *t);
/* Pairs of positions → pairs of documents, in place. */
ND_API void nd_settle_documents(uint64_t *pairs, size_t n, const nd_settle *t);
/* All candidates (positions, rising), their kinds (values of the edges) and the
 * values that nd_stage_verify gave. */
ND_API nd_status nd_settle_confirm(nd_settle *t, const uint64_t *pairs, const uint64_t *kinds,
                                   const uint64_t *values, size_t n, nd_error *err) ND_MUST_CHECK;
/* Pairs that are results already (facts.direct): documents, rising. */
ND_API nd_status nd_settle_direct(nd_settle *t, const uint64_t *pairs, const uint64_t *values,
                                  size_t n, nd_error *err) ND_MUST_CHECK;
/* How many pairs reached the threshold; then their firsts (and values). */
ND_API uint64_t nd_settle_pair_count(const nd_settle *t);
ND_API nd_status nd_settle_pairs(uint64_t *pairs, uint64_t *values, nd_settle *t,
                                 nd_error *err) ND_MUST_CHECK;
/* Clusters; `roots` are components that were found elsewhere, as nd_stage_components
 * gives them (NULL: they are found here).  *missing (*n of them, borrowed) are pairs of documents
 * whose similarity nd_settle_finish wants, computed with `all`. */
ND_API nd_status nd_settle_cluster(const uint64_t **missing, size_t *n, nd_settle *t,
                                   const uint32_t *roots, nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_settle_finish(nd_settle *t, const uint64_t *values, size_t n,
                                  nd_error *err) ND_MUST_CHECK;
/* Per document: the one kept in its place, and the packed similarity with it. */
ND_API void nd_settle_result(uint32_t *centre, uint64_t *value, const nd_settle *t);
/* Documents that the lists name: wanted[d] = 1.  `collapse` as in nd_pairs. */
ND_API void nd_settle_wanted(uint8_t *wanted, const nd_settle *t, int collapse);
/* Writes PATH: the pairs, or the clusters.  Ids as nd_stage_ids gives them, of
 * rising documents. */
ND_API nd_status nd_settle_write_pairs(nd_settle *t, const char *path, const uint32_t *document,
                                       const nd_str *id, size_t n, int collapse,
                                       nd_error *err) ND_MUST_CHECK;
ND_API nd_status nd_settle_write_clusters(nd_settle *t, const char *path, const uint32_t *document,
                                          const nd_str *id, size_t n, nd_error *err) ND_MUST_CHECK;
/* Fills what settling knows: pairs, candidates, spared, copies, clusters, kept,
 * dropped. */
ND_API void nd_settle_counts(nd_summary *out, const nd_settle *t);
/* Writes summary.json with these counts. */
ND_API nd_status nd_settle_write_summary(const nd_settle *t, const nd_summary *summary,
                                         const char *path, nd_error *err) ND_MUST_CHECK;

/* ---- report.html ------------------------------------------------------------------ */

/* Parts of the corpus in a block, a line each: kind TAB documents TAB dropped TAB
 * name.  Kinds are f (the name is the number of a file of its plan), s (a site)
 * and z (a size, by number).  dropped[i] != 0 for row i. */
ND_API nd_status nd_stage_parts(nd_str *lines, nd_stage *s, nd_str image, const uint8_t *dropped,
                                nd_error *err) ND_MUST_CHECK;

/* What a report shows that settling does not know. */
typedef struct nd_settle_page {
  const nd_summary *summary;
  const uint32_t *document; /* ids, as for the lists */
  const nd_str *id;
  size_t n;
  const uint32_t *text_document; /* texts of nd_settle_report_texts, rising */
  const nd_str *text;
  size_t texts;
  nd_str parts;    /* lines of nd_stage_parts, added up; f has the file's name */
  int by_folder;   /* … or its folder's */
  nd_str rejected; /* lines of nd_stage_rejects */
  const char *const *inputs;
  size_t input_n;
  const char *directory;
} nd_settle_page;

/* The documents (*n of them, rising, borrowed) whose texts the report would show. */
ND_API nd_status nd_settle_report_texts(const uint32_t **documents, size_t *n, nd_settle *t,
                                        nd_error *err) ND_MUST_CHECK;
/* Writes `dir`/report.html; after the lists. */
ND_API nd_status nd_settle_write_report(nd_settle *t, const nd_settle_page *page, const char *dir,
                                        nd_error *err) ND_MUST_CHECK;

/* ---- keep ----------------------------------------------------------------------- */

/* How many bytes of a range's block go away: dropped[i] != 0 for row i. */
ND_API nd_status nd_stage_cut_bytes(uint64_t *out, nd_stage *s, nd_str image,
                                    const uint8_t *dropped, nd_error *err) ND_MUST_CHECK;
/* Copies [begin, end) of a plain file without them, to `at` of `to`. */
ND_API nd_status nd_stage_cut(nd_stage *s, nd_str image, const uint8_t *dropped, const char *from,
                              uint64_t begin, uint64_t end, const char *to, uint64_t at,
                              nd_error *err) ND_MUST_CHECK;
/* Whole files (all blocks of the plan's tasks, numbered from 0): writes what is
 * kept below `dir`.  `work` is an empty directory for the blocks meanwhile. */
ND_API nd_status nd_stage_keep(nd_stage *s, nd_intake *p, const nd_str *images, size_t n,
                               const uint8_t *dropped, const char *dir, const char *work,
                               nd_error *err) ND_MUST_CHECK;

#endif
