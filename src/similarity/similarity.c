/* Thresholds in integers; see similarity.h. */
#include "similarity/similarity.h"

#include <math.h>

#include "base/pair.h"

typedef unsigned __int128 wide;

bool nd_similarity_reaches(nd_similarity kind, nd_overlap o, nd_decimal t) {
  if (o.common == 0) return false;
  uint64_t right = (uint64_t)o.joint - o.left + o.common;
  uint64_t smaller = o.left < right ? o.left : right;
  switch (kind) {
    case ND_SIMILARITY_JACCARD: return nd_overlap_reaches(o, t.num, t.den);
    case ND_SIMILARITY_CONTAINMENT: return (wide)o.common * t.den >= (wide)smaller * t.num;
    case ND_SIMILARITY_OVERLAP: return (wide)o.common * t.den >= t.num;
    case ND_SIMILARITY_COSINE: {
      /* c / √(ab) >= n/d  ⇔  c²d² >= n²ab; each side fits 128 bits. */
      wide c = (wide)o.common * t.den, n = (wide)t.num;
      wide limit = n * n;
      return c * c >= limit * o.left * right;
    }
    case ND_SIMILARITY_EDIT: break;
  }
  return false;
}

uint64_t nd_similarity_pack(nd_similarity kind, nd_overlap o) {
  uint64_t right = (uint64_t)o.joint - o.left + o.common;
  switch (kind) {
    case ND_SIMILARITY_CONTAINMENT:
      return nd_fraction_pack(o.common, o.left < right ? o.left : (uint32_t)right);
    case ND_SIMILARITY_OVERLAP: return nd_fraction_pack(o.common, 1);
    case ND_SIMILARITY_COSINE: {
      const double billion = 1e9;
      double x = o.joint ? o.common / sqrt((double)o.left * (double)right) : 0;
      return nd_fraction_pack((uint32_t)llround((x < 1 ? x : 1) * billion), (uint32_t)billion);
    }
    default: return nd_fraction_pack(o.common, o.joint);
  }
}
