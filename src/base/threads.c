/* A pool of threads over numbered jobs; see threads.h. */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static _Atomic uint64_t fail_at, asked;

void nd_threads_fail_at(uint64_t nth) {
  atomic_store(&asked, 0);
  atomic_store(&fail_at, nth);
}

uint64_t nd_threads_count(void) {
  return atomic_load(&asked);
}

static bool start(pthread_t *id, void *(*run)(void *), void *argument) {
  uint64_t nth = atomic_load_explicit(&fail_at, memory_order_relaxed);
  if (nth && atomic_fetch_add(&asked, 1) + 1 == nth) return false;
  return pthread_create(id, NULL, run, argument) == 0;
}

typedef struct pool {
  nd_job run;
  void *context;
  uint64_t jobs;
  _Atomic uint64_t next;
  _Atomic int failed;
  pthread_mutex_t lock;
  nd_status status; /* status of the lowest failed job */
  uint64_t failed_job;
  nd_error *err;
} pool;

typedef struct worker {
  pool *pool;
  unsigned number;
} worker;

static void *work(void *argument) {
  worker *self = argument;
  pool *t = self->pool;
  while (!atomic_load_explicit(&t->failed, memory_order_relaxed)) {
    /* Relaxed: taking a job orders nothing else.  Jobs that share data synchronise it themselves,
     * and the thread sanitizer finds those that do not. */
    uint64_t job = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
    if (job >= t->jobs) break;
    nd_error err = {0};
    nd_status status = t->run(t->context, self->number, job, &err);
    if (status == ND_OK) continue;
    pthread_mutex_lock(&t->lock);
    if (t->status == ND_OK || job < t->failed_job) {
      t->status = status;
      t->failed_job = job;
      if (t->err) *t->err = err;
    }
    pthread_mutex_unlock(&t->lock);
    atomic_store_explicit(&t->failed, 1, memory_order_relaxed);
  }
  return NULL;
}

nd_status nd_threads_run(unsigned threads, uint64_t jobs, nd_job run, void *context,
                         nd_error *err) {
  if (threads > jobs) threads = (unsigned)jobs;
  if (threads < 1) threads = 1;
  pool t = {.run = run, .context = context, .jobs = jobs, .status = ND_OK, .err = err};
  pthread_t *ids = nd_calloc(threads, sizeof *ids);
  worker *workers = nd_calloc(threads, sizeof *workers);
  if (!ids || !workers) {
    nd_free(ids);
    nd_free(workers);
    return nd_fail_memory(err, threads * sizeof *workers);
  }
  pthread_mutex_init(&t.lock, NULL);
  unsigned started = 1; /* the caller is worker 0 */
  for (unsigned i = 0; i < threads; i++) workers[i] = (worker){&t, i};
  for (; started < threads; started++) {
    /* Fewer threads than requested only cost time; the result is the same. */
    if (!start(&ids[started], work, &workers[started])) break;
  }
  work(&workers[0]);
  for (unsigned i = 1; i < started; i++) pthread_join(ids[i], NULL);
  pthread_mutex_destroy(&t.lock);
  nd_free(ids);
  nd_free(workers);
  return t.status;
}

unsigned nd_threads_cores(void) {
#if defined(__linux__)
  cpu_set_t set;
  /* untaken: the system never refuses this */
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (unsigned)n : 1; /* untaken: the system never refuses this */
}
