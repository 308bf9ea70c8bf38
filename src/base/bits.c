/* Counting bits; see bits.h. */
#include "base/bits.h"

static uint32_t differ_base(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < words; w++) n += nd_bits_count(a[w] ^ b[w]);
  return n;
}

#if ND_X86
ND_TARGET_SSE41 static uint32_t differ_popcnt(const uint64_t *a, const uint64_t *b,
                                              uint32_t words) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < words; w++) n += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
  return n;
}
#endif

nd_bits_differ_fn nd_bits_differ_best(nd_cpu_level level) {
#if ND_X86
  if (level >= ND_CPU_SSE41) return differ_popcnt;
#endif
  (void)level;
  return differ_base;
}

uint32_t nd_bits_differ(const uint64_t *a, const uint64_t *b, uint32_t words) {
  return nd_bits_differ_best(nd_cpu())(a, b, words);
}

static uint32_t common_base(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < words; w++) n += nd_bits_count(a[w] & b[w]);
  return n;
}

#if ND_X86
ND_TARGET_SSE41 static uint32_t common_popcnt(const uint64_t *a, const uint64_t *b,
                                              uint32_t words) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < words; w++) n += (uint32_t)__builtin_popcountll(a[w] & b[w]);
  return n;
}
#endif

uint32_t nd_bits_common(const uint64_t *a, const uint64_t *b, uint32_t words) {
#if ND_X86
  if (nd_cpu() >= ND_CPU_SSE41) return common_popcnt(a, b, words);
#endif
  return common_base(a, b, words);
}
