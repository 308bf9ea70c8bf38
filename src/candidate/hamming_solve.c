/* One bucket; see hamming_solve.h. */
#include "candidate/hamming_solve.h"

#include "base/bits.h"
#include "base/hash.h"

/* --- pairs on their way out --------------------------------------------------- */

nd_status nd_solve_flush(nd_solver *s, nd_error *err) {
  size_t n = s->out_n;
  s->out_n = 0;
  return n ? nd_sorter_add(s->pairs, s->out, n, err) : ND_OK;
}

static nd_status give(nd_solver *s, uint32_t i, uint32_t j, uint32_t distance, nd_error *err) {
  const nd_hamming_request *r = s->request;
  uint32_t low = i < j ? i : j, high = i < j ? j : i;
  uint32_t a = r->number ? r->number[low] : low, b = r->number ? r->number[high] : high;
  if (r->split && (a >= r->split || b < r->split)) return ND_OK;
  s->stats.pairs++;
  s->out[s->out_n++] = (nd_item){(uint64_t)a << 32 | b, distance};
  return s->out_n == ND_SOLVE_BATCH ? nd_solve_flush(s, err) : ND_OK;
}

static uint64_t group_size(const nd_solver *s, uint32_t first) {
  uint64_t n = 1;
  for (uint32_t x = s->same[first]; x != first; x = s->same[x]) n++;
  return n;
}

/* All members of the group of `first` with one row. */
static nd_status give_group(nd_solver *s, uint32_t first, uint32_t row, uint32_t distance,
                            nd_error *err) {
  uint32_t x = first;
  do {
    if (x != row) ND_TRY(give(s, x, row, distance, err));
    x = s->same[x];
  } while (x != first);
  return ND_OK;
}

nd_status nd_solve_equal(nd_solver *s, uint32_t row, nd_error *err) {
  uint64_t n = group_size(s, row), cap = s->request->cap;
  if (cap && n > cap) {
    s->stats.hot++;
    s->stats.hot_documents += n;
    s->stats.left_out += n * (n - 1) / 2 - (n - 1);
    return give_group(s, row, row, 0, err);
  }
  /* From the last to the first, each with those before it. */
  for (uint32_t x = s->same[row]; x != row; x = s->same[x]) {
    for (uint32_t y = s->same[x];; y = s->same[y]) {
      ND_TRY(give(s, x, y, 0, err));
      if (y == row) break;
    }
  }
  return ND_OK;
}

/* Two different vectors within the distance, by the first rows that have them. */
static nd_status give_vectors(nd_solver *s, uint32_t a, uint32_t b, uint32_t distance,
                              nd_error *err) {
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

/* Bits [begin, end) of word w. */
ND_INLINE uint64_t range_mask(uint32_t w, uint32_t begin, uint32_t end) {
  uint64_t mask = ~(uint64_t)0;
  if (begin > 64 * w) mask = begin >= 64 * w + 64 ? 0 : mask << (begin - 64 * w);
  if (end < 64 * w + 64) mask &= end <= 64 * w ? 0 : ~(uint64_t)0 >> (64 * w + 64 - end);
  return mask;
}

ND_INLINE bool differ_in(const uint64_t *a, const uint64_t *b, uint32_t begin, uint32_t end) {
  for (uint32_t w = begin / 64; 64 * w < end; w++) {
    if ((a[w] ^ b[w]) & range_mask(w, begin, end)) return true;
  }
  return false;
}

/* Does the pair belong here: equal in the shared piece, different in all before it? */
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

/* How much a bit tells two vectors apart: 1024 when half of them have it, 0 when all
 * agree; 4 p (1 - p) in between. */
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
    /* Each of those to come needs a bit at least. */
    if (seen * pieces >= total * at || region.end - i - 1 == pieces - at)
      bound[at++] = (uint16_t)(i + 1);
  }
  bound[pieces] = (uint16_t)region.end;
  return true;
}

bool nd_solve_pays(double squares, double n, uint32_t pieces) {
  enum { MOVE = 64 }; /* comparisons that take as long as moving a vector */
  return squares + (double)MOVE * n * pieces < 0.85 * n * n;
}

size_t nd_solve_small(uint32_t distance) {
  size_t n = 64 * ((size_t)distance + 1);
  return n < 256 ? 256 : n > 1024 ? 1024 : n;
}

/* Brings the keys of wide vectors up to the piece. */
static void load_piece(nd_solver *s, size_t begin, size_t end, uint32_t first, uint32_t last) {
  const nd_hamming_request *r = s->request;
  if (r->words == 1) return;
  nd_flat *t = s->table;
  for (size_t i = begin; i < end; i++)
    t->key[i] = nd_solve_piece(r->vectors + (size_t)t->row[i] * r->words, first, last);
}

/* The sum of the squares of the bucket sizes, if cut by piece p of the level. */
static double piece_squares(nd_solver *s, size_t begin, size_t end, const nd_solve_level *l,
                            uint32_t p) {
  uint32_t count[1 << ND_FLAT_SPLIT_BITS];
  nd_flat_hash hash = nd_solve_hash(s->request, l->bound[p], l->bound[p + 1]);
  load_piece(s, begin, end, l->bound[p], l->bound[p + 1]);
  memset(count, 0, sizeof *count << l->bits);
  for (size_t i = begin; i < end; i++)
    count[nd_flat_slot(nd_flat_hash_of(hash, s->table->key[i]), l->bits)]++;
  double sum = 0;
  for (size_t b = 0; b < (size_t)1 << l->bits; b++) sum += (double)count[b] * count[b];
  return sum;
}

/* Chooses how to cut a bucket; false: compare all with all. */
static bool choose(nd_solver *s, nd_solve_level *l, size_t begin, size_t end, nd_region region) {
  const nd_hamming_request *r = s->request;
  const nd_flat *t = s->table;
  nd_bit_tally tally;
  size_t step = (end - begin) / ND_SOLVE_SAMPLE + 1;
  nd_solve_tally_start(&tally);
  for (size_t i = begin; i < end; i += step)
    nd_solve_tally(&tally, r->words == 1 ? t->key + i : r->vectors + (size_t)t->row[i] * r->words,
                   r->words);
  /* The bits behind the shared piece, or all of them: which gives wider pieces? */
  nd_region all = {0, 64 * r->words, r->distance};
  double width = (double)region_weight(&tally, region) / (region.budget + 1.0);
  if (width < 0.8 * (double)region_weight(&tally, all) / (all.budget + 1.0)) region = all;
  l->region = region;
  l->pieces = region.budget + 1;
  if (!nd_solve_cut(l->bound, &tally, region, l->pieces)) return false;
  l->bits = 1;
  while (l->bits < ND_FLAT_SPLIT_BITS && (end - begin) >> l->bits > 8) l->bits++;
  double squares = 0;
  for (uint32_t p = 0; p < l->pieces; p++) {
    squares += piece_squares(s, begin, end, l, p);
    if (!nd_solve_pays(squares, (double)(end - begin), l->pieces)) return false;
  }
  return true;
}

/* --- comparing -------------------------------------------------------------------- */

/* Wide vectors lie where they lie: those whose keys say that they share no piece
 * are not even looked at, and of the others the first words may be enough. */
static nd_status compare_wide(nd_solver *s, size_t begin, size_t end, size_t last, bool keyed,
                              nd_error *err) {
  const nd_hamming_request *r = s->request;
  const uint32_t *row = s->table->row;
  const uint64_t *key = s->table->key;
  uint32_t words = r->words, step = 8;
  for (size_t j = begin + 1; j < last; j++) { /* few i, which stay in the cache */
    const uint64_t *b = r->vectors + (size_t)row[j] * words;
    for (size_t i = begin; i < end && i < j; i++) {
      if (keyed && key[i] != key[j]) continue;
      const uint64_t *a = r->vectors + (size_t)row[i] * words;
      uint32_t d = 0;
      for (uint32_t w = 0; w < words && d <= r->distance; w += step)
        d += s->differ(a + w, b + w, words - w < step ? words - w : step);
      s->stats.compared++;
      if (d <= r->distance && belongs(s, a, b)) ND_TRY(give_vectors(s, row[i], row[j], d, err));
    }
  }
  return ND_OK;
}

nd_status nd_solve_rows(nd_solver *s, size_t begin, size_t end, size_t last, bool keyed,
                        nd_error *err) {
  if (s->request->words > 1) return compare_wide(s, begin, end, last, keyed, err);
  for (size_t i = begin; i < end; i++) s->stats.compared += last - i - 1;
  const uint64_t *key = s->table->key;
  const uint32_t *row = s->table->row;
  uint32_t distance = s->request->distance;
  for (size_t block = begin + 1; block < last; block += ND_SOLVE_BLOCK) {
    size_t stop = last - block < ND_SOLVE_BLOCK ? last : block + ND_SOLVE_BLOCK;
    for (size_t i = begin; i < end && i + 1 < stop; i++) {
      size_t from = block > i + 1 ? block : i + 1;
      size_t hits = s->match(s->hit, key + from, stop - from, key[i], distance);
      for (size_t h = 0; h < hits; h++) {
        size_t j = from + s->hit[h];
        if (!belongs(s, key + i, key + j)) continue;
        ND_TRY(give_vectors(s, row[i], row[j], nd_bits_count(key[i] ^ key[j]), err));
      }
    }
  }
  return ND_OK;
}

nd_status nd_solve(nd_solver *s, size_t begin, size_t end, nd_region region, nd_error *err) {
  size_t n = end - begin;
  if (n < 2) return ND_OK;
  nd_solve_level *l = &s->level[s->depth];
  if (n <= nd_solve_small(s->request->distance) || s->depth == ND_SOLVE_DEPTH)
    return nd_solve_rows(s, begin, end, end, s->depth > 0, err);
  if (!choose(s, l, begin, end, region)) return nd_solve_rows(s, begin, end, end, false, err);
  nd_flat *t = s->table;
  s->depth++;
  for (uint32_t p = 0; p < l->pieces; p++) {
    l->at = p;
    nd_region next = {l->bound[p + 1], l->region.end, l->region.budget - p};
    load_piece(s, begin, end, l->bound[p], l->bound[p + 1]);
    nd_flat_split(t->key + begin, t->row + begin, n,
                  nd_solve_hash(s->request, l->bound[p], l->bound[p + 1]), 0, l->bits, l->start);
    for (size_t b = 0; b < (size_t)1 << l->bits; b++)
      ND_TRY(nd_solve(s, begin + l->start[b], begin + l->start[b + 1], next, err));
  }
  s->depth--;
  return ND_OK;
}
