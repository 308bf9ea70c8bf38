/* Numbers for the distinct tokens of many records, on all threads.
 *
 * Tokens are partitioned into shards by hash, so that the table of a shard stays in the cache and
 * shards are independent.  A chunk of the records writes its keys of a shard, in order, to its own
 * piece of the shard's stream:
 *
 *     stream   [ shard 0: chunk 0, chunk 1 … | shard 1: chunk 0, chunk 1 … | … ]
 *
 * Each shard then replaces its keys by 32-bit answers.  A second pass over a chunk, in the same
 * order, takes the next answer of each token's shard.  So no positions are stored, and random
 * access is limited to the table of a shard. */
#ifndef ND_JOIN_TOKEN_SHARDS_H
#define ND_JOIN_TOKEN_SHARDS_H

#include "base/hash.h"
#include "base/mem.h"

/* An answer is the number of the token within the shard, with ND_TOKEN_FIRST at its first
 * occurrence in the input (numbers ascend in that order), or one of the two other values. */
#define ND_TOKEN_FIRST (UINT32_C(1) << 31)
#define ND_TOKEN_ALONE (ND_TOKEN_FIRST - 1)  /* no other record has it */
#define ND_TOKEN_REPEAT (ND_TOKEN_FIRST - 2) /* repeated in the record */

typedef struct nd_token_shard {
  uint32_t *df;   /* per number: records that have the token */
  uint32_t count; /* numbers */
} nd_token_shard;

typedef struct nd_token_shards {
  const uint64_t *raw;   /* the tokens of the input */
  const uint64_t *begin; /* the tokens of record r start at begin[r] - begin[0] */
  uint64_t records;
  unsigned threads, bits; /* 2^bits shards */
  uint32_t shards, chunks;
  uint64_t *chunk;  /* chunks + 1 first records */
  uint64_t *offset; /* per chunk and shard: start of the chunk's piece in the stream */
  uint64_t *start;  /* per shard: start of its stream; shards + 1 */
  uint64_t *stream;
  nd_token_shard *shard;
} nd_token_shards;

/* Numbers the tokens; `raw` and `begin` are borrowed. */
nd_status nd_token_shards_make(nd_token_shards *t, nd_error *err) ND_MUST_CHECK;
void nd_token_shards_clear(nd_token_shards *t);

static inline uint32_t nd_token_shard_of(const nd_token_shards *t, uint64_t token) {
  return (uint32_t)(nd_mix(token) >> (64 - t->bits));
}

/* Returns the first answer of chunk c in shard s. */
static inline const uint32_t *nd_token_answers(const nd_token_shards *t, uint32_t c, uint32_t s) {
  const uint64_t start = t->start[s], at = t->offset[(size_t)c * t->shards + s];
  return (const uint32_t *)(const void *)(t->stream + start) + (at - start);
}

#endif
