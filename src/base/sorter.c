/* External sort; see sorter.h for the algorithm in prose. */
#include "base/sorter.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"

enum { BATCH = 1 << 12, USUAL_ROOM = 1 << 12, LEAST_ROOM = 8, WINDOW_MIN = 1 << 10 };

typedef struct run {
  uint64_t offset; /* next item to read, counted in items */
  uint64_t left;
  uint64_t first, count; /* the entire run, for rewind */
  nd_item *window;
  size_t at, filled;
} run;

struct nd_sorter {
  pthread_mutex_t lock;
  nd_item *items;   /* the buffer being filled, or the only run */
  nd_item *scratch; /* same size, while sorting */
  size_t n, cap, most;
  char *dir;
  int fd;
  uint64_t written; /* items in the file */
  run *runs;
  size_t run_count, run_cap;
  uint32_t *heap; /* run numbers, by (key, run number) */
  size_t heap_n;
  nd_item *windows;
  size_t window;
  size_t at; /* read position in memory */
  bool unique, by_value, sum;
};

nd_status nd_sorter_new(nd_sorter **out, uint64_t memory, const char *dir, bool unique,
                        nd_error *err) {
  nd_sorter *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->fd = -1;
  s->unique = unique;
  s->most = memory ? (size_t)(memory / (2 * sizeof(nd_item))) : USUAL_ROOM;
  if (s->most < LEAST_ROOM) s->most = LEAST_ROOM;
  s->dir = nd_malloc(strlen(dir) + 1);
  if (!s->dir) {
    nd_free(s);
    return nd_fail_memory(err, strlen(dir) + 1);
  }
  strcpy(s->dir, dir);
  pthread_mutex_init(&s->lock, NULL);
  *out = s;
  return ND_OK;
}

void nd_sorter_free(nd_sorter *s) {
  if (!s) return;
  if (s->fd >= 0) close(s->fd);
  pthread_mutex_destroy(&s->lock);
  nd_free(s->items);
  nd_free(s->scratch);
  nd_free(s->dir);
  nd_free(s->runs);
  nd_free(s->heap);
  nd_free(s->windows);
  nd_free(s);
}

void nd_sorter_by_value(nd_sorter *s) {
  s->by_value = true;
}
void nd_sorter_sum(nd_sorter *s) {
  s->sum = true;
}

/* Returns the value of two merged items with equal keys. */
static uint64_t united(const nd_sorter *s, uint64_t x, uint64_t y) {
  if (s->sum) return x + y;
  return x < y ? x : y;
}

static void swap_words(nd_item *items, size_t n) {
  for (size_t i = 0; i < n; i++) items[i] = (nd_item){items[i].value, items[i].key};
}

/* Sorts the buffer; a unique sorter also merges equal keys. */
static nd_status sort_buffer(nd_sorter *s, nd_error *err) {
  if (s->n == 0) return ND_OK;
  s->scratch = nd_malloc(s->n * sizeof *s->scratch);
  if (!s->scratch) return nd_fail_memory(err, s->n * sizeof *s->scratch);
  if (s->by_value) { /* stable: first by value, then by key */
    swap_words(s->items, s->n);
    nd_radix_items(s->items, s->scratch, s->n);
    swap_words(s->items, s->n);
  }
  nd_radix_items(s->items, s->scratch, s->n);
  nd_free(s->scratch);
  s->scratch = NULL;
  if (!s->unique) return ND_OK;
  size_t kept = 1;
  for (size_t i = 1; i < s->n; i++) {
    nd_item *last = &s->items[kept - 1];
    if (s->items[i].key != last->key)
      s->items[kept++] = s->items[i];
    else
      last->value = united(s, last->value, s->items[i].value);
  }
  s->n = kept;
  return ND_OK;
}

/* Appends the sorted buffer to the file as a run. */
static nd_status write_run(nd_sorter *s, nd_error *err) {
  ND_TRY(nd_array_grow(&s->runs, &s->run_cap, s->run_count + 1, sizeof *s->runs, err));
  ND_TRY(nd_io_pwrite_full(s->fd, s->items, s->n * sizeof *s->items, s->written * sizeof *s->items,
                           "a temporary file for sorting", err));
  s->runs[s->run_count++] = (run){.first = s->written, .count = s->n};
  s->written += s->n;
  s->n = 0;
  return ND_OK;
}

static nd_status spill(nd_sorter *s, nd_error *err) {
  ND_TRY(sort_buffer(s, err));
  /* If merging equal keys left half the buffer free, keep filling it. */
  if (s->unique && s->n < s->most / 2) return ND_OK;
  if (s->fd < 0) ND_TRY(nd_io_open_unnamed(&s->fd, s->dir, err));
  return write_run(s, err);
}

static nd_status add_locked(nd_sorter *s, const nd_item *items, size_t n, nd_error *err) {
  while (n) {
    if (s->n == s->most) ND_TRY(spill(s, err));
    size_t part = s->most - s->n < n ? s->most - s->n : n;
    if (s->n + part > s->cap) {
      size_t cap = s->cap * 2 > s->n + part ? s->cap * 2 : s->n + part;
      if (cap > s->most) cap = s->most;
      nd_item *grown = nd_realloc(s->items, cap * sizeof *grown);
      if (!grown) return nd_fail_memory(err, cap * sizeof *grown);
      s->items = grown;
      s->cap = cap;
    }
    memcpy(s->items + s->n, items, part * sizeof *items);
    s->n += part;
    items += part;
    n -= part;
  }
  return ND_OK;
}

nd_status nd_sorter_add(nd_sorter *s, const nd_item *items, size_t n, nd_error *err) {
  pthread_mutex_lock(&s->lock);
  nd_status status = add_locked(s, items, n, err);
  pthread_mutex_unlock(&s->lock);
  return status;
}

static nd_status refill(nd_sorter *s, run *r, nd_error *err) {
  size_t n = r->left < s->window ? (size_t)r->left : s->window;
  r->at = 0;
  r->filled = n;
  if (n == 0) return ND_OK;
  ND_TRY(nd_io_pread_full(s->fd, r->window, n * sizeof *r->window, r->offset * sizeof *r->window,
                          "a temporary file for sorting", err));
  r->offset += n;
  r->left -= n;
  return ND_OK;
}

static bool before(const nd_sorter *s, uint32_t x, uint32_t y) {
  const run *a = &s->runs[x], *b = &s->runs[y];
  const nd_item *p = &a->window[a->at], *q = &b->window[b->at];
  if (p->key != q->key) return p->key < q->key;
  if (s->by_value && p->value != q->value) return p->value < q->value;
  return x < y;
}

static void sift(nd_sorter *s, size_t i) {
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= s->heap_n) return;
    if (child + 1 < s->heap_n && before(s, s->heap[child + 1], s->heap[child])) child++;
    if (!before(s, s->heap[child], s->heap[i])) return;
    uint32_t swap = s->heap[i];
    s->heap[i] = s->heap[child];
    s->heap[child] = swap;
    i = child;
  }
}

nd_status nd_sorter_rewind(nd_sorter *s, nd_error *err) {
  s->at = 0;
  s->heap_n = 0;
  for (size_t i = 0; i < s->run_count; i++) {
    run *r = &s->runs[i];
    r->offset = r->first;
    r->left = r->count;
    r->window = s->windows + i * s->window;
    ND_TRY(refill(s, r, err));
    s->heap[s->heap_n++] = (uint32_t)i; /* no run is empty */
  }
  for (size_t i = s->heap_n; i-- > 0;) sift(s, i);
  return ND_OK;
}

nd_status nd_sorter_finish(nd_sorter *s, nd_error *err) {
  ND_TRY(sort_buffer(s, err));
  if (s->run_count == 0) return ND_OK;
  ND_TRY(write_run(s, err)); /* not empty: a full buffer is spilled only when more items come */
  nd_free(s->items);
  s->items = NULL;
  s->cap = 0;
  const size_t least = s->most / 2 < WINDOW_MIN ? s->most / 2 : WINDOW_MIN;
  s->window = s->most / s->run_count;
  if (s->window > 1 << 16) s->window = 1 << 16;
  if (s->window < least) s->window = least;
  s->windows = nd_malloc(s->run_count * s->window * sizeof *s->windows);
  s->heap = nd_malloc(s->run_count * sizeof *s->heap);
  if (!s->windows || !s->heap)
    return nd_fail_memory(err, s->run_count * s->window * sizeof *s->windows);
  return nd_sorter_rewind(s, err);
}

static uint64_t head_key(const nd_sorter *s) {
  const run *r = &s->runs[s->heap[0]];
  return r->window[r->at].key;
}

/* Removes the smallest item of all runs. */
static nd_status pop(nd_item *out, nd_sorter *s, nd_error *err) {
  run *r = &s->runs[s->heap[0]];
  *out = r->window[r->at++];
  if (r->at == r->filled) {
    ND_TRY(refill(s, r, err));
    if (r->filled == 0) s->heap[0] = s->heap[--s->heap_n];
  }
  sift(s, 0);
  return ND_OK;
}

nd_status nd_sorter_next(size_t *got, nd_item *out, size_t room, nd_sorter *s, nd_error *err) {
  size_t n = 0;
  if (s->run_count == 0) {
    n = s->n - s->at < room ? s->n - s->at : room;
    if (n) memcpy(out, s->items + s->at, n * sizeof *out);
    s->at += n;
    *got = n;
    return ND_OK;
  }
  while (n < room && s->heap_n) {
    nd_item item;
    ND_TRY(pop(&item, s, err));
    while (s->unique && s->heap_n && head_key(s) == item.key) {
      nd_item same;
      ND_TRY(pop(&same, s, err));
      item.value = united(s, item.value, same.value);
    }
    out[n++] = item;
  }
  *got = n;
  return ND_OK;
}

nd_status nd_sorter_each(nd_sorter *s, nd_sorter_take take, void *context, nd_error *err) {
  nd_item *items = nd_malloc(BATCH * sizeof *items);
  if (!items) return nd_fail_memory(err, BATCH * sizeof *items);
  nd_status status = nd_sorter_rewind(s, err);
  for (size_t n = 1; status == ND_OK && n;) {
    status = nd_sorter_next(&n, items, BATCH, s, err);
    if (status == ND_OK && n) status = take(context, items, n, err);
  }
  nd_free(items);
  return status;
}

typedef struct value_count {
  nd_sorter_take_key take;
  void *context;
  nd_item last;
  uint64_t count; /* different values of last.key so far; 0: no item yet */
} value_count;

static nd_status count_some(void *context, nd_item *items, size_t n, nd_error *err) {
  value_count *c = context;
  for (size_t i = 0; i < n; i++) {
    bool same = c->count && items[i].key == c->last.key;
    if (same && items[i].value == c->last.value) continue;
    if (!same && c->count) ND_TRY(c->take(c->context, c->last, c->count, err));
    c->count = same ? c->count + 1 : 1;
    c->last = items[i];
  }
  return ND_OK;
}

nd_status nd_sorter_count_values(nd_sorter *s, nd_sorter_take_key take, void *context,
                                 nd_error *err) {
  value_count c = {.take = take, .context = context};
  ND_TRY(nd_sorter_each(s, count_some, &c, err));
  return c.count ? take(context, c.last, c.count, err) : ND_OK;
}

uint64_t nd_sorter_spilled(const nd_sorter *s) {
  return s->written * sizeof(nd_item);
}
