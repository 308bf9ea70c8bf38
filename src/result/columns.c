/* Pairs with columns; see columns.h.
 *
 * Pairs are collected into batches, so that `--columns exact` can compare documents on all threads;
 * then each pair becomes a line. */
#include "result/columns.h"

#include <stdio.h>

#include "output/tsv.h"
#include "settings/method.h"

enum { ROOM = 1 << 13 };

typedef struct table {
  nd_lines *lines;
  nd_run *job;
  nd_item *pairs; /* pair, value */
  nd_item *exact; /* the pairs with the similarity of their documents; NULL: no such column */
  size_t n;
  uint64_t *a, *b; /* sketch rows of a pair */
  uint32_t at;     /* the document whose row is in `a` */
} table;

static nd_status put_cell(table *t, nd_pair_column column, size_t i, nd_error *err) {
  const nd_settings *s = &t->job->settings;
  nd_buf *out = &t->lines->text;
  if (column.exact && !t->exact) return ND_OK;
  if (!column.sketch)
    return nd_lines_value(out, s->similarity, (column.exact ? t->exact : t->pairs)[i].value, err);
  const uint32_t at = nd_row_get(&s->row, column.sketch)->at;
  return column.sketch->show(out, s, t->a + at, t->b + at, err);
}

static nd_status put_line(table *t, size_t i, nd_error *err) {
  nd_run *j = t->job;
  nd_buf *out = &t->lines->text;
  const nd_pair p = nd_pair_of(t->pairs[i].key);
  if (t->a && t->at != p.a) {
    t->at = UINT32_MAX;
    ND_TRY(nd_store_row(t->a, &j->store, p.a, err));
    t->at = p.a;
  }
  if (t->b) ND_TRY(nd_store_row(t->b, &j->store, p.b, err));
  ND_TRY(nd_ids_append(out, j->ids, p.a, err));
  ND_TRY(nd_buf_append(out, "\t", 1, err));
  ND_TRY(nd_ids_append(out, j->ids, p.b, err));
  for (unsigned c = 0; c < j->settings.column_n; c++) {
    ND_TRY(nd_buf_append(out, "\t", 1, err));
    ND_TRY(put_cell(t, j->settings.columns[c], i, err));
  }
  ND_TRY(nd_buf_append(out, "\n", 1, err));
  return nd_lines_flush(t->lines, false, err);
}

static nd_status put_all(table *t, nd_error *err) {
  if (t->exact) {
    memcpy(t->exact, t->pairs, t->n * sizeof *t->exact);
    ND_TRY(nd_verify_documents(t->exact, t->n, &t->job->source, err));
  }
  for (size_t i = 0; i < t->n; i++) ND_TRY(put_line(t, i, err));
  t->n = 0;
  return ND_OK;
}

static nd_status take(void *context, uint32_t a, uint32_t b, uint64_t value, nd_error *err) {
  table *t = context;
  t->pairs[t->n++] = (nd_item){nd_pair_key(a, b), value};
  return t->n < ROOM ? ND_OK : put_all(t, err);
}

static nd_status make_rooms(table *t, nd_error *err) {
  const nd_settings *s = &t->job->settings;
  size_t row = s->row.total * sizeof *t->a, bytes = ROOM * sizeof *t->pairs;
  t->at = UINT32_MAX;
  t->pairs = nd_malloc(bytes);
  if (!t->pairs) return nd_fail_memory(err, bytes);
  for (unsigned i = 0; i < s->column_n; i++) {
    if (!s->columns[i].exact) continue;
    t->exact = nd_malloc(bytes);
    if (!t->exact) return nd_fail_memory(err, bytes);
  }
  if (!row) return ND_OK;
  t->a = nd_malloc(row);
  t->b = nd_malloc(row);
  return t->a && t->b ? ND_OK : nd_fail_memory(err, row);
}

/* The header is --columns with other separators. */
static nd_status begin(nd_lines *l, const nd_options *o, nd_error *err) {
  char header[sizeof o->columns + 16];
  int n = (int)strlen(o->columns);
  if (n && o->columns[n - 1] == ',') n--;
  snprintf(header, sizeof header, "id_a\tid_b%s%.*s\n", n ? "\t" : "", n, o->columns);
  for (char *p = header; *p; p++)
    if (*p == ',') *p = '\t';
  return nd_lines_begin(l, o, header, err);
}

nd_status nd_columns_pairs(nd_lines *l, nd_run *j, bool collapsed, const char *tmp, nd_error *err) {
  const nd_settings *s = &j->settings;
  table t = {.lines = l, .job = j};
  nd_lines through = {.take = take, .context = &t};
  bool usual = nd_settings_usual_columns(s);
  nd_status status = begin(l, j->options, err);
  if (status == ND_OK && !usual) status = make_rooms(&t, err);
  nd_lines *to = usual ? l : &through;
  if (status == ND_OK)
    status = collapsed ? nd_lines_pairs_collapsed(to, j, err) : nd_lines_pairs_all(to, j, tmp, err);
  if (status == ND_OK && !usual) status = put_all(&t, err);
  nd_free(t.pairs);
  nd_free(t.exact);
  nd_free(t.a);
  nd_free(t.b);
  return status;
}
