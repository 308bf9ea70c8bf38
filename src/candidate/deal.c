/* Partitions of records on disk; see deal.h. */
#include "candidate/deal.h"

#include <unistd.h>

#include "base/io.h"

enum { LEAST_BYTES = 1 << 12, MOST_BYTES = 1 << 18, MOST_BITS = 12 };
static const char file_name[] = "a temporary file for sketches";

typedef struct part {
  uint64_t *buffer;
  size_t n;         /* records in the part */
  uint64_t *extent; /* offsets in the file, in records; all extents except the last are full */
  size_t extents, extent_cap;
  uint64_t count;
} part;

struct nd_deal {
  part *part;
  uint32_t parts, words;
  size_t room; /* records per buffer and extent */
  int fd;
  uint64_t written; /* records written */
};

nd_status nd_deal_new(nd_deal **out, uint32_t parts, uint32_t words, uint64_t memory,
                      const char *dir, nd_error *err) {
  nd_deal *d = nd_calloc(1, sizeof *d);
  if (!d) return nd_fail_memory(err, sizeof *d);
  *d = (nd_deal){.parts = parts, .words = words, .fd = -1};
  uint64_t bytes = memory / parts;
  if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
  if (bytes > MOST_BYTES) bytes = MOST_BYTES;
  d->room = (size_t)bytes / (words * sizeof(uint64_t)) + 1;
  d->part = nd_calloc(parts, sizeof *d->part);
  nd_status status =
      d->part ? nd_io_open_unnamed(&d->fd, dir, err) : nd_fail_memory(err, parts * sizeof *d->part);
  if (status != ND_OK) {
    nd_deal_free(d);
    return status;
  }
  *out = d;
  return ND_OK;
}

void nd_deal_free(nd_deal *d) {
  if (!d) return;
  if (d->fd >= 0) close(d->fd);
  for (uint32_t i = 0; d->part && i < d->parts; i++) {
    nd_free(d->part[i].buffer);
    nd_free(d->part[i].extent);
  }
  nd_free(d->part);
  nd_free(d);
}

static nd_status write_out(nd_deal *d, part *p, nd_error *err) {
  size_t bytes = d->words * sizeof(uint64_t);
  ND_TRY(nd_array_grow(&p->extent, &p->extent_cap, p->extents + 1, sizeof *p->extent, err));
  ND_TRY(nd_io_pwrite_full(d->fd, p->buffer, p->n * bytes, d->written * bytes, file_name, err));
  p->extent[p->extents++] = d->written;
  d->written += p->n;
  p->n = 0;
  return ND_OK;
}

nd_status nd_deal_add(nd_deal *d, uint32_t number, const uint64_t *record, nd_error *err) {
  part *p = &d->part[number];
  if (!p->buffer) {
    p->buffer = nd_malloc(d->room * d->words * sizeof *p->buffer);
    if (!p->buffer) return nd_fail_memory(err, d->room * d->words * sizeof *p->buffer);
  }
  memcpy(p->buffer + p->n * d->words, record, d->words * sizeof *record);
  p->count++;
  return ++p->n == d->room ? write_out(d, p, err) : ND_OK;
}

nd_status nd_deal_finish(nd_deal *d, nd_error *err) {
  for (uint32_t i = 0; i < d->parts; i++) {
    part *p = &d->part[i];
    if (p->n) ND_TRY(write_out(d, p, err));
    nd_free(p->buffer);
    p->buffer = NULL;
  }
  return ND_OK;
}

uint64_t nd_deal_count(const nd_deal *d, uint32_t number) {
  return d->part[number].count;
}

nd_status nd_deal_read(uint64_t *out, const nd_deal *d, uint32_t number, uint64_t first, size_t n,
                       nd_error *err) {
  const part *p = &d->part[number];
  size_t bytes = d->words * sizeof(uint64_t);
  while (n) {
    uint64_t within = first % d->room;
    size_t take = d->room - within < n ? (size_t)(d->room - within) : n;
    uint64_t at = p->extent[first / d->room] + within;
    ND_TRY(nd_io_pread_full(d->fd, out, take * bytes, at * bytes, file_name, err));
    out += take * d->words;
    first += take;
    n -= take;
  }
  return ND_OK;
}

unsigned nd_deal_bits(uint64_t bytes, uint64_t memory) {
  unsigned bits = 1;
  while (bits < MOST_BITS && bytes >> bits > memory / 2) bits++;
  return bits;
}
