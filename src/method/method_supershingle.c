/* --method supershingle: MinHash values in groups (Henzinger 2006, section 2, Algorithm B).
 *
 * Documents that agree in t of n super-shingles share one of the C(n, t) sets of t super-shingles.
 * Each set, hashed, is a mega-shingle and serves as a key.  If there are too many sets, smaller
 * ones are used, which give more candidates. */
#include "sketch/supershingle.h"

#include <stdio.h>

#include "base/hash.h"
#include "find/finder.h"
#include "method/shared_sketches.h"
#include "settings/method.h"

enum { USUAL_VALUES = 84, SHINGLE_WORDS = 8 };
enum { MOST_MEGA = 64, MOST_SIZE = 7 }; /* 7 of 7; 4 of 8 would be 70 sets */

/* --- the sketch: a word per super-shingle ------------------------------------------------------
 */

static nd_status resolve_groups(nd_settings *s, const nd_options *o, nd_error *err) {
  s->min_values = o->permutations ? (uint32_t)o->permutations : USUAL_VALUES;
  s->supershingles = (uint32_t)o->supershingles;
  s->agree = (uint32_t)o->agree;
  if (!nd_row_has(&s->row, &nd_sketch_supershingle)) return ND_OK;
  if (s->supershingles > s->min_values)
    return nd_fail(err, ND_ERR_USAGE, "--supershingles %u is more than the %u MinHash values",
                   s->supershingles, s->min_values);
  ND_TRY(nd_super_check(s->min_values, s->supershingles, 1, err));
  if (s->agree > s->supershingles)
    return nd_fail(err, ND_ERR_USAGE, "--agree %u is more than --supershingles %u", s->agree,
                   s->supershingles);
  return ND_OK;
}

static uint32_t count_groups(const nd_settings *s) {
  return s->supershingles;
}

static uint32_t count_values(const nd_settings *s) {
  return s->min_values;
}

static nd_status make_groups(uint64_t *out, void *state, const nd_settings *s,
                             const nd_sketch_input *in, nd_error *err) {
  nd_super_make(out, in->min, s->min_values, s->supershingles, s->options->seed);
  return ND_OK;
}

static nd_status show_count(nd_buf *out, const nd_settings *s, const uint64_t *a, const uint64_t *b,
                            nd_error *err) {
  return nd_buf_printf(out, err, "%u", nd_super_agree(a, b, s->supershingles));
}

static nd_status put_parameter(nd_buf *out, const nd_settings *s, nd_error *err) {
  return nd_buf_printf(out, err, "%u of %u", s->supershingles, s->min_values);
}

static uint32_t groups_in(const uint32_t number[2]) {
  return number[0];
}

static uint32_t values_in(const uint32_t number[2]) {
  return number[1];
}

const nd_sketch nd_sketch_supershingle = {.name = "supershingle",
                                          .from = ND_FROM_MIN_VALUES,
                                          .shingle_words = SHINGLE_WORDS,
                                          .resolve = resolve_groups,
                                          .words = count_groups,
                                          .min_values = count_values,
                                          .make = make_groups,
                                          .show = show_count,
                                          .parameter = put_parameter,
                                          .words_in = groups_in,
                                          .min_values_in = values_in};

/* --- mega-shingles -----------------------------------------------------------------------------
 */

static uint64_t choose(uint64_t n, uint64_t k) {
  uint64_t c = 1;
  for (uint64_t i = 1; i <= k; i++) c = c * (n - k + i) / i;
  return c;
}

static uint32_t mega_size(const nd_settings *s) {
  uint32_t size = 1;
  while (size < s->agree && choose(s->supershingles, size + 1) <= MOST_MEGA) size++;
  return size;
}

/* Computes the members of set `number` of the sets of `size` out of n, ascending. */
static void mega_members(uint32_t *member, uint32_t n, uint32_t size, uint64_t number) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < size; i++) {
    for (;; at++) {
      uint64_t with = choose(n - at - 1, size - i - 1);
      if (number < with) break;
      number -= with;
    }
    member[i] = at++;
  }
}

static void make_mega(uint64_t *keys, const nd_settings *s, const uint64_t *rows, uint32_t docs,
                      uint32_t kind) {
  uint32_t member[MOST_SIZE], size = mega_size(s);
  mega_members(member, s->supershingles, size, kind);
  const uint64_t *row = nd_row_words(&s->row, &nd_sketch_supershingle, rows);
  for (uint32_t i = 0; i < docs; i++, row += s->row.total) {
    uint64_t h = kind;
    for (uint32_t k = 0; k < size; k++) h = nd_fold(h ^ row[member[k]], 0xa0761d6478bd642fu) + k;
    keys[i] = nd_mix(h);
  }
}

void nd_supershingle_keys(nd_keys *out, const nd_settings *s) {
  out->buckets = (uint32_t)choose(s->supershingles, mega_size(s));
  out->make = make_mega;
}

/* --- the method ---------------------------------------------------------------------------------
 */

/* B-similar: enough super-shingles agree. */
bool nd_supershingle_judge(uint64_t *value, const nd_settings *s, const uint64_t *a,
                           const uint64_t *b) {
  const nd_sketch *k = &nd_sketch_supershingle;
  const uint32_t same =
      nd_super_agree(nd_row_words(&s->row, k, a), nd_row_words(&s->row, k, b), s->supershingles);
  *value = nd_fraction_pack(same, s->supershingles);
  return same >= s->agree;
}

static void describe_rule(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room, "at least %u of %u super-shingles agree", s->agree, s->supershingles);
}

void nd_supershingle_coverage(char *out, size_t room, const nd_settings *s) {
  const double at[] = {0.8, 0.9, 0.95, 0.99};
  double p[4];
  for (size_t i = 0; i < 4; i++)
    p[i] = nd_super_recall(at[i], s->min_values, s->supershingles, s->agree);
  snprintf(out, room,
           "pairs of resemblance 0.8, 0.9, 0.95, 0.99 agree so with probability %.4f, %.4f, %.4f, "
           "%.4f",
           p[0], p[1], p[2], p[3]);
}

const nd_method nd_method_supershingle = {.name = "supershingle",
                                          .help = "super-shingles of MinHash values decide",
                                          .sketch = &nd_sketch_supershingle,
                                          .finds = {&nd_sketch_supershingle},
                                          .judges = {&nd_sketch_supershingle},
                                          .defined = true,
                                          .find = nd_find_by_keys,
                                          .keys = nd_supershingle_keys,
                                          .judge = nd_supershingle_judge,
                                          .rule = describe_rule,
                                          .coverage = nd_supershingle_coverage};
