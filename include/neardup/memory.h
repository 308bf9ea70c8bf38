/* Texts in memory: the jobs without files.
 *
 * Texts come in chunks whose layouts are those of Apache Arrow's string columns
 * (or an array of nd_str), and are read where they lie.  The result is arrays,
 * in Arrow's layouts too.  Equal texts and options give the same pairs and
 * clusters as the command does on a JSONL file with these texts.
 *
 *   nd_chunk chunk = {.layout = ND_LAYOUT_STR, .n = n, .index = texts};
 *   nd_text_stream stream = {.chunks = &chunk, .n = 1};
 *   nd_corpus corpus = {.texts = &stream};
 *   status = nd_dedup_memory(&result, &corpus, options, NULL, &err);
 *   …
 *   nd_result_clear(&result); */
#ifndef NEARDUP_MEMORY_H
#define NEARDUP_MEMORY_H

#include "neardup/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nd_layout {
  ND_LAYOUT_STR,      /* index: nd_str each; a NULL pointer is no text */
  ND_LAYOUT_OFFSET32, /* index: int32_t, one more than texts, into bytes (Arrow string) */
  ND_LAYOUT_OFFSET64, /* index: int64_t, one more than texts, into bytes (Arrow large_string) */
  ND_LAYOUT_VIEW      /* index: 16 bytes each (Arrow string_view) */
} nd_layout;

/* Texts that lie in arrays of the caller.  A null text is not a document: it is kept
 * and matches nothing.  Never changes, as chunks come in arrays. */
typedef struct nd_chunk {
  nd_layout layout;
  uint64_t n;           /* texts */
  uint64_t first;       /* the first of them in the arrays below (Arrow's offset) */
  const uint8_t *valid; /* a bit for each, the lowest first; NULL: none is null */
  const void *index;
  const char *bytes;          /* OFFSET32, OFFSET64 */
  const char *const *buffers; /* VIEW: buffers of the views longer than 12 bytes */
  const int64_t *sizes;       /* VIEW: bytes of each buffer */
  uint64_t buffer_n;
} nd_chunk;

/* A sequence of chunks: an array, which is not copied and must not move until the job ends; or, for
 * more than fits in memory, the chunks that `next` returns, each valid until the following call. */
typedef struct nd_text_stream {
  const nd_chunk *chunks;
  size_t n;
  /* The values for --keep oldest, newest, url or field:NAME, one per text, in chunks of the same
   * lengths; or NULL. */
  const nd_chunk *facts;
  /* Instead of an array: gives the next chunk and, if --keep needs them, its facts (else leaves
   * facts->n at 0); texts->n = 0 at the end.  One call at a time, from any thread. */
  void *context;
  nd_status (*next)(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *err);
  uint64_t reserved[4]; /* 0 */
} nd_text_stream;

/* The input of a job: texts in memory, or files. */
typedef struct nd_corpus {
  const nd_text_stream *texts;
  const nd_text_stream *against; /* with texts: the reference collection, or NULL */
  const char *const *files;      /* files and directories, when `texts` is NULL */
  size_t file_n;
  uint64_t reserved[8]; /* 0 */
} nd_corpus;

typedef struct nd_rejection {
  uint64_t text;   /* its number; of files: UINT64_MAX */
  uint64_t place;  /* of files: offset of PATH:LINE in `strings` */
  uint64_t reason; /* offset of the reason in `strings` */
} nd_rejection;

/* Documents are numbered from 0: texts as they come, nulls and rejected ones
 * included; those of `against` continue from n.  Documents of files are numbered as
 * they are read, without the rejected ones, and have ids. */
typedef struct nd_result {
  uint64_t n;
  uint8_t *keep;      /* a bit each, the lowest first; pairs: NULL */
  uint32_t *cluster;  /* the kept document of its cluster; pairs: NULL */
  double *similarity; /* to the kept document; pairs: NULL */
  uint64_t pair_n;
  uint32_t *a, *b; /* a < b, ascending */
  double *value;
  uint64_t rejection_n;
  nd_rejection *rejections;
  char *strings;    /* NUL-terminated each */
  uint64_t *id_end; /* files: n + 1 offsets in `ids`, the first 0; else NULL */
  char *ids;
  nd_summary summary;   /* filled even if the job fails */
  uint64_t reserved[8]; /* 0 */
} nd_result;

/* Frees the arrays of a result, which may be empty ({0}); the summary stays. */
ND_API void nd_result_clear(nd_result *r);

/* Finds near-duplicates: which texts to keep, the clusters, and the pairs (an exact
 * duplicate once, with its first occurrence).  A rejected text has its keep bit off.
 * *out is made by the call and cleared by the caller; after a failure only the
 * summary is filled.  Fails as nd_dedup does.  `hooks` may be NULL. */
ND_API nd_status nd_dedup_memory(nd_result *out, const nd_corpus *corpus, const nd_options *options,
                                 const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;

/* Finds the pairs only: every pair of exact duplicates too, unless --collapse is set.
 * Results and failures are those of nd_dedup_memory. */
ND_API nd_status nd_pairs_memory(nd_result *out, const nd_corpus *corpus, const nd_options *options,
                                 const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;

/* Sets *out to text `i` of a chunk (i < n), borrowed from it, and *null to whether it
 * is null.  ND_ERR_DATA: the chunk's own numbers contradict each other. */
ND_API nd_status nd_chunk_text(nd_str *out, int *null, const nd_chunk *chunk, uint64_t i,
                               nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
