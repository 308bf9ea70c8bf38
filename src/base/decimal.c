/* Decimals; see decimal.h. */
#include "base/decimal.h"

bool nd_decimal_parse(nd_decimal *out, nd_str text) {
  uint64_t num = 0, den = 1;
  bool point = false, any = false;
  for (size_t i = 0; i < text.n; i++) {
    const char c = text.p[i];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return false;
    any = true;
    num = num * 10 + (uint64_t)(c - '0');
    if (point) den *= 10;
    if (den > 1000000000 || num > UINT32_MAX) return false; /* products fit 128 bits */
  }
  while (den > 1 && num % 10 == 0) {
    num /= 10;
    den /= 10;
  }
  *out = (nd_decimal){num, den};
  return any;
}
