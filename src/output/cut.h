/* Copies a file without some of its parts: kept documents are written in the input's own format,
 * byte for byte. */
#ifndef ND_OUTPUT_CUT_H
#define ND_OUTPUT_CUT_H

#include "base/io.h"
#include "base/mem.h"
#include "base/sum.h"

/* A part to leave out; offsets are those of the decompressed file. */
typedef struct nd_cut {
  uint64_t offset, length;
} nd_cut;

/* Copies [begin, end) of a plain file without `cuts` to position `out_at` of `out`.  The cuts are
 * ascending and start in the range; one may extend beyond `end`.  Adds the bytes written to `sum`,
 * which may be NULL. */
nd_status nd_cut_plain(int in, const char *in_name, int out, const char *out_name, uint64_t begin,
                       uint64_t end, uint64_t out_at, const nd_cut *cuts, size_t n, nd_sum *sum,
                       nd_error *err) ND_MUST_CHECK;

/* Copies a compressed file from front to back: open, apply … apply, close. */
typedef struct nd_cutter nd_cutter;

/* With `records`, the splits of nd_cutter_apply become members of a gzip file. */
nd_status nd_cutter_open(nd_cutter **out, const char *in, const char *to, bool records,
                         unsigned threads, nd_error *err) ND_MUST_CHECK;
/* Leaves out `cuts` and ends a member at every offset of `splits`; both are ascending over all
 * calls. */
nd_status nd_cutter_apply(nd_cutter *c, const nd_cut *cuts, size_t cut_n, const uint64_t *splits,
                          size_t split_n, nd_error *err) ND_MUST_CHECK;
/* Copies the rest, as far as the input is readable (damaged records were rejected), closes and
 * frees.  *bytes is the number of bytes written. */
nd_status nd_cutter_close(uint64_t *bytes, nd_cutter *c, nd_error *err) ND_MUST_CHECK;
void nd_cutter_abandon(nd_cutter *c); /* NULL is allowed */

#endif
