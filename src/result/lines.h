/* Lists of a run as lines (pairs, clusters, rejects), written to a file or a sink, as TSV or
 * CSV. */
#ifndef ND_RESULT_LINES_H
#define ND_RESULT_LINES_H

#include "base/writer.h"
#include "cluster/clusters.h"
#include "result/run_state.h"

/* Receives a pair of documents with its value (similarity.h). */
typedef nd_status (*nd_pair_take)(void *context, uint32_t a, uint32_t b, uint64_t value,
                                  nd_error *err);

/* The destination of lines, buffered into larger writes: a sink, a file, or a function that takes
 * the pairs themselves. */
typedef struct nd_lines {
  const nd_sink *sink;
  nd_writer *writer;
  nd_pair_take take;
  void *context;
  bool csv;    /* lines are converted to CSV when they are flushed */
  nd_buf text; /* complete lines of fields, separated by tabs */
  nd_buf converted;
} nd_lines;

/* Begins a list.  With --csv, writes a header row of these columns ("a\tb\n"). */
nd_status nd_lines_begin(nd_lines *l, const nd_options *options, const char *columns,
                         nd_error *err) ND_MUST_CHECK;
void nd_lines_clear(nd_lines *l);

/* Writes the buffered lines if they are enough for a write, or if `all`. */
nd_status nd_lines_flush(nd_lines *l, bool all, nd_error *err) ND_MUST_CHECK;

/* Creates DIR/NAME, calls `fill` to write its lines, and closes it. */
typedef nd_status (*nd_lines_fill)(nd_lines *l, void *context, nd_error *err);
nd_status nd_lines_file(const char *dir, const char *name, nd_lines_fill fill, void *context,
                        nd_error *err) ND_MUST_CHECK;

/* Appends the value of a pair: 6 decimals, or an integer. */
nd_status nd_lines_value(nd_buf *out, const nd_similarity *kind, uint64_t value,
                         nd_error *err) ND_MUST_CHECK;

/* Writes id_a TAB id_b TAB similarity, in input order; each exact duplicate is listed once, with
 * its first occurrence. */
nd_status nd_lines_pairs_collapsed(nd_lines *l, nd_run *j, nd_error *err) ND_MUST_CHECK;

/* Like nd_lines_pairs_collapsed, but lists every pair of exact duplicates. */
nd_status nd_lines_pairs_all(nd_lines *l, nd_run *j, const char *tmp, nd_error *err) ND_MUST_CHECK;

/* Writes id, cluster, kept|dropped, and the similarity to the kept member, in input order; `size`
 * is the number of members of each centre. */
nd_status nd_lines_clusters(nd_lines *l, nd_run *j, const nd_clusters *c, const uint32_t *size,
                            nd_error *err) ND_MUST_CHECK;

/* Writes location TAB reason. */
nd_status nd_lines_rejects(nd_lines *l, nd_run *j, nd_error *err) ND_MUST_CHECK;

#endif
