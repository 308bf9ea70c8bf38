/* The jobs: what the command does, callable.
 *
 * A job never prints or exits.  It reports through hooks, returns a status, and
 * fills a summary as far as it came. */
#ifndef NEARDUP_RUN_H
#define NEARDUP_RUN_H

#include "neardup/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Progress of a job.  Created by the library; later versions add fields at the end. */
typedef struct nd_progress {
  const char *stage;  /* "read", "find", "verify", "write" */
  uint64_t done;      /* of `total`: bytes (read, write), bands (find), pairs (verify) */
  uint64_t total;     /* 0: unknown */
  uint64_t documents; /* so far */
  double seconds;     /* since the job began */
} nd_progress;

/* Functions that a job calls; each may be NULL.  `progress` is called by one thread
 * at a time.  `cancelled` is polled from any thread; a value other than 0 stops the
 * job with ND_ERR_CANCELLED, and it can be resumed. */
typedef struct nd_hooks {
  void *context;
  void (*progress)(void *context, const nd_progress *progress);
  int (*cancelled)(void *context);
  uint64_t reserved[4]; /* 0 */
} nd_hooks;

/* Takes output bytes, which are borrowed for the call.  A status other than ND_OK
 * stops the job, which returns it.  Never changes. */
typedef struct nd_sink {
  void *context;
  nd_status (*write)(void *context, const char *bytes, size_t n, nd_error *err);
} nd_sink;

/* Counts of a join: the columns of the tables in Xiao et al. 2008. */
typedef struct nd_join_counts {
  int given; /* the method was a join */
  uint64_t records, tokens, index_entries;
  double average;                                      /* tokens per record */
  uint64_t after_size, after_positional, after_suffix; /* candidates that pass each filter */
  uint64_t verified, results;
  double prepare_seconds, join_seconds;
  uint64_t joins;       /* 1, or more where blocks of the records were joined with one another */
  uint64_t reserved[4]; /* 0 */
} nd_join_counts;

/* Summary of a job, filled by the job; its strings need not be freed. */
typedef struct nd_summary {
  uint64_t files;
  uint64_t bytes;     /* of the input files as they are */
  uint64_t raw_bytes; /* of the records, decompressed */
  uint64_t documents; /* = kept + dropped + rejected */
  uint64_t kept, dropped, rejected;
  uint64_t against_documents; /* in the reference collection, not counted in `documents` */
  uint64_t others;            /* records that are not documents (blank lines, warcinfo, images) */
  uint64_t empty;             /* documents without a token: kept, match nothing */
  uint64_t tokens;
  const char *verify;                /* "exact", "sample", "sketch" or "none" */
  uint64_t boilerplate_tokens;       /* tokens left out of the comparison */
  uint64_t boilerplate_documents;    /* documents with such tokens */
  uint64_t boilerplate_whole;        /* all boilerplate, compared in full */
  uint64_t no_site;                  /* documents without a URL, compared in full */
  int sampled;                       /* --sample was given */
  uint64_t sample_seen, sample_kept; /* shingles before and after */
  uint64_t sample_emptied;           /* documents with tokens of which no shingle was kept */
  uint64_t common_shingles;          /* sct: distinct shingles dropped as too common */
  uint64_t copies;                   /* exact duplicates, dropped or listed */
  uint64_t repeated_ids;
  char repeated_id[200]; /* an example */
  uint64_t buckets, hot_buckets, hot_documents, largest_bucket;
  uint64_t candidates, pairs;
  uint64_t skipped; /* star edges of oversized buckets that no cluster needs */
  nd_join_counts join;
  uint64_t clusters, largest_cluster;
  uint64_t resumed_documents; /* read by an earlier, interrupted run */
  uint32_t permutations, bands, rows;
  double predicted_recall;
  /* If sketches decide: the rule, and the pairs that are found.  "" if documents decide, and if
   * predicted_recall applies. */
  char decision[320], coverage[200];
  uint64_t max_document; /* --max-document, or an eighth of --memory */
  unsigned threads;
  uint64_t memory;
  double seconds, cpu_seconds;
  double read_seconds, find_seconds, verify_seconds, write_seconds;
  uint64_t peak_memory; /* maximum resident bytes */
  uint64_t temporary_bytes;
  int already_complete;  /* the directory already held this result */
  int shard_only;        /* --shard: only the input was read */
  int resumable;         /* the run failed, and the same call resumes it */
  int counts;            /* similarities are whole numbers (--similarity overlap, edit) */
  uint64_t reserved[64]; /* 0 */
} nd_summary;

/* The inputs and the output directory of nd_dedup. */
typedef struct nd_dedup_request {
  const char *const *inputs; /* files, directories, or "-" for standard input */
  size_t input_n;
  const char *directory;
  uint64_t reserved[8]; /* 0 */
} nd_dedup_request;

/* Removes near-duplicates: writes a directory with the kept documents, the
 * clusters, the pairs and a summary (docs/formats.md).  *out is filled as far as
 * the job came, also when it fails; if out->resumable is set then, the same call
 * resumes.  ND_ERR_USAGE: the options are inconsistent, or the output and an input
 * overlap.  ND_ERR_STATE: the directory holds something else.  `hooks` may be NULL. */
ND_API nd_status nd_dedup(nd_summary *out, const nd_dedup_request *request,
                          const nd_options *options, const nd_hooks *hooks,
                          nd_error *err) ND_MUST_CHECK;

/* The inputs of nd_pairs and the sink for its lines. */
typedef struct nd_pairs_request {
  const char *const *inputs; /* as in nd_dedup_request; or sketch files only */
  size_t input_n;
  const nd_sink *sink;
  uint64_t reserved[8]; /* 0 */
} nd_pairs_request;

/* Writes near-duplicate pairs to the sink, a line each: id_a TAB id_b TAB
 * similarity.  Fails as nd_dedup does, and with the status of the sink. */
ND_API nd_status nd_pairs(nd_summary *out, const nd_pairs_request *request,
                          const nd_options *options, const nd_hooks *hooks,
                          nd_error *err) ND_MUST_CHECK;

/* The list that nd_cluster reads and the sink for its lines. */
typedef struct nd_cluster_request {
  const char *pairs; /* a list of pairs, or "-" for standard input */
  const nd_sink *sink;
  uint64_t reserved[8]; /* 0 */
} nd_cluster_request;

/* Turns pairs into clusters and writes a line per document to the sink: id TAB
 * cluster TAB kept|dropped TAB similarity to the kept document ("-": the list does
 * not have that pair).  Pairs below the threshold are left out if the threshold
 * was set.  ND_ERR_DATA names the first line that is not a pair. */
ND_API nd_status nd_cluster(nd_summary *out, const nd_cluster_request *request,
                            const nd_options *options, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;

/* The inputs of nd_inspect and the sink for its lines. */
typedef struct nd_inspect_request {
  const char *const *inputs; /* as in nd_dedup_request */
  size_t input_n;
  int whole; /* not 0: all tokens of a document, not the first ones only */
  const nd_sink *sink;
  uint64_t reserved[8]; /* 0 */
} nd_inspect_request;

/* Writes a line per record to the sink: location, format, kind, id, bytes, number
 * of tokens, tokens.  out->rejected counts records that cannot be read. */
ND_API nd_status nd_inspect(nd_summary *out, const nd_inspect_request *request,
                            const nd_options *options, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;

/* Returns the version of the library, such as "0.1.0". */
ND_API const char *nd_version(void);
/* Returns the SIMD level in use: "base", "sse41", "avx2" or "avx512". */
ND_API const char *nd_cpu_level_name(void);
/* Returns the name of the compiler that built the library. */
ND_API const char *nd_compiler(void);

#ifdef __cplusplus
}
#endif

#endif
