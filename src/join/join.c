/* Entry point of the joins: options, size classes, batches of results; see join.h. */
#include "join/join.h"

#include "base/clock.h"
#include "base/threads.h"
#include "join/join_work.h"

nd_status nd_join_flush(nd_join_worker *w, nd_error *err) {
  if (w->batched == 0) return ND_OK;
  nd_join_task *t = w->task;
  pthread_mutex_lock(&t->lock);
  nd_status status = t->sink(t->context, w->batch, w->batched, err);
  pthread_mutex_unlock(&t->lock);
  w->results += w->batched;
  w->batched = 0;
  return status;
}

uint32_t nd_join_first_above(const nd_join_task *t, uint64_t size) {
  uint32_t low = 0, high = t->classes;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->class_[middle].size <= size) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return t->class_[low].first;
}

uint32_t nd_join_class_of(const nd_join_task *t, uint32_t record) {
  uint32_t low = 0, high = t->classes;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (t->class_[middle].first <= record) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Returns the first record larger than record r, by galloping and bisection. */
static uint32_t next_size(const nd_sets *s, uint32_t r) {
  const uint32_t size = s->size[r];
  uint32_t step = 1, low = r, high = s->n; /* low is of this size, high is not */
  for (; step < s->n - low && s->size[low + step] == size; step *= 2) low += step;
  if (step < s->n - low) high = low + step;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (s->size[middle] == size) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

static nd_status make_classes(nd_join_task *t, nd_error *err) {
  const nd_sets *s = t->sets;
  size_t cap = 0;
  uint32_t count = 0;
  for (uint32_t r = 0; r < s->n; r = next_size(s, r)) {
    ND_TRY(nd_array_grow(&t->class_, &cap, (size_t)count + 2, sizeof *t->class_, err));
    uint32_t size = s->size[r];
    t->class_[count++] = (nd_join_class){
        .size = size,
        .first = r,
        .probe = (uint32_t)nd_set_probe_prefix(&t->bounds, size),
        .index = (uint32_t)nd_set_index_prefix(&t->bounds, size),
    };
  }
  ND_TRY(nd_array_grow(&t->class_, &cap, (size_t)count + 1, sizeof *t->class_, err));
  t->classes = count;
  t->class_[count] = (nd_join_class){.first = s->n, .size = UINT32_MAX};
  for (uint32_t c = 0; c < count; c++) {
    uint64_t least = nd_set_min_size(&t->bounds, t->class_[c].size);
    t->class_[c].lowest = least ? nd_join_first_above(t, least - 1) : 0;
    const nd_set_bounds *b = &t->bounds;
    t->class_[c].limit_x =
        (int64_t)(((__int128)b->slope_x * t->class_[c].size - b->base) >> 24) + 1;
    t->class_[c].limit_y = (int64_t)(((__int128)b->slope_y * t->class_[c].size) >> 24) + 1;
  }
  return ND_OK;
}

static nd_status make_workers(nd_join_task *t, nd_error *err) {
  t->worker = nd_calloc(t->threads, sizeof *t->worker);
  if (!t->worker) return nd_fail_memory(err, t->threads * sizeof *t->worker);
  for (unsigned i = 0; i < t->threads; i++) {
    t->worker[i].task = t;
    t->worker[i].batch = nd_malloc(ND_JOIN_BATCH * sizeof(nd_join_pair));
    if (!t->worker[i].batch) return nd_fail_memory(err, ND_JOIN_BATCH * sizeof(nd_join_pair));
  }
  return ND_OK;
}

static void take_stats(nd_join_stats *out, const nd_join_task *t, double seconds) {
  const nd_sets *s = t->sets;
  *out = (nd_join_stats){
      .records = s->n,
      .tokens = s->tokens,
      .distinct = s->distinct,
      .average = s->n ? (double)s->tokens / s->n : 0,
      .index_entries = t->index_entries,
      .blocks = t->blocks,
      .seconds = seconds,
  };
  for (unsigned i = 0; i < t->threads; i++) {
    const nd_join_worker *w = &t->worker[i];
    out->after_size += w->after_size;
    out->after_positional += w->after_positional;
    out->after_suffix += w->after_suffix;
    out->verified += w->verified;
    out->results += w->results;
  }
}

nd_status nd_join_run(const nd_sets *sets, const nd_join_options *options, nd_join_sink sink,
                      void *context, nd_join_stats *stats, nd_error *err) {
  double start = nd_clock_now();
  nd_join_task t = {.sets = sets, .options = *options, .sink = sink, .context = context};
  if (stats) *stats = (nd_join_stats){0};
  ND_TRY(nd_set_bounds_init(&t.bounds, options->similarity, options->num, options->den, err));
  t.threads = options->threads ? options->threads : 1;
  t.memory = options->memory ? options->memory : 12 * sets->tokens;
  pthread_mutex_init(&t.lock, NULL);
  nd_status status = make_workers(&t, err);
  if (status == ND_OK) status = make_classes(&t, err);
  if (status == ND_OK) {
    status =
        options->method == ND_JOIN_BLOCKS ? nd_join_blocks(&t, err) : nd_join_prefixes(&t, err);
  }
  for (unsigned i = 0; status == ND_OK && i < t.threads; i++) {
    status = nd_join_flush(&t.worker[i], err);
  }
  if (status == ND_OK && stats) take_stats(stats, &t, nd_clock_now() - start);
  for (unsigned i = 0; t.worker && i < t.threads; i++) nd_free(t.worker[i].batch);
  nd_free(t.worker);
  nd_free(t.class_);
  pthread_mutex_destroy(&t.lock);
  return status;
}
