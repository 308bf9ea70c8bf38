/* Files of sketches in place of documents. */
#ifndef ND_SKETCHFILE_SKETCH_LOAD_H
#define ND_SKETCHFILE_SKETCH_LOAD_H

#include "input/walk.h"
#include "sketchfile/sketch_file.h"
#include "store/store.h"

/* Are the inputs files of sketches?  The first one says it; others are held
 * against it when they are opened. */
bool nd_sketch_inputs(const nd_walk *walk);

/* Settings for these files: what the user left open is taken from them (*options,
 * which the settings then borrow), and what does not fit them is refused, with the
 * difference named. */
nd_status nd_sketch_settings(nd_settings *s, nd_options *options, const nd_walk *walk,
                             nd_error *err) ND_MUST_CHECK;

/* Fills the store with a block per chunk, a task per file. */
nd_status nd_sketch_load(nd_store *store, const nd_settings *s, const nd_walk *walk,
                         nd_error *err) ND_MUST_CHECK;

#endif
