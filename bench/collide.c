/* collide [SEED [COUNT]]: shingles of five words that all have one fingerprint under a seed (1).
 *
 * The fingerprint of the words a b c d e is f(a)B^4 + f(b)B^3 + f(c)B^2 + f(d)B + f(e) modulo 2^64
 * (src/feature/shingle.c), f known where the seed is.  With e fixed, the sum of four numbers out of
 * four lists shall be a given one: Wagner's generalised birthday (CRYPTO 2002) finds such sums with
 * lists of 2^22 words, as partial sums that agree in their low 22 bits are joined first. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { BITS = 22, WORDS = 1 << BITS, MOST = 2 * WORDS };
static const uint64_t base = 0x9e3779b97f4a7c15u, low_mask = WORDS - 1;
static uint64_t key_low, key_high;

typedef struct sum {
  uint64_t value;
  uint32_t left, right; /* numbers of words */
} sum;

static int spell(char *out, uint32_t number) {
  return sprintf(out, "w%x", number);
}

static uint64_t hash_word(uint32_t number) {
  char word[16] = {0};
  uint64_t low, high;
  int n = spell(word, number);
  memcpy(&low, word, 8);
  memcpy(&high, word + 8, 8);
  return nd_fold(low ^ key_low, (high ^ key_high) + (uint64_t)n);
}

static int by_value(const void *x, const void *y) {
  uint64_t a = ((const sum *)x)->value, b = ((const sum *)y)->value;
  return a < b ? -1 : a > b;
}

/* Sums left[i] + right[j] whose low bits are `low`, sorted. */
static size_t join(sum *out, const uint64_t *left, const uint64_t *right, uint64_t low) {
  static uint32_t first[WORDS], next[WORDS]; /* right ones by their low bits; numbers + 1 */
  memset(first, 0, sizeof first);
  for (uint32_t j = 0; j < WORDS; j++) {
    next[j] = first[right[j] & low_mask];
    first[right[j] & low_mask] = j + 1;
  }
  size_t n = 0;
  for (uint32_t i = 0; i < WORDS; i++)
    for (uint32_t j = first[(low - left[i]) & low_mask]; j && n < MOST; j = next[j - 1])
      out[n++] = (sum){left[i] + right[j - 1], i, j - 1};
  qsort(out, n, sizeof *out, by_value);
  return n;
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  unsigned long wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 16, found = 0;
  key_low = nd_mix(seed + 0x9e3779b97f4a7c15u) | (uint64_t)0xff << 56;
  key_high = nd_mix(seed + 0xd1b54a32d192ed03u) | (uint64_t)0xff << 56;
  uint64_t *list[4], power = base;
  for (int k = 3; k >= 0; k--, power *= base) {
    list[k] = malloc(WORDS * sizeof **list);
    for (uint32_t i = 0; i < WORDS; i++) list[k][i] = power * hash_word(i + (uint32_t)k * WORDS);
  }
  sum *a = malloc(MOST * sizeof *a), *b = malloc(MOST * sizeof *b);
  for (uint64_t low = 0; found < wanted; low++) { /* the sum shall be 0 */
    size_t n = join(a, list[0], list[1], low), m = join(b, list[2], list[3], -low & low_mask);
    for (size_t i = 0, j = m; i < n && found < wanted; i++) { /* values of b that fall */
      uint64_t need = -a[i].value;
      while (j > 0 && b[j - 1].value > need) j--;
      for (size_t k = j; k > 0 && b[k - 1].value == need && found < wanted; k--, found++) {
        char word[4][16];
        spell(word[0], a[i].left);
        spell(word[1], a[i].right + WORDS);
        spell(word[2], b[k - 1].left + 2 * WORDS);
        spell(word[3], b[k - 1].right + 3 * WORDS);
        printf("%s %s %s %s end\n", word[0], word[1], word[2], word[3]);
      }
    }
  }
  return 0;
}
