/* Counts common features of documents; see common_count.h. */
#include "candidate/common_count.h"

#include <pthread.h>

#include "base/threads.h"
#include "candidate/list_table.h"

enum {
  HEAD = 1,        /* words before the documents of a list: its count */
  PIECE = 1 << 14, /* words that a thread reserves at a time */
  JOB_DOCUMENTS = 256,
  BATCH = 4096,
  WORD_BYTES = 16, /* most bytes per word of a list: itself, its entry in the index, and its
                      share of a slot */
};

/* The position of a document in a list, and the count of the list. */
typedef struct entry {
  uint32_t at, times;
} entry;

/* Per thread: the lists added so far, by hash. */
typedef struct worker {
  nd_list_table table; /* the head of a list is its count */
  uint32_t *list;      /* the array of all lists; NULL before the first list of this thread */
  uint32_t at, end;    /* the words reserved by this thread */
  uint32_t *count, *touched;
  nd_common_pair *batch;
  size_t batched;
} worker;

struct nd_common {
  nd_common_options options;
  uint32_t *list; /* all lists; unused words are 0 */
  uint64_t words, cap, piece;
  pthread_mutex_t lock;
  worker *worker;
  uint64_t *start; /* per document: start of its entries; documents + 1 */
  entry *index;
  nd_common_sink sink;
  void *context;
};

nd_status nd_common_new(nd_common **out, const nd_common_options *o, nd_error *err) {
  nd_common *c = nd_calloc(1, sizeof *c);
  if (!c) return nd_fail_memory(err, sizeof *c);
  c->options = *o;
  pthread_mutex_init(&c->lock, NULL);
  c->cap = o->memory / WORD_BYTES;
  const uint64_t longest = (uint64_t)o->documents + HEAD + 1, all = UINT32_MAX - PIECE;
  if (c->cap < longest + PIECE * (uint64_t)c->options.threads)
    c->cap = longest + PIECE * (uint64_t)c->options.threads;
  c->piece = PIECE;
  if (o->memory == 0) { /* the least that works */
    c->cap = 2 * longest;
    c->piece = 0;
  }
  if (c->cap > all) c->cap = all;
  c->worker = nd_calloc(c->options.threads, sizeof *c->worker);
  if (!c->worker) {
    const size_t room = c->options.threads * sizeof *c->worker;
    nd_common_free(c);
    return nd_fail_memory(err, room);
  }
  *out = c;
  return ND_OK;
}

static void clear_round(nd_common *c) {
  nd_free(c->list);
  nd_free(c->start);
  nd_free(c->index);
  c->list = NULL;
  c->start = NULL;
  c->index = NULL;
  c->words = 0;
  for (unsigned i = 0; c->worker && i < c->options.threads; i++) {
    worker *w = &c->worker[i];
    nd_list_table_clear(&w->table);
    nd_free(w->count);
    nd_free(w->touched);
    nd_free(w->batch);
    *w = (worker){0};
  }
}

void nd_common_free(nd_common *c) {
  if (!c) return;
  clear_round(c);
  nd_free(c->worker);
  pthread_mutex_destroy(&c->lock);
  nd_free(c);
}

/* Reserves words for a list of n documents, in one array whose unused pages are never touched. */
static nd_status reserve(bool *full, nd_common *c, worker *w, uint64_t words, nd_error *err) {
  *full = false;
  if (w->end - w->at >= words) return ND_OK;
  const uint64_t piece = words > c->piece ? words : c->piece;
  nd_status status = ND_OK;
  pthread_mutex_lock(&c->lock);
  if (!c->list) {
    c->list = nd_calloc(c->cap, sizeof *c->list);
    c->words = HEAD; /* position 0 means an empty slot */
  }
  if (!c->list) {
    status = nd_fail_memory(err, c->cap * sizeof *c->list);
  } else if (c->words + piece > c->cap) {
    *full = true;
  } else {
    w->list = c->list;
    w->at = (uint32_t)c->words;
    w->end = (uint32_t)(c->words + piece);
    c->words += piece;
  }
  pthread_mutex_unlock(&c->lock);
  return status;
}

nd_status nd_common_add(bool *full, nd_common *c, unsigned member, const uint32_t *document,
                        size_t n, nd_error *err) {
  worker *w = &c->worker[member];
  *full = false;
  if (n < 2) return ND_OK;
  const uint64_t hash = nd_list_hash(document, n) >> 32;
  uint32_t *times;
  uint64_t at;
  ND_TRY(nd_list_find(&times, &at, &w->table, w->list, hash, document, n, err));
  if (times) {
    ++*times;
    return ND_OK;
  }
  ND_TRY(reserve(full, c, w, n + HEAD + 1, err));
  if (*full) return ND_OK;
  nd_list_enter(&w->table, at, w->list, w->at, hash, 1, document, n);
  w->at += (uint32_t)(n + HEAD + 1);
  return ND_OK;
}

/* Visits every list for a range of documents: counts (index NULL) or fills.  Words of 0 may
 * precede a list, whose first word is its count. */
static void walk_lists(nd_common *c, uint32_t from, uint32_t to, bool fill) {
  uint64_t at = HEAD;
  while (at < c->words) {
    if (c->list[at] == 0) {
      at++;
      continue;
    }
    const uint32_t times = c->list[at++];
    for (; c->list[at] != ND_LIST_END; at++) {
      const uint32_t d = c->list[at];
      if (d < from || d >= to) continue;
      if (fill)
        c->index[c->start[d]++] = (entry){(uint32_t)at, times};
      else
        c->start[d]++;
    }
    at++;
  }
}

typedef struct indexing {
  nd_common *common;
  bool fill;
} indexing;

static nd_status index_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  const indexing *x = context;
  const uint64_t n = x->common->options.documents, jobs = x->common->options.threads;
  walk_lists(x->common, (uint32_t)(n * job / jobs), (uint32_t)(n * (job + 1) / jobs), x->fill);
  return ND_OK;
}

static nd_status make_index(nd_common *c, nd_error *err) {
  const uint64_t n = c->options.documents;
  const unsigned threads = c->options.threads;
  c->start = nd_calloc(n + 1, sizeof *c->start);
  if (!c->start) return nd_fail_memory(err, n * sizeof *c->start);
  indexing x = {c, false};
  ND_TRY(nd_threads_run(threads, threads, index_job, &x, err));
  uint64_t sum = 0;
  for (uint64_t d = 0; d <= n; d++) {
    const uint64_t count = c->start[d];
    c->start[d] = sum;
    sum += count;
  }
  c->index = nd_malloc_large(sum * sizeof *c->index);
  if (!c->index) return nd_fail_memory(err, sum * sizeof *c->index);
  x.fill = true;
  ND_TRY(nd_threads_run(threads, threads, index_job, &x, err));
  /* Now start[d] is the end of the entries of document d. */
  return ND_OK;
}

static nd_status flush(nd_common *c, worker *w, unsigned member, nd_error *err) {
  const size_t n = w->batched;
  w->batched = 0;
  return n ? c->sink(c->context, member, w->batch, n, err) : ND_OK;
}

/* Counts the documents after `a` in its lists. */
static size_t count_document(const nd_common *c, worker *w, uint32_t a) {
  uint32_t *restrict count = w->count, *restrict touched = w->touched;
  size_t n = 0;
  const uint32_t split = c->options.split;
  for (uint64_t e = a ? c->start[a - 1] : 0; e < c->start[a]; e++) {
    const uint32_t times = c->index[e].times, *p = c->list + c->index[e].at + 1;
    while (*p < split) p++;
    for (uint32_t b = *p; b != ND_LIST_END; b = *++p) {
      const uint32_t before = count[b];
      touched[n] = b;
      n += before == 0;
      count[b] = before + times;
    }
  }
  return n;
}

static nd_status count_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  nd_common *c = context;
  worker *w = &c->worker[member];
  const uint32_t n = c->options.documents, last = c->options.split ? c->options.split : n;
  if (!w->count) {
    w->count = nd_calloc(n, sizeof *w->count);
    w->touched = nd_malloc(((size_t)n + 1) * sizeof *w->touched);
    w->batch = nd_malloc(BATCH * sizeof *w->batch);
    if (!w->count || !w->touched || !w->batch) return nd_fail_memory(err, (uint64_t)n * 8);
  }
  const uint64_t end = (job + 1) * JOB_DOCUMENTS < last ? (job + 1) * JOB_DOCUMENTS : last;
  for (uint64_t a = job * JOB_DOCUMENTS; a < end; a++) {
    const size_t touched = count_document(c, w, (uint32_t)a);
    for (size_t k = 0; k < touched; k++) {
      const uint32_t b = w->touched[k];
      w->batch[w->batched++] = (nd_common_pair){(uint32_t)a, b, w->count[b]};
      w->count[b] = 0;
      if (w->batched == BATCH) ND_TRY(flush(c, w, member, err));
    }
  }
  return flush(c, w, member, err);
}

/* Counters take 8 bytes per document and thread: use as many threads as fit. */
static unsigned counting_threads(const nd_common *c) {
  const uint64_t each = (uint64_t)c->options.documents * 8 + 1, fit = c->options.memory / 2 / each;
  if (fit < 1) return 1;
  return fit < c->options.threads ? (unsigned)fit : c->options.threads;
}

nd_status nd_common_round(nd_common *c, nd_common_sink sink, void *context, nd_error *err) {
  nd_status status = ND_OK;
  if (c->list) {
    c->sink = sink;
    c->context = context;
    for (unsigned i = 0; i < c->options.threads; i++) nd_list_table_clear(&c->worker[i].table);
    const uint64_t jobs = ((uint64_t)c->options.documents + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
    status = make_index(c, err);
    if (status == ND_OK) {
      status = nd_threads_run(counting_threads(c), jobs, count_job, c, err);
    }
  }
  clear_round(c);
  return status;
}
