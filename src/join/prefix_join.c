/* All-Pairs, PPJoin and PPJoin+ (Xiao et al. 2008, Algorithms 1 to 5).
 *
 * The index has a list per token of the records with it in their prefix, in record
 * order.  A record probes the lists of its own prefix for smaller records, counts
 * common tokens per candidate in an array, drops candidates by the filters of the
 * method and verifies the others.  The index is built before probing (the paper
 * interleaves the two), so any thread can probe for any record.  An index that is
 * too large for the memory is built for a range of records at a time. */
#include <stdatomic.h>

#include "base/threads.h"
#include "join/join_work.h"
#include "join/suffix_filter.h"

enum { RECORDS_PER_JOB = 512 };
#define PRUNED UINT32_MAX

typedef struct entry {
  uint32_t record, position; /* position counts from 0 */
} entry;

typedef struct prefix_join {
  nd_join_task *task;
  bool positional, suffix;
  uint32_t first, last; /* the indexed records */
  uint64_t *start;      /* per token: its list in entry[] */
  entry *entry;
  uint32_t **count; /* per thread: common tokens per candidate */
  uint32_t **found; /* per thread: candidates of this record */
} prefix_join;

static uint32_t indexed_prefix(const prefix_join *j, const nd_join_class *c) {
  return j->positional ? c->index : c->probe;
}

/* Returns the number of stored tokens among the first `prefix`. */
static uint32_t stored_prefix(const nd_sets *s, uint32_t r, uint32_t prefix) {
  uint32_t stored = (uint32_t)(s->begin[r + 1] - s->begin[r]), alone = s->size[r] - stored;
  return prefix > alone ? prefix - alone : 0;
}

static void build_index(prefix_join *j) {
  const nd_join_task *t = j->task;
  const nd_sets *s = t->sets;
  memset(j->start, 0, ((size_t)s->distinct + 1) * sizeof *j->start);
  for (int pass = 0; pass < 2; pass++) {
    uint32_t c = nd_join_class_of(t, j->first);
    for (uint32_t r = j->first; r < j->last; r++) {
      while (t->class_[c + 1].first <= r) c++;
      uint32_t prefix = stored_prefix(s, r, indexed_prefix(j, &t->class_[c]));
      uint32_t alone = s->size[r] - (uint32_t)(s->begin[r + 1] - s->begin[r]);
      const uint32_t *token = s->token + s->begin[r];
      for (uint32_t i = 0; i < prefix; i++) {
        if (pass == 0) {
          j->start[token[i] + 1]++;
        } else {
          j->entry[j->start[token[i]]++] = (entry){r, alone + i};
        }
      }
    }
    if (pass == 0) {
      for (uint32_t w = 0; w < s->distinct; w++) j->start[w + 1] += j->start[w];
    } else { /* filling has advanced every start to its end */
      memmove(j->start + 1, j->start, s->distinct * sizeof *j->start);
      j->start[0] = 0;
    }
  }
}

/* Returns the first entry of a list whose record is at least `record`. */
static const entry *seek(const entry *e, const entry *end, uint32_t record) {
  while (e < end) {
    const entry *middle = e + (end - e) / 2;
    if (middle->record < record) {
      e = middle + 1;
    } else {
      end = middle;
    }
  }
  return e;
}

/* Verifies a candidate whose prefixes have `counted` common tokens (Algorithm 2). */
static nd_status verify(prefix_join *j, nd_join_worker *w, uint32_t x, uint32_t y, uint32_t counted,
                        const nd_join_class *cx, const nd_join_class *cy, nd_error *err) {
  const nd_sets *s = j->task->sets;
  const uint64_t needed = nd_set_needed(&j->task->bounds, cx->size, cy->size);
  const uint32_t *tx = s->token + s->begin[x], *ty = s->token + s->begin[y];
  const uint32_t *ex = s->token + s->begin[x + 1], *ey = s->token + s->begin[y + 1];
  const uint32_t *px = tx + stored_prefix(s, x, cx->probe);
  const uint32_t *py = ty + stored_prefix(s, y, indexed_prefix(j, cy));
  w->verified++;
  uint64_t common = counted;
  /* A candidate shares a token of both prefixes, so neither is empty. */
  if (px[-1] < py[-1]) {
    if (counted + (uint64_t)(ex - px) < needed) return ND_OK;
    common += nd_join_common(px, ex, ty + counted, ey, (int64_t)(needed - counted));
  } else {
    if (counted + (uint64_t)(ey - py) < needed) return ND_OK;
    common += nd_join_common(tx + counted, ex, py, ey, (int64_t)(needed - counted));
  }
  return common >= needed ? nd_join_emit(w, x, y, (uint32_t)common, err) : ND_OK;
}

static nd_status probe(prefix_join *j, nd_join_worker *w, unsigned member, uint32_t x,
                       const nd_join_class *cx, nd_error *err) {
  const nd_join_task *t = j->task;
  const nd_sets *s = t->sets;
  uint32_t *count = j->count[member], *found = j->found[member], candidates = 0;
  const uint32_t *tx = s->token + s->begin[x];
  const uint32_t stored = (uint32_t)(s->begin[x + 1] - s->begin[x]), alone = cx->size - stored;
  const uint32_t prefix = stored_prefix(s, x, cx->probe);
  const uint32_t lowest = cx->lowest > j->first ? cx->lowest : j->first;
  const unsigned side = nd_join_side(t, x);
  for (uint32_t i = 0; i < prefix; i++) {
    const entry *e = j->entry + j->start[tx[i]], *end = j->entry + j->start[tx[i] + 1];
    for (e = seek(e, end, lowest); e < end && e->record < x; e++) {
      uint32_t y = e->record;
      if (t->options.split && nd_join_side(t, y) == side) continue;
      uint32_t so_far = count[y - j->first];
      if (so_far == PRUNED) continue;
      if (so_far == 0) {
        found[candidates++] = y;
        w->after_size++;
      }
      if (j->positional) {
        uint32_t size = s->size[y];
        uint64_t needed = nd_set_needed(&t->bounds, cx->size, size);
        uint32_t rest_x = cx->size - alone - i, rest_y = size - e->position;
        if (so_far + (uint64_t)(rest_x < rest_y ? rest_x : rest_y) < needed) {
          count[y - j->first] = PRUNED;
          continue;
        }
        if (j->suffix && so_far == 0) {
          w->after_positional++;
          int64_t most = (int64_t)cx->size + size - 2 * (int64_t)needed - (alone + i) - e->position;
          nd_join_run_of xs = {tx + i + 1, stored - i - 1};
          nd_join_run_of ys = {s->token + s->begin[y + 1] - (rest_y - 1), rest_y - 1};
          if (nd_suffix_filter(xs, ys, most, 1, t->options.maxdepth) > most) {
            count[y - j->first] = PRUNED;
            continue;
          }
        }
      }
      count[y - j->first] = so_far + 1;
    }
  }
  uint32_t c = 0;
  for (uint32_t k = 0; k < candidates; k++) {
    uint32_t y = found[k], counted = count[y - j->first];
    count[y - j->first] = 0;
    if (counted == PRUNED) continue;
    if (!j->suffix) w->after_positional++;
    w->after_suffix++;
    if (t->class_[c].first > y || t->class_[c + 1].first <= y) c = nd_join_class_of(t, y);
    ND_TRY(verify(j, w, x, y, counted, cx, &t->class_[c], err));
  }
  return ND_OK;
}

static nd_status probe_some(void *context, unsigned member, uint64_t job, nd_error *err) {
  prefix_join *j = context;
  const nd_join_task *t = j->task;
  uint64_t from = j->first + job * RECORDS_PER_JOB, to = from + RECORDS_PER_JOB;
  if (to > t->sets->n) to = t->sets->n;
  uint32_t c = nd_join_class_of(t, (uint32_t)from);
  for (uint32_t x = (uint32_t)from; x < to; x++) {
    while (t->class_[c + 1].first <= x) c++;
    if (t->class_[c].lowest >= j->last || t->class_[c].probe == 0) continue;
    ND_TRY(probe(j, &t->worker[member], member, x, &t->class_[c], err));
  }
  return ND_OK;
}

/* Returns the end of the records from `first` on whose index fits in the memory. */
static uint32_t block_end(const prefix_join *j, uint32_t first, uint64_t *entries) {
  const nd_join_task *t = j->task;
  uint64_t most = t->memory / sizeof(entry), sum = 0;
  uint32_t c = nd_join_class_of(t, first), r = first;
  for (; r < t->sets->n; r++) {
    while (t->class_[c + 1].first <= r) c++;
    uint32_t more = stored_prefix(t->sets, r, indexed_prefix(j, &t->class_[c]));
    if (sum + more > most && r > first) break;
    sum += more;
  }
  *entries = sum;
  return r;
}

nd_status nd_join_prefixes(nd_join_task *t, nd_error *err) {
  nd_status status = ND_OK;
  const nd_sets *s = t->sets;
  prefix_join j = {.task = t,
                   .positional = t->options.method != ND_JOIN_ALLPAIRS,
                   .suffix = t->options.method == ND_JOIN_PPJOIN_PLUS};
  if (t->options.maxdepth == 0) t->options.maxdepth = 2;
  if (s->n == 0) return ND_OK;
  j.start = nd_malloc(((size_t)s->distinct + 2) * sizeof *j.start);
  j.count = nd_calloc(t->threads, sizeof *j.count);
  j.found = nd_calloc(t->threads, sizeof *j.found);
  if (!j.start || !j.count || !j.found) {
    status = nd_fail_memory(err, s->distinct * sizeof *j.start);
    goto out;
  }
  for (j.first = 0; j.first < s->n; j.first = j.last) {
    uint64_t entries;
    j.last = block_end(&j, j.first, &entries);
    j.entry = nd_malloc(entries * sizeof *j.entry);
    if (!j.entry) {
      status = nd_fail_memory(err, entries * sizeof *j.entry);
      goto out;
    }
    for (unsigned i = 0; i < t->threads; i++) {
      nd_free(j.count[i]);
      nd_free(j.found[i]);
      j.count[i] = nd_calloc(j.last - j.first, sizeof *j.count[i]);
      j.found[i] = nd_malloc((size_t)(j.last - j.first) * sizeof *j.found[i]);
      if (!j.count[i] || !j.found[i]) {
        status = nd_fail_memory(err, (size_t)(j.last - j.first) * sizeof *j.count[i]);
        goto out;
      }
    }
    build_index(&j);
    t->index_entries += entries;
    t->blocks++;
    uint64_t jobs = ((uint64_t)s->n - j.first + RECORDS_PER_JOB - 1) / RECORDS_PER_JOB;
    ND_TRY_GOTO(nd_threads_run(t->threads, jobs, probe_some, &j, err), out);
    nd_free(j.entry);
    j.entry = NULL;
  }
out:
  nd_free(j.entry);
  nd_free(j.start);
  for (unsigned i = 0; j.count && j.found && i < t->threads; i++) {
    nd_free(j.count[i]);
    nd_free(j.found[i]);
  }
  nd_free(j.count);
  nd_free(j.found);
  return status;
}
