/* Copying a file without some of its parts: how kept documents are written in
 * the input's own format, byte for byte. */
#ifndef ND_OUTPUT_CUT_H
#define ND_OUTPUT_CUT_H

#include "base/io.h"
#include "base/mem.h"
#include "base/sum.h"

/* A part to leave out, in bytes of the (decompressed) file. */
typedef struct nd_cut {
  uint64_t offset, length;
} nd_cut;

/* A plain file: copies [begin, end) without `cuts` (rising, inside the range;
 * one may reach beyond `end`) to position `out_at` of `out`.  Adds what it writes to `sum`, unless
 * that is NULL. */
nd_status nd_cut_plain(int in, const char *in_name, int out, const char *out_name, uint64_t begin,
                       uint64_t end, uint64_t out_at, const nd_cut *cuts, size_t n, nd_sum *sum,
                       nd_error *err) ND_MUST_CHECK;

/* A packed file, from front to back: open, apply … apply, close. */
typedef struct nd_cutter nd_cutter;

/* `records`: the splits of apply make the members of a gzip file. */
nd_status nd_cutter_open(nd_cutter **out, const char *in, const char *to, bool records,
                         unsigned threads, nd_error *err) ND_MUST_CHECK;
/* Leaves `cuts` out and ends a member at every offset of `splits`; both rise,
 * over all calls. */
nd_status nd_cutter_apply(nd_cutter *c, const nd_cut *cuts, size_t cut_n, const uint64_t *splits,
                          size_t split_n, nd_error *err) ND_MUST_CHECK;
/* Copies the rest (as far as the input can be read: what is damaged was
 * rejected before), closes and frees.  *bytes is what was put. */
nd_status nd_cutter_close(uint64_t *bytes, nd_cutter *c, nd_error *err) ND_MUST_CHECK;
void nd_cutter_abandon(nd_cutter *c); /* NULL is allowed */

#endif
