/* Pairs of documents that share values; see shared_values.h. */
#include "candidate/shared_values.h"

#include "sketch/supershingle.h"

uint64_t nd_rows_value(const void *rows, uint64_t row, uint32_t place) {
  const nd_rows *r = rows;
  return r->values[row * r->places + place];
}

uint64_t nd_rows_mega(const void *rows, uint64_t row, uint32_t place) {
  const nd_rows *r = rows;
  return nd_mega(r->values + row * r->places, r->places, place);
}

uint32_t nd_rows_agree(const nd_rows *rows, uint64_t a, uint64_t b) {
  return nd_super_agree(rows->values + a * rows->places, rows->values + b * rows->places,
                        rows->places);
}

enum { BATCH = 1 << 12 };

/* Pairs on their way out. */
typedef struct giver {
  nd_sorter *pairs;
  const nd_shared_request *request;
  nd_bucket_stats *stats;
  nd_item out[BATCH];
  size_t n;
} giver;

static nd_status flush(giver *g, nd_error *err) {
  size_t n = g->n;
  g->n = 0;
  return nd_sorter_add(g->pairs, g->out, n, err);
}

static nd_status give(giver *g, uint32_t i, uint32_t j, nd_error *err) {
  const nd_shared_request *r = g->request;
  uint32_t a = r->number ? r->number[i] : i, b = r->number ? r->number[j] : j;
  if (r->split && (a >= r->split || b < r->split)) return ND_OK;
  g->stats->edges++;
  g->out[g->n++] = (nd_item){(uint64_t)a << 32 | b, 1};
  return g->n == BATCH ? flush(g, err) : ND_OK;
}

/* The rows of one run, rising. */
static nd_status give_run(giver *g, const nd_item *run, uint64_t n, nd_error *err) {
  if (n < 2) return ND_OK;
  nd_bucket_stats *s = g->stats;
  s->buckets++;
  if (n > s->largest) s->largest = n;
  bool hot = g->request->cap && n > g->request->cap;
  s->hot += hot;
  s->hot_documents += hot ? n : 0;
  for (uint64_t i = 0; i < (hot ? 1 : n); i++) {
    for (uint64_t j = i + 1; j < n; j++)
      ND_TRY(give(g, (uint32_t)run[i].value, (uint32_t)run[j].value, err));
  }
  return ND_OK;
}

nd_status nd_shared_pairs(nd_sorter *pairs, nd_bucket_stats *stats,
                          const nd_shared_request *request, nd_error *err) {
  const nd_shared_request *r = request;
  *stats = (nd_bucket_stats){0};
  nd_item *items = nd_malloc(2 * r->n * sizeof *items + 1);
  giver *g = nd_calloc(1, sizeof *g);
  nd_status status = ND_OK;
  if (!items || !g) {
    status = nd_fail_memory(err, 2 * r->n * sizeof *items);
    goto done;
  }
  g->pairs = pairs;
  g->request = r;
  g->stats = stats;
  for (uint32_t place = 0; place + r->needed <= r->places; place++) {
    size_t n = 0;
    for (uint64_t i = 0; i < r->n; i++) {
      uint64_t value = r->value(r->context, i, place);
      if (value != UINT64_MAX) items[n++] = (nd_item){value, i};
    }
    nd_radix_items(items, items + n, n);
    for (size_t i = 0; i < n;) {
      size_t j = i + 1;
      while (j < n && items[j].key == items[i].key) j++;
      ND_TRY_GOTO(give_run(g, items + i, j - i, err), done);
      i = j;
    }
  }
  status = flush(g, err);
done:
  nd_free(items);
  nd_free(g);
  return status;
}
