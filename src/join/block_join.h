/* Our own join: token by token.
 *
 * Only records whose prefixes share a token can be similar.  A pair counts at its first
 * common token alone, so no table of candidates exists: what other joins spend their
 * time on.  Records are numbered by size, so the size filter compares numbers.
 *
 *   1. A sample of the prefixes tells how many pairs of records each token has to compare,
 *      and how many of them look close.
 *   2. Rare tokens (block_chain.c) have a chain of records each, walked and lengthened
 *      record by record, in one pass; nothing is counted or grouped before.
 *   3. For the others (block_join.c) the postings of all prefixes are split into buckets of
 *      neighbouring tokens that fit the cache, grouped by token there, and each token's
 *      records are joined as one block (block_list.c).
 *   4. In a block each posting carries a parity sketch (sets.h) of the tokens after it.
 *      Differing bits of two sketches and the two positions bound the distance of the
 *      records, and the bound allowed is a sum of a number of x and one of y: size,
 *      position and sketch filters are one XOR, popcount and compare, on 8 postings at
 *      a time (block_kernel.c).
 *   5. Blocks that are too long for one thread are cut and joined last, longest first.
 *
 * An index beyond the memory is made in rounds, a range of tokens each. */
#ifndef ND_JOIN_BLOCK_JOIN_H
#define ND_JOIN_BLOCK_JOIN_H

#include "join/join_work.h"

enum {
  ND_BLOCK_WORDS = 4,        /* the widest sketch, in 64-bit words */
  ND_BLOCK_TILE = 1024,      /* postings that stay in the first cache */
  ND_BLOCK_SHORT = 64,       /* postings of a list that are compared where they lie */
  ND_BLOCK_CANDIDATES = 256, /* verified together */
  ND_BLOCK_HEAVY = 1 << 21   /* comparisons that are worth a job of their own */
};

/* A token of a record's prefix.  An array of them has rows of 16 + 8 * words bytes: all of
 * a posting lies on one cache line, mostly. */
typedef struct nd_posting {
  uint16_t token;  /* its low bits: a bucket has no more tokens than they tell apart */
  uint16_t class_; /* of the record's size */
  uint32_t record;
  uint32_t before;   /* the token before it in the record; UINT32_MAX: none is stored */
  uint32_t place;    /* position << 2 | side << 1 | indexed */
  uint64_t sketch[]; /* of the tokens after it */
} nd_posting;

ND_INLINE size_t nd_posting_bytes(unsigned words) {
  return sizeof(nd_posting) + 8 * words;
}

ND_INLINE nd_posting *nd_posting_at(nd_posting *rows, uint64_t at, unsigned words) {
  return (nd_posting *)(void *)((char *)rows + at * nd_posting_bytes(words));
}

ND_INLINE uint32_t nd_posting_position(const nd_posting *p) {
  return p->place >> 2;
}
ND_INLINE unsigned nd_posting_side(const nd_posting *p) {
  return p->place >> 1 & 1;
}
ND_INLINE unsigned nd_posting_indexed(const nd_posting *p) {
  return p->place & 1;
}

/* The share of one record in the distance allowed, in 1/256.  Clamped so that sums fit:
 * too high never loses a pair, and where the high one is cut, the low ones cannot pull the
 * sum below the width of a sketch. */
ND_INLINE int32_t nd_block_limit(int64_t limit) {
  const int64_t high = (INT64_C(1) << 30) - 1, low = -(INT64_C(1) << 29);
  limit = limit > high ? high : limit;
  return (int32_t)(limit < low ? low : limit);
}

/* … after this posting. */
ND_INLINE int32_t nd_posting_limit(int64_t share, const nd_posting *p) {
  return nd_block_limit(share - (int64_t)nd_posting_position(p) * 256);
}

/* May a list of so many postings be cut for the threads? */
ND_INLINE bool nd_block_is_heavy(uint64_t n) {
  return n * n > 2 * (uint64_t)ND_BLOCK_HEAVY;
}

/* One token's postings in record order. */
typedef struct nd_block_list {
  nd_posting *rows;      /* of the whole bucket */
  const uint32_t *order; /* which of them belong to the list */
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

/* Joins the postings from … to - 1 of a list, those of side `probing` as x, with the
 * indexed ones of side `indexed` before them. */
typedef nd_status (*nd_block_sides)(struct nd_block_worker *w, const nd_block_list *list,
                                    uint32_t from, uint32_t to, unsigned probing, unsigned indexed,
                                    nd_error *err);

/* Common tokens of two rising runs (readable for ND_SLACK bytes more).  Gives up, with a
 * number that is too small, once `needed` is out of reach. */
typedef uint32_t (*nd_block_common)(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                                    const uint32_t *b_end, int64_t needed);

/* The kernels; the same results at every level.  words: 1, 2 or 4. */
nd_block_sides nd_block_kernel(unsigned words, nd_cpu_level level);
nd_block_common nd_block_common_kernel(nd_cpu_level level);

/* A list that all threads join together. */
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
  /* Cells of tokens: the most frequent have one each, the others share. */
  uint32_t frequent; /* the first token with a cell of its own */
  unsigned shift;
  uint32_t low_cells, cells;
  uint32_t *sampled; /* per cell: postings in the sample */
  uint32_t stride;   /* every stride-th record is in the sample */
  double close;      /* the share of pairs whose sketches let them pass */
  uint32_t divide;   /* tokens before it are joined by chains, the others in buckets */
  struct nd_block_worker *worker;
  nd_block_heavy *heavy;
  size_t heavies, heavy_cap;
} nd_block_join;

/* A thread's scratch. */
typedef struct nd_block_worker {
  nd_join_worker *join;
  nd_block_join *block;
  nd_candidate *candidate;
  size_t candidates;
  uint32_t from; /* a pair with a common token from here on is known not to come again */
  /* verifying many candidates of one record */
  uint8_t *mark; /* per token: is it the record's? */
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

/* Stored tokens among the first `prefix` of a record. */
ND_INLINE uint32_t nd_block_prefix(const nd_sets *s, uint32_t record, uint32_t prefix) {
  uint32_t alone = s->size[record] - (uint32_t)(s->begin[record + 1] - s->begin[record]);
  return prefix > alone ? prefix - alone : 0;
}

/* Asks for the first tokens of a record: only prefixes are read, and the processor does not
 * foresee the jumps between them. */
ND_INLINE void nd_block_ask_record(const nd_sets *s, uint32_t record) {
  enum { LINE = 16 };
  const uint32_t *token = s->token + s->begin[record];
  __builtin_prefetch(token);
  __builtin_prefetch(token + LINE);
}

/* … of one that comes soon. */
ND_INLINE void nd_block_ask(const nd_sets *s, uint32_t record) {
  enum { AHEAD = 12 };
  if (s->n - record > AHEAD) nd_block_ask_record(s, record + AHEAD);
}

nd_status nd_block_reserve_side(nd_block_worker *w, uint32_t n, nd_error *err) ND_MUST_CHECK;

/* Joins all postings of a list, or keeps a long one for all threads. */
nd_status nd_block_list_join(nd_block_worker *w, const nd_block_list *list,
                             nd_error *err) ND_MUST_CHECK;

/* Verifies the candidates found so far. */
nd_status nd_block_verify(nd_block_worker *w, nd_error *err) ND_MUST_CHECK;

/* Joins the lists that were kept, longest first, on all threads. */
nd_status nd_block_join_heavies(nd_block_join *b, nd_error *err) ND_MUST_CHECK;
void nd_block_free_heavies(nd_block_join *b);

/* The join of the tokens before `divide`, where few pairs are compared, and of the others. */
nd_status nd_block_chains(nd_block_join *b, nd_error *err) ND_MUST_CHECK;
nd_status nd_block_buckets(nd_block_join *b, nd_error *err) ND_MUST_CHECK;

#endif
