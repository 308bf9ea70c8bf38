/* The first pass, which reads every document of the input into the store.
 *
 *   (boilerplate_pass, census: count something first) → nd_reading_run → nd_reading_seal
 *
 * A reading borrows the walk, the feed and the store of a run; it owns only its counts. */
#ifndef ND_READ_READING_H
#define ND_READ_READING_H

#include "read/feed.h"
#include "read/texts.h"
#include "settings/settings.h"
#include "store/store.h"

typedef struct nd_reading {
  nd_settings *settings; /* the counting passes add what the samplers need */
  const nd_walk *walk;
  nd_feed *feed; /* NULL: the inputs are sketch files */
  nd_store *store;
  const nd_hooks *hooks; /* may be NULL */
  /* Called at most ten times a second with the documents read so far; may be NULL. */
  nd_status (*progress)(void *context, uint64_t documents, nd_error *err);
  void *context;
  nd_shingle_set *common;      /* owned: too common shingles (--sample sct); NULL: not counted */
  nd_shingle_set *boilerplate; /* owned: recurring passages; NULL: not counted */
  bool counted;                /* a counting pass has read the input and found these counts: */
  uint64_t count_documents, count_rejects;
} nd_reading;
void nd_reading_clear(nd_reading *r);

/* Returns the number of threads that can read within the memory budget. */
unsigned nd_reading_threads(const nd_settings *s);

/* Records the counts of a counting pass.  Returns ND_ERR_IO if an earlier pass had other counts. */
nd_status nd_reading_counted(nd_reading *r, uint64_t documents, uint64_t rejects,
                             nd_error *err) ND_MUST_CHECK;

/* Reads on all threads what the store does not have yet; `documents` is the number it has. */
nd_status nd_reading_run(nd_reading *r, uint64_t documents, nd_error *err) ND_MUST_CHECK;

/* Seals the store and initializes `source`, which reads its texts.  Returns ND_ERR_IO, and removes
 * the blocks, if a counting pass saw other documents than are stored. */
nd_status nd_reading_seal(nd_text_source *source, nd_reading *r, nd_error *err) ND_MUST_CHECK;

#endif
