/* Runs: sorted, packed items with a checksum; see neardup/stage.h. */
#include <xxhash.h>

#include "base/radix.h"
#include "base/sorter.h"
#include "stage/stage_work.h"

static const uint32_t run_magic = 0x3152444e; /* "NDR1" */

typedef struct run_header {
  uint32_t magic, value_bytes;
  uint64_t n, checksum;
} run_header;

/* The items of one partition. */
typedef struct heap {
  nd_item *items;
  size_t n, cap;
} heap;

struct nd_spread {
  heap *heaps;
  uint32_t partitions;
  unsigned value_bytes;
  uint64_t waiting;
  nd_item *scratch;
  size_t scratch_cap;
  nd_buf out;
};

nd_status nd_spread_new(nd_spread **out, uint32_t partitions, unsigned value_bytes, nd_error *err) {
  *out = NULL;
  nd_spread *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->partitions = partitions;
  s->value_bytes = value_bytes;
  s->heaps = nd_calloc(partitions, sizeof *s->heaps);
  if (!s->heaps) {
    nd_free(s);
    return nd_fail_memory(err, partitions * sizeof *s->heaps);
  }
  *out = s;
  return ND_OK;
}

void nd_spread_free(nd_spread *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->partitions; i++) nd_free(s->heaps[i].items);
  nd_free(s->heaps);
  nd_free(s->scratch);
  nd_buf_clear(&s->out);
  nd_free(s);
}

uint64_t nd_spread_waiting(const nd_spread *s) {
  return s->waiting;
}
uint32_t nd_spread_partitions(const nd_spread *s) {
  return s->partitions;
}

nd_status nd_spread_add(nd_spread *s, uint32_t partition, uint64_t key, uint64_t value,
                        nd_error *err) {
  heap *h = &s->heaps[partition];
  if (h->n == h->cap) ND_TRY(nd_array_grow(&h->items, &h->cap, h->n + 1, sizeof *h->items, err));
  h->items[h->n++] = (nd_item){key, value};
  s->waiting++;
  return ND_OK;
}

nd_status nd_run_pack(nd_buf *out, const nd_item *items, size_t n, unsigned value_bytes,
                      nd_error *err) {
  run_header h = {run_magic, value_bytes, n, 0};
  out->n = 0;
  ND_TRY(nd_buf_reserve(out, sizeof h + n * (8 + value_bytes), err));
  char *keys = out->p + sizeof h, *values = keys + 8 * n;
  for (size_t i = 0; i < n; i++) {
    memcpy(keys + 8 * i, &items[i].key, 8);
    memcpy(values + value_bytes * i, &items[i].value, value_bytes);
  }
  out->n = sizeof h + n * (8 + value_bytes);
  h.checksum = XXH3_64bits(keys, out->n - sizeof h);
  memcpy(out->p, &h, sizeof h);
  return ND_OK;
}

static nd_status run_open(run_header *h, nd_str run, nd_error *err) {
  bool good = run.n >= sizeof *h;
  if (good) {
    memcpy(h, run.p, sizeof *h);
    unsigned v = h->value_bytes;
    good = h->magic == run_magic && (v == 1 || v == 4 || v == 8) &&
           h->n <= (run.n - sizeof *h) / (8 + v) && run.n == sizeof *h + h->n * (8 + v) &&
           XXH3_64bits(run.p + sizeof *h, run.n - sizeof *h) == h->checksum;
  }
  if (good) return ND_OK;
  return nd_fail(err, ND_ERR_DATA,
                 "a part of the job is damaged (a run of %zu bytes fails its checksum); remove the "
                 "job's work directory and run again",
                 run.n);
}

nd_status nd_run_count(uint64_t *n, nd_str run, nd_error *err) {
  run_header h;
  ND_TRY(run_open(&h, run, err));
  *n = h.n;
  return ND_OK;
}

nd_status nd_run_items(uint64_t *keys, uint64_t *values, nd_str run, nd_error *err) {
  run_header h;
  ND_TRY(run_open(&h, run, err));
  const char *k = run.p + sizeof h, *v = k + 8 * h.n;
  if (h.n) memcpy(keys, k, 8 * h.n);
  for (size_t i = 0; i < h.n; i++) {
    values[i] = 0;
    memcpy(&values[i], v + h.value_bytes * i, h.value_bytes);
  }
  return ND_OK;
}

nd_status nd_spread_take(nd_str *run, nd_spread *s, uint32_t partition, nd_error *err) {
  heap *h = &s->heaps[partition];
  *run = (nd_str){NULL, 0};
  if (h->n == 0) return ND_OK;
  ND_TRY(nd_array_grow(&s->scratch, &s->scratch_cap, h->n, sizeof *s->scratch, err));
  nd_radix_items(h->items, s->scratch, h->n);
  ND_TRY(nd_run_pack(&s->out, h->items, h->n, s->value_bytes, err));
  s->waiting -= h->n;
  nd_free(h->items);
  *h = (heap){0};
  *run = nd_buf_str(&s->out);
  return ND_OK;
}

nd_status nd_runs_load(size_t *n, nd_stage *s, const nd_str *runs, size_t run_n, nd_error *err) {
  size_t total = 0, at = 0;
  for (size_t i = 0; i < run_n; i++) {
    run_header h;
    ND_TRY(run_open(&h, runs[i], err));
    total += h.n;
  }
  ND_TRY(nd_array_grow(&s->items, &s->item_cap, total, sizeof *s->items, err));
  ND_TRY(nd_array_grow(&s->scratch, &s->scratch_cap, total, sizeof *s->scratch, err));
  for (size_t i = 0; i < run_n; i++) {
    run_header h;
    memcpy(&h, runs[i].p, sizeof h);
    const char *k = runs[i].p + sizeof h, *v = k + 8 * h.n;
    for (size_t j = 0; j < h.n; j++, at++) {
      s->items[at].value = 0;
      memcpy(&s->items[at].key, k + 8 * j, 8);
      memcpy(&s->items[at].value, v + h.value_bytes * j, h.value_bytes);
    }
  }
  *n = total;
  return ND_OK;
}

nd_status nd_stage_merge(nd_str *run, nd_stage *s, const nd_runs *given, nd_merge how,
                         nd_error *err) {
  const nd_str *runs = given->run;
  const size_t n = given->n;
  size_t total, kept = 0;
  unsigned value_bytes = 1;
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  if (n) memcpy(&value_bytes, runs[0].p + sizeof(uint32_t), sizeof value_bytes);
  nd_radix_items(s->items, s->scratch, total);
  for (size_t i = 0; i < total; i++) {
    nd_item *last = kept ? &s->items[kept - 1] : NULL;
    if (last && last->key == s->items[i].key) {
      if (how == ND_MERGE_SUM)
        last->value += s->items[i].value;
      else if (s->items[i].value < last->value)
        last->value = s->items[i].value;
    } else {
      s->items[kept++] = s->items[i];
    }
  }
  ND_TRY(nd_run_pack(&s->out, s->items, kept, value_bytes, err));
  *run = nd_buf_str(&s->out);
  return ND_OK;
}
