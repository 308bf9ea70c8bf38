/* The edit distance of two strings (insert, delete, replace a code point) up to a
 * bound: min(distance, tau + 1).
 *
 * Myers' bit-parallel columns (1999) in Hyyrö's diagonal form (2003), limited to
 * the diagonals that a path of cost tau can touch: a window of tau + 1 rows moves
 * down one row per column.
 *
 *        b →            row i - column j of a path from corner to corner lies in
 *     a  \ \ \          [-(tau - gap)/2, (tau + gap)/2], gap = |a| - |b| >= 0;
 *     ↓   \ \ \         the cell on the last corner's diagonal never falls, so
 *          \ \ \        the walk ends as soon as it exceeds tau.
 *
 * The rows of the window that match the column's symbol are found by comparing
 * symbols, 16 at a time, so no table of the pattern is built and any alphabet
 * works. */
#ifndef ND_SIMILARITY_EDIT_DISTANCE_H
#define ND_SIMILARITY_EDIT_DISTANCE_H

#include "base/mem.h"

/* Symbols before and after a string that must be readable; their values do not matter. */
enum { ND_EDIT_SLACK = 64 };

/* Scratch, kept between calls.  {0} is empty. */
typedef struct nd_edit_scratch {
  void *text;
  size_t text_cap;
  uint64_t *bits;
  size_t bits_cap;
} nd_edit_scratch;

void nd_edit_scratch_clear(nd_edit_scratch *s);

/* Sets *out to min(distance, tau + 1) of two UTF-8 strings, in code points.  A byte that is not
 * UTF-8 counts as a code point that differs from all valid ones. */
nd_status nd_edit_distance(uint32_t *out, nd_edit_scratch *s, nd_str a, nd_str b, uint32_t tau,
                           nd_error *err) ND_MUST_CHECK;

/* Sets *out to min(distance, tau + 1) of two arrays of symbols, of one byte or (`wide`) four, with
 * ND_EDIT_SLACK around them. */
nd_status nd_edit_symbols(uint32_t *out, nd_edit_scratch *s, const void *a, size_t m, const void *b,
                          size_t n, bool wide, uint32_t tau, nd_error *err) ND_MUST_CHECK;

/* Decodes the code points of a string, a byte that is not UTF-8 as 0x110000 + byte, and returns
 * their number.  `out` has room for utf8.n. */
size_t nd_edit_decode(uint32_t *out, nd_str utf8);

#endif
