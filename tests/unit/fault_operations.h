/* The operations that test_faults.c makes fail: jobs of the public API on a small corpus, each
 * leaving what came out in a buffer or in a folder. */
#ifndef FAULT_OPERATIONS_H
#define FAULT_OPERATIONS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "fault_tools.h"
#include "neardup.h"
#include "settings/option_fields.h"

enum { DOCUMENTS = 40 };

extern char fault_dir[200];
extern char out_path[240], truth_path[240];
extern char run_path[2][240], qrels_path[240]; /* of a search system */
extern const char *inputs[2];
extern char damaged_path[2][240];
extern char pages_path[2][240]; /* WARC and TREC, in several charsets */
extern char copies_path[240];   /* more clusters than a report shows with their texts */
extern char wide_path[240];     /* few documents, which fill more than one range */
extern char crowd_path[240];    /* documents that are all alike: more pairs than a batch holds */
extern char folder_path[240];   /* packed files, one without documents, a link to nothing */
extern nd_summary summary;      /* of this run */

typedef struct operation {
  const char *name;
  nd_status (*run)(nd_buf *out, const struct operation *self);
  const char *options[10]; /* name, value, …, NULL */
  bool resumed;            /* an interrupted run comes first */
} operation;

/* What calls of ours fail: those of the sink, and the question whether to go on. */
extern _Atomic uint64_t sink_calls, sink_fails, asked, asked_fails;

nd_options options_of(const operation *op);

/* Of a large plain file only places are kept; its texts are read again. */
nd_status run_wide(nd_buf *out, const operation *self);

nd_status run_pairs(nd_buf *out, const operation *self);

/* One thread makes the same calls in the same order: what fails is surely what was meant to.
 * Two show what happens to the other one. */
extern const operation operations[];
extern const size_t operation_count;

bool writes_folder(const operation *op);

void gather_result(nd_buf *out, const operation *op);

#endif
