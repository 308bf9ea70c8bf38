/* The jobs: what the command does, callable.
 *
 * A job never prints or exits.  It reports through hooks, returns a status, and
 * fills a summary as far as it came. */
#ifndef NEARDUP_RUN_H
#define NEARDUP_RUN_H

#include "neardup/options.h"

typedef struct nd_progress {
  const char *stage;  /* "read", "find", "verify", "write" */
  uint64_t done;      /* of `total`: bytes (read, write), bands (find), pairs (verify) */
  uint64_t total;     /* 0: unknown */
  uint64_t documents; /* so far */
  double seconds;     /* since the job began */
} nd_progress;

/* Both may be NULL.  `cancelled` is asked now and then, from any thread;
 * non-zero stops the job with ND_ERR_CANCELLED, resumable. */
typedef struct nd_hooks {
  void *context;
  void (*progress)(void *context, const nd_progress *progress);
  int (*cancelled)(void *context);
} nd_hooks;

/* Takes output bytes; any other status than ND_OK stops the job with it. */
typedef struct nd_sink {
  void *context;
  nd_status (*write)(void *context, const char *bytes, size_t n, nd_error *err);
} nd_sink;

/* What a join did: the columns of the tables in Xiao et al. 2008. */
typedef struct nd_join_counts {
  int given; /* the method was a join */
  uint64_t records, tokens, index_entries;
  double average;                                      /* tokens per record */
  uint64_t after_size, after_positional, after_suffix; /* candidates that pass each filter */
  uint64_t verified, results;
  double prepare_seconds, join_seconds;
  uint64_t joins; /* 1, or more where blocks of the records were joined with one another */
} nd_join_counts;

typedef struct nd_summary {
  uint64_t files;
  uint64_t bytes;     /* of the input files as they are */
  uint64_t raw_bytes; /* of the records, decompressed */
  uint64_t documents; /* = kept + dropped + rejected */
  uint64_t kept, dropped, rejected;
  uint64_t against_documents; /* of the other collection; not among `documents` */
  uint64_t others; /* records that are no documents (blank lines, warcinfo, images …) */
  uint64_t empty;  /* documents without a token: kept, match nothing */
  uint64_t tokens;
  const char *verify;          /* what decided about pairs: "exact", "sample", "sketch" or "none" */
  uint64_t boilerplate_tokens; /* left out of the comparison … */
  uint64_t boilerplate_documents;    /* … of so many documents */
  uint64_t boilerplate_whole;        /* documents that are nothing else: compared whole */
  uint64_t no_site;                  /* documents without a URL: compared whole */
  int sampled;                       /* --sample was given */
  uint64_t sample_seen, sample_kept; /* shingles before and after */
  uint64_t sample_emptied;           /* documents with tokens that were left without any */
  uint64_t common_shingles;          /* sct: dropped as too common, each once */
  uint64_t copies;                   /* dropped or listed as exact copies */
  uint64_t repeated_ids;
  char repeated_id[200]; /* an example */
  uint64_t buckets, hot_buckets, hot_documents, largest_bucket;
  uint64_t candidates, pairs;
  uint64_t spared; /* star edges of hot buckets that needed no comparison */
  nd_join_counts join;
  uint64_t clusters, largest_cluster;
  uint64_t resumed_documents; /* read by an earlier, interrupted run */
  uint32_t permutations, bands, rows;
  double predicted_recall;
  /* Sketches decide: how; and which pairs are found.  "": the documents decide,
   * and predicted_recall says it. */
  char decision[320], coverage[200];
  uint64_t max_document; /* in force: --max-document, or an eighth of --memory */
  unsigned threads;
  uint64_t memory;
  double seconds, cpu_seconds;
  double read_seconds, find_seconds, verify_seconds, write_seconds;
  uint64_t peak_memory; /* bytes resident, at most */
  uint64_t temporary_bytes;
  int already_complete; /* the directory held this result: nothing was done */
  int shard_only;       /* --shard: the reading is done, the rest is to come */
  int resumable;        /* the run failed, but stored work that the same one would resume from */
} nd_summary;

/* The main job: INPUT... → a directory with the kept documents, the clusters,
 * the pairs and a summary. */
ND_API nd_status nd_dedup(nd_summary *out, const char *const *inputs, size_t n,
                          const char *directory, const nd_options *options, const nd_hooks *hooks,
                          nd_error *err) ND_MUST_CHECK;

/* Near-duplicate pairs, a line each: id_a TAB id_b TAB similarity. */
ND_API nd_status nd_pairs(nd_summary *out, const char *const *inputs, size_t n, const nd_sink *sink,
                          const nd_options *options, const nd_hooks *hooks,
                          nd_error *err) ND_MUST_CHECK;

/* A file of pairs ("-": standard input) → clusters, a line per document: id
 * TAB cluster TAB kept|dropped TAB similarity to the kept one ("-": the pair is
 * not in the list). */
ND_API nd_status nd_cluster(nd_summary *out, const char *pairs, const nd_sink *sink,
                            const nd_options *options, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;

/* What the readers and the tokeniser see: a line per record: place, format,
 * kind, id, bytes, tokens, the first tokens (all of them with `whole`). */
ND_API nd_status nd_inspect(nd_summary *out, const char *const *inputs, size_t n, int whole,
                            const nd_sink *sink, const nd_options *options, const nd_hooks *hooks,
                            nd_error *err) ND_MUST_CHECK;

/* "0.1.0" */
ND_API const char *nd_version(void);
/* The SIMD level in use: "base", "sse41", "avx2", "avx512". */
ND_API const char *nd_cpu_level_name(void);
/* The compiler the library was built with. */
ND_API const char *nd_compiler(void);

#endif
