/* Lists of a run as lines: pairs, clusters, rejects; to a file or a sink, as TSV
 * or CSV. */
#ifndef ND_RESULT_LINES_H
#define ND_RESULT_LINES_H

#include "base/writer.h"
#include "cluster/clusters.h"
#include "result/run_state.h"

/* Takes a pair of documents with its value (nd_similarity_pack). */
typedef nd_status (*nd_pair_take)(void *context, uint32_t a, uint32_t b, uint64_t value,
                                  nd_error *err);

/* Where lines go; collects them into larger writes. */
typedef struct nd_lines {
  const nd_sink *sink; /* or … */
  nd_writer *writer;   /* … a file; or … */
  nd_pair_take take;   /* … pairs as they are */
  void *context;
  bool csv;    /* lines become CSV when they are flushed */
  nd_buf text; /* entire lines of fields, separated by tabs */
  nd_buf converted;
} nd_lines;

/* Begins a list: with --csv, a header row of these columns ("a\tb\n"). */
nd_status nd_lines_begin(nd_lines *l, const nd_options *options, const char *columns,
                         nd_error *err) ND_MUST_CHECK;
void nd_lines_clear(nd_lines *l);

/* Writes what has collected when it is enough, or when `all`. */
nd_status nd_lines_flush(nd_lines *l, bool all, nd_error *err) ND_MUST_CHECK;

/* Opens DIR/NAME, lets `fill` write to it, closes it. */
typedef nd_status (*nd_lines_fill)(nd_lines *l, void *context, nd_error *err);
nd_status nd_lines_file(const char *dir, const char *name, nd_lines_fill fill, void *context,
                        nd_error *err) ND_MUST_CHECK;

/* A pair's value: 6 decimals, or a whole number. */
nd_status nd_lines_value(nd_buf *out, nd_similarity kind, uint64_t value,
                         nd_error *err) ND_MUST_CHECK;

/* id_a TAB id_b TAB similarity, in input order; exact copies once each, with
 * their first. */
nd_status nd_lines_pairs_collapsed(nd_lines *l, nd_run *j, nd_error *err) ND_MUST_CHECK;

/* The same with every pair of copies. */
nd_status nd_lines_pairs_all(nd_lines *l, nd_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

/* id, cluster, kept|dropped, similarity to the kept member, in input order; `size`
 * is the number of members per centre. */
nd_status nd_lines_clusters(nd_lines *l, nd_run *j, const nd_clusters *c, const uint32_t *size,
                            nd_error *err) ND_MUST_CHECK;

/* place TAB reason */
nd_status nd_lines_rejects(nd_lines *l, nd_run *j, nd_error *err) ND_MUST_CHECK;

#endif
