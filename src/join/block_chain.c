/* The join of rare tokens: a chain of records per token, in one pass.
 *
 * A record x probes the chain of each token of its prefix, newest and so largest record first,
 * until records are too small, and is then added to the chain.  Each y that it probes is stamped
 * with x, so a pair is examined once, at its first common token.  The sketches of the complete
 * records drop most pairs.
 *
 * Two things are left out:
 *   - Twins (sets.h): tokens that no record holds without the preceding token have no chain.
 *   - Dead links.  The farther back y has the token, the fewer tokens remain to be shared, and a
 *     larger x needs more of them; later records are never smaller.  A dead link is removed from
 *     its chain by the x that finds it (the shrinking prefix of MPJoin: Ribeiro and Haerder,
 *     Information Systems 36, 2011).
 *
 * Probing is bound by cache misses.  So everything that a probe needs of y is in one row, only
 * records in a chain have a row, a link has eight bytes, and records with stored tokens are
 * selected in advance, so that the memory they will read can be prefetched:
 *
 *     head[token] -> link {row, next} -> link {row, next} -> ...
 *                           |
 *                           row {stamp, base, size, record, sketch}
 *
 * The links of a record are contiguous, one per token (that of a twin is unused), so the position
 * of the token in the record is the number of the link plus a constant of the row.
 *
 * Each thread and round processes a range of the tokens, over the prefixes of all records.  See
 * block_join.h. */
#include "base/threads.h"
#include "join/block_join.h"

enum {
  ONE_PART = 1000000, /* postings */
  BATCH = 2048,       /* records searched at once for some that probe */
  TOKENS_AHEAD = 12,  /* distance, in probing records, at which tokens are prefetched */
  HEADS_AHEAD = 5,    /* distance at which the heads of their first tokens are prefetched */
  NEAR = 1 << 18,     /* bytes of heads that stay in the cache without prefetching */
};

/* Links and rows are numbered from 1; link 0, with row 0, ends a chain. */
typedef struct link {
  uint32_t row;
  uint32_t next;
} link;

/* A record in at least one chain. */
typedef struct row_of {
  uint32_t stamp; /* the last x that probed it, plus 1 */
  uint32_t base;  /* position of a token minus the number of its link, modulo 2^32 */
  uint32_t size;
  uint32_t record;
  uint64_t sketch[];
} row_of;

/* The newest link of a token, and its row, so that a record that is too small costs no further
 * access. */
typedef struct head_of {
  uint32_t link, row;
} head_of;

typedef struct chains {
  nd_block_join *block;
  uint32_t *part; /* the first token of each part, and the end */
  uint32_t parts;
  head_of *head;     /* per token (and side) */
  uint64_t *entries; /* per part */
} chains;

/* State of a part. */
typedef struct growing {
  link *link;
  size_t n, cap;
  row_of *row;   /* allocated for all records, used as far as there are rows */
  uint32_t rows; /* the next one */
} growing;

ND_INLINE size_t row_bytes(unsigned words) {
  return sizeof(row_of) + 8 * (size_t)words;
}

ND_INLINE row_of *row_at(row_of *rows, uint32_t at, unsigned words) {
  return (row_of *)(void *)((char *)rows + at * row_bytes(words));
}

/* The records of a batch with stored tokens in their prefix. */
typedef struct probers {
  uint32_t record[BATCH + TOKENS_AHEAD]; /* the last one is repeated, for prefetching */
  uint32_t n, at;
  uint32_t next, class_; /* the next batch */
} probers;

/* Selects the next records that probe; returns false at the end. */
static bool more_probers(probers *p, const nd_join_task *t) {
  const nd_sets *s = t->sets;
  p->at = p->n = 0;
  while (p->n == 0) {
    if (p->next == s->n) return false;
    const uint32_t end = s->n - p->next < BATCH ? s->n : p->next + BATCH;
    for (uint32_t x = p->next; x < end;) {
      while (t->class_[p->class_ + 1].first <= x) p->class_++;
      const nd_join_class *c = &t->class_[p->class_];
      const uint32_t last = c[1].first < end ? c[1].first : end;
      for (; x < last; x++) { /* unpredictable, so without a branch */
        p->record[p->n] = x;
        p->n += c->size - (uint32_t)(s->begin[x + 1] - s->begin[x]) < c->probe;
      }
    }
    p->next = end;
  }
  for (uint32_t i = 0; i < TOKENS_AHEAD; i++) p->record[p->n + i] = p->record[p->n - 1];
  for (uint32_t i = 0; i < TOKENS_AHEAD; i++) nd_block_prefetch(s, p->record[i]);
  return true;
}

ND_INLINE nd_status walk_body(chains *c, nd_block_worker *w, growing *g, uint32_t part,
                              unsigned words, nd_error *err) {
  const nd_join_task *t = c->block->task;
  const nd_sets *s = t->sets;
  const uint32_t from = c->part[part], to = c->part[part + 1];
  const unsigned sides = t->options.split ? 2 : 1;
  const uint8_t *restrict twin = s->twin;
  head_of *restrict head = c->head;
  row_of *restrict rows = g->row;
  const int64_t slope = t->bounds.slope_y;
  uint64_t meetings = 0, passed = 0;
  nd_candidate *restrict candidate = w->candidate;
  size_t n = 0;        /* candidates */
  uint32_t lowest = 1; /* the first row whose record is large enough */
  uint32_t k = 0;
  probers some = {0};
  const bool far = (size_t)(to - from) * sides * sizeof *head > NEAR;
  while (some.at < some.n || more_probers(&some, t)) {
    const uint32_t *soon = &some.record[some.at++], x = *soon;
    nd_block_prefetch(s, soon[TOKENS_AHEAD]);
    if (far) {
      const uint32_t *first = s->token + s->begin[soon[HEADS_AHEAD]];
      for (int i = 0; i < 2; i++)
        __builtin_prefetch(&head[first[i] < to ? (size_t)first[i] * sides : 0]);
    }
    while (t->class_[k + 1].first <= x) k++;
    const nd_join_class *class_ = &t->class_[k];
    const uint32_t *token = s->token + s->begin[x];
    const uint32_t prefix = nd_block_prefix(s, x, class_->probe);
    if (token[0] >= to || token[prefix - 1] < from) continue;
    while (lowest < g->rows && row_at(rows, lowest, words)->record < class_->lowest) lowest++;
    const uint32_t indexed = nd_block_prefix(s, x, class_->index);
    const uint32_t size = class_->size, alone = size - (uint32_t)(s->begin[x + 1] - s->begin[x]);
    /* No overflow: sizes are below 2^30, and so is any overlap. */
    const int64_t limit = t->bounds.slope_x * (int64_t)size - t->bounds.base;
    const unsigned side = nd_join_side(t, x), other = sides == 2 ? !side : 0;
    const uint64_t *mine = &s->sketch[(size_t)x * words];
    if (g->n + indexed >= g->cap) {
      ND_TRY(nd_array_grow(&g->link, &g->cap, g->n + indexed + 1, sizeof *g->link, err));
    }
    link *restrict chain = g->link;
    chain[0] = (link){0, 0}; /* smaller than any, so that a chain ends as it does for a size */
    const size_t before = g->n;
    uint32_t i = 0;
    while (token[i] < from) i++;
    const uint32_t base = alone + i - ((uint32_t)before + 1);
    for (; i < prefix && token[i] < to; i++) {
      if (nd_sets_is_twin(twin, token[i])) {
        g->n += i < indexed;
        continue;
      }
      const uint32_t position_x = alone + i;
      const size_t at = (size_t)token[i] * sides;
      const head_of newest = head[at + other];
      if (newest.row >= lowest) {
        uint32_t *here = &head[at + other].link; /* points to this link */
        for (uint32_t l = newest.link; chain[l].row >= lowest;) {
          row_of *y = row_at(rows, chain[l].row, words);
          meetings++;
          const uint32_t position = y->base + l;
          const int64_t allowed = (limit + slope * y->size) >> 32;
          int32_t bits = 0;
          for (unsigned b = 0; b < words; b++) bits += __builtin_popcountll(mine[b] ^ y->sketch[b]);
          /* At most the y->size - position tokens from here on can be common. */
          const bool live = (int64_t)size + 2 * (int64_t)position <= allowed + y->size;
          const unsigned fits = (bits <= allowed) & live;
          const uint32_t after = chain[l].next;
          *here = live ? l : after;
          here = live ? &chain[l].next : here;
          l = after;
          candidate[n] = (nd_candidate){x, y->record, position_x, position};
          n += fits & (y->stamp != x + 1);
          y->stamp = x + 1;
          if (n < ND_BLOCK_CANDIDATES) continue;
          w->candidates = n;
          passed += n;
          n = 0;
          ND_TRY(nd_block_verify(w, err));
        }
      }
      if (i < indexed) {
        chain[++g->n] = (link){g->rows, head[at + side].link};
        head[at + side] = (head_of){(uint32_t)g->n, g->rows};
      }
    }
    if (g->n == before) continue;
    row_of *own = row_at(rows, g->rows++, words);
    *own = (row_of){.base = base, .size = size, .record = x};
    for (unsigned b = 0; b < words; b++) own->sketch[b] = mine[b];
  }
  w->candidates = n;
  w->join->after_size += meetings;
  w->join->after_positional += passed + n;
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
  growing g = {.rows = 1};
  nd_status status;
  const size_t room = ((size_t)c->block->task->sets->n + 1) * row_bytes(words);
  g.row = nd_malloc(room);
  if (!g.row) return nd_fail_memory(err, room);
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
  nd_free(g.row);
  return status;
}

/* Splits the tokens into parts with about the same number of postings. */
static nd_status plan_parts(chains *c, nd_error *err) {
  const nd_block_join *b = c->block;
  const unsigned threads = b->task->threads;
  const uint32_t divide = b->divide;
  /* The cells before `divide`, which begins one or is the end of all. */
  const uint32_t cells = divide < b->task->sets->distinct ? nd_block_cell(b, divide) : b->cells;
  uint64_t sampled = 0, seen = 0;
  for (uint32_t cell = 0; cell < cells; cell++) sampled += b->sampled[cell];
  const double postings = (double)sampled * b->stride;
  /* A part per thread is in memory at once: its chains, which may double while they grow, and a row
   * for each record in them. */
  const double records = b->task->sets->n, rows = postings < records ? postings : records;
  const double bytes = postings * sizeof(link) * 2 + rows * (double)row_bytes(b->words);
  const double rounds = bytes / ((double)b->task->memory + 1) + 1;
  c->parts = rounds * threads < 65536 ? (uint32_t)rounds * threads : 65536;
  /* Each part reads all prefixes, which does not pay for a few milliseconds of work. */
  if (postings < ONE_PART && rounds < 2) c->parts = 1;
  c->part = nd_malloc(((size_t)c->parts + 1) * sizeof *c->part);
  c->entries = nd_calloc(c->parts, sizeof *c->entries);
  if (!c->part || !c->entries) return nd_fail_memory(err, c->parts * sizeof *c->entries);
  uint32_t part = 0;
  c->part[0] = 0;
  for (uint32_t cell = 0; part + 1 < c->parts && cell < cells; cell++) {
    while (part + 1 < c->parts && seen * c->parts >= sampled * (part + 1)) {
      c->part[++part] = nd_block_cell_first(b, cell);
    }
    seen += b->sampled[cell];
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
