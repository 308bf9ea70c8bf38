/* Documents of a study; see pages.h. */
#include "study/common/pages.h"

#include <xxhash.h>

#include "base/rng.h"
#include "text/site.h"

void nd_pages_clear(nd_pages *p) {
  nd_id_map_clear(&p->ids);
  nd_id_map_clear(&p->digests);
  nd_free(p->site);
  nd_free(p->sketch);
  nd_free(p->digest);
  nd_free(p->wanted);
  nd_free(p->begin);
  nd_free(p->length);
  nd_free(p->tokens);
  *p = (nd_pages){0};
}

/* Tests whether this token sequence is an exact duplicate. */
static nd_status is_copy(bool *out, nd_pages *p, const nd_tokens *tokens, nd_error *err) {
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(tokens->text.p, tokens->text.n));
  uint32_t number;
  size_t before = p->digests.n;
  nd_str key = {(const char *)digest.digest, sizeof digest.digest};
  ND_TRY(nd_id_map_number(&number, &p->digests, key, err));
  *out = p->digests.n == before;
  return ND_OK;
}

static nd_status take(void *context, const nd_corpus_document *d, nd_error *err) {
  nd_pages *p = context;
  bool copy = false;
  if (d->tokens->count < p->fewest) {
    p->small++;
    return ND_OK;
  }
  if (nd_id_map_find(&p->ids, d->id) != ND_NO_ID) {
    p->repeated++;
    return ND_OK;
  }
  if (p->unique) ND_TRY(is_copy(&copy, p, d->tokens, err));
  if (copy) {
    p->copies++;
    return ND_OK;
  }
  uint32_t row;
  ND_TRY(nd_id_map_number(&row, &p->ids, d->id, err));
  size_t rows = (size_t)row + 1;
  ND_TRY(nd_array_grow(&p->site, &p->site_cap, rows, sizeof *p->site, err));
  ND_TRY(nd_array_grow(&p->sketch, &p->sketch_cap, rows * p->words, sizeof *p->sketch, err));
  ND_TRY(nd_array_grow(&p->digest, &p->digest_cap, rows, sizeof *p->digest, err));
  p->site[row] = nd_site_key(d->url);
  p->digest[row] = XXH3_64bits(d->tokens->text.p, d->tokens->text.n);
  return p->make(p->sketch + (size_t)row * p->words, p->context, d->tokens, err);
}

nd_status nd_pages_read(nd_pages *p, nd_summary *summary, const nd_study_request *request,
                        const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  for (size_t i = 0; i < request->input_n; i++) {
    if (strcmp(request->inputs[i], "-") == 0)
      return nd_fail(err, ND_ERR_USAGE,
                     "study %s reads its input twice, so it cannot be standard input; save that to "
                     "a file",
                     request->name);
  }
  ND_TRY(nd_corpus_each(summary, request->inputs, request->input_n, options, hooks, take, p, err));
  nd_id_map_clear(&p->digests);
  return ND_OK;
}

nd_status nd_pages_want(nd_pages *p, nd_error *err) {
  size_t n = p->ids.n + 1;
  p->wanted = nd_calloc(n, 1);
  p->begin = nd_calloc(n, sizeof *p->begin);
  p->length = nd_calloc(n, sizeof *p->length);
  if (!p->wanted || !p->begin || !p->length) return nd_fail_memory(err, n * sizeof *p->begin);
  return ND_OK;
}

static nd_status take_tokens(void *context, const nd_corpus_document *d, nd_error *err) {
  nd_pages *p = context;
  uint32_t row = nd_id_map_find(&p->ids, d->id);
  size_t count = d->tokens->count;
  if (row == ND_NO_ID || count < p->fewest || p->wanted[row] != 1) return ND_OK;
  uint64_t digest = XXH3_64bits(d->tokens->text.p, d->tokens->text.n);
  if (digest != p->digest[row]) return ND_OK; /* a document with the same id that was left out */
  p->wanted[row] = 2;
  ND_TRY(nd_array_grow(&p->tokens, &p->token_cap, p->token_n + count, sizeof *p->tokens, err));
  p->begin[row] = p->token_n;
  p->length[row] = (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    nd_str token = nd_token(d->tokens, i);
    p->tokens[p->token_n++] = (uint32_t)XXH3_64bits(token.p, token.n);
  }
  return ND_OK;
}

nd_status nd_pages_fetch(nd_pages *p, const nd_study_request *request, const nd_options *options,
                         const nd_hooks *hooks, nd_error *err) {
  nd_summary again;
  ND_TRY(nd_corpus_each(&again, request->inputs, request->input_n, options, hooks, take_tokens, p,
                        err));
  for (uint32_t row = 0; row < p->ids.n; row++) {
    if (p->wanted[row] != 1) continue;
    nd_str id = nd_id_map_id(&p->ids, row);
    return nd_fail(err, ND_ERR_IO,
                   "%.*s was not found in the second pass over the input, which must not change "
                   "during the run",
                   (int)(id.n < 200 ? id.n : 200), id.p);
  }
  return ND_OK;
}

/* Selection sampling (Knuth 3.4.2, algorithm S): one pass, ascending. */
nd_status nd_sample_positions(size_t **out, size_t *count, size_t n, size_t most, uint64_t seed,
                              nd_error *err) {
  size_t take_n = n < most ? n : most, got = 0;
  size_t *list = nd_malloc((take_n + 1) * sizeof *list);
  if (!list) return nd_fail_memory(err, (take_n + 1) * sizeof *list);
  nd_rng rng = {seed};
  for (size_t i = 0; got < take_n; i++) {
    if (nd_rng_below(&rng, n - i) < take_n - got) list[got++] = i;
  }
  *out = list;
  *count = got;
  return ND_OK;
}
