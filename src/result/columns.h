/* Pairs as lines with the columns of --columns. */
#ifndef ND_RESULT_COLUMNS_H
#define ND_RESULT_COLUMNS_H

#include "result/lines.h"

/* Writes id TAB id, then TAB and a cell per column, in input order.  With `collapsed`, each exact
 * duplicate is listed once, with its first occurrence; otherwise in every pair (`tmp` is for
 * sorting). */
nd_status nd_columns_pairs(nd_lines *l, nd_run *j, bool collapsed, const char *tmp,
                           nd_error *err) ND_MUST_CHECK;

#endif
