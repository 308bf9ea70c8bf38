/* --method combined, combined-site: super-shingles combined with projections (Henzinger 2006,
 * section 3).
 *
 * combined takes the candidates of super-shingles and requires fewer agreeing bits than projections
 * alone.  combined-site does so within a site; pairs on different sites are found and verified by
 * projections. */
#include <stdio.h>

#include "find/finder.h"
#include "method/shared_sketches.h"
#include "settings/method.h"
#include "text/site.h"

/* --- the sketch: one word, a hash of the page's site; 0: unknown --------------------------------
 */

static uint32_t one_word(const nd_settings *s) {
  return 1;
}

static nd_status make_site(uint64_t *out, void *state, const nd_settings *s,
                           const nd_sketch_input *in, nd_error *err) {
  *out = nd_site_key(in->url);
  return ND_OK;
}

static nd_status show_site(nd_buf *out, const nd_settings *s, const uint64_t *a, const uint64_t *b,
                           nd_error *err) {
  const char *word = !*a || !*b ? "-" : *a == *b ? "same" : "other";
  return nd_buf_append(out, word, strlen(word), err);
}

static nd_status put_parameter(nd_buf *out, const nd_settings *s, nd_error *err) {
  return nd_buf_printf(out, err, "64");
}

static uint32_t one_word_in(const uint32_t number[2]) {
  return 1;
}

static const nd_sketch site = {.name = "site",
                               .from = ND_FROM_URL,
                               .words = one_word,
                               .make = make_site,
                               .show = show_site,
                               .parameter = put_parameter,
                               .words_in = one_word_in};

/* --- combined --------------------------------------------------------------------------------- */

/* If combined verifies, projections must find candidates down to combined_bits. */
static nd_status resolve_combined(nd_settings *s, const nd_options *o, nd_error *err) {
  if (s->verifier == &nd_method_combined) nd_projection_search(s, s->combined_bits);
  return ND_OK;
}

/* B-similar pairs that are C-similar at a lower threshold. */
static bool judge_combined(uint64_t *value, const nd_settings *s, const uint64_t *a,
                           const uint64_t *b) {
  uint64_t bits;
  (void)nd_projection_judge(&bits, s, a, b);
  bool similar = nd_supershingle_judge(value, s, a, b);
  *value = bits;
  return similar && nd_fraction_of(bits).num >= s->combined_bits;
}

static void describe_combined(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room, "at least %u of %u super-shingles and %u of %u bits agree", s->agree,
           s->supershingles, s->combined_bits, s->bits);
}

const nd_method nd_method_combined = {.name = "combined",
                                      .help = "super-shingles and projections decide together",
                                      .finds = {&nd_sketch_supershingle},
                                      .judges = {&nd_sketch_supershingle, &nd_sketch_projection},
                                      .defined = true,
                                      .resolve = resolve_combined,
                                      .find = nd_find_by_keys,
                                      .keys = nd_supershingle_keys,
                                      .judge = judge_combined,
                                      .rule = describe_combined,
                                      .coverage = nd_supershingle_coverage};

/* --- combined-site -----------------------------------------------------------------------------
 */

/* The keys of both, as the sites of a pair are known only when it is found. */
static void both_keys(nd_keys *out, const nd_settings *s) {
  nd_supershingle_keys(out, s);
  nd_projection_keys(out, s);
}

/* A page without a known site shares its site with no other. */
static bool judge_by_site(uint64_t *value, const nd_settings *s, const uint64_t *a,
                          const uint64_t *b) {
  const uint64_t x = *nd_row_words(&s->row, &site, a), y = *nd_row_words(&s->row, &site, b);
  return x == y && x ? judge_combined(value, s, a, b) : nd_projection_judge(value, s, a, b);
}

static void describe_by_site(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room,
           "on one site at least %u of %u super-shingles and %u of %u bits agree, else %u bits",
           s->agree, s->supershingles, s->combined_bits, s->bits, s->agree_bits);
}

const nd_method nd_method_combined_site = {
    .name = "combined-site",
    .help = "combined within a site, projections across sites",
    .sketch = &site,
    .finds = {&nd_sketch_supershingle, &nd_sketch_projection},
    .judges = {&nd_sketch_supershingle, &nd_sketch_projection, &site},
    .defined = true,
    .find = nd_find_by_keys,
    .keys = both_keys,
    .judge = judge_by_site,
    .rule = describe_by_site,
    .coverage = nd_projection_coverage};
