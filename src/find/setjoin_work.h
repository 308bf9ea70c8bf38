/* Shared by joins in memory (setjoin.c) and in blocks (setjoin_blocks.c). */
#ifndef ND_FIND_SETJOIN_WORK_H
#define ND_FIND_SETJOIN_WORK_H

#include "find/setjoin.h"

/* Concatenated features (8 bytes each) or texts of some documents. */
typedef struct nd_setjoin_part {
  nd_buf bytes;
  uint64_t *end; /* per document, in bytes */
  size_t n, cap;
} nd_setjoin_part;

enum { ND_SETJOIN_BATCH = 1024 }; /* pairs that are handed on at once */

typedef struct nd_setjoin {
  nd_join_method method;
  nd_found *found;
  const nd_text_source *source;
  uint64_t memory;
  const char *tmp;
  uint32_t *document; /* record → document, a first occurrence */
  uint32_t n;
  uint32_t split; /* records from here on are of the reference collection; 0: there is none */
  bool texts;     /* ND_JOINED_EDITS: records are texts, else shingles */
  struct nd_setjoin_spill *spill; /* NULL: all in memory */
  double began;
  const uint32_t *joined; /* documents of the current batch */
  nd_item out[ND_SETJOIN_BATCH];
  size_t out_n;
} nd_setjoin;

/* Documents to join at once. */
typedef struct nd_setjoin_batch {
  nd_buf bytes;
  uint64_t *begin; /* per record, in units; n + 1 */
  const uint32_t *document;
  uint32_t n, split;
} nd_setjoin_batch;

static inline size_t nd_setjoin_unit(const nd_setjoin *j) {
  return j->texts ? 1 : 8;
}

/* Bytes of memory per unit and per record of a join (sets.h; strings are decoded). */
enum { ND_SETJOIN_TOKEN = 26, ND_SETJOIN_LETTER = 20, ND_SETJOIN_RECORD = 64 };

static inline uint64_t nd_setjoin_cost(const nd_setjoin *j, uint64_t units) {
  return units * (j->texts ? ND_SETJOIN_LETTER : ND_SETJOIN_TOKEN) + ND_SETJOIN_RECORD;
}

/* Joins a batch, adds its pairs to the candidates and takes ownership of its bytes. */
nd_status nd_setjoin_run(nd_setjoin *j, nd_setjoin_batch *b, nd_error *err) ND_MUST_CHECK;

/* Reads all documents in parallel and passes each part to `take`. */
typedef nd_status (*nd_setjoin_take)(nd_setjoin *j, uint64_t first, nd_setjoin_part *part,
                                     nd_error *err);
nd_status nd_setjoin_read(nd_setjoin *j, nd_setjoin_take take, uint64_t bytes_at_once,
                          nd_error *err) ND_MUST_CHECK;

nd_status nd_setjoin_blocks(nd_setjoin *j, nd_error *err) ND_MUST_CHECK;

#endif
