/* Input files → tasks → batches of raw records.
 *
 * A task is a part of the input that does not depend on threads or memory:
 *
 *   RANGE   4 MiB of a large plain file whose format ends records with
 *           newlines: read independently of other ranges
 *   STREAM  a large file that must be read from its start; threads take turns
 *           at reading it and process their batches in parallel
 *   FILES   several small files, one after another
 *   MEMORY  a stream of texts in memory
 *
 * A batch (task, part) ends after BATCH_BYTES of records or ND_BATCH_RECORDS of
 * them (in a range: only the latter), so its content depends on the input alone,
 * and its memory is bounded. */
#ifndef ND_READ_FEED_H
#define ND_READ_FEED_H

#include "input/format.h"
#include "input/walk.h"

enum { ND_BATCH_RECORDS = 1 << 14 };

typedef enum nd_task_kind {
  ND_TASK_RANGE,
  ND_TASK_STREAM,
  ND_TASK_FILES,
  ND_TASK_MEMORY
} nd_task_kind;

typedef struct nd_task {
  nd_task_kind kind;
  uint32_t file, files;    /* first file, number of files */
  uint64_t begin, end;     /* RANGE: bytes of the file */
  const nd_format *format; /* RANGE only; otherwise NULL */
} nd_task;

/* One record, possibly rejected while the input was split into records. */
typedef struct nd_raw {
  const nd_format *format;
  uint32_t file;
  uint32_t line; /* 1, 2 …; 0: the format has no lines */
  uint64_t offset, length;
  size_t at, n;           /* its bytes in the batch; if rejected, the reason in `reasons` */
  const char *p;          /* MEMORY: its bytes in place; NULL: they are in the batch */
  size_t fact_at, fact_n; /* MEMORY: its value for --keep, in `facts` */
  bool rejected;
} nd_raw;

#define ND_START_FILE (UINT64_C(1) << 63) /* flag in nd_batch.starts: a file number */

typedef struct nd_batch {
  uint32_t task, part;
  bool last;
  bool lines_relative; /* line numbers count from the start of this part of a range */
  uint32_t range_file; /* file of the range */
  bool stays;          /* MEMORY: the texts can be read again by number */
  uint64_t lines;
  uint64_t others;
  uint64_t raw_bytes;
  nd_buf bytes, reasons, facts;
  nd_buf starts; /* u64 each: offsets of the records of compressed archives; see block.h */
  nd_raw *raws;
  size_t n, cap;
  nd_buf look; /* scratch for long lines */
} nd_batch;
void nd_batch_clear(nd_batch *b);

typedef struct nd_feed nd_feed;

/* Partitions the input into tasks.  If `format` is NULL, the format of each file is detected. Files
 * that cannot be opened become rejected records when they are read. */
nd_status nd_feed_new(nd_feed **out, const nd_walk *walk, const nd_format *format,
                      const nd_input_options *options, nd_error *err) ND_MUST_CHECK;
/* Makes another feed of the same tasks, without probing the files again. */
nd_status nd_feed_again(nd_feed **out, const nd_feed *f, nd_error *err) ND_MUST_CHECK;
/* Fails if a file could not be probed, so that another process may partition it differently. */
nd_status nd_feed_check_probed(const nd_feed *f, nd_error *err) ND_MUST_CHECK;
/* Makes a feed of texts in memory, and those of the reference collection (may be NULL), one task
 * each. */
struct nd_corpus;
nd_status nd_feed_of_memory(nd_feed **out, const struct nd_corpus *corpus, const nd_format *format,
                            const nd_input_options *options, nd_error *err) ND_MUST_CHECK;
void nd_feed_free(nd_feed *f);

uint32_t nd_feed_tasks(const nd_feed *f);
/* Identifies the partition into tasks: blocks of a run are valid only with the same tasks. */
uint64_t nd_feed_fingerprint(const nd_feed *f);
const nd_task *nd_feed_task(const nd_feed *f, uint32_t task);
uint64_t nd_feed_bytes(const nd_feed *f); /* total of all files, compressed */
uint64_t nd_feed_done(const nd_feed *f);  /* bytes of files read so far */
/* MEMORY: the number of texts in a task, and a text that can be read again. */
uint64_t nd_feed_texts(const nd_feed *f, uint32_t task);
nd_str nd_feed_text(const nd_feed *f, uint32_t task, uint32_t text);

/* Limits the feed to tasks with task % shards == shard. */
void nd_feed_shard(nd_feed *f, uint32_t shard, uint32_t shards);

/* Limits the feed to the tasks from `begin` up to `end`. */
void nd_feed_span(nd_feed *f, uint32_t begin, uint32_t end);

/* Called before a batch is dispatched; returns true if it is done already.  Part ND_WHOLE_TASK
 * stands for all parts of a task, which then is not read at all. */
#define ND_WHOLE_TASK UINT32_MAX
typedef bool (*nd_feed_skip)(void *context, uint32_t task, uint32_t part);
void nd_feed_skip_done(nd_feed *f, nd_feed_skip skip, void *context, unsigned threads);

/* Gets the next batch, on any thread; *more is false after the last one. */
nd_status nd_feed_next(bool *more, nd_batch *b, nd_feed *f, nd_error *err) ND_MUST_CHECK;

/* After a failure: wakes the threads that wait in nd_feed_next, which then returns no more batches.
 */
void nd_feed_stop(nd_feed *f);

#endif
