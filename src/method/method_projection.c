/* --method projection: signs of random projections (Charikar 2002; Henzinger 2006, section 2,
 * Algorithm C). */
#include "sketch/projection.h"

#include <stdio.h>

#include "find/finder.h"
#include "method/shared_sketches.h"
#include "settings/method.h"

/* --- the sketch: bits / 64 words ------------------------------------------------------------- */

/* Bits per piece: 384 bits have 12 pieces, as published.  If these find every pair anyway, or
 * --complete asks for every pair, the search chooses the pieces. */
enum { PIECE_BITS = 32 };

void nd_projection_search(nd_settings *s, uint32_t agreeing) {
  s->distance = s->bits - agreeing;
  s->pieces = s->options->complete || s->distance < s->bits / PIECE_BITS ? 0 : s->bits / PIECE_BITS;
}

static nd_status resolve_bits(nd_settings *s, const nd_options *o, nd_error *err) {
  s->bits = (uint32_t)o->bits;
  s->agree_bits = o->agree_bits ? (uint32_t)o->agree_bits : s->bits - s->bits / 32;
  s->combined_bits =
      o->combined_bits ? (uint32_t)o->combined_bits : (s->bits * 355 + 384 / 2) / 384;
  if (s->bits % 64) return nd_fail(err, ND_ERR_USAGE, "--bits %u is not a multiple of 64", s->bits);
  if (s->agree_bits > s->bits || s->combined_bits > s->bits)
    return nd_fail(err, ND_ERR_USAGE, "--%s %u is more than --bits %u",
                   s->agree_bits > s->bits ? "agree-bits" : "combined-bits",
                   s->agree_bits > s->bits ? s->agree_bits : s->combined_bits, s->bits);
  nd_projection_search(s, s->agree_bits);
  return ND_OK;
}

static uint32_t count_words(const nd_settings *s) {
  return s->bits / 64;
}

static nd_status open_projection(void **state, const nd_settings *s, nd_error *err) {
  nd_projection *p = nd_calloc(1, sizeof *p);
  if (!p) return nd_fail_memory(err, sizeof *p);
  *state = p;
  return nd_projection_init(p, s->bits, s->options->seed, err);
}

static nd_status make_bits(uint64_t *out, void *state, const nd_settings *s,
                           const nd_sketch_input *in, nd_error *err) {
  nd_projection_sketch(out, state, in->features->fingerprint, in->features->n);
  return ND_OK;
}

static nd_status show_agreeing(nd_buf *out, const nd_settings *s, const uint64_t *a,
                               const uint64_t *b, nd_error *err) {
  return nd_buf_printf(out, err, "%u", nd_projection_agree(a, b, s->bits / 64));
}

static nd_status put_parameter(nd_buf *out, const nd_settings *s, nd_error *err) {
  return nd_buf_printf(out, err, "%u", s->bits);
}

static uint32_t words_in(const uint32_t number[2]) {
  return number[0] / 64;
}

const nd_sketch nd_sketch_projection = {.name = "projection",
                                        .from = ND_FROM_FEATURES,
                                        .resolve = resolve_bits,
                                        .words = count_words,
                                        .open = open_projection,
                                        .make = make_bits,
                                        .close = nd_free,
                                        .show = show_agreeing,
                                        .parameter = put_parameter,
                                        .words_in = words_in};

/* --- the method ------------------------------------------------------------------------------ */

void nd_projection_keys(nd_keys *out, const nd_settings *s) {
  out->vector = &nd_sketch_projection;
  out->distance = s->distance;
  out->pieces = s->pieces;
}

/* C-similar: enough bits agree. */
bool nd_projection_judge(uint64_t *value, const nd_settings *s, const uint64_t *a,
                         const uint64_t *b) {
  const nd_sketch *k = &nd_sketch_projection;
  const uint32_t same =
      nd_projection_agree(nd_row_words(&s->row, k, a), nd_row_words(&s->row, k, b), s->bits / 64);
  *value = nd_fraction_pack(same, s->bits);
  return same >= s->agree_bits;
}

static void describe_rule(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room, "at least %u of %u bits agree", s->agree_bits, s->bits);
}

void nd_projection_coverage(char *out, size_t room, const nd_settings *s) {
  uint32_t sure = s->pieces ? s->pieces - 1 : s->distance;
  if (sure >= s->distance)
    snprintf(out, room, "every pair of at most %u differing bits is found", s->distance);
  else
    snprintf(out, room,
             "every pair of at most %u differing bits is found (%u pieces of %u), of those up to "
             "%u most; --complete finds all",
             sure, s->pieces, s->bits / s->pieces, s->distance);
}

const nd_method nd_method_projection = {.name = "projection",
                                        .help = "bits of random projections decide",
                                        .sketch = &nd_sketch_projection,
                                        .finds = {&nd_sketch_projection},
                                        .judges = {&nd_sketch_projection},
                                        .defined = true,
                                        .find = nd_find_by_keys,
                                        .keys = nd_projection_keys,
                                        .judge = nd_projection_judge,
                                        .rule = describe_rule,
                                        .coverage = nd_projection_coverage};
