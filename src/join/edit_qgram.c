/* Edit distance by q-grams (Xiao et al. 2008, section 6).
 *
 * A string, with q - 1 marks put before and after it, has |x| = length + q - 1
 * q-grams; an edit changes at most q of them.  Strings within tau share at least
 *
 *   alpha = max(|x|, |y|) - q tau
 *
 * (repeated q-grams are numbered, so the q-grams of a string form a set).  So the
 * edit join becomes an overlap join: prefixes of q tau + 1 q-grams, rarest first,
 * the size filter |y| >= |x| - tau, then by method the positional and the suffix
 * filter, then the overlap, and finally the edit distance.  If alpha < 1, nothing
 * can be filtered: strings with |x| <= q tau are compared directly. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/threads.h"
#include "join/edit_work.h"
#include "join/join_work.h"
#include "join/suffix_filter.h"

enum { CHUNK = 64, STRINGS = 1024, TABLE = 2048 };

/* The position of a prefix token in a string, from 0. */
typedef struct posting {
  uint32_t string, position;
} posting;

typedef struct grams {
  nd_edit_task *task;
  nd_sets sets;    /* record u is string u: both are numbered by ascending size */
  uint64_t prefix; /* q tau + 1 */
  uint64_t *start; /* per token: its postings, ascending by string */
  posting *postings;
} grams;

/* --- q-grams ------------------------------------------------------------------ */

static int by_value(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

/* Entry of a table that counts the q-grams of one string.  `visit` identifies the string, so the
 * table is never cleared; for that reason it is not a hash table of base/hash_table.h. */
typedef struct repeat {
  uint64_t hash;
  uint32_t visit, times;
} repeat;

typedef struct cutting {
  const nd_edit_strings *strings;
  const uint64_t *begin;
  uint64_t *raw;
  repeat *table; /* TABLE entries per thread */
  uint32_t q;
  uint64_t seed;
} cutting;

ND_INLINE uint64_t number(uint64_t hash, uint64_t times) {
  return nd_mix(hash + times * 0x9fb21c651e98df25u);
}

/* Numbers repeated q-grams, so that all are distinct. */
static void number_by_table(uint64_t *gram, size_t n, repeat *table, uint32_t visit) {
  for (size_t g = 0; g < n; g++) {
    size_t i = gram[g] % TABLE;
    while (table[i].visit == visit && table[i].hash != gram[g]) i = (i + 1) % TABLE;
    if (table[i].visit != visit) table[i] = (repeat){gram[g], visit, 0};
    gram[g] = number(gram[g], table[i].times++);
  }
}

static void number_by_sorting(uint64_t *gram, size_t n) {
  qsort(gram, n, sizeof *gram, by_value);
  uint64_t before = 0, times = 0;
  for (size_t g = 0; g < n; g++) {
    times = g && gram[g] == before ? times + 1 : 0;
    before = gram[g];
    gram[g] = number(before, times);
  }
}

/* Computes the q-grams of a string as hashes. */
static void cut(uint64_t *out, const cutting *c, uint32_t u) {
  const nd_edit_strings *s = c->strings;
  int64_t n = s->length[u], q = c->q, count = n + q - 1;
  const void *text = nd_edit_text(s, u);
  for (int64_t g = 0; g < count; g++) {
    uint64_t h = c->seed;
    for (int64_t i = g - q + 1; i <= g; i++) {
      uint64_t point = 0; /* a mark before or after the string */
      if (i >= 0 && i < n) {
        point = s->wide ? ((const uint32_t *)text)[i] : ((const uint8_t *)text)[i];
        point++;
      }
      h = nd_fold(h ^ (point + 0x9e3779b97f4a7c15u), 0xd1b54a32d192ed03u);
    }
    out[g] = h;
  }
}

static nd_status cut_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)err;
  cutting *c = context;
  uint64_t last = (job + 1) * STRINGS < c->strings->n ? (job + 1) * STRINGS : c->strings->n;
  for (uint64_t u = job * STRINGS; u < last; u++) {
    uint64_t *gram = c->raw + c->begin[u];
    size_t n = c->begin[u + 1] - c->begin[u];
    cut(gram, c, (uint32_t)u);
    if (n <= TABLE / 2) {
      number_by_table(gram, n, c->table + (size_t)member * TABLE, (uint32_t)u + 1);
    } else {
      number_by_sorting(gram, n);
    }
  }
  return ND_OK;
}

static nd_status make_sets(grams *g, nd_error *err) {
  const nd_edit_strings *s = &g->task->strings;
  uint32_t q = g->task->options.q;
  uint64_t total = s->points + (uint64_t)s->n * (q - 1);
  uint64_t *raw = nd_malloc((total + 1) * sizeof *raw);
  uint64_t *begin = nd_malloc(((size_t)s->n + 1) * sizeof *begin);
  unsigned threads = g->task->options.threads;
  repeat *table = nd_calloc((size_t)threads * TABLE, sizeof *table);
  nd_status status = ND_OK;
  if (!raw || !begin || !table) {
    status = nd_fail_memory(err, total * sizeof *raw);
    goto done;
  }
  begin[0] = 0;
  for (uint32_t u = 0; u < s->n; u++) begin[u + 1] = begin[u] + s->length[u] + q - 1;
  /* If the hashes of two q-grams of one string collide, they would count as one and could hide a
   * match; then rehash all with another seed. */
  for (uint64_t seed = 1;; seed++) {
    cutting c = {s, begin, raw, table, q, nd_mix(seed)};
    memset(table, 0, (size_t)threads * TABLE * sizeof *table);
    uint64_t jobs = ((uint64_t)s->n + STRINGS - 1) / STRINGS;
    ND_TRY_GOTO(nd_threads_run(threads, jobs, cut_job, &c, err), done);
    ND_TRY_GOTO(nd_sets_build(&g->sets, raw, begin, s->n, threads, err), done);
    if (g->sets.tokens == total) break; /* untaken: colliding 64-bit hashes */
    nd_sets_clear(&g->sets);
  }
done:
  nd_free(raw);
  nd_free(begin);
  nd_free(table);
  return status;
}

/* --- the index ------------------------------------------------------------------ */

/* Returns the number of tokens that no other string has: they come first and are not stored. */
ND_INLINE uint32_t unstored(const nd_sets *sets, uint32_t u) {
  return sets->size[u] - (uint32_t)(sets->begin[u + 1] - sets->begin[u]);
}

/* Returns the number of stored tokens in the prefix. */
ND_INLINE uint64_t stored_prefix(const grams *g, uint32_t u) {
  uint64_t stored = g->sets.begin[u + 1] - g->sets.begin[u], out = unstored(&g->sets, u);
  uint64_t in = g->prefix > out ? g->prefix - out : 0;
  return in < stored ? in : stored;
}

static nd_status make_index(grams *g, nd_error *err) {
  const nd_sets *sets = &g->sets;
  uint64_t n = 0;
  for (uint32_t u = 0; u < sets->n; u++) n += stored_prefix(g, u);
  g->start = nd_calloc((size_t)sets->distinct + 2, sizeof *g->start);
  g->postings = nd_malloc((n + 1) * sizeof *g->postings);
  if (!g->start || !g->postings) return nd_fail_memory(err, n * sizeof *g->postings);
  for (uint32_t u = 0; u < sets->n; u++) {
    const uint32_t *token = sets->token + sets->begin[u];
    for (uint64_t i = 0; i < stored_prefix(g, u); i++) g->start[token[i] + 2]++;
  }
  for (uint64_t i = 0; i < sets->distinct; i++) g->start[i + 2] += g->start[i + 1];
  for (uint32_t u = 0; u < sets->n; u++) {
    const uint32_t *token = sets->token + sets->begin[u];
    uint32_t out = unstored(sets, u);
    for (uint32_t i = 0; i < stored_prefix(g, u); i++) {
      g->postings[g->start[token[i] + 1]++] = (posting){u, out + i};
    }
  }
  g->task->stats.index_entries = n;
  return ND_OK;
}

/* --- probing --------------------------------------------------------------------- */

enum { PRUNED = UINT32_MAX };

/* Tests whether enough q-grams are common (Algorithm 2).  The overlap of the prefixes is known, so
 * only the rest of the string whose prefix ends first is compared with the other. */
static bool enough(const grams *g, uint32_t x, uint32_t y, uint32_t common, int64_t alpha) {
  const nd_sets *sets = &g->sets;
  const uint32_t *tx = sets->token + sets->begin[x], *ty = sets->token + sets->begin[y];
  const uint32_t *x_end = sets->token + sets->begin[x + 1],
                 *y_end = sets->token + sets->begin[y + 1];
  uint64_t px = stored_prefix(g, x), py = stored_prefix(g, y);
  const uint32_t *a, *b;
  if (tx[px - 1] < ty[py - 1]) {
    a = tx + px;
    b = ty + common;
  } else {
    a = tx + common;
    b = ty + py;
  }
  int64_t left = x_end - a < y_end - b ? x_end - a : y_end - b;
  if (common + left < alpha) return false;
  return common + (int64_t)nd_join_common(a, x_end, b, y_end, alpha - common) >= alpha;
}

/* Lists the candidates of x in w->list, with the number of common prefix q-grams in w->mark. */
static nd_status probe(nd_edit_worker *w, const grams *g, uint32_t x, nd_error *err) {
  const nd_edit_task *t = g->task;
  const nd_sets *sets = &g->sets;
  const int64_t q_tau = (int64_t)g->prefix - 1, size = sets->size[x], alpha = size - q_tau;
  const uint32_t out = unstored(sets, x);
  const uint32_t *token = sets->token + sets->begin[x];
  uint32_t lowest = nd_edit_first_of_length(&t->strings, t->strings.length[x] > t->options.tau
                                                             ? t->strings.length[x] - t->options.tau
                                                             : 0);
  bool positional = t->options.method != ND_EDIT_ALLPAIRS;
  bool suffix = t->options.method == ND_EDIT_PPJOIN_PLUS;
  size_t met = 0;
  for (uint32_t i = 0; i < stored_prefix(g, x); i++) {
    uint64_t first = g->start[token[i]], last = g->start[token[i] + 1];
    for (uint64_t high = last; first < high;) { /* the size filter */
      uint64_t middle = first + (high - first) / 2;
      if (g->postings[middle].string < lowest)
        first = middle + 1;
      else
        high = middle;
    }
    int64_t at = out + i;
    for (; g->postings[first].string < x; first++) { /* ends at x itself */
      uint32_t y = g->postings[first].string;
      int64_t place = g->postings[first].position;
      if (w->mark[y] == PRUNED || !nd_edit_sides(&t->strings, x, y)) continue;
      if (w->mark[y] == 0) {
        ND_TRY(nd_array_grow(&w->list, &w->list_cap, met + 1, sizeof *w->list, err));
        w->list[met++] = y;
      }
      int64_t rest_x = size - at, rest_y = (int64_t)sets->size[y] - place;
      if (positional && w->mark[y] + (rest_x < rest_y ? rest_x : rest_y) < alpha) {
        w->mark[y] = PRUNED;
        continue;
      }
      if (w->mark[y] == 0) w->count.after_positional++;
      if (suffix && w->mark[y] == 0) {
        const uint32_t *ty = sets->token + sets->begin[y] + (place - unstored(sets, y)) + 1;
        int64_t most = sets->size[y] - size + 2 * q_tau - (at + place);
        nd_join_run_of xs = {token + i + 1, (uint32_t)(rest_x - 1)};
        nd_join_run_of ys = {ty, (uint32_t)(rest_y - 1)};
        if (nd_suffix_filter(xs, ys, most, 1, t->options.maxdepth) > most) {
          w->mark[y] = PRUNED;
          continue;
        }
      }
      if (w->mark[y] == 0) w->count.after_suffix++;
      w->mark[y]++;
    }
  }
  w->count.candidates += met;
  for (size_t i = 0; i < met; i++) {
    uint32_t y = w->list[i], common = w->mark[y];
    w->mark[y] = 0;
    if (common == PRUNED || !enough(g, x, y, common, alpha)) continue;
    w->count.after_count++;
    ND_TRY(nd_edit_verify(w, x, y, err));
  }
  return ND_OK;
}

static nd_status look(void *context, unsigned member, uint64_t job, nd_error *err) {
  const grams *g = context;
  nd_edit_worker *w = &g->task->worker[member];
  const nd_edit_strings *s = &g->task->strings;
  uint32_t tau = g->task->options.tau;
  ND_TRY(nd_edit_marks(w, s->n, err));
  uint64_t last = (job + 1) * CHUNK < s->n ? (job + 1) * CHUNK : s->n;
  for (uint64_t x = job * CHUNK; x < last; x++) {
    uint32_t u = (uint32_t)x;
    if (g->sets.size[u] >= g->prefix) {
      ND_TRY(probe(w, g, u, err));
    } else {
      uint32_t lowest = nd_edit_first_of_length(s, s->length[u] > tau ? s->length[u] - tau : 0);
      ND_TRY(nd_edit_scan(w, u, lowest, u, err));
    }
  }
  return ND_OK;
}

nd_status nd_edit_qgram(nd_edit_task *t, nd_error *err) {
  grams g = {.task = t, .prefix = (uint64_t)t->options.q * t->options.tau + 1};
  double begin = nd_clock_now();
  nd_status status = make_sets(&g, err);
  if (status == ND_OK) status = make_index(&g, err);
  double made = nd_clock_now();
  t->stats.index = made - begin;
  t->stats.pieces = 1;
  if (status == ND_OK) {
    uint64_t jobs = ((uint64_t)t->strings.n + CHUNK - 1) / CHUNK;
    status = nd_threads_run(t->options.threads, jobs, look, &g, err);
  }
  t->stats.join = nd_clock_now() - made;
  nd_sets_clear(&g.sets);
  nd_free(g.start);
  nd_free(g.postings);
  return status;
}
