/* Decimal numbers as options and files write them: 0.8, .85, 1. */
#ifndef ND_BASE_DECIMAL_H
#define ND_BASE_DECIMAL_H

#include <stdbool.h>

#include "base/mem.h"
/* A decimal as the user typed it: num / den, den a power of ten.  Comparisons
 * with it are made in integers, so 4/5 is not below 0.8. */
typedef struct nd_decimal {
  uint64_t num, den;
} nd_decimal;

/* Parses a decimal with at most nine digits after the point; *out is reduced by powers of ten.
 * Returns false if the text is not a decimal number.  Leading zeros do not count, so the form that
 * is printed, with a digit before the point, parses again. */
bool nd_decimal_parse(nd_decimal *out, nd_str text);

#endif
