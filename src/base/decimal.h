/* Decimals as options and files write them: 0.8, .85, 1. */
#ifndef ND_BASE_DECIMAL_H
#define ND_BASE_DECIMAL_H

#include <stdbool.h>

#include "base/mem.h"
#include "neardup/options.h"

/* At most nine digits behind the point, in lowest powers of ten; false: it is none.  Zeros in front
 * do not count, so that what is shown, with a digit before the point, is taken again. */
bool nd_decimal_parse(nd_decimal *out, nd_str text);

#endif
