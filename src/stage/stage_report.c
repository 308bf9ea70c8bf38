/* report.html of a distributed run; see neardup/stage.h.
 *
 * The page is the one-machine report.  The data that it reads from a store comes from the stages
 * instead: parts of the corpus are counted block by block and added up by the engine.  To find the
 * texts it needs, the report is first gathered without any; then the caller provides them. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "report/report_data.h"
#include "stage/stage_end.h"
#include "text/site.h"

/* ---- parts of a block ---- */

static nd_status put_part(nd_buf *out, char kind, nd_str name, const uint64_t counts[2],
                          nd_error *err) {
  ND_TRY(nd_buf_printf(out, err, "%c\t%llu\t%llu\t", kind,
                       (unsigned long long)(counts[0] + counts[1]), (unsigned long long)counts[1]));
  size_t begin = out->n;
  ND_TRY(nd_buf_append(out, name.p, name.n, err));
  for (char *p = out->p + begin; p < out->p + out->n; p++) {
    if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    if ((unsigned char)*p < ' ') *p = '?';
  }
  return nd_buf_append(out, "\n", 1, err);
}

static nd_status put_number(nd_buf *out, char kind, uint32_t number, const uint64_t counts[2],
                            nd_error *err) {
  char name[16];
  int n = snprintf(name, sizeof name, "%u", (unsigned)number);
  return put_part(out, kind, (nd_str){name, (size_t)n}, counts, err);
}

/* Counts the documents of files, which are contiguous in a block. */
static nd_status put_files(nd_stage *s, const nd_image *i, const uint8_t *dropped, nd_error *err) {
  const uint32_t *file = nd_image_narrow(i, ND_COL_FILE);
  uint64_t counts[2] = {0};
  for (uint32_t d = 0; d < i->head.docs; d++) {
    counts[dropped[d] != 0]++;
    if (d + 1 < i->head.docs && file[d + 1] == file[d]) continue;
    ND_TRY(put_number(&s->out, 'f', file[d], counts, err));
    counts[0] = counts[1] = 0;
  }
  return ND_OK;
}

static nd_status put_sizes(nd_stage *s, const nd_image *i, const uint8_t *dropped, nd_error *err) {
  const uint64_t *length = nd_image_wide(i, ND_COL_LENGTH);
  uint64_t counts[ND_REPORT_LARGEST + 1][2] = {{0}};
  for (uint32_t d = 0; d < i->head.docs; d++) counts[nd_report_size(length[d])][dropped[d] != 0]++;
  for (uint32_t g = 0; g <= ND_REPORT_LARGEST; g++)
    if (counts[g][0] + counts[g][1]) ND_TRY(put_number(&s->out, 'z', g, counts[g], err));
  return ND_OK;
}

static nd_status put_sites(nd_stage *s, const nd_image *i, const uint8_t *dropped, nd_error *err) {
  const uint32_t *end = nd_image_narrow(i, ND_COL_URL_END);
  const char *urls = i->p + nd_block_urls(&i->head);
  size_t n = 0;
  if (i->head.url_bytes == 0) return ND_OK;
  ND_TRY(nd_array_grow(&s->items, &s->item_cap, i->head.docs, sizeof *s->items, err));
  ND_TRY(nd_array_grow(&s->scratch, &s->scratch_cap, i->head.docs, sizeof *s->scratch, err));
  for (uint32_t d = 0; d < i->head.docs; d++) {
    uint32_t begin = d ? end[d - 1] : 0;
    uint64_t key = nd_site_key((nd_str){urls + begin, end[d] - begin});
    if (key) s->items[n++] = (nd_item){key, d};
  }
  nd_radix_items(s->items, s->scratch, n);
  uint64_t counts[2] = {0};
  for (size_t k = 0; k < n; k++) {
    uint32_t d = (uint32_t)s->items[k].value, begin = d ? end[d - 1] : 0;
    counts[dropped[d] != 0]++;
    if (k + 1 < n && s->items[k + 1].key == s->items[k].key) continue;
    nd_str url = {urls + begin, end[d] - begin};
    ND_TRY(put_part(&s->out, 's', nd_host_site(nd_url_host(url)), counts, err));
    counts[0] = counts[1] = 0;
  }
  return ND_OK;
}

nd_status nd_stage_parts(nd_str *lines, nd_stage *s, nd_str image, const uint8_t *dropped,
                         nd_error *err) {
  nd_image i;
  ND_TRY(nd_image_open(&i, s, image, err));
  s->out.n = 0;
  ND_TRY(nd_buf_reserve(&s->out, 1, err));
  ND_TRY(put_files(s, &i, dropped, err));
  ND_TRY(put_sizes(s, &i, dropped, err));
  ND_TRY(put_sites(s, &i, dropped, err));
  *lines = nd_buf_str(&s->out);
  return ND_OK;
}

/* ---- data reported by the tasks ---- */

/* Splits off the next field of a line; after the last field, the line is NULL. */
static nd_str field(nd_str *line) {
  const char *tab = line->n ? memchr(line->p, '\t', line->n) : NULL;
  nd_str out = {line->p, tab ? (size_t)(tab - line->p) : line->n};
  *line = tab ? (nd_str){tab + 1, line->n - out.n - 1} : (nd_str){NULL, 0};
  return out;
}

static bool next_line(nd_str *out, nd_str *rest) {
  if (rest->n == 0) return false;
  const char *end = memchr(rest->p, '\n', rest->n);
  *out = (nd_str){rest->p, end ? (size_t)(end - rest->p) : rest->n};
  size_t used = out->n + (end != NULL);
  *rest = (nd_str){rest->p + used, rest->n - used};
  return true;
}

static bool whole_number(uint64_t *out, nd_str s) {
  *out = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9' || *out > UINT64_MAX / 16) return false;
    *out = *out * 10 + (uint64_t)(s.p[i] - '0');
  }
  return s.n > 0;
}

/* A parsed line of nd_stage_parts. */
typedef struct part {
  char kind;
  uint64_t documents, dropped;
  nd_str name;
} part;

static bool read_part(part *out, nd_str line) {
  nd_str kind = field(&line), documents = field(&line), dropped = field(&line);
  if (kind.n != 1 || !line.p) return false;
  out->kind = kind.p[0];
  out->name = line;
  return whole_number(&out->documents, documents) && whole_number(&out->dropped, dropped);
}

/* Sorts files and sites by the key that one machine uses, so that parts with equal counts have the
 * same order, too.  The value is the offset of the line. */
static nd_status sort_parts(nd_item **items, size_t *n, nd_report_row *sizes, nd_str lines,
                            nd_error *err) {
  nd_str rest = lines, line;
  size_t cap = 0;
  while (next_line(&line, &rest)) {
    part p;
    uint64_t number;
    bool good = read_part(&p, line);
    if (good && (p.kind == 'f' || p.kind == 's')) {
      uint64_t key = p.kind == 's' ? nd_site_number(p.name) : XXH3_64bits(p.name.p, p.name.n);
      ND_TRY(nd_array_grow(items, &cap, *n + 1, sizeof **items, err));
      (*items)[(*n)++] = (nd_item){key, (uint64_t)(line.p - lines.p)};
    } else if (good && p.kind == 'z' && whole_number(&number, p.name) &&
               number <= ND_REPORT_LARGEST) {
      sizes[number].documents += p.documents;
      sizes[number].dropped += p.dropped;
    } else {
      return nd_fail(err, ND_ERR_DATA, "malformed line about a part of the corpus");
    }
  }
  nd_item *scratch = nd_malloc(*n * sizeof *scratch + 1);
  if (!scratch) return nd_fail_memory(err, *n * sizeof *scratch);
  if (*n) nd_radix_items(*items, scratch, *n);
  nd_free(scratch);
  return ND_OK;
}

static nd_status take_parts(nd_report *r, nd_str lines, nd_error *err) {
  nd_report_row sizes[ND_REPORT_LARGEST + 1];
  nd_item *items = NULL;
  size_t n = 0;
  memset(sizes, 0, sizeof sizes);
  nd_status status = sort_parts(&items, &n, sizes, lines, err);
  for (size_t i = 0; status == ND_OK && i < n; i++) {
    nd_str rest = {lines.p + items[i].value, lines.n - items[i].value}, line = {NULL, 0};
    part p = {0};
    (void)next_line(&line, &rest);
    (void)read_part(&p, line); /* cannot fail: sort_parts has read it */
    nd_report_group *g = p.kind == 's' ? &r->sites : &r->files;
    nd_report_row *row = nd_report_rank(g, p.documents, p.dropped);
    if (row) nd_report_name(row->name, p.name);
    g->distinct++;
    if (p.kind == 's') r->with_site += p.documents;
  }
  nd_free(items);
  if (status == ND_OK) nd_report_take_sizes(&r->sizes, sizes);
  return status;
}

nd_status nd_report_take_told(nd_report *r, const nd_report_told *told, nd_error *err) {
  nd_str lines = told->rejected, line;
  r->by_folder = told->by_folder;
  while (next_line(&line, &lines)) {
    nd_report_reject *row = NULL;
    nd_str example = field(&line);
    if (!line.p) return nd_fail(err, ND_ERR_DATA, "malformed reject line");
    if (!nd_report_reject_known(&row, r, line)) nd_report_name(row->example, example);
  }
  return take_parts(r, told->parts, err);
}

/* ---- the report ---- */

static nd_status ask(nd_buf *out, void *context, uint32_t document, nd_error *err) {
  nd_settle *t = context;
  out->n = 0;
  ND_TRY(nd_array_grow(&t->asked, &t->asked_cap, t->asked_n + 1, sizeof *t->asked, err));
  t->asked[t->asked_n++] = document;
  return nd_buf_reserve(out, 0, err);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static const uint32_t no_document = 0;

/* Makes the report with texts from `fetch`; without `dir`, only gathers it. */
static nd_status make(nd_settle *t, const nd_settle_page *page, nd_ids *ids,
                      nd_status (*fetch)(nd_buf *, void *, uint32_t, nd_error *), void *context,
                      const char *dir, nd_error *err) {
  nd_run j = t->job;
  nd_summary summary = page->summary ? nd_settle_summary(t, page->summary) : t->summary;
  nd_report_told told = {page->parts, page->rejected, page->by_folder != 0};
  nd_report_source source = {.job = &j,
                             .clusters = &t->clusters,
                             .size = t->size,
                             .tmp = t->tmp,
                             .inputs = page->inputs,
                             .input_n = page->input_n,
                             .directory = page->directory ? page->directory : "",
                             .told = &told};
  nd_report report = {0};
  j.summary = &summary;
  j.ids = ids;
  j.source.store = &j.store;
  j.source.settings = &j.settings;
  j.source.fetch = fetch;
  j.source.fetch_context = context;
  if (!t->clustered) return nd_fail(err, ND_ERR_USAGE, "there are no clusters yet");
  nd_status status = nd_report_gather(&report, &source, err);
  if (status == ND_OK && dir) status = nd_report_finish(&report, &source, dir, err);
  nd_report_clear(&report);
  return status;
}

nd_status nd_settle_report_texts(const uint32_t **documents, size_t *n, nd_settle *t,
                                 nd_error *err) {
  nd_settle_page none = {0};
  nd_ids *ids = NULL;
  t->asked_n = 0;
  ND_TRY(nd_ids_given(&ids, &no_document, NULL, 0, err));
  nd_status status = make(t, &none, ids, ask, t, NULL, err);
  nd_ids_free(ids);
  ND_TRY(status);
  size_t kept = 0;
  if (t->asked_n) qsort(t->asked, t->asked_n, sizeof *t->asked, by_number);
  for (size_t i = 0; i < t->asked_n; i++)
    if (kept == 0 || t->asked[kept - 1] != t->asked[i]) t->asked[kept++] = t->asked[i];
  t->asked_n = kept;
  *documents = t->asked;
  *n = kept;
  return ND_OK;
}

nd_status nd_settle_write_report(nd_settle *t, const nd_settle_page *page, const char *dir,
                                 nd_error *err) {
  nd_shelf shelf = {page->text_document, page->text, page->texts, 0};
  nd_ids *ids = NULL;
  ND_TRY(
      nd_ids_given(&ids, page->document ? page->document : &no_document, page->id, page->n, err));
  nd_status status = make(t, page, ids, nd_shelf_fetch, &shelf, dir, err);
  nd_ids_free(ids);
  return status;
}
