/* The join where few pairs are compared: tokens with a chain of records each, in one pass.
 *
 * A record x walks the chain of each token of its prefix, newest and so largest record
 * first, until records are too small, and then joins the chain itself.  Each y that it
 * meets gets x's stamp: met again, it is known, so a pair is looked at once, at its first
 * common token.  What is left is filtered by position and by the sketches of the whole
 * records, some hundred pairs at a time, so that the memory they lie in is asked for early.
 * Threads and rounds have a range of the tokens each, and pass over the prefixes of all
 * records.  See block_join.h. */
#include "base/threads.h"
#include "join/block_join.h"

enum { ONE_PART = 1000000 }; /* postings */

/* Links are numbered from 1; 0 ends a chain. */
typedef struct link {
  uint32_t record;
  uint32_t next;
  uint32_t position;
  int32_t limit; /* the record's share in the distance allowed, in 1/256 */
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

/* What a part has of its own. */
typedef struct growing {
  link *link;
  size_t n, cap;
  uint32_t *stamp;                      /* per record y: the last x that met it, and 1 */
  int32_t allowed[ND_BLOCK_CANDIDATES]; /* per candidate that was not filtered yet */
} growing;

/* Drops candidates, from the first new one on, whose sketches are too far apart. */
ND_INLINE size_t filter(nd_block_worker *w, growing *g, size_t first, unsigned words) {
  const uint64_t *sketch = w->block->task->sets->sketch;
  const size_t n = w->candidates;
  size_t kept = first;
  for (size_t k = first; k < n; k++) {
    const nd_candidate c = w->candidate[k];
    const uint64_t *a = &sketch[(size_t)c.x * words], *b = &sketch[(size_t)c.y * words];
    const int64_t allowed = g->allowed[k];
    int64_t bits = 0;
    for (unsigned i = 0; i < words; i++) bits += __builtin_popcountll(a[i] ^ b[i]);
    w->candidate[kept] = c;
    kept += bits * 256 <= allowed;
  }
  w->candidates = kept;
  w->join->after_positional += kept - first;
  return kept;
}

ND_INLINE nd_status walk_body(chains *c, nd_block_worker *w, growing *g, uint32_t part,
                              unsigned words, nd_error *err) {
  const nd_join_task *t = c->block->task;
  const nd_sets *s = t->sets;
  const uint32_t from = c->part[part], to = c->part[part + 1];
  const unsigned sides = t->options.split ? 2 : 1;
  head_of *restrict head = c->head;
  uint32_t *restrict stamp = g->stamp;
  uint64_t meetings = 0;
  nd_candidate *restrict candidate = w->candidate;
  size_t n = 0;        /* candidates; the memory that they are in need not be asked */
  size_t filtered = 0; /* of them: sketches were compared */
  uint32_t k = 0;
  for (uint32_t x = 0; x < s->n; x++) {
    nd_block_ask(s, x);
    while (t->class_[k + 1].first <= x) k++;
    const nd_join_class *class_ = &t->class_[k];
    const uint32_t *token = s->token + s->begin[x];
    const uint32_t prefix = nd_block_prefix(s, x, class_->probe);
    if (prefix == 0 || token[0] >= to || token[prefix - 1] < from) continue;
    const uint32_t indexed = nd_block_prefix(s, x, class_->index), lowest = class_->lowest;
    const uint32_t alone = class_->size - (uint32_t)(s->begin[x + 1] - s->begin[x]);
    const int32_t limit = nd_block_limit(class_->limit_x),
                  limit_y = nd_block_limit(class_->limit_y);
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
      if (newest.record >= lowest && newest.link) {
        for (uint32_t l = newest.link; l && chain[l - 1].record >= lowest; l = chain[l - 1].next) {
          const link met = chain[l - 1];
          meetings++;
          const int32_t allowed = limit + met.limit;
          const size_t fits = ((int64_t)alone + i + met.position) * 256 <= allowed;
          const size_t fresh = fits & (stamp[met.record] != x + 1);
          __builtin_prefetch(&s->sketch[(size_t)(fresh ? met.record : x) * words]);
          g->allowed[n] = allowed;
          candidate[n] = (nd_candidate){x, met.record, alone + i, met.position};
          n += fresh;
          stamp[met.record] = x + 1;
          if (n < ND_BLOCK_CANDIDATES) continue;
          w->candidates = n;
          n = filtered = filter(w, g, filtered, words);
          if (n < ND_BLOCK_CANDIDATES / 2) continue;
          ND_TRY(nd_block_verify(w, err));
          n = filtered = 0;
        }
      }
      if (i < indexed) {
        chain[g->n] = (link){x, head[at + side].link, alone + i, limit_y};
        head[at + side] = (head_of){(uint32_t)++g->n, x};
      }
    }
  }
  w->candidates = n;
  filter(w, g, filtered, words);
  w->join->after_size += meetings;
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
  const uint64_t records = c->block->task->sets->n;
  g.stamp = nd_calloc(records, sizeof *g.stamp);
  if (!g.stamp) return nd_fail_memory(err, records * sizeof *g.stamp);
  w->from = c->part[job];
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
  nd_free(g.stamp);
  return status;
}

/* Parts with about the same number of postings. */
static nd_status plan_parts(chains *c, nd_error *err) {
  const nd_block_join *b = c->block;
  const unsigned threads = b->task->threads;
  const uint32_t divide = b->divide;
  double postings = 0, seen = 0;
  for (uint32_t cell = 0; cell < b->cells && nd_block_cell_first(b, cell) < divide; cell++) {
    postings += (double)b->sampled[cell] * b->stride;
  }
  /* The chains of as many parts as there are threads are in memory at once, while they
   * grow twice. */
  const double rounds = postings * sizeof(link) * 2 / ((double)b->task->memory + 1) + 1;
  c->parts = rounds * threads < 65536 ? (uint32_t)rounds * threads : 65536;
  /* Every part passes over all prefixes: not worth it for what takes some milliseconds. */
  if (postings < ONE_PART && rounds < 2) c->parts = 1;
  c->part = nd_malloc(((size_t)c->parts + 1) * sizeof *c->part);
  c->entries = nd_calloc(c->parts, sizeof *c->entries);
  if (!c->part || !c->entries) return nd_fail_memory(err, c->parts * sizeof *c->entries);
  uint32_t part = 0;
  c->part[0] = 0;
  for (uint32_t cell = 0; cell < b->cells && nd_block_cell_first(b, cell) < divide; cell++) {
    while (part + 1 < c->parts && seen * c->parts >= postings * (part + 1)) {
      c->part[++part] = nd_block_cell_first(b, cell);
    }
    seen += (double)b->sampled[cell] * b->stride;
  }
  while (part < c->parts) c->part[++part] = divide;
  return ND_OK;
}

nd_status nd_block_chains(nd_block_join *b, nd_error *err) {
  nd_status status = ND_OK;
  const uint32_t tokens = b->divide;
  const size_t sides = b->task->options.split ? 2 : 1;
  chains c = {.block = b};
  c.head = nd_calloc(tokens * sides, sizeof *c.head);
  if (!c.head) return nd_fail_memory(err, tokens * sides * sizeof *c.head);
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
