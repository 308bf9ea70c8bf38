#include "every_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>

int callers = 8;
static uint64_t place_hash[MOST_PLACES]; /* open addressing; 0: free */
uint64_t place_call[MOST_PLACES], place_kind;
size_t place_n, places_known;
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

void note_place(uint64_t nth) {
  void *stack[MOST_CALLERS];
  int n = backtrace(stack, callers);
  uint64_t hash = place_kind;
  for (int i = 0; i < n; i++) hash = (hash ^ (uintptr_t)stack[i]) * 0x9e3779b97f4a7c15u;
  hash |= 1;
  pthread_mutex_lock(&places_lock);
  size_t at = (size_t)(hash >> 40) % MOST_PLACES;
  while (place_hash[at] && place_hash[at] != hash) at = (at + 1) % MOST_PLACES;
  if (!place_hash[at]) {
    assert_true(++places_known < MOST_PLACES / 2);
    place_hash[at] = hash;
    place_call[place_n++] = nth;
  }
  pthread_mutex_unlock(&places_lock);
}

void forget_places(void) {
  memset(place_hash, 0, sizeof place_hash);
  places_known = place_n = 0;
}

size_t every_place_fails(nd_status (*run)(void *context), void *context) {
  size_t failures = 0;
  for (int io = 0; io < 2; io++) {
    const nd_status right = io ? ND_ERR_IO : ND_ERR_MEMORY;
    nd_mem_strict(true);
    forget_places();
    place_kind = (uint64_t)io;
    io ? nd_io_watch(note_place) : nd_mem_watch(note_place);
    io ? nd_io_fail_at(UINT64_MAX, EIO) : nd_mem_fail_at(UINT64_MAX);
    nd_status status = run(context);
    nd_io_watch(NULL);
    nd_mem_watch(NULL);
    for (size_t i = 0; i < place_n && status == ND_OK; i++) {
      err.message[0] = '\0';
      io ? nd_io_fail_at(place_call[i], EIO) : nd_mem_fail_at(place_call[i]);
      nd_status failed = run(context);
      nd_io_fail_at(0, 0);
      nd_mem_fail_at(0);
      if (failed != ND_OK && (failed != right || !err.message[0]))
        fail_msg("%s at call %lu: %s: %s", io ? "a bad disk" : "no memory",
                 (unsigned long)place_call[i], nd_status_name(failed), err.message);
      failures += failed != ND_OK;
    }
    nd_io_fail_at(0, 0);
    nd_mem_fail_at(0);
    nd_mem_strict(false);
    ok(status);
    ok(run(context));
  }
  return failures;
}
