/* Hashing of strings longer than 16 bytes, the masks for shorter ones, and the process secret. */
#include "base/hash.h"

#include "base/hash_table.h"

#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ONES(n) ((n) == 0 ? 0 : UINT64_MAX >> (64 - 8 * (n)))
#define LOW(n) \
  { ONES(n), 0 }
#define HIGH(n) \
  { UINT64_MAX, ONES((n)-8) }

const uint64_t nd_hash_masks[17][2] = {
    {0, 0},  LOW(1),   LOW(2),   LOW(3),   LOW(4),   LOW(5),   LOW(6),   LOW(7),  {UINT64_MAX, 0},
    HIGH(9), HIGH(10), HIGH(11), HIGH(12), HIGH(13), HIGH(14), HIGH(15), HIGH(16)};

uint64_t nd_hash_long(const char *p, size_t n, nd_hash_key key) {
  return XXH3_64bits_withSeed(p, n, key.low ^ key.high);
}

uint64_t nd_hash_secret(void) {
  static _Atomic uint64_t cached; /* 0: not drawn yet */
  uint64_t secret = atomic_load_explicit(&cached, memory_order_relaxed);
  if (ND_LIKELY(secret != 0)) return secret;
  uint64_t drawn, none = 0;
  /* untaken: the system never refuses this */
  if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    drawn = nd_mix((uint64_t)t.tv_nsec ^ (uint64_t)(uintptr_t)&t);
  }
  /* Only the first thread's number counts: slots must not change while a table exists. */
  /* untaken: two threads at one moment */
  return atomic_compare_exchange_strong(&cached, &none, drawn | 1) ? drawn | 1 : none;
}

nd_status nd_slots_reset(nd_slots *t, size_t entries, nd_error *err) {
  enum { FEWEST = 16 };
  size_t slots = FEWEST;
  while (slots < 2 * entries) slots *= 2;
  ND_TRY(nd_array_grow(&t->slot, &t->cap, slots, sizeof *t->slot, err));
  memset(t->slot, 0, slots * sizeof *t->slot);
  t->slots = slots;
  return ND_OK;
}
