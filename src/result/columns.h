/* Pairs as lines with the columns that were asked for (--columns). */
#ifndef ND_RESULT_COLUMNS_H
#define ND_RESULT_COLUMNS_H

#include "result/lines.h"

/* id TAB id TAB a column each, in input order.  `collapsed`: exact copies once
 * each, with their first; else every pair of them (`tmp` for what is sorted). */
nd_status nd_columns_pairs(nd_lines *l, nd_run *j, bool collapsed, const char *tmp,
                           nd_error *err) ND_MUST_CHECK;

#endif
