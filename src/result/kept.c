/* Writing kept/; see kept.h.
 *
 * A plain file is cut into regions, one per block: from the block's first
 * record to the next block's.  What a block drops lies in its region, so the
 * sizes tell every region's place in the output, and threads copy them side by
 * side.  A packed file is copied from front to back: small ones side by side,
 * large ones one after another with their packing shared out. */
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
  LARGE_PACKED = 4 << 20,
  WORTH_WRITING = 1 << 20 /* bytes to have written to the disk early; smaller ones are better
                             written all at once */
};

typedef struct region {
  size_t block;
  uint32_t file;
  uint64_t begin, end; /* in the input */
  uint64_t out_at;
  uint64_t dropped; /* bytes */
  bool cut;         /* something is left out, were it of no bytes */
} region;

typedef struct keeper {
  nd_run *job;
  const uint32_t *centre;
  const char *dir;
  nd_kept_beside beside;
  void *context;
  region *regions; /* in order of file and place */
  size_t n, cap;
  size_t *first;        /* per file: its first region; files + 1 of them */
  bool *packed;         /* per file */
  bool *read;           /* per file: a document of it was read */
  nd_region_sum **sums; /* per file; NULL: it has one region, or is packed */
  nd_kept *out;
  bool early; /* written bytes go to the disk at once */
  struct member {
    size_t block;    /* + 1: whose cuts are here */
    nd_cut *all;     /* by file and place */
    uint32_t *owner; /* the file of each */
    size_t all_n, all_cap, owner_cap;
    const nd_cut *cuts; /* those of the wanted file */
    size_t cut_n;
    uint32_t *files;
    uint64_t *columns;
    size_t column_cap, file_cap;
    nd_buf rejects, starts;
  } * members;
} keeper;

static nd_status add_cut(struct member *m, uint32_t file, uint64_t offset, uint64_t length,
                         nd_error *err) {
  ND_TRY(nd_array_grow(&m->all, &m->all_cap, m->all_n + 1, sizeof *m->all, err));
  ND_TRY(nd_array_grow(&m->owner, &m->owner_cap, m->all_n + 1, sizeof *m->owner, err));
  m->all[m->all_n] = (nd_cut){offset, length};
  m->owner[m->all_n++] = file;
  return ND_OK;
}

static nd_status add_reject(void *context, const nd_reject *r, nd_error *err) {
  return add_cut(context, r->file, r->offset, r->length, err);
}

static bool comes_before(const struct member *m, size_t i, size_t j) {
  if (m->owner[i] != m->owner[j]) return m->owner[i] < m->owner[j];
  return m->all[i].offset < m->all[j].offset;
}

/* Dropped documents [0, middle) and rejects [middle, n) are in order each:
 * merges them. */
static nd_status merge_cuts(struct member *m, size_t middle, nd_error *err) {
  size_t n = m->all_n;
  if (middle == 0 || middle == n) return ND_OK;
  /* The merged list goes behind the two, then to the front. */
  ND_TRY(nd_array_grow(&m->all, &m->all_cap, 2 * n, sizeof *m->all, err));
  ND_TRY(nd_array_grow(&m->owner, &m->owner_cap, 2 * n, sizeof *m->owner, err));
  size_t i = 0, j = middle;
  for (size_t to = n; to < 2 * n; to++) {
    size_t from = j == n || (i < middle && comes_before(m, i, j)) ? i++ : j++;
    m->all[to] = m->all[from];
    m->owner[to] = m->owner[from];
  }
  memcpy(m->all, m->all + n, n * sizeof *m->all);
  memcpy(m->owner, m->owner + n, n * sizeof *m->owner);
  return ND_OK;
}

/* Everything that one block drops. */
static nd_status load_block(const keeper *k, struct member *m, size_t block, nd_error *err) {
  const nd_store *s = &k->job->store;
  const nd_block_ref *b = &s->blocks[block];
  size_t n = b->head.docs;
  m->block = 0;
  m->all_n = 0;
  ND_TRY(nd_array_grow(&m->columns, &m->column_cap, 2 * n, sizeof *m->columns, err));
  ND_TRY(nd_array_grow(&m->files, &m->file_cap, n, sizeof *m->files, err));
  bool any = false;
  for (size_t i = 0; i < n && !any; i++) any = k->centre[b->first + i] != b->first + i;
  if (any) {
    ND_TRY(nd_store_column(s, block, ND_COL_OFFSET, 8, m->columns, err));
    ND_TRY(nd_store_column(s, block, ND_COL_LENGTH, 8, m->columns + n, err));
    ND_TRY(nd_store_column(s, block, ND_COL_FILE, 4, m->files, err));
    for (size_t i = 0; i < n; i++) {
      if (k->centre[b->first + i] != b->first + i)
        ND_TRY(add_cut(m, m->files[i], m->columns[i], m->columns[n + i], err));
    }
  }
  size_t middle = m->all_n;
  ND_TRY(nd_run_block_rejects(k->job, block, &m->rejects, add_reject, m, err));
  ND_TRY(merge_cuts(m, middle, err));
  m->block = block + 1;
  return ND_OK;
}

static size_t first_of(const struct member *m, uint32_t file) {
  size_t low = 0, high = m->all_n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (m->owner[middle] < file)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The parts of `file` that one block drops, rising: m->cuts. */
static nd_status load_cuts(const keeper *k, struct member *m, size_t block, uint32_t file,
                           nd_error *err) {
  if (m->block != block + 1) ND_TRY(load_block(k, m, block, err));
  m->cut_n = 0;
  if (!m->all_n) return ND_OK;
  size_t begin = first_of(m, file);
  m->cuts = m->all + begin;
  m->cut_n = first_of(m, file + 1) - begin;
  return ND_OK;
}

static nd_status add_region(keeper *k, region r, nd_error *err) {
  ND_TRY(nd_array_grow(&k->regions, &k->cap, k->n + 1, sizeof *k->regions, err));
  k->regions[k->n++] = r;
  return ND_OK;
}

typedef struct earliest {
  uint64_t *begin; /* per file of the task; UINT64_MAX: nothing of it here */
  uint64_t *end;   /* of its last record here */
  uint32_t file, files;
} earliest;

static void note_record(earliest *e, uint32_t file, uint64_t offset, uint64_t length) {
  uint32_t i = file - e->file; /* a block has records of its task's files alone */
  if (offset < e->begin[i]) e->begin[i] = offset;
  if (offset + length > e->end[i]) e->end[i] = offset + length;
}

static nd_status note_reject(void *context, const nd_reject *r, nd_error *err) {
  (void)err;
  note_record(context, r->file, r->offset, r->length);
  return ND_OK;
}

/* The regions that one block begins. */
static nd_status block_regions(keeper *k, size_t block, earliest *e, nd_error *err) {
  const nd_store *s = &k->job->store;
  const nd_block_header *h = &s->blocks[block].head;
  const nd_task *task = nd_feed_task(k->job->feed, h->task);
  struct member *m = &k->members[0];
  size_t n = h->docs;
  ND_TRY(nd_array_grow(&m->columns, &m->column_cap, 2 * n + 1, sizeof *m->columns, err));
  ND_TRY(nd_array_grow(&m->files, &m->file_cap, n, sizeof *m->files, err));
  e->file = task->file;
  e->files = task->files;
  for (uint32_t i = 0; i < e->files; i++) {
    e->begin[i] = UINT64_MAX;
    e->end[i] = 0;
  }
  ND_TRY(nd_store_column(s, block, ND_COL_OFFSET, 8, m->columns, err));
  ND_TRY(nd_store_column(s, block, ND_COL_LENGTH, 8, m->columns + n, err));
  ND_TRY(nd_store_column(s, block, ND_COL_FILE, 4, m->files, err));
  for (size_t i = 0; i < n; i++) {
    note_record(e, m->files[i], m->columns[i], m->columns[n + i]);
    k->read[m->files[i]] = true;
  }
  ND_TRY(nd_run_block_rejects(k->job, block, &m->rejects, note_reject, e, err));
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
      /* Whatever precedes the first record (or no record at all) stays. */
      if (i == begin) k->regions[i].begin = 0;
      if (i + 1 < at) k->regions[i].end = k->regions[i + 1].begin;
      /* A file that grew while it was read has records behind its size. */
      else if (k->regions[i].end < j->walk.files[f].size)
        k->regions[i].end = j->walk.files[f].size;
    }
  }
  k->first[j->walk.n] = at;
  return ND_OK;
}

static nd_status measure_region(void *context, unsigned member, uint64_t job, nd_error *err) {
  keeper *k = context;
  region *r = &k->regions[job];
  struct member *m = &k->members[member];
  ND_TRY(load_cuts(k, m, r->block, r->file, err));
  for (size_t i = 0; i < m->cut_n; i++) r->dropped += m->cuts[i].length;
  r->cut = m->cut_n > 0;
  return ND_OK;
}

static nd_status path_of(char **out, const keeper *k, uint32_t f, nd_error *err) {
  return nd_path_join(out, k->dir, k->job->walk.files[f].name, err);
}

static nd_status copy_region(keeper *k, struct member *m, size_t number, nd_error *err) {
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
  nd_status status = load_cuts(k, m, r->block, r->file, err);
  if (status == ND_OK) status = path_of(&path, k, r->file, err);
  if (status == ND_OK) status = nd_io_open(&in, file->real, O_RDONLY, 0, err);
  if (status == ND_OK) status = nd_io_open(&out, path, O_RDWR, 0, err);
  if (status == ND_OK)
    status = nd_cut_plain(in, file->path, out, path, r->begin, r->end, r->out_at, m->cuts, m->cut_n,
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

/* Where the records of `file` begin in this block. */
static nd_status load_starts(const keeper *k, struct member *m, size_t block, uint32_t file,
                             nd_error *err) {
  const nd_block_header *h = &k->job->store.blocks[block].head;
  size_t size = (size_t)h->starts * 8;
  m->starts.n = 0;
  ND_TRY(nd_buf_reserve(&m->starts, size, err));
  uint64_t at = nd_block_column(h, ND_COLUMNS) + h->id_bytes + h->text_bytes + h->reject_bytes;
  ND_TRY(nd_store_read(&k->job->store, block, at, m->starts.p, size, err));
  uint64_t *starts = (uint64_t *)(void *)m->starts.p;
  size_t n = 0;
  bool wanted = false;
  for (size_t i = 0; i < h->starts; i++) {
    if (starts[i] & ND_START_FILE)
      wanted = starts[i] == (ND_START_FILE | file);
    else if (wanted)
      starts[n++] = starts[i];
  }
  m->starts.n = n * 8;
  return ND_OK;
}

/* Nothing was dropped: the very same bytes, packing included.  The file was made before. */
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

static nd_status copy_packed(const keeper *k, struct member *m, uint32_t f, unsigned threads,
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
    if (status == ND_OK) status = load_cuts(k, m, block, f, err);
    if (status == ND_OK) status = load_starts(k, m, block, f, err);
    if (status == ND_OK)
      status = nd_cutter_apply(c, m->cuts, m->cut_n, (const uint64_t *)(const void *)m->starts.p,
                               m->starts.n / 8, err);
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
  return k->job->walk.files[f].size > LARGE_PACKED;
}

/* A job is a region of a plain file, or (its first region) a small packed file. */
static nd_status copy_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  keeper *k = context;
  if (job-- == 0) return k->beside(k->context, err);
  const region *r = &k->regions[job];
  struct member *m = &k->members[member];
  if (member == 0) ND_TRY(nd_run_report(k->job, "write", job, k->n, err));
  ND_TRY(nd_hooks_check(k->job->hooks, err));
  if (!k->packed[r->file]) return copy_region(k, m, job, err);
  if (job != k->first[r->file] || is_large(k, r->file)) return ND_OK;
  return copy_packed(k, m, r->file, 1, err);
}

/* Makes the file (with its folders) and reserves its place on the disk. */
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
      status =
          nd_fail(err, ND_ERR_STATE,
                  "cannot write %s: its file system takes two names of the input for one, such "
                  "as those that differ only in case; choose another output directory",
                  path);
  }
  if (status == ND_OK) {
    /* Writing into reserved space is several times faster on ext4.  The size stays 0, so that a
     * crash cannot leave zeros in place of bytes that were never written. */
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
  if (begin == end) { /* no record of it is a document: it stays as it is */
    nd_sum none;
    nd_sum_begin(&none);
    k->out->sum[f].sum = nd_sum_value(&none);
    ND_TRY(make_file(k, f, 0, err));
    return file->size ? copy_whole(k, f, err) : ND_OK;
  }
  nd_status status = nd_stream_open(&s, file->real, err);
  if (status == ND_OK) k->packed[f] = nd_stream_packing(s) != ND_PACKING_NONE;
  nd_stream_close(s);
  /* What could not be read at all was rejected, and has nothing to keep. */
  if (status == ND_ERR_MEMORY || (status != ND_OK && k->read[f])) return status;
  if (k->packed[f]) return make_file(k, f, 0, err);
  /* A file that was one document and went leaves nothing behind. */
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

/* Kept documents are copied from the inputs: those must still be what was read.
 * A file that was gone before that is none of them: it was rejected. */
static nd_status check_inputs(const keeper *k, nd_error *err) {
  const nd_walk *walk = &k->job->walk;
  for (size_t i = 0; i < walk->n; i++) {
    const nd_input_file *f = &walk->files[i];
    if (f->real != f->path || !k->read[i]) continue; /* spooled by us, or not read */
    nd_file_info info;
    ND_TRY(nd_io_probe(&info, f->path, err));
    if (!info.exists || info.size != f->size || info.mtime_ns != f->mtime_ns)
      return nd_fail(err, ND_ERR_STATE,
                     "%s has changed while it was being read; run again with --resume never",
                     f->path);
  }
  return ND_OK;
}

/* The other files have theirs. */
static void take_sums(keeper *k) {
  for (uint32_t f = 0; f < k->job->walk.inputs; f++)
    if (k->sums[f]) k->out->sum[f].sum = nd_region_sum_value(k->sums[f]);
}

static nd_status write_all(keeper *k, nd_error *err) {
  const nd_run *j = k->job;
  ND_TRY(make_regions(k, err));
  ND_TRY(check_inputs(k, err)); /* so that the copying does not trip over it … */
  ND_TRY(nd_threads_run(j->settings.threads, k->n, measure_region, k, err));
  for (uint32_t f = 0; f < j->walk.inputs; f++) ND_TRY(place_file(k, f, err));
  ND_TRY(nd_threads_run(j->settings.threads, k->n + 1, copy_job, k, err));
  for (uint32_t f = 0; f < j->walk.n; f++) {
    if (!k->packed[f] || !is_large(k, f)) continue;
    ND_TRY(copy_packed(k, &k->members[0], f, j->settings.threads, err));
  }
  take_sums(k);
  return check_inputs(k, err); /* … and that it was not changed meanwhile */
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
  k.packed = nd_calloc(j->walk.n, sizeof *k.packed);
  k.read = nd_calloc(j->walk.n, sizeof *k.read);
  k.sums = nd_calloc(j->walk.n, sizeof *k.sums);
  k.members = nd_calloc(threads, sizeof *k.members);
  out->written = nd_calloc(j->walk.n, sizeof *out->written);
  out->sum = nd_calloc(j->walk.n, sizeof *out->sum);
  nd_status status = nd_io_mkdirs(dir, err);
  if (!k.first || !k.packed || !k.read || !k.sums || !k.members || !out->written || !out->sum)
    status = nd_fail_memory(err, j->walk.n * sizeof *k.first);
  if (status == ND_OK) status = write_all(&k, err);
  for (unsigned i = 0; k.members && i < threads; i++) {
    nd_free(k.members[i].all);
    nd_free(k.members[i].owner);
    nd_free(k.members[i].files);
    nd_free(k.members[i].columns);
    nd_buf_clear(&k.members[i].rejects);
    nd_buf_clear(&k.members[i].starts);
  }
  for (size_t i = 0; k.sums && i < j->walk.n; i++) nd_region_sum_free(k.sums[i]);
  nd_free(k.members);
  nd_free(k.regions);
  nd_free(k.first);
  nd_free(k.packed);
  nd_free(k.read);
  nd_free(k.sums);
  return status;
}
