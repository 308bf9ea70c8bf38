/* CPU detection, cached in the library's only global variable besides the test hooks. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[ND_CPU_LEVELS] = {"base", "sse41", "avx2", "avx512"};
static _Atomic int cached = -1;

static int detect(void) {
  int level = ND_CPU_BASE;
#if ND_X86
  __builtin_cpu_init();
  /* untaken: the machine has every CPU level */
  if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("popcnt")) level = ND_CPU_SSE41;
  /* untaken: the machine has every CPU level */
  if (level == ND_CPU_SSE41 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
    level = ND_CPU_AVX2;
  /* untaken: the machine has every CPU level */
  if (level == ND_CPU_AVX2 && __builtin_cpu_supports("avx512f") &&
      /* untaken: the machine has every CPU level */
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    level = ND_CPU_AVX512;
#endif
  const char *forced = getenv("NEARDUP_CPU");
  for (int i = 0; forced && i < level; i++) {
    if (strcmp(forced, names[i]) == 0) return i;
  }
  return level;
}

nd_cpu_level nd_cpu(void) {
  int level = atomic_load_explicit(&cached, memory_order_relaxed);
  if (level < 0) {
    level = detect();
    atomic_store_explicit(&cached, level, memory_order_relaxed);
  }
  return (nd_cpu_level)level;
}

const char *nd_cpu_name(nd_cpu_level level) {
  return names[level];
}
