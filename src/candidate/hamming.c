/* Pairs within a Hamming distance: equal vectors first, then piece by piece; see
 * hamming.h. */
#include "candidate/hamming.h"

#include "base/bits.h"
#include "base/hash.h"
#include "base/threads.h"
#include "candidate/hamming_solve.h"

uint32_t nd_hamming_guaranteed(uint32_t pieces) {
  return pieces ? pieces - 1 : 0;
}

uint32_t nd_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
  return nd_bits_differ(a, b, words);
}

enum { ROWS_PER_JOB = 64, SAMPLE = 1 << 19, SAMPLE_BITS = 16, FEW = 1024, TALLIED = 1 << 14 };

typedef struct search {
  const nd_hamming_request *request;
  nd_flat table;
  uint32_t *same;
  nd_solver **solver; /* one per thread */
  unsigned threads;
  nd_solve_level plan; /* the pieces */
} search;

static const uint64_t *vector(const search *s, uint64_t row) {
  return s->request->vectors + row * s->request->words;
}

/* The first of its equals? */
ND_INLINE bool is_first(const search *s, uint64_t row) {
  return s->same[row] >= row;
}

/* --- equal vectors ------------------------------------------------------------ */

static size_t whole_vectors(uint64_t *key, uint32_t *row, const void *context, uint64_t first,
                            size_t count) {
  const search *s = context;
  for (size_t i = 0; i < count; i++) {
    const uint64_t *v = vector(s, first + i);
    key[i] = s->request->words == 1 ? *v : nd_solve_piece(v, 0, 64 * s->request->words);
    row[i] = (uint32_t)(first + i);
  }
  return count;
}

static nd_status link_bucket(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  search *s = context;
  nd_flat *t = &s->table;
  uint64_t end = t->start[job + 1];
  nd_flat_sort(t->key + t->start[job], t->row + t->start[job], (size_t)(end - t->start[job]));
  for (uint64_t i = t->start[job]; i < end;) {
    uint64_t j = i + 1;
    s->same[t->row[i]] = t->row[i];
    for (; j < end && t->key[j] == t->key[i]; j++) {
      /* Two that share only the hash go on by themselves. */
      if (s->request->words > 1 && memcmp(vector(s, t->row[j]), vector(s, t->row[j - 1]),
                                          s->request->words * sizeof(uint64_t)) != 0)
        break;
      s->same[t->row[j]] = t->row[j - 1];
    }
    s->same[t->row[i]] = t->row[j - 1];
    i = j;
  }
  return ND_OK;
}

static nd_status check(const search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  return r->check ? r->check(r->check_context, err) : ND_OK;
}

static nd_status equal_vectors(search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  nd_flat_hash hash = {~(uint64_t)0, 0x9e3779b97f4a7c15u};
  ND_TRY(nd_flat_fill(&s->table, r->n, whole_vectors, s, hash, s->threads, err));
  ND_TRY(nd_threads_run(s->threads, (uint64_t)1 << s->table.bits, link_bucket, s, err));
  nd_solver *one = s->solver[0];
  for (uint64_t i = 0; i < r->n; i++) {
    if (!is_first(s, i)) continue;
    one->stats.vectors++;
    if (s->same[i] != i) ND_TRY(nd_solve_equal(one, (uint32_t)i, err));
  }
  return check(s, err);
}

/* --- piece by piece -------------------------------------------------------------- */

static size_t piece_vectors(uint64_t *key, uint32_t *row, const void *context, uint64_t first,
                            size_t count) {
  const search *s = context;
  uint32_t begin = s->plan.bound[s->plan.at], end = s->plan.bound[s->plan.at + 1];
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (!is_first(s, first + i)) continue;
    const uint64_t *v = vector(s, first + i);
    key[n] = s->request->words == 1 ? *v : nd_solve_piece(v, begin, end);
    row[n++] = (uint32_t)(first + i);
  }
  return n;
}

/* A bucket of the table: cut by the rest of the same hash, then each part solved. */
static nd_status solve_bucket(void *context, unsigned member, uint64_t job, nd_error *err) {
  const search *s = context;
  nd_solver *solver = s->solver[member];
  const nd_flat *t = &s->table;
  size_t begin = (size_t)t->start[job], end = (size_t)t->start[job + 1], n = end - begin;
  if (n < 2) return ND_OK;
  ND_TRY(check(s, err));
  nd_solve_level *l = &solver->level[0];
  solver->depth = 1;
  nd_region next = {l->bound[l->at + 1], l->region.end, l->region.budget - l->at};
  if (n <= nd_solve_small(s->request->distance)) return nd_solve(solver, begin, end, next, err);
  l->bits = 1;
  while (l->bits < ND_FLAT_SPLIT_BITS && n >> l->bits > 8) l->bits++;
  nd_flat_split(t->key + begin, t->row + begin, n,
                nd_solve_hash(s->request, l->bound[l->at], l->bound[l->at + 1]), t->bits, l->bits,
                l->start);
  for (size_t b = 0; b < (size_t)1 << l->bits; b++)
    ND_TRY(nd_solve(solver, begin + l->start[b], begin + l->start[b + 1], next, err));
  return ND_OK;
}

static nd_status solve_pieces(search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  for (uint32_t p = 0; p < s->plan.pieces; p++) {
    /* Of two that differ in all p pieces before this one at least p bits differ. */
    if (p > r->distance) break;
    s->plan.at = p;
    for (unsigned i = 0; i < s->threads; i++) {
      nd_solve_level *l = &s->solver[i]->level[0];
      l->region = s->plan.region;
      l->pieces = s->plan.pieces;
      l->at = p;
      memcpy(l->bound, s->plan.bound, sizeof l->bound);
    }
    nd_flat_hash hash = nd_solve_hash(r, s->plan.bound[p], s->plan.bound[p + 1]);
    ND_TRY(nd_flat_fill(&s->table, r->n, piece_vectors, s, hash, s->threads, err));
    ND_TRY(nd_threads_run(s->threads, (uint64_t)1 << s->table.bits, solve_bucket, s, err));
  }
  return ND_OK;
}

/* --- all with all ------------------------------------------------------------------- */

static nd_status compare_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  const search *s = context;
  size_t begin = (size_t)job * ROWS_PER_JOB, n = (size_t)s->table.n;
  size_t end = n - begin < ROWS_PER_JOB ? n : begin + ROWS_PER_JOB;
  ND_TRY(check(s, err));
  return nd_solve_rows(s->solver[member], begin, end, n, false, err);
}

static nd_status compare_all(search *s, nd_error *err) {
  s->plan.pieces = 1;
  s->plan.at = 0;
  s->plan.bound[0] = 0;
  s->plan.bound[1] = (uint16_t)(64 * s->request->words);
  nd_flat_hash hash = nd_solve_hash(s->request, 0, 64 * s->request->words);
  ND_TRY(nd_flat_fill(&s->table, s->request->n, piece_vectors, s, hash, s->threads, err));
  if (s->table.n <= FEW) {
    nd_region all = {0, 64 * s->request->words, s->request->distance};
    return nd_solve(s->solver[0], 0, (size_t)s->table.n, all, err);
  }
  return nd_threads_run(s->threads, (s->table.n + ROWS_PER_JOB - 1) / ROWS_PER_JOB, compare_job, s,
                        err);
}

/* --- which of them ------------------------------------------------------------------- */

/* Would tables save work?  Bucket sizes are estimated from every `step`th vector. */
static nd_status worth_tables(bool *out, search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  uint64_t step = r->n / SAMPLE + 1, taken = 0;
  uint32_t *count = nd_malloc(sizeof *count << SAMPLE_BITS);
  if (!count) return nd_fail_memory(err, sizeof *count << SAMPLE_BITS);
  double squares = 0;
  for (uint32_t p = 0; p < s->plan.pieces; p++) {
    uint32_t begin = s->plan.bound[p], end = s->plan.bound[p + 1];
    nd_flat_hash hash = nd_solve_hash(r, begin, end);
    memset(count, 0, sizeof *count << SAMPLE_BITS);
    taken = 0;
    for (uint64_t i = 0; i < r->n; i += step) {
      if (!is_first(s, i)) continue;
      uint64_t key = r->words == 1 ? *vector(s, i) : nd_solve_piece(vector(s, i), begin, end);
      count[nd_flat_slot(nd_flat_hash_of(hash, key), SAMPLE_BITS)]++;
      taken++;
    }
    for (size_t b = 0; b < (size_t)1 << SAMPLE_BITS; b++)
      squares += (double)count[b] * (count[b] - (count[b] != 0));
  }
  nd_free(count);
  squares *= (double)step * (double)step;
  *out = nd_solve_pays(squares, (double)taken * (double)step, s->plan.pieces);
  return ND_OK;
}

static nd_status choose(bool *tables, search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  uint32_t bits = 64 * r->words;
  s->plan.region = (nd_region){0, bits, r->distance};
  *tables = true;
  if (r->pieces) {
    s->plan.pieces = r->pieces;
    for (uint32_t p = 0; p <= r->pieces; p++)
      s->plan.bound[p] = (uint16_t)((uint64_t)bits * p / r->pieces);
    return ND_OK;
  }
  s->plan.pieces = r->distance + 1;
  nd_bit_tally tally;
  nd_solve_tally_start(&tally);
  for (uint64_t i = 0; i < r->n; i += r->n / TALLIED + 1)
    nd_solve_tally(&tally, vector(s, i), r->words);
  if (r->n <= FEW || !nd_solve_cut(s->plan.bound, &tally, s->plan.region, s->plan.pieces)) {
    *tables = false;
    return ND_OK;
  }
  return worth_tables(tables, s, err);
}

static nd_status run(search *s, nd_error *err) {
  bool tables;
  ND_TRY(equal_vectors(s, err));
  ND_TRY(choose(&tables, s, err));
  ND_TRY(tables ? solve_pieces(s, err) : compare_all(s, err));
  for (unsigned i = 0; i < s->threads; i++) ND_TRY(nd_solve_flush(s->solver[i], err));
  return ND_OK;
}

static void add_stats(nd_hamming_stats *to, const nd_hamming_stats *from) {
  to->vectors += from->vectors;
  to->compared += from->compared;
  to->pairs += from->pairs;
  to->hot += from->hot;
  to->hot_documents += from->hot_documents;
  to->left_out += from->left_out;
}

static nd_status check_request(const nd_hamming_request *r, nd_error *err) {
  if (r->words < 1 || r->words > ND_HAMMING_WORDS || r->n > UINT32_MAX)
    return nd_fail(err, ND_ERR_LIMIT,
                   "vectors of 1 to %d words can be compared, below 2^32 of them",
                   ND_HAMMING_WORDS);
  if (r->distance >= 64 * r->words || r->pieces > 64 * r->words)
    return nd_fail(err, ND_ERR_USAGE,
                   "a distance of %u bits and %u pieces: vectors of %u bits need fewer",
                   r->distance, r->pieces, 64 * r->words);
  return ND_OK;
}

nd_status nd_hamming_pairs(nd_sorter *pairs, nd_hamming_stats *stats,
                           const nd_hamming_request *request, nd_error *err) {
  *stats = (nd_hamming_stats){0};
  ND_TRY(check_request(request, err));
  if (request->n == 0) return ND_OK;
  search s = {.request = request, .threads = request->threads ? request->threads : 1};
  nd_status status = nd_flat_init(&s.table, request->n, err);
  if (status != ND_OK) return status;
  s.same = nd_malloc(request->n * sizeof *s.same);
  s.solver = nd_calloc(s.threads, sizeof *s.solver);
  if (!s.same || !s.solver) {
    status = nd_fail_memory(err, request->n * sizeof *s.same);
    goto done;
  }
  for (unsigned i = 0; i < s.threads; i++) {
    nd_solver *one = s.solver[i] = nd_calloc(1, sizeof *one);
    if (!one) {
      status = nd_fail_memory(err, sizeof *one);
      goto done;
    }
    one->request = request;
    one->same = s.same;
    one->table = &s.table;
    one->pairs = pairs;
    one->match = nd_match_best();
    one->differ = nd_bits_differ_best(nd_cpu());
  }
  status = run(&s, err);
  for (unsigned i = 0; i < s.threads; i++) add_stats(stats, &s.solver[i]->stats);
done:
  for (unsigned i = 0; s.solver && i < s.threads; i++) nd_free(s.solver[i]);
  nd_free(s.solver);
  nd_free(s.same);
  nd_flat_clear(&s.table);
  return status;
}
