/* SIMD level of this CPU, detected once.  NEARDUP_CPU=base|sse41|avx2|avx512 forces a lower level.
 * All levels give bit-identical results. */
#ifndef ND_BASE_CPU_H
#define ND_BASE_CPU_H

typedef enum nd_cpu_level {
  ND_CPU_BASE = 0,
  ND_CPU_SSE41,
  ND_CPU_AVX2,
  ND_CPU_AVX512, /* F, BW, DQ, VL */
  ND_CPU_LEVELS
} nd_cpu_level;

nd_cpu_level nd_cpu(void);
const char *nd_cpu_name(nd_cpu_level level);

#if defined(__x86_64__) && defined(__GNUC__)
#define ND_X86 1
#define ND_TARGET_SSE41 __attribute__((target("sse4.1,popcnt")))
#define ND_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define ND_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt,popcnt")))
#else
#define ND_X86 0
#endif
#if defined(__GNUC__)
#define ND_NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#else
#define ND_NO_THREAD_SANITIZER
#endif
/* In coverage builds, inline functions are not forced inline, so that their branches are counted
 * once. */
#if defined(ND_COVERAGE)
#define ND_INLINE static inline
#else
#define ND_INLINE static inline __attribute__((always_inline))
#endif
/* The tables of methods, formats and similarities are weak symbols, so that a program linked with
 * the library's objects (a test, say) can define its own, with rows that the library lacks. */
#define ND_WEAK __attribute__((weak))
#define ND_LIKELY(x) __builtin_expect(!!(x), 1)
#define ND_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
