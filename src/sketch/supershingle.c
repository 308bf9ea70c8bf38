/* Super-shingles and mega-shingles; see supershingle.h. */
#include "sketch/supershingle.h"

#include <math.h>

#include "base/hash.h"

nd_status nd_super_check(uint32_t values, uint32_t supers, uint32_t needed, nd_error *err) {
  if (supers < 1 || supers > ND_SUPER_MAX)
    return nd_fail(err, ND_ERR_USAGE, "%u super-shingles: the number must be from 1 to %d", supers,
                   ND_SUPER_MAX);
  if (supers > values)
    return nd_fail(err, ND_ERR_USAGE, "%u super-shingles are more than the %u MinHash values",
                   supers, values);
  if (values % supers != 0)
    return nd_fail(
        err, ND_ERR_USAGE,
        "%u MinHash values cannot be split into %u equal super-shingles; use a multiple, such "
        "as %u",
        values, supers, (values / supers + 1) * supers);
  if (needed < 1 || needed > supers)
    return nd_fail(err, ND_ERR_USAGE,
                   "%u equal super-shingles asked for: there are 1 to %u of them", needed, supers);
  return ND_OK;
}

static uint64_t never_none(uint64_t h) {
  return h == UINT64_MAX ? UINT64_MAX - 1 : h;
}

void nd_super_make(uint64_t *super, const uint64_t *min, uint32_t values, uint32_t supers,
                   uint64_t seed) {
  uint32_t each = values / supers;
  for (uint32_t s = 0; s < supers; s++, min += each) {
    uint64_t h = nd_mix(seed + s + 1);
    for (uint32_t i = 0; i < each; i++)
      h = nd_fold(h ^ min[i], 0xa0761d6478bd642fu) + 0xe7037ed1a0b428dbu;
    super[s] = min[0] == UINT64_MAX ? UINT64_MAX : never_none(nd_mix(h));
  }
}

uint32_t nd_super_agree(const uint64_t *a, const uint64_t *b, uint32_t supers) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < supers; i++) same += a[i] == b[i] && a[i] != UINT64_MAX;
  return same;
}

uint64_t nd_mega(const uint64_t *super, uint32_t supers, uint32_t index) {
  uint32_t i = 0, left = index;
  for (; left >= supers - 1 - i; i++) left -= supers - 1 - i;
  uint64_t a = super[i], b = super[i + 1 + left];
  if (a == UINT64_MAX || b == UINT64_MAX) return UINT64_MAX;
  return never_none(nd_mix(nd_fold(a ^ nd_mix(index + 1), 0xa0761d6478bd642fu) + b));
}

double nd_super_recall(double r, uint32_t values, uint32_t supers, uint32_t needed) {
  double p = pow(r, (double)values / supers), fewer = 0, ways = 1;
  for (uint32_t i = 0; i < needed; i++) {
    fewer += ways * pow(p, i) * pow(1 - p, supers - i);
    ways = ways * (supers - i) / (i + 1);
  }
  return 1 - fewer;
}
