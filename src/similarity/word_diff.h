/* Differences between two documents, word by word.
 *
 * Myers' O(ND) difference algorithm in linear space (1986, section 4b): the
 * middle of a shortest edit path is searched from both ends, then both halves are
 * compared separately.  If the searches have not met after some steps, the
 * documents are split at runs of words that both have exactly once, namely the
 * longest sequence of these in the same order, and the parts in between are
 * compared separately.  Without such runs the search continues for LIMIT steps and
 * then splits at the furthest point reached.  So the time is O((N + M) LIMIT) for
 * any input, but the path may not be the shortest. */
#ifndef ND_SIMILARITY_WORD_DIFF_H
#define ND_SIMILARITY_WORD_DIFF_H

#include "base/mem.h"

/* Aligns words [a, a + a_n) of the left document with [b, b + b_n) of the right: equal ones (then
 * a_n = b_n), or different ones (either may be empty).  Runs tile both documents, and equal and
 * different ones alternate. */
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

/* Compares two token texts (tokens joined by single spaces) with the ends of their tokens; replaces
 * the contents of `d`, which starts as {0}. */
nd_status nd_word_diff(nd_diff *d, nd_str a, const uint32_t *a_end, size_t a_n, nd_str b,
                       const uint32_t *b_end, size_t b_n, nd_error *err) ND_MUST_CHECK;

/* Compares two arrays of symbols likewise. */
nd_status nd_symbol_diff(nd_diff *d, const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                         nd_error *err) ND_MUST_CHECK;

/* Joins changes separated by few equal words (fewer than `island` and than the words of either
 * change), because passages are easier to read than single words. */
void nd_diff_join_islands(nd_diff *d, uint32_t island);

void nd_diff_clear(nd_diff *d);

#endif
