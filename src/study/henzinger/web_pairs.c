/* B-similar and C-similar pages; see web_pairs.h. */
#include "study/henzinger/web_pairs.h"

#include <stdlib.h>

#include "base/threads.h"
#include "candidate/hamming.h"
#include "candidate/shared_values.h"
#include "feature/shingle.h"
#include "sketch/minhash.h"
#include "sketch/projection.h"
#include "sketch/supershingle.h"
#include "store/workdir.h"

/* A longer run of equal values gives a star, so that a corpus with a million equal menus
 * does not take quadratic time. */
enum { CAP = 2000 };
#define SORT_MEMORY (UINT64_C(1) << 28)

typedef struct sketcher {
  nd_minhash minhash;
  nd_projection projection;
  nd_shingles shingles;
  uint64_t seed;
} sketcher;

/* A sketch is six super-shingles, then six words of projection. */
static nd_status make_sketch(uint64_t *out, void *context, const nd_tokens *t, nd_error *err) {
  sketcher *s = context;
  uint64_t min[ND_WEB_VALUES];
  nd_str text = nd_buf_str(&t->text);
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, ND_WEB_SHINGLE};
  ND_TRY(nd_shingle_make(&s->shingles, text, t->end, t->count, spec, s->seed, false, err));
  ND_TRY(nd_minhash_sketch(min, &s->minhash, s->shingles.fingerprint, s->shingles.n, err));
  nd_super_make(out, min, ND_WEB_VALUES, ND_WEB_SUPERS, s->seed);
  spec.size = 1;
  ND_TRY(nd_shingle_make(&s->shingles, text, t->end, t->count, spec, s->seed, false, err));
  nd_projection_sketch(out + ND_WEB_SUPERS, &s->projection, s->shingles.fingerprint, s->shingles.n);
  return ND_OK;
}

static uint64_t super_at(const void *context, uint64_t row, uint32_t place) {
  const nd_pages *p = context;
  return p->sketch[row * ND_WEB_WORDS + place];
}

typedef struct collecting {
  nd_web_list *list;
  const nd_pages *pages;
  unsigned least; /* least number of agreeing super-shingles */
} collecting;

static nd_status collect(void *context, nd_item *items, size_t n, nd_error *err) {
  const collecting *c = context;
  nd_web_list *l = c->list;
  ND_TRY(nd_array_grow(&l->pairs, &l->cap, l->n + n, sizeof *l->pairs, err));
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    const uint64_t *x = c->pages->sketch + (size_t)p.a * ND_WEB_WORDS;
    const uint64_t *y = c->pages->sketch + (size_t)p.b * ND_WEB_WORDS;
    nd_web_pair *out = &l->pairs[l->n];
    *out =
        (nd_web_pair){items[i].key, nd_super_agree(x, y, ND_WEB_SUPERS),
                      nd_projection_agree(x + ND_WEB_SUPERS, y + ND_WEB_SUPERS, ND_WEB_BITS / 64)};
    l->n += out->b >= c->least;
  }
  return ND_OK;
}

static nd_status find_b(nd_web *w, unsigned threads, const char *tmp, nd_error *err) {
  nd_sorter *sorter = NULL;
  nd_bucket_stats stats = {0};
  nd_shared_request q = {.value = super_at,
                         .context = &w->pages,
                         .n = w->pages.ids.n,
                         .places = ND_WEB_SUPERS,
                         .needed = ND_WEB_B,
                         .cap = CAP,
                         .threads = threads};
  nd_status status = nd_sorter_new(&sorter, SORT_MEMORY, tmp, true, err);
  if (status == ND_OK) nd_sorter_sum(sorter);
  if (status == ND_OK) status = nd_shared_pairs(sorter, &stats, &q, err);
  collecting c = {&w->b, &w->pages, ND_WEB_B};
  if (status == ND_OK) status = nd_sorter_finish(sorter, err);
  if (status == ND_OK) status = nd_sorter_each(sorter, collect, &c, err);
  nd_sorter_free(sorter);
  w->hot += stats.hot;
  return status;
}

static nd_status find_c(nd_web *w, unsigned threads, const char *tmp, nd_error *err) {
  size_t n = w->pages.ids.n, words = ND_WEB_BITS / 64;
  nd_sorter *sorter = NULL;
  nd_hamming_stats stats = {0};
  uint64_t *vectors = nd_malloc((n * words + 1) * sizeof *vectors);
  if (!vectors) return nd_fail_memory(err, (n * words + 1) * sizeof *vectors);
  for (size_t i = 0; i < n; i++)
    memcpy(vectors + i * words, w->pages.sketch + i * ND_WEB_WORDS + ND_WEB_SUPERS,
           words * sizeof *vectors);
  nd_hamming_request q = {.vectors = vectors,
                          .n = n,
                          .words = (uint32_t)words,
                          .distance = ND_WEB_BITS - ND_WEB_C,
                          .pieces = ND_WEB_PIECES,
                          .threads = threads,
                          .cap = CAP};
  nd_status status = nd_sorter_new(&sorter, SORT_MEMORY, tmp, true, err);
  if (status == ND_OK) status = nd_hamming_pairs(sorter, &stats, &q, err);
  collecting c = {&w->c, &w->pages, 0};
  if (status == ND_OK) status = nd_sorter_finish(sorter, err);
  if (status == ND_OK) status = nd_sorter_each(sorter, collect, &c, err);
  nd_sorter_free(sorter);
  nd_free(vectors);
  w->hot += stats.hot;
  return status;
}

nd_status nd_web_find(nd_web *w, nd_study_run *run, const nd_options *options, nd_error *err) {
  *w = (nd_web){0};
  sketcher s = {.seed = options->seed};
  w->pages = (nd_pages){
      .unique = true, .fewest = 1, .words = ND_WEB_WORDS, .make = make_sketch, .context = &s};
  const char *tmp = nd_workdir_tmp(options->tmp);
  nd_status status = nd_minhash_init(&s.minhash, ND_WEB_VALUES, s.seed, err);
  if (status == ND_OK) status = nd_projection_init(&s.projection, ND_WEB_BITS, s.seed, err);
  if (status == ND_OK)
    status = nd_pages_read(&w->pages, run->summary, run->request, options, run->hooks, err);
  nd_minhash_clear(&s.minhash);
  nd_shingles_clear(&s.shingles);
  unsigned threads = options->threads ? (unsigned)options->threads : nd_threads_cores();
  if (status == ND_OK) status = find_b(w, threads, tmp, err);
  if (status == ND_OK) status = find_c(w, threads, tmp, err);
  run->summary->pairs = w->b.n;
  return status;
}

void nd_web_clear(nd_web *w) {
  nd_pages_clear(&w->pages);
  nd_free(w->b.pairs);
  nd_free(w->c.pairs);
  *w = (nd_web){0};
}
