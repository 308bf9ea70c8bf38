/* Writing kept/; see kept.h.
 *
 * A plain file is split into regions, one per block: from the first record of the block to that of
 * the next.  Everything a block drops is in its region, so the position of each region in the
 * output follows from their sizes, and threads copy regions in parallel.  A compressed file is
 * copied from front to back: small files in parallel, large ones one after another with parallel
 * compression. */
#include "result/kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/threads.h"
#include "base/writer.h"
#include "outdir/region_sum.h"
#include "output/cut.h"
#include "store/workdir.h"

enum {
  LARGE_COMPRESSED = 4 << 20,
  WORTH_WRITING = 1 << 20 /* bytes worth writing to disk early; less is better written at once */
};

typedef struct region {
  size_t block;
  uint32_t file;
  uint64_t begin, end; /* in the input */
  uint64_t out_at;
  uint64_t dropped; /* bytes */
  bool cut;         /* a record was dropped, even an empty one */
} region;

typedef struct keeper {
  nd_run *job;
  const uint32_t *centre;
  const char *dir;
  nd_kept_beside beside;
  void *context;
  region *regions; /* sorted by file and position */
  size_t n, cap;
  size_t *first;        /* for each file, its first region; files + 1 entries */
  bool *compressed;     /* for each file */
  bool *read;           /* for each file: it gave a document */
  nd_region_sum **sums; /* for each file; NULL: compressed, or a single region */
  nd_kept *out;
  bool early; /* written bytes go to disk at once */
  struct worker {
    size_t block;    /* block number + 1 of the cuts loaded; 0: none */
    nd_cut *all;     /* sorted by file and position */
    uint32_t *owner; /* the file of each cut */
    size_t all_n, all_cap, owner_cap;
    const nd_cut *cuts; /* the cuts of the current file */
    size_t cut_n;
    uint32_t *files;
    uint64_t *columns;
    size_t column_cap, file_cap;
    nd_buf rejects, starts;
  } * workers;
} keeper;

static nd_status add_cut(struct worker *w, uint32_t file, uint64_t offset, uint64_t length,
                         nd_error *err) {
  ND_TRY(nd_array_grow(&w->all, &w->all_cap, w->all_n + 1, sizeof *w->all, err));
  ND_TRY(nd_array_grow(&w->owner, &w->owner_cap, w->all_n + 1, sizeof *w->owner, err));
  w->all[w->all_n] = (nd_cut){offset, length};
  w->owner[w->all_n++] = file;
  return ND_OK;
}

static nd_status add_reject(void *context, const nd_reject *r, nd_error *err) {
  return add_cut(context, r->file, r->offset, r->length, err);
}

static bool comes_before(const struct worker *w, size_t i, size_t j) {
  if (w->owner[i] != w->owner[j]) return w->owner[i] < w->owner[j];
  return w->all[i].offset < w->all[j].offset;
}

/* Merges the dropped documents [0, middle) and the rejects [middle, n), each sorted already. */
static nd_status merge_cuts(struct worker *w, size_t middle, nd_error *err) {
  size_t n = w->all_n;
  if (middle == 0 || middle == n) return ND_OK;
  /* Merges into the space after both lists, then copies to the front. */
  ND_TRY(nd_array_grow(&w->all, &w->all_cap, 2 * n, sizeof *w->all, err));
  ND_TRY(nd_array_grow(&w->owner, &w->owner_cap, 2 * n, sizeof *w->owner, err));
  size_t i = 0, j = middle;
  for (size_t to = n; to < 2 * n; to++) {
    size_t from = j == n || (i < middle && comes_before(w, i, j)) ? i++ : j++;
    w->all[to] = w->all[from];
    w->owner[to] = w->owner[from];
  }
  memcpy(w->all, w->all + n, n * sizeof *w->all);
  memcpy(w->owner, w->owner + n, n * sizeof *w->owner);
  return ND_OK;
}

/* Loads everything that one block drops. */
static nd_status load_block(const keeper *k, struct worker *w, size_t block, nd_error *err) {
  const nd_store *s = &k->job->store;
  const nd_block_ref *b = &s->blocks[block];
  size_t n = b->head.docs;
  w->block = 0;
  w->all_n = 0;
  ND_TRY(nd_array_grow(&w->columns, &w->column_cap, 2 * n, sizeof *w->columns, err));
  ND_TRY(nd_array_grow(&w->files, &w->file_cap, n, sizeof *w->files, err));
  bool any = false;
  for (size_t i = 0; i < n && !any; i++) any = k->centre[b->first + i] != b->first + i;
  if (any) {
    ND_TRY(nd_store_column(s, block, ND_COL_OFFSET, 8, w->columns, err));
    ND_TRY(nd_store_column(s, block, ND_COL_LENGTH, 8, w->columns + n, err));
    ND_TRY(nd_store_column(s, block, ND_COL_FILE, 4, w->files, err));
    for (size_t i = 0; i < n; i++) {
      if (k->centre[b->first + i] != b->first + i)
        ND_TRY(add_cut(w, w->files[i], w->columns[i], w->columns[n + i], err));
    }
  }
  size_t middle = w->all_n;
  ND_TRY(nd_run_block_rejects(k->job, block, &w->rejects, add_reject, w, err));
  ND_TRY(merge_cuts(w, middle, err));
  w->block = block + 1;
  return ND_OK;
}

static size_t first_of(const struct worker *w, uint32_t file) {
  size_t low = 0, high = w->all_n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (w->owner[middle] < file)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Sets w->cuts to the parts of `file` that one block drops, ascending. */
static nd_status load_cuts(const keeper *k, struct worker *w, size_t block, uint32_t file,
                           nd_error *err) {
  if (w->block != block + 1) ND_TRY(load_block(k, w, block, err));
  w->cut_n = 0;
  if (!w->all_n) return ND_OK;
  size_t begin = first_of(w, file);
  w->cuts = w->all + begin;
  w->cut_n = first_of(w, file + 1) - begin;
  return ND_OK;
}

static nd_status add_region(keeper *k, region r, nd_error *err) {
  ND_TRY(nd_array_grow(&k->regions, &k->cap, k->n + 1, sizeof *k->regions, err));
  k->regions[k->n++] = r;
  return ND_OK;
}

typedef struct earliest {
  uint64_t *begin; /* for each file of the task; UINT64_MAX: no record of it in this block */
  uint64_t *end;   /* end of its last record in this block */
  uint32_t file, files;
} earliest;

static void note_record(earliest *e, uint32_t file, uint64_t offset, uint64_t length) {
  uint32_t i = file - e->file; /* the records of a block belong to files of its task */
  if (offset < e->begin[i]) e->begin[i] = offset;
  if (offset + length > e->end[i]) e->end[i] = offset + length;
}

static nd_status note_reject(void *context, const nd_reject *r, nd_error *err) {
  (void)err;
  note_record(context, r->file, r->offset, r->length);
  return ND_OK;
}

/* Adds the regions that begin in one block. */
static nd_status block_regions(keeper *k, size_t block, earliest *e, nd_error *err) {
  const nd_store *s = &k->job->store;
  const nd_block_header *h = &s->blocks[block].head;
  const nd_task *task = nd_feed_task(k->job->feed, h->task);
  struct worker *w = &k->workers[0];
  size_t n = h->docs;
  ND_TRY(nd_array_grow(&w->columns, &w->column_cap, 2 * n + 1, sizeof *w->columns, err));
  ND_TRY(nd_array_grow(&w->files, &w->file_cap, n, sizeof *w->files, err));
  e->file = task->file;
  e->files = task->files;
  for (uint32_t i = 0; i < e->files; i++) {
    e->begin[i] = UINT64_MAX;
    e->end[i] = 0;
  }
  ND_TRY(nd_store_column(s, block, ND_COL_OFFSET, 8, w->columns, err));
  ND_TRY(nd_store_column(s, block, ND_COL_LENGTH, 8, w->columns + n, err));
  ND_TRY(nd_store_column(s, block, ND_COL_FILE, 4, w->files, err));
  for (size_t i = 0; i < n; i++) {
    note_record(e, w->files[i], w->columns[i], w->columns[n + i]);
    k->read[w->files[i]] = true;
  }
  ND_TRY(nd_run_block_rejects(k->job, block, &w->rejects, note_reject, e, err));
  for (uint32_t i = 0; i < e->files; i++) {
    if (e->begin[i] == UINT64_MAX) continue;
    region r = {.block = block, .file = e->file + i, .begin = e->begin[i], .end = e->end[i]};
    ND_TRY(add_region(k, r, err));
  }
  return ND_OK;
}

static nd_status make_regions(keeper *k, nd_error *err) {
  const nd_run *j = k->job;
  uint32_t most = 1;
  for (uint32_t i = 0; i < nd_feed_tasks(j->feed); i++) {
    uint32_t files = nd_feed_task(j->feed, i)->files;
    if (files > most) most = files;
  }
  earliest e = {.begin = nd_malloc(2 * most * sizeof *e.begin)};
  if (!e.begin) return nd_fail_memory(err, 2 * most * sizeof *e.begin);
  e.end = e.begin + most;
  nd_status status = ND_OK;
  for (size_t i = 0; i < j->store.block_n && status == ND_OK; i++)
    status = block_regions(k, i, &e, err);
  nd_free(e.begin);
  ND_TRY(status);
  size_t at = 0;
  for (uint32_t f = 0; f < j->walk.n; f++) {
    k->first[f] = at;
    size_t begin = at;
    while (at < k->n && k->regions[at].file == f) at++;
    for (size_t i = begin; i < at; i++) {
      /* Bytes before the first record, or a file without records, are kept. */
      if (i == begin) k->regions[i].begin = 0;
      if (i + 1 < at) k->regions[i].end = k->regions[i + 1].begin;
      /* A file that grew during the run has records past its size. */
      else if (k->regions[i].end < j->walk.files[f].size)
        k->regions[i].end = j->walk.files[f].size;
    }
  }
  k->first[j->walk.n] = at;
  return ND_OK;
}

static nd_status measure_region(void *context, unsigned worker, uint64_t job, nd_error *err) {
  keeper *k = context;
  region *r = &k->regions[job];
  struct worker *w = &k->workers[worker];
  ND_TRY(load_cuts(k, w, r->block, r->file, err));
  for (size_t i = 0; i < w->cut_n; i++) r->dropped += w->cuts[i].length;
  r->cut = w->cut_n > 0;
  return ND_OK;
}

static nd_status path_of(char **out, const keeper *k, uint32_t f, nd_error *err) {
  return nd_path_join(out, k->dir, k->job->walk.files[f].name, err);
}

static nd_status copy_region(keeper *k, struct worker *w, size_t number, nd_error *err) {
  const region *r = &k->regions[number];
  const nd_input_file *file = &k->job->walk.files[r->file];
  nd_region_sum *sums = k->sums[r->file];
  if (!k->out->written[r->file]) return ND_OK;
  int in = -1, out = -1;
  char *path = NULL;
  const size_t nth = number - k->first[r->file];
  nd_sum alone, *sum = sums ? nd_region_sum_take(sums, nth) : &alone;
  if (!sums) nd_sum_begin(&alone);
  const uint64_t size = r->end - r->begin - r->dropped;
  nd_status status = load_cuts(k, w, r->block, r->file, err);
  if (status == ND_OK) status = path_of(&path, k, r->file, err);
  if (status == ND_OK) status = nd_io_open(&in, file->real, O_RDONLY, 0, err);
  if (status == ND_OK) status = nd_io_open(&out, path, O_RDWR, 0, err);
  if (status == ND_OK)
    status = nd_cut_plain(in, file->path, out, path, r->begin, r->end, r->out_at, w->cuts, w->cut_n,
                          sum, err);
  if (status == ND_OK && sums) status = nd_region_sum_written(sums, nth, sum, out, path, err);
  if (status == ND_OK && !sums)
    k->out->sum[r->file] = (nd_file_sum){r->out_at + size, nd_sum_value(&alone)};
  if (status == ND_OK && k->early && size >= WORTH_WRITING) nd_io_write_back(out, r->out_at, size);
  if (in >= 0) close(in);
  if (out >= 0) {
    nd_status closed = nd_io_close(out, path, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = closed;
  }
  nd_free(path);
  return status;
}

/* Loads the offsets at which the records of `file` begin in this block. */
static nd_status load_starts(const keeper *k, struct worker *w, size_t block, uint32_t file,
                             nd_error *err) {
  const nd_block_header *h = &k->job->store.blocks[block].head;
  size_t size = (size_t)h->starts * 8;
  w->starts.n = 0;
  ND_TRY(nd_buf_reserve(&w->starts, size, err));
  uint64_t at = nd_block_column(h, ND_COLUMNS) + h->id_bytes + h->text_bytes + h->reject_bytes;
  ND_TRY(nd_store_read(&k->job->store, block, at, w->starts.p, size, err));
  uint64_t *starts = (uint64_t *)(void *)w->starts.p;
  size_t n = 0;
  bool wanted = false;
  for (size_t i = 0; i < h->starts; i++) {
    if (starts[i] & ND_START_FILE)
      wanted = starts[i] == (ND_START_FILE | file);
    else if (wanted)
      starts[n++] = starts[i];
  }
  w->starts.n = n * 8;
  return ND_OK;
}

/* Copies a file that drops nothing byte for byte, still compressed.  The output file exists. */
static nd_status copy_whole(const keeper *k, uint32_t f, nd_error *err) {
  const nd_input_file *file = &k->job->walk.files[f];
  int in;
  char *path = NULL;
  nd_writer *w = NULL;
  ND_TRY(nd_io_open(&in, file->real, O_RDONLY, 0, err));
  nd_status status = path_of(&path, k, f, err);
  if (status == ND_OK) status = nd_writer_open(&w, path, err);
  if (status == ND_OK) {
    nd_writer_result(w, k->early);
    status = nd_writer_copy(w, in, 0, file->size, file->path, err);
  }
  if (status == ND_OK) status = nd_writer_flush(w, err);
  if (status == ND_OK) {
    k->out->sum[f] = (nd_file_sum){file->size, nd_writer_sum(w)};
    status = nd_writer_close(w, false, err);
  } else {
    nd_writer_abandon(w);
  }
  close(in);
  nd_free(path);
  return status;
}

static nd_status copy_compressed(const keeper *k, struct worker *w, uint32_t f, unsigned threads,
                                 nd_error *err) {
  const nd_input_file *file = &k->job->walk.files[f];
  char *path = NULL;
  bool cut = false, records = false;
  for (size_t i = k->first[f]; i < k->first[f + 1]; i++) {
    cut |= k->regions[i].cut;
    records |= k->job->store.blocks[k->regions[i].block].head.starts > 0;
  }
  if (!cut) return copy_whole(k, f, err);
  nd_cutter *c = NULL;
  ND_TRY(path_of(&path, k, f, err));
  nd_status status = nd_cutter_open(&c, file->real, path, records, threads, err);
  for (size_t i = k->first[f]; i < k->first[f + 1] && status == ND_OK; i++) {
    size_t block = k->regions[i].block;
    status = nd_hooks_check(k->job->hooks, err);
    if (status == ND_OK) status = load_cuts(k, w, block, f, err);
    if (status == ND_OK) status = load_starts(k, w, block, f, err);
    if (status == ND_OK)
      status = nd_cutter_apply(c, w->cuts, w->cut_n, (const uint64_t *)(const void *)w->starts.p,
                               w->starts.n / 8, err);
  }
  uint64_t bytes = 0;
  if (status == ND_OK)
    status = nd_cutter_close(&bytes, c, err);
  else
    nd_cutter_abandon(c);
  if (status == ND_OK && bytes) status = nd_sums_file(&k->out->sum[f], path, err);
  if (status == ND_OK && !bytes) {
    k->out->written[f] = false;
    status = nd_io_unlink(path, err);
  }
  nd_free(path);
  return status;
}

static bool is_large(const keeper *k, uint32_t f) {
  return k->job->walk.files[f].size > LARGE_COMPRESSED;
}

/* A job is a region of a plain file, or (as its first region) a small compressed file. */
static nd_status copy_job(void *context, unsigned worker, uint64_t job, nd_error *err) {
  keeper *k = context;
  if (job-- == 0) return k->beside(k->context, err);
  const region *r = &k->regions[job];
  struct worker *w = &k->workers[worker];
  if (worker == 0) ND_TRY(nd_run_report(k->job, "write", job, k->n, err));
  ND_TRY(nd_hooks_check(k->job->hooks, err));
  if (!k->compressed[r->file]) return copy_region(k, w, job, err);
  if (job != k->first[r->file] || is_large(k, r->file)) return ND_OK;
  return copy_compressed(k, w, r->file, 1, err);
}

/* Creates the file and its directories, and reserves its disk space. */
static nd_status make_file(keeper *k, uint32_t f, uint64_t size, nd_error *err) {
  char *path = NULL;
  nd_file_info info;
  ND_TRY(nd_io_probe(&info, k->job->walk.files[f].real, err));
  ND_TRY(path_of(&path, k, f, err));
  char *slash = strrchr(path, '/');
  *slash = '\0';
  nd_status status = nd_io_mkdirs(path, err);
  *slash = '/';
  int fd = -1;
  const mode_t mode = info.exists && k->job->walk.files[f].real == k->job->walk.files[f].path
                          ? (info.mode & 0666) | 0200
                          : 0666;
  if (status == ND_OK) {
    const int flags = O_WRONLY | O_CREAT | (k->out->again ? O_TRUNC : O_EXCL);
    status = nd_io_open(&fd, path, flags, mode, err);
    if (status != ND_OK && nd_io_probe(&info, path, NULL) == ND_OK && info.exists)
      status = nd_fail(err, ND_ERR_STATE,
                       "cannot write %s: on its file system this is the name of two inputs, such "
                       "as names that differ only in case; choose another output directory",
                       path);
  }
  if (status == ND_OK) {
    /* Writing into reserved space is several times faster on ext4.  The size stays 0, so a crash
     * cannot leave zeros for bytes that were never written. */
    bool again;
    (void)(size && nd_io_reserve(&again, fd, 0, size));
    status = nd_io_close(fd, path, err);
  }
  k->out->written[f] = status == ND_OK;
  nd_free(path);
  return status;
}

static nd_status make_sum(keeper *k, uint32_t f, nd_error *err) {
  const size_t begin = k->first[f], n = k->first[f + 1] - begin;
  ND_TRY(nd_region_sum_new(&k->sums[f], n, err));
  for (size_t i = 0; i < n; i++) {
    const region *r = &k->regions[begin + i];
    nd_region_sum_place(k->sums[f], i, r->out_at, r->end - r->begin - r->dropped);
  }
  return ND_OK;
}

static nd_status place_file(keeper *k, uint32_t f, nd_error *err) {
  const nd_input_file *file = &k->job->walk.files[f];
  size_t begin = k->first[f], end = k->first[f + 1];
  uint64_t dropped = 0, at = 0;
  bool cut = false;
  nd_stream *s = NULL;
  for (size_t i = begin; i < end; i++) {
    dropped += k->regions[i].dropped;
    cut |= k->regions[i].cut;
  }
  if (begin == end) { /* the file has no document: it is kept unchanged */
    nd_sum none;
    nd_sum_begin(&none);
    k->out->sum[f].sum = nd_sum_value(&none);
    ND_TRY(make_file(k, f, 0, err));
    return file->size ? copy_whole(k, f, err) : ND_OK;
  }
  nd_status status = nd_stream_open(&s, file->real, err);
  if (status == ND_OK) k->compressed[f] = nd_stream_packing(s) != ND_PACKING_NONE;
  nd_stream_close(s);
  /* A file that could not be read was rejected, and there is nothing to keep. */
  if (status == ND_ERR_MEMORY || (status != ND_OK && k->read[f])) return status;
  if (k->compressed[f]) return make_file(k, f, 0, err);
  /* A file that was a single, dropped document is not written at all. */
  if (cut && dropped >= k->regions[end - 1].end) return ND_OK;
  for (size_t i = begin; i < end; i++) {
    region *r = &k->regions[i];
    r->out_at = at;
    at += r->end - r->begin - r->dropped;
  }
  if (end - begin > 1) ND_TRY(make_sum(k, f, err));
  k->out->sum[f].bytes = at;
  return make_file(k, f, at, err);
}

/* Checks that the inputs are unchanged, since kept documents are copied from them.  Inputs that
 * were missing from the start were rejected, and are skipped. */
static nd_status check_inputs(const keeper *k, nd_error *err) {
  const nd_walk *walk = &k->job->walk;
  for (size_t i = 0; i < walk->n; i++) {
    const nd_input_file *f = &walk->files[i];
    if (f->real != f->path || !k->read[i]) continue; /* spooled by this run, or not read */
    nd_file_info info;
    ND_TRY(nd_io_probe(&info, f->path, err));
    if (!info.exists || info.size != f->size || info.mtime_ns != f->mtime_ns)
      return nd_fail(err, ND_ERR_STATE,
                     "%s has changed while it was being read; run again with --resume never",
                     f->path);
  }
  return ND_OK;
}

/* Sets the checksums of files written in regions; the others are set already. */
static void take_sums(keeper *k) {
  for (uint32_t f = 0; f < k->job->walk.inputs; f++)
    if (k->sums[f]) k->out->sum[f].sum = nd_region_sum_value(k->sums[f]);
}

static nd_status write_all(keeper *k, nd_error *err) {
  const nd_run *j = k->job;
  ND_TRY(make_regions(k, err));
  ND_TRY(check_inputs(k, err)); /* before copying, which would fail on a changed file */
  ND_TRY(nd_threads_run(j->settings.threads, k->n, measure_region, k, err));
  for (uint32_t f = 0; f < j->walk.inputs; f++) ND_TRY(place_file(k, f, err));
  ND_TRY(nd_threads_run(j->settings.threads, k->n + 1, copy_job, k, err));
  for (uint32_t f = 0; f < j->walk.n; f++) {
    if (!k->compressed[f] || !is_large(k, f)) continue;
    ND_TRY(copy_compressed(k, &k->workers[0], f, j->settings.threads, err));
  }
  take_sums(k);
  return check_inputs(k, err); /* again, for changes during the copy */
}

void nd_kept_clear(nd_kept *k) {
  nd_free(k->written);
  nd_free(k->sum);
  *k = (nd_kept){0};
}

nd_status nd_kept_write(nd_kept *out, nd_run *j, const uint32_t *centre, const char *dir,
                        nd_kept_beside beside, void *context, nd_error *err) {
  keeper k = {.job = j,
              .centre = centre,
              .dir = dir,
              .beside = beside,
              .context = context,
              .out = out,
              .early = strcmp(j->options->sync, "no") != 0};
  unsigned threads = j->settings.threads;
  k.first = nd_calloc(j->walk.n + 1, sizeof *k.first);
  k.compressed = nd_calloc(j->walk.n, sizeof *k.compressed);
  k.read = nd_calloc(j->walk.n, sizeof *k.read);
  k.sums = nd_calloc(j->walk.n, sizeof *k.sums);
  k.workers = nd_calloc(threads, sizeof *k.workers);
  out->written = nd_calloc(j->walk.n, sizeof *out->written);
  out->sum = nd_calloc(j->walk.n, sizeof *out->sum);
  nd_status status = nd_io_mkdirs(dir, err);
  if (!k.first || !k.compressed || !k.read || !k.sums || !k.workers || !out->written || !out->sum)
    status = nd_fail_memory(err, j->walk.n * sizeof *k.first);
  if (status == ND_OK) status = write_all(&k, err);
  for (unsigned i = 0; k.workers && i < threads; i++) {
    nd_free(k.workers[i].all);
    nd_free(k.workers[i].owner);
    nd_free(k.workers[i].files);
    nd_free(k.workers[i].columns);
    nd_buf_clear(&k.workers[i].rejects);
    nd_buf_clear(&k.workers[i].starts);
  }
  for (size_t i = 0; k.sums && i < j->walk.n; i++) nd_region_sum_free(k.sums[i]);
  nd_free(k.workers);
  nd_free(k.regions);
  nd_free(k.first);
  nd_free(k.compressed);
  nd_free(k.read);
  nd_free(k.sums);
  return status;
}
