/* The block join: buckets, rounds and threads; see block_join.h. */
#include "join/block_join.h"

#include "base/threads.h"

enum {
  FREQUENT = 1 << 16,      /* the most frequent tokens have a cell each */
  CELLS = 1 << 14,         /* about as many for the others */
  BUCKET = 8192,           /* postings that fit the second cache, with their scratch */
  BUCKET_TOKENS = 1 << 16, /* a posting's token has 16 bits */
  SAMPLE = 1 << 14,        /* postings at most */
  SPARSE = 4,              /* records per one of the sample, at least */
  CLOSE_TESTS = 1 << 10,   /* pairs of the sample to compare */
  FILL_AHEAD =
      128, /* bytes of a bucket to prefetch: too many buckets for the hardware prefetcher */
};
#define NOWHERE UINT32_MAX

/* Measured costs in nanoseconds, per posting and per pair of postings, and of reading a record once
 * more.  Chains have little set-up; buckets compare faster, but detect repeated pairs late.  Only
 * speed depends on these numbers. */
static const double CHAIN_POSTING = 8, CHAIN_PAIR = 14, CHAIN_CLOSE = 7;
static const double BUCKET_POSTING = 18, BUCKET_PAIR = 1, BUCKET_CLOSE = 26;
static const double PASS = 12;

typedef struct bucket {
  uint32_t first, last; /* tokens */
  uint64_t start;       /* in the round's postings */
  uint64_t n;
  uint64_t heavy; /* postings in lists that may be copied and deferred for all threads */
} bucket;

typedef struct run {
  nd_block_join *block;
  /* chunks of records, for counting and filling */
  uint32_t chunks;
  uint32_t *chunk;  /* chunks + 1 first records */
  uint32_t *count;  /* per chunk and cell */
  uint64_t *offset; /* per chunk and bucket of the round */
  bucket *bucket;
  uint32_t buckets;
  uint32_t *bucket_of; /* per cell */
  /* the round */
  uint32_t round_first, round_last; /* buckets */
  uint64_t round_postings;
  nd_posting *posting;
} run;

static nd_status count_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  run *r = context;
  const nd_join_task *t = r->block->task;
  const nd_sets *s = t->sets;
  uint32_t *count = r->count + job * r->block->cells;
  uint32_t c = nd_join_class_of(t, r->chunk[job]);
  for (uint32_t x = r->chunk[job]; x < r->chunk[job + 1]; x++) {
    nd_block_prefetch_ahead(s, x);
    while (t->class_[c + 1].first <= x) c++;
    uint32_t prefix = nd_block_prefix(s, x, t->class_[c].probe);
    const uint32_t *token = s->token + s->begin[x];
    for (uint32_t i = prefix; i-- > 0 && token[i] >= r->block->divide;) {
      count[nd_block_cell(r->block, token[i])]++;
    }
  }
  return ND_OK;
}

/* Groups adjacent cells into full buckets. */
static nd_status plan_buckets(run *r, nd_error *err) {
  const nd_sets *s = r->block->task->sets;
  r->bucket_of = nd_malloc(r->block->cells * sizeof *r->bucket_of);
  size_t cap = 0;
  if (!r->bucket_of) return nd_fail_memory(err, r->block->cells * sizeof *r->bucket_of);
  for (uint32_t cell = 0; cell < r->block->cells; cell++) {
    uint64_t n = 0;
    for (uint32_t c = 0; c < r->chunks; c++) n += r->count[(size_t)c * r->block->cells + cell];
    r->bucket_of[cell] = NOWHERE;
    r->block->task->index_entries += n;
    if (n < 2) continue; /* a single posting has no partner */
    uint32_t first = nd_block_cell_first(r->block, cell);
    uint32_t last =
        cell + 1 < r->block->cells ? nd_block_cell_first(r->block, cell + 1) : s->distinct;
    bucket *b = r->buckets ? &r->bucket[r->buckets - 1] : NULL;
    if (!b || b->n + n > BUCKET || last - b->first > BUCKET_TOKENS) {
      ND_TRY(nd_array_grow(&r->bucket, &cap, (size_t)r->buckets + 1, sizeof *r->bucket, err));
      b = &r->bucket[r->buckets++];
      *b = (bucket){.first = first};
    }
    b->n += n;
    if (nd_block_is_heavy(n)) b->heavy += n;
    b->last = last;
    r->bucket_of[cell] = r->buckets - 1;
  }
  return ND_OK;
}

/* Starts a round: the buckets from `first` on that fit into the memory. */
static void plan_round(run *r, uint32_t first) {
  const nd_join_task *t = r->block->task;
  uint64_t bytes = 0, at = 0;
  uint32_t k = first;
  r->round_first = first;
  for (; k < r->buckets; k++) {
    bucket *b = &r->bucket[k];
    const uint64_t copied = t->threads > 1 ? b->heavy : 0;
    const uint64_t more = (b->n + copied) * nd_posting_bytes(r->block->words);
    if (k > first && bytes + more > t->memory) break;
    bytes += more;
    b->start = at;
    at += b->n;
  }
  r->round_last = k;
  r->round_postings = at;
}

/* Computes where each chunk writes its postings of each bucket: in chunk order, so the postings of
 * a bucket are in record order. */
static void plan_offsets(run *r) {
  const uint32_t width = r->round_last - r->round_first;
  uint64_t *offset = r->offset;
  memset(offset, 0, (size_t)r->chunks * width * sizeof *offset);
  for (uint32_t c = 0; c < r->chunks; c++) {
    for (uint32_t cell = 0; cell < r->block->cells; cell++) {
      uint32_t b = r->bucket_of[cell];
      if (b < r->round_first || b >= r->round_last) continue; /* in another round, or in none */
      offset[(size_t)c * width + (b - r->round_first)] +=
          r->count[(size_t)c * r->block->cells + cell];
    }
  }
  for (uint32_t b = 0; b < width; b++) {
    uint64_t at = r->bucket[r->round_first + b].start;
    for (uint32_t c = 0; c < r->chunks; c++) {
      uint64_t n = offset[(size_t)c * width + b];
      offset[(size_t)c * width + b] = at;
      at += n;
    }
  }
}

/* Writes the postings of some records.  The sketch of the tokens after a posting is that of the
 * complete record with the tokens up to here removed. */
ND_INLINE void fill_body(run *r, uint64_t job, unsigned words) {
  const nd_join_task *t = r->block->task;
  const nd_sets *s = t->sets;
  const uint32_t width = r->round_last - r->round_first, round_first = r->round_first;
  uint64_t *restrict offset = r->offset + job * width;
  const bucket *buckets = r->bucket;
  const uint32_t *bucket_of = r->bucket_of;
  const uint32_t from = buckets[round_first].first, to = buckets[r->round_last - 1].last;
  uint32_t c = nd_join_class_of(t, r->chunk[job]);
  for (uint32_t x = r->chunk[job]; x < r->chunk[job + 1]; x++) {
    nd_block_prefetch_ahead(s, x);
    while (t->class_[c + 1].first <= x) c++;
    const uint32_t *token = s->token + s->begin[x];
    const uint32_t stored = (uint32_t)(s->begin[x + 1] - s->begin[x]);
    const uint32_t alone = s->size[x] - stored, index = t->class_[c].index;
    const uint32_t prefix = nd_block_prefix(s, x, t->class_[c].probe);
    if (prefix == 0 || token[prefix - 1] < from) continue;
    const uint32_t side = nd_join_side(t, x) << 1;
    uint64_t sketch[ND_BLOCK_WORDS];
    for (unsigned k = 0; k < words; k++) sketch[k] = s->sketch[(size_t)x * words + k];
    for (uint32_t i = 0; i < prefix && token[i] < to; i++) {
      nd_sets_flip(sketch, &token[i], 1, words);
      const uint32_t b = bucket_of[nd_block_cell(r->block, token[i])] - round_first;
      if (b >= width) continue; /* in another round, or in none */
      const uint64_t at = offset[b]++;
      const uint32_t position = alone + i;
      nd_posting *p = nd_posting_at(r->posting, at, words);
      __builtin_prefetch((const char *)p + FILL_AHEAD, 1);
      p->token = (uint16_t)token[i];
      p->class_ = (uint16_t)c;
      p->record = x;
      p->before = i ? token[i - 1] : UINT32_MAX;
      p->packed = position << 2 | side | (position < index);
      for (unsigned k = 0; k < words; k++) p->sketch[k] = sketch[k];
    }
  }
}

static nd_status fill_chunk(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  run *r = context;
  switch (r->block->words) {
    case 1: fill_body(r, job, 1); break;
    case 2: fill_body(r, job, 2); break;
    default: fill_body(r, job, 4);
  }
  return ND_OK;
}

/* Returns the number of a posting's token within its bucket. */
ND_INLINE uint16_t in_bucket(const bucket *b, const nd_posting *p) {
  return (uint16_t)(p->token - b->first);
}

/* Groups a bucket by token and joins the lists. */
static nd_status join_bucket(void *context, unsigned member, uint64_t job, nd_error *err) {
  run *r = context;
  /* Start with the last buckets, which hold the most frequent tokens and so the longest lists. */
  const bucket *b = &r->bucket[r->round_last - 1 - job];
  nd_block_worker *w = &r->block->worker[member];
  const unsigned words = r->block->words;
  const uint32_t tokens = b->last - b->first;
  /* untaken: more than 2^31 things */
  if (b->n > UINT32_MAX) return nd_fail(err, ND_ERR_LIMIT, "too many records hold a token");
  ND_TRY(nd_array_grow(&w->start, &w->start_cap, (size_t)tokens + 1, sizeof *w->start, err));
  ND_TRY(nd_array_grow(&w->order, &w->order_cap, b->n, sizeof *w->order, err));
  nd_posting *rows = nd_posting_at(r->posting, b->start, words);
  uint32_t *start = w->start;
  memset(start, 0, ((size_t)tokens + 1) * sizeof *start);
  for (uint32_t i = 0; i < b->n; i++) start[in_bucket(b, nd_posting_at(rows, i, words))]++;
  for (uint32_t k = 0, sum = 0; k < tokens; k++) {
    uint32_t n = start[k];
    start[k] = sum;
    sum += n;
  }
  for (uint32_t i = 0; i < b->n; i++) {
    w->order[start[in_bucket(b, nd_posting_at(rows, i, words))]++] = i;
  }
  for (uint32_t k = 0, at = 0; k < tokens; at = start[k++]) {
    nd_block_list list = {rows, w->order + at, start[k] - at};
    if (list.n > 1) ND_TRY(nd_block_list_join(w, &list, err));
  }
  return nd_block_verify(w, err);
}

static nd_status join_round(run *r, nd_error *err) {
  nd_status status = ND_OK;
  nd_block_join *b = r->block;
  const unsigned threads = b->task->threads;
  const uint32_t width = r->round_last - r->round_first;
  const size_t bytes = r->round_postings * nd_posting_bytes(b->words);
  r->posting = nd_malloc_large(bytes);
  r->offset = nd_malloc((size_t)r->chunks * width * sizeof *r->offset);
  if (!r->posting || !r->offset) {
    status = nd_fail_memory(err, bytes);
    goto out;
  }
  b->task->blocks++;
  plan_offsets(r);
  ND_TRY_GOTO(nd_threads_run(threads, r->chunks, fill_chunk, r, err), out);
  ND_TRY_GOTO(nd_threads_run(threads, width, join_bucket, r, err), out);
  ND_TRY_GOTO(nd_block_join_heavies(b, err), out);
out:
  nd_block_free_heavies(b);
  nd_free(r->posting);
  nd_free(r->offset);
  r->posting = NULL;
  r->offset = NULL;
  return status;
}

/* Splits the records into chunks with equal numbers of tokens. */
static nd_status plan_chunks(run *r, nd_error *err) {
  const nd_join_task *t = r->block->task;
  const nd_sets *s = t->sets;
  r->chunks = t->threads > 1 ? 2 * t->threads : 1;
  if (r->chunks > s->n) r->chunks = s->n;
  r->chunk = nd_malloc(((size_t)r->chunks + 1) * sizeof *r->chunk);
  r->count = nd_calloc((size_t)r->chunks * r->block->cells, sizeof *r->count);
  if (!r->chunk || !r->count) return nd_fail_memory(err, (size_t)r->chunks * r->block->cells * 4);
  uint32_t at = 0;
  for (uint32_t c = 0; c < r->chunks; c++) {
    uint64_t wanted = s->begin[s->n] / r->chunks * c;
    while (at < s->n && s->begin[at] < wanted) at++;
    r->chunk[c] = at;
  }
  r->chunk[r->chunks] = s->n;
  return ND_OK;
}

nd_status nd_block_buckets(nd_block_join *b, nd_error *err) {
  nd_status status = ND_OK;
  run r = {.block = b};
  /* A list does not know the pairs found in other lists. */
  for (unsigned i = 0; i < b->task->threads; i++) b->worker[i].from = UINT32_MAX;
  ND_TRY_GOTO(plan_chunks(&r, err), out);
  ND_TRY_GOTO(nd_threads_run(b->task->threads, r.chunks, count_chunk, &r, err), out);
  ND_TRY_GOTO(plan_buckets(&r, err), out);
  for (uint32_t k = 0; k < r.buckets; k = r.round_last) {
    plan_round(&r, k);
    ND_TRY_GOTO(join_round(&r, err), out);
  }
out:
  nd_free(r.chunk);
  nd_free(r.count);
  nd_free(r.bucket_of);
  nd_free(r.bucket);
  return status;
}

/* Estimates the share of smaller records that are within the size filter, over all x. */
static double window_of(const nd_join_task *t) {
  double met = 0;
  for (uint32_t k = 0; k < t->classes; k++) {
    const nd_join_class *c = &t->class_[k];
    double own = c[1].first - c->first;
    if (c->lowest <= c->first) met += own * (own / 2 + (c->first - c->lowest));
  }
  return met / (0.5 * t->sets->n * t->sets->n);
}

static void plan_cells(nd_block_join *b) {
  const uint32_t distinct = b->task->sets->distinct;
  b->frequent = distinct > FREQUENT ? distinct - FREQUENT : 0;
  /* untaken: more than 2^31 things */
  while (b->frequent >> b->shift > CELLS && b->shift < 15) b->shift++;
  b->low_cells = b->frequent ? ((b->frequent - 1) >> b->shift) + 1 : 0;
  b->cells = b->low_cells + (distinct - b->frequent);
}

/* Tests whether the sketches of two records are within the bound. */
static bool look_close(const nd_block_join *b, uint32_t x, uint32_t y) {
  const nd_join_task *t = b->task;
  const uint64_t *p = &t->sets->sketch[(size_t)x * b->words];
  const uint64_t *q = &t->sets->sketch[(size_t)y * b->words];
  int64_t bits = 0;
  for (unsigned i = 0; i < b->words; i++) bits += __builtin_popcountll(p[i] ^ q[i]);
  return bits * 256 <=
         t->class_[nd_join_class_of(t, x)].limit_x + t->class_[nd_join_class_of(t, y)].limit_y;
}

/* Counts prefix tokens of sampled records per cell, and estimates the share of adjacent records in
 * a list whose sketches are close. */
static nd_status take_sample(nd_block_join *b, nd_error *err) {
  const nd_join_task *t = b->task;
  const nd_sets *s = t->sets;
  uint64_t met = 0, close = 0;
  b->sampled = nd_calloc(b->cells, sizeof *b->sampled);
  uint32_t *last = nd_calloc(b->cells, sizeof *last); /* last record of each cell, plus 1 */
  if (!b->sampled || !last) {
    nd_free(last);
    return nd_fail_memory(err, b->cells * sizeof *b->sampled);
  }
  uint64_t postings = 0;
  for (uint32_t k = 0; k < t->classes; k++) {
    postings += (uint64_t)(t->class_[k + 1].first - t->class_[k].first) * t->class_[k].probe;
  }
  b->stride = (uint32_t)(postings / SAMPLE < s->n ? postings / SAMPLE : s->n - 1) + SPARSE;
  uint32_t c = 0;
  for (uint32_t x = b->stride / 2; x < s->n; x += b->stride) {
    while (t->class_[c + 1].first <= x) c++;
    uint32_t prefix = nd_block_prefix(s, x, t->class_[c].probe);
    const uint32_t *token = s->token + s->begin[x];
    for (uint32_t i = 0; i < prefix; i++) {
      const uint32_t cell = nd_block_cell(b, token[i]);
      b->sampled[cell]++;
      if (cell >= b->low_cells && last[cell] > t->class_[c].lowest && met < CLOSE_TESTS) {
        met++;
        close += look_close(b, x, last[cell] - 1);
      }
      last[cell] = x + 1;
    }
  }
  b->close = met ? (double)close / (double)met : 0;
  nd_free(last);
  return ND_OK;
}

/* Chooses the token that divides chains from buckets.  Tokens are numbered by ascending frequency;
 * rare ones are joined by chains, the others in buckets.  Starting with everything in buckets, sums
 * the savings of moving one cell after another to chains, and keeps the best division. */
static void choose_divide(nd_block_join *b) {
  const nd_join_task *t = b->task;
  const double stride = b->stride, pairs_of = stride * stride / 2 * window_of(t);
  const double chain_pair = CHAIN_PAIR - b->close * CHAIN_CLOSE;
  const double bucket_pair = BUCKET_PAIR + b->close * BUCKET_CLOSE;
  double chains = 0, buckets = 0, saved = 0, most = 0; /* saved by chains up to this cell */
  uint32_t best = 0;
  for (uint32_t cell = 0; cell < b->cells; cell++) {
    if (b->sampled[cell] == 0) continue; /* the usual case */
    const double n = b->sampled[cell];
    const double tokens = cell < b->low_cells ? (double)(UINT32_C(1) << b->shift) : 1;
    const double postings = n * stride, pairs = n > 1 ? n * (n - 1) * pairs_of / tokens : 0;
    const double by_chain = postings * CHAIN_POSTING + pairs * chain_pair;
    const double by_bucket = postings * BUCKET_POSTING + pairs * bucket_pair;
    chains += by_chain;
    buckets += by_bucket;
    saved += by_bucket - by_chain;
    if (saved > most) {
      most = saved;
      best = cell + 1;
    }
  }
  const double both = buckets - most + t->sets->n * PASS;
  uint32_t cell = both < chains && both < buckets ? best : chains < buckets ? b->cells : 0;
  switch (t->options.way) {
    case ND_JOIN_CHAINS: cell = b->cells; break;
    case ND_JOIN_BUCKETS: cell = 0; break;
    case ND_JOIN_BOTH: cell = b->cells / 2; break;
    default: break;
  }
  b->divide = cell < b->cells ? nd_block_cell_first(b, cell) : t->sets->distinct;
}

static nd_status make_workers(nd_block_join *b, nd_error *err) {
  const unsigned threads = b->task->threads;
  b->worker = nd_calloc(threads, sizeof *b->worker);
  if (!b->worker) return nd_fail_memory(err, threads * sizeof *b->worker);
  /* Plus the candidates that a tile or a short list adds before they are verified. */
  const size_t more = ND_BLOCK_SHORT * ND_BLOCK_SHORT / 2;
  const size_t room = ND_BLOCK_CANDIDATES + (more > ND_BLOCK_TILE ? more : ND_BLOCK_TILE);
  const size_t bytes = room * sizeof(nd_candidate);
  for (unsigned i = 0; i < threads; i++) {
    nd_block_worker *w = &b->worker[i];
    w->block = b;
    w->join = &b->task->worker[i];
    w->candidate = nd_malloc(bytes);
    if (!w->candidate) return nd_fail_memory(err, bytes);
  }
  return ND_OK;
}

static void clear_workers(nd_block_join *b) {
  for (unsigned i = 0; b->worker && i < b->task->threads; i++) {
    nd_block_worker *w = &b->worker[i];
    nd_free(w->candidate);
    nd_free(w->mark);
    nd_free(w->start);
    nd_free(w->order);
    nd_free(w->side_memory);
  }
  nd_free(b->worker);
}

nd_status nd_join_blocks(nd_join_task *t, nd_error *err) {
  const nd_sets *s = t->sets;
  if (s->n == 0 || s->distinct == 0) return ND_OK;
  if (t->classes > UINT16_MAX) { /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "records of more than 65,535 different sizes in a join");
  }
  if (s->size[s->n - 1] >= 1u << 30) { /* untaken: a piece of more than 1 GiB */
    return nd_fail(err, ND_ERR_LIMIT, "a record of more than 1,073,741,823 tokens in a join");
  }
  const nd_cpu_level level = t->options.level ? (nd_cpu_level)(t->options.level - 1) : nd_cpu();
  nd_block_join b = {.task = t, .words = s->words};
  b.sides = nd_block_kernel(b.words, level);
  b.common = nd_block_common_kernel(level);
  b.popcount = level >= ND_CPU_SSE41;
  plan_cells(&b);
  nd_status status = make_workers(&b, err);
  if (status == ND_OK) status = take_sample(&b, err);
  if (status == ND_OK) choose_divide(&b);
  if (status == ND_OK && b.divide > 0) status = nd_block_chains(&b, err);
  if (status == ND_OK && b.divide < s->distinct) status = nd_block_buckets(&b, err);
  clear_workers(&b);
  nd_free(b.sampled);
  nd_free(b.heavy);
  return status;
}
