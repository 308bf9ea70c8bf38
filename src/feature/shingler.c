/* From a token text to distinct keys; see shingler.h. */
#include "feature/shingler.h"

#include "base/radix.h"
#include "feature/sample.h"
#include "text/words.h"

void nd_shingler_clear(nd_shingler *s) {
  nd_free(s->end);
  nd_shingles_clear(&s->shingles);
  nd_free(s->key);
  nd_free(s->scratch);
  *s = (nd_shingler){0};
}

nd_status nd_shingler_split(nd_shingler *s, nd_str text, nd_error *err) {
  return nd_token_ends(&s->end, &s->tokens, &s->end_cap, text, err);
}

nd_status nd_shingler_run(nd_shingler *s, nd_str text, nd_shingle_spec spec, uint64_t seed,
                          nd_error *err) {
  ND_TRY(nd_shingler_split(s, text, err));
  return nd_shingle_make(&s->shingles, text, s->end, s->tokens, spec, seed, false, err);
}

/* Sorts n numbers and removes repeats; *n becomes how many are left. */
static nd_status sort_distinct(nd_shingler *s, uint64_t *a, size_t *n, nd_error *err) {
  ND_TRY(nd_array_grow(&s->scratch, &s->scratch_cap, *n, sizeof *s->scratch, err));
  nd_radix_u64(a, s->scratch, *n);
  size_t kept = 0;
  for (size_t i = 0; i < *n; i++)
    if (kept == 0 || a[i] != a[kept - 1]) a[kept++] = a[i];
  *n = kept;
  return ND_OK;
}

nd_status nd_shingler_keys(nd_shingler *s, nd_error *err) {
  const size_t n = s->shingles.n;
  ND_TRY(nd_array_grow(&s->key, &s->key_cap, n, sizeof *s->key, err));
  for (size_t i = 0; i < n; i++) s->key[i] = nd_sample_key(s->shingles.fingerprint[i]);
  s->keys = n;
  return sort_distinct(s, s->key, &s->keys, err);
}

nd_status nd_shingler_sort(nd_shingler *s, nd_error *err) {
  return sort_distinct(s, s->shingles.fingerprint, &s->shingles.n, err);
}
