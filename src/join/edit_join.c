/* The parts that both edit-distance joins share: comparing two strings and listing their pairs; see
 * edit_join.h. */
#include "join/edit_join.h"

#include "base/threads.h"
#include "join/edit_work.h"

enum { BATCH = 4096, CHUNK = 4096 };

static nd_status flush(nd_edit_worker *w, nd_error *err) {
  nd_edit_task *t = w->task;
  if (w->batched == 0) return ND_OK;
  pthread_mutex_lock(&t->lock);
  nd_status status = t->sink(t->context, w->batch, w->batched, err);
  pthread_mutex_unlock(&t->lock);
  w->count.results += w->batched;
  w->batched = 0;
  return status;
}

ND_INLINE nd_status emit(nd_edit_worker *w, uint32_t a, uint32_t b, uint32_t distance,
                         nd_error *err) {
  w->batch[w->batched++] = a < b ? (nd_edit_pair){a, b, distance} : (nd_edit_pair){b, a, distance};
  return ND_UNLIKELY(w->batched == BATCH) ? flush(w, err) : ND_OK;
}

/* Lists all pairs of an occurrence of u with one of v, or of two of u if v = u. */
static nd_status list_pairs(nd_edit_worker *w, uint32_t u, uint32_t v, uint32_t distance,
                            nd_error *err) {
  const nd_edit_strings *s = &w->task->strings;
  uint32_t split = w->task->options.split;
  for (uint32_t i = s->member_begin[u]; i < s->member_begin[u + 1]; i++) {
    uint32_t a = s->member[i];
    for (uint32_t k = u == v ? i + 1 : s->member_begin[v]; k < s->member_begin[v + 1]; k++) {
      uint32_t b = s->member[k];
      if (split && (a < split) == (b < split)) continue;
      ND_TRY(emit(w, a, b, distance, err));
    }
  }
  return ND_OK;
}

nd_status nd_edit_verify(nd_edit_worker *w, uint32_t u, uint32_t v, nd_error *err) {
  const nd_edit_strings *s = &w->task->strings;
  uint32_t tau = w->task->options.tau, distance;
  w->count.verified++;
  ND_TRY(nd_edit_symbols(&distance, &w->scratch, nd_edit_text(s, u), s->length[u],
                         nd_edit_text(s, v), s->length[v], s->wide, tau, err));
  return distance <= tau ? list_pairs(w, u, v, distance, err) : ND_OK;
}

/* Lists the strings whose sketch and side allow a match with x. */
ND_INLINE size_t alike(uint32_t *out, const nd_edit_strings *s, uint32_t x, uint32_t first,
                       uint32_t last, unsigned bound) {
  nd_edit_sketch mine = s->sketch[x];
  uint8_t side = s->side[x];
  size_t n = 0;
  for (uint32_t y = first; y < last; y++) {
    out[n] = y;
    n += (nd_edit_sketch_apart(mine, s->sketch[y]) <= bound) & ((side | s->side[y]) == 3);
  }
  return n;
}

typedef size_t (*alike_function)(uint32_t *, const nd_edit_strings *, uint32_t, uint32_t, uint32_t,
                                 unsigned);

static size_t alike_base(uint32_t *out, const nd_edit_strings *s, uint32_t x, uint32_t first,
                         uint32_t last, unsigned bound) {
  return alike(out, s, x, first, last, bound);
}
#if ND_X86
ND_TARGET_SSE41 static size_t alike_sse41(uint32_t *out, const nd_edit_strings *s, uint32_t x,
                                          uint32_t first, uint32_t last, unsigned bound) {
  return alike(out, s, x, first, last, bound);
}
#endif

nd_status nd_edit_scan(nd_edit_worker *w, uint32_t x, uint32_t first, uint32_t last,
                       nd_error *err) {
  const nd_edit_strings *s = &w->task->strings;
  alike_function find = alike_base;
#if ND_X86
  if (nd_cpu() >= ND_CPU_SSE41) find = alike_sse41;
#endif
  ND_TRY(nd_array_grow(&w->list, &w->list_cap, CHUNK, sizeof *w->list, err));
  uint32_t tau = w->task->options.tau;
  while (first < last) {
    /* Up to CHUNK strings of one length. */
    uint32_t length = s->length[first], end = last - first < CHUNK ? last : first + CHUNK;
    if (s->length[end - 1] != length) end = nd_edit_first_of_length(s, (uint64_t)length + 1);
    unsigned bound = nd_edit_sketch_bound(tau, s->length[x] - length);
    size_t n = find(w->list, s, x, first, end, bound);
    w->count.direct += end - first;
    w->count.after_count += n;
    for (size_t i = 0; i < n; i++) ND_TRY(nd_edit_verify(w, x, w->list[i], err));
    first = end;
  }
  return ND_OK;
}

nd_status nd_edit_marks(nd_edit_worker *w, size_t n, nd_error *err) {
  if (n <= w->mark_cap) return ND_OK;
  size_t had = w->mark_cap;
  ND_TRY(nd_array_grow(&w->mark, &w->mark_cap, n, sizeof *w->mark, err));
  memset(w->mark + had, 0, (w->mark_cap - had) * sizeof *w->mark);
  return ND_OK;
}

/* Lists the pairs of equal strings. */
static nd_status list_copies(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_edit_task *t = context;
  const nd_edit_strings *s = &t->strings;
  uint64_t end = (job + 1) * CHUNK < s->n ? (job + 1) * CHUNK : s->n;
  for (uint64_t u = job * CHUNK; u < end; u++) {
    if (s->member_begin[u + 1] - s->member_begin[u] < 2 || s->side[u] != 3) continue;
    ND_TRY(list_pairs(&t->worker[member], (uint32_t)u, (uint32_t)u, 0, err));
  }
  return ND_OK;
}

static void worker_clear(nd_edit_worker *w) {
  nd_edit_scratch_clear(&w->scratch);
  nd_free(w->batch);
  nd_free(w->hash);
  nd_free(w->mark);
  nd_free(w->list);
}

static nd_status run(nd_edit_task *t, unsigned threads, nd_error *err) {
  for (unsigned i = 0; i < threads; i++) {
    t->worker[i].task = t;
    t->worker[i].batch = nd_malloc(BATCH * sizeof *t->worker[i].batch);
    if (!t->worker[i].batch) return nd_fail_memory(err, BATCH * sizeof *t->worker[i].batch);
  }
  ND_TRY(nd_threads_run(threads, (t->strings.n + CHUNK - 1) / CHUNK, list_copies, t, err));
  ND_TRY(t->options.method == ND_EDIT_PASS ? nd_edit_pass(t, err) : nd_edit_qgram(t, err));
  for (unsigned i = 0; i < threads; i++) ND_TRY(flush(&t->worker[i], err));
  return ND_OK;
}

static void add_counts(nd_edit_stats *to, const nd_edit_stats *from) {
  to->index_entries += from->index_entries;
  to->probes += from->probes;
  to->candidates += from->candidates;
  to->after_positional += from->after_positional;
  to->after_suffix += from->after_suffix;
  to->after_count += from->after_count;
  to->direct += from->direct;
  to->verified += from->verified;
  to->results += from->results;
}

nd_status nd_edit_join(nd_edit_input input, const nd_edit_options *options, nd_edit_sink sink,
                       void *context, nd_edit_stats *stats, nd_error *err) {
  nd_edit_task t = {.options = *options, .sink = sink, .context = context};
  if (t.options.q == 0) t.options.q = 3;
  if (t.options.maxdepth == 0) t.options.maxdepth = 2;
  if (t.options.memory == 0) t.options.memory = (uint64_t)256 << 20;
  if (t.options.threads == 0) t.options.threads = 1;
  unsigned threads = t.options.threads;
  double begin = nd_clock_now();
  nd_status status = nd_edit_strings_build(&t.strings, input, t.options.split, threads, err);
  t.stats.prepare = nd_clock_now() - begin;
  t.stats.strings = input.n;
  t.stats.distinct = t.strings.n;
  t.stats.points = t.strings.points;
  pthread_mutex_init(&t.lock, NULL);
  if (status == ND_OK) {
    t.worker = nd_calloc(threads, sizeof *t.worker);
    status = t.worker ? run(&t, threads, err) : nd_fail_memory(err, threads * sizeof *t.worker);
  }
  if (t.worker) {
    for (unsigned i = 0; i < threads; i++) {
      add_counts(&t.stats, &t.worker[i].count);
      worker_clear(&t.worker[i]);
    }
  }
  nd_free(t.worker);
  pthread_mutex_destroy(&t.lock);
  nd_edit_strings_clear(&t.strings);
  if (stats) *stats = t.stats;
  return status;
}
