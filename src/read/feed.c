/* Partitioning the input into tasks and batches; see feed.h. */
#include "read/feed.h"

#include <pthread.h>

#include "base/hash.h"
#include "input/foreign.h"
#include "read/feed_memory.h"
#include "read/feed_range.h"

enum {
  RANGE_BYTES = 4 << 20, /* per task; starting a task costs little in comparison */
  SMALL_FILE = 4 << 20,  /* smaller files share a task, up to RANGE_BYTES and GROUP_FILES in all */
  BATCH_BYTES = 2 << 20, /* of records that become one block */
  GROUP_FILES = 4096,    /* bounds the opens of a task of tiny files */
  SNIFF_BYTES = 1 << 16  /* of a file's front, in which its format shows */
};

/* The state of reading one task. */
typedef struct reader {
  uint32_t task, file; /* file: the open file, or the next one to open */
  uint32_t part;
  uint64_t at; /* RANGE: offset of the next part */
  nd_stream *stream;
  const nd_format *format;
  uint32_t line;
  bool any;     /* a frame of the open file has been read */
  bool members; /* a compressed archive whose records are members */
  bool busy, finished;
} reader;

struct nd_feed {
  const nd_walk *walk;
  const nd_format *format;
  nd_memory *memory[2]; /* one per task, if the input is texts in memory */
  nd_input_options options;
  nd_task *tasks;
  size_t task_n, task_cap;
  uint64_t bytes;
  _Atomic uint64_t done;
  uint32_t shard, shards;
  nd_feed_skip skip;
  void *skip_context;
  unsigned threads;
  pthread_mutex_t lock;
  pthread_cond_t change;
  uint32_t next_task, task_end;
  nd_error unprobed; /* error of the first file whose format could not be probed; ND_OK: none */
  reader **readers;  /* tasks being read */
  size_t reader_n, reader_cap;
  bool stopped;
};

void nd_batch_clear(nd_batch *b) {
  nd_buf_clear(&b->bytes);
  nd_buf_clear(&b->reasons);
  nd_buf_clear(&b->facts);
  nd_buf_clear(&b->look);
  nd_buf_clear(&b->starts);
  nd_free(b->raws);
  *b = (nd_batch){0};
}

static nd_status add_task(nd_feed *f, nd_task task, nd_error *err) {
  ND_TRY(nd_array_grow(&f->tasks, &f->task_cap, f->task_n + 1, sizeof *f->tasks, err));
  f->tasks[f->task_n++] = task;
  return ND_OK;
}

/* Peeks at the bytes that determine the format. */
static nd_status look(nd_str *head, nd_stream *s, nd_error *err) {
  nd_status status = nd_stream_peek(head, s, SNIFF_BYTES, err);
  if (head->n > SNIFF_BYTES) head->n = SNIFF_BYTES;
  return status;
}

/* The start of a file is damaged: detects the format after the damage, in another stream. */
static nd_status sniff_behind(const nd_format **out, const char *name, nd_error *err) {
  nd_stream *s;
  ND_TRY(nd_stream_open(&s, name, err));
  nd_str head;
  nd_status status = look(&head, s, err);
  head.n = 0;
  for (bool found = true; status == ND_ERR_DATA && found && head.n == 0;) {
    status = nd_stream_recover(&found, s, err);
    if (status == ND_OK) status = look(&head, s, err);
  }
  if (head.n) *out = nd_format_sniff(head);
  nd_stream_close(s);
  return status == ND_ERR_MEMORY ? status : ND_OK;
}

/* Detects the format of an open stream.  *seen is ND_ERR_IO if its start could not be read. */
static nd_status sniff(const nd_format **out, nd_status *seen, const nd_feed *f, nd_stream *s,
                       nd_error *err) {
  *seen = ND_OK;
  *out = f->format;
  if (f->format) return ND_OK;
  nd_str head;
  /* The readable bytes decide, and reading the frames will report the rest.  But lack of memory
   * must not change the result. */
  nd_status status = look(&head, s, err);
  if (status == ND_ERR_MEMORY) return status;
  *seen = status;
  ND_TRY(nd_foreign_check(head, err));
  *out = nd_format_sniff(head);
  bool hidden = status == ND_ERR_DATA && (*out)->whole_stream;
  return hidden ? sniff_behind(out, nd_stream_name(s), err) : ND_OK;
}

/* Adds the tasks of a large file: ranges if it is plain and line-based, otherwise a stream. */
static nd_status add_large(nd_feed *f, uint32_t number, nd_error *err) {
  const nd_input_file *file = &f->walk->files[number];
  nd_stream *s = NULL;
  const nd_format *format = NULL;
  nd_error local = {0};
  nd_status status = nd_stream_open(&s, file->real, &local), seen = status;
  if (status == ND_OK && nd_stream_packing(s) == ND_PACKING_NONE)
    status = sniff(&format, &seen, f, s, &local);
  nd_stream_close(s);
  if (status == ND_ERR_MEMORY) return nd_fail(err, status, "%s", local.message);
  /* Any other failure becomes a rejected record. */
  if (seen == ND_ERR_IO && f->unprobed.status == ND_OK) f->unprobed = local;
  if (!format || !format->line_based)
    return add_task(f, (nd_task){.kind = ND_TASK_STREAM, .file = number, .files = 1}, err);
  for (uint64_t begin = 0; begin < file->size; begin += RANGE_BYTES) {
    uint64_t end = file->size - begin < RANGE_BYTES ? file->size : begin + RANGE_BYTES;
    ND_TRY(add_task(f, (nd_task){ND_TASK_RANGE, number, 1, begin, end, format}, err));
  }
  return ND_OK;
}

static nd_status make_feed(nd_feed **out, const nd_walk *walk, const nd_format *format,
                           const nd_input_options *options, nd_error *err) {
  nd_feed *f = nd_calloc(1, sizeof *f);
  if (!f) return nd_fail_memory(err, sizeof *f);
  *f = (nd_feed){.walk = walk,
                 .format = format,
                 .options = *options,
                 .shards = 1,
                 .threads = 1,
                 .task_end = UINT32_MAX};
  pthread_mutex_init(&f->lock, NULL);
  pthread_cond_init(&f->change, NULL);
  *out = f;
  return ND_OK;
}

nd_status nd_feed_of_memory(nd_feed **out, const nd_corpus *corpus, const nd_format *format,
                            const nd_input_options *options, nd_error *err) {
  const nd_text_stream *streams[] = {corpus->texts, corpus->against};
  ND_TRY(make_feed(out, NULL, format, options, err));
  for (uint32_t i = 0; i < 2 && streams[i]; i++) {
    ND_TRY(nd_memory_new(&(*out)->memory[i], streams[i], err));
    (*out)->bytes += nd_memory_bytes((*out)->memory[i]);
    ND_TRY(add_task(
        *out, (nd_task){.kind = ND_TASK_MEMORY, .file = i, .files = 1, .format = format}, err));
  }
  return ND_OK;
}

nd_status nd_feed_new(nd_feed **out, const nd_walk *walk, const nd_format *format,
                      const nd_input_options *options, nd_error *err) {
  ND_TRY(make_feed(out, walk, format, options, err));
  nd_feed *f = *out;
  /* untaken: more than 2^31 things */
  if (walk->n >= UINT32_MAX) return nd_fail(err, ND_ERR_LIMIT, "too many files");
  for (uint32_t i = 0; i < walk->n;) {
    f->bytes += walk->files[i].size;
    if (walk->files[i].size > SMALL_FILE) {
      ND_TRY(add_large(f, i++, err));
      continue;
    }
    nd_task group = {.kind = ND_TASK_FILES, .file = i};
    uint64_t bytes = walk->files[i].size;
    do {
      group.files++;
      i++;
      if (i == walk->n || walk->files[i].size > SMALL_FILE || group.files == GROUP_FILES) break;
      bytes += walk->files[i].size;
      if (bytes > RANGE_BYTES) break;
      f->bytes += walk->files[i].size;
    } while (true);
    ND_TRY(add_task(f, group, err));
  }
  return ND_OK;
}

nd_status nd_feed_again(nd_feed **out, const nd_feed *f, nd_error *err) {
  ND_TRY(make_feed(out, f->walk, f->format, &f->options, err));
  (*out)->bytes = f->bytes;
  for (size_t i = 0; i < f->task_n; i++) ND_TRY(add_task(*out, f->tasks[i], err));
  return ND_OK;
}

nd_status nd_feed_check_probed(const nd_feed *f, nd_error *err) {
  return f->unprobed.status == ND_OK ? ND_OK : nd_fail(err, ND_ERR_IO, "%s", f->unprobed.message);
}

static void free_reader(reader *r) {
  nd_stream_close(r->stream);
  nd_free(r);
}

void nd_feed_free(nd_feed *f) {
  if (!f) return;
  for (size_t i = 0; i < f->reader_n; i++) free_reader(f->readers[i]);
  pthread_mutex_destroy(&f->lock);
  pthread_cond_destroy(&f->change);
  nd_memory_free(f->memory[0]);
  nd_memory_free(f->memory[1]);
  nd_free(f->readers);
  nd_free(f->tasks);
  nd_free(f);
}

uint32_t nd_feed_tasks(const nd_feed *f) {
  return (uint32_t)f->task_n;
}
uint64_t nd_feed_fingerprint(const nd_feed *f) {
  uint64_t x = f->task_n;
  for (size_t i = 0; i < f->task_n; i++) {
    const nd_task *t = &f->tasks[i];
    x = nd_mix(x ^ ((uint64_t)t->kind << 32 | t->file)) + t->begin;
  }
  return x;
}
const nd_task *nd_feed_task(const nd_feed *f, uint32_t task) {
  return &f->tasks[task];
}
uint64_t nd_feed_bytes(const nd_feed *f) {
  return f->bytes;
}
uint64_t nd_feed_done(const nd_feed *f) {
  return f->done;
}

uint64_t nd_feed_texts(const nd_feed *f, uint32_t task) {
  return nd_memory_texts(f->memory[task]);
}
nd_str nd_feed_text(const nd_feed *f, uint32_t task, uint32_t text) {
  return nd_memory_text(f->memory[task], text);
}

void nd_feed_shard(nd_feed *f, uint32_t shard, uint32_t shards) {
  f->shard = shard;
  f->shards = shards;
}

void nd_feed_span(nd_feed *f, uint32_t begin, uint32_t end) {
  f->next_task = begin;
  f->task_end = end;
}

void nd_feed_skip_done(nd_feed *f, nd_feed_skip skip, void *context, unsigned threads) {
  f->skip = skip;
  f->skip_context = context;
  f->threads = threads;
}

void nd_feed_stop(nd_feed *f) {
  pthread_mutex_lock(&f->lock);
  f->stopped = true;
  pthread_cond_broadcast(&f->change);
  pthread_mutex_unlock(&f->lock);
}

/* Rejects a file that cannot be opened, or the unreadable rest of a file. */
static nd_status reject_file(nd_batch *b, const reader *r, uint64_t offset, uint64_t length,
                             const char *reason, nd_error *err) {
  nd_raw where = {.file = r->file, .offset = offset, .length = length};
  return nd_batch_reject(b, &where, nd_str_of(reason), err);
}

/* Returns true if the first frame after damage may be the rest of a record whose start was lost.
 * The end of a line can look like a line, so the first one is rejected even if it is intact. */
static bool is_rest(const nd_format *format, const nd_frame *frame) {
  if (format->is_rest) return format->is_rest(frame);
  return format->line_based || frame->kind == ND_FRAME_REJECT;
}

/* Reads to the end of the file or to the next damage as one frame. */
static nd_status frame_rest(nd_frame *out, nd_stream *s, nd_error *err) {
  *out = (nd_frame){.kind = ND_FRAME_END, .offset = nd_stream_offset(s)};
  nd_str seen;
  nd_status status;
  do {
    status = nd_stream_peek(&seen, s, 1, err);
    nd_stream_skip(s, seen.n);
    out->length += seen.n;
  } while (status == ND_OK && seen.n);
  return status;
}

/* Handles a stream failure, described in `local`, in `frame`: rejects the unreadable part up to the
 * next readable record, and makes `frame` that record or the END.  In a text file, which is one
 * record, the rest of the file belongs to it. */
static nd_status pass_damage(nd_frame *frame, nd_error *local, nd_batch *b, reader *r,
                             const nd_feed *f, nd_error *err) {
  uint64_t from = frame->offset;
  nd_error why = *local;
  nd_status status = why.status;
  while (status == ND_ERR_DATA) {
    bool found;
    frame->kind = ND_FRAME_END;
    status = nd_stream_recover(&found, r->stream, local);
    if (status != ND_OK || !found) break;
    for (bool first = true;; first = false) {
      status = r->format->whole_stream ? frame_rest(frame, r->stream, local)
                                       : r->format->frame(frame, r->stream, &f->options, local);
      b->raw_bytes += frame->length;
      if (status != ND_OK || frame->kind == ND_FRAME_END || !first) break;
      if (!is_rest(r->format, frame)) break;
      if (r->format->line_based) r->line++;
    }
  }
  if (status == ND_ERR_MEMORY)
    return nd_fail(err, status, "%s: %s", f->walk->files[r->file].path, local->message);
  if (status != ND_OK) frame->kind = ND_FRAME_END; /* the rest of the file is lost */
  uint64_t to = frame->kind == ND_FRAME_END ? nd_stream_offset(r->stream) : frame->offset;
  return reject_file(b, r, from, to - from, why.message, err);
}

/* Reads the open file until the batch is full (*full) or the file ends. */
static nd_status read_file(nd_batch *b, reader *r, nd_feed *f, bool *full, nd_error *err) {
  const nd_input_file *file = &f->walk->files[r->file];
  nd_error local;
  *full = false;
  if (!r->stream) {
    nd_status opened = nd_stream_open(&r->stream, file->real, &local);
    nd_status seen; /* unused: unreadable data becomes a rejected record */
    if (opened == ND_OK) opened = sniff(&r->format, &seen, f, r->stream, &local);
    if (opened == ND_ERR_MEMORY || opened == ND_ERR_USAGE)
      return nd_fail(err, opened, "%s: %s", file->path, local.message);
    if (opened != ND_OK) return reject_file(b, r, 0, file->size, local.message, err);
    r->line = 0;
    r->any = false;
    r->members = nd_stream_packing(r->stream) != ND_PACKING_NONE && r->format->members;
  }
  for (;;) {
    if (b->bytes.n >= BATCH_BYTES || b->n + b->others >= ND_BATCH_RECORDS) {
      *full = true;
      return ND_OK;
    }
    nd_frame frame = {0};
    local.message[0] = '\0';
    nd_status status = r->format->frame(&frame, r->stream, &f->options, &local);
    b->raw_bytes += frame.length;
    if (status == ND_ERR_MEMORY) return nd_fail(err, status, "%s: %s", file->path, local.message);
    if (status != ND_OK) {
      local.status = status;
      ND_TRY(pass_damage(&frame, &local, b, r, f, err));
      if (frame.kind == ND_FRAME_END) return ND_OK;
    }
    /* An empty file is a document, too: it is counted and kept. */
    bool empty = frame.kind == ND_FRAME_END && !r->any && r->format->whole_stream;
    bool first = !r->any;
    r->any = true;
    if (frame.kind == ND_FRAME_END && !empty) return ND_OK;
    if (r->format->line_based) r->line++;
    nd_raw raw = {.format = r->format,
                  .file = r->file,
                  .line = r->line,
                  .offset = frame.offset,
                  .length = frame.length,
                  .at = b->bytes.n,
                  .n = frame.raw.n};
    if (r->members) {
      uint64_t file_mark = ND_START_FILE | r->file;
      if (first || b->starts.n == 0)
        ND_TRY(nd_buf_append(&b->starts, &file_mark, sizeof file_mark, err));
      ND_TRY(nd_buf_append(&b->starts, &frame.offset, sizeof frame.offset, err));
    }
    if (frame.kind == ND_FRAME_OTHER) {
      b->others++;
    } else if (frame.kind == ND_FRAME_REJECT) {
      ND_TRY(nd_batch_reject(b, &raw, nd_str_of(local.message), err));
    } else {
      ND_TRY(nd_array_grow(&b->raws, &b->cap, b->n + 1, sizeof *b->raws, err));
      ND_TRY(nd_buf_append(&b->bytes, frame.raw.p, frame.raw.n, err));
      b->raws[b->n++] = raw;
    }
  }
}

/* Fills a batch from the files of a task. */
static nd_status read_part(nd_batch *b, reader *r, nd_feed *f, nd_error *err) {
  const nd_task *task = &f->tasks[r->task];
  b->task = r->task;
  b->part = r->part++;
  while (r->file < task->file + task->files) {
    bool full;
    uint64_t before = r->stream ? nd_stream_packed_offset(r->stream) : 0;
    ND_TRY(read_file(b, r, f, &full, err));
    uint64_t size = f->walk->files[r->file].size;
    uint64_t after = full ? nd_stream_packed_offset(r->stream) : size;
    if (after > before) f->done += after - before;
    if (full) return ND_OK;
    nd_stream_close(r->stream);
    r->stream = NULL;
    r->file++;
  }
  b->last = r->finished = true;
  return ND_OK;
}

static void empty_batch(nd_batch *b) {
  b->bytes.n = b->reasons.n = b->facts.n = b->starts.n = b->n = 0;
  b->lines = b->others = b->raw_bytes = 0;
  b->last = b->lines_relative = b->stays = false;
}

/* Fills a batch from a range. */
static nd_status read_range(nd_batch *b, reader *r, nd_feed *f, nd_error *err) {
  const nd_task *task = &f->tasks[r->task];
  uint64_t from = r->at;
  nd_error local;
  b->task = r->task;
  b->part = r->part++;
  nd_status status = nd_feed_range(b, &r->at, b->part == 0, task, &f->walk->files[task->file],
                                   &f->options, &local);
  if (status == ND_ERR_MEMORY) {
    nd_error_pass(err, &local);
    return status;
  }
  if (status != ND_OK) {
    /* The file disappeared, shrank or is unreadable: rejects the rest of the range. */
    uint64_t lines = b->lines;
    empty_batch(b);
    b->lines_relative = true;
    b->lines = lines;
    r->at = task->end;
    nd_raw where = {.file = task->file, .offset = from, .length = task->end - from};
    ND_TRY(nd_batch_reject(b, &where, nd_str_of(local.message), err));
  }
  b->last = r->finished = r->at >= task->end;
  f->done += (b->last ? task->end : r->at) - from;
  return ND_OK;
}

static nd_status read_memory(nd_batch *b, reader *r, nd_feed *f, nd_error *err) {
  b->task = r->task;
  b->part = r->part++;
  ND_TRY(nd_memory_batch(b, f->memory[r->task], r->task, f->format, &f->options, err));
  f->done += b->raw_bytes;
  r->finished = b->last;
  return ND_OK;
}

static uint64_t task_bytes(const nd_feed *f, const nd_task *task) {
  if (task->kind == ND_TASK_RANGE) return task->end - task->begin;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < task->files; i++) bytes += f->walk->files[task->file + i].size;
  return bytes;
}

/* Gets an idle reader or a new one, NULL if nothing is left.  Called with the lock held. */
static nd_status choose(reader **out, nd_feed *f, nd_error *err) {
  *out = NULL;
  for (;;) {
    if (f->stopped) return ND_OK;
    while (f->next_task < f->task_n && f->next_task % f->shards != f->shard) f->next_task++;
    bool tasks_left = f->next_task < f->task_n && f->next_task < f->task_end;
    reader *idle = NULL;
    for (size_t i = 0; i < f->reader_n && !idle; i++) {
      if (!f->readers[i]->busy) idle = f->readers[i];
    }
    if (idle && (!tasks_left || f->reader_n >= f->threads)) {
      idle->busy = true;
      *out = idle;
      return ND_OK;
    }
    if (tasks_left) {
      uint32_t number = f->next_task++;
      const nd_task *task = &f->tasks[number];
      if (f->skip && f->skip(f->skip_context, number, ND_WHOLE_TASK)) {
        f->done += task_bytes(f, task);
        continue;
      }
      ND_TRY(nd_array_grow(&f->readers, &f->reader_cap, f->reader_n + 1, sizeof(reader *), err));
      reader *r = nd_calloc(1, sizeof *r);
      if (!r) return nd_fail_memory(err, sizeof *r);
      *r = (reader){.task = number, .file = task->file, .at = task->begin, .busy = true};
      f->readers[f->reader_n++] = r;
      *out = r;
      return ND_OK;
    }
    if (f->reader_n == 0) return ND_OK;
    pthread_cond_wait(&f->change, &f->lock);
  }
}

static void give_back(nd_feed *f, reader *r) {
  r->busy = false;
  if (r->finished) {
    for (size_t i = 0; i < f->reader_n; i++) {
      if (f->readers[i] == r) f->readers[i] = f->readers[--f->reader_n];
    }
    free_reader(r);
  }
  pthread_cond_broadcast(&f->change);
}

nd_status nd_feed_next(bool *more, nd_batch *b, nd_feed *f, nd_error *err) {
  for (;;) {
    empty_batch(b);
    reader *r;
    pthread_mutex_lock(&f->lock);
    nd_status status = choose(&r, f, err);
    pthread_mutex_unlock(&f->lock);
    ND_TRY(status);
    *more = r != NULL;
    if (!*more) return ND_OK;
    nd_task_kind kind = f->tasks[r->task].kind;
    status = kind == ND_TASK_RANGE    ? read_range(b, r, f, err)
             : kind == ND_TASK_MEMORY ? read_memory(b, r, f, err)
                                      : read_part(b, r, f, err);
    uint32_t task = b->task, part = b->part;
    pthread_mutex_lock(&f->lock);
    if (status != ND_OK) r->finished = true;
    give_back(f, r);
    pthread_mutex_unlock(&f->lock);
    ND_TRY(status);
    if (f->skip && f->skip(f->skip_context, task, part)) continue;
    return ND_OK;
  }
}
