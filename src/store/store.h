/* The store: blocks of the first pass, in append-only logs of a work directory.
 *
 * Each thread appends to its own log.  A block is identified by (task, part), whichever thread
 * wrote it and in whatever order.  To resume, opening a store reads the logs of earlier runs and
 * keeps their complete blocks. */
#ifndef ND_STORE_STORE_H
#define ND_STORE_STORE_H

#include <pthread.h>

#include "base/dir.h"
#include "base/writer.h"
#include "store/block.h"

typedef struct nd_block_ref {
  uint32_t log;
  uint32_t first; /* number of its first document, once sealed */
  uint64_t at;    /* offset in the log */
  uint64_t begin; /* offset of its task in the task's file, once sealed */
  nd_block_header head;
} nd_block_ref;

/* The position of a document's text: in the texts of its block, or (raw) in the bytes of its
 * range. */
typedef struct nd_span {
  uint32_t begin, n;
} nd_span;

typedef struct nd_log_file {
  char *path;
  int fd;
} nd_log_file;

typedef struct nd_store {
  char *dir;
  nd_dir home; /* handle of `dir` */
  pthread_mutex_t lock;
  nd_log_file *logs;
  size_t log_n, log_cap;
  nd_block_ref *blocks; /* sealed: in order of (task, part) */
  size_t block_n, block_cap;
  uint64_t *have; /* (task, part) of the blocks found on opening, sorted */
  size_t have_n;
  uint64_t *whole; /* (task, ND_ALL_PARTS) of the complete tasks found, sorted */
  size_t whole_n;
  uint64_t documents;
  bool without_texts; /* sketch files: no text can be read */
  bool few_texts;     /* few texts will be read, so their spans are not kept in memory */
  nd_span *span;      /* per document, once sealed; NULL if without_texts or few_texts */
  /* A word of every row that could only be computed after all rows were written, in an unlinked
   * file. */
  bool has_deferred;
  int deferred;
  uint32_t deferred_at; /* index of the word in a row */
} nd_store;

nd_status nd_store_open(nd_store *s, const char *dir, nd_error *err) ND_MUST_CHECK;
void nd_store_close(nd_store *s);

/* Returns true if the block was found when the store was opened; with ND_ALL_PARTS, if every part
 * of the task was. */
#define ND_ALL_PARTS UINT32_MAX
bool nd_store_has(const nd_store *s, uint32_t task, uint32_t part);

/* The log of one thread. */
typedef struct nd_log {
  nd_store *store;
  uint32_t number;
  nd_writer *writer;
} nd_log;
nd_status nd_log_open(nd_log *log, nd_store *s, nd_error *err) ND_MUST_CHECK;
nd_status nd_log_append(nd_log *log, const nd_block *b, nd_error *err) ND_MUST_CHECK;
nd_status nd_log_close(nd_log *log, nd_error *err) ND_MUST_CHECK;
void nd_log_abandon(nd_log *log);

/* Ends the first pass: sorts the blocks and numbers the documents.  `task_begin` holds the offset
 * of each task in its file (for raw blocks).  Returns ND_ERR_STATE if a part is missing. */
nd_status nd_store_seal(nd_store *s, uint32_t tasks, const uint64_t *task_begin,
                        nd_error *err) ND_MUST_CHECK;

/* Returns the number of the block that holds a document. */
size_t nd_store_find(const nd_store *s, uint32_t document);

/* Reads n bytes at offset `at` of a block. */
nd_status nd_store_read(const nd_store *s, size_t block, uint64_t at, void *out, size_t n,
                        nd_error *err) ND_MUST_CHECK;

/* Reads an entire column of one block (`size` bytes per document).  For ND_COL_BANDS use
 * nd_store_band. */
nd_status nd_store_column(const nd_store *s, size_t block, nd_column column, size_t size, void *out,
                          nd_error *err) ND_MUST_CHECK;
nd_status nd_store_band(const nd_store *s, size_t block, uint32_t band, uint64_t *out,
                        nd_error *err) ND_MUST_CHECK;

/* Read the sketch rows (row.h) of a block's documents, or of one document. */
nd_status nd_store_rows(uint64_t *out, const nd_store *s, size_t block,
                        nd_error *err) ND_MUST_CHECK;
nd_status nd_store_row(uint64_t *out, const nd_store *s, uint32_t document,
                       nd_error *err) ND_MUST_CHECK;

/* Finds the texts of up to ND_SPANS documents of a block, starting with `document`; *n is the
 * number found. */
enum { ND_SPANS = 128 };
nd_status nd_store_spans(nd_span *out, size_t *n, const nd_store *s, size_t block,
                         uint32_t document, nd_error *err) ND_MUST_CHECK;

/* Reads the deferred words of n documents, starting with `first`. */
nd_status nd_store_deferred(uint64_t *out, const nd_store *s, uint32_t first, size_t n,
                            nd_error *err) ND_MUST_CHECK;

/* Returns the total size of the logs. */
uint64_t nd_store_bytes(const nd_store *s);

#endif
