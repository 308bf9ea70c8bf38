/* Token texts of documents, for the verifier; one reader per thread.
 *
 * Documents of a plain, line-based file are not stored again: they are read from the input.  All
 * others are read from the store. */
#ifndef ND_READ_TEXTS_H
#define ND_READ_TEXTS_H

#include "base/hooks.h"
#include "read/feed.h"
#include "settings/settings.h"
#include "store/store.h"

/* The source of texts, shared by all readers. */
typedef struct nd_text_source {
  const nd_store *store;
  const nd_walk *walk;
  const nd_feed *feed;
  const nd_settings *settings;
  const nd_hooks *hooks; /* may be NULL */
  uint32_t split;        /* first document of the reference collection; else number of documents */
  /* Fetch texts and sketch rows that are not in the store; may be NULL. */
  nd_status (*fetch)(nd_buf *out, void *context, uint32_t document, nd_error *err);
  nd_status (*fetch_row)(uint64_t *out, void *context, uint32_t document, nd_error *err);
  void *fetch_context;
} nd_text_source;

static inline bool nd_source_has_other(const nd_text_source *s) {
  return s->settings->options->against[0] != '\0';
}

/* Estimates the number of shingles of all documents, with repetitions. */
uint64_t nd_source_shingles(const nd_text_source *s);

/* Returns a record of a file without its line end. */
nd_str nd_line_of(nd_str raw);

typedef struct nd_texts nd_texts;

nd_status nd_texts_new(nd_texts **out, const nd_text_source *source, nd_error *err) ND_MUST_CHECK;
void nd_texts_free(nd_texts *t);

/* Stores the token text of a document in `out`. */
nd_status nd_texts_get(nd_buf *out, nd_texts *t, uint32_t document, nd_error *err) ND_MUST_CHECK;

#endif
