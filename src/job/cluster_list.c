/* nd_cluster: computes clusters from a list of pairs.
 *
 * Ids are fields as written by `neardup pairs` (others are normalized to that form), numbered in
 * order of appearance.  Ids and pairs are kept in memory: about id length + 40 bytes per document
 * and 32 bytes per pair. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/id_map.h"
#include "cluster/clusters.h"
#include "input/line_list.h"
#include "output/tsv.h"
#include "result/lines.h"
#include "result/survivors.h"

enum { POLL_EVERY = 4096 };

typedef struct lister {
  nd_id_map ids;
  nd_sorter *pairs;
  nd_clusters clusters;
  nd_buf room;
  const nd_options *options;
  const nd_hooks *hooks;
  const char *name;
} lister;

/* Parses a similarity into millionths + 1, exact up to six decimals; 0: none. */
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

static nd_status bad_line(const lister *l, uint64_t number, const char *why, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA,
                 "%s:%" PRIu64
                 " %s; a line is id TAB id TAB similarity, as `neardup pairs` writes it",
                 l->name, number, why);
}

static nd_status take_line(void *context, nd_str line, uint64_t number, nd_error *err) {
  lister *l = context;
  const char *tab = memchr(line.p, '\t', line.n);
  if (!tab) return bad_line(l, number, "has no tab", err);
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
      return bad_line(l, number, "has no number in its third field", err);
  }
  if (a.n == 0 || b.n == 0) return bad_line(l, number, "has an empty id", err);
  uint32_t x, y;
  ND_TRY(nd_tsv_canonical(&a, &l->room, a, err));
  ND_TRY(nd_id_map_number(&x, &l->ids, a, err));
  ND_TRY(nd_tsv_canonical(&b, &l->room, b, err));
  ND_TRY(nd_id_map_number(&y, &l->ids, b, err));
  /* The list was cut when it was made: no threshold unless asked for. */
  nd_decimal t = l->options->threshold_given ? l->options->threshold : (nd_decimal){0, 1};
  if (value && (unsigned __int128)(value - 1) * t.den < (unsigned __int128)t.num * 1000000)
    return ND_OK;
  if (x == y) return ND_OK;
  nd_item item = {nd_pair_ascending(x, y), value};
  return nd_sorter_add(l->pairs, &item, 1, err);
}

static nd_status put_member(nd_lines *out, const lister *l, uint32_t d, nd_error *err) {
  uint32_t centre = l->clusters.centre[d];
  nd_str id = nd_id_map_id(&l->ids, d), kept = nd_id_map_id(&l->ids, centre);
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
  uint32_t *size;
  ND_TRY(nd_survivors_count(&size, summary, &l->clusters, err));
  nd_status status = nd_lines_begin(out, l->options, "id\tcluster\tstatus\tsimilarity\n", err);
  for (uint32_t d = 0; d < n && status == ND_OK; d++) {
    if (size[l->clusters.centre[d]] < 2) continue;
    if (d % POLL_EVERY == 0) status = nd_hooks_check(l->hooks, err);
    if (status == ND_OK) status = put_member(out, l, d, err);
    if (status == ND_OK) status = nd_lines_flush(out, false, err);
  }
  nd_free(size);
  summary->documents = n;
  summary->kept = n - summary->dropped;
  return status == ND_OK ? nd_lines_flush(out, true, err) : status;
}

static nd_status run(lister *l, const char *pairs, nd_lines *out, nd_summary *summary,
                     nd_error *err) {
  ND_TRY(nd_sorter_new(&l->pairs, UINT64_C(1) << 40, ".", true, err));
  ND_TRY(nd_line_list_read(pairs, l->hooks, take_line, l, err));
  ND_TRY(nd_sorter_finish(l->pairs, err));
  ND_TRY(nd_hooks_check(l->hooks, err));
  ND_TRY(nd_clusters_init(&l->clusters, (uint32_t)l->ids.n, err));
  if (strcmp(l->options->cluster, "star") == 0)
    ND_TRY(nd_clusters_star(&l->clusters, l->pairs, NULL, err));
  else
    ND_TRY(nd_clusters_components(&l->clusters, l->pairs, NULL, err));
  ND_TRY(nd_hooks_check(l->hooks, err));
  return put_clusters(out, l, summary, err);
}

nd_status nd_cluster(nd_summary *out, const nd_cluster_request *request, const nd_options *options,
                     const nd_hooks *hooks, nd_error *err) {
  const char *pairs = request->pairs;
  *out = (nd_summary){0};
  lister l = {.options = options, .hooks = hooks, .name = nd_line_list_name(pairs)};
  nd_lines lines = {.sink = request->sink};
  const double began = nd_clock_now();
  nd_status status = run(&l, pairs, &lines, out, err);
  out->seconds = nd_clock_now() - began;
  nd_lines_clear(&lines);
  nd_id_map_clear(&l.ids);
  nd_buf_clear(&l.room);
  nd_sorter_free(l.pairs);
  nd_clusters_clear(&l.clusters);
  return status;
}
