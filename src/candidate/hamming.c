/* Pairs within a Hamming distance: equal vectors first, then piece by piece; see
 * hamming.h. */
#include "candidate/hamming.h"

#include "base/bits.h"
#include "base/threads.h"
#include "candidate/hamming_work.h"

uint32_t nd_hamming_guaranteed(uint32_t pieces) {
  return pieces ? pieces - 1 : 0;
}

uint32_t nd_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
  return nd_bits_differ(a, b, words);
}

uint64_t nd_hamming_bytes(uint64_t n, uint32_t words) {
  return n * (words * sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

enum {
  ROWS_PER_JOB = 256,
  SAMPLE = 1 << 19,  /* about as many vectors estimate the sizes of buckets */
  SAMPLE_BITS = 16,  /* into 2^16 of them: a table that fits the cache */
  FEW = 1024,        /* vectors, compared all with all: no plan saves so much */
  TALLIED = 1 << 14, /* about as many vectors are tallied for the plan of pieces */
  PIVOTS = 64        /* rounds that each take one group of close vectors out of a large bucket */
};

static const nd_flat_hash whole_hash = {~(uint64_t)0, 0x9e3779b97f4a7c15u};

static const uint64_t *vector(const nd_search *s, uint64_t row) {
  return s->set.vectors + row * s->request->words;
}

nd_status nd_search_check(const nd_search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  return r->check ? r->check(r->check_context, err) : ND_OK;
}

/* --- equal vectors ------------------------------------------------------------ */

static size_t whole_vectors(uint64_t *key, uint32_t *row, const void *context, uint64_t first,
                            size_t count) {
  const nd_search *s = context;
  const uint64_t *present = s->request->present;
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t at = first + i;
    if (present && !(present[at / 64] >> at % 64 & 1)) continue;
    const uint64_t *v = vector(s, at);
    key[n] = s->request->words == 1 ? *v : nd_solve_piece(v, 0, 64 * s->request->words);
    row[n++] = (uint32_t)at;
  }
  return n;
}

/* Links the rows with the vector of row[0] and moves the others to the front, keeping rows
 * ascending.  Returns the number of other rows. */
static size_t link_group(nd_search *s, uint32_t *row, size_t n) {
  const size_t bytes = s->request->words * sizeof(uint64_t);
  const uint64_t *pivot = vector(s, row[0]);
  const uint32_t first = row[0];
  uint32_t last = first;
  size_t left = 0;
  for (size_t i = 1; i < n; i++) {
    if (memcmp(vector(s, row[i]), pivot, bytes) == 0) {
      s->same[row[i]] = last;
      last = row[i];
    } else {
      row[left++] = row[i];
    }
  }
  s->same[first] = last;
  return left;
}

static void link_sorted(nd_search *s, uint64_t *key, uint32_t *row, size_t n) {
  const bool whole = s->request->words == 1;
  nd_flat_sort(key, row, n);
  for (size_t i = 0, end; i < n; i = end) {
    s->same[row[i]] = row[i];
    for (end = i + 1; end < n && key[end] == key[i]; end++)
      if (whole) s->same[row[end]] = row[end - 1];
    if (whole) s->same[row[i]] = row[end - 1];
    /* More than one iteration only for distinct vectors with equal hashes. */
    for (size_t left = end - i; !whole && left > 1;) {
      left = link_group(s, row + i, left);
      if (left == 1) s->same[row[i]] = row[i];
    }
  }
}

static nd_status link_bucket(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_search *s = context;
  const nd_flat *t = &s->table;
  nd_solver *solver = s->solver[member];
  uint32_t *row = t->row + t->start[job];
  size_t n = (size_t)(t->start[job + 1] - t->start[job]);
  const uint32_t bits = 64 * s->request->words;
  /* A larger bucket has a few large groups. */
  for (int turn = 0; turn < PIVOTS && n > ND_SOLVE_KEYS; turn++) n = link_group(s, row, n);
  if (n <= ND_SOLVE_KEYS) {
    enum { CUT = 9 };
    uint32_t start[(1 << CUT) + 1];
    nd_solve_load(solver->key, solver, row, n, 0, bits);
    nd_flat_split(solver->key, row, n, whole_hash, t->bits, CUT, start);
    for (size_t b = 0; b < (size_t)1 << CUT; b++)
      link_sorted(s, solver->key + start[b], row + start[b], start[b + 1] - start[b]);
    return ND_OK;
  }
  uint64_t *key = nd_malloc(n * sizeof *key);
  if (!key) return nd_fail_memory(err, n * sizeof *key);
  nd_solve_load(key, solver, row, n, 0, bits);
  link_sorted(s, key, row, n);
  nd_free(key);
  return ND_OK;
}

static nd_status equal_vectors(nd_search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  ND_TRY(nd_flat_fill(&s->table, r->n, whole_vectors, s, whole_hash, s->threads, err));
  ND_TRY(nd_threads_run(s->threads, (uint64_t)1 << s->table.bits, link_bucket, s, err));
  nd_solver *one = s->solver[0];
  for (uint64_t i = 0; i < r->n; i++) {
    if (!nd_solve_is_first(s->same, i)) continue;
    one->stats.vectors++;
    if (s->same[i] != i) ND_TRY(nd_solve_equal(one, (uint32_t)i, err));
  }
  return nd_search_check(s, err);
}

/* --- piece by piece -------------------------------------------------------------- */

/* The vectors of the set that take part, by the bits of a piece. */
typedef struct piece_source {
  const nd_search *search;
  uint32_t begin, end;
} piece_source;

static size_t piece_vectors(uint64_t *key, uint32_t *row, const void *context, uint64_t first,
                            size_t count) {
  const piece_source *p = context;
  const nd_search *s = p->search;
  const uint32_t *id = s->set.id;
  size_t n = 0;
  for (uint64_t i = first; i < first + count; i++) {
    if (!nd_solve_is_first(s->same, id ? id[i] : i)) continue;
    const uint64_t *v = vector(s, i);
    key[n] = s->request->words == 1 ? *v : nd_solve_piece(v, p->begin, p->end);
    row[n++] = (uint32_t)i;
  }
  return n;
}

static nd_status solve_bucket(void *context, unsigned member, uint64_t job, nd_error *err) {
  const nd_search *s = context;
  const nd_flat *t = &s->table;
  size_t n = (size_t)(t->start[job + 1] - t->start[job]);
  if (n < 2) return ND_OK;
  ND_TRY(nd_search_check(s, err));
  return nd_solve_bucket(s->solver[member], t->row + t->start[job], n, t->bits, err);
}

void nd_search_level(nd_search *s, unsigned depth, const nd_solve_level *level) {
  for (unsigned i = 0; i < s->threads; i++) {
    nd_solve_level *l = &s->solver[i]->level[depth];
    l->region = level->region;
    l->pieces = level->pieces;
    l->at = level->at;
    memcpy(l->bound, level->bound, sizeof l->bound);
    s->solver[i]->depth = depth + 1;
  }
}

nd_status nd_search_table(nd_search *s, unsigned depth, nd_error *err) {
  const nd_solve_level *l = &s->solver[0]->level[depth];
  piece_source piece = {s, l->bound[l->at], l->bound[l->at + 1]};
  nd_flat_hash hash = nd_solve_hash(s->request, piece.begin, piece.end);
  ND_TRY(nd_flat_fill(&s->table, s->set.n, piece_vectors, &piece, hash, s->threads, err));
  return nd_threads_run(s->threads, (uint64_t)1 << s->table.bits, solve_bucket, s, err);
}

static nd_status solve_pieces(nd_search *s, nd_error *err) {
  for (uint32_t p = 0; p < s->plan.pieces; p++) {
    /* If two vectors differ in all p pieces before this one, at least p bits differ. */
    if (p > s->request->distance) break;
    s->plan.at = p;
    nd_search_level(s, 0, &s->plan);
    ND_TRY(nd_search_table(s, 0, err));
  }
  return ND_OK;
}

/* --- comparison of all pairs -------------------------------------------------------- */

typedef struct comparing {
  nd_search *search;
  uint64_t end, from, last;
} comparing;

static nd_status compare_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  const comparing *c = context;
  const nd_search *s = c->search;
  uint64_t begin = job * ROWS_PER_JOB;
  uint64_t end = c->end - begin < ROWS_PER_JOB ? c->end : begin + ROWS_PER_JOB;
  ND_TRY(nd_search_check(s, err));
  return nd_solve_range(s->solver[member], s->table.row, (size_t)begin, (size_t)end,
                        (size_t)(c->from ? c->from : begin), (size_t)c->last, err);
}

nd_status nd_search_all(nd_search *s, uint64_t end, uint64_t from, uint64_t last, nd_error *err) {
  comparing c = {s, end, from, last};
  return nd_threads_run(s->threads, (end + ROWS_PER_JOB - 1) / ROWS_PER_JOB, compare_job, &c, err);
}

nd_status nd_search_rows(nd_search *s, nd_error *err) {
  const nd_flat_hash none = {0, 1}; /* one bucket, in order */
  piece_source piece = {s, 0, 64};
  return nd_flat_fill(&s->table, s->set.n, piece_vectors, &piece, none, s->threads, err);
}

static nd_status compare_all(nd_search *s, nd_error *err) {
  ND_TRY(nd_search_rows(s, err));
  if (s->table.n > FEW) return nd_search_all(s, s->table.n, 0, s->table.n, err);
  nd_region all = {0, 64 * s->request->words, s->request->distance};
  return nd_solve(s->solver[0], s->table.row, (size_t)s->table.n, all, err);
}

/* --- choice --------------------------------------------------------------------------- */

/* Estimates whether tables save work.  Bucket sizes are estimated from one vector in `step`
 * of the set, which may itself be a sample of n. */
static nd_status worth_tables(bool *out, const nd_search *s, uint64_t n, nd_error *err) {
  const nd_hamming_request *r = s->request;
  const nd_vector_set *set = &s->set;
  uint64_t step = set->n / SAMPLE + 1, taken = 0;
  uint32_t *count = nd_malloc(sizeof *count << SAMPLE_BITS);
  if (!count) return nd_fail_memory(err, sizeof *count << SAMPLE_BITS);
  double squares = 0;
  for (uint32_t p = 0; p < s->plan.pieces; p++) {
    uint32_t begin = s->plan.bound[p], end = s->plan.bound[p + 1];
    nd_flat_hash hash = nd_solve_hash(r, begin, end);
    memset(count, 0, sizeof *count << SAMPLE_BITS);
    taken = 0;
    for (uint64_t i = 0; i < set->n; i += step) {
      if (!nd_solve_is_first(s->same, set->id ? set->id[i] : i)) continue;
      uint64_t key = r->words == 1 ? *vector(s, i) : nd_solve_piece(vector(s, i), begin, end);
      count[nd_flat_slot(nd_flat_hash_of(hash, key), SAMPLE_BITS)]++;
      taken++;
    }
    for (size_t b = 0; b < (size_t)1 << SAMPLE_BITS; b++)
      squares += (double)count[b] * (count[b] - (count[b] != 0));
  }
  nd_free(count);
  double each = (double)step * ((double)n / (double)set->n);
  *out = nd_solve_pays(squares * each * each, (double)taken * each, s->plan.pieces);
  return ND_OK;
}

nd_status nd_search_choose(bool *tables, nd_search *s, uint64_t n, nd_error *err) {
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
  for (uint64_t i = 0; i < s->set.n; i += s->set.n / TALLIED + 1) {
    if (s->same[s->set.id ? s->set.id[i] : i] != ND_SOLVE_ABSENT)
      nd_solve_tally(&tally, vector(s, i), r->words);
  }
  if (n <= FEW || !nd_solve_cut(s->plan.bound, &tally, s->plan.region, s->plan.pieces)) {
    *tables = false;
    return ND_OK;
  }
  return worth_tables(tables, s, n, err);
}

static nd_status near(nd_search *s, nd_error *err) {
  bool tables;
  s->set = (nd_vector_set){s->request->vectors, NULL, s->request->n};
  ND_TRY(nd_flat_init(&s->table, s->set.n, false, err));
  ND_TRY(equal_vectors(s, err));
  ND_TRY(nd_search_choose(&tables, s, s->set.n, err));
  return tables ? solve_pieces(s, err) : compare_all(s, err);
}

static nd_status run(nd_search *s, nd_error *err) {
  ND_TRY(s->request->vectors ? near(s, err) : nd_search_far(s, err));
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
  /* untaken: more than 2^31 things */
  if (r->words < 1 || r->words > ND_HAMMING_WORDS || r->n >= UINT32_MAX)
    return nd_fail(err, ND_ERR_LIMIT,
                   "vectors of 1 to %d words can be compared, below 2^32 of them",
                   ND_HAMMING_WORDS);
  if (r->distance >= 64 * r->words || r->pieces > 64 * r->words)
    return nd_fail(err, ND_ERR_USAGE,
                   "a distance of %u bits and %u pieces: vectors of %u bits need fewer",
                   r->distance, r->pieces, 64 * r->words);
  return ND_OK;
}

static nd_status make_solvers(nd_search *s, nd_sorter *pairs, nd_error *err) {
  s->solver = nd_calloc(s->threads, sizeof(nd_solver *));
  if (!s->solver) return nd_fail_memory(err, s->threads * sizeof(nd_solver *));
  for (unsigned i = 0; i < s->threads; i++) {
    nd_solver *one = s->solver[i] = nd_calloc(1, sizeof *one);
    if (!one) return nd_fail_memory(err, sizeof *one);
    one->request = s->request;
    one->same = s->same;
    one->set = &s->set;
    one->pairs = pairs;
    one->match = nd_match_best();
    one->differ = nd_bits_differ_best(nd_cpu());
  }
  return ND_OK;
}

nd_status nd_hamming_pairs(nd_sorter *pairs, nd_hamming_stats *stats,
                           const nd_hamming_request *request, nd_error *err) {
  *stats = (nd_hamming_stats){0};
  ND_TRY(check_request(request, err));
  if (request->n == 0) return ND_OK;
  nd_search s = {.request = request, .threads = request->threads ? request->threads : 1};
  s.same = nd_malloc(request->n * sizeof *s.same);
  if (!s.same) return nd_fail_memory(err, request->n * sizeof *s.same);
  memset(s.same, 0xff, request->n * sizeof *s.same); /* ND_SOLVE_ABSENT */
  nd_status status = make_solvers(&s, pairs, err);
  if (status == ND_OK) status = run(&s, err);
  for (unsigned i = 0; s.solver && i < s.threads; i++) {
    if (s.solver[i]) add_stats(stats, &s.solver[i]->stats);
    nd_free(s.solver[i]);
  }
  nd_free(s.solver);
  nd_free(s.same);
  nd_flat_clear(&s.table);
  return status;
}
