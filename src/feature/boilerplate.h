/* Boilerplate: passages that recur on the pages of a site (menus, notices), removed before
 * the comparison (Henzinger 2006 finds them to be the main cause of wrong pairs on one site).
 *
 * A passage is a run of tokens whose windows (5 words, 20 code points) each recur on more than
 * a share of the pages of the site, and on at least ND_BOILERPLATE_PAGES.  Pages with equal
 * tokens count once. */
#ifndef ND_FEATURE_BOILERPLATE_H
#define ND_FEATURE_BOILERPLATE_H

#include "feature/shingle.h"
#include "feature/shingle_set.h"

enum { ND_BOILERPLATE_PAGES = 4, ND_BOILERPLATE_WORDS = 5, ND_BOILERPLATE_POINTS = 20 };

/* Returns the number of tokens in a window. */
static inline uint32_t nd_boilerplate_window(nd_token_kind tokens) {
  return tokens == ND_TOKENS_CODEPOINTS ? ND_BOILERPLATE_POINTS : ND_BOILERPLATE_WORDS;
}

/* Scratch, per thread.  {0} is empty. */
typedef struct nd_boilerplate {
  nd_shingles shingles;
  nd_shingle_probe probe;
  uint8_t *mark;
  size_t mark_cap;
} nd_boilerplate;
void nd_boilerplate_clear(nd_boilerplate *b);

/* Computes the keys of all windows of a page in b->shingles; none if it is too short. */
nd_status nd_boilerplate_keys(nd_boilerplate *b, const nd_tokens *tokens, uint64_t site,
                              uint32_t window, nd_error *err) ND_MUST_CHECK;

/* Removes the *dropped tokens in windows of the set.  If no token would be left, the page is
 * unchanged, and *dropped equals tokens->count. */
nd_status nd_boilerplate_strip(size_t *dropped, nd_boilerplate *b, nd_tokens *tokens, uint64_t site,
                               uint32_t window, const nd_shingle_set *passages,
                               nd_error *err) ND_MUST_CHECK;

#endif
