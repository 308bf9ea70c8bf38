/* Search within a bucket; see hamming_solve.h. */
#include "candidate/hamming_solve.h"

#include "base/bits.h"
#include "base/hash.h"

/* --- output of pairs ---------------------------------------------------------- */

nd_status nd_solve_flush(nd_solver *s, nd_error *err) {
  size_t n = s->out_n;
  s->out_n = 0;
  return n ? nd_sorter_add(s->pairs, s->out, n, err) : ND_OK;
}

static nd_status give(nd_solver *s, uint32_t i, uint32_t j, uint32_t distance, nd_error *err) {
  const nd_hamming_request *r = s->request;
  uint32_t a = i < j ? i : j, b = i < j ? j : i;
  if (r->split && (a >= r->split || b < r->split)) return ND_OK;
  s->stats.pairs++;
  s->out[s->out_n++] = (nd_item){nd_pair_key(a, b), distance};
  return s->out_n == ND_SOLVE_BATCH ? nd_solve_flush(s, err) : ND_OK;
}

static uint64_t group_size(const nd_solver *s, uint32_t first) {
  uint64_t n = 1;
  for (uint32_t x = s->same[first]; x != first; x = s->same[x]) n++;
  return n;
}

/* Pairs all members of the group of `first` with a document. */
static nd_status give_group(nd_solver *s, uint32_t first, uint32_t document, uint32_t distance,
                            nd_error *err) {
  uint32_t x = first;
  do {
    if (x != document) ND_TRY(give(s, x, document, distance, err));
    x = s->same[x];
  } while (x != first);
  return ND_OK;
}

nd_status nd_solve_equal(nd_solver *s, uint32_t first, nd_error *err) {
  uint64_t n = group_size(s, first), cap = s->request->cap;
  if (cap && n > cap) {
    s->stats.hot++;
    s->stats.hot_documents += n;
    s->stats.left_out += n * (n - 1) / 2 - (n - 1);
    return give_group(s, first, first, 0, err);
  }
  /* From the last member to the first, each with those before it. */
  for (uint32_t x = s->same[first]; x != first; x = s->same[x]) {
    for (uint32_t y = s->same[x];; y = s->same[y]) {
      ND_TRY(give(s, x, y, 0, err));
      if (y == first) break;
    }
  }
  return ND_OK;
}

/* Outputs the pairs of two distinct vectors within the distance, by rows. */
static nd_status give_vectors(nd_solver *s, uint32_t row_a, uint32_t row_b, uint32_t distance,
                              nd_error *err) {
  const uint32_t *id = s->set->id;
  uint32_t a = id ? id[row_a] : row_a,
           b = id ? id[row_b] : row_b; /* first documents of their groups */
  if (s->same[a] == a && s->same[b] == b) return give(s, a, b, distance, err);
  uint64_t cap = s->request->cap, n_a = group_size(s, a), n_b = group_size(s, b);
  if (cap && (n_a > cap || n_b > cap)) {
    s->stats.left_out += n_a * n_b - (n_a + n_b - 1);
    ND_TRY(give_group(s, b, a, distance, err));
    for (uint32_t x = s->same[a]; x != a; x = s->same[x]) ND_TRY(give(s, x, b, distance, err));
    return ND_OK;
  }
  uint32_t x = a;
  do {
    ND_TRY(give_group(s, b, x, distance, err));
    x = s->same[x];
  } while (x != a);
  return ND_OK;
}

/* --- pieces ----------------------------------------------------------------------- */

/* Returns the mask of bits [begin, end) in word w, which is not empty. */
ND_INLINE uint64_t range_mask(uint32_t w, uint32_t begin, uint32_t end) {
  uint64_t mask = ~(uint64_t)0;
  if (begin > 64 * w) mask <<= begin - 64 * w;
  if (end < 64 * w + 64) mask &= ~(uint64_t)0 >> (64 * w + 64 - end);
  return mask;
}

ND_INLINE bool differ_in(const uint64_t *a, const uint64_t *b, uint32_t begin, uint32_t end) {
  for (uint32_t w = begin / 64; 64 * w < end; w++) {
    if ((a[w] ^ b[w]) & range_mask(w, begin, end)) return true;
  }
  return false;
}

/* Tests whether the pair counts here: equal in the shared piece, different in all before it. */
static bool belongs(const nd_solver *s, const uint64_t *a, const uint64_t *b) {
  for (unsigned d = 0; d < s->depth; d++) {
    const nd_solve_level *l = &s->level[d];
    if (differ_in(a, b, l->bound[l->at], l->bound[l->at + 1])) return false;
    for (uint32_t p = 0; p < l->at; p++) {
      if (!differ_in(a, b, l->bound[p], l->bound[p + 1])) return false;
    }
  }
  return true;
}

nd_flat_hash nd_solve_hash(const nd_hamming_request *r, uint32_t begin, uint32_t end) {
  if (r->words > 1) return (nd_flat_hash){~(uint64_t)0, 1};
  return (nd_flat_hash){range_mask(0, begin, end), 0x9e3779b97f4a7c15u};
}

uint64_t nd_solve_piece(const uint64_t *vector, uint32_t begin, uint32_t end) {
  uint64_t h = 0x2545f4914f6cdd1du;
  for (uint32_t w = begin / 64; 64 * w < end; w++)
    h = nd_fold(h ^ (vector[w] & range_mask(w, begin, end)), 0xa0761d6478bd642fu) + w;
  return nd_mix(h);
}

void nd_solve_tally(nd_bit_tally *t, const uint64_t *vector, uint32_t words) {
  for (uint32_t w = 0; w < words; w++) {
    for (uint32_t b = 0; b < 64; b++) t->ones[64 * w + b] += vector[w] >> b & 1;
  }
  t->n++;
}

/* Returns how well a bit distinguishes two vectors: 4 p (1 - p) scaled to 1024, where p is the
 * share of vectors that have it. */
ND_INLINE uint64_t weight_of(const nd_bit_tally *t, uint32_t bit) {
  uint64_t n = t->n;
  return n ? 4096 * (uint64_t)t->ones[bit] * (n - t->ones[bit]) / (n * n) : 0;
}

static uint64_t region_weight(const nd_bit_tally *t, nd_region region) {
  uint64_t sum = 0;
  for (uint32_t i = region.begin; i < region.end; i++) sum += weight_of(t, i);
  return sum;
}

bool nd_solve_cut(uint16_t *bound, const nd_bit_tally *t, nd_region region, uint32_t pieces) {
  uint64_t total = region_weight(t, region), seen = 0;
  uint32_t at = 1;
  if (total == 0 || region.end - region.begin < pieces) return false;
  bound[0] = (uint16_t)region.begin;
  for (uint32_t i = region.begin; at < pieces; i++) {
    seen += weight_of(t, i);
    /* Each remaining piece needs at least one bit. */
    if (seen * pieces >= total * at || region.end - i - 1 == pieces - at)
      bound[at++] = (uint16_t)(i + 1);
  }
  bound[pieces] = (uint16_t)region.end;
  return true;
}

bool nd_solve_pays(double squares, double n, uint32_t pieces) {
  enum { MOVE = 64 }; /* comparisons per move of a vector, by time */
  return squares + (double)MOVE * n * pieces < 0.85 * n * n;
}

size_t nd_solve_small(uint32_t distance) {
  size_t n = 64 * ((size_t)distance + 1);
  return n < 256 ? 256 : n > 1024 ? 1024 : n;
}

ND_INLINE const uint64_t *vector_of(const nd_solver *s, uint32_t row) {
  return s->set->vectors + (size_t)row * s->request->words;
}

void nd_solve_load(uint64_t *key, const nd_solver *s, const uint32_t *row, size_t n, uint32_t begin,
                   uint32_t end) {
  enum { AHEAD = 24 }; /* rows are far apart in memory: prefetch */
  const bool wide = s->request->words > 1;
  for (size_t i = 0; i < n; i++) {
    if (i + AHEAD < n) __builtin_prefetch(vector_of(s, row[i + AHEAD]) + begin / 64);
    const uint64_t *v = vector_of(s, row[i]);
    key[i] = wide ? nd_solve_piece(v, begin, end) : *v;
  }
}

/* Updates the keys of wide vectors for the piece. */
static void load_piece(uint64_t *key, const nd_solver *s, const uint32_t *row, size_t n,
                       uint32_t begin, uint32_t end) {
  if (s->request->words > 1) nd_solve_load(key, s, row, n, begin, end);
}

void nd_solve_split(const nd_solver *s, uint32_t *row, size_t n, uint32_t begin, uint32_t end,
                    unsigned skip, unsigned bits, uint32_t *start) {
  const nd_flat_hash hash = nd_solve_hash(s->request, begin, end);
  const bool wide = s->request->words > 1;
  uint32_t at[1 << ND_FLAT_SPLIT_BITS];
  size_t slots = (size_t)1 << bits;
#define SLOT_OF(r)                                                                                 \
  nd_flat_slot(                                                                                    \
      nd_flat_hash_of(hash, wide ? nd_solve_piece(vector_of(s, r), begin, end) : *vector_of(s, r)) \
          << skip,                                                                                 \
      bits)
  memset(at, 0, slots * sizeof *at);
  for (size_t i = 0; i < n; i++) at[SLOT_OF(row[i])]++;
  uint32_t sum = 0;
  for (size_t b = 0; b < slots; b++) {
    start[b] = sum;
    sum += at[b];
    at[b] = start[b];
  }
  start[slots] = sum;
  for (size_t b = 0; b < slots; b++) {
    while (at[b] < start[b + 1]) {
      uint32_t r = row[at[b]];
      for (size_t slot; (slot = SLOT_OF(r)) != b;) {
        uint32_t next = row[at[slot]];
        row[at[slot]++] = r;
        r = next;
      }
      row[at[b]++] = r;
    }
  }
#undef SLOT_OF
}

/* Returns the sum of the squared bucket sizes of a partition by piece p of the level.  key =
 * NULL: reads the vectors in place. */
static double piece_squares(const nd_solver *s, uint64_t *key, const uint32_t *row, size_t n,
                            const nd_solve_level *l, uint32_t p) {
  uint32_t count[1 << ND_FLAT_SPLIT_BITS], begin = l->bound[p], end = l->bound[p + 1];
  nd_flat_hash hash = nd_solve_hash(s->request, begin, end);
  uint64_t few[ND_FLAT_BATCH];
  memset(count, 0, sizeof *count << l->bits);
  if (key) load_piece(key, s, row, n, begin, end);
  for (size_t i = 0; i < n; i += ND_FLAT_BATCH) {
    size_t m = n - i < ND_FLAT_BATCH ? n - i : ND_FLAT_BATCH;
    if (!key) nd_solve_load(few, s, row + i, m, begin, end);
    const uint64_t *from = key ? key + i : few;
    for (size_t k = 0; k < m; k++) count[nd_flat_slot(nd_flat_hash_of(hash, from[k]), l->bits)]++;
  }
  double sum = 0;
  for (size_t b = 0; b < (size_t)1 << l->bits; b++) sum += (double)count[b] * count[b];
  return sum;
}

nd_region nd_solve_region(const nd_hamming_request *r, const nd_bit_tally *t, nd_region region) {
  nd_region all = {0, 64 * r->words, r->distance};
  double width = (double)region_weight(t, region) / (region.budget + 1.0);
  /* Choose the region with wider pieces. */
  return width < 0.8 * (double)region_weight(t, all) / (all.budget + 1.0) ? all : region;
}

static unsigned bucket_bits(size_t n) {
  unsigned bits = 1;
  while (bits < ND_FLAT_SPLIT_BITS && n >> bits > 4) bits++;
  return bits;
}

/* Chooses how to partition a bucket; returns false if comparing all pairs is better. */
static bool choose(const nd_solver *s, nd_solve_level *l, uint64_t *key, const uint32_t *row,
                   size_t n, nd_region region) {
  const nd_hamming_request *r = s->request;
  nd_bit_tally tally;
  size_t step = n / ND_SOLVE_SAMPLE + 1;
  nd_solve_tally_start(&tally);
  for (size_t i = 0; i < n; i += step) nd_solve_tally(&tally, vector_of(s, row[i]), r->words);
  l->region = nd_solve_region(r, &tally, region);
  l->pieces = l->region.budget + 1;
  if (!nd_solve_cut(l->bound, &tally, l->region, l->pieces)) return false;
  l->bits = bucket_bits(n);
  double squares = 0;
  for (uint32_t p = 0; p < l->pieces; p++) {
    squares += piece_squares(s, key, row, n, l, p);
    if (!nd_solve_pays(squares, (double)n, l->pieces)) return false;
  }
  return true;
}

/* --- comparing -------------------------------------------------------------------- */

/* Two runs of rows: compare each row of the first with all of the second or, if both are the
 * same run, with all after it.  keyed: only rows with equal keys (wide vectors). */
typedef struct runs {
  const uint64_t *key_a, *key_b;
  const uint32_t *row_a, *row_b;
  size_t a, b;
  bool one, keyed;
} runs;

/* Wide vectors are read in place: those with different keys share no piece and are not read,
 * and for the others the first words may be enough. */
static nd_status compare_wide(nd_solver *s, const runs *q, nd_error *err) {
  const nd_hamming_request *r = s->request;
  uint32_t words = r->words, step = 8;
  for (size_t j = q->one; j < q->b; j++) { /* few vectors of a, which stay in the cache */
    const uint64_t *b = vector_of(s, q->row_b[j]);
    for (size_t i = 0; i < (q->one ? j : q->a); i++) {
      if (q->keyed && q->key_a[i] != q->key_b[j]) continue;
      const uint64_t *a = vector_of(s, q->row_a[i]);
      uint32_t d = 0;
      for (uint32_t w = 0; w < words && d <= r->distance; w += step)
        d += s->differ(a + w, b + w, words - w < step ? words - w : step);
      s->stats.compared++;
      if (d <= r->distance && belongs(s, a, b))
        ND_TRY(give_vectors(s, q->row_a[i], q->row_b[j], d, err));
    }
  }
  return ND_OK;
}

static nd_status compare(nd_solver *s, const runs *q, nd_error *err) {
  if (s->request->words > 1) return compare_wide(s, q, err);
  s->stats.compared += q->one ? q->a * (q->a - 1) / 2 : q->a * q->b;
  uint32_t distance = s->request->distance;
  for (size_t block = q->one; block < q->b; block += ND_SOLVE_BLOCK) {
    size_t stop = q->b - block < ND_SOLVE_BLOCK ? q->b : block + ND_SOLVE_BLOCK;
    for (size_t i = 0; i < q->a && (!q->one || i + 1 < stop); i++) {
      size_t from = q->one && block < i + 1 ? i + 1 : block;
      size_t hits = s->match(s->hit, q->key_b + from, stop - from, q->key_a[i], distance);
      for (size_t h = 0; h < hits; h++) {
        size_t j = from + s->hit[h];
        if (!belongs(s, q->key_a + i, q->key_b + j)) continue;
        ND_TRY(give_vectors(s, q->row_a[i], q->row_b[j], nd_bits_count(q->key_a[i] ^ q->key_b[j]),
                            err));
      }
    }
  }
  return ND_OK;
}

nd_status nd_solve_range(nd_solver *s, const uint32_t *row, size_t begin, size_t end, size_t from,
                         size_t last, nd_error *err) {
  const bool wide = s->request->words > 1;
  size_t n = end - begin;
  uint64_t *mine = s->key, *theirs = s->key + n;
  if (!wide) nd_solve_load(mine, s, row + begin, n, 0, 0);
  if (from == begin) {
    runs q = {mine, mine, row + begin, row + begin, n, n, true, false};
    ND_TRY(compare(s, &q, err));
    from = end;
  }
  for (size_t m; from < last; from += m) {
    m = last - from < ND_SOLVE_KEYS - n ? last - from : ND_SOLVE_KEYS - n;
    if (!wide) nd_solve_load(theirs, s, row + from, m, 0, 0);
    runs q = {mine, theirs, row + begin, row + from, n, m, false, false};
    ND_TRY(compare(s, &q, err));
  }
  return ND_OK;
}

/* --- partitioning ----------------------------------------------------------------- */

/* Returns the region after the shared piece of a level. */
static nd_region behind(const nd_solve_level *l) {
  return (nd_region){l->bound[l->at + 1], l->region.end, l->region.budget - l->at};
}

/* Processes a bucket whose keys are fetched. */
static nd_status solve_keyed(nd_solver *s, uint64_t *key, uint32_t *row, size_t n, nd_region region,
                             nd_error *err) {
  if (n < 2) return ND_OK;
  nd_solve_level *l = &s->level[s->depth];
  bool small = n <= nd_solve_small(s->request->distance) || s->depth == ND_SOLVE_DEPTH;
  if (small || !choose(s, l, key, row, n, region)) {
    /* The choice has overwritten the keys. */
    runs q = {key, key, row, row, n, n, true, small && s->depth > 0};
    return compare(s, &q, err);
  }
  s->depth++;
  for (uint32_t p = 0; p < l->pieces; p++) {
    l->at = p;
    load_piece(key, s, row, n, l->bound[p], l->bound[p + 1]);
    nd_flat_split(key, row, n, nd_solve_hash(s->request, l->bound[p], l->bound[p + 1]), 0, l->bits,
                  l->start);
    for (size_t b = 0; b < (size_t)1 << l->bits; b++)
      ND_TRY(solve_keyed(s, key + l->start[b], row + l->start[b], l->start[b + 1] - l->start[b],
                         behind(l), err));
  }
  s->depth--;
  return ND_OK;
}

/* A bucket with more rows than keys fetched at once. */
static nd_status solve_large(nd_solver *s, uint32_t *row, size_t n, nd_region region,
                             nd_error *err) {
  nd_solve_level *l = &s->level[s->depth];
  if (s->depth == ND_SOLVE_DEPTH || !choose(s, l, NULL, row, n, region)) {
    for (size_t i = 0; i < n; i += ND_SOLVE_KEYS / 2)
      ND_TRY(nd_solve_range(s, row, i, n - i < ND_SOLVE_KEYS / 2 ? n : i + ND_SOLVE_KEYS / 2, i, n,
                            err));
    return ND_OK;
  }
  s->depth++;
  for (uint32_t p = 0; p < l->pieces; p++) {
    l->at = p;
    nd_solve_split(s, row, n, l->bound[p], l->bound[p + 1], 0, l->bits, l->start);
    for (size_t b = 0; b < (size_t)1 << l->bits; b++)
      ND_TRY(nd_solve(s, row + l->start[b], l->start[b + 1] - l->start[b], behind(l), err));
  }
  s->depth--;
  return ND_OK;
}

nd_status nd_solve(nd_solver *s, uint32_t *row, size_t n, nd_region region, nd_error *err) {
  if (n < 2) return ND_OK;
  if (n > ND_SOLVE_KEYS) return solve_large(s, row, n, region, err);
  const nd_solve_level *l = s->depth ? &s->level[s->depth - 1] : NULL;
  nd_solve_load(s->key, s, row, n, l ? l->bound[l->at] : 0, l ? l->bound[l->at + 1] : 0);
  return solve_keyed(s, s->key, row, n, region, err);
}

nd_status nd_solve_bucket(nd_solver *s, uint32_t *row, size_t n, unsigned skip, nd_error *err) {
  nd_solve_level *l = &s->level[s->depth - 1];
  const uint32_t begin = l->bound[l->at], end = l->bound[l->at + 1];
  if (n <= nd_solve_small(s->request->distance)) return nd_solve(s, row, n, behind(l), err);
  l->bits = bucket_bits(n);
  if (n > ND_SOLVE_KEYS) {
    nd_solve_split(s, row, n, begin, end, skip, l->bits, l->start);
    for (size_t b = 0; b < (size_t)1 << l->bits; b++)
      ND_TRY(nd_solve(s, row + l->start[b], l->start[b + 1] - l->start[b], behind(l), err));
    return ND_OK;
  }
  nd_solve_load(s->key, s, row, n, begin, end);
  nd_flat_split(s->key, row, n, nd_solve_hash(s->request, begin, end), skip, l->bits, l->start);
  for (size_t b = 0; b < (size_t)1 << l->bits; b++)
    ND_TRY(solve_keyed(s, s->key + l->start[b], row + l->start[b], l->start[b + 1] - l->start[b],
                       behind(l), err));
  return ND_OK;
}
