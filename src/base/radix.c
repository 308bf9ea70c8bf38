/* LSD radix sort; see radix.h. */
#include "base/radix.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT = 11, SLOTS = 1 << DIGIT, PASSES = 6, SMALL = 48 };

/* Turns counts into start positions; returns false if one bucket holds everything. */
static bool prefix_sums(size_t *count, size_t n) {
  size_t sum = 0;
  for (size_t i = 0; i < SLOTS; i++) {
    size_t c = count[i];
    if (c == n) return false;
    count[i] = sum;
    sum += c;
  }
  return true;
}

static void insertion_u64(uint64_t *a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint64_t x = a[i];
    size_t j = i;
    for (; j && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

static void insertion_items(nd_item *a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    nd_item x = a[i];
    size_t j = i;
    for (; j && a[j - 1].key > x.key; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

void nd_radix_u64(uint64_t *a, uint64_t *scratch, size_t n) {
  if (n <= SMALL) {
    insertion_u64(a, n);
    return;
  }
  size_t count[PASSES][SLOTS];
  memset(count, 0, sizeof count);
  for (size_t i = 0; i < n; i++) {
    for (int p = 0; p < PASSES; p++) count[p][a[i] >> (p * DIGIT) & (SLOTS - 1)]++;
  }
  uint64_t *from = a, *to = scratch;
  for (int p = 0; p < PASSES; p++) {
    if (!prefix_sums(count[p], n)) continue;
    for (size_t i = 0; i < n; i++) to[count[p][from[i] >> (p * DIGIT) & (SLOTS - 1)]++] = from[i];
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != a) memcpy(a, from, n * sizeof *a);
}

static void sort_items(nd_item *a, nd_item *scratch, size_t n, int first, int last) {
  size_t count[PASSES][SLOTS];
  memset(count[first], 0, sizeof count[0] * (size_t)(last - first));
  for (size_t i = 0; i < n; i++) {
    for (int p = first; p < last; p++) count[p][a[i].key >> (p * DIGIT) & (SLOTS - 1)]++;
  }
  nd_item *from = a, *to = scratch;
  for (int p = first; p < last; p++) {
    if (!prefix_sums(count[p], n)) continue;
    for (size_t i = 0; i < n; i++) {
      to[count[p][from[i].key >> (p * DIGIT) & (SLOTS - 1)]++] = from[i];
    }
    nd_item *swap = from;
    from = to;
    to = swap;
  }
  if (from != a) memcpy(a, from, n * sizeof *a);
}

void nd_radix_items(nd_item *a, nd_item *scratch, size_t n) {
  if (n <= SMALL) {
    insertion_items(a, n);
    return;
  }
  sort_items(a, scratch, n, 0, PASSES);
}

void nd_radix_group(nd_item *a, nd_item *scratch, size_t n) {
  if (n <= SMALL) {
    insertion_items(a, n);
    return;
  }
  /* The low 33 bits separate almost all keys; runs of mixed keys that remain are sorted one by
   * one. */
  enum { LOW_PASSES = 3, LOW_BITS = LOW_PASSES * DIGIT };
  sort_items(a, scratch, n, 0, LOW_PASSES);
  const uint64_t mask = (UINT64_C(1) << LOW_BITS) - 1;
  for (size_t i = 0; i < n;) {
    size_t j = i + 1;
    bool mixed = false;
    while (j < n && ((a[j].key ^ a[i].key) & mask) == 0) {
      mixed |= a[j].key != a[i].key;
      j++;
    }
    if (mixed) nd_radix_items(a + i, scratch, j - i);
    i = j;
  }
}
