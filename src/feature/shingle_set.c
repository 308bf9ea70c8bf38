/* Sorted keys in memory or on disk; see shingle_set.h. */
#include "feature/shingle_set.h"

#include <unistd.h>

#include "base/io.h"

enum { PAGE = 512, PROBE_PAGES = 64, MOST_INDEX_BITS = 24 };
/* Most keys in memory: positions in the index have 32 bits. */
static const uint64_t most_memory = UINT32_MAX * sizeof(uint64_t);

struct nd_shingle_set {
  uint64_t memory;
  char *dir;
  uint64_t *key; /* all keys or, with a file, those of the page being filled */
  size_t n, cap; /* of `key` */
  uint64_t size; /* total number of keys */
  uint32_t *index;
  unsigned shift;
  int fd;          /* < 0: no file */
  uint64_t *fence; /* per page: its first key */
  size_t fence_n, fence_cap;
};

static const char file_name[] = "the temporary file of common shingles";

nd_status nd_shingle_set_new(nd_shingle_set **out, uint64_t memory, const char *dir,
                             nd_error *err) {
  nd_shingle_set *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->fd = -1;
  s->memory = memory < most_memory ? memory : most_memory;
  size_t n = strlen(dir) + 1;
  s->dir = nd_malloc(n);
  if (!s->dir) {
    nd_free(s);
    return nd_fail_memory(err, n);
  }
  memcpy(s->dir, dir, n);
  *out = s;
  return ND_OK;
}

void nd_shingle_set_free(nd_shingle_set *s) {
  if (!s) return;
  if (s->fd >= 0) close(s->fd);
  nd_free(s->dir);
  nd_free(s->key);
  nd_free(s->index);
  nd_free(s->fence);
  nd_free(s);
}

uint64_t nd_shingle_set_size(const nd_shingle_set *s) {
  return s->size;
}

/* Writes the pages in `key` to the file. */
static nd_status write_pages(nd_shingle_set *s, nd_error *err) {
  for (size_t i = 0; i < s->n; i += PAGE) {
    ND_TRY(nd_array_grow(&s->fence, &s->fence_cap, s->fence_n + 1, sizeof *s->fence, err));
    s->fence[s->fence_n++] = s->key[i];
  }
  ND_TRY(nd_io_write_full(s->fd, s->key, s->n * sizeof *s->key, file_name, err));
  s->n = 0;
  return ND_OK;
}

nd_status nd_shingle_set_add(nd_shingle_set *s, uint64_t key, nd_error *err) {
  bool full = s->n && s->n % PAGE == 0 && (s->n + PAGE) * sizeof key > s->memory;
  if (full) {
    if (s->fd < 0) ND_TRY(nd_io_open_unnamed(&s->fd, s->dir, err));
    ND_TRY(write_pages(s, err));
  }
  ND_TRY(nd_array_grow(&s->key, &s->cap, s->n + 1, sizeof key, err));
  s->key[s->n++] = key;
  s->size++;
  return ND_OK;
}

static nd_status make_index(nd_shingle_set *s, nd_error *err) {
  unsigned bits = 1;
  /* untaken: more than 2^26 keys */
  while (bits < MOST_INDEX_BITS && (UINT64_C(4) << bits) < s->n) bits++;
  size_t places = ((size_t)1 << bits) + 1;
  s->shift = 64 - bits;
  s->index = nd_malloc(places * sizeof *s->index);
  if (!s->index) return nd_fail_memory(err, places * sizeof *s->index);
  size_t at = 0;
  for (size_t i = 0; i < places; i++) {
    while (at < s->n && s->key[at] >> s->shift < i) at++;
    s->index[i] = (uint32_t)at;
  }
  return ND_OK;
}

nd_status nd_shingle_set_finish(nd_shingle_set *s, nd_error *err) {
  if (s->fd < 0) return make_index(s, err);
  ND_TRY(write_pages(s, err));
  nd_free(s->key);
  s->key = NULL;
  s->cap = 0;
  return ND_OK;
}

void nd_shingle_probe_clear(nd_shingle_probe *p) {
  nd_free(p->page);
  nd_free(p->number);
  *p = (nd_shingle_probe){0};
}

/* Tests whether the key is among n ascending ones. */
static bool among(const uint64_t *key, size_t n, uint64_t wanted) {
  while (n > 8) {
    size_t half = n / 2;
    if (key[half] <= wanted) {
      key += half;
      n -= half;
    } else {
      n = half;
    }
  }
  for (size_t i = 0; i < n; i++)
    if (key[i] == wanted) return true;
  return false;
}

static nd_status load_page(const uint64_t **out, const nd_shingle_set *s, nd_shingle_probe *p,
                           uint64_t page, size_t n, nd_error *err) {
  if (!p->page) {
    p->page = nd_malloc(PROBE_PAGES * PAGE * sizeof *p->page);
    if (!p->page) return nd_fail_memory(err, PROBE_PAGES * PAGE * sizeof *p->page);
  }
  if (!p->number) {
    p->number = nd_malloc(PROBE_PAGES * sizeof *p->number);
    if (!p->number) return nd_fail_memory(err, PROBE_PAGES * sizeof *p->number);
    for (size_t i = 0; i < PROBE_PAGES; i++) p->number[i] = UINT64_MAX;
  }
  size_t k = page % PROBE_PAGES;
  uint64_t *to = p->page + k * PAGE;
  *out = to;
  if (p->number[k] == page) return ND_OK;
  p->number[k] = UINT64_MAX;
  ND_TRY(nd_io_pread_full(s->fd, to, n * sizeof *to, page * PAGE * sizeof *to, file_name, err));
  p->number[k] = page;
  return ND_OK;
}

nd_status nd_shingle_set_has(bool *out, const nd_shingle_set *s, nd_shingle_probe *p, uint64_t key,
                             nd_error *err) {
  *out = false;
  if (s->fd < 0) {
    const uint32_t *place = s->index + (key >> s->shift);
    *out = place[0] < place[1] && among(s->key + place[0], place[1] - place[0], key);
    return ND_OK;
  }
  if (key < s->fence[0]) return ND_OK;
  size_t low = 0, high = s->fence_n; /* find the last page whose first key is at most `key` */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (s->fence[middle] <= key)
      low = middle;
    else
      high = middle;
  }
  const uint64_t *page;
  size_t n = low + 1 < s->fence_n ? PAGE : (size_t)(s->size - (uint64_t)low * PAGE);
  ND_TRY(load_page(&page, s, p, low, n, err));
  *out = among(page, n, key);
  return ND_OK;
}
