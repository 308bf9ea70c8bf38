/* Measures of pairs: precision, recall, F1, average error, correlation.
 *
 * The pairs of a list of clusters are counted, not listed. */
#include <math.h>

#include "base/radix.h"
#include "input/line_list.h" /* ND_LINE_UNIT */
#include "study/common/compare.h"

typedef struct tally {
  nd_eval_group *group; /* out->group */
  nd_moments either[ND_EVAL_GROUPS], common[ND_EVAL_GROUPS];
  uint32_t *of_truth, *of_result, *of_both; /* per document: number of pairs */
  uint32_t *of_none;             /* per document: pairs of a clustering that do not count */
  uint64_t none[ND_EVAL_GROUPS]; /* likewise per group */
} tally;

static double real(int64_t billionths) {
  return (double)billionths / ND_LINE_UNIT;
}

static void add_value(tally *t, unsigned g, double x, double y, bool both) {
  nd_moments_add(&t->either[0], x, y);
  if (g) nd_moments_add(&t->either[g], x, y);
  if (!both) return;
  nd_moments_add(&t->common[0], x, y);
  if (g) nd_moments_add(&t->common[g], x, y);
}

static void add_pair(const nd_compare *c, tally *t, uint64_t key, bool truth, bool result) {
  const nd_pair p = nd_pair_of(key);
  unsigned g = nd_compare_pair_group(c, p.a, p.b);
  for (unsigned k = 0; k <= g; k += g ? g : 1) {
    t->group[k].truth += truth;
    t->group[k].result += result;
    t->group[k].common += truth && result;
  }
  t->of_truth[p.a] += truth;
  t->of_truth[p.b] += truth;
  t->of_result[p.a] += result;
  t->of_result[p.b] += result;
  t->of_both[p.a] += truth && result;
  t->of_both[p.b] += truth && result;
}

/* Counts a pair of the union of two lists of pairs; SIZE_MAX: not in that list. */
static void weigh(const nd_compare *c, tally *t, size_t i, size_t j) {
  const nd_list *x = &c->truth, *y = &c->result;
  bool in_x = i != SIZE_MAX, in_y = j != SIZE_MAX;
  uint64_t key = in_x ? x->key[i] : y->key[j];
  nd_judgement truth = in_x ? (nd_judgement)x->judged[i] : ND_JUDGED_NO;
  nd_judgement result = in_y ? (nd_judgement)y->judged[j] : ND_JUDGED_NO;
  if (truth == ND_JUDGED_BOTH || result == ND_JUDGED_BOTH) return;
  unsigned g = nd_compare_pair_group(c, nd_pair_of(key).a, nd_pair_of(key).b);
  if (c->judged && !in_x) {
    t->group[0].unjudged += result == ND_JUDGED_YES;
    if (g) t->group[g].unjudged += result == ND_JUDGED_YES;
    return;
  }
  if (x->notes.valued && y->notes.valued)
    add_value(t, g, in_x ? real(x->value[i]) : 0, in_y ? real(y->value[j]) : 0, in_x && in_y);
  add_pair(c, t, key, truth == ND_JUDGED_YES, result == ND_JUDGED_YES);
}

static void merge(const nd_compare *c, tally *t) {
  const nd_list *x = &c->truth, *y = &c->result;
  for (size_t i = 0, j = 0; i < x->n || j < y->n;) {
    if (j == y->n || (i < x->n && x->key[i] < y->key[j])) {
      weigh(c, t, i++, SIZE_MAX);
    } else if (i == x->n || y->key[j] < x->key[i]) {
      weigh(c, t, SIZE_MAX, j++);
    } else {
      weigh(c, t, i++, j++);
    }
  }
}

/* Excludes a pair of a cluster with contradicting lines. */
static void forget(const nd_compare *c, tally *t, uint64_t key) {
  const nd_pair p = nd_pair_of(key);
  unsigned g = nd_compare_pair_group(c, p.a, p.b);
  t->none[0]++;
  if (g) t->none[g]++;
  t->of_none[p.a]++;
  t->of_none[p.b]++;
}

static bool left_out(const nd_compare *c, uint64_t key) {
  return c->without[nd_pair_of(key).a] || c->without[nd_pair_of(key).b];
}

/* Compares a list of pairs with clusters; the pairs of the clusters are counted later. */
static void look_up(const nd_compare *c, tally *t, const nd_list *pairs, const nd_list *clusters,
                    bool pairs_are_truth) {
  for (size_t i = 0; i < pairs->n; i++) {
    uint64_t key = pairs->key[i];
    if (left_out(c, key)) continue;
    bool listed, yes = pairs->judged[i] == ND_JUDGED_YES;
    bool together = nd_list_judge(&listed, clusters, key) == ND_JUDGED_YES;
    if (pairs->judged[i] == ND_JUDGED_BOTH) {
      if (together) forget(c, t, key);
    } else {
      add_pair(c, t, key, pairs_are_truth ? yes : together, pairs_are_truth ? together : yes);
    }
  }
}

/* Counts the pairs of a clustering, per group and per document. */
static nd_status add_clusters(const nd_compare *c, const tally *t, const nd_list *l,
                              uint64_t all[ND_EVAL_GROUPS], uint32_t *per_document, nd_error *err) {
  ND_TRY(nd_compare_count_pairs(all, c, l->cluster, NULL, err));
  for (size_t g = 0; g < ND_EVAL_GROUPS; g++) all[g] -= t->none[g];
  uint32_t *size = nd_calloc((size_t)l->cluster_n + 1, sizeof *size);
  if (!size) return nd_fail_memory(err, ((size_t)l->cluster_n + 1) * sizeof *size);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t d = 0; d < c->n; d++) {
      uint32_t k = l->cluster[d];
      if (c->without[d] || k == ND_NO_ID) continue;
      if (pass == 0)
        size[k]++;
      else
        per_document[d] = size[k] - 1 - t->of_none[d];
    }
  }
  nd_free(size);
  return ND_OK;
}

/* Counts, for two clusterings, the documents that share both clusters with a document. */
static nd_status add_shared(const nd_compare *c, tally *t, nd_error *err) {
  size_t n = 0, room = (size_t)c->n + 1;
  nd_item *items = nd_malloc(2 * room * sizeof *items);
  if (!items) return nd_fail_memory(err, 2 * room * sizeof *items);
  for (uint32_t d = 0; d < c->n; d++) {
    uint32_t x = c->truth.cluster[d], y = c->result.cluster[d];
    if (!c->without[d] && x != ND_NO_ID && y != ND_NO_ID)
      items[n++] = (nd_item){nd_pair_key(x, y), d};
  }
  nd_radix_group(items, items + room, n);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && items[end].key == items[i].key;) end++;
    for (size_t k = i; k < end; k++) t->of_both[items[k].value] = (uint32_t)(end - i - 1);
  }
  nd_free(items);
  return ND_OK;
}

static nd_status tally_lists(nd_compare *c, tally *t, nd_error *err) {
  bool x = c->truth.kind == ND_LIST_CLUSTERS, y = c->result.kind == ND_LIST_CLUSTERS;
  uint64_t all[ND_EVAL_GROUPS] = {0};
  if (!x && !y) {
    merge(c, t);
    return ND_OK;
  }
  if (!x) look_up(c, t, &c->truth, &c->result, true);
  if (!y) look_up(c, t, &c->result, &c->truth, false);
  if (x && y) {
    ND_TRY(nd_compare_count_pairs(all, c, c->truth.cluster, c->result.cluster, err));
    for (size_t g = 0; g < ND_EVAL_GROUPS; g++) t->group[g].common = all[g];
    ND_TRY(add_shared(c, t, err));
  }
  if (x) {
    memset(all, 0, sizeof all);
    ND_TRY(add_clusters(c, t, &c->truth, all, t->of_truth, err));
    for (size_t g = 0; g < ND_EVAL_GROUPS; g++) t->group[g].truth = all[g];
  }
  if (y && !c->judged) {
    memset(all, 0, sizeof all);
    ND_TRY(add_clusters(c, t, &c->result, all, t->of_result, err));
    for (size_t g = 0; g < ND_EVAL_GROUPS; g++) t->group[g].result = all[g];
  }
  return ND_OK;
}

/* Counts documents whose duplicates are the true ones: with equal numbers of pairs in the
 * ground truth, the result and both. */
static void measure_documents(const nd_compare *c, const tally *t) {
  uint64_t all[ND_EVAL_GROUPS][4] = {
      {0}}; /* documents, correct; documents with duplicates, correct */
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->without[d]) continue;
    bool right = t->of_truth[d] == t->of_both[d] && t->of_result[d] == t->of_both[d];
    unsigned g = nd_compare_document_group(c, d);
    for (unsigned k = 0; k <= g; k += g ? g : 1) {
      all[k][0]++;
      all[k][1] += right;
      all[k][2] += t->of_truth[d] > 0;
      all[k][3] += right && t->of_truth[d] > 0;
    }
  }
  for (size_t g = 0; g < c->out->group_n; g++) {
    nd_eval_group *to = &t->group[g];
    to->documents = all[g][0];
    to->accuracy = all[g][0] ? (double)all[g][1] / (double)all[g][0] : NAN;
    to->duplicates_accuracy = all[g][2] ? (double)all[g][3] / (double)all[g][2] : NAN;
  }
}

nd_status nd_compare_pairs(nd_compare *c, nd_error *err) {
  tally t = {.group = c->out->group};
  size_t bytes = ((size_t)c->n + 1) * sizeof *t.of_truth;
  uint32_t *counts = nd_calloc(4, bytes);
  if (!counts) return nd_fail_memory(err, 4 * bytes);
  t.of_truth = counts;
  t.of_result = counts + c->n + 1;
  t.of_both = counts + 2 * ((size_t)c->n + 1);
  t.of_none = counts + 3 * ((size_t)c->n + 1);
  nd_status status = tally_lists(c, &t, err);
  for (size_t g = 0; g < c->out->group_n && status == ND_OK; g++) {
    nd_eval_group *to = &t.group[g];
    nd_compare_ratios(to);
    to->compared = (uint64_t)t.either[g].n;
    to->average_error = nd_moments_error(&t.either[g]);
    to->correlation = nd_moments_correlation(&t.either[g]);
    to->common_error = nd_moments_error(&t.common[g]);
    to->common_correlation = nd_moments_correlation(&t.common[g]);
  }
  if (status == ND_OK) measure_documents(c, &t);
  nd_free(counts);
  return status;
}
