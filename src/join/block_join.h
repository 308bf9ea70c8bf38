/* The block join: token by token.
 *
 * Only records whose prefixes share a token can be similar.  A pair is examined only at its first
 * common token, so no table of candidates is needed, on which other joins spend most of their
 * time.  Records are numbered by size, so the size filter compares numbers.
 *
 *   1. A sample of the prefixes estimates the number of pairs to compare for each token, and the
 *      share of them with close sketches.
 *   2. Rare tokens (block_chain.c) have a chain of records each, probed and extended record by
 *      record in one pass, without counting or grouping first.
 *   3. For the others (block_join.c) the postings of all prefixes are split into buckets of
 *      neighbouring tokens that fit the cache, grouped by token there, and each token's
 *      records are joined as one block (block_list.c).
 *   4. In a block each posting carries a parity sketch (sets.h) of the tokens after it.
 *      Differing bits of two sketches and the two positions bound the distance of the
 *      records.  The distance allowed is the sum of a number of x and one of y, so the size,
 *      position and sketch filters together are one XOR, popcount and compare, on 8 postings
 *      at a time (block_kernel.c).
 *   5. Blocks that are too long for one thread are split and joined last, longest first.
 *
 * An index larger than the memory is built in rounds, each for a range of tokens. */
#ifndef ND_JOIN_BLOCK_JOIN_H
#define ND_JOIN_BLOCK_JOIN_H

#include "join/join_work.h"

enum {
  ND_BLOCK_WORDS = 4,        /* the widest sketch, in 64-bit words */
  ND_BLOCK_TILE = 1024,      /* postings that stay in the first cache */
  ND_BLOCK_SHORT = 64,       /* postings of a list that is compared in place */
  ND_BLOCK_CANDIDATES = 256, /* verified together */
  ND_BLOCK_HEAVY = 1 << 21   /* comparisons that are worth a job of their own */
};

/* A token of a record's prefix, in arrays with rows of 16 + 8 * words bytes.  Most postings are in
 * one cache line. */
typedef struct nd_posting {
  uint16_t token;  /* low bits, which distinguish the tokens of a bucket */
  uint16_t class_; /* of the record's size */
  uint32_t record;
  uint32_t before;   /* the token before it in the record; UINT32_MAX: none is stored */
  uint32_t packed;   /* position << 2 | side << 1 | indexed */
  uint64_t sketch[]; /* of the tokens after it */
} nd_posting;

ND_INLINE size_t nd_posting_bytes(unsigned words) {
  return sizeof(nd_posting) + 8 * words;
}

ND_INLINE nd_posting *nd_posting_at(nd_posting *rows, uint64_t at, unsigned words) {
  return (nd_posting *)(void *)((char *)rows + at * nd_posting_bytes(words));
}

ND_INLINE uint32_t nd_posting_position(const nd_posting *p) {
  return p->packed >> 2;
}
ND_INLINE unsigned nd_posting_side(const nd_posting *p) {
  return p->packed >> 1 & 1;
}
ND_INLINE unsigned nd_posting_indexed(const nd_posting *p) {
  return p->packed & 1;
}

/* Returns the share of one record in the distance allowed, in 1/256, clamped so that sums fit.  A
 * bound that is too high loses no pair, and if the high share is clamped, the low one cannot reduce
 * the sum below the width of a sketch. */
ND_INLINE int32_t nd_block_limit(int64_t limit) {
  const int64_t high = (INT64_C(1) << 30) - 1, low = -(INT64_C(1) << 29);
  limit = limit > high ? high : limit;
  return (int32_t)(limit < low ? low : limit);
}

/* Returns the share of a record in the distance allowed after this posting. */
ND_INLINE int32_t nd_posting_limit(int64_t share, const nd_posting *p) {
  return nd_block_limit(share - (int64_t)nd_posting_position(p) * 256);
}

/* Tests whether a list of n postings may be split among threads. */
ND_INLINE bool nd_block_is_heavy(uint64_t n) {
  return n * n > 2 * (uint64_t)ND_BLOCK_HEAVY;
}

/* The postings of a token, in record order. */
typedef struct nd_block_list {
  nd_posting *rows;      /* of the whole bucket */
  const uint32_t *order; /* indices of those of the list */
  uint32_t n;
} nd_block_list;

ND_INLINE const nd_posting *nd_list_at(const nd_block_list *list, uint32_t at, unsigned words) {
  return nd_posting_at(list->rows, list->order[at], words);
}

/* Two records and the positions of a common token in them. */
typedef struct nd_candidate {
  uint32_t x, y, i, j;
} nd_candidate;

struct nd_block_worker;

/* Joins the postings [from, to) of a list, those of side `probing` as x, with the preceding indexed
 * ones of side `indexed`. */
typedef nd_status (*nd_block_sides)(struct nd_block_worker *w, const nd_block_list *list,
                                    uint32_t from, uint32_t to, unsigned probing, unsigned indexed,
                                    nd_error *err);

/* Counts common tokens of two ascending runs (readable for ND_SLACK bytes more).  Once `needed` is
 * out of reach, stops and returns a number below it. */
typedef uint32_t (*nd_block_common)(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                                    const uint32_t *b_end, int64_t needed);

/* Returns a kernel; results are the same at every level.  words: 1, 2 or 4. */
nd_block_sides nd_block_kernel(unsigned words, nd_cpu_level level);
nd_block_common nd_block_common_kernel(nd_cpu_level level);

/* A list that is split among all threads. */
typedef struct nd_block_heavy {
  nd_block_list list;
  uint64_t cost;
} nd_block_heavy;

typedef struct nd_block_join {
  nd_join_task *task;
  unsigned words;
  nd_block_sides sides;
  nd_block_common common;
  bool popcount; /* the machine counts bits */
  /* Cells of tokens: each of the most frequent has its own, the others share cells. */
  uint32_t frequent; /* the first token with a cell of its own */
  unsigned shift;
  uint32_t low_cells, cells;
  uint32_t *sampled; /* per cell: postings in the sample */
  uint32_t stride;   /* every stride-th record is in the sample */
  double close;      /* share of pairs that pass the sketch filter */
  uint32_t divide;   /* tokens before it are joined by chains, the others in buckets */
  struct nd_block_worker *worker;
  nd_block_heavy *heavy;
  size_t heavies, heavy_cap;
} nd_block_join;

/* Scratch of a thread. */
typedef struct nd_block_worker {
  nd_join_worker *join;
  nd_block_join *block;
  nd_candidate *candidate;
  size_t candidates;
  uint32_t from; /* pairs whose common token is at or after this one are not found again */
  /* verifying many candidates of one record */
  uint8_t *mark; /* per token: 1 if the record has it */
  /* grouping a bucket */
  uint32_t *start; /* per token */
  uint32_t *order; /* its postings, token by token */
  size_t start_cap, order_cap;
  /* the index side of a list, readable for ND_SLACK bytes more */
  char *side_memory;
  size_t side_cap;
  const nd_posting **posting;
  uint32_t *record;
  int32_t *limit;
  uint64_t *column[ND_BLOCK_WORDS]; /* its sketch, word by word */
} nd_block_worker;

ND_INLINE uint32_t nd_block_cell(const nd_block_join *b, uint32_t token) {
  return token < b->frequent ? token >> b->shift : b->low_cells + (token - b->frequent);
}

ND_INLINE uint32_t nd_block_cell_first(const nd_block_join *b, uint32_t cell) {
  return cell < b->low_cells ? cell << b->shift : b->frequent + (cell - b->low_cells);
}

/* Returns the number of stored tokens among the first `prefix` of a record. */
ND_INLINE uint32_t nd_block_prefix(const nd_sets *s, uint32_t record, uint32_t prefix) {
  uint32_t alone = s->size[record] - (uint32_t)(s->begin[record + 1] - s->begin[record]);
  return prefix > alone ? prefix - alone : 0;
}

/* Prefetches the first tokens of a record: only prefixes are read, and the hardware does not
 * predict the jumps between them. */
ND_INLINE void nd_block_prefetch(const nd_sets *s, uint32_t record) {
  enum { LINE = 16 };
  const uint32_t *token = s->token + s->begin[record];
  __builtin_prefetch(token);
  __builtin_prefetch(token + LINE);
}

/* Prefetches the first tokens of a record that follows soon. */
ND_INLINE void nd_block_prefetch_ahead(const nd_sets *s, uint32_t record) {
  enum { AHEAD = 12 };
  if (s->n - record > AHEAD) nd_block_prefetch(s, record + AHEAD);
}

nd_status nd_block_reserve_side(nd_block_worker *w, uint32_t n, nd_error *err) ND_MUST_CHECK;

/* Joins all postings of a list, or defers a long list for all threads. */
nd_status nd_block_list_join(nd_block_worker *w, const nd_block_list *list,
                             nd_error *err) ND_MUST_CHECK;

/* Verifies the candidates found so far. */
nd_status nd_block_verify(nd_block_worker *w, nd_error *err) ND_MUST_CHECK;

/* Joins the deferred lists, longest first, on all threads. */
nd_status nd_block_join_heavies(nd_block_join *b, nd_error *err) ND_MUST_CHECK;
void nd_block_free_heavies(nd_block_join *b);

/* Join the tokens before `divide` by chains, and the others in buckets. */
nd_status nd_block_chains(nd_block_join *b, nd_error *err) ND_MUST_CHECK;
nd_status nd_block_buckets(nd_block_join *b, nd_error *err) ND_MUST_CHECK;

#endif
