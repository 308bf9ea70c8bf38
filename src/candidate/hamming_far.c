/* Pairs within a Hamming distance, for vectors that do not fit the memory.
 *
 *   1  sort hashes of all vectors out of core, and link equal vectors
 *   2  choose the pieces from one vector in every N
 *   3  for each piece, partition the vectors by its hash (deal.h) and search each part in
 *      memory, at the level of that piece
 *
 * A part that is too large has many vectors that share the piece: it is partitioned by the next
 * level of pieces.  Parts that cannot be split are compared block by block. */
#include <xxhash.h>

#include "candidate/deal.h"
#include "candidate/hamming_work.h"

enum { ROOM = 1 << 12, SAMPLE_LEAST = 1 << 8, SAMPLE_MOST = 1 << 18, TALLIED = 1 << 12 };

typedef struct far {
  nd_search *search;
  uint32_t words;
  uint64_t fit;      /* vectors that fit in memory */
  uint64_t *vectors; /* room for `fit` vectors */
  uint32_t *id;      /* their documents */
  uint64_t *record;  /* ROOM records: a vector and its document */
  uint64_t n;        /* different vectors */
  /* Used by the scans of steps 1, 2 and 3: */
  nd_sorter *sorter;   /* 1 */
  uint64_t seen, step; /* 2 */
  nd_deal *deal;       /* 3 */
  unsigned bits;       /* 2^bits parts */
  uint32_t begin, end; /* the piece; begin = end: a single part */
} far;

static nd_status scan(far *f, nd_vector_take take, nd_error *err) {
  const nd_hamming_request *r = f->search->request;
  ND_TRY(nd_search_check(f->search, err));
  return r->scan(r->scan_context, take, f, err);
}

/* --- 1: equal vectors ------------------------------------------------------------- */

/* A wide vector is represented by 96 bits of a hash. */
static nd_status take_hashes(void *to, const uint64_t *vector, const uint32_t *number, size_t n,
                             nd_error *err) {
  const far *f = to;
  nd_item items[256];
  for (size_t done = 0; done < n;) {
    size_t m = n - done < 256 ? n - done : 256;
    for (size_t i = 0; i < m; i++, done++) {
      const uint64_t *v = vector + done * f->words;
      if (f->words == 1) {
        items[i] = (nd_item){*v, number[done]};
      } else {
        XXH128_hash_t h = XXH3_128bits(v, f->words * sizeof *v);
        items[i] = (nd_item){h.low64, (h.high64 & ~(uint64_t)UINT32_MAX) | number[done]};
      }
    }
    ND_TRY(nd_sorter_add(f->sorter, items, m, err));
  }
  return ND_OK;
}

/* Links equal vectors among those with the same hash, which are adjacent. */
typedef struct linking {
  far *far;
  nd_item last;
  uint32_t first; /* first document of the current group */
} linking;

static nd_status link_some(void *context, nd_item *items, size_t n, nd_error *err) {
  linking *l = context;
  nd_search *s = l->far->search;
  for (size_t i = 0; i < n; i++) {
    uint32_t document = (uint32_t)items[i].value;
    bool equal = l->first != ND_SOLVE_ABSENT && items[i].key == l->last.key &&
                 items[i].value >> 32 == l->last.value >> 32;
    if (equal) {
      s->same[document] = (uint32_t)l->last.value;
    } else {
      if (l->first != ND_SOLVE_ABSENT && (uint32_t)l->last.value != l->first)
        ND_TRY(nd_solve_equal(s->solver[0], l->first, err));
      l->first = document;
      l->far->n++;
    }
    s->same[l->first] = document;
    l->last = items[i];
  }
  return ND_OK;
}

static nd_status read_groups(far *f, nd_error *err) {
  nd_search *s = f->search;
  linking l = {.far = f, .first = ND_SOLVE_ABSENT};
  ND_TRY(nd_sorter_each(f->sorter, link_some, &l, err));
  s->solver[0]->stats.vectors = f->n;
  if (l.first == ND_SOLVE_ABSENT || s->same[l.first] == l.first) return ND_OK;
  return nd_solve_equal(s->solver[0], l.first, err);
}

static nd_status equal_vectors(far *f, nd_error *err) {
  const nd_hamming_request *r = f->search->request;
  ND_TRY(nd_sorter_new(&f->sorter, r->memory, r->dir, false, err));
  nd_sorter_by_value(f->sorter);
  nd_status status = scan(f, take_hashes, err);
  if (status == ND_OK) status = nd_sorter_finish(f->sorter, err);
  if (status == ND_OK) status = read_groups(f, err);
  nd_sorter_free(f->sorter);
  f->sorter = NULL;
  return status;
}

/* --- 2: choice of pieces ------------------------------------------------------------ */

static nd_status take_sample(void *to, const uint64_t *vector, const uint32_t *number, size_t n,
                             nd_error *err) {
  (void)err;
  far *f = to;
  nd_search *s = f->search;
  for (size_t i = 0; i < n; i++) {
    if (!nd_solve_is_first(s->same, number[i]) || f->seen++ % f->step) continue;
    memcpy(f->vectors + s->set.n * f->words, vector + i * f->words, f->words * sizeof *vector);
    f->id[s->set.n++] = number[i];
  }
  return ND_OK;
}

static nd_status plan(bool *tables, far *f, nd_error *err) {
  uint64_t most = f->fit < SAMPLE_MOST ? f->fit : SAMPLE_MOST;
  f->step = (f->n + most - 1) / most;
  f->seen = f->search->set.n = 0;
  ND_TRY(scan(f, take_sample, err));
  return nd_search_choose(tables, f->search, f->n, err);
}

/* --- 3: parts ------------------------------------------------------------------------- */

static uint32_t part_of(const far *f, const uint64_t *vector) {
  if (f->begin == f->end) return 0;
  nd_flat_hash hash = nd_solve_hash(f->search->request, f->begin, f->end);
  uint64_t key = f->words == 1 ? *vector : nd_solve_piece(vector, f->begin, f->end);
  /* A different hash from that of a table, whose buckets would otherwise be uneven. */
  return (uint32_t)nd_flat_slot((key & hash.mask) * 0xd1b54a32d192ed03u, f->bits);
}

static nd_status take_dealt(void *to, const uint64_t *vector, const uint32_t *number, size_t n,
                            nd_error *err) {
  far *f = to;
  uint64_t record[ND_HAMMING_WORDS + 1];
  for (size_t i = 0; i < n; i++) {
    if (!nd_solve_is_first(f->search->same, number[i])) continue;
    const uint64_t *v = vector + i * f->words;
    memcpy(record, v, f->words * sizeof *v);
    record[f->words] = number[i];
    ND_TRY(nd_deal_add(f->deal, part_of(f, v), record, err));
  }
  return ND_OK;
}

/* Appends n vectors of a part to the set. */
static nd_status load(far *f, const nd_deal *deal, uint32_t part, uint64_t first, uint64_t n,
                      nd_error *err) {
  nd_vector_set *set = &f->search->set;
  for (uint64_t done = 0; done < n;) {
    size_t m = n - done < ROOM ? (size_t)(n - done) : ROOM;
    ND_TRY(nd_deal_read(f->record, deal, part, first + done, m, err));
    const uint64_t *from = f->record;
    for (size_t i = 0; i < m; i++, set->n++, from += f->words + 1) {
      memcpy(f->vectors + set->n * f->words, from, f->words * sizeof *from);
      f->id[set->n] = (uint32_t)from[f->words];
    }
    done += m;
  }
  return ND_OK;
}

/* Half of the memory for a block, half for the vectors compared with it. */
static nd_status compare_blocks(far *f, const nd_deal *deal, uint32_t part, nd_error *err) {
  nd_search *s = f->search;
  const uint64_t n = nd_deal_count(deal, part), half = f->fit / 2;
  for (uint64_t a = 0; a < n; a += half) {
    uint64_t in_a = n - a < half ? n - a : half;
    s->set.n = 0;
    ND_TRY(load(f, deal, part, a, in_a, err));
    ND_TRY(nd_search_rows(s, err));
    ND_TRY(nd_search_all(s, in_a, 0, in_a, err));
    for (uint64_t b = a + in_a; b < n; b += half) {
      uint64_t in_b = n - b < half ? n - b : half;
      s->set.n = in_a;
      ND_TRY(load(f, deal, part, b, in_b, err));
      ND_TRY(nd_search_rows(s, err));
      ND_TRY(nd_search_all(s, in_a, in_a, in_a + in_b, err));
    }
  }
  return ND_OK;
}

/* Chooses how to partition a part again; returns false if that does not help. */
static nd_status cut_part(bool *cut, nd_solve_level *l, far *f, const nd_deal *deal, uint32_t part,
                          nd_region region, nd_error *err) {
  nd_search *s = f->search;
  const uint64_t n = nd_deal_count(deal, part);
  const uint64_t runs = 64, each = n / runs < f->fit / runs ? n / runs : f->fit / runs;
  *cut = false;
  s->set.n = 0; /* sample runs from the entire part */
  for (uint64_t i = 0; i < runs; i++)
    ND_TRY(load(f, deal, part, n / runs * i, each < TALLIED ? each : TALLIED, err));
  nd_bit_tally tally;
  nd_solve_tally_start(&tally);
  for (uint64_t i = 0; i < s->set.n; i++)
    nd_solve_tally(&tally, f->vectors + i * f->words, f->words);
  l->region = nd_solve_region(s->request, &tally, region);
  l->pieces = l->region.budget + 1;
  if (!nd_solve_cut(l->bound, &tally, l->region, l->pieces)) return ND_OK;
  double squares = 0, scale = (double)n / (double)s->set.n;
  for (uint32_t p = 0; p < l->pieces; p++) {
    uint32_t count[1 << ND_FLAT_SPLIT_BITS] = {0};
    nd_flat_hash hash = nd_solve_hash(s->request, l->bound[p], l->bound[p + 1]);
    for (uint64_t i = 0; i < s->set.n; i++) {
      const uint64_t *v = f->vectors + i * f->words;
      uint64_t key = f->words == 1 ? *v : nd_solve_piece(v, l->bound[p], l->bound[p + 1]);
      count[nd_flat_slot(nd_flat_hash_of(hash, key), ND_FLAT_SPLIT_BITS)]++;
    }
    for (size_t b = 0; b < (size_t)1 << ND_FLAT_SPLIT_BITS; b++)
      squares += (double)count[b] * (count[b] - (count[b] != 0));
  }
  *cut = nd_solve_pays(squares * scale * scale, (double)n, l->pieces);
  return ND_OK;
}

static nd_status solve_parts(far *f, nd_deal *deal, unsigned bits, unsigned depth, nd_error *err);

static nd_status new_deal(nd_deal **out, far *f, uint64_t n, bool one, nd_error *err) {
  const nd_hamming_request *r = f->search->request;
  /* Buffers are there while nothing else is, but for the parts of the levels above. */
  f->bits = one ? 0 : nd_deal_bits(n, f->fit);
  return nd_deal_new(out, (uint32_t)1 << f->bits, f->words + 1, r->memory / 4, r->dir, err);
}

static nd_status deal_again(nd_deal *to, far *f, const nd_deal *from, uint32_t part,
                            nd_error *err) {
  const uint64_t n = nd_deal_count(from, part);
  for (uint64_t done = 0; done < n;) {
    size_t m = n - done < ROOM ? (size_t)(n - done) : ROOM;
    ND_TRY(nd_deal_read(f->record, from, part, done, m, err));
    for (size_t i = 0; i < m; i++) {
      const uint64_t *record = f->record + i * (f->words + 1);
      ND_TRY(nd_deal_add(to, part_of(f, record), record, err));
    }
    done += m;
  }
  return nd_deal_finish(to, err);
}

/* Searches a part whose vectors share a hash of the piece of level `depth`. */
static nd_status solve_part(far *f, const nd_deal *deal, uint32_t part, unsigned depth,
                            nd_error *err) {
  nd_search *s = f->search;
  const uint64_t n = nd_deal_count(deal, part);
  if (n < 2) return ND_OK;
  ND_TRY(nd_search_check(s, err));
  if (n <= f->fit) {
    s->set.n = 0;
    ND_TRY(load(f, deal, part, 0, n, err));
    return nd_search_table(s, depth, err);
  }
  bool cut = false;
  const nd_solve_level *above = &s->solver[0]->level[depth];
  nd_region region = {above->bound[above->at + 1], above->region.end,
                      above->region.budget - above->at};
  nd_solve_level *l = nd_calloc(1, sizeof *l);
  if (!l) return nd_fail_memory(err, sizeof *l);
  nd_status status = ND_OK;
  if (depth + 1 < ND_SOLVE_DEPTH) status = cut_part(&cut, l, f, deal, part, region, err);
  if (status == ND_OK && !cut) status = compare_blocks(f, deal, part, err);
  for (uint32_t p = 0; status == ND_OK && cut && p < l->pieces; p++) {
    nd_deal *next = NULL;
    l->at = p;
    nd_search_level(s, depth + 1, l);
    f->begin = l->bound[p];
    f->end = l->bound[p + 1];
    status = new_deal(&next, f, n, false, err);
    unsigned bits = f->bits;
    if (status == ND_OK) status = deal_again(next, f, deal, part, err);
    if (status == ND_OK) status = solve_parts(f, next, bits, depth + 1, err);
    nd_deal_free(next);
  }
  nd_free(l);
  for (unsigned i = 0; i < s->threads; i++) s->solver[i]->depth = depth + 1;
  return status;
}

static nd_status solve_parts(far *f, nd_deal *deal, unsigned bits, unsigned depth, nd_error *err) {
  for (uint32_t part = 0; part < (uint32_t)1 << bits; part++)
    ND_TRY(solve_part(f, deal, part, depth, err));
  return ND_OK;
}

static nd_status solve_piece(far *f, uint32_t p, nd_error *err) {
  nd_search *s = f->search;
  s->plan.at = p;
  nd_search_level(s, 0, &s->plan);
  f->begin = s->plan.bound[p];
  f->end = s->plan.bound[p + 1];
  ND_TRY(new_deal(&f->deal, f, f->n, false, err));
  unsigned bits = f->bits;
  nd_status status = scan(f, take_dealt, err);
  if (status == ND_OK) status = nd_deal_finish(f->deal, err);
  if (status == ND_OK) status = solve_parts(f, f->deal, bits, 0, err);
  nd_deal_free(f->deal);
  f->deal = NULL;
  return status;
}

static nd_status solve_all(far *f, nd_error *err) {
  f->begin = f->end = 0;
  ND_TRY(new_deal(&f->deal, f, f->n, true, err));
  nd_status status = scan(f, take_dealt, err);
  if (status == ND_OK) status = nd_deal_finish(f->deal, err);
  if (status == ND_OK) status = compare_blocks(f, f->deal, 0, err);
  nd_deal_free(f->deal);
  f->deal = NULL;
  return status;
}

static nd_status run(far *f, nd_error *err) {
  nd_search *s = f->search;
  const uint32_t words = f->words;
  f->record = nd_malloc(ROOM * (words + 1) * sizeof *f->record);
  if (!f->record) return nd_fail_memory(err, ROOM * (words + 1) * sizeof *f->record);
  ND_TRY(equal_vectors(f, err));
  /* Allocate after sorting has freed its memory. */
  f->vectors = nd_malloc(f->fit * words * sizeof *f->vectors);
  f->id = nd_malloc(f->fit * sizeof *f->id);
  if (!f->vectors || !f->id) return nd_fail_memory(err, f->fit * words * sizeof *f->vectors);
  ND_TRY(nd_flat_init(&s->table, f->fit, false, err));
  s->set = (nd_vector_set){f->vectors, f->id, 0};
  bool tables;
  ND_TRY(plan(&tables, f, err));
  if (!tables) return solve_all(f, err);
  for (uint32_t p = 0; p < s->plan.pieces && p <= s->request->distance; p++)
    ND_TRY(solve_piece(f, p, err));
  return ND_OK;
}

nd_status nd_search_far(nd_search *s, nd_error *err) {
  const nd_hamming_request *r = s->request;
  far f = {.search = s, .words = r->words};
  /* A quarter is for partitioning. */
  f.fit = r->memory / 4 * 3 / (nd_hamming_bytes(1, r->words));
  if (f.fit < SAMPLE_LEAST) f.fit = SAMPLE_LEAST;
  if (f.fit > r->n) f.fit = r->n + 2;
  nd_status status = run(&f, err);
  nd_free(f.record);
  nd_free(f.vectors);
  nd_free(f.id);
  return status;
}
