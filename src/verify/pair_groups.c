/* Groups of pairs by union-find; see pair_groups.h. */
#include "verify/pair_groups.h"

#include "base/hash.h"
#include "cluster/union_find.h"

/* Pairs per job.  A job within one group is longer, because another thread would have to read the
 * group's documents again. */
enum { JOB = 1 << 10, GROUP_JOB = 1 << 13 };

/* Least pairs per document for which a group pays: adding a document to a group costs about as
 * much as comparing three similar pairs. */
enum { DENSE = 2 };

void nd_pair_groups_clear(nd_pair_groups *t) {
  nd_free(t->item);
  nd_free(t->group);
  nd_free(t->jobs);
  nd_slots_clear(&t->table);
  nd_free(t->parent);
  nd_free(t->pairs);
  nd_free(t->members);
  nd_free(t->local);
  nd_free(t->key);
  *t = (nd_pair_groups){0};
}

static nd_status reserve(nd_pair_groups *t, size_t n, nd_error *err) {
  if (n <= t->cap) return ND_OK;
  nd_pair_groups_clear(t);
  t->item = nd_malloc(n * sizeof *t->item);
  t->group = nd_malloc(n * sizeof *t->group);
  t->parent = nd_malloc(2 * n * sizeof *t->parent);
  t->pairs = nd_malloc(2 * n * sizeof *t->pairs);
  t->members = nd_malloc(2 * n * sizeof *t->members);
  t->local = nd_malloc(n * sizeof *t->local);
  t->key = nd_malloc(2 * n * sizeof *t->key);
  if (!t->item || !t->group || !t->parent || !t->pairs || !t->members || !t->local || !t->key) {
    nd_pair_groups_clear(t);
    return nd_fail_memory(err, 16 * n * sizeof(uint32_t));
  }
  t->cap = n;
  return ND_OK;
}

/* Returns the number of a document within the plan; adds it if it is new. */
static uint32_t local_number(nd_pair_groups *t, uint32_t document, uint32_t *count) {
  const nd_slots *slots = &t->table;
  size_t i = nd_slots_first(slots, nd_mix(document));
  for (; slots->slot[i]; i = nd_slots_next(slots, i))
    if (t->key[slots->slot[i] - 1] == document) return slots->slot[i] - 1;
  uint32_t number = (*count)++;
  slots->slot[i] = *count;
  t->key[number] = document;
  t->parent[number] = number;
  return number;
}

/* Unites connected pairs, and counts the documents. */
static nd_status unite(uint32_t *count, nd_pair_groups *t, const nd_item *items, size_t n,
                       nd_error *err) {
  ND_TRY(nd_slots_reset(&t->table, 2 * n, err));
  for (size_t i = 0; i < n; i++) {
    uint32_t a = local_number(t, nd_pair_of(items[i].key).a, count);
    uint32_t b = local_number(t, nd_pair_of(items[i].key).b, count);
    t->local[i] = a;
    nd_union_join(t->parent, a, b);
  }
  return ND_OK;
}

static nd_status add_job(nd_pair_groups *t, size_t begin, size_t end, nd_error *err) {
  ND_TRY(nd_array_grow(&t->jobs, &t->job_cap, t->job_n + 1, sizeof *t->jobs, err));
  t->jobs[t->job_n++] = (nd_pair_groups_job){(uint32_t)begin, (uint32_t)end};
  return ND_OK;
}

/* Splits the plan into jobs; splits a group only if it is large. */
static nd_status cut(nd_pair_groups *t, nd_error *err) {
  size_t begin = 0;
  t->job_n = 0;
  for (size_t i = 1; i <= t->n; i++) {
    bool border = i == t->n || t->group[i] == ND_ALONE || t->group[i] != t->group[i - 1];
    if (i == t->n || (i - begin >= JOB && border) || i - begin >= GROUP_JOB) {
      ND_TRY(add_job(t, begin, i, err));
      begin = i;
    }
  }
  return ND_OK;
}

nd_status nd_pair_groups_plan(nd_pair_groups *t, const nd_item *items, size_t n, bool groups,
                              nd_error *err) {
  t->n = n;
  t->job_n = 0;
  if (n == 0) return ND_OK;
  ND_TRY(reserve(t, n, err));
  t->n = n;
  uint32_t count = 0;
  if (groups) ND_TRY(unite(&count, t, items, n, err));
  memset(t->pairs, 0, count * sizeof *t->pairs);
  memset(t->members, 0, count * sizeof *t->members);
  for (uint32_t d = 0; d < count; d++) t->members[nd_union_root(t->parent, d)]++;
  for (size_t i = 0; groups && i < n; i++) {
    t->local[i] = nd_union_root(t->parent, t->local[i]);
    t->pairs[t->local[i]]++;
  }
  /* Assign each group a range; pairs of no group come last. */
  uint32_t at = 0;
  for (uint32_t d = 0; d < count; d++) {
    uint32_t pairs = t->pairs[d];
    bool dense = pairs && pairs >= DENSE * t->members[d];
    t->members[d] = dense ? at : ND_ALONE;
    if (dense) at += pairs;
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t root = groups ? t->local[i] : 0;
    bool dense = groups && t->members[root] != ND_ALONE;
    uint32_t index = dense ? t->members[root]++ : at++;
    t->item[index] = (uint32_t)i;
    t->group[index] = dense ? root : ND_ALONE;
  }
  return cut(t, err);
}
