/* neardup: finds near-duplicate documents.
 *
 * status.h   status codes and errors
 * options.h  options and their table
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
 * stage.h    the same job cut into stages, for engines such as Spark */
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
