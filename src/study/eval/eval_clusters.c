/* Measures of clusterings, from one contingency table: n_ij documents are in
 * cluster i of the ground truth and cluster j of the result, a_i and b_j are the sizes.
 *
 *   pairwise       Σ C(n_ij,2) over Σ C(b_j,2) and Σ C(a_i,2)
 *   B-cubed        the mean of n_ij / b_j and n_ij / a_i over documents (Bagga
 *                  and Baldwin 1998)
 *   adjusted Rand  (Σ C(n_ij,2) − E) / (½ (Σ C(a_i,2) + Σ C(b_j,2)) − E) with
 *                  E = Σ C(a_i,2) Σ C(b_j,2) / C(N,2) (Hubert and Arabie 1985)
 *   homogeneity    1 − H(truth | result) / H(truth); completeness the other way
 *                  (Rosenberg and Hirschberg 2007) */
#include <math.h>

#include "base/radix.h"
#include "cluster/union_find.h"
#include "study/common/compare.h"

typedef struct table {
  const nd_compare *c;
  uint32_t *x, *y;   /* per document: its clusters, including those of one document */
  uint32_t *a, *b;   /* per cluster: its size */
  nd_item *items;    /* pair of clusters, document; sorted */
  size_t n;          /* documents */
  uint32_t x_n, y_n; /* clusters */
} table;

/* Assigns a label to every document; all labels are below *count. */
static void label(uint32_t *out, uint32_t *count, const nd_compare *c, const nd_list *l) {
  uint32_t next = 0;
  if (l->kind == ND_LIST_CLUSTERS) {
    next = l->cluster_n;
    for (uint32_t d = 0; d < c->n; d++)
      out[d] = l->cluster[d] < ND_CONTRADICTED ? l->cluster[d] : next++;
  } else {
    nd_union_start(out, c->n);
    for (size_t i = 0; i < l->n; i++) {
      const nd_pair p = nd_pair_of(l->key[i]);
      if (l->judged[i] != ND_JUDGED_YES || c->without[p.a] || c->without[p.b]) continue;
      nd_union_join(out, p.a, p.b);
    }
    nd_union_flatten(out, c->n);
    next = c->n;
  }
  *count = next;
}

static nd_status build(table *t, nd_error *err) {
  const nd_compare *c = t->c;
  size_t n = (size_t)c->n + 1, most = (size_t)c->truth.cluster_n + c->result.cluster_n + 2 * n;
  /* untaken: more than 2^31 things */
  if (most >= UINT32_MAX) return nd_fail(err, ND_ERR_LIMIT, "too many documents and clusters");
  nd_item *spare = nd_malloc(n * sizeof *spare);
  t->x = nd_malloc(n * sizeof *t->x);
  t->y = nd_malloc(n * sizeof *t->y);
  t->items = nd_malloc(n * sizeof *t->items);
  t->a = nd_calloc(c->truth.cluster_n + n, sizeof *t->a);
  t->b = nd_calloc(c->result.cluster_n + n, sizeof *t->b);
  if (!spare || !t->x || !t->y || !t->items || !t->a || !t->b) {
    nd_free(spare);
    return nd_fail_memory(err, most * sizeof *t->a);
  }
  label(t->x, &t->x_n, c, &c->truth);
  label(t->y, &t->y_n, c, &c->result);
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->without[d]) continue;
    t->items[t->n++] = (nd_item){nd_pair_key(t->x[d], t->y[d]), d};
    t->a[t->x[d]]++;
    t->b[t->y[d]]++;
  }
  nd_radix_items(t->items, spare, t->n);
  nd_free(spare);
  return ND_OK;
}

static double entropy(const uint32_t *size, uint32_t clusters, double n) {
  double sum = 0;
  for (uint32_t i = 0; i < clusters; i++) {
    if (size[i]) sum -= (double)size[i] / n * log((double)size[i] / n);
  }
  return sum;
}

static double pairs_of(double n) {
  return n * (n - 1) / 2;
}

static void measure_rand(nd_eval_result *out, double common, double truth, double result,
                         double n) {
  double expected = n > 1 ? truth * result / pairs_of(n) : 0;
  double most = (truth + result) / 2;
  /* Both have one cluster, or both only clusters of one: they agree. */
  out->ari = most == expected ? 1 : (common - expected) / (most - expected);
}

/* `joint` is H(truth, result): H(truth | result) = joint − H(result). */
static void measure_entropy(const table *t, nd_eval_result *out, double joint) {
  double n = (double)t->n;
  double of_truth = entropy(t->a, t->x_n, n), of_result = entropy(t->b, t->y_n, n);
  double h = of_truth > 0 ? 1 - (joint - of_result) / of_truth : 1;
  double k = of_result > 0 ? 1 - (joint - of_truth) / of_result : 1;
  out->homogeneity = fmax(h, 0); /* rounding */
  out->completeness = fmax(k, 0);
  out->v_measure = nd_compare_f1(out->homogeneity, out->completeness);
}

typedef struct sums {
  uint64_t documents, right, copies, copies_right;
  double precision, recall;
} sums;

static void measure_groups(nd_compare *c, const sums *sum) {
  for (size_t g = 0; g < c->out->group_n; g++) {
    nd_eval_group *to = &c->out->group[g];
    const sums *s = &sum[g];
    double n = (double)s->documents;
    to->documents = s->documents;
    to->bcubed_precision = n > 0 ? s->precision / n : NAN;
    to->bcubed_recall = n > 0 ? s->recall / n : NAN;
    to->bcubed_f1 = nd_compare_f1(to->bcubed_precision, to->bcubed_recall);
    to->accuracy = n > 0 ? (double)s->right / n : NAN;
    to->duplicates_accuracy = s->copies ? (double)s->copies_right / (double)s->copies : NAN;
  }
}

/* Sums over the cells: B-cubed, accuracy, the joint entropy. */
static double walk_cells(const table *t, sums *sum) {
  double joint = 0;
  for (size_t i = 0, end; i < t->n; i = end) {
    for (end = i; end < t->n && t->items[end].key == t->items[i].key;) end++;
    double cell = (double)(end - i), share = cell / (double)t->n;
    uint32_t a = t->a[nd_pair_of(t->items[i].key).a], b = t->b[nd_pair_of(t->items[i].key).b];
    bool right = a == end - i && b == end - i;
    joint -= share * log(share);
    for (size_t k = i; k < end; k++) {
      unsigned g = nd_compare_document_group(t->c, (uint32_t)t->items[k].value);
      for (unsigned m = 0; m <= g; m += g ? g : 1) {
        sum[m].documents++;
        sum[m].right += right;
        sum[m].copies += a > 1;
        sum[m].copies_right += right && a > 1;
        sum[m].precision += cell / b;
        sum[m].recall += cell / a;
      }
    }
  }
  return joint;
}

static nd_status measure(nd_compare *c, const table *t, nd_error *err) {
  nd_eval_result *out = c->out;
  uint64_t all[3][ND_EVAL_GROUPS] = {{0}};
  ND_TRY(nd_compare_count_pairs(all[0], c, t->x, NULL, err));
  ND_TRY(nd_compare_count_pairs(all[1], c, t->y, NULL, err));
  ND_TRY(nd_compare_count_pairs(all[2], c, t->x, t->y, err));
  for (size_t g = 0; g < out->group_n; g++) {
    out->group[g].truth = all[0][g];
    out->group[g].result = all[1][g];
    out->group[g].common = all[2][g];
    nd_compare_ratios(&out->group[g]);
  }
  sums sum[ND_EVAL_GROUPS] = {{0}};
  double joint = walk_cells(t, sum);
  measure_groups(c, sum);
  for (uint32_t i = 0; i < t->x_n; i++) out->truth_clusters += t->a[i] > 1;
  for (uint32_t i = 0; i < t->y_n; i++) out->result_clusters += t->b[i] > 1;
  if (t->n == 0) return ND_OK;
  measure_rand(out, (double)all[2][0], (double)all[0][0], (double)all[1][0], (double)t->n);
  measure_entropy(t, out, joint);
  return ND_OK;
}

nd_status nd_compare_clusters(nd_compare *c, nd_error *err) {
  table t = {.c = c};
  nd_status status = build(&t, err);
  if (status == ND_OK) status = measure(c, &t, err);
  nd_free(t.x);
  nd_free(t.y);
  nd_free(t.a);
  nd_free(t.b);
  nd_free(t.items);
  return status;
}
