/* nd_cluster: a list of pairs → clusters.
 *
 * Ids are opaque text, numbered as they appear; they and the pairs are kept in
 * memory, about (id + 40) bytes a document and 32 a pair. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <xxhash.h>

#include "cluster/clusters.h"
#include "input/stream.h"
#include "pipeline/lines.h"

enum { PEEK = 1 << 16, LONGEST_LINE = 1 << 26 };

typedef struct id_map {
  nd_buf text;   /* all ids */
  uint64_t *end; /* per document */
  size_t n, cap;
  uint32_t *slot; /* document + 1 */
  size_t slots;
} id_map;

typedef struct lister {
  id_map ids;
  nd_sorter *pairs;
  nd_clusters clusters;
  const nd_options *options;
  const char *name;
  uint64_t line;
} lister;

static nd_str id_of(const id_map *m, uint32_t document) {
  uint64_t begin = document ? m->end[document - 1] : 0;
  return (nd_str){m->text.p + begin, m->end[document] - begin};
}

static size_t place_of(const id_map *m, nd_str id) {
  size_t at = (size_t)XXH3_64bits(id.p, id.n) & (m->slots - 1);
  while (m->slot[at] && !nd_str_eq(id_of(m, m->slot[at] - 1), id)) at = (at + 1) & (m->slots - 1);
  return at;
}

static nd_status grow_map(id_map *m, nd_error *err) {
  size_t slots = m->slots ? m->slots * 2 : 1024;
  uint32_t *fresh = nd_calloc(slots, sizeof *fresh);
  if (!fresh) return nd_fail_memory(err, slots * sizeof *fresh);
  nd_free(m->slot);
  m->slot = fresh;
  m->slots = slots;
  for (uint32_t d = 0; d < m->n; d++) m->slot[place_of(m, id_of(m, d))] = d + 1;
  return ND_OK;
}

static nd_status number_of(uint32_t *out, id_map *m, nd_str id, nd_error *err) {
  if (2 * (m->n + 1) > m->slots) ND_TRY(grow_map(m, err));
  size_t at = place_of(m, id);
  if (!m->slot[at]) {
    if (m->n >= UINT32_MAX - 1) return nd_fail(err, ND_ERR_LIMIT, "too many documents");
    ND_TRY(nd_array_grow(&m->end, &m->cap, m->n + 1, sizeof *m->end, err));
    ND_TRY(nd_buf_append(&m->text, id.p, id.n, err));
    m->end[m->n++] = m->text.n;
    m->slot[at] = (uint32_t)m->n;
  }
  *out = m->slot[at] - 1;
  return ND_OK;
}

/* A similarity as millionths + 1, exactly as far as six decimals go; 0: none. */
static bool parse_similarity(uint64_t *out, nd_str s) {
  uint64_t whole = 0, part = 0, unit = 1000000;
  size_t i = 0;
  for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
    if (whole > 1000000000) return false;
    whole = whole * 10 + (uint64_t)(s.p[i] - '0');
  }
  bool digits = i > 0;
  if (i < s.n && s.p[i] == '.') {
    for (i++; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
      unit /= 10;
      part += unit * (uint64_t)(s.p[i] - '0');
      digits = true;
    }
  }
  *out = whole * 1000000 + part + 1;
  return digits && i == s.n;
}

static nd_status bad_line(const lister *l, const char *why, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA,
                 "%s:%" PRIu64
                 " %s; a line is id TAB id TAB similarity, as `neardup pairs` writes it",
                 l->name, l->line, why);
}

static nd_status take_line(lister *l, nd_str line, nd_error *err) {
  l->line++;
  if (line.n && line.p[line.n - 1] == '\r') line.n--;
  if (line.n == 0) return ND_OK;
  const char *tab = memchr(line.p, '\t', line.n);
  if (!tab) return bad_line(l, "has no tab", err);
  nd_str a = {line.p, (size_t)(tab - line.p)};
  nd_str b = {tab + 1, line.n - a.n - 1};
  const char *second = memchr(b.p, '\t', b.n);
  uint64_t value = 0;
  if (second) {
    nd_str rest = {second + 1, b.n - (size_t)(second - b.p) - 1};
    b.n = (size_t)(second - b.p);
    const char *third = memchr(rest.p, '\t', rest.n);
    if (third) rest.n = (size_t)(third - rest.p);
    if (!parse_similarity(&value, rest))
      return bad_line(l, "has no number in its third field", err);
  }
  if (a.n == 0 || b.n == 0) return bad_line(l, "has an empty id", err);
  uint32_t x, y;
  ND_TRY(number_of(&x, &l->ids, a, err));
  ND_TRY(number_of(&y, &l->ids, b, err));
  nd_decimal t = l->options->threshold;
  if (value && (unsigned __int128)(value - 1) * t.den < (unsigned __int128)t.num * 1000000)
    return ND_OK;
  if (x == y) return ND_OK;
  nd_item item = {x < y ? (uint64_t)x << 32 | y : (uint64_t)y << 32 | x, value};
  return nd_sorter_add(l->pairs, &item, 1, err);
}

static nd_status read_lines(lister *l, nd_stream *s, nd_error *err) {
  size_t want = PEEK;
  for (;;) {
    nd_str seen;
    ND_TRY(nd_stream_peek(&seen, s, want, err));
    if (seen.n == 0) return ND_OK;
    const char *last = memrchr(seen.p, '\n', seen.n);
    if (!last && seen.n >= want) {
      want *= 2;
      if (want > LONGEST_LINE) {
        l->line++;
        return bad_line(l, "is longer than 64 MiB", err);
      }
      continue;
    }
    size_t whole = last ? (size_t)(last - seen.p) + 1 : seen.n;
    for (size_t at = 0; at < whole;) {
      const char *newline = memchr(seen.p + at, '\n', whole - at);
      size_t end = newline ? (size_t)(newline - seen.p) : whole;
      ND_TRY(take_line(l, (nd_str){seen.p + at, end - at}, err));
      at = end + 1;
    }
    nd_stream_skip(s, whole);
    want = PEEK;
  }
}

static nd_status put_member(nd_lines *out, const lister *l, uint32_t d, nd_error *err) {
  uint32_t centre = l->clusters.centre[d];
  nd_str id = id_of(&l->ids, d), kept = id_of(&l->ids, centre);
  ND_TRY(nd_buf_append(&out->text, id.p, id.n, err));
  ND_TRY(nd_buf_append(&out->text, "\t", 1, err));
  ND_TRY(nd_buf_append(&out->text, kept.p, kept.n, err));
  uint64_t value = l->clusters.value[d];
  if (centre == d) return nd_buf_printf(&out->text, err, "\tkept\t1.000000\n");
  if (!value) return nd_buf_printf(&out->text, err, "\tdropped\t-\n");
  value--;
  return nd_buf_printf(&out->text, err, "\tdropped\t%" PRIu64 ".%06" PRIu64 "\n", value / 1000000,
                       value % 1000000);
}

static nd_status put_clusters(nd_lines *out, lister *l, nd_summary *summary, nd_error *err) {
  uint32_t n = l->clusters.n;
  uint32_t *size = nd_calloc(n, sizeof *size);
  if (!size) return nd_fail_memory(err, n * sizeof *size);
  for (uint32_t d = 0; d < n; d++) {
    size[l->clusters.centre[d]]++;
    summary->dropped += l->clusters.centre[d] != d;
  }
  nd_status status = ND_OK;
  for (uint32_t d = 0; d < n && status == ND_OK; d++) {
    summary->clusters += size[d] >= 2;
    if (size[d] >= 2 && size[d] > summary->largest_cluster) summary->largest_cluster = size[d];
    if (size[l->clusters.centre[d]] < 2) continue;
    status = put_member(out, l, d, err);
    if (status == ND_OK) status = nd_lines_flush(out, false, err);
  }
  nd_free(size);
  summary->documents = n;
  summary->kept = n - summary->dropped;
  return status == ND_OK ? nd_lines_flush(out, true, err) : status;
}

static nd_status run(lister *l, const char *pairs, nd_lines *out, nd_summary *summary,
                     nd_error *err) {
  nd_stream *s = NULL;
  ND_TRY(nd_sorter_new(&l->pairs, UINT64_C(1) << 40, ".", true, err));
  ND_TRY(nd_stream_open(&s, pairs, err));
  nd_status status = read_lines(l, s, err);
  nd_stream_close(s);
  ND_TRY(status);
  ND_TRY(nd_sorter_finish(l->pairs, err));
  ND_TRY(nd_clusters_init(&l->clusters, (uint32_t)l->ids.n, err));
  if (strcmp(l->options->cluster, "star") == 0)
    ND_TRY(nd_clusters_star(&l->clusters, l->pairs, NULL, err));
  else
    ND_TRY(nd_clusters_components(&l->clusters, l->pairs, NULL, err));
  return put_clusters(out, l, summary, err);
}

nd_status nd_cluster(nd_summary *out, const char *pairs, const nd_sink *sink,
                     const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  (void)hooks;
  *out = (nd_summary){0};
  lister l = {.options = options, .name = strcmp(pairs, "-") == 0 ? "standard input" : pairs};
  nd_lines lines = {.sink = sink};
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  nd_status status = run(&l, pairs, &lines, out, err);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  out->seconds =
      (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) * 1e-9;
  nd_buf_clear(&lines.text);
  nd_buf_clear(&l.ids.text);
  nd_free(l.ids.end);
  nd_free(l.ids.slot);
  nd_sorter_free(l.pairs);
  nd_clusters_clear(&l.clusters);
  return status;
}
