/* Pairs and rejects as lines; see lines.h. */
#include "result/lines.h"

#include <inttypes.h>

#include "output/tsv.h"
#include "store/workdir.h"

enum { ENOUGH = 1 << 18, ROOM = 1 << 12 };

nd_status nd_lines_begin(nd_lines *l, const nd_options *options, const char *columns,
                         nd_error *err) {
  l->csv = options->csv != 0;
  return l->csv ? nd_buf_append(&l->text, columns, strlen(columns), err) : ND_OK;
}

void nd_lines_clear(nd_lines *l) {
  nd_buf_clear(&l->text);
  nd_buf_clear(&l->converted);
}

nd_status nd_lines_flush(nd_lines *l, bool all, nd_error *err) {
  if (l->text.n == 0 || (!all && l->text.n < ENOUGH)) return ND_OK;
  nd_str out = nd_buf_str(&l->text);
  l->text.n = 0;
  if (l->csv) {
    l->converted.n = 0;
    ND_TRY(nd_tsv_to_csv(&l->converted, out, err));
    out = nd_buf_str(&l->converted);
  }
  return l->writer ? nd_writer_put(l->writer, out.p, out.n, err)
                   : l->sink->write(l->sink->context, out.p, out.n, err);
}

nd_status nd_lines_file(const char *dir, const char *name, nd_lines_fill fill, void *context,
                        nd_error *err) {
  char *path = NULL;
  nd_lines l = {0};
  nd_status status = nd_path_join(&path, dir, name, err);
  if (status == ND_OK) status = nd_writer_open(&l.writer, path, err);
  if (status == ND_OK) status = fill(&l, context, err);
  if (status == ND_OK) status = nd_lines_flush(&l, true, err);
  if (status == ND_OK)
    status = nd_writer_close(l.writer, false, err);
  else
    nd_writer_abandon(l.writer);
  nd_lines_clear(&l);
  nd_free(path);
  return status;
}

nd_status nd_lines_value(nd_buf *out, const nd_similarity *kind, uint64_t value, nd_error *err) {
  const nd_fraction f = nd_fraction_of(value);
  if (kind->counts) return nd_buf_printf(out, err, "%" PRIu32, f.num);
  return nd_tsv_ratio(out, f.num, f.den, err);
}

static nd_status put_pair(nd_lines *l, nd_run *j, uint32_t a, uint32_t b, uint64_t value,
                          nd_error *err) {
  if (l->take) {
    j->summary->pairs++;
    return l->take(l->context, a, b, value, err);
  }
  ND_TRY(nd_ids_append(&l->text, j->ids, a, err));
  ND_TRY(nd_buf_append(&l->text, "\t", 1, err));
  ND_TRY(nd_ids_append(&l->text, j->ids, b, err));
  ND_TRY(nd_buf_append(&l->text, "\t", 1, err));
  ND_TRY(nd_lines_value(&l->text, j->settings.similarity, value, err));
  ND_TRY(nd_buf_append(&l->text, "\n", 1, err));
  j->summary->pairs++;
  j->pair_bins[nd_run_bin(&j->settings, value)]++;
  return nd_lines_flush(l, false, err);
}

/* Links every document to the next one with the same tokens; 0: none. */
static nd_status link_copies(uint32_t **out, const nd_run *j, nd_error *err) {
  const uint32_t *same = j->found.same;
  const uint64_t n = j->store.documents;
  uint32_t *next = nd_calloc(n, sizeof *next);
  if (!next) return nd_fail_memory(err, n * sizeof *next);
  /* Runs backwards, so each document is linked right after the first, before later ones. */
  for (uint64_t d = n; d-- > 0;) {
    if (same[d] == ND_NO_DOCUMENT || same[d] == d) continue;
    next[d] = next[same[d]];
    next[same[d]] = (uint32_t)d;
  }
  *out = next;
  return ND_OK;
}

/* Merges two ascending streams: the verified pairs, and pairs of a first occurrence and its exact
 * duplicate.  next == NULL: no exact duplicates. */
static nd_status merge_pairs(nd_lines *l, nd_run *j, const uint32_t *next, nd_item *items,
                             nd_error *err) {
  const uint32_t *same = j->found.same;
  uint64_t n = j->store.documents;
  size_t got = 0, at = 0;
  uint32_t first = 0, copy = 0;
  if (!next) first = (uint32_t)n;
  while (first < n && !(same[first] == first && next[first])) first++;
  if (first < n) copy = next[first];
  const uint64_t whole = nd_similarity_of_copies(j->settings.similarity);
  for (;;) {
    if (at == got) {
      ND_TRY(nd_sorter_next(&got, items, ROOM, j->verified.sorted, err));
      at = 0;
    }
    bool have_copy = first < n;
    if (!have_copy && got == 0) return ND_OK;
    uint64_t copy_key = nd_pair_key(first, copy);
    if (have_copy && (got == 0 || copy_key < items[at].key)) {
      ND_TRY(put_pair(l, j, first, copy, whole, err));
      copy = next[copy];
      if (copy) continue;
      do first++;
      while (first < n && !(same[first] == first && next[first]));
      if (first < n) copy = next[first];
      continue;
    }
    const nd_pair p = nd_pair_of(items[at].key);
    ND_TRY(put_pair(l, j, p.a, p.b, items[at].value, err));
    at++;
  }
}

nd_status nd_lines_pairs_collapsed(nd_lines *l, nd_run *j, nd_error *err) {
  uint32_t *next = NULL;
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  nd_status status = items ? ND_OK : nd_fail_memory(err, ROOM * sizeof *items);
  /* With a reference collection, only pairs between the two collections count. */
  if (status == ND_OK && j->found.copies && !nd_source_has_other(&j->source))
    status = link_copies(&next, j, err);
  if (status == ND_OK) status = nd_sorter_rewind(j->verified.sorted, err);
  if (status == ND_OK) status = merge_pairs(l, j, next, items, err);
  nd_free(items);
  nd_free(next);
  return status;
}

static nd_status add_pair(nd_sorter *out, uint32_t a, uint32_t b, uint64_t value, nd_error *err) {
  uint64_t key = nd_pair_ascending(a, b);
  nd_item item = {key, value};
  return nd_sorter_add(out, &item, 1, err);
}

typedef struct expanding {
  nd_sorter *out;
  const uint32_t *next;
} expanding;

static nd_status expand_some(void *context, nd_item *items, size_t n, nd_error *err) {
  const expanding *e = context;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    for (uint32_t x = p.a;; x = e->next[x]) {
      for (uint32_t y = p.b;; y = e->next[y]) {
        ND_TRY(add_pair(e->out, x, y, items[i].value, err));
        if (!e->next[y]) break;
      }
      if (!e->next[x]) break;
    }
  }
  return ND_OK;
}

/* Expands each pair of first occurrences to all pairs of their exact duplicates, and adds the pairs
 * of exact duplicates. */
static nd_status expand(nd_sorter *out, nd_run *j, const uint32_t *next, nd_error *err) {
  const uint64_t whole = nd_similarity_of_copies(j->settings.similarity);
  expanding e = {out, next};
  ND_TRY(nd_sorter_each(j->verified.sorted, expand_some, &e, err));
  for (uint64_t d = 0; d < j->store.documents && !nd_source_has_other(&j->source); d++) {
    if (j->found.same[d] == ND_NO_DOCUMENT) continue;
    for (uint32_t y = next[d]; y; y = next[y]) ND_TRY(add_pair(out, (uint32_t)d, y, whole, err));
  }
  return nd_sorter_finish(out, err);
}

typedef struct putting {
  nd_lines *lines;
  nd_run *job;
} putting;

static nd_status put_some(void *context, nd_item *items, size_t n, nd_error *err) {
  const putting *p = context;
  for (size_t i = 0; i < n; i++) {
    const nd_pair pair = nd_pair_of(items[i].key);
    ND_TRY(put_pair(p->lines, p->job, pair.a, pair.b, items[i].value, err));
  }
  return ND_OK;
}

nd_status nd_lines_pairs_all(nd_lines *l, nd_run *j, const char *tmp, nd_error *err) {
  /* Exact duplicates in the reference collection are not counted in found.copies. */
  if (j->found.copies == 0 && !nd_source_has_other(&j->source))
    return nd_lines_pairs_collapsed(l, j, err);
  uint32_t *next = NULL;
  nd_sorter *sorted = NULL;
  putting p = {l, j};
  nd_status status = link_copies(&next, j, err);
  if (status == ND_OK)
    status =
        nd_sorter_new(&sorted, nd_budget(j->settings.memory, ND_SHARE_EXPANDED), tmp, true, err);
  if (status == ND_OK) status = expand(sorted, j, next, err);
  if (status == ND_OK) status = nd_sorter_each(sorted, put_some, &p, err);
  nd_sorter_free(sorted);
  nd_free(next);
  return status;
}

nd_status nd_lines_clusters(nd_lines *l, nd_run *j, const nd_clusters *c, const uint32_t *size,
                            nd_error *err) {
  nd_ids_rewind(j->ids);
  const nd_similarity *kind = j->settings.similarity;
  for (uint32_t i = 0; i < c->n; i++) {
    if (size[c->centre[i]] < 2) continue;
    bool kept = c->centre[i] == i;
    uint64_t value = kept ? nd_similarity_of_copies(kind) : c->value[i];
    ND_TRY(nd_ids_append(&l->text, j->ids, i, err));
    ND_TRY(nd_buf_append(&l->text, "\t", 1, err));
    ND_TRY(nd_ids_append(&l->text, j->ids, c->centre[i], err));
    ND_TRY(nd_buf_append(&l->text, kept ? "\tkept\t" : "\tdropped\t", kept ? 6 : 9, err));
    ND_TRY(nd_lines_value(&l->text, kind, value, err));
    ND_TRY(nd_buf_append(&l->text, "\n", 1, err));
    ND_TRY(nd_lines_flush(l, false, err));
  }
  return ND_OK;
}

typedef struct rejecting {
  nd_lines *lines;
  nd_run *job;
} rejecting;

static nd_status put_reject(void *context, const nd_reject *r, nd_error *err) {
  rejecting *c = context;
  nd_buf *text = &c->lines->text;
  if (r->block == SIZE_MAX)
    ND_TRY(nd_tsv_append(text, nd_str_of(r->path), err));
  else
    ND_TRY(nd_ids_location(text, c->job->ids, r->block, r->file, r->line, r->offset, err));
  ND_TRY(nd_buf_append(text, "\t", 1, err));
  ND_TRY(nd_tsv_append(text, r->reason, err));
  ND_TRY(nd_buf_append(text, "\n", 1, err));
  return nd_lines_flush(c->lines, false, err);
}

nd_status nd_lines_rejects(nd_lines *l, nd_run *j, nd_error *err) {
  rejecting c = {l, j};
  return nd_run_rejects(j, put_reject, &c, err);
}
