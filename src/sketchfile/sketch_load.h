/* Sketch files as input, instead of documents. */
#ifndef ND_SKETCHFILE_SKETCH_LOAD_H
#define ND_SKETCHFILE_SKETCH_LOAD_H

#include "input/walk.h"
#include "sketchfile/sketch_file.h"
#include "store/store.h"

/* Returns true if the inputs are sketch files.  Only the first is probed; the others are checked
 * when they are opened. */
bool nd_sketch_inputs(const nd_walk *walk);

/* Creates settings for these files.  Options that the user left open are taken from them (*options,
 * which the settings then borrow); options that do not fit them are refused, with the
 * difference. */
nd_status nd_sketch_settings(nd_settings *s, nd_options *options, const nd_walk *walk,
                             nd_error *err) ND_MUST_CHECK;

/* Fills the store, with a task per file and a block per chunk. */
nd_status nd_sketch_load(nd_store *store, const nd_settings *s, const nd_walk *walk,
                         nd_error *err) ND_MUST_CHECK;

#endif
