/* Numbers for the distinct tokens of many records, on all threads.
 *
 * Tokens are dealt out to shards by hash, so that a shard's table stays in the cache and
 * shards need nothing of one another.  A chunk of the records writes its keys of a shard,
 * in order, to its own piece of the shard's stream:
 *
 *     stream   [ shard 0: chunk 0, chunk 1 … | shard 1: chunk 0, chunk 1 … | … ]
 *
 * Each shard then turns its keys, in place, into one 32-bit answer each: who walks a chunk
 * again in the same order takes the next answer of each token's shard.  No positions are
 * kept, and nothing is looked up at random but within a shard. */
#ifndef ND_JOIN_TOKEN_SHARDS_H
#define ND_JOIN_TOKEN_SHARDS_H

#include "base/hash.h"
#include "base/mem.h"

/* Answers: a number within the shard, with ND_TOKEN_FIRST where it occurs first in the
 * input (numbers rise in that order), or one of the two others. */
#define ND_TOKEN_FIRST (UINT32_C(1) << 31)
#define ND_TOKEN_ALONE (ND_TOKEN_FIRST - 1)  /* no other record holds it */
#define ND_TOKEN_REPEAT (ND_TOKEN_FIRST - 2) /* the record had it before */

typedef struct nd_token_shard {
  uint32_t *df;   /* per number: records that hold the token */
  uint32_t count; /* numbers */
} nd_token_shard;

typedef struct nd_token_shards {
  const uint64_t *raw;   /* the input, from its first token on */
  const uint64_t *begin; /* … of record r at begin[r] - begin[0] */
  uint64_t records;
  unsigned threads, bits; /* 2^bits shards */
  uint32_t shards, chunks;
  uint64_t *chunk;  /* chunks + 1 first records */
  uint64_t *offset; /* per chunk and shard: where the chunk's piece begins in the stream */
  uint64_t *start;  /* per shard: where its stream begins; shards + 1 */
  uint64_t *stream;
  nd_token_shard *shard;
} nd_token_shards;

/* Fills everything; `raw` and `begin` must stay. */
nd_status nd_token_shards_make(nd_token_shards *t, nd_error *err) ND_MUST_CHECK;
void nd_token_shards_clear(nd_token_shards *t);

static inline uint32_t nd_token_shard_of(const nd_token_shards *t, uint64_t token) {
  return (uint32_t)(nd_mix(token) >> (64 - t->bits));
}

/* Where chunk c's answers of shard s begin. */
static inline const uint32_t *nd_token_answers(const nd_token_shards *t, uint32_t c, uint32_t s) {
  const uint64_t start = t->start[s], at = t->offset[(size_t)c * t->shards + s];
  return (const uint32_t *)(const void *)(t->stream + start) + (at - start);
}

#endif
