/* The measures; see measures.h.  Sketches have the parameters of the papers, so that they
 * can be compared with the published thresholds. */
#include "study/common/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "similarity/edit_distance.h"
#include "similarity/resemblance.h"
#include "sketch/minhash.h"
#include "sketch/projection.h"
#include "sketch/simhash.h"
#include "sketch/supershingle.h"

enum {
  PERMUTATIONS = 128,
  MIN_VALUES = 84, /* Henzinger 2006: 6 super-shingles of 14, of 8 words */
  SUPERS = 6,
  SUPER_WORDS = 8,
  PROJECTION_BITS = 384,
  FARTHEST = 4096,  /* most edits counted */
  LONGEST = 4 << 20 /* most bytes of a text compared by edits */
};

typedef struct measuring {
  nd_measure *out;
  size_t n;
  const nd_settings *s;
  const nd_tokens *side[2];
  nd_shingles shingles;
  nd_error *err;
} measuring;

static void add(measuring *m, const char *name, const char *what, const char *format, ...)
    ND_PRINTF(4, 5);
static void add(measuring *m, const char *name, const char *what, const char *format, ...) {
  nd_measure *row = &m->out[m->n++];
  row->name = name;
  snprintf(row->what, sizeof row->what, "%s", what);
  va_list args;
  va_start(args, format);
  vsnprintf(row->value, sizeof row->value, format, args);
  va_end(args);
}

static nd_status overlap_of(nd_overlap *out, const measuring *m, nd_shingle_spec spec) {
  nd_comparer *c = NULL;
  nd_status status = nd_comparer_new(&c, spec, m->s->options->seed, m->err);
  if (status == ND_OK) status = nd_comparer_left(c, nd_buf_str(&m->side[0]->text), m->err);
  if (status == ND_OK) status = nd_comparer_right(out, c, nd_buf_str(&m->side[1]->text), m->err);
  nd_comparer_free(c);
  return status;
}

static nd_status shingles_of(measuring *m, int side, nd_shingle_kind kind, uint32_t size) {
  const nd_tokens *t = m->side[side];
  nd_shingle_spec spec = {kind, size};
  return nd_shingle_make(&m->shingles, nd_buf_str(&t->text), t->end, t->count, spec,
                         m->s->options->seed, false, m->err);
}

static nd_status exact(measuring *m) {
  nd_overlap o;
  char what[96];
  ND_TRY(overlap_of(&o, m, m->s->shingle));
  double left = o.left, right = (double)o.joint - o.left + o.common, common = o.common;
  static const char *const kinds[] = {"words", "chars", "aligned"};
  snprintf(what, sizeof what, "shared of all shingles (%s:%u): %u of %u", kinds[m->s->shingle.kind],
           (unsigned)m->s->shingle.size, (unsigned)o.common, (unsigned)o.joint);
  add(m, "jaccard", what, "%.6f", o.joint ? common / o.joint : 0);
  add(m, "containment", "shared of the smaller one's shingles", "%.6f",
      fmin(left, right) > 0 ? common / fmin(left, right) : 0);
  add(m, "cosine", "shared, by the geometric mean of sizes", "%.6f",
      left > 0 && right > 0 ? common / sqrt(left * right) : 0);
  add(m, "overlap", "shared shingles", "%u", (unsigned)o.common);
  ND_TRY(overlap_of(&o, m, (nd_shingle_spec){ND_SHINGLE_WORDS, 1}));
  add(m, "words", "shared of all different words", "%.6f", nd_overlap_value(o));
  return ND_OK;
}

static nd_status edits(measuring *m) {
  nd_str a = nd_buf_str(&m->side[0]->text), b = nd_buf_str(&m->side[1]->text);
  const char *what = "characters to insert, delete or replace";
  if (a.n > LONGEST || b.n > LONGEST) {
    add(m, "edit", "not counted: the texts are too long", "-");
    return ND_OK;
  }
  nd_edit_scratch scratch = {0};
  uint32_t distance;
  nd_status status = nd_edit_distance(&distance, &scratch, a, b, FARTHEST, m->err);
  nd_edit_scratch_clear(&scratch);
  ND_TRY(status);
  if (distance > FARTHEST)
    add(m, "edit", what, "> %d", FARTHEST);
  else
    add(m, "edit", what, "%u", (unsigned)distance);
  return ND_OK;
}

static nd_status min_values(uint64_t *out, measuring *m, nd_family family, uint32_t k,
                            nd_shingle_kind kind, uint32_t size) {
  nd_minhash minhash = {0};
  nd_status status = nd_minhash_init_family(&minhash, family, k, m->s->options->seed, m->err);
  for (int i = 0; status == ND_OK && i < 2; i++) {
    status = shingles_of(m, i, kind, size);
    if (status == ND_OK)
      status = nd_minhash_sketch(out + (size_t)i * k, &minhash, m->shingles.fingerprint,
                                 m->shingles.n, m->err);
  }
  nd_minhash_clear(&minhash);
  return status;
}

static nd_status sketches(measuring *m) {
  uint64_t values[2 * PERMUTATIONS], supers[2 * SUPERS], bits[2 * (PROJECTION_BITS / 64)], hash[2];
  uint64_t seed = m->s->options->seed;
  nd_shingle_spec spec = m->s->shingle;
  ND_TRY(min_values(values, m, ND_FAMILY_FAST, PERMUTATIONS, spec.kind, spec.size));
  add(m, "minhash", "estimate of jaccard from 128 min values", "%.6f",
      nd_minhash_estimate(values, values + PERMUTATIONS, PERMUTATIONS));
  ND_TRY(min_values(values, m, ND_FAMILY_LINEAR, MIN_VALUES, ND_SHINGLE_WORDS, SUPER_WORDS));
  nd_super_make(supers, values, MIN_VALUES, SUPERS, seed);
  nd_super_make(supers + SUPERS, values + MIN_VALUES, MIN_VALUES, SUPERS, seed);
  add(m, "supershingle", "agree, of 6 (Henzinger 2006: at least 2)", "%u",
      (unsigned)nd_super_agree(supers, supers + SUPERS, SUPERS));
  nd_projection projection;
  nd_simhash simhash = {0};
  /* untaken: checked with the settings */
  ND_TRY(nd_projection_init(&projection, PROJECTION_BITS, seed, m->err));
  nd_status status = nd_simhash_init(&simhash, ND_WEIGHTS_ONE, seed, NULL, m->err);
  for (int i = 0; status == ND_OK && i < 2; i++) {
    status = shingles_of(m, i, ND_SHINGLE_WORDS, 1);
    if (status != ND_OK) break;
    nd_projection_sketch(bits + (size_t)i * (PROJECTION_BITS / 64), &projection,
                         m->shingles.fingerprint, m->shingles.n);
    status = nd_simhash_sketch(&hash[i], &simhash, m->shingles.fingerprint, m->shingles.n, m->err);
  }
  nd_simhash_clear(&simhash);
  ND_TRY(status);
  add(m, "projection", "bits agree, of 384 (there: at least 372)", "%u",
      (unsigned)nd_projection_agree(bits, bits + PROJECTION_BITS / 64, PROJECTION_BITS / 64));
  add(m, "simhash", "bits differ, of 64 (Williams 2013: at most 3)", "%d",
      __builtin_popcountll(hash[0] ^ hash[1]));
  return ND_OK;
}

nd_status nd_measures(nd_measure out[ND_MEASURES], size_t *n, const nd_settings *s,
                      const nd_tokens *a, const nd_tokens *b, nd_error *err) {
  measuring m = {.out = out, .s = s, .side = {a, b}, .err = err};
  nd_status status = exact(&m);
  if (status == ND_OK) status = edits(&m);
  if (status == ND_OK) status = sketches(&m);
  nd_shingles_clear(&m.shingles);
  *n = m.n;
  return status;
}
