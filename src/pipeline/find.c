/* Copies and candidates; see find.h. */
#include "pipeline/find.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/threads.h"
#include "pipeline/exact.h"
#include "pipeline/setjoin.h"

enum { READ_ROOM = 1 << 12, JOB_DOCUMENTS = 1 << 13, REPEATED_SHOWN = 100 };

typedef struct finder {
  nd_found *out;
  const nd_store *store;
  const nd_settings *settings;
  const nd_text_source *source;
  const char *tmp;
  _Atomic uint32_t *last_centre;
  nd_bucket_stats *stats; /* per member */
  uint64_t share;         /* memory of one member */
} finder;

void nd_found_clear(nd_found *f) {
  nd_free(f->same);
  nd_free(f->repeated_id);
  nd_order_clear(&f->order);
  nd_sorter_free(f->pairs);
  *f = (nd_found){0};
}

/* Adds one item per document that has tokens: half the digest as key, the rest
 * of it (what fits) beside the number. */
static nd_status add_digests(nd_grouper *g, const finder *f, nd_digest *digest, uint32_t *shingles,
                             size_t block, nd_error *err) {
  const nd_block_ref *b = &f->store->blocks[block];
  ND_TRY(nd_store_column(f->store, block, ND_COL_DIGEST, sizeof *digest, digest, err));
  ND_TRY(nd_store_column(f->store, block, ND_COL_SHINGLES, sizeof *shingles, shingles, err));
  for (uint32_t i = 0; i < b->head.docs; i++) {
    uint32_t document = b->first + i;
    f->out->same[document] = shingles[i] ? document : ND_NO_DOCUMENT;
    if (!shingles[i]) continue;
    /* Copies in the other collection are neighbours, not copies. */
    uint64_t side = document >= f->source->split ? 0x9e3779b97f4a7c15u : 0;
    ND_TRY(nd_grouper_add(g, digest[i].low ^ side,
                          (digest[i].high & ~(uint64_t)UINT32_MAX) | document, err));
  }
  return ND_OK;
}

static uint32_t most_docs(const nd_store *s) {
  uint32_t most = 1;
  for (size_t i = 0; i < s->block_n; i++)
    if (s->blocks[i].head.docs > most) most = s->blocks[i].head.docs;
  return most;
}

/* Reads groups of equal digests: later members point to the first. */
static nd_status mark_copies(finder *f, nd_grouper *g, nd_error *err) {
  /* Equal texts need not share enough shingles to count. */
  if (f->settings->similarity == ND_SIMILARITY_OVERLAP) return ND_OK;
  nd_item items[512];
  nd_item first = {0};
  bool have = false;
  for (;;) {
    size_t n;
    ND_TRY(nd_grouper_next(&n, items, sizeof items / sizeof *items, g, err));
    if (n == 0) return ND_OK;
    for (size_t i = 0; i < n; i++) {
      if (have && items[i].key == first.key && items[i].value >> 32 == first.value >> 32) {
        f->out->same[(uint32_t)items[i].value] = (uint32_t)first.value;
      } else {
        first = items[i];
        have = true;
      }
    }
  }
}

static nd_status find_digests(finder *f, nd_error *err) {
  const nd_store *s = f->store;
  nd_grouper *g = NULL;
  uint32_t most = most_docs(s);
  nd_digest *digest = nd_malloc(most * sizeof *digest);
  uint32_t *shingles = nd_malloc(most * sizeof *shingles);
  nd_status status = digest && shingles ? ND_OK : nd_fail_memory(err, most * sizeof *digest);
  if (status == ND_OK)
    status = nd_grouper_new(&g, s->documents, f->settings->memory / 4, f->tmp, err);
  for (size_t i = 0; status == ND_OK && i < s->block_n; i++)
    status = add_digests(g, f, digest, shingles, i, err);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK) status = mark_copies(f, g, err);
  nd_grouper_free(g);
  nd_free(digest);
  nd_free(shingles);
  return status;
}

/* A digest only proposes: a copy has the same tokens, byte for byte. */
static nd_status check_range(finder *f, nd_texts *texts, uint64_t begin, uint64_t end,
                             nd_buf *first, nd_buf *copy, nd_error *err) {
  uint32_t *same = f->out->same;
  uint32_t loaded = ND_NO_DOCUMENT;
  for (uint64_t d = begin; d < end; d++) {
    uint32_t document = (uint32_t)d;
    if (same[d] == ND_NO_DOCUMENT || same[d] == document) continue;
    if (loaded != same[d]) {
      loaded = same[d];
      ND_TRY(nd_texts_get(first, texts, loaded, err));
    }
    ND_TRY(nd_texts_get(copy, texts, document, err));
    if (!nd_str_eq(nd_buf_str(first), nd_buf_str(copy))) same[d] = document;
  }
  return ND_OK;
}

static nd_status check_copies(void *context, unsigned member, uint64_t job, nd_error *err) {
  finder *f = context;
  (void)member;
  ND_TRY(nd_hooks_check(f->source->hooks, err));
  uint64_t begin = job * JOB_DOCUMENTS, end = begin + JOB_DOCUMENTS;
  if (end > f->store->documents) end = f->store->documents;
  nd_buf first = {0}, copy = {0};
  nd_texts *texts = NULL;
  nd_status status = nd_texts_new(&texts, f->source, err);
  if (status == ND_OK) status = check_range(f, texts, begin, end, &first, &copy, err);
  nd_texts_free(texts);
  nd_buf_clear(&first);
  nd_buf_clear(&copy);
  return status;
}

/* Documents whose id another one has already. */
static nd_status find_repeated_ids(finder *f, nd_error *err) {
  const nd_store *s = f->store;
  nd_found *out = f->out;
  nd_grouper *g = NULL;
  uint32_t most = most_docs(s);
  uint64_t *hash = nd_malloc(most * sizeof *hash);
  nd_status status = hash ? ND_OK : nd_fail_memory(err, most * sizeof *hash);
  if (status == ND_OK)
    status = nd_grouper_new(&g, s->documents, f->settings->memory / 4, f->tmp, err);
  for (size_t i = 0; status == ND_OK && i < s->block_n; i++) {
    status = nd_store_column(s, i, ND_COL_ID_HASH, sizeof *hash, hash, err);
    for (uint32_t j = 0; status == ND_OK && j < s->blocks[i].head.docs; j++)
      if (hash[j]) status = nd_grouper_add(g, hash[j], s->blocks[i].first + j, err);
  }
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  uint64_t last = 0;
  while (status == ND_OK) {
    nd_item items[512];
    size_t n;
    status = nd_grouper_next(&n, items, sizeof items / sizeof *items, g, err);
    if (status != ND_OK || n == 0) break;
    for (size_t i = 0; i < n; i++) {
      if (items[i].key == last) {
        out->repeated_ids++;
        if (out->repeated_id_n < REPEATED_SHOWN)
          out->repeated_id[out->repeated_id_n++] = (uint32_t)items[i].value;
      }
      last = items[i].key;
    }
  }
  nd_grouper_free(g);
  nd_free(hash);
  return status;
}

/* Equal digests and equal ids have nothing to do with one another. */
static nd_status find_equals(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  return job == 0 ? find_digests(context, err) : find_repeated_ids(context, err);
}

static nd_status add_band(nd_grouper *g, const finder *f, uint64_t *keys, uint32_t band,
                          nd_error *err) {
  const nd_store *s = f->store;
  const uint32_t *same = f->out->same;
  const nd_order *order = &f->out->order;
  for (size_t i = 0; i < s->block_n; i++) {
    ND_TRY(nd_store_band(s, i, band, keys, err));
    uint32_t first = s->blocks[i].first;
    for (uint32_t j = 0; j < s->blocks[i].head.docs; j++) {
      if (same[first + j] != first + j) continue;
      ND_TRY(nd_grouper_add(g, keys[j], nd_order_position(order, first + j), err));
    }
  }
  return ND_OK;
}

static void show_bands(const finder *f, uint64_t done) {
  const nd_hooks *h = f->source->hooks;
  if (!h || !h->progress) return;
  nd_progress p = {"find", done, f->settings->bands, f->store->documents, 0};
  h->progress(h->context, &p);
}

static nd_status find_band(void *context, unsigned member, uint64_t job, nd_error *err) {
  finder *f = context;
  ND_TRY(nd_hooks_check(f->source->hooks, err));
  if (member == 0) show_bands(f, job);
  uint32_t most = most_docs(f->store);
  uint64_t *keys = nd_malloc(most * sizeof *keys);
  if (!keys) return nd_fail_memory(err, most * sizeof *keys);
  nd_grouper *g = NULL;
  nd_status status =
      nd_grouper_new(&g, f->store->documents - f->out->copies, f->share, f->tmp, err);
  if (status == ND_OK && f->out->order.position) nd_grouper_by_value(g);
  if (status == ND_OK) status = add_band(g, f, keys, (uint32_t)job, err);
  nd_free(keys);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK) {
    /* In the wanted order the other collection's documents come first. */
    uint64_t others = nd_source_has_other(f->source) ? f->store->documents - f->source->split : 0;
    status = nd_buckets_pairs(f->out->pairs, &f->stats[member], g, f->settings->options->bucket_cap,
                              others, f->last_centre, err);
  }
  nd_grouper_free(g);
  return status;
}

static nd_status find_candidates(finder *f, nd_error *err) {
  uint64_t n = f->store->documents;
  unsigned threads = f->settings->threads;
  void *centres = nd_malloc(n * sizeof *f->last_centre);
  f->last_centre = centres;
  f->stats = nd_calloc(threads, sizeof *f->stats);
  nd_status status = f->last_centre && f->stats ? ND_OK : nd_fail_memory(err, n * 4);
  if (status == ND_OK) {
    for (uint64_t d = 0; d < n; d++) atomic_init(&f->last_centre[d], ND_NO_DOCUMENT);
    status = nd_threads_run(threads, f->settings->bands, find_band, f, err);
  }
  for (unsigned i = 0; f->stats && i < threads; i++)
    nd_bucket_stats_add(&f->out->buckets, &f->stats[i]);
  nd_free(centres);
  nd_free(f->stats);
  return status;
}

nd_status nd_find(nd_found *out, const nd_text_source *source, const char *tmp, nd_error *err) {
  *out = (nd_found){0};
  const nd_settings *settings = source->settings;
  uint64_t n = source->store->documents;
  finder f = {
      .out = out, .store = source->store, .settings = settings, .source = source, .tmp = tmp};
  /* What stays in memory anyway: spans, same, last centres, clusters. */
  uint64_t fixed = n * 20, quarter = settings->memory / 4;
  uint64_t spare = settings->memory > fixed + quarter ? settings->memory - fixed : quarter;
  f.share = spare / 2 / settings->threads;
  out->same = nd_malloc(n * sizeof *out->same);
  out->repeated_id = nd_malloc(REPEATED_SHOWN * sizeof *out->repeated_id);
  if (!out->same || !out->repeated_id) return nd_fail_memory(err, n * sizeof *out->same);
  ND_TRY(nd_threads_run(settings->threads < 2 ? 1 : 2, 2, find_equals, &f, err));
  uint64_t jobs = (n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
  ND_TRY(nd_threads_run(settings->threads, jobs, check_copies, &f, err));
  for (uint64_t d = 0; d < n; d++)
    out->copies += out->same[d] != d && out->same[d] != ND_NO_DOCUMENT && d < source->split;
  if ((settings->keep != ND_KEEP_FIRST && settings->keep != ND_KEEP_CENTRE) ||
      nd_source_has_other(source))
    ND_TRY(nd_order_load(&out->order, source->store, out->same, source->split, err));
  ND_TRY(nd_sorter_new(&out->pairs, spare / 4, tmp, true, err));
  bool nothing = nd_source_has_other(source) && source->split >= n;
  if (nothing) return nd_sorter_finish(out->pairs, err); /* an empty other collection */
  if (settings->method == ND_METHOD_MINHASH) ND_TRY(find_candidates(&f, err));
  if (settings->method == ND_METHOD_EXACT) ND_TRY(nd_exact_pairs(out, source, spare / 2, tmp, err));
  if (settings->method >= ND_METHOD_JOIN) ND_TRY(nd_setjoin_pairs(out, source, err));
  return nd_sorter_finish(out->pairs, err);
}
