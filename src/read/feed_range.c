/* Reads one range of a line-based file with pread, without copies.
 *
 * A line belongs to the range in which it begins.  A range is read in one piece if its lines fit
 * into a batch, otherwise as needed; only a line that crosses the end of the range needs more. */
#include "read/feed_range.h"

#include <fcntl.h>
#include <unistd.h>

enum {
  MORE = 1 << 18,       /* bytes per read */
  LOOK_FIRST = 1 << 12, /* in search of a range's first record: most begin within so many bytes */
};

nd_status nd_batch_reject(nd_batch *b, const nd_raw *where, nd_str reason, nd_error *err) {
  ND_TRY(nd_array_grow(&b->raws, &b->cap, b->n + 1, sizeof *b->raws, err));
  nd_raw raw = *where;
  raw.rejected = true;
  raw.at = b->reasons.n;
  raw.n = reason.n;
  ND_TRY(nd_buf_append(&b->reasons, reason.p, reason.n, err));
  b->raws[b->n++] = raw;
  return ND_OK;
}

typedef struct range {
  int fd;
  const char *name;
  uint64_t size;  /* size of the file */
  uint64_t start; /* file offset of b->bytes.p[0] */
} range;

/* Appends up to n bytes of the file to those in the batch. */
static nd_status read_more(nd_batch *b, const range *r, size_t n, nd_error *err) {
  uint64_t at = r->start + b->bytes.n;
  if (n > r->size - at) n = (size_t)(r->size - at);
  ND_TRY(nd_buf_reserve(&b->bytes, n, err));
  ND_TRY(nd_io_pread_full(r->fd, b->bytes.p + b->bytes.n, n, at, r->name, err));
  b->bytes.n += n;
  return ND_OK;
}

/* Finds the end of the line (after its newline) that contains file offset `from`, in constant
 * memory: the line may be too long to keep. */
static nd_status find_line_end(uint64_t *end, nd_batch *b, const range *r, uint64_t from,
                               nd_error *err) {
  ND_TRY(nd_buf_reserve(&b->look, MORE, err));
  size_t step = LOOK_FIRST;
  for (uint64_t at = from; at < r->size; step = MORE) {
    size_t n = r->size - at < step ? (size_t)(r->size - at) : step;
    ND_TRY(nd_io_pread_full(r->fd, b->look.p, n, at, r->name, err));
    const char *newline = memchr(b->look.p, '\n', n);
    if (newline) {
      *end = at + (uint64_t)(newline - b->look.p) + 1;
      return ND_OK;
    }
    at += n;
  }
  *end = r->size;
  return ND_OK;
}

/* Blank by the rule of nd_frame_line, so that a compressed file gives the same records. */
static bool is_blank(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != ' ' && !(p[i] >= '\t' && p[i] <= '\r')) return false;
  }
  return true;
}

/* Splits the batch's bytes into lines; *next_part is the offset at which the next part begins. */
static nd_status cut_lines(nd_batch *b, uint64_t *next_part, const nd_task *task, const range *r,
                           const nd_input_options *o, nd_error *err) {
  const bool skip_blank = !task->format->blank_lines;
  size_t at = 0;
  while (r->start + at < task->end && b->lines < ND_BATCH_RECORDS) {
    const char *newline = memchr(b->bytes.p + at, '\n', b->bytes.n - at);
    /* One byte more than --max-document, which may be the "\r" of a line end. */
    while (!newline && r->start + b->bytes.n < r->size && b->bytes.n - at <= o->max_document + 1) {
      size_t seen = b->bytes.n;
      ND_TRY(read_more(b, r, MORE, err));
      newline = memchr(b->bytes.p + seen, '\n', b->bytes.n - seen);
    }
    nd_raw raw = {.format = task->format,
                  .file = task->file,
                  .line = (uint32_t)++b->lines,
                  .offset = r->start + at,
                  .at = at};
    size_t next = newline ? (size_t)(newline - b->bytes.p) + 1 : b->bytes.n;
    raw.n = next - at - (newline != NULL);
    raw.length = next - at;
    if (raw.n && b->bytes.p[at + raw.n - 1] == '\r') raw.n--;
    if (raw.n > o->max_document) {
      uint64_t end = r->start + next;
      if (!newline) ND_TRY(find_line_end(&end, b, r, end, err));
      raw.length = end - raw.offset;
      nd_error reason;
      nd_fail(&reason, ND_ERR_LIMIT, "longer than --max-document (%llu bytes)",
              (unsigned long long)o->max_document);
      ND_TRY(nd_batch_reject(b, &raw, nd_str_of(reason.message), err));
      if (!newline) { /* the end of the line is not in the batch */
        *next_part = end;
        return ND_OK;
      }
    } else if (skip_blank && is_blank(b->bytes.p + at, raw.n)) {
      b->others++;
    } else {
      ND_TRY(nd_array_grow(&b->raws, &b->cap, b->n + 1, sizeof *b->raws, err));
      b->raws[b->n++] = raw;
    }
    at = next;
  }
  *next_part = r->start + at;
  return ND_OK;
}

nd_status nd_feed_range(nd_batch *b, uint64_t *at, bool first, const nd_task *task,
                        const nd_input_file *file, const nd_input_options *o, nd_error *err) {
  range r = {.name = file->path, .size = file->size};
  b->lines_relative = true;
  b->range_file = task->file;
  ND_TRY(nd_io_open(&r.fd, file->real, O_RDONLY, 0, err));
  nd_status status = ND_OK;
  /* Starts one byte earlier, to see whether a line ends just before the range. */
  if (first && task->begin) {
    /* Stays within the range: a line of gigabytes crosses many of them. */
    range own = r;
    if (own.size > task->end) own.size = task->end;
    status = find_line_end(at, b, &own, task->begin - 1, err);
  }
  r.start = *at;
  if (status == ND_OK && r.start < task->end) {
    /* After a full batch, lines are short: reads enough for another batch. */
    uint64_t want = task->end - r.start;
    if (!first && want > MORE) want = MORE;
    status = read_more(b, &r, (size_t)want, err);
    if (status == ND_OK) status = cut_lines(b, at, task, &r, o, err);
    b->raw_bytes = *at - r.start;
  }
  close(r.fd);
  return status;
}
