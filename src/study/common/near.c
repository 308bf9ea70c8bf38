/* Near-duplicates of documents; see near.h. */
#include "study/common/near.h"

#include "base/pair.h"
#include "input/line_list.h" /* ND_LINE_UNIT */

void nd_near_clear(nd_near *n) {
  nd_free(n->begin);
  nd_free(n->other);
  nd_free(n->value);
  nd_free(n->stamp);
  nd_free(n->place);
  nd_free(n->mark);
  *n = (nd_near){0};
}

static nd_status fill(nd_near *n, nd_error *err) {
  const nd_list *l = n->list;
  size_t documents = n->documents;
  n->begin = nd_calloc(documents + 2, sizeof *n->begin);
  n->other = nd_malloc((2 * l->n + 1) * sizeof *n->other);
  n->value = nd_malloc((2 * l->n + 1) * sizeof *n->value);
  if (!n->begin || !n->other || !n->value)
    return nd_fail_memory(err, (2 * l->n + 1) * sizeof *n->value);
  for (size_t i = 0; i < l->n; i++) {
    n->begin[(size_t)nd_pair_of(l->key[i]).a + 2]++;
    n->begin[(size_t)nd_pair_of(l->key[i]).b + 2]++;
  }
  for (size_t d = 0; d < documents; d++) n->begin[d + 2] += n->begin[d + 1];
  for (size_t i = 0; i < l->n; i++) { /* advances begin[d + 1] to the start of d + 1 */
    const nd_pair p = nd_pair_of(l->key[i]);
    uint64_t x = n->begin[(size_t)p.a + 1]++, y = n->begin[(size_t)p.b + 1]++;
    n->other[x] = p.b;
    n->other[y] = p.a;
    n->value[x] = n->value[y] = l->notes.valued ? l->value[i] : ND_LINE_UNIT;
  }
  return ND_OK;
}

nd_status nd_near_init(nd_near *n, const nd_list *list, uint32_t documents, nd_error *err) {
  *n = (nd_near){.list = list, .documents = documents};
  bool clusters = list->kind == ND_LIST_CLUSTERS;
  size_t places = (clusters ? list->cluster_n : documents) + (size_t)1;
  n->stamp = nd_calloc((size_t)documents + 1, sizeof *n->stamp);
  n->place = nd_calloc(places, sizeof *n->place);
  n->mark = nd_calloc(places, sizeof *n->mark);
  if (!n->stamp || !n->place || !n->mark) return nd_fail_memory(err, places * sizeof *n->place);
  return clusters ? ND_OK : fill(n, err);
}

static bool in_cluster(const nd_near *n, uint32_t document, uint32_t *cluster) {
  *cluster = n->list->cluster[document];
  return *cluster < ND_CONTRADICTED;
}

/* Starts a collection: stamps every document and records its index or, for clusters, counts
 * the members. */
static void begin_collection(nd_near *n, const uint32_t *document, size_t m) {
  uint32_t cluster;
  n->last++;
  for (size_t i = 0; i < m; i++) {
    n->stamp[document[i]] = n->last;
    if (n->list->kind == ND_LIST_PAIRS) {
      n->place[document[i]] = (uint32_t)i;
    } else if (in_cluster(n, document[i], &cluster)) {
      if (n->mark[cluster] != n->last) n->place[cluster] = 0;
      n->mark[cluster] = n->last;
      n->place[cluster]++;
    }
  }
}

void nd_near_best(int64_t *best, nd_near *n, const uint32_t *document, size_t m) {
  begin_collection(n, document, m);
  for (size_t i = 0; i < m; i++) {
    uint32_t d = document[i], cluster;
    best[i] = -1;
    if (n->list->kind == ND_LIST_CLUSTERS) {
      if (in_cluster(n, d, &cluster) && n->place[cluster] > 1) best[i] = ND_LINE_UNIT;
      continue;
    }
    for (uint64_t k = n->begin[d]; k < n->begin[d + 1]; k++) {
      if (n->stamp[n->other[k]] == n->last && n->value[k] > best[i]) best[i] = n->value[k];
    }
  }
}

void nd_near_first(size_t *first, nd_near *n, const uint32_t *document, size_t m,
                   int64_t threshold) {
  begin_collection(n, document, m);
  for (size_t i = 0; i < m; i++) first[i] = SIZE_MAX;
  if (n->list->kind == ND_LIST_CLUSTERS) {
    for (size_t i = 0; i < m; i++) {
      uint32_t cluster;
      if (in_cluster(n, document[i], &cluster) && n->place[cluster] > 1) first[i] = i + 1;
    }
    n->last++;
    for (size_t i = 0; i < m; i++) {      /* the first member counts from the second on */
      if (first[i] == SIZE_MAX) continue; /* the only member, or in no cluster */
      uint32_t cluster = n->list->cluster[document[i]];
      if (n->mark[cluster] != n->last) {
        n->mark[cluster] = n->last;
        n->place[cluster] = (uint32_t)i;
        first[i] = SIZE_MAX;
      } else if (first[n->place[cluster]] == SIZE_MAX) {
        first[n->place[cluster]] = i + 1;
      }
    }
    return;
  }
  for (size_t i = 0; i < m; i++) {
    uint32_t d = document[i];
    for (uint64_t k = n->begin[d]; k < n->begin[d + 1]; k++) {
      if (n->value[k] < threshold || n->stamp[n->other[k]] != n->last) continue;
      size_t place = n->place[n->other[k]], both = (place > i ? place : i) + 1;
      if (both < first[i]) first[i] = both;
    }
  }
}

void nd_near_filter(uint8_t *keep, nd_near *n, const uint32_t *document, size_t m,
                    int64_t threshold) {
  n->last++;
  for (size_t i = 0; i < m; i++) {
    uint32_t d = document[i], cluster;
    keep[i] = 1;
    if (n->list->kind == ND_LIST_CLUSTERS) {
      if (!in_cluster(n, d, &cluster)) continue;
      keep[i] = n->mark[cluster] != n->last;
      n->mark[cluster] = n->last;
      continue;
    }
    for (uint64_t k = n->begin[d]; k < n->begin[d + 1] && keep[i]; k++)
      keep[i] = n->value[k] < threshold || n->stamp[n->other[k]] != n->last;
    if (keep[i]) n->stamp[d] = n->last; /* only kept documents */
  }
}
