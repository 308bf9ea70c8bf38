/* Boilerplate: passages that recur on the pages of a site (menus, notices), to
 * be left out of the comparison (Henzinger 2006 finds in them the main cause of
 * wrong pairs on one site).
 *
 * A passage is a run of tokens every window of which (5 words, 20 code points)
 * recurs on more than a share of the site's pages, and on no fewer than
 * ND_BOILERPLATE_PAGES.  Pages with equal tokens count once. */
#ifndef ND_FEATURE_BOILERPLATE_H
#define ND_FEATURE_BOILERPLATE_H

#include "feature/shingle.h"
#include "feature/shingle_set.h"

enum { ND_BOILERPLATE_PAGES = 4, ND_BOILERPLATE_WORDS = 5, ND_BOILERPLATE_POINTS = 20 };

/* The tokens of a window. */
static inline uint32_t nd_boilerplate_window(nd_token_kind tokens) {
  return tokens == ND_TOKENS_CODEPOINTS ? ND_BOILERPLATE_POINTS : ND_BOILERPLATE_WORDS;
}

/* Scratch of one thread.  {0} is an empty one. */
typedef struct nd_boilerplate {
  nd_shingles shingles;
  nd_shingle_probe probe;
  uint8_t *mark;
  size_t mark_cap;
} nd_boilerplate;
void nd_boilerplate_clear(nd_boilerplate *b);

/* The keys of all windows of a page, into b->shingles; none when it is too short. */
nd_status nd_boilerplate_keys(nd_boilerplate *b, const nd_tokens *tokens, uint64_t site,
                              uint32_t window, nd_error *err) ND_MUST_CHECK;

/* Takes the tokens out that lie in a window of the set; *dropped of them.  When
 * nothing would be left the page stays as it is: *dropped is their number all the
 * same, and tokens->count too. */
nd_status nd_boilerplate_strip(size_t *dropped, nd_boilerplate *b, nd_tokens *tokens, uint64_t site,
                               uint32_t window, const nd_shingle_set *passages,
                               nd_error *err) ND_MUST_CHECK;

#endif
