/* Groups of pairs, counting of pairs without listing them, moments; see compare.h. */
#include "study/common/compare.h"

#include <math.h>

#include "base/radix.h"

void nd_moments_add(nd_moments *m, double x, double y) {
  m->n += 1;
  double dx = x - m->mean_x, dy = y - m->mean_y;
  m->mean_x += dx / m->n;
  m->mean_y += dy / m->n;
  m->xx += dx * (x - m->mean_x);
  m->yy += dy * (y - m->mean_y);
  m->xy += dx * (y - m->mean_y);
  m->error += fabs(x - y);
}

double nd_moments_error(const nd_moments *m) {
  return m->n > 0 ? m->error / m->n : NAN;
}

double nd_moments_correlation(const nd_moments *m) {
  double both = sqrt(m->xx) * sqrt(m->yy);
  return both > 0 ? m->xy / both : NAN;
}

double nd_compare_f1(double precision, double recall) {
  if (isnan(precision) || isnan(recall)) return NAN;
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

void nd_compare_ratios(nd_eval_group *g) {
  g->precision = g->result ? (double)g->common / (double)g->result : NAN;
  g->recall = g->truth ? (double)g->common / (double)g->truth : NAN;
  g->f1 = nd_compare_f1(g->precision, g->recall);
}

unsigned nd_compare_document_group(const nd_compare *c, uint32_t d) {
  return c->by == ND_BY_SIZE ? 1 + nd_size_group(c->documents.tokens[d]) : 0;
}

enum { SAME_SITE = 1, OTHER_SITE, NO_SITE };

unsigned nd_compare_pair_group(const nd_compare *c, uint32_t a, uint32_t b) {
  if (c->by == ND_BY_SIZE) {
    unsigned x = nd_compare_document_group(c, a), y = nd_compare_document_group(c, b);
    return x < y ? x : y;
  }
  if (c->by != ND_BY_SITE) return 0;
  uint64_t x = c->documents.site[a], y = c->documents.site[b];
  return x == 0 || y == 0 ? NO_SITE : x == y ? SAME_SITE : OTHER_SITE;
}

static uint64_t pairs_of(uint64_t n) {
  return n ? n * (n - 1) / 2 : 0;
}

/* Counts the pairs of the documents of a cell, by group.  The documents of a cell are
 * sorted by site. */
static void count_cell(uint64_t out[ND_EVAL_GROUPS], const nd_compare *c, const nd_item *cell,
                       size_t n) {
  out[0] += pairs_of(n);
  if (c->by == ND_BY_SIZE) {
    uint64_t of[ND_SIZE_GROUPS] = {0}, above = 0;
    for (size_t i = 0; i < n; i++) of[nd_compare_document_group(c, (uint32_t)cell[i].value) - 1]++;
    for (int g = ND_SIZE_GROUPS - 1; g >= 0; g--) {
      out[1 + g] += pairs_of(of[g]) + of[g] * above;
      above += of[g];
    }
  } else if (c->by == ND_BY_SITE) {
    uint64_t same = 0, known = 0;
    for (size_t i = 0, end; i < n; i = end) {
      uint64_t site = c->documents.site[cell[i].value];
      for (end = i; end < n && c->documents.site[cell[end].value] == site;) end++;
      if (site == 0) continue;
      same += pairs_of(end - i);
      known += end - i;
    }
    out[SAME_SITE] += same;
    out[OTHER_SITE] += pairs_of(known) - same;
    out[NO_SITE] += pairs_of(n) - pairs_of(known);
  }
}

nd_status nd_compare_count_pairs(uint64_t out[ND_EVAL_GROUPS], const nd_compare *c,
                                 const uint32_t *x, const uint32_t *y, nd_error *err) {
  size_t n = 0, room = (size_t)c->n + 1;
  nd_item *items = nd_malloc(room * sizeof *items), *spare = nd_malloc(room * sizeof *spare);
  if (!items || !spare) {
    nd_free(items);
    nd_free(spare);
    return nd_fail_memory(err, room * sizeof *items);
  }
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->without[d] || x[d] == ND_NO_ID || (y && y[d] == ND_NO_ID)) continue;
    items[n++] = (nd_item){c->by == ND_BY_SITE ? c->documents.site[d] : 0, d};
  }
  if (c->by == ND_BY_SITE) nd_radix_items(items, spare, n);
  for (size_t i = 0; i < n; i++) {
    uint32_t d = (uint32_t)items[i].value;
    items[i].key = nd_pair_key(x[d], y ? y[d] : 0);
  }
  nd_radix_items(items, spare, n); /* stable, so sites remain grouped */
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && items[end].key == items[i].key;) end++;
    count_cell(out, c, items + i, end - i);
  }
  nd_free(items);
  nd_free(spare);
  return ND_OK;
}
