/* Joins of more documents than fit in memory; see setjoin.h.
 *
 *   1  Write the distinct features, sorted, or the text of every document to a file.
 *   2  Sort records by size, split them into blocks of which two fit in memory, and write a
 *      second file in that order.
 *   3  Join each block with itself and with later blocks whose sizes allow similar pairs; at a
 *      high threshold these are few.
 *
 * Each pair is found by exactly one of the joins, for any blocks. */
#include <stdatomic.h>
#include <unistd.h>

#include "base/io.h"
#include "find/setjoin_work.h"

enum { AT_ONCE = 1 << 20 }; /* bytes per read and write */
static const char file_name[] = "a temporary file for joining";

typedef struct block {
  uint32_t first, n;    /* records in their order */
  uint32_t least, most; /* sizes */
  uint64_t offset, units;
} block;

typedef struct nd_setjoin_spill {
  int fd, ordered; /* files: as read, and block after block */
  _Atomic uint64_t written;
  uint64_t *offset;   /* per record: in bytes */
  uint32_t *length;   /* per record: in units */
  uint32_t *order;    /* records by side and size */
  uint32_t *document; /* their documents, in that order */
  block *block;
  size_t blocks, block_cap, other; /* blocks from `other` on: the reference collection */
} nd_setjoin_spill;

static nd_status spill_part(nd_setjoin *j, uint64_t first, nd_setjoin_part *p, nd_error *err) {
  nd_setjoin_spill *s = j->spill;
  const size_t unit = nd_setjoin_unit(j);
  const uint64_t at = atomic_fetch_add_explicit(&s->written, p->bytes.n, memory_order_relaxed);
  ND_TRY(nd_io_pwrite_full(s->fd, p->bytes.p, p->bytes.n, at, file_name, err));
  uint64_t begin = 0;
  for (size_t i = 0; i < p->n; begin = p->end[i++]) {
    s->offset[first + i] = at + begin;
    s->length[first + i] = (uint32_t)((p->end[i] - begin) / unit);
  }
  p->bytes.n = 0;
  p->n = 0;
  return ND_OK;
}

/* Sorts records by side, then size, then number. */
static nd_status order_records(nd_setjoin *j, nd_error *err) {
  nd_setjoin_spill *s = j->spill;
  nd_item *items = nd_malloc(j->n * sizeof *items), *spare = nd_malloc(j->n * sizeof *spare);
  nd_status status = items && spare ? ND_OK : nd_fail_memory(err, j->n * 2 * sizeof *items);
  for (uint32_t r = 0; status == ND_OK && r < j->n; r++)
    items[r] = (nd_item){(uint64_t)(j->split && r >= j->split) << 32 | s->length[r], r};
  if (status == ND_OK) nd_radix_items(items, spare, j->n);
  for (uint32_t i = 0; status == ND_OK && i < j->n; i++) {
    s->order[i] = (uint32_t)items[i].value;
    s->document[i] = j->document[items[i].value];
  }
  nd_free(items);
  nd_free(spare);
  return status;
}

static nd_status plan_blocks(nd_setjoin *j, nd_error *err) {
  nd_setjoin_spill *s = j->spill;
  uint64_t cost = 0, offset = 0;
  j->found->join.records = j->n;
  for (uint32_t i = 0; i < j->n; i++) {
    const uint32_t length = s->length[s->order[i]];
    const uint64_t more = nd_setjoin_cost(j, length);
    const bool other = j->split && i == j->split;
    if (s->blocks == 0 || other || cost + more > nd_budget(j->memory, ND_SHARE_JOIN)) {
      ND_TRY(nd_array_grow(&s->block, &s->block_cap, s->blocks + 1, sizeof *s->block, err));
      s->block[s->blocks++] = (block){.first = i, .least = length, .offset = offset};
      cost = 0;
    }
    if (other) s->other = s->blocks - 1;
    block *b = &s->block[s->blocks - 1];
    b->n++;
    b->most = length;
    b->units += length;
    offset += length * nd_setjoin_unit(j);
    j->found->join.tokens += length;
    cost += more;
  }
  return ND_OK;
}

/* Writes the second file, through a buffer. */
static nd_status write_ordered(nd_setjoin *j, nd_buf *room, nd_error *err) {
  nd_setjoin_spill *s = j->spill;
  const size_t unit = nd_setjoin_unit(j);
  uint64_t at = 0;
  for (uint32_t i = 0; i < j->n; i++) {
    const uint32_t r = s->order[i];
    const size_t bytes = (size_t)s->length[r] * unit;
    ND_TRY(nd_buf_reserve(room, bytes, err));
    ND_TRY(nd_io_pread_full(s->fd, room->p + room->n, bytes, s->offset[r], file_name, err));
    room->n += bytes;
    if (room->n < AT_ONCE && i + 1 < j->n) continue;
    ND_TRY(nd_io_pwrite_full(s->ordered, room->p, room->n, at, file_name, err));
    at += room->n;
    room->n = 0;
    ND_TRY(nd_hooks_check(j->source->hooks, err));
  }
  return ND_OK;
}

static nd_status load_block(nd_setjoin_batch *out, nd_setjoin *j, const block *b, nd_error *err) {
  const nd_setjoin_spill *s = j->spill;
  const size_t bytes = b->units * nd_setjoin_unit(j);
  ND_TRY(nd_buf_reserve(&out->bytes, bytes, err));
  ND_TRY(
      nd_io_pread_full(s->ordered, out->bytes.p + out->bytes.n, bytes, b->offset, file_name, err));
  out->bytes.n += bytes;
  for (uint32_t i = 0; i < b->n; i++, out->n++)
    out->begin[out->n + 1] = out->begin[out->n] + s->length[s->order[b->first + i]];
  return ND_OK;
}

/* Joins two blocks, or one with itself. */
static nd_status join_blocks(nd_setjoin *j, const block *x, const block *y, nd_error *err) {
  nd_setjoin_spill *s = j->spill;
  const uint32_t n = x == y ? x->n : x->n + y->n;
  ND_TRY(nd_hooks_check(j->source->hooks, err));
  nd_setjoin_batch b = {0};
  uint32_t *document = nd_malloc(n * sizeof *document);
  b.begin = nd_malloc(((size_t)n + 1) * sizeof *b.begin);
  nd_status status = b.begin && document ? ND_OK : nd_fail_memory(err, (uint64_t)n * 12);
  if (status == ND_OK) {
    b.begin[0] = 0;
    b.document = document;
    memcpy(document, s->document + x->first, x->n * sizeof *document);
    status = load_block(&b, j, x, err);
  }
  if (status == ND_OK && x != y) {
    memcpy(document + x->n, s->document + y->first, y->n * sizeof *document);
    b.split = x->n;
    status = load_block(&b, j, y, err);
  }
  if (status == ND_OK) status = nd_setjoin_run(j, &b, err);
  nd_buf_clear(&b.bytes);
  nd_free(b.begin);
  nd_free(document);
  return status;
}

/* Tests whether the sizes of two blocks allow similar records. */
static bool close_enough(const nd_setjoin *j, const nd_set_bounds *bounds, const block *x,
                         const block *y) {
  const block *small = x->least <= y->least ? x : y, *large = small == x ? y : x;
  if (small->most >= large->least) return true;
  /* A code point has at most four bytes. */
  if (j->texts)
    return large->least - small->most <= 4 * (uint64_t)j->source->settings->threshold.num;
  return small->most >= nd_set_min_size(bounds, large->least);
}

static nd_status join_all(nd_setjoin *j, nd_error *err) {
  const nd_setjoin_spill *s = j->spill;
  const nd_settings *set = j->source->settings;
  nd_set_bounds bounds = {0};
  if (!j->texts)
    ND_TRY(
        nd_set_bounds_init(&bounds, set->similarity, set->threshold.num, set->threshold.den, err));
  const size_t end = j->split ? s->other : s->blocks;
  for (size_t x = 0; x < end; x++) {
    for (size_t y = j->split ? s->other : x; y < s->blocks; y++)
      if (close_enough(j, &bounds, &s->block[x], &s->block[y]))
        ND_TRY(join_blocks(j, &s->block[x], &s->block[y], err));
  }
  return ND_OK;
}

static nd_status run(nd_setjoin *j, nd_error *err) {
  nd_setjoin_spill *s = j->spill;
  const uint64_t n = j->n;
  s->offset = nd_malloc(n * sizeof *s->offset);
  s->length = nd_malloc(n * sizeof *s->length);
  s->order = nd_malloc(n * sizeof *s->order);
  s->document = nd_malloc(n * sizeof *s->document);
  if (!s->offset || !s->length || !s->order || !s->document) return nd_fail_memory(err, n * 20);
  ND_TRY(nd_io_open_unnamed(&s->fd, j->tmp, err));
  ND_TRY(nd_setjoin_read(j, spill_part, AT_ONCE, err));
  ND_TRY(order_records(j, err));
  ND_TRY(plan_blocks(j, err));
  ND_TRY(nd_io_open_unnamed(&s->ordered, j->tmp, err));
  nd_buf room = {0};
  nd_status status = write_ordered(j, &room, err);
  nd_buf_clear(&room);
  ND_TRY(status);
  nd_free(s->offset);
  s->offset = NULL;
  close(s->fd);
  s->fd = -1;
  return join_all(j, err);
}

nd_status nd_setjoin_blocks(nd_setjoin *j, nd_error *err) {
  nd_setjoin_spill s = {.fd = -1, .ordered = -1};
  j->spill = &s;
  nd_status status = run(j, err);
  j->spill = NULL;
  if (s.fd >= 0) close(s.fd);
  if (s.ordered >= 0) close(s.ordered);
  nd_free(s.offset);
  nd_free(s.length);
  nd_free(s.order);
  nd_free(s.document);
  nd_free(s.block);
  return status;
}
