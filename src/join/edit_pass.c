/* Pass-Join (Li, Deng, Wang, Feng: "Pass-Join: a partition-based method for
 * similarity joins", 2011).
 *
 * A string of length l >= tau + 1 is split into tau + 1 segments.  tau edits leave
 * one of them intact, so a string within tau of it contains that segment as a
 * substring near its position: a match of segment i counts only with at most i
 * edits before it and at most tau - i after it (the multi-match-aware selection,
 * section 4.3; i from 0), which leaves about tau²/2 + tau + 1 substrings to look
 * up per length.
 *
 *   piece: up to SEGMENTED strings of one length, and the table of their segments
 *
 *     filter   a bit per hash of (i, segment), which ends most look-ups
 *     start    bucket → entries
 *     entry    (tag, string), bucket by bucket
 *
 * Strings are numbered by length, so a string x searches the pieces of the lengths
 * |x| - tau to |x|, among lower numbers only.  A pair may be found through several
 * segments, but is examined once: 128-bit sketches first (edit_work.h), then the
 * distance, bit-parallel and with early termination, so the paper's
 * extension-based verification would save nothing.  A hash collision can add a
 * candidate but never hides one.
 *
 * No table is built for a piece of few strings, of strings shorter than tau + 1, or
 * whose segments are so common that look-ups would find most strings anyway; there
 * the sketches of all strings are compared, a few cycles each.
 *
 * The segments may have any boundaries that all strings of a piece share.  They
 * have equal lengths at first.  If that gives too common segments (URLs with a
 * common prefix), the boundaries are chosen so that each segment has an equal share
 * of the entropy of the positions, estimated on a sample. */
#include "base/hash.h"
#include "base/threads.h"
#include "join/edit_work.h"

enum {
  SEGMENTED = 1 << 18, /* strings per piece at most */
  CHUNK = 64,          /* strings per job */
};

static const uint64_t base = 0x9e3779b97f4a7c15u;

typedef struct entry {
  uint32_t tag, string;
} entry;

typedef struct segment {
  uint32_t at, size;
  uint64_t power; /* base to the size */
} segment;

typedef struct piece {
  uint32_t first, last; /* strings of the same length */
  uint32_t length;
  bool indexed;
  unsigned shift; /* bucket = hash >> shift */
  segment *segments;
  uint32_t *start;
  entry *entries;
  uint64_t *filter;
} piece;

typedef struct wave {
  nd_edit_task *task;
  piece *pieces;
  size_t n;
  uint32_t first, last; /* the strings that search */
} wave;

static uint64_t power(uint64_t x, uint32_t n) {
  uint64_t result = 1;
  for (; n; n >>= 1, x *= x) {
    if (n & 1) result *= x;
  }
  return result;
}

/* Returns the key of a segment in a table. */
ND_INLINE uint64_t key_of(uint64_t hash, uint32_t i) {
  return nd_fold(hash + i * 0xd1b54a32d192ed03u, 0x9fb21c651e98df25u);
}

/* Returns the bit of a key in the filter, which has 16 bits per bucket. */
ND_INLINE uint64_t filter_bit(uint64_t key, unsigned shift) {
  return key >> (shift - 4);
}

ND_INLINE uint64_t hash_segment(const void *text, uint32_t from, uint32_t to, bool wide) {
  uint64_t h = 0;
  for (uint32_t i = from; i < to; i++) {
    h = h * base + (wide ? ((const uint32_t *)text)[i] : ((const uint8_t *)text)[i]) + 1;
  }
  return h;
}

/* Returns the maximum number of substrings that a string looks up in a piece. */
static uint64_t look_ups(uint64_t tau) {
  return tau * tau / 2 + tau + 1;
}

/* --- building the table of a piece ----------------------------------------- */

static void piece_clear(piece *p) {
  nd_free(p->segments);
  p->segments = NULL;
  nd_free(p->start);
  nd_free(p->entries);
  nd_free(p->filter);
  p->start = NULL;
  p->entries = NULL;
  p->filter = NULL;
}

static unsigned bits_for(uint64_t n) {
  unsigned bits = 4;
  while (((uint64_t)1 << bits) < n) bits++;
  return bits;
}

static uint64_t piece_bytes(uint64_t strings, uint64_t tau) {
  uint64_t entries = strings * (tau + 1);
  return entries * (sizeof(entry) + sizeof(uint64_t)) +
         ((uint64_t)1 << bits_for(entries)) * (4 + 2);
}

static void cut_evenly(piece *p, uint32_t segments) {
  uint32_t shorter = p->length / segments, longer_from = segments - p->length % segments;
  for (uint32_t i = 0, at = 0; i < segments; i++) {
    p->segments[i].at = at;
    at += p->segments[i].size = shorter + (i >= longer_from);
  }
}

/* Approximates 64 log2(x) in integers, so that it is the same on every machine. */
static uint64_t logarithm(uint64_t x) {
  unsigned whole = 63 - (unsigned)__builtin_clzll(x);
  return 64 * whole + ((whole < 6 ? x << (6 - whole) : x >> (whole - 6)) & 63);
}

/* Chooses boundaries that give each segment an equal share of the collision entropy of the
 * positions. */
static nd_status cut_by_entropy(piece *p, const nd_edit_strings *s, uint32_t segments,
                                nd_error *err) {
  enum { SAMPLE = 128 };
  uint64_t *sum = nd_malloc(((size_t)p->length + 1) * sizeof *sum);
  if (!sum) return nd_fail_memory(err, ((size_t)p->length + 1) * sizeof *sum);
  uint64_t strings = p->last - p->first, drawn = strings < SAMPLE ? strings : SAMPLE;
  sum[0] = 0;
  for (uint32_t i = 0; i < p->length; i++) {
    uint16_t count[256] = {0};
    uint64_t equal = 0; /* equal pairs in the sample, including each with itself */
    for (uint64_t k = 0; k < drawn; k++) {
      const void *text = nd_edit_text(s, p->first + (uint32_t)(k * strings / drawn));
      uint32_t c = s->wide ? ((const uint32_t *)text)[i] : ((const uint8_t *)text)[i];
      equal += 2u * count[c & 255]++ + 1u;
    }
    sum[i + 1] = sum[i] + logarithm(drawn * drawn) - logarithm(equal);
  }
  uint32_t at = 0, end = 0;
  for (uint32_t i = 0; i < segments; i++) {
    uint64_t share = sum[p->length] * (i + 1) / segments;
    uint32_t last = p->length - (segments - 1 - i); /* each later segment needs a symbol */
    for (end = at + 1; end < last && sum[end] < share;) end++;
    if (i == segments - 1) end = p->length;
    p->segments[i].at = at;
    p->segments[i].size = end - at;
    at = end;
  }
  nd_free(sum);
  return ND_OK;
}

static void fill(piece *p, const nd_edit_strings *s, uint32_t segments, uint64_t *keys) {
  size_t k = 0, n = (size_t)(p->last - p->first) * segments;
  size_t buckets = (size_t)1 << (64 - p->shift);
  for (uint32_t i = 0; i < segments; i++) p->segments[i].power = power(base, p->segments[i].size);
  for (uint32_t u = p->first; u < p->last; u++) {
    const void *text = nd_edit_text(s, u);
    for (uint32_t i = 0; i < segments; i++) {
      uint32_t from = p->segments[i].at, to = from + p->segments[i].size;
      uint64_t hash =
          s->wide ? hash_segment(text, from, to, true) : hash_segment(text, from, to, false);
      keys[k++] = key_of(hash, i);
    }
  }
  memset(p->start, 0, (buckets + 1) * sizeof *p->start);
  memset(p->filter, 0, buckets / 4 * sizeof *p->filter);
  for (k = 0; k < n; k++) p->start[(keys[k] >> p->shift) + 1]++;
  for (size_t b = 0; b < buckets; b++) p->start[b + 1] += p->start[b];
  k = 0;
  for (uint32_t u = p->first; u < p->last; u++) {
    for (uint32_t i = 0; i < segments; i++, k++) {
      uint64_t bit = filter_bit(keys[k], p->shift);
      p->filter[bit >> 6] |= (uint64_t)1 << (bit & 63);
      p->entries[p->start[keys[k] >> p->shift]++] = (entry){(uint32_t)keys[k], u};
    }
  }
  memmove(p->start + 1, p->start, buckets * sizeof *p->start);
  p->start[0] = 0;
}

/* Estimates the number of strings that a string of the piece would find. */
static uint64_t met(const piece *p) {
  size_t buckets = (size_t)1 << (64 - p->shift);
  uint64_t pairs = 0;
  for (size_t b = 0; b < buckets; b++) {
    uint64_t n = p->start[b + 1] - p->start[b];
    pairs += n * (n - (n > 0));
  }
  return pairs / (p->last - p->first);
}

static nd_status make_piece(void *context, unsigned member, uint64_t job, nd_error *err) {
  enum { COMMON = 64, LONG = 1 << 16 };
  wave *v = context;
  piece *p = &v->pieces[job];
  const nd_edit_strings *s = &v->task->strings;
  uint64_t tau = v->task->options.tau, strings = p->last - p->first;
  uint64_t few = v->task->options.few ? v->task->options.few : 4 * look_ups(tau);
  if (p->length < tau + 1 || strings < few) return ND_OK;
  uint32_t segments = (uint32_t)tau + 1;
  uint64_t n = strings * segments;
  p->shift = 64 - bits_for(n);
  size_t buckets = (size_t)1 << (64 - p->shift);
  uint64_t *keys = nd_malloc(n * sizeof *keys);
  p->segments = nd_malloc(segments * sizeof *p->segments);
  p->start = nd_malloc((buckets + 1) * sizeof *p->start);
  p->entries = nd_malloc(n * sizeof *p->entries);
  p->filter = nd_malloc(buckets / 4 * sizeof *p->filter);
  nd_status status = ND_OK;
  if (!keys || !p->segments || !p->start || !p->entries || !p->filter) {
    status = nd_fail_memory(err, piece_bytes(strings, tau));
    goto done;
  }
  cut_evenly(p, segments);
  fill(p, s, segments, keys);
  uint64_t common = v->task->options.few ? 2 : COMMON;
  if (met(p) > common && p->length <= LONG) {
    ND_TRY_GOTO(cut_by_entropy(p, s, segments, err), done);
    fill(p, s, segments, keys);
  }
  p->indexed = v->task->options.few || met(p) <= strings / 4;
  if (p->indexed)
    v->task->worker[member].count.index_entries += n;
  else
    piece_clear(p);
done:
  nd_free(keys);
  return status;
}

/* --- searching --------------------------------------------------------------- */

static nd_status hash_prefixes(nd_edit_worker *w, uint32_t x, nd_error *err) {
  const nd_edit_strings *s = &w->task->strings;
  uint32_t n = s->length[x];
  ND_TRY(nd_array_grow(&w->hash, &w->hash_cap, (size_t)n + 1, sizeof *w->hash, err));
  uint64_t *hash = w->hash, h = 0;
  const void *text = nd_edit_text(s, x);
  hash[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    h = h * base + (s->wide ? ((const uint32_t *)text)[i] : ((const uint8_t *)text)[i]) + 1;
    hash[i + 1] = h;
  }
  return ND_OK;
}

/* Visits the strings of a bucket that have the key, each only once per x. */
ND_INLINE nd_status meet(nd_edit_worker *w, const piece *p, uint32_t x, uint64_t key,
                         unsigned bound, nd_error *err) {
  const nd_edit_strings *s = &w->task->strings;
  const nd_edit_sketch mine = s->sketch[x];
  uint64_t bucket = key >> p->shift;
  for (uint32_t k = p->start[bucket]; k < p->start[bucket + 1]; k++) {
    uint32_t y = p->entries[k].string;
    if (y >= x) break; /* strings of a bucket are ascending */
    if (p->entries[k].tag != (uint32_t)key || w->mark[y - p->first] == w->visit) continue;
    w->mark[y - p->first] = w->visit;
    w->count.candidates++;
    if (!nd_edit_sides(s, x, y) || nd_edit_sketch_apart(mine, s->sketch[y]) > bound) continue;
    w->count.after_count++;
    ND_TRY(nd_edit_verify(w, x, y, err));
  }
  return ND_OK;
}

typedef nd_status (*meet_function)(nd_edit_worker *, const piece *, uint32_t, uint64_t, unsigned,
                                   nd_error *);

static nd_status meet_base(nd_edit_worker *w, const piece *p, uint32_t x, uint64_t key,
                           unsigned bound, nd_error *err) {
  return meet(w, p, x, key, bound, err);
}
#if ND_X86
ND_TARGET_SSE41 static nd_status meet_sse41(nd_edit_worker *w, const piece *p, uint32_t x,
                                            uint64_t key, unsigned bound, nd_error *err) {
  return meet(w, p, x, key, bound, err);
}
#endif

static meet_function best_meet(void) {
#if ND_X86
  if (nd_cpu() >= ND_CPU_SSE41) return meet_sse41;
#endif
  return meet_base;
}

/* Looks up the substrings of x that may be segments of strings of the piece. */
static nd_status search(nd_edit_worker *w, const piece *p, uint32_t x, meet_function look_at,
                        nd_error *err) {
  const nd_edit_strings *s = &w->task->strings;
  const int64_t tau = w->task->options.tau, segments = tau + 1;
  const int64_t n = s->length[x], gap = n - p->length;
  const uint64_t *hash = w->hash;
  unsigned bound = nd_edit_sketch_bound((uint32_t)tau, (uint32_t)gap);
  nd_edit_next_visit(w);
  for (int64_t i = 0; i < segments; i++) {
    const int64_t at = p->segments[i].at, size = p->segments[i].size;
    const uint64_t shift_out = p->segments[i].power;
    /* At most i edits before the segment and tau - i after it.  The segments before and after it
     * have at least a symbol each, and gap <= tau, so the range is within x and not empty. */
    int64_t from = at - i > at + gap - (tau - i) ? at - i : at + gap - (tau - i);
    int64_t to = at + i < at + gap + (tau - i) ? at + i : at + gap + (tau - i);
    for (int64_t k = from; k <= to; k++) {
      uint64_t key = key_of(hash[k + size] - hash[k] * shift_out, (uint32_t)i);
      uint64_t bit = filter_bit(key, p->shift);
      if (ND_UNLIKELY(p->filter[bit >> 6] >> (bit & 63) & 1))
        ND_TRY(look_at(w, p, x, key, bound, err));
    }
    w->count.probes += (uint64_t)(to - from + 1);
  }
  return ND_OK;
}

static nd_status look(void *context, unsigned member, uint64_t job, nd_error *err) {
  wave *v = context;
  nd_edit_worker *w = &v->task->worker[member];
  const nd_edit_strings *s = &v->task->strings;
  const meet_function look_at = best_meet();
  uint64_t tau = v->task->options.tau;
  uint64_t first = v->first + job * CHUNK, last = first + CHUNK < v->last ? first + CHUNK : v->last;
  size_t k = 0;
  for (uint64_t x64 = first; x64 < last; x64++) {
    uint32_t x = (uint32_t)x64;
    bool hashed = false;
    while (v->pieces[k].length + tau < s->length[x]) k++; /* false for the last one, see run_wave */
    for (size_t i = k; i < v->n && v->pieces[i].first < x; i++) {
      const piece *p = &v->pieces[i];
      if (!p->indexed) {
        ND_TRY(nd_edit_scan(w, x, p->first, p->last < x ? p->last : x, err));
        continue;
      }
      if (!hashed) ND_TRY(hash_prefixes(w, x, err));
      hashed = true;
      ND_TRY(nd_edit_marks(w, p->last - p->first, err));
      ND_TRY(search(w, p, x, look_at, err));
    }
  }
  return ND_OK;
}

static nd_status run_wave(wave *v, nd_error *err) {
  nd_edit_task *t = v->task;
  unsigned threads = t->options.threads;
  double begin = nd_clock_now();
  nd_status status = nd_threads_run(threads, v->n, make_piece, v, err);
  double made = nd_clock_now();
  t->stats.index += made - begin;
  if (status == ND_OK) {
    v->first = v->pieces[0].first;
    uint64_t longest = (uint64_t)v->pieces[v->n - 1].length + t->options.tau;
    v->last = nd_edit_first_of_length(&t->strings, longest + 1);
    uint64_t jobs = (v->last - v->first + CHUNK - 1) / CHUNK;
    status = nd_threads_run(threads, jobs, look, v, err);
  }
  t->stats.join += nd_clock_now() - made;
  t->stats.pieces += v->n;
  for (size_t i = 0; i < v->n; i++) piece_clear(&v->pieces[i]);
  return status;
}

nd_status nd_edit_pass(nd_edit_task *t, nd_error *err) {
  const nd_edit_strings *s = &t->strings;
  uint64_t tau = t->options.tau;
  uint32_t most = SEGMENTED;
  while (most > 64 && piece_bytes(most, tau) > t->options.memory / 2) most /= 2;
  wave v = {.task = t};
  size_t cap = 0;
  uint64_t bytes = 0;
  nd_status status = ND_OK;
  for (uint32_t first = 0; first < s->n;) {
    uint32_t last = nd_edit_first_of_length(s, (uint64_t)s->length[first] + 1);
    if (last - first > most) last = first + most;
    uint64_t more = s->length[first] > tau ? piece_bytes(last - first, tau) : 0;
    if (v.n && bytes + more > t->options.memory) {
      ND_TRY_GOTO(run_wave(&v, err), done);
      v.n = 0;
      bytes = 0;
    }
    ND_TRY_GOTO(nd_array_grow(&v.pieces, &cap, v.n + 1, sizeof *v.pieces, err), done);
    v.pieces[v.n++] = (piece){.first = first, .last = last, .length = s->length[first]};
    bytes += more;
    first = last;
  }
  if (v.n) status = run_wave(&v, err);
done:
  nd_free(v.pieces);
  return status;
}
