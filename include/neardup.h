/* neardup: finds near-duplicate documents.
 *
 * status.h   status codes and errors
 * options.h  options, by name
 * output.h   checks of outputs: no input is written over
 * run.h      the jobs: dedup, pairs, cluster, inspect
 * outdir.h   directories of results
 * plan.h     sampling ratios and parameters for a goal
 * eval.h     a list of pairs or clusters against the truth
 * field.h    ids as tables hold them, and back
 * explain.h  why two documents are near-duplicates
 * prevalence.h  near-duplicates in the results of search systems
 * study.h    the papers' experiments on any corpus
 * memory.h   dedup and pairs over texts in memory
 * sketchfile.h  sketch files
 * sketch.h   two documents at a time: sketches and exact resemblance
 * stage.h    the main job cut into stages, for engines such as Spark
 *
 * Compatibility: a program that was compiled with one version runs with every later one
 * that has the same SONAME.
 *
 *   functions   are only added (symbols.txt lists them); their parameters never change
 *   options     go by name, so new ones need no new interface
 *   objects     that a program gets by a pointer to an incomplete type are opaque
 *   requests    and results are structs whose size never changes: a new field takes the
 *               place of `reserved` words, and means "as before" where it is 0.  So begin
 *               every request with = {0} or named fields, and leave `reserved` alone.
 *   tables      are read one entry at a time (nd_option_at, nd_study_at), so that entries
 *               may grow at the end; do not copy entries
 *   structs     without `reserved` (nd_str, nd_error, nd_sink, nd_chunk …) never change
 *
 * What comes back through `**out` belongs to the caller, who frees it by the function named
 * there; every free accepts NULL.  Other pointers and nd_str are borrowed, until the next
 * call on the object that they came from.  Functions that return nd_status fail with
 * ND_ERR_MEMORY and, where files are involved, ND_ERR_IO besides the statuses they name. */
#ifndef NEARDUP_H
#define NEARDUP_H

#include "neardup/eval.h"
#include "neardup/explain.h"
#include "neardup/field.h"
#include "neardup/memory.h"
#include "neardup/options.h"
#include "neardup/outdir.h"
#include "neardup/output.h"
#include "neardup/plan.h"
#include "neardup/prevalence.h"
#include "neardup/run.h"
#include "neardup/sketch.h"
#include "neardup/sketchfile.h"
#include "neardup/stage.h"
#include "neardup/status.h"
#include "neardup/study.h"

#endif
