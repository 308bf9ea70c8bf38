/* Partitions of items, in memory and on disk; see scatter.h. */
#include "candidate/scatter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/io.h"

enum { FIRST_ROOM = 64, LEAST_ROOM = 256, LOCKS = 64, READ_ROOM = 1 << 12 };
static const char file_name[] = "a temporary file for sorting";

typedef struct extent {
  uint64_t first, count; /* items in the file */
} extent;

typedef struct part {
  nd_item *items; /* not yet written */
  size_t n, cap;
  extent *extent;
  size_t extents, extent_cap;
  uint64_t count; /* items, written or not */
} part;

struct nd_scatter {
  part *part;
  unsigned bits;
  size_t most; /* items per buffer */
  char *dir;
  int fd;
  pthread_mutex_t file_lock, lock[LOCKS];
  _Atomic uint64_t written; /* items */
};

nd_status nd_scatter_new(nd_scatter **out, unsigned bits, uint64_t memory, const char *dir,
                         nd_error *err) {
  const size_t parts = (size_t)1 << bits;
  nd_scatter *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->fd = -1;
  s->bits = bits;
  s->most = (size_t)(memory / sizeof(nd_item)) >> bits;
  if (s->most < LEAST_ROOM) s->most = LEAST_ROOM;
  s->part = nd_calloc(parts, sizeof *s->part);
  s->dir = nd_malloc(strlen(dir) + 1);
  pthread_mutex_init(&s->file_lock, NULL);
  for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&s->lock[i], NULL);
  if (!s->part || !s->dir) {
    nd_scatter_free(s);
    return nd_fail_memory(err, parts * sizeof *s->part);
  }
  strcpy(s->dir, dir);
  *out = s;
  return ND_OK;
}

void nd_scatter_free(nd_scatter *s) {
  if (!s) return;
  for (size_t i = 0; s->part && i < (size_t)1 << s->bits; i++) {
    nd_free(s->part[i].items);
    nd_free(s->part[i].extent);
  }
  for (int i = 0; i < LOCKS; i++) pthread_mutex_destroy(&s->lock[i]);
  pthread_mutex_destroy(&s->file_lock);
  if (s->fd >= 0) close(s->fd);
  nd_free(s->part);
  nd_free(s->dir);
  nd_free(s);
}

static nd_status spill(nd_scatter *s, part *p, nd_error *err) {
  pthread_mutex_lock(&s->file_lock);
  nd_status status = s->fd < 0 ? nd_io_open_unnamed(&s->fd, s->dir, err) : ND_OK;
  pthread_mutex_unlock(&s->file_lock);
  ND_TRY(status);
  ND_TRY(nd_array_grow(&p->extent, &p->extent_cap, p->extents + 1, sizeof *p->extent, err));
  const uint64_t at = atomic_fetch_add_explicit(&s->written, p->n, memory_order_relaxed);
  ND_TRY(nd_io_pwrite_full(s->fd, p->items, p->n * sizeof *p->items, at * sizeof *p->items,
                           file_name, err));
  p->extent[p->extents++] = (extent){at, p->n};
  p->n = 0;
  return ND_OK;
}

static nd_status add_to_part(nd_scatter *s, part *p, const nd_item *items, size_t n,
                             nd_error *err) {
  while (n) {
    if (p->n == s->most) ND_TRY(spill(s, p, err));
    size_t piece = s->most - p->n < n ? s->most - p->n : n;
    if (p->n + piece > p->cap) {
      size_t cap = p->cap + p->cap / 2 > p->n + piece ? p->cap + p->cap / 2 : p->n + piece;
      if (cap < FIRST_ROOM) cap = FIRST_ROOM;
      if (cap > s->most) cap = s->most;
      nd_item *grown = nd_realloc(p->items, cap * sizeof *grown);
      if (!grown) return nd_fail_memory(err, cap * sizeof *grown);
      p->items = grown;
      p->cap = cap;
    }
    memcpy(p->items + p->n, items, piece * sizeof *items);
    p->n += piece;
    p->count += piece;
    items += piece;
    n -= piece;
  }
  return ND_OK;
}

nd_status nd_scatter_add(nd_scatter *s, const nd_item *items, size_t n, nd_error *err) {
  const unsigned shift = 64 - s->bits;
  for (size_t i = 0; i < n;) {
    const uint64_t number = items[i].key >> shift;
    size_t end = i + 1;
    while (end < n && items[end].key >> shift == number) end++;
    pthread_mutex_t *lock = &s->lock[number % LOCKS];
    pthread_mutex_lock(lock);
    nd_status status = add_to_part(s, &s->part[number], items + i, end - i, err);
    pthread_mutex_unlock(lock);
    ND_TRY(status);
    i = end;
  }
  return ND_OK;
}

uint64_t nd_scatter_count(const nd_scatter *s, uint32_t number) {
  return s->part[number].count;
}

void nd_gathered_clear(nd_gathered *g) {
  nd_free(g->items);
  nd_free(g->spare);
  *g = (nd_gathered){0};
}

typedef struct wanted {
  unsigned shift;
  uint64_t mask, slice;
} wanted;

static nd_status gather(nd_gathered *out, const nd_item *items, size_t n, const wanted *w,
                        nd_error *err) {
  if (out->n + n > out->cap) {
    const size_t cap = out->n + n > out->cap * 2 ? out->n + n : out->cap * 2;
    nd_item *grown = nd_realloc(out->items, cap * sizeof *grown);
    if (!grown) return nd_fail_memory(err, cap * sizeof *grown);
    out->items = grown;
    out->cap = cap;
    nd_free(out->spare);
    out->spare = NULL;
  }
  for (size_t i = 0; i < n; i++) {
    out->items[out->n] = items[i];
    out->n += (items[i].key >> w->shift & w->mask) == w->slice;
  }
  return ND_OK;
}

/* Reads the items of a part on disk, through a buffer of READ_ROOM items. */
static nd_status gather_written(nd_gathered *out, const nd_scatter *s, const part *p,
                                const wanted *w, nd_item *room, nd_error *err) {
  for (size_t e = 0; e < p->extents; e++) {
    const extent x = p->extent[e];
    for (uint64_t at = 0; at < x.count; at += READ_ROOM) {
      const size_t n = x.count - at < READ_ROOM ? (size_t)(x.count - at) : READ_ROOM;
      ND_TRY(nd_io_pread_full(s->fd, room, n * sizeof *room, (x.first + at) * sizeof *room,
                              file_name, err));
      ND_TRY(gather(out, room, n, w, err));
    }
  }
  return ND_OK;
}

nd_status nd_scatter_take(nd_gathered *out, nd_scatter *s, uint32_t number, uint32_t slice,
                          unsigned slice_bits, nd_error *err) {
  const part *p = &s->part[number];
  const wanted w = {64 - s->bits - slice_bits, (UINT64_C(1) << slice_bits) - 1, slice};
  out->n = 0;
  ND_TRY(gather(out, p->items, p->n, &w, err));
  if (p->extents) {
    nd_item *room = nd_malloc(READ_ROOM * sizeof *room);
    const nd_status status = room ? gather_written(out, s, p, &w, room, err)
                                  : nd_fail_memory(err, READ_ROOM * sizeof *room);
    nd_free(room);
    ND_TRY(status);
  }
  if (!out->spare) out->spare = nd_malloc(out->cap * sizeof *out->spare);
  if (!out->spare) return nd_fail_memory(err, out->cap * sizeof *out->spare);
  nd_radix_group(out->items, out->spare, out->n);
  return ND_OK;
}

void nd_scatter_drop(nd_scatter *s, uint32_t number) {
  part *p = &s->part[number];
  nd_free(p->items);
  nd_free(p->extent);
  *p = (part){0};
}
