/* The join where few pairs are compared: tokens with a chain of records each, in one pass.
 *
 * A record x walks the chain of each token of its prefix, newest and so largest record
 * first, until records are too small, and then joins the chain itself.  Each y that it
 * meets gets x's stamp: met again, it is known, so a pair is looked at once, at its first
 * common token.  Position and the sketches of the whole records drop most of them.
 *
 * Time goes by in waiting for memory, so all that a meeting asks of y lies in one row, only
 * records that are in a chain have one, and a link has eight bytes:
 *
 *     head[token] -> link {row, next} -> link {row, next} -> ...
 *                           |
 *                           row {stamp, base, limit, record, sketch}
 *
 * The links of a record are neighbours, one for each token, so the position of the token in
 * the record is the number of the link and a constant of the row.
 *
 * Threads and rounds have a range of the tokens each, and pass over the prefixes of all
 * records.  See block_join.h. */
#include "base/threads.h"
#include "join/block_join.h"

enum {
  ONE_PART = 1000000, /* postings */
  FAR = (1 << 21) - 1 /* positions are not looked at beyond: shares may be cut (block_join.h),
                         but not so that their sum allows less */
};

/* Links and rows are numbered from 1; link 0, with row 0, ends a chain. */
typedef struct link {
  uint32_t row;
  uint32_t next;
} link;

/* A record that can be met. */
typedef struct row_of {
  uint32_t stamp; /* the last x that met it, and 1 */
  uint32_t base;  /* the position of a token less the number of its link, modulo 2^32 */
  int32_t limit;  /* the record's share in the distance allowed, in 1/256 */
  uint32_t record;
  uint64_t sketch[];
} row_of;

/* The newest link of a token, and its row, so that one that is too small is not looked up
 * in vain. */
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

/* What a part has of its own. */
typedef struct growing {
  link *link;
  size_t n, cap;
  row_of *row;   /* room for all records, touched as far as there are rows */
  uint32_t rows; /* the next one */
} growing;

ND_INLINE size_t row_bytes(unsigned words) {
  return sizeof(row_of) + 8 * (size_t)words;
}

ND_INLINE row_of *row_at(row_of *rows, uint32_t at, unsigned words) {
  return (row_of *)(void *)((char *)rows + at * row_bytes(words));
}

ND_INLINE nd_status walk_body(chains *c, nd_block_worker *w, growing *g, uint32_t part,
                              unsigned words, nd_error *err) {
  const nd_join_task *t = c->block->task;
  const nd_sets *s = t->sets;
  const uint32_t from = c->part[part], to = c->part[part + 1];
  const unsigned sides = t->options.split ? 2 : 1;
  head_of *restrict head = c->head;
  row_of *restrict rows = g->row;
  uint64_t meetings = 0, passed = 0;
  nd_candidate *restrict candidate = w->candidate;
  size_t n = 0;        /* candidates; the memory that they are in need not be asked */
  uint32_t lowest = 1; /* the first row whose record is large enough */
  uint32_t k = 0;
  for (uint32_t x = 0; x < s->n; x++) {
    nd_block_ask(s, x);
    while (t->class_[k + 1].first <= x) k++;
    const nd_join_class *class_ = &t->class_[k];
    const uint32_t *token = s->token + s->begin[x];
    const uint32_t prefix = nd_block_prefix(s, x, class_->probe);
    if (prefix == 0 || token[0] >= to || token[prefix - 1] < from) continue;
    while (lowest < g->rows && row_at(rows, lowest, words)->record < class_->lowest) lowest++;
    const uint32_t indexed = nd_block_prefix(s, x, class_->index);
    const uint32_t alone = class_->size - (uint32_t)(s->begin[x + 1] - s->begin[x]);
    const int32_t limit = nd_block_limit(class_->limit_x);
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
      const uint32_t place = alone + i;
      const size_t at = (size_t)token[i] * sides;
      const head_of newest = head[at + other];
      if (newest.row >= lowest) {
        for (uint32_t l = newest.link; chain[l].row >= lowest; l = chain[l].next) {
          row_of *y = row_at(rows, chain[l].row, words);
          meetings++;
          const uint32_t position = y->base + l;
          const int32_t allowed = (limit + y->limit) >> 8;
          int32_t bits = 0;
          for (unsigned b = 0; b < words; b++) bits += __builtin_popcountll(mine[b] ^ y->sketch[b]);
          const uint32_t apart = place + position < FAR ? place + position : FAR;
          const unsigned fits = (bits <= allowed) & ((int32_t)apart <= allowed);
          candidate[n] = (nd_candidate){x, y->record, place, position};
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
    *own = (row_of){.base = base, .limit = nd_block_limit(class_->limit_y), .record = x};
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
   * grow twice, and a row for each record in them. */
  const double records = b->task->sets->n, rows = postings < records ? postings : records;
  const double bytes = postings * sizeof(link) * 2 + rows * (double)row_bytes(b->words);
  const double rounds = bytes / ((double)b->task->memory + 1) + 1;
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
