/* Logs of blocks; see store.h. */
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/pair.h"
#include "base/writer.h"

enum { DEFERRED_ROWS = 512 };

static nd_status add_log(nd_store *s, const char *name, uint32_t *number, nd_error *err) {
  ND_TRY(nd_array_grow(&s->logs, &s->log_cap, s->log_n + 1, sizeof *s->logs, err));
  size_t room = strlen(s->dir) + strlen(name) + 2;
  char *path = nd_malloc(room);
  if (!path) return nd_fail_memory(err, room);
  snprintf(path, room, "%s/%s", s->dir, name);
  s->logs[s->log_n] = (nd_log_file){path, -1};
  *number = (uint32_t)s->log_n++;
  return ND_OK;
}

static nd_status add_block(nd_store *s, uint32_t log, uint64_t at, const nd_block_header *head,
                           nd_error *err) {
  ND_TRY(nd_array_grow(&s->blocks, &s->block_cap, s->block_n + 1, sizeof *s->blocks, err));
  s->blocks[s->block_n++] = (nd_block_ref){.log = log, .at = at, .head = *head};
  return ND_OK;
}

/* Collects the complete blocks of an existing log, up to the first damaged one. */
static nd_status scan_log(nd_store *s, uint32_t number, nd_error *err) {
  nd_log_file *log = &s->logs[number];
  ND_TRY(nd_dir_open_file(&log->fd, &s->home, strrchr(log->path, '/') + 1, O_RDONLY, 0, err));
  nd_file_info info;
  ND_TRY(nd_io_fstat(&info, log->fd, log->path, err));
  nd_buf block = {0};
  nd_status status = ND_OK;
  for (uint64_t at = 0; at + sizeof(nd_block_header) <= info.size;) {
    nd_block_header head;
    ND_TRY_GOTO(nd_io_pread_full(log->fd, &head, sizeof head, at, log->path, err), done);
    if (head.payload > info.size - at - sizeof head) break;
    size_t size = sizeof head + (size_t)head.payload;
    block.n = 0;
    ND_TRY_GOTO(nd_buf_reserve(&block, size, err), done);
    ND_TRY_GOTO(nd_io_pread_full(log->fd, block.p, size, at, log->path, err), done);
    if (!nd_block_valid((nd_str){block.p, size})) break;
    ND_TRY_GOTO(add_block(s, number, at, &head, err), done);
    at += size;
  }
done:
  nd_buf_clear(&block);
  return status;
}

static uint64_t key_of(const nd_block_header *h) {
  return nd_pair_key(h->task, h->part);
}

static int by_key(const void *a, const void *b) {
  uint64_t x = key_of(&((const nd_block_ref *)a)->head),
           y = key_of(&((const nd_block_ref *)b)->head);
  return x < y ? -1 : x > y;
}

/* Sorts the blocks by (task, part) and removes duplicates. */
static void order_blocks(nd_store *s) {
  if (s->block_n == 0) return;
  qsort(s->blocks, s->block_n, sizeof *s->blocks, by_key);
  size_t kept = 1;
  for (size_t i = 1; i < s->block_n; i++) {
    if (by_key(&s->blocks[i], &s->blocks[kept - 1]) != 0) s->blocks[kept++] = s->blocks[i];
  }
  s->block_n = kept;
}

/* Lists the blocks found, and the tasks whose parts are all present. */
static nd_status list_found(nd_store *s, nd_error *err) {
  s->have = nd_malloc(s->block_n * sizeof *s->have);
  s->whole = nd_malloc(s->block_n * sizeof *s->whole);
  if (!s->have || !s->whole) return nd_fail_memory(err, s->block_n * sizeof *s->have);
  uint32_t task = UINT32_MAX, next = 0; /* the next part without a gap */
  for (size_t i = 0; i < s->block_n; i++) {
    const nd_block_header *h = &s->blocks[i].head;
    if (h->task != task) next = 0;
    task = h->task;
    s->have[s->have_n++] = key_of(h);
    if (h->part != next) continue;
    next++;
    if (h->last) s->whole[s->whole_n++] = nd_pair_key(task, ND_ALL_PARTS);
  }
  return ND_OK;
}

static nd_status take_log(void *context, const char *name, nd_error *err) {
  nd_store *s = context;
  uint32_t number = 0;
  if (strncmp(name, "blocks-", 7) != 0) return ND_OK;
  ND_TRY(add_log(s, name, &number, err));
  return scan_log(s, number, err);
}

nd_status nd_store_open(nd_store *s, const char *dir, nd_error *err) {
  *s = (nd_store){.home = {.fd = -1}};
  pthread_mutex_init(&s->lock, NULL);
  s->dir = nd_malloc(strlen(dir) + 1);
  if (!s->dir) return nd_fail_memory(err, strlen(dir) + 1);
  strcpy(s->dir, dir);
  ND_TRY(nd_dir_open(&s->home, dir, err));
  ND_TRY(nd_dir_check_private(&s->home, err)); /* the path may have been replaced by others */
  ND_TRY(nd_dir_each(&s->home, take_log, s, err));
  order_blocks(s);
  return list_found(s, err);
}

void nd_store_close(nd_store *s) {
  if (!s->dir) return;
  for (size_t i = 0; i < s->log_n; i++) {
    if (s->logs[i].fd >= 0) close(s->logs[i].fd);
    nd_free(s->logs[i].path);
  }
  pthread_mutex_destroy(&s->lock);
  nd_free(s->logs);
  nd_free(s->blocks);
  nd_free(s->have);
  nd_free(s->whole);
  nd_free(s->span);
  if (s->has_deferred) close(s->deferred);
  nd_dir_close(&s->home);
  nd_free(s->dir);
  *s = (nd_store){0};
}

bool nd_store_has(const nd_store *s, uint32_t task, uint32_t part) {
  uint64_t key = nd_pair_key(task, part);
  const uint64_t *keys = part == ND_ALL_PARTS ? s->whole : s->have;
  size_t n = part == ND_ALL_PARTS ? s->whole_n : s->have_n;
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && keys[low] == key;
}

nd_status nd_log_open(nd_log *log, nd_store *s, nd_error *err) {
  *log = (nd_log){.store = s};
  pthread_mutex_lock(&s->lock);
  /* The unique name distinguishes runs and machines. */
  char name[64], unique[ND_DIR_UNIQUE];
  nd_dir_unique(unique);
  snprintf(name, sizeof name, "blocks-%s", unique);
  int fd;
  nd_status status = add_log(s, name, &log->number, err);
  if (status == ND_OK) {
    nd_log_file *file = &s->logs[log->number];
    status = nd_dir_open_file(&fd, &s->home, name, O_WRONLY | O_CREAT | O_EXCL, 0600, err);
    if (status == ND_OK) status = nd_writer_take(&log->writer, fd, file->path, err);
    if (status == ND_OK) status = nd_dir_open_file(&file->fd, &s->home, name, O_RDONLY, 0, err);
  }
  pthread_mutex_unlock(&s->lock);
  return status;
}

nd_status nd_log_append(nd_log *log, const nd_block *b, nd_error *err) {
  uint64_t at = nd_writer_offset(log->writer);
  ND_TRY(nd_writer_put(log->writer, b->image.p, b->image.n, err));
  ND_TRY(nd_writer_flush(log->writer, err));
  pthread_mutex_lock(&log->store->lock);
  nd_status status = add_block(log->store, log->number, at, &b->head, err);
  pthread_mutex_unlock(&log->store->lock);
  return status;
}

nd_status nd_log_close(nd_log *log, nd_error *err) {
  nd_writer *w = log->writer;
  log->writer = NULL;
  return nd_writer_close(w, false, err);
}

void nd_log_abandon(nd_log *log) {
  /* Complete blocks in the log remain valid: a resumed run uses them. */
  nd_writer_leave(log->writer);
  log->writer = NULL;
}

/* Fills the spans of one block's documents. */
static nd_status load_spans(nd_store *s, size_t block, uint64_t *wide, uint32_t *narrow,
                            nd_error *err) {
  const nd_block_ref *b = &s->blocks[block];
  nd_span *span = s->span + b->first;
  size_t n = b->head.docs;
  if (!b->head.raw) {
    ND_TRY(nd_store_column(s, block, ND_COL_TEXT_END, 4, narrow, err));
    for (size_t i = 0; i < n; i++) {
      uint32_t from = i ? narrow[i - 1] : 0;
      span[i] = (nd_span){from, narrow[i] - from};
    }
    return ND_OK;
  }
  ND_TRY(nd_store_column(s, block, ND_COL_OFFSET, 8, wide, err));
  for (size_t i = 0; i < n; i++) span[i].begin = (uint32_t)(wide[i] - b->begin);
  ND_TRY(nd_store_column(s, block, ND_COL_LENGTH, 8, wide, err));
  for (size_t i = 0; i < n; i++) span[i].n = (uint32_t)wide[i];
  return ND_OK;
}

static nd_status load_all_spans(nd_store *s, nd_error *err) {
  size_t most = 1;
  for (size_t i = 0; i < s->block_n; i++)
    if (s->blocks[i].head.docs > most) most = s->blocks[i].head.docs;
  s->span = nd_malloc(s->documents * sizeof *s->span);
  uint64_t *wide = nd_malloc(most * sizeof *wide);
  uint32_t *narrow = nd_malloc(most * sizeof *narrow);
  nd_status status =
      s->span && wide && narrow ? ND_OK : nd_fail_memory(err, s->documents * sizeof *s->span);
  for (size_t i = 0; i < s->block_n && status == ND_OK; i++)
    status = load_spans(s, i, wide, narrow, err);
  nd_free(wide);
  nd_free(narrow);
  return status;
}

nd_status nd_store_seal(nd_store *s, uint32_t tasks, const uint64_t *task_begin, nd_error *err) {
  order_blocks(s);
  uint64_t documents = 0;
  uint32_t task = 0, part = 0;
  size_t i = 0;
  for (; i < s->block_n; i++) {
    nd_block_ref *b = &s->blocks[i];
    if (task == tasks || b->head.task != task || b->head.part != part) break;
    b->first = (uint32_t)documents;
    b->begin = task_begin[task];
    documents += b->head.docs;
    part++;
    if (b->head.last) {
      task++;
      part = 0;
    }
  }
  if (i != s->block_n || task != tasks) {
    return nd_fail(err, ND_ERR_STATE,
                   "the work directory %s is incomplete at part %u of task %u of %u; run every "
                   "--shard first, or run without --shard",
                   s->dir, part, task, tasks);
  }
  if (documents >= UINT32_MAX) { /* untaken: more than 2^31 things */
    return nd_fail(
        err, ND_ERR_LIMIT,
        "%llu documents are more than one run can number (4,294,967,294); split the input",
        (unsigned long long)documents);
  }
  s->documents = documents;
  return s->without_texts || s->few_texts ? ND_OK : load_all_spans(s, err);
}

nd_status nd_store_spans(nd_span *out, size_t *n, const nd_store *s, size_t block,
                         uint32_t document, nd_error *err) {
  const nd_block_ref *b = &s->blocks[block];
  const uint32_t i = document - b->first;
  *n = b->head.docs - i < ND_SPANS ? b->head.docs - i : ND_SPANS;
  if (b->head.raw) {
    uint64_t offset[ND_SPANS] = {0}, length[ND_SPANS] = {0};
    ND_TRY(nd_store_read(s, block, nd_block_column(&b->head, ND_COL_OFFSET) + i * UINT64_C(8),
                         offset, *n * sizeof *offset, err));
    ND_TRY(nd_store_read(s, block, nd_block_column(&b->head, ND_COL_LENGTH) + i * UINT64_C(8),
                         length, *n * sizeof *length, err));
    for (size_t k = 0; k < *n; k++)
      out[k] = (nd_span){(uint32_t)(offset[k] - b->begin), (uint32_t)length[k]};
    return ND_OK;
  }
  uint32_t end[ND_SPANS + 1] = {0}; /* starts with the preceding document, if there is one */
  const uint32_t before = i > 0;
  uint64_t at = nd_block_column(&b->head, ND_COL_TEXT_END) + (i - before) * UINT64_C(4);
  ND_TRY(nd_store_read(s, block, at, end + 1 - before, (*n + before) * sizeof *end, err));
  for (size_t k = 0; k < *n; k++) out[k] = (nd_span){end[k], end[k + 1] - end[k]};
  return ND_OK;
}

nd_status nd_store_deferred(uint64_t *out, const nd_store *s, uint32_t first, size_t n,
                            nd_error *err) {
  return nd_io_pread_full(s->deferred, out, n * sizeof *out, first * (uint64_t)sizeof *out,
                          "a temporary file for sketches", err);
}

size_t nd_store_find(const nd_store *s, uint32_t document) {
  size_t low = 0, high = s->block_n; /* the last block with first <= document */
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (s->blocks[middle].first <= document)
      low = middle;
    else
      high = middle;
  }
  return low;
}

nd_status nd_store_read(const nd_store *s, size_t block, uint64_t at, void *out, size_t n,
                        nd_error *err) {
  const nd_block_ref *b = &s->blocks[block];
  const nd_log_file *log = &s->logs[b->log];
  return n ? nd_io_pread_full(log->fd, out, n, b->at + at, log->path, err) : ND_OK;
}

nd_status nd_store_column(const nd_store *s, size_t block, nd_column column, size_t size, void *out,
                          nd_error *err) {
  const nd_block_header *h = &s->blocks[block].head;
  return nd_store_read(s, block, nd_block_column(h, column), out, size * h->docs, err);
}

nd_status nd_store_band(const nd_store *s, size_t block, uint32_t band, uint64_t *out,
                        nd_error *err) {
  const nd_block_header *h = &s->blocks[block].head;
  uint64_t at = nd_block_column(h, ND_COL_BANDS) + (uint64_t)band * h->docs * 8;
  return nd_store_read(s, block, at, out, (size_t)h->docs * 8, err);
}

nd_status nd_store_rows(uint64_t *out, const nd_store *s, size_t block, nd_error *err) {
  const nd_block_ref *b = &s->blocks[block];
  size_t words = b->head.sketch_words;
  ND_TRY(nd_store_column(s, block, ND_COL_SKETCH, words * 8, out, err));
  uint64_t deferred[DEFERRED_ROWS];
  for (uint32_t i = 0; s->has_deferred && i < b->head.docs; i++) {
    uint32_t left = b->head.docs - i;
    if (i % DEFERRED_ROWS == 0)
      ND_TRY(nd_store_deferred(deferred, s, b->first + i,
                               left < DEFERRED_ROWS ? left : DEFERRED_ROWS, err));
    out[i * words + s->deferred_at] = deferred[i % DEFERRED_ROWS];
  }
  return ND_OK;
}

nd_status nd_store_row(uint64_t *out, const nd_store *s, uint32_t document, nd_error *err) {
  size_t block = nd_store_find(s, document);
  const nd_block_ref *b = &s->blocks[block];
  size_t size = (size_t)b->head.sketch_words * 8;
  uint64_t at = nd_block_column(&b->head, ND_COL_SKETCH) + (uint64_t)(document - b->first) * size;
  ND_TRY(nd_store_read(s, block, at, out, size, err));
  return s->has_deferred ? nd_store_deferred(out + s->deferred_at, s, document, 1, err) : ND_OK;
}

uint64_t nd_store_bytes(const nd_store *s) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < s->block_n; i++)
    bytes += sizeof(nd_block_header) + s->blocks[i].head.payload;
  return bytes;
}
