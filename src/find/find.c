/* Exact duplicates and repeated ids; see find.h. */
#include "find/find.h"

#include "base/threads.h"
#include "find/finder.h"

enum {
  JOB_DOCUMENTS = 1 << 13, /* per job of a thread */
  REPEATED_SHOWN = 100,    /* ids that the summary names */
  BATCH = 512,             /* grouped items that are read at once, on the stack */
};

void nd_found_clear(nd_found *f) {
  nd_free(f->same);
  nd_free(f->repeated_id);
  nd_order_clear(&f->order);
  nd_sorter_free(f->pairs);
  *f = (nd_found){0};
}

/* Adds an item per document that has tokens.  The key is half of the digest; the value is the
 * document's number and the upper 32 bits of the other half. */
static nd_status add_digests(nd_grouper *g, const nd_finder *f, nd_digest *digest,
                             uint32_t *shingles, size_t block, nd_error *err) {
  const nd_block_ref *b = &f->store->blocks[block];
  ND_TRY(nd_store_column(f->store, block, ND_COL_DIGEST, sizeof *digest, digest, err));
  ND_TRY(nd_store_column(f->store, block, ND_COL_SHINGLES, sizeof *shingles, shingles, err));
  for (uint32_t i = 0; i < b->head.docs; i++) {
    uint32_t document = b->first + i;
    f->out->same[document] = shingles[i] ? document : ND_NO_DOCUMENT;
    if (!shingles[i]) continue;
    /* Equal documents of the two collections are a pair, not exact duplicates: keep them in
     * different groups. */
    uint64_t side = document >= f->source->split ? 0x9e3779b97f4a7c15u : 0;
    ND_TRY(nd_grouper_add(g, digest[i].low ^ side,
                          (digest[i].high & ~(uint64_t)UINT32_MAX) | document, err));
  }
  return ND_OK;
}

uint32_t nd_store_most_docs(const nd_store *s) {
  uint32_t most = 1;
  for (size_t i = 0; i < s->block_n; i++)
    if (s->blocks[i].head.docs > most) most = s->blocks[i].head.docs;
  return most;
}

/* Assigns the documents of each group of equal digests to the first one. */
static nd_status mark_copies(nd_finder *f, nd_grouper *g, nd_error *err) {
  /* Two equal short texts may miss a threshold that has no upper end. */
  if (nd_similarity_is_open(f->settings->similarity)) return ND_OK;
  nd_item items[BATCH];
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

/* Returns the memory for grouping digests or ids.  A run that decides by sketches later holds
 * these and little else, so grouping takes no more than that. */
static uint64_t memory_of_equals(const nd_finder *f) {
  enum { LITTLE = 8, LEAST = 8 << 20 };
  const nd_settings *s = f->settings;
  uint64_t memory = nd_budget(s->memory, ND_SHARE_EQUALS);
  if (nd_settings_use_texts(s)) return memory;
  uint64_t later = LEAST + f->store->documents * (s->row.total * sizeof(uint64_t) + LITTLE) / 2;
  return later < memory ? later : memory;
}

static nd_status find_digests(nd_finder *f, nd_error *err) {
  const nd_store *s = f->store;
  nd_grouper *g = NULL;
  uint32_t most = nd_store_most_docs(s);
  nd_digest *digest = nd_malloc(most * sizeof *digest);
  uint32_t *shingles = nd_malloc(most * sizeof *shingles);
  nd_status status = digest && shingles ? ND_OK : nd_fail_memory(err, most * sizeof *digest);
  if (status == ND_OK) status = nd_grouper_new(&g, s->documents, memory_of_equals(f), f->tmp, err);
  for (size_t i = 0; status == ND_OK && i < s->block_n; i++)
    status = add_digests(g, f, digest, shingles, i, err);
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  if (status == ND_OK) status = mark_copies(f, g, err);
  nd_grouper_free(g);
  nd_free(digest);
  nd_free(shingles);
  return status;
}

/* Compares documents of equal digests byte for byte. */
static nd_status check_range(nd_finder *f, nd_texts *texts, uint64_t begin, uint64_t end,
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
    /* untaken: colliding 128-bit digests */
    if (!nd_str_eq(nd_buf_str(first), nd_buf_str(copy))) same[d] = document;
  }
  return ND_OK;
}

static nd_status check_copies(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_finder *f = context;
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

/* Finds documents with the id of an earlier one. */
static nd_status find_repeated_ids(nd_finder *f, nd_error *err) {
  const nd_store *s = f->store;
  nd_found *out = f->out;
  nd_grouper *g = NULL;
  uint32_t most = nd_store_most_docs(s);
  uint64_t *hash = nd_malloc(most * sizeof *hash);
  nd_status status = hash ? ND_OK : nd_fail_memory(err, most * sizeof *hash);
  if (status == ND_OK) status = nd_grouper_new(&g, s->documents, memory_of_equals(f), f->tmp, err);
  for (size_t i = 0; status == ND_OK && i < s->block_n; i++) {
    status = nd_store_column(s, i, ND_COL_ID_HASH, sizeof *hash, hash, err);
    for (uint32_t j = 0; status == ND_OK && j < s->blocks[i].head.docs; j++)
      if (hash[j]) status = nd_grouper_add(g, hash[j], s->blocks[i].first + j, err);
  }
  if (status == ND_OK) status = nd_grouper_finish(g, err);
  uint64_t last = 0;
  while (status == ND_OK) {
    nd_item items[BATCH];
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

/* Job 0 groups digests, job 1 ids; they are independent. */
static nd_status find_equals(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  return job == 0 ? find_digests(context, err) : find_repeated_ids(context, err);
}

nd_status nd_find(nd_found *out, const nd_text_source *source, const char *tmp, nd_error *err) {
  *out = (nd_found){0};
  const nd_settings *settings = source->settings;
  uint64_t n = source->store->documents;
  nd_finder f = {
      .out = out, .store = source->store, .settings = settings, .source = source, .tmp = tmp};
  const uint64_t memory = nd_budget_find(settings->memory, n);
  f.memory = nd_budget(memory, ND_SHARE_FIND_STEP);
  f.memory_per_thread = f.memory / settings->threads;
  out->same = nd_malloc(n * sizeof *out->same);
  out->repeated_id = nd_malloc(REPEATED_SHOWN * sizeof *out->repeated_id);
  if (!out->same || !out->repeated_id) return nd_fail_memory(err, n * sizeof *out->same);
  ND_TRY(nd_threads_run(settings->threads < 2 ? 1 : 2, 2, find_equals, &f, err));
  uint64_t jobs = (n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
  /* Without texts the digest alone decides. */
  if (!f.store->without_texts)
    ND_TRY(nd_threads_run(settings->threads, jobs, check_copies, &f, err));
  for (uint64_t d = 0; d < n; d++)
    out->copies += out->same[d] != d && out->same[d] != ND_NO_DOCUMENT && d < source->split;
  if ((settings->keep != ND_KEEP_FIRST && settings->keep != ND_KEEP_CENTRE) ||
      nd_source_has_other(source))
    ND_TRY(nd_order_load(&out->order, source->store, out->same, source->split, err));
  ND_TRY(nd_sorter_new(&out->pairs, nd_budget(memory, ND_SHARE_FIND_PAIRS), tmp, true, err));
  /* If one of two collections is empty, there is no pair. */
  bool nothing = nd_source_has_other(source) && (source->split == 0 || source->split >= n);
  if (nothing) return nd_sorter_finish(out->pairs, err);
  if (settings->candidates->find) ND_TRY(settings->candidates->find(&f, err));
  return nd_sorter_finish(out->pairs, err);
}
