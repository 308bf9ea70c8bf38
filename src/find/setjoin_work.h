/* What the two ways of joining documents share: all in memory (setjoin.c), or in blocks of
 * them (setjoin_blocks.c). */
#ifndef ND_FIND_SETJOIN_WORK_H
#define ND_FIND_SETJOIN_WORK_H

#include "find/setjoin.h"

/* Features (8 bytes each) or texts (bytes) of some documents, end to end. */
typedef struct nd_setjoin_part {
  nd_buf bytes;
  uint64_t *end; /* per document, in bytes */
  size_t n, cap;
} nd_setjoin_part;

typedef struct nd_setjoin {
  nd_join_method method;
  nd_found *found;
  const nd_text_source *source;
  uint64_t memory;
  const char *tmp;
  uint32_t *document; /* record → document (a first) */
  uint32_t n;
  uint32_t split; /* records below it are of the input, the others of the other collection; 0 */
  bool texts;     /* edit distance: the texts themselves */
  struct nd_setjoin_spill *spill; /* NULL: all in memory */
  double began;
  const uint32_t *joined; /* the documents of the batch that is being joined */
  nd_item out[1024];
  size_t out_n;
} nd_setjoin;

/* Some documents, ready to be joined. */
typedef struct nd_setjoin_batch {
  nd_buf bytes;
  uint64_t *begin; /* per record, in units; n + 1 */
  const uint32_t *document;
  uint32_t n, split;
} nd_setjoin_batch;

static inline size_t nd_setjoin_unit(const nd_setjoin *j) {
  return j->texts ? 1 : 8;
}

/* Bytes of memory that joining takes, per unit and per record (sets.h; strings are decoded). */
enum { ND_SETJOIN_TOKEN = 26, ND_SETJOIN_LETTER = 20, ND_SETJOIN_RECORD = 64 };

static inline uint64_t nd_setjoin_cost(const nd_setjoin *j, uint64_t units) {
  return units * (j->texts ? ND_SETJOIN_LETTER : ND_SETJOIN_TOKEN) + ND_SETJOIN_RECORD;
}

/* Joins a batch and adds its pairs to the candidates; takes the bytes. */
nd_status nd_setjoin_run(nd_setjoin *j, nd_setjoin_batch *b, nd_error *err) ND_MUST_CHECK;

/* Reads all documents, a share on each thread; a share goes to `take`. */
typedef nd_status (*nd_setjoin_take)(nd_setjoin *j, uint64_t first, nd_setjoin_part *part,
                                     nd_error *err);
nd_status nd_setjoin_read(nd_setjoin *j, nd_setjoin_take take, uint64_t bytes_at_once,
                          nd_error *err) ND_MUST_CHECK;

nd_status nd_setjoin_blocks(nd_setjoin *j, nd_error *err) ND_MUST_CHECK;

#endif
