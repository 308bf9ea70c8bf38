/* The store: blocks of the first pass, in append-only logs of a work directory.
 *
 * Every thread appends to a log of its own; a block is (task, part), whoever
 * made it and in whatever order.  Opening a store reads the logs of earlier
 * runs and keeps their whole blocks, which is all there is to resuming. */
#ifndef ND_STORE_STORE_H
#define ND_STORE_STORE_H

#include <pthread.h>

#include "base/dir.h"
#include "base/writer.h"
#include "store/block.h"

typedef struct nd_block_ref {
  uint32_t log;
  uint32_t first; /* number of its first document, once sealed */
  uint64_t at;    /* in the log */
  uint64_t begin; /* of its task in the task's file, once sealed */
  nd_block_header head;
} nd_block_ref;

/* Where a document's text lies: in its block's texts, or (raw) in the bytes of
 * its range. */
typedef struct nd_span {
  uint32_t begin, n;
} nd_span;

typedef struct nd_log_file {
  char *path;
  int fd;
} nd_log_file;

typedef struct nd_store {
  char *dir;
  nd_dir home; /* the same */
  pthread_mutex_t lock;
  nd_log_file *logs;
  size_t log_n, log_cap;
  nd_block_ref *blocks; /* sealed: in order of (task, part) */
  size_t block_n, block_cap;
  uint64_t *have; /* (task, part) of the blocks found on opening, sorted */
  size_t have_n;
  uint64_t *whole; /* the same of tasks with all parts, part ND_ALL_PARTS */
  size_t whole_n;
  uint64_t documents;
  bool without_texts; /* files of sketches: no text can be read */
  bool few_texts;     /* few texts will be read: their spans need not be at hand */
  nd_span *span;      /* per document, once sealed; NULL without texts, or with few */
  /* A word of every row that was found out only after all were written: in a file that has
   * no name any more. */
  bool has_late;
  int late;
  uint32_t late_at; /* which one */
} nd_store;

nd_status nd_store_open(nd_store *s, const char *dir, nd_error *err) ND_MUST_CHECK;
void nd_store_close(nd_store *s);

/* Was this block found when the store was opened?  Part ND_ALL_PARTS: was every
 * part of the task? */
#define ND_ALL_PARTS UINT32_MAX
bool nd_store_has(const nd_store *s, uint32_t task, uint32_t part);

/* A log for one thread. */
typedef struct nd_log {
  nd_store *store;
  uint32_t number;
  nd_writer *writer;
} nd_log;
nd_status nd_log_open(nd_log *log, nd_store *s, nd_error *err) ND_MUST_CHECK;
nd_status nd_log_append(nd_log *log, const nd_block *b, nd_error *err) ND_MUST_CHECK;
nd_status nd_log_close(nd_log *log, nd_error *err) ND_MUST_CHECK;
void nd_log_abandon(nd_log *log);

/* After the first pass: puts the blocks in order and numbers the documents.
 * `task_begin` is where each task begins in its file (for raw blocks).
 * ND_ERR_STATE when a part is missing. */
nd_status nd_store_seal(nd_store *s, uint32_t tasks, const uint64_t *task_begin,
                        nd_error *err) ND_MUST_CHECK;

/* Number of the block that holds a document. */
size_t nd_store_find(const nd_store *s, uint32_t document);

/* Reads `n` bytes at `at` of a block. */
nd_status nd_store_read(const nd_store *s, size_t block, uint64_t at, void *out, size_t n,
                        nd_error *err) ND_MUST_CHECK;

/* Reads a whole column of one block (`size` bytes per document); for BANDS use
 * nd_store_band. */
nd_status nd_store_column(const nd_store *s, size_t block, nd_column column, size_t size, void *out,
                          nd_error *err) ND_MUST_CHECK;
nd_status nd_store_band(const nd_store *s, size_t block, uint32_t band, uint64_t *out,
                        nd_error *err) ND_MUST_CHECK;

/* The rows of sketches (row.h) of a block's documents; of one document. */
nd_status nd_store_rows(uint64_t *out, const nd_store *s, size_t block,
                        nd_error *err) ND_MUST_CHECK;
nd_status nd_store_row(uint64_t *out, const nd_store *s, uint32_t document,
                       nd_error *err) ND_MUST_CHECK;

/* Where the texts of some documents of a block lie, from `document` on and at most
 * ND_SPANS of them; returns through *n how many. */
enum { ND_SPANS = 128 };
nd_status nd_store_spans(nd_span *out, size_t *n, const nd_store *s, size_t block,
                         uint32_t document, nd_error *err) ND_MUST_CHECK;

/* The late words of n documents. */
nd_status nd_store_late(uint64_t *out, const nd_store *s, uint32_t first, size_t n,
                        nd_error *err) ND_MUST_CHECK;

/* Bytes of all logs. */
uint64_t nd_store_bytes(const nd_store *s);

#endif
