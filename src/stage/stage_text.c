/* Reading texts again, and comparing them; see neardup/stage.h. */
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "stage/stage_work.h"
#include "verify/verify.h"

/* A file whose documents are read again. */
typedef struct again {
  nd_stage *stage;
  const nd_input_file *file;
  const nd_format *format;
  int fd;
  nd_buf raw;
} again;

static nd_status read_row(again *a, const nd_image *i, uint32_t row, nd_error *err) {
  uint64_t offset = nd_image_wide(i, ND_COL_OFFSET)[row];
  size_t n = (size_t)nd_image_wide(i, ND_COL_LENGTH)[row];
  const char *path = a->file->path;
  a->raw.n = 0;
  ND_TRY(nd_buf_reserve(&a->raw, n, err));
  ND_TRY(nd_io_pread_full(a->fd, a->raw.p, n, offset, path, err));
  nd_str raw = nd_line_of((nd_str){a->raw.p, n});
  nd_read read;
  nd_error local;
  nd_status status = nd_signer_read(&read, a->stage->signer, a->format, raw, &local);
  if (status == ND_ERR_MEMORY) {
    nd_error_pass(err, &local);
    return status;
  }
  bool same = status == ND_OK;
  if (same) {
    nd_str text = nd_buf_str(&read.tokens->text);
    XXH128_hash_t digest =
        XXH3_128bits_withSecret(text.p, text.n, a->stage->secret, sizeof a->stage->secret);
    const uint64_t now[2] = {digest.low64, digest.high64};
    same = memcmp(now, nd_image_wide(i, ND_COL_DIGEST) + 2 * (size_t)row, sizeof now) == 0;
  }
  if (!same)
    return nd_fail(err, ND_ERR_STATE, "%s has changed while it was being read; run again", path);
  return nd_buf_append(&a->stage->out, read.tokens->text.p, read.tokens->text.n, err);
}

static nd_status read_again(uint64_t *ends, nd_stage *s, const nd_image *i, const nd_intake *plan,
                            const uint32_t *rows, size_t n, nd_error *err) {
  if (!plan || i->head.range_file >= plan->walk.n)
    return nd_fail(err, ND_ERR_STATE, "a block has no texts here, and its file is unknown");
  again a = {.stage = s, .file = &plan->walk.files[i->head.range_file], .fd = -1};
  for (uint32_t t = 0; t < nd_feed_tasks(plan->feed) && !a.format; t++) {
    const nd_task *task = nd_feed_task(plan->feed, t);
    if (task->kind == ND_TASK_RANGE && task->file == i->head.range_file) a.format = task->format;
  }
  if (!a.format)
    return nd_fail(err, ND_ERR_STATE, "%s has changed while it was being read; run again",
                   a.file->path);
  nd_status status = nd_io_open(&a.fd, a.file->real, O_RDONLY, 0, err);
  for (size_t k = 0; k < n && status == ND_OK; k++) {
    status = rows[k] < i->head.docs ? read_row(&a, i, rows[k], err)
                                    : nd_fail(err, ND_ERR_DATA, "a block has no row %u", rows[k]);
    ends[k] = s->out.n;
  }
  if (a.fd >= 0) close(a.fd);
  nd_buf_clear(&a.raw);
  return status;
}

nd_status nd_stage_texts(nd_str *texts, uint64_t *ends, nd_stage *s, const nd_stored_block *block,
                         nd_error *err) {
  const uint32_t *rows = block->rows;
  const size_t n = block->row_n;
  const nd_str stored = block->texts;
  nd_image i;
  ND_TRY(nd_image_open(&i, s, block->image, err));
  s->out.n = 0;
  if (i.head.raw) {
    ND_TRY(read_again(ends, s, &i, block->plan, rows, n, err));
  } else {
    const uint32_t *end = nd_image_narrow(&i, ND_COL_TEXT_END);
    uint64_t need = i.head.docs ? end[i.head.docs - 1] : 0;
    if (stored.n != need || XXH3_64bits(stored.p, stored.n) != block->texts_sum)
      return nd_fail(err, ND_ERR_DATA,
                     "a part of the job is damaged (the texts of a block fail their checksum); "
                     "remove the job's work directory and run again");
    for (size_t k = 0; k < n; k++) {
      if (rows[k] >= i.head.docs)
        return nd_fail(err, ND_ERR_DATA, "a block has no row %u", rows[k]);
      uint32_t from = rows[k] ? end[rows[k] - 1] : 0;
      ND_TRY(nd_buf_append(&s->out, stored.p + from, end[rows[k]] - from, err));
      ends[k] = s->out.n;
    }
  }
  *texts = nd_buf_str(&s->out);
  return ND_OK;
}

nd_status nd_stage_evidence(nd_str *out, uint64_t *ends, nd_stage *s, const nd_stored_block *block,
                            nd_error *err) {
  const uint32_t *rows = block->rows;
  const size_t n = block->row_n;
  const size_t each = s->settings.row.total * sizeof(uint64_t);
  nd_str texts = {"", 0};
  bool with_texts = nd_settings_use_texts(&s->settings);
  if (with_texts) ND_TRY(nd_stage_texts(&texts, ends, s, block, err));
  *out = texts;
  if (each == 0) return ND_OK;
  nd_image i;
  ND_TRY(nd_image_open(&i, s, block->image, err));
  const char *sketch = (const char *)nd_image_wide(&i, ND_COL_SKETCH);
  uint64_t from = 0;
  s->evidence.n = 0;
  for (size_t k = 0; k < n; k++) {
    if (rows[k] >= i.head.docs) return nd_fail(err, ND_ERR_DATA, "a block has no row %u", rows[k]);
    uint64_t to = with_texts ? ends[k] : 0;
    ND_TRY(nd_buf_append(&s->evidence, sketch + rows[k] * each, each, err));
    ND_TRY(nd_buf_append(&s->evidence, texts.p + from, to - from, err));
    ends[k] = s->evidence.n;
    from = to;
  }
  *out = nd_buf_str(&s->evidence);
  return ND_OK;
}

static nd_status find_on_shelf(nd_str *out, const nd_shelf *t, uint32_t document, nd_error *err) {
  size_t low = 0, high = t->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (t->document[middle] < document)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == t->n || t->document[low] != document || t->text[low].n < t->row_bytes)
    return nd_fail(err, ND_ERR_STATE, "the text of document %u was not provided", document);
  *out = t->text[low];
  return ND_OK;
}

nd_status nd_shelf_fetch(nd_buf *out, void *context, uint32_t document, nd_error *err) {
  const nd_shelf *t = context;
  nd_str found;
  ND_TRY(find_on_shelf(&found, t, document, err));
  out->n = 0;
  return nd_buf_append(out, found.p + t->row_bytes, found.n - t->row_bytes, err);
}

static nd_status fetch_row(uint64_t *out, void *context, uint32_t document, nd_error *err) {
  const nd_shelf *t = context;
  nd_str found;
  ND_TRY(find_on_shelf(&found, t, document, err));
  memcpy(out, found.p, t->row_bytes);
  return ND_OK;
}

nd_status nd_stage_verify(uint64_t *values, nd_stage *s, const nd_comparison *comparison,
                          nd_error *err) {
  const uint64_t *pairs = comparison->pairs;
  const size_t n = comparison->n;
  const nd_document_texts *evidence = &comparison->evidence;
  const nd_settings *set = &s->settings;
  nd_shelf on = {evidence->document, evidence->text, evidence->n,
                 set->row.total * sizeof(uint64_t)};
  nd_text_source source = {
      .settings = set, .fetch = nd_shelf_fetch, .fetch_row = fetch_row, .fetch_context = &on};
  ND_TRY(nd_array_grow(&s->items, &s->item_cap, n, sizeof *s->items, err));
  for (size_t i = 0; i < n; i++) s->items[i] = (nd_item){pairs[i], 0};
  ND_TRY(
      nd_verify_list(s->items, n, &source, comparison->all || set->verify == ND_VERIFY_NONE, err));
  for (size_t i = 0; i < n; i++) values[i] = s->items[i].value;
  return ND_OK;
}
