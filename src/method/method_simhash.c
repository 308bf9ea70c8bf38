/* --method simhash: 64 weighted votes (Charikar 2002; Manku, Jain and Das Sarma 2007). */
#include "sketch/simhash.h"

#include <stdio.h>

#include "candidate/hamming.h"
#include "find/finder.h"
#include "settings/method.h"

enum { BITS = 64 };

static const nd_sketch simhash;

/* --- the sketch: one word -------------------------------------------------------------------- */

static nd_status resolve_hamming(nd_settings *s, const nd_options *o, nd_error *err) {
  s->hamming = (uint32_t)o->hamming;
  return ND_OK;
}

static uint32_t one_word(const nd_settings *s) {
  return 1;
}

/* TF-IDF weights are known only after all documents have been read. */
static bool is_deferred(const nd_settings *s) {
  return s->weights == ND_WEIGHTS_TFIDF;
}

static void close_simhash(void *state) {
  if (state) nd_simhash_clear(state);
  nd_free(state);
}

static nd_status open_simhash(void **state, const nd_settings *s, nd_error *err) {
  if (is_deferred(s)) return ND_OK;
  nd_simhash *h = nd_calloc(1, sizeof *h);
  if (!h) return nd_fail_memory(err, sizeof *h);
  *state = h;
  return nd_simhash_init(h, s->weights, s->options->seed, NULL, err);
}

static nd_status make_simhash(uint64_t *out, void *state, const nd_settings *s,
                              const nd_sketch_input *in, nd_error *err) {
  *out = 0;
  if (!state) return ND_OK;
  return nd_simhash_sketch(out, state, in->features->fingerprint, in->features->n, err);
}

static nd_status show_differing(nd_buf *out, const nd_settings *s, const uint64_t *a,
                                const uint64_t *b, nd_error *err) {
  return nd_buf_printf(out, err, "%u", nd_hamming_distance(a, b, 1));
}

static nd_status put_parameter(nd_buf *out, const nd_settings *s, nd_error *err) {
  return nd_buf_printf(out, err, "%s", s->options->weights);
}

static uint32_t one_word_in(const uint32_t number[2]) {
  return 1;
}

static const nd_sketch simhash = {.name = "simhash",
                                  .from = ND_FROM_FEATURES,
                                  .resolve = resolve_hamming,
                                  .words = one_word,
                                  .deferred = is_deferred,
                                  .open = open_simhash,
                                  .make = make_simhash,
                                  .close = close_simhash,
                                  .show = show_differing,
                                  .parameter = put_parameter,
                                  .words_in = one_word_in};

/* --- the method ------------------------------------------------------------------------------ */

static void vector_keys(nd_keys *out, const nd_settings *s) {
  out->vector = &simhash;
  out->distance = s->hamming;
}

/* Similar if at most s->hamming of the 64 bits differ. */
static bool judge_simhash(uint64_t *value, const nd_settings *s, const uint64_t *a,
                          const uint64_t *b) {
  const uint32_t differ = nd_hamming_distance(nd_row_words(&s->row, &simhash, a),
                                              nd_row_words(&s->row, &simhash, b), 1);
  *value = nd_fraction_pack(BITS - differ, BITS);
  return differ <= s->hamming;
}

static void describe_rule(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room, "at most %u of 64 bits differ", s->hamming);
}

static void describe_coverage(char *out, size_t room, const nd_settings *s) {
  snprintf(out, room, "every pair of at most %u differing bits is found", s->hamming);
}

const nd_method nd_method_simhash = {.name = "simhash",
                                     .help = "64 bits of weighted votes decide",
                                     .sketch = &simhash,
                                     .finds = {&simhash},
                                     .judges = {&simhash},
                                     .defined = true,
                                     .find = nd_find_by_keys,
                                     .keys = vector_keys,
                                     .judge = judge_simhash,
                                     .rule = describe_rule,
                                     .coverage = describe_coverage};
