/* Files → tasks → batches of raw records.
 *
 * A task is a share of the input that does not depend on threads or memory:
 *
 *   RANGE   4 MiB of a large plain file whose format ends records with
 *           newlines: read apart from its neighbours
 *   STREAM  a large file that must be read from its beginning; threads take
 *           turns at reading it and work on their batches side by side
 *   FILES   several small files, one after another
 *   MEMORY  texts in memory, a stream of them
 *
 * A batch (task, part) is cut after BATCH_BYTES of records or ND_BATCH_RECORDS
 * of them (a range: only the latter), so its content is a function of the input
 * alone, and its memory has a bound. */
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
  const nd_format *format; /* RANGE: known; else NULL */
} nd_task;

/* One record, or one that was rejected while cutting. */
typedef struct nd_raw {
  const nd_format *format;
  uint32_t file;
  uint32_t line; /* 1, 2 …; 0: the format has no lines */
  uint64_t offset, length;
  size_t at, n;           /* its bytes in the batch; for a reject, the reason in `reasons` */
  const char *p;          /* MEMORY: its bytes where they lie; NULL: they are in the batch */
  size_t fact_at, fact_n; /* MEMORY: what --keep looks at, in `facts` */
  bool rejected;
} nd_raw;

#define ND_START_FILE (UINT64_C(1) << 63) /* in nd_batch.starts: a file's number */

typedef struct nd_batch {
  uint32_t task, part;
  bool last;
  bool lines_relative; /* line numbers count from the start of this part of a range … */
  uint32_t range_file; /* … of this file */
  bool stays;          /* MEMORY: the texts can be read again, by number */
  uint64_t lines;
  uint64_t others;
  uint64_t raw_bytes;
  nd_buf bytes, reasons, facts;
  nd_buf starts; /* u64 each: where records of packed archives begin; see block.h */
  nd_raw *raws;
  size_t n, cap;
  nd_buf look; /* scratch for long lines */
} nd_batch;
void nd_batch_clear(nd_batch *b);

typedef struct nd_feed nd_feed;

/* Plans the tasks.  `format` NULL: sniff each file.  Files that cannot be
 * opened become rejects when their turn comes. */
nd_status nd_feed_new(nd_feed **out, const nd_walk *walk, const nd_format *format,
                      const nd_input_options *options, nd_error *err) ND_MUST_CHECK;
/* The same tasks once more, from the first one on; of files that are not looked into again. */
nd_status nd_feed_again(nd_feed **out, const nd_feed *f, nd_error *err) ND_MUST_CHECK;
/* Fails where a file could not be looked into, so that another plan of it may differ. */
nd_status nd_feed_seen(const nd_feed *f, nd_error *err) ND_MUST_CHECK;
/* The texts in memory instead of files, then those they are held against (NULL:
 * none); a task each. */
struct nd_corpus;
nd_status nd_feed_of_memory(nd_feed **out, const struct nd_corpus *corpus, const nd_format *format,
                            const nd_input_options *options, nd_error *err) ND_MUST_CHECK;
void nd_feed_free(nd_feed *f);

uint32_t nd_feed_tasks(const nd_feed *f);
/* Tells plans apart: blocks of a run fit only the plan they were read by. */
uint64_t nd_feed_fingerprint(const nd_feed *f);
const nd_task *nd_feed_task(const nd_feed *f, uint32_t task);
uint64_t nd_feed_bytes(const nd_feed *f); /* of all files, packed */
uint64_t nd_feed_done(const nd_feed *f);  /* of them, read so far */
/* MEMORY: the number of texts of a task, and a text that stays. */
uint64_t nd_feed_texts(const nd_feed *f, uint32_t task);
nd_str nd_feed_text(const nd_feed *f, uint32_t task, uint32_t text);

/* Limits the feed to tasks with task % shards == shard. */
void nd_feed_shard(nd_feed *f, uint32_t shard, uint32_t shards);

/* Limits the feed to the tasks from `begin` up to `end`. */
void nd_feed_span(nd_feed *f, uint32_t begin, uint32_t end);

/* Asked before a batch is handed out: true = it is done already.  Part
 * ND_WHOLE_TASK asks for all parts of a task, which then is not read at all. */
#define ND_WHOLE_TASK UINT32_MAX
typedef bool (*nd_feed_skip)(void *context, uint32_t task, uint32_t part);
void nd_feed_skip_done(nd_feed *f, nd_feed_skip skip, void *context, unsigned threads);

/* The next batch, for any thread; *more = false when all is handed out. */
nd_status nd_feed_next(bool *more, nd_batch *b, nd_feed *f, nd_error *err) ND_MUST_CHECK;

/* Wakes threads that wait in nd_feed_next and lets them return: after a failure. */
void nd_feed_stop(nd_feed *f);

#endif
