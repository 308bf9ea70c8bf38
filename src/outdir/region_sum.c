/* The checksum of a file written in regions; see region_sum.h. */
#include "outdir/region_sum.h"

#include <pthread.h>

#include "base/io.h"

enum { BLOCK = 1 << 18 };

typedef struct region {
  uint64_t at, size;
  bool written;
} region;

struct nd_region_sum {
  pthread_mutex_t lock;
  nd_sum sum;
  size_t next; /* the first region that is not yet in the sum */
  bool busy;   /* a thread is adding to the sum */
  size_t n;
  region region[];
};

nd_status nd_region_sum_new(nd_region_sum **out, size_t n, nd_error *err) {
  const size_t bytes = sizeof **out + n * sizeof(region);
  nd_region_sum *s = nd_malloc(bytes);
  if (!s) return nd_fail_memory(err, bytes);
  pthread_mutex_init(&s->lock, NULL);
  nd_sum_begin(&s->sum);
  s->next = 0;
  s->busy = false;
  s->n = n;
  for (size_t i = 0; i < n; i++) s->region[i] = (region){0};
  *out = s;
  return ND_OK;
}

void nd_region_sum_free(nd_region_sum *s) {
  if (!s) return;
  pthread_mutex_destroy(&s->lock);
  nd_free(s);
}

void nd_region_sum_place(nd_region_sum *s, size_t i, uint64_t at, uint64_t size) {
  s->region[i] = (region){.at = at, .size = size};
}

nd_sum *nd_region_sum_take(nd_region_sum *s, size_t i) {
  pthread_mutex_lock(&s->lock);
  const bool taken = !s->busy && s->next == i;
  s->busy |= taken;
  pthread_mutex_unlock(&s->lock);
  return taken ? &s->sum : NULL;
}

static nd_status add_written(nd_region_sum *s, const region *r, int fd, const char *path,
                             nd_error *err) {
  char *block = nd_malloc(BLOCK);
  if (!block) return nd_fail_memory(err, BLOCK);
  nd_status status = ND_OK;
  for (uint64_t done = 0; done < r->size && status == ND_OK;) {
    const size_t n = r->size - done < BLOCK ? (size_t)(r->size - done) : BLOCK;
    status = nd_io_pread_full(fd, block, n, r->at + done, path, err);
    if (status == ND_OK) nd_sum_add(&s->sum, block, n);
    done += n;
  }
  nd_free(block);
  return status;
}

nd_status nd_region_sum_written(nd_region_sum *s, size_t i, const nd_sum *added, int fd,
                                const char *path, nd_error *err) {
  bool ours = added != NULL;
  nd_status status = ND_OK;
  pthread_mutex_lock(&s->lock);
  s->region[i].written = true;
  if (ours) s->next = i + 1;
  while (status == ND_OK && (ours || !s->busy) && s->next < s->n && s->region[s->next].written) {
    s->busy = ours = true;
    const region *r = &s->region[s->next];
    pthread_mutex_unlock(&s->lock);
    status = add_written(s, r, fd, path, err);
    pthread_mutex_lock(&s->lock);
    s->next++;
  }
  if (ours) s->busy = false;
  pthread_mutex_unlock(&s->lock);
  return status;
}

uint64_t nd_region_sum_value(const nd_region_sum *s) {
  return nd_sum_value(&s->sum);
}
