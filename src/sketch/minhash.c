/* Fast similarity sketching; see minhash.h. */
#include "sketch/minhash.h"

#include "base/hash.h"

enum { VALUE_BITS = 52, DISTINCT_AFTER = 4 };
static const uint64_t value_mask = (UINT64_C(1) << VALUE_BITS) - 1;

nd_status nd_minhash_init(nd_minhash *m, uint32_t k, uint64_t seed, nd_error *err) {
  return nd_minhash_init_family(m, ND_FAMILY_FAST, k, seed, err);
}

nd_status nd_minhash_init_family(nd_minhash *m, nd_family family, uint32_t k, uint64_t seed,
                                 nd_error *err) {
  *m = (nd_minhash){.family = family, .k = k, .seed = seed};
  if (k < 1 || k > ND_MINHASH_MAX) {
    return nd_fail(err, ND_ERR_USAGE, "%u permutations: the number must be from 1 to %d", k,
                   ND_MINHASH_MAX);
  }
  if (family == ND_FAMILY_LINEAR) return nd_linear_init(&m->linear, k, seed, err);
  m->round_key = nd_malloc(2 * k * sizeof *m->round_key);
  if (!m->round_key) return nd_fail_memory(err, 2 * k * sizeof *m->round_key);
  for (uint32_t i = 0; i < 2 * k; i++) m->round_key[i] = nd_mix(nd_mix(seed) + 2 * i + 1) | 1;
  return ND_OK;
}

void nd_minhash_clear(nd_minhash *m) {
  nd_free(m->round_key);
  nd_free(m->set);
  nd_linear_clear(&m->linear);
  *m = (nd_minhash){0};
}

/* One round that assigns every fingerprint to a random position; returns the number of empty
 * positions reached, if requested. */
ND_INLINE uint32_t throw_all(uint64_t *restrict out, const uint64_t *restrict fp, size_t n,
                             uint32_t k, uint32_t round, uint64_t key, bool count) {
  uint64_t stamp = (uint64_t)round << VALUE_BITS;
  uint32_t reached = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t h = nd_fold(fp[i] ^ key, 0x9fb21c651e98df25u ^ key << 1);
    uint64_t position = (h >> 32) * k >> 32;
    uint64_t value = stamp | (h & value_mask);
    uint64_t old = out[position];
    if (count) reached += old == UINT64_MAX;
    out[position] = value < old ? value : old;
  }
  return reached;
}

/* A round from k to 2k-1: the smallest value of all fingerprints, for one position. */
static uint64_t fill_one(const uint64_t *fp, size_t n, uint32_t round, uint64_t key) {
  uint64_t best = UINT64_MAX;
  for (size_t i = 0; i < n; i++) {
    uint64_t h = nd_fold(fp[i] ^ key, 0x9fb21c651e98df25u ^ key << 1);
    uint64_t value = (uint64_t)round << VALUE_BITS | (h & value_mask);
    if (value < best) best = value;
  }
  return best;
}

static uint32_t count_filled(const uint64_t *out, uint32_t k) {
  uint32_t filled = 0;
  for (uint32_t i = 0; i < k; i++) filled += out[i] != UINT64_MAX;
  return filled;
}

/* Removes repeated fingerprints, which would only cost time in every round.  The table
 * holds the fingerprints themselves, so that a probe is one access to memory; zero is stored as one
 * (a harmless collision of two fingerprints). */
static nd_status distinct(nd_minhash *m, const uint64_t **fp, size_t *n, nd_error *err) {
  size_t slots = 64;
  while (slots < 2 * *n) slots *= 2;
  ND_TRY(nd_array_grow(&m->set, &m->set_cap, slots + *n, sizeof *m->set, err));
  uint64_t *table = m->set, *list = m->set + slots, secret = nd_hash_secret();
  memset(table, 0, slots * sizeof *table);
  size_t found = 0;
  for (size_t i = 0; i < *n; i++) {
    uint64_t x = (*fp)[i] ? (*fp)[i] : 1;
    size_t at = nd_hash_slot(x, secret, slots);
    while (table[at] && table[at] != x) at = (at + 1) & (slots - 1);
    if (table[at]) continue;
    table[at] = x;
    list[found++] = x;
  }
  *fp = list;
  *n = found;
  return ND_OK;
}

nd_status nd_minhash_sketch(uint64_t *out, nd_minhash *m, const uint64_t *fingerprint, size_t n,
                            nd_error *err) {
  if (m->family == ND_FAMILY_LINEAR) {
    nd_linear_sketch(out, &m->linear, fingerprint, n);
    return ND_OK;
  }
  memset(out, 0xff, m->k * sizeof *out);
  if (n == 0) return ND_OK;
  const uint64_t *fp = fingerprint;
  uint32_t filled = 0;
  for (uint32_t round = 0; round < m->k; round++) {
    if (round == DISTINCT_AFTER) ND_TRY(distinct(m, &fp, &n, err));
    uint64_t key = m->round_key[round];
    if (n < m->k / 4) { /* many rounds follow: count empty positions */
      filled += throw_all(out, fp, n, m->k, round, key, true);
    } else {
      throw_all(out, fp, n, m->k, round, key, false);
      filled = count_filled(out, m->k);
    }
    if (filled == m->k) return ND_OK;
  }
  for (uint32_t i = 0; i < m->k; i++) {
    if (out[i] == UINT64_MAX) out[i] = fill_one(fp, n, m->k + i, m->round_key[m->k + i]);
  }
  return ND_OK;
}

double nd_minhash_estimate(const uint64_t *a, const uint64_t *b, uint32_t k) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < k; i++) same += a[i] == b[i] && a[i] != UINT64_MAX;
  return (double)same / k;
}
