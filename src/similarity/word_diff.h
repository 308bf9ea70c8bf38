/* What differs between two documents, word by word.
 *
 * Myers' O(ND) difference algorithm in linear space (1986, section 4b): the
 * middle of a shortest edit path is found from both ends, then both halves on
 * their own.  Where the halves have not met after some steps, the documents are
 * cut at runs of words that both have exactly once, as many as stand in one
 * order (the longest rising sequence), and what lies between is compared alone.
 * Where there are none, the search goes on for LIMIT steps, and then from the
 * furthest point reached: the time is O((N + M) LIMIT) for any input, at the
 * price of a path that may not be the shortest there. */
#ifndef ND_SIMILARITY_WORD_DIFF_H
#define ND_SIMILARITY_WORD_DIFF_H

#include "base/mem.h"

/* Words a … a + a_n - 1 of the left stand against b … b + b_n - 1 of the right:
 * the same ones (then a_n = b_n), or others (one of them may be none).  Runs
 * tile both documents, and same and other ones take turns. */
typedef struct nd_diff_run {
  uint32_t a, a_n, b, b_n;
  bool same;
} nd_diff_run;

typedef struct nd_diff {
  nd_diff_run *runs;
  size_t n, cap;
  uint64_t same, only_a, only_b; /* words */
  /* scratch, kept between calls */
  uint32_t *symbols;
  size_t symbol_cap;
  int64_t *reach;
  size_t reach_cap;
  void *table;
  size_t table_cap;
  void *grams;
  size_t gram_cap;
  struct nd_diff_anchor *anchors;
  size_t anchor_n, anchor_cap;
  uint32_t *last;
  size_t last_cap;
} nd_diff;

/* Two token texts (tokens joined by single spaces) with the ends of their
 * tokens.  {0} is an empty nd_diff; what it held is replaced. */
nd_status nd_word_diff(nd_diff *d, nd_str a, const uint32_t *a_end, size_t a_n, nd_str b,
                       const uint32_t *b_end, size_t b_n, nd_error *err) ND_MUST_CHECK;

/* The same for symbols. */
nd_status nd_symbol_diff(nd_diff *d, const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                         nd_error *err) ND_MUST_CHECK;

/* Joins changes that only a few same words keep apart (fewer than `island`, and
 * fewer than each change has): people read passages, not single words. */
void nd_diff_join_islands(nd_diff *d, uint32_t island);

void nd_diff_clear(nd_diff *d);

#endif
