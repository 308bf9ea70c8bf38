/* The join where few pairs are compared: tokens with a chain of records each, in one pass.
 *
 * A record walks the chain of each token of its prefix, newest and so largest record
 * first, until records are too small, and then joins the chain itself.  What it meets
 * is filtered by the sketches of the whole records, some hundred at a time, so that
 * the memory they lie in is asked for early.  Threads and rounds have a range of the
 * tokens each, and pass over the prefixes of all records.  See block_join.h. */
#include "base/threads.h"
#include "join/block_join.h"

enum { ONE_PART = 1000000 }; /* postings */

/* Links are numbered from 1; 0 ends a chain. */
typedef struct link {
  uint32_t record;
  uint32_t before; /* the token before this one in the record; UINT32_MAX: none is stored */
  uint32_t next;
  uint32_t position;
} link;

/* The newest link of a token, and its record, so that one that is too small is not
 * looked up in vain. */
typedef struct head_of {
  uint32_t link, record;
} head_of;

typedef struct chains {
  nd_block_join *block;
  uint32_t *part; /* the first token of each part, and the end */
  uint32_t parts;
  head_of *head;     /* per token (and side) */
  uint64_t *entries; /* per part */
} chains;

/* The limit of join_work.h from a size. */
ND_INLINE int64_t share(int64_t slope, uint32_t size) {
  return (int64_t)(((__int128)slope * size) >> 24) + 1;
}

/* Drops candidates, from the first new one on, whose sketches differ too much. */
ND_INLINE size_t filter(nd_block_worker *w, size_t first, unsigned words) {
  const nd_join_task *t = w->block->task;
  const nd_sets *s = t->sets;
  const int64_t base = t->bounds.base >> 24;
  const size_t n = w->candidates;
  size_t kept = first;
  for (size_t k = first; k < n; k++) {
    __builtin_prefetch(&s->sketch[(size_t)w->candidate[k].y * words]);
    __builtin_prefetch(&s->size[w->candidate[k].y]);
  }
  for (size_t k = first; k < n; k++) {
    const nd_candidate c = w->candidate[k];
    const uint64_t *a = &s->sketch[(size_t)c.x * words], *b = &s->sketch[(size_t)c.y * words];
    int64_t bits = 0;
    for (unsigned i = 0; i < words; i++) bits += __builtin_popcountll(a[i] ^ b[i]);
    const int64_t allowed =
        share(t->bounds.slope_x, s->size[c.x]) + share(t->bounds.slope_y, s->size[c.y]) - base;
    w->candidate[kept] = c;
    kept += bits * 256 <= allowed;
  }
  w->candidates = kept;
  w->join->after_positional += kept - first;
  return kept;
}

typedef struct growing {
  link *link;
  size_t n, cap;
} growing;

ND_INLINE nd_status walk_body(chains *c, nd_block_worker *w, growing *g, uint32_t part,
                              unsigned words, nd_error *err) {
  const nd_join_task *t = c->block->task;
  const nd_sets *s = t->sets;
  const uint32_t from = c->part[part], to = c->part[part + 1];
  const unsigned sides = t->options.split ? 2 : 1;
  head_of *restrict head = c->head;
  uint64_t met = 0;
  size_t filtered = 0; /* candidates whose sketches were compared */
  uint32_t k = 0;
  for (uint32_t x = 0; x < s->n; x++) {
    while (t->class_[k + 1].first <= x) k++;
    const nd_join_class *class_ = &t->class_[k];
    const uint32_t *token = s->token + s->begin[x];
    const uint32_t prefix = nd_block_prefix(s, x, class_->probe);
    if (prefix == 0 || token[0] >= to || token[prefix - 1] < from) continue;
    const uint32_t indexed = nd_block_prefix(s, x, class_->index), lowest = class_->lowest;
    const uint32_t alone = class_->size - (uint32_t)(s->begin[x + 1] - s->begin[x]);
    const unsigned side = nd_join_side(t, x), other = sides == 2 ? !side : 0;
    if (g->n + indexed > g->cap) {
      ND_TRY(nd_array_grow(&g->link, &g->cap, g->n + indexed, sizeof *g->link, err));
    }
    link *restrict chain = g->link;
    if (!chain) continue; /* nothing is indexed yet, nor of this record */
    for (uint32_t i = 0; i < prefix && token[i] < to; i++) {
      if (token[i] < from) continue;
      const size_t at = (size_t)token[i] * sides;
      const head_of newest = head[at + other];
      const uint32_t before = i ? token[i - 1] : UINT32_MAX;
      if (newest.record >= lowest && newest.link) {
        for (uint32_t l = newest.link; l && chain[l - 1].record >= lowest; l = chain[l - 1].next) {
          met++;
          w->candidate[w->candidates] =
              (nd_candidate){x, chain[l - 1].record, alone + i, chain[l - 1].position};
          /* The same token before: not their first common one. */
          w->candidates += before != chain[l - 1].before || before == UINT32_MAX;
          if (w->candidates < ND_BLOCK_CANDIDATES) continue;
          filtered = filter(w, filtered, words);
          if (filtered < ND_BLOCK_CANDIDATES / 2) continue;
          ND_TRY(nd_block_verify(w, err));
          filtered = 0;
        }
      }
      if (i < indexed) {
        chain[g->n] = (link){x, before, head[at + side].link, alone + i};
        head[at + side] = (head_of){(uint32_t)++g->n, x};
      }
    }
  }
  filter(w, filtered, words);
  w->join->after_size += met;
  return nd_block_verify(w, err);
}

#define WALK(name, target, words)                                                        \
  target static nd_status name(chains *c, nd_block_worker *w, growing *g, uint32_t part, \
                               nd_error *err) {                                          \
    return walk_body(c, w, g, part, words, err);                                         \
  }
WALK(walk_1, , 1)
WALK(walk_2, , 2)
WALK(walk_4, , 4)
#if ND_X86
WALK(walk_popcnt_1, ND_TARGET_SSE41, 1)
WALK(walk_popcnt_2, ND_TARGET_SSE41, 2)
WALK(walk_popcnt_4, ND_TARGET_SSE41, 4)
#endif

static nd_status walk_part(void *context, unsigned member, uint64_t job, nd_error *err) {
  chains *c = context;
  nd_block_worker *w = &c->block->worker[member];
  const unsigned words = c->block->words;
  growing g = {0};
  nd_status status;
#if ND_X86
  if (c->block->popcount) {
    status = words == 1   ? walk_popcnt_1(c, w, &g, (uint32_t)job, err)
             : words == 2 ? walk_popcnt_2(c, w, &g, (uint32_t)job, err)
                          : walk_popcnt_4(c, w, &g, (uint32_t)job, err);
  } else
#endif
  {
    status = words == 1   ? walk_1(c, w, &g, (uint32_t)job, err)
             : words == 2 ? walk_2(c, w, &g, (uint32_t)job, err)
                          : walk_4(c, w, &g, (uint32_t)job, err);
  }
  c->entries[job] = g.n;
  nd_free(g.link);
  return status;
}

/* Parts with about the same number of postings. */
static nd_status plan_parts(chains *c, nd_error *err) {
  const nd_block_join *b = c->block;
  const unsigned threads = b->task->threads;
  /* The chains of as many parts as there are threads are in memory at once, while they
   * grow twice. */
  const double rounds = b->postings * sizeof(link) * 2 / ((double)b->task->memory + 1) + 1;
  c->parts = rounds * threads < 65536 ? (uint32_t)rounds * threads : 65536;
  /* Every part passes over all prefixes: not worth it for what takes some milliseconds. */
  if (b->postings < ONE_PART && rounds < 2) c->parts = 1;
  c->part = nd_malloc(((size_t)c->parts + 1) * sizeof *c->part);
  c->entries = nd_calloc(c->parts, sizeof *c->entries);
  if (!c->part || !c->entries) return nd_fail_memory(err, c->parts * sizeof *c->entries);
  double seen = 0;
  uint32_t part = 0;
  c->part[0] = 0;
  for (uint32_t cell = 0; cell < b->cells; cell++) {
    while (part + 1 < c->parts && seen * c->parts >= b->postings * (part + 1)) {
      c->part[++part] = nd_block_cell_first(b, cell);
    }
    seen += (double)b->sampled[cell] * b->stride;
  }
  while (part < c->parts) c->part[++part] = b->task->sets->distinct;
  return ND_OK;
}

nd_status nd_block_chains(nd_block_join *b, nd_error *err) {
  nd_status status = ND_OK;
  const uint32_t distinct = b->task->sets->distinct;
  const size_t sides = b->task->options.split ? 2 : 1;
  chains c = {.block = b};
  c.head = nd_calloc(distinct * sides, sizeof *c.head);
  if (!c.head) return nd_fail_memory(err, distinct * sides * sizeof *c.head);
  ND_TRY_GOTO(plan_parts(&c, err), out);
  ND_TRY_GOTO(nd_threads_run(b->task->threads, c.parts, walk_part, &c, err), out);
  for (uint32_t part = 0; part < c.parts; part++) b->task->index_entries += c.entries[part];
  b->task->blocks += (c.parts + b->task->threads - 1) / b->task->threads;
out:
  nd_free(c.head);
  nd_free(c.part);
  nd_free(c.entries);
  return status;
}
