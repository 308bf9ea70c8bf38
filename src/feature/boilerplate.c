/* Marks and removes windows of tokens; see boilerplate.h. */
#include "feature/boilerplate.h"

#include "base/hash.h"

static const uint64_t seed = 0x626f696c6572; /* the hash of windows does not depend on --seed */

void nd_boilerplate_clear(nd_boilerplate *b) {
  nd_shingles_clear(&b->shingles);
  nd_shingle_probe_clear(&b->probe);
  nd_free(b->mark);
  *b = (nd_boilerplate){0};
}

nd_status nd_boilerplate_keys(nd_boilerplate *b, const nd_tokens *tokens, uint64_t site,
                              uint32_t window, nd_error *err) {
  b->shingles.n = 0;
  if (tokens->count < window) return ND_OK;
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, window};
  ND_TRY(nd_shingle_make(&b->shingles, nd_buf_str(&tokens->text), tokens->end, tokens->count, spec,
                         seed, false, err));
  for (size_t i = 0; i < b->shingles.n; i++)
    b->shingles.fingerprint[i] = nd_mix(b->shingles.fingerprint[i] ^ site);
  return ND_OK;
}

/* Moves the unmarked tokens to the front. */
static void take_out(nd_tokens *t, const uint8_t *mark) {
  uint32_t start = 0, to = 0;
  size_t kept = 0;
  for (size_t i = 0; i < t->count; i++) {
    uint32_t end = t->end[i], n = end - start;
    if (!mark[i]) {
      if (kept) t->text.p[to++] = ' ';
      memmove(t->text.p + to, t->text.p + start, n);
      to += n;
      t->end[kept++] = to;
    }
    start = end + 1;
  }
  t->text.n = to;
  t->count = kept;
}

nd_status nd_boilerplate_strip(size_t *dropped, nd_boilerplate *b, nd_tokens *tokens, uint64_t site,
                               uint32_t window, const nd_shingle_set *passages, nd_error *err) {
  *dropped = 0;
  ND_TRY(nd_boilerplate_keys(b, tokens, site, window, err));
  if (b->shingles.n == 0) return ND_OK;
  ND_TRY(nd_array_grow(&b->mark, &b->mark_cap, tokens->count, 1, err));
  size_t covered = 0; /* the marks of tokens before this one are final */
  for (size_t i = 0; i < b->shingles.n; i++) {
    bool has;
    ND_TRY(nd_shingle_set_has(&has, passages, &b->probe, b->shingles.fingerprint[i], err));
    if (!has) continue;
    while (covered < i) b->mark[covered++] = 0;
    while (covered < i + window) {
      b->mark[covered++] = 1;
      ++*dropped;
    }
  }
  if (*dropped == 0 || *dropped == tokens->count) return ND_OK;
  while (covered < tokens->count) b->mark[covered++] = 0;
  take_out(tokens, b->mark);
  return ND_OK;
}
