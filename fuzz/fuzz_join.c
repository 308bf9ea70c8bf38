/* The set joins against all pairs. */
#include "fuzz.h"
#include "join/join.h"
#include "similarity/similarity.h"

enum { RECORDS = 24, TOKENS = 12 };

typedef struct pairs {
  nd_join_pair pair[RECORDS * RECORDS];
  size_t n;
} pairs;

static nd_status take(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  pairs *p = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    fuzz_check(p->n < RECORDS * RECORDS);
    p->pair[p->n++] = pair[i];
  }
  return ND_OK;
}

static uint32_t common_of(const uint64_t *a, size_t an, const uint64_t *b, size_t bn) {
  uint32_t common = 0;
  for (size_t i = 0; i < an; i++)
    for (size_t j = 0; j < bn; j++) common += a[i] == b[j];
  return common;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes in = {data, size};
  uint64_t raw[RECORDS * TOKENS], begin[RECORDS + 1] = {0};
  unsigned percent = 1 + fuzz_byte(&in) % 100, n = 0;
  nd_join_options o = {.similarity = &nd_similarity_jaccard,
                       .num = percent,
                       .den = 100,
                       .level = fuzz_byte(&in) % (nd_cpu() + 2)};
  for (; n < RECORDS && in.n; n++) {
    uint64_t at = begin[n];
    for (unsigned k = fuzz_byte(&in) % (TOKENS + 1); k > 0; k--) {
      uint64_t token = fuzz_byte(&in) % 64;
      bool repeated = false;
      for (uint64_t i = begin[n]; i < at; i++) repeated |= raw[i] == token;
      if (!repeated) raw[at++] = token;
    }
    begin[n + 1] = at;
  }
  nd_sets sets = {0};
  nd_error err = {0};
  fuzz_check(nd_sets_build(&sets, raw, begin, n, 1, &err) == ND_OK);
  for (int m = ND_JOIN_BLOCKS; m <= ND_JOIN_PPJOIN_PLUS; m++) {
    pairs found = {.n = 0};
    bool seen[RECORDS][RECORDS] = {{false}};
    o.method = (nd_join_method)m;
    fuzz_check(nd_join_run(&sets, &o, take, &found, NULL, &err) == ND_OK);
    for (size_t i = 0; i < found.n; i++) {
      nd_join_pair p = found.pair[i];
      fuzz_check(p.a < p.b && p.b < n && !seen[p.a][p.b]);
      seen[p.a][p.b] = true;
    }
    for (unsigned a = 0; a < n; a++) {
      for (unsigned b = a + 1; b < n; b++) {
        size_t an = begin[a + 1] - begin[a], bn = begin[b + 1] - begin[b];
        uint64_t common = common_of(raw + begin[a], an, raw + begin[b], bn);
        bool similar = an && bn && common * 100 >= (an + bn - common) * percent;
        fuzz_check(seen[a][b] == similar);
      }
    }
  }
  nd_sets_clear(&sets);
  return 0;
}
