/* The inner loops of the block join, per SIMD level; see block_join.h.
 *
 * One body (block_kernel_body.h) is compiled per level and sketch width; only the test of 8
 * postings differs.  Short lists are scanned x by x, long ones a group of x at a time over a tile
 * of y, which stays in the first cache. */
#include "join/block_join.h"

#if ND_X86
#include <immintrin.h>
#endif

enum { GROUP = 64, SEEK_FROM = 128 };

/* An x and its range of the index side. */
typedef struct prober {
  const nd_posting *posting;
  uint32_t from, to;
  int32_t limit;
} prober;

ND_INLINE void keep(nd_block_worker *w, const nd_posting *x, uint32_t at) {
  const nd_posting *y = w->posting[at];
  w->candidate[w->candidates] =
      (nd_candidate){x->record, y->record, nd_posting_position(x), nd_posting_position(y)};
  /* If the preceding tokens are equal, this is not the first common token. */
  w->candidates += x->before != y->before || x->before == UINT32_MAX;
}

ND_INLINE uint32_t scan_plain(nd_block_worker *w, const prober *x, uint32_t from, uint32_t to,
                              unsigned words) {
  uint32_t found = 0;
  for (uint32_t i = from; i < to; i++) {
    int32_t bits = 0;
    for (unsigned k = 0; k < words; k++) {
      bits += __builtin_popcountll(w->column[k][i] ^ x->posting->sketch[k]);
    }
    if (bits * 256 > w->limit[i] + x->limit) continue;
    keep(w, x->posting, i);
    found++;
  }
  return found;
}

#if ND_X86
#define ND_TARGET_VPOPCNT                                                        \
  __attribute__((                                                                \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi,bmi2," \
             "lzcnt,popcnt")))

ND_INLINE ND_TARGET_AVX2 __m256i bytes_popcount(__m256i v, __m256i table, __m256i low) {
  __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
                         _mm256_shuffle_epi8(table, high));
}

ND_INLINE ND_TARGET_AVX2 uint32_t scan_avx2(nd_block_worker *w, const prober *x, uint32_t from,
                                            uint32_t to, unsigned words) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
  const __m256i both = _mm256_set1_epi32(x->limit);
  __m256i mine[ND_BLOCK_WORDS];
  for (unsigned k = 0; k < words; k++)
    mine[k] = _mm256_set1_epi64x((long long)x->posting->sketch[k]);
  uint32_t found = 0;
  for (uint32_t i = from; i < to; i += 8) {
    __m256i count0 = zero, count1 = zero;
    for (unsigned k = 0; k < words; k++) {
      const __m256i *at = (const __m256i *)(const void *)(w->column[k] + i);
      __m256i a = _mm256_xor_si256(_mm256_loadu_si256(at), mine[k]);
      __m256i b = _mm256_xor_si256(_mm256_loadu_si256(at + 1), mine[k]);
      count0 = _mm256_add_epi8(count0, bytes_popcount(a, table, low));
      count1 = _mm256_add_epi8(count1, bytes_popcount(b, table, low));
    }
    __m256 sums0 = _mm256_castsi256_ps(_mm256_sad_epu8(count0, zero));
    __m256 sums1 = _mm256_castsi256_ps(_mm256_sad_epu8(count1, zero));
    /* Eight counts as 32-bit lanes, in order. */
    __m256i packed =
        _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(sums0, sums1, 0x88)), 0xd8);
    const __m256i *limit = (const __m256i *)(const void *)(w->limit + i);
    __m256i allowed = _mm256_add_epi32(_mm256_loadu_si256(limit), both);
    __m256i above = _mm256_cmpgt_epi32(_mm256_slli_epi32(packed, 8), allowed);
    uint32_t mask = ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above)) & 255;
    if (to - i < 8) mask &= (1u << (to - i)) - 1;
    for (; mask; mask &= mask - 1, found++) {
      keep(w, x->posting, i + (uint32_t)__builtin_ctz(mask));
    }
  }
  return found;
}

ND_INLINE ND_TARGET_VPOPCNT uint32_t scan_vpopcnt(nd_block_worker *w, const prober *x,
                                                  uint32_t from, uint32_t to, unsigned words) {
  const __m256i both = _mm256_set1_epi32(x->limit);
  __m512i mine[ND_BLOCK_WORDS];
  for (unsigned k = 0; k < words; k++)
    mine[k] = _mm512_set1_epi64((long long)x->posting->sketch[k]);
  uint32_t found = 0;
  for (uint32_t i = from; i < to; i += 8) {
    __m512i count = _mm512_setzero_si512();
    for (unsigned k = 0; k < words; k++) {
      __m512i v = _mm512_xor_si512(_mm512_loadu_si512(w->column[k] + i), mine[k]);
      count = _mm512_add_epi64(count, _mm512_popcnt_epi64(v));
    }
    __m256i bits = _mm256_slli_epi32(_mm512_cvtepi64_epi32(count), 8);
    const __m256i *limit = (const __m256i *)(const void *)(w->limit + i);
    uint32_t mask =
        _mm256_cmple_epi32_mask(bits, _mm256_add_epi32(_mm256_loadu_si256(limit), both));
    if (to - i < 8) mask &= (1u << (to - i)) - 1;
    for (; mask; mask &= mask - 1, found++) {
      keep(w, x->posting, i + (uint32_t)__builtin_ctz(mask));
    }
  }
  return found;
}
#endif

/* Returns the index of the first of n ascending records that is at least `record`. */
ND_INLINE uint32_t seek(const uint32_t *a, uint32_t n, uint32_t record) {
  uint32_t low = 0;
  while (low < n) {
    uint32_t middle = low + (n - low) / 2;
    if (a[middle] < record) {
      low = middle + 1;
    } else {
      n = middle;
    }
  }
  return low;
}

/* Returns the first posting that posting `from` must be compared with. */
ND_INLINE uint32_t first_met(const nd_join_task *t, const nd_block_list *list, uint32_t from,
                             unsigned words) {
  const uint32_t lowest = t->class_[nd_list_at(list, from, words)->class_].lowest;
  uint32_t low = 0, high = from;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (nd_list_at(list, middle, words)->record < lowest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Copies the indexed postings of one side, column by column. */
ND_INLINE uint32_t make_side(nd_block_worker *w, const nd_block_list *list, uint32_t first,
                             uint32_t to, unsigned side, unsigned words) {
  const nd_join_class *class_ = w->block->task->class_;
  const unsigned wanted = side << 1 | 1;
  uint32_t n = 0;
  for (uint32_t i = first; i < to; i++) {
    const nd_posting *p = nd_list_at(list, i, words);
    w->posting[n] = p;
    w->record[n] = p->record;
    w->limit[n] = nd_posting_limit(class_[p->class_].limit_y, p);
    for (unsigned k = 0; k < words; k++) w->column[k][n] = p->sketch[k];
    n += (p->packed & 3) == wanted;
  }
  return n;
}

/* Joins a short list in place: compares every x with the preceding postings one by one. */
ND_INLINE void scan_short(nd_block_worker *w, const nd_block_list *list, uint32_t n,
                          unsigned probing, unsigned indexed, unsigned words) {
  const nd_join_class *class_ = w->block->task->class_;
  const nd_posting *posting[ND_BLOCK_SHORT];
  int32_t limit[ND_BLOCK_SHORT];
  uint32_t y_n = 0;
  uint64_t met = 0, found = 0;
  for (uint32_t i = 0; i < n; i++) {
    const nd_posting *x = nd_list_at(list, i, words);
    const nd_join_class *c = &class_[x->class_];
    if (nd_posting_side(x) == probing) {
      const int32_t mine = nd_posting_limit(c->limit_x, x);
      const uint32_t lowest = c->lowest;
      for (uint32_t j = y_n; j-- > 0;) {
        const nd_posting *y = posting[j];
        if (y->record < lowest) break;
        int32_t bits = 0;
        for (unsigned k = 0; k < words; k++) {
          bits += __builtin_popcountll(y->sketch[k] ^ x->sketch[k]);
        }
        met++;
        if (bits * 256 > mine + limit[j]) continue;
        found++;
        w->candidate[w->candidates] =
            (nd_candidate){x->record, y->record, nd_posting_position(x), nd_posting_position(y)};
        w->candidates += x->before != y->before || x->before == UINT32_MAX;
      }
    }
    posting[y_n] = x;
    limit[y_n] = nd_posting_limit(c->limit_y, x);
    y_n += (x->packed & 3) == (indexed << 1 | 1);
  }
  w->join->after_size += met;
  w->join->after_positional += found;
}

#define WORDS 1
#define NAME(level) level##_1
#include "join/block_kernel_levels.h"
#undef WORDS
#undef NAME
#define WORDS 2
#define NAME(level) level##_2
#include "join/block_kernel_levels.h"
#undef WORDS
#undef NAME
#define WORDS 4
#define NAME(level) level##_4
#include "join/block_kernel_levels.h"

nd_block_sides nd_block_kernel(unsigned words, nd_cpu_level level) {
  const unsigned width = words == 1 ? 0 : words == 2 ? 1 : 2;
#if ND_X86
  static const nd_block_sides vpopcnt[] = {sides_vpopcnt_1, sides_vpopcnt_2, sides_vpopcnt_4};
  static const nd_block_sides avx2[] = {sides_avx2_1, sides_avx2_2, sides_avx2_4};
  static const nd_block_sides sse41[] = {sides_sse41_1, sides_sse41_2, sides_sse41_4};
  /* untaken: the machine has every CPU level */
  if (level >= ND_CPU_AVX512 && __builtin_cpu_supports("avx512vpopcntdq")) return vpopcnt[width];
  if (level >= ND_CPU_AVX2) return avx2[width];
  if (level >= ND_CPU_SSE41) return sse41[width];
#endif
  static const nd_block_sides plain[] = {sides_plain_1, sides_plain_2, sides_plain_4};
  (void)level;
  return plain[width];
}
