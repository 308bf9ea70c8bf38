/* Times all pairs within a Hamming distance against the things it is measured by.
 *
 *   hamming_bench [N [K [THREADS]]]     10 million fingerprints, 3 bits, 1 thread
 *
 * Of the N random 64-bit fingerprints 1 % are near-duplicates of another one, with
 * 0 to K bits flipped.  Prints: the time of sorting the N numbers K + 1 times with
 * our own radix sort, of comparing 100,000 of them all with all (and what that
 * would be for N), and of finding the pairs; the ratios; and the memory above the
 * fingerprints, without the pairs themselves.  Every planted pair must be found, and every pair is
 * counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/rng.h"
#include "candidate/hamming.h"
#include "candidate/hamming_match.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *must(void *p) {
  if (p) return p;
  fprintf(stderr, "hamming_bench: out of memory\n");
  exit(1);
}

/* Peak resident memory of this process, in bytes. */
static uint64_t peak(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  unsigned long long kib = 0;
  while (f && fgets(line, sizeof line, f)) {
    if (sscanf(line, "VmHWM: %llu", &kib) == 1) break;
  }
  if (f) fclose(f);
  return (uint64_t)kib * 1024;
}

static void reset_peak(void) {
  FILE *f = fopen("/proc/self/clear_refs", "w");
  if (!f) return;
  fputs("5", f);
  fclose(f);
}

/* Comparing the first n all with all, with the same kernel that the search uses. */
static uint64_t brute(const uint64_t *v, size_t n, uint32_t k) {
  nd_match match = nd_match_best();
  enum { BLOCK = 4096 };
  static uint32_t hit[BLOCK + 8];
  uint64_t found = 0;
  for (size_t block = 1; block < n; block += BLOCK) {
    size_t stop = n - block < BLOCK ? n : block + BLOCK;
    for (size_t i = 0; i + 1 < stop; i++) {
      size_t from = block > i + 1 ? block : i + 1;
      found += match(hit, v + from, stop - from, v[i], k);
    }
  }
  return found;
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000, planted = n / 100;
  uint32_t k = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;
  unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
  if (n < 1000 || n > UINT32_MAX || k > 16 || threads < 1 || threads > 256) {
    fprintf(stderr, "usage: hamming_bench [N [K [THREADS]]], N >= 1000, K <= 16\n");
    return 2;
  }
  uint64_t *v = must(malloc(n * sizeof *v));
  nd_rng rng = {1};
  for (size_t i = 0; i < n; i++) v[i] = nd_rng_next(&rng);
  size_t *left = must(malloc(planted * sizeof *left)),
         *right = must(malloc(planted * sizeof *right));
  for (size_t i = 0; i < planted; i++) { /* the copies are the last 1 % */
    left[i] = (size_t)nd_rng_below(&rng, n - planted);
    right[i] = n - planted + i;
    v[right[i]] = v[left[i]];
    for (uint64_t f = nd_rng_below(&rng, k + 1); f; f--)
      v[right[i]] ^= (uint64_t)1 << nd_rng_below(&rng, 64);
  }

  uint64_t *a = must(malloc(n * sizeof *a)), *spare = must(malloc(n * sizeof *spare));
  double sorting = 0;
  for (uint32_t t = 0; t <= k; t++) {
    unsigned turn = 64 / (k + 1) * t; /* each table begins with another piece */
    for (size_t i = 0; i < n; i++) a[i] = turn ? v[i] << turn | v[i] >> (64 - turn) : v[i];
    double begin = now();
    nd_radix_u64(a, spare, n);
    sorting += now() - begin;
  }
  free(a);
  free(spare);

  size_t few = n < 100000 ? n : 100000;
  double begin = now();
  uint64_t few_pairs = brute(v, few, k);
  double one_brute = now() - begin;
  double ratio = (double)n / (double)few, whole_brute = one_brute * ratio * ratio;

  nd_error err = {0};
  nd_sorter *pairs;
  nd_hamming_stats stats;
  if (nd_sorter_new(&pairs, 16 << 20, "/tmp", false, &err) != ND_OK) return 1;
  nd_hamming_request r = {.vectors = v, .n = n, .words = 1, .distance = k, .threads = threads};
  reset_peak();
  uint64_t before = peak();
  begin = now();
  nd_status status = nd_hamming_pairs(pairs, &stats, &r, &err);
  if (status == ND_OK) status = nd_sorter_finish(pairs, &err);
  double finding = now() - begin;
  uint64_t above = peak() - before;
  if (status != ND_OK) {
    fprintf(stderr, "hamming_bench: %s\n", err.message);
    return 1;
  }
  /* Pairs come in the order of (a, b): look each planted one up. */
  uint64_t total = 0, cap = stats.pairs;
  nd_item *all = must(malloc((cap + 1) * sizeof *all));
  for (size_t got = 1; got;) {
    if (nd_sorter_next(&got, all + total, cap - total < 4096 ? cap - total : 4096, pairs, &err) !=
        ND_OK)
      return 1;
    total += got;
  }
  uint64_t missed = 0;
  for (size_t i = 0; i < planted; i++) {
    uint64_t key = (uint64_t)left[i] << 32 | right[i];
    size_t low = 0, high = total;
    while (low < high) {
      size_t mid = (low + high) / 2;
      if (all[mid].key < key)
        low = mid + 1;
      else
        high = mid;
    }
    missed += low == total || all[low].key != key;
  }
  printf("fingerprints %zu, at most %u bits, %u threads\n", n, k, threads);
  printf("radix sort, %u times: %.3f s\n", k + 1, sorting);
  printf("all with all: %.3f s for %zu (%llu pairs), %.0f s for %zu\n", one_brute, few,
         (unsigned long long)few_pairs, whole_brute, n);
  printf("pairs: %.3f s, %llu pairs, %llu compared, planted %zu, missed %llu\n", finding,
         (unsigned long long)total, (unsigned long long)stats.compared, planted,
         (unsigned long long)missed);
  printf("against sorting: %.3f\n", finding / sorting);
  printf("faster than all with all: %.1f\n", whole_brute / finding);
  printf("bytes per document above the fingerprints: %.2f\n",
         ((double)above - (double)stats.pairs * sizeof(nd_item)) / (double)n);
  nd_sorter_free(pairs);
  free(all);
  free(left);
  free(right);
  free(v);
  return missed ? 1 : 0;
}
