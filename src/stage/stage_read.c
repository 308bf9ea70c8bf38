/* Distributed signing of files, or of rows in memory; see neardup/stage.h. */
#include <xxhash.h>

#include "stage/stage_work.h"

enum { ID_SHOWN = 100 }; /* bytes of an id in a message */

struct nd_reader {
  nd_stage *stage;
  nd_feed *feed; /* of this reader alone: a feed is read once */
  nd_batch batch;
};

nd_status nd_intake_new(nd_intake **out, const nd_stage *s, const nd_intake_request *request,
                        nd_error *err) {
  const char *const *inputs = request->inputs;
  const size_t n = request->input_n;
  const char *avoid = request->avoid;
  *out = NULL;
  nd_intake *p = nd_calloc(1, sizeof *p);
  if (!p) return nd_fail_memory(err, sizeof *p);
  nd_status status = nd_walk_inputs(&p->walk, inputs, n, avoid, NULL, err);
  if (status == ND_OK)
    status = nd_feed_new(&p->feed, &p->walk, s->settings.format, &s->settings.input, err);
  if (status != ND_OK) {
    nd_intake_free(p);
    return status;
  }
  *out = p;
  return ND_OK;
}

nd_status nd_intake_files(nd_intake **out, const nd_stage *s, const nd_stage_file *files, size_t n,
                          nd_error *err) {
  *out = NULL;
  nd_intake *p = nd_calloc(1, sizeof *p);
  if (!p) return nd_fail_memory(err, sizeof *p);
  p->borrowed = true;
  p->walk.files = nd_malloc(n * sizeof *p->walk.files);
  nd_status status = p->walk.files ? ND_OK : nd_fail_memory(err, n * sizeof *p->walk.files);
  if (status == ND_OK) {
    for (size_t i = 0; i < n; i++)
      p->walk.files[i] = (nd_input_file){files[i].path, files[i].real, files[i].name, files[i].size,
                                         files[i].mtime_ns};
    p->walk.n = p->walk.inputs = p->walk.cap = n;
    status = nd_feed_new(&p->feed, &p->walk, s->settings.format, &s->settings.input, err);
    /* Tasks are identified by number, so all machines must partition the files alike. */
    if (status == ND_OK) status = nd_feed_check_probed(p->feed, err);
  }
  if (status != ND_OK) {
    nd_intake_free(p);
    return status;
  }
  *out = p;
  return ND_OK;
}

void nd_intake_free(nd_intake *p) {
  if (!p) return;
  nd_feed_free(p->feed);
  if (p->borrowed)
    nd_free(p->walk.files);
  else
    nd_walk_clear(&p->walk);
  nd_free(p);
}

size_t nd_intake_file_count(const nd_intake *p) {
  return p->walk.n;
}
nd_stage_file nd_intake_file(const nd_intake *p, size_t i) {
  const nd_input_file *f = &p->walk.files[i];
  return (nd_stage_file){f->path, f->real, f->name, f->size, f->mtime_ns};
}
uint32_t nd_intake_task_count(const nd_intake *p) {
  return nd_feed_tasks(p->feed);
}
nd_stage_task nd_intake_task(const nd_intake *p, uint32_t i) {
  const nd_task *t = nd_feed_task(p->feed, i);
  return (nd_stage_task){t->kind == ND_TASK_RANGE, t->file, t->files, t->begin, t->end};
}
size_t nd_intake_problem_count(const nd_intake *p) {
  return p->walk.problem_n;
}
const char *nd_intake_problem(const char **reason, const nd_intake *p, size_t i) {
  *reason = p->walk.problems[i].reason;
  return p->walk.problems[i].path;
}

nd_status nd_reader_open(nd_reader **out, nd_stage *s, const nd_reader_request *request,
                         nd_error *err) {
  const nd_intake *p = request->plan;
  const uint32_t begin = request->begin, end = request->end;
  const int keep_texts = request->keep_texts;
  *out = NULL;
  nd_reader *r = nd_calloc(1, sizeof *r);
  if (!r) return nd_fail_memory(err, sizeof *r);
  r->stage = s;
  nd_status status = nd_feed_again(&r->feed, p->feed, err);
  if (status != ND_OK) {
    nd_reader_close(r);
    return status;
  }
  nd_feed_span(r->feed, begin, end);
  nd_signer_for_stage(s->signer, (nd_str){s->secret, sizeof s->secret}, keep_texts);
  *out = r;
  return ND_OK;
}

void nd_reader_close(nd_reader *r) {
  if (!r) return;
  nd_signer_watched(r->stage->signer, NULL, NULL);
  nd_feed_free(r->feed);
  nd_batch_clear(&r->batch);
  nd_free(r);
}

static void widen(nd_stage_block *out, uint64_t offset, uint64_t length) {
  if (offset < out->begin) out->begin = offset;
  if (offset + length > out->end) out->end = offset + length;
}

static nd_status widen_reject(void *context, uint64_t offset, uint64_t length, uint32_t file,
                              uint32_t line, nd_str reason, nd_error *err) {
  (void)file;
  (void)line;
  (void)reason;
  (void)err;
  widen(context, offset, length);
  return ND_OK;
}

/* Texts are passed separately from the image, because most stages do not need them. */
static nd_status hand_out(nd_stage_block *out, nd_stage *s, nd_error *err) {
  nd_block *b = &s->block;
  nd_buf texts = s->texts;
  s->texts = b->texts;
  b->texts = texts;
  b->texts.n = 0;
  ND_TRY(nd_block_finish(b, err));
  const nd_block_header *h = &b->head;
  *out = (nd_stage_block){.task = h->task,
                          .part = h->part,
                          .docs = h->docs,
                          .rejects = h->rejects,
                          .last = h->last != 0,
                          .range = h->lines_relative != 0,
                          .raw = h->raw != 0,
                          .lines = h->lines,
                          .begin = UINT64_MAX,
                          .raw_bytes = h->raw_bytes,
                          .others = h->others,
                          .empties = h->empties,
                          .tokens = h->tokens,
                          .image = nd_buf_str(&b->image),
                          .texts = nd_buf_str(&s->texts)};
  out->texts_sum = XXH3_64bits(out->texts.p, out->texts.n);
  for (uint32_t i = 0; i < h->docs; i++) widen(out, b->offset[i], b->length[i]);
  nd_image image = {*h, b->image.p};
  return nd_image_rejects(&image, widen_reject, out, err);
}

void nd_reader_watched(nd_reader *r, nd_reader_watch watch, void *context) {
  nd_signer_watched(r->stage->signer, watch, context);
}

nd_status nd_reader_read(int *more, nd_reader *r, nd_error *err) {
  bool any;
  ND_TRY(nd_feed_next(&any, &r->batch, r->feed, err));
  *more = any;
  return ND_OK;
}

nd_status nd_reader_sign(nd_stage_block *out, nd_reader *r, nd_error *err) {
  ND_TRY(nd_signer_fill(&r->stage->block, r->stage->signer, &r->batch, err));
  return hand_out(out, r->stage, err);
}

nd_status nd_reader_next(int *more, nd_stage_block *out, nd_reader *r, nd_error *err) {
  ND_TRY(nd_reader_read(more, r, err));
  return *more ? nd_reader_sign(out, r, err) : ND_OK;
}

nd_status nd_reader_skip(int *found, nd_reader *r, uint32_t file, uint64_t offset, nd_error *err) {
  nd_batch *b = &r->batch;
  nd_str reason = nd_str_of(ND_STAGE_SKIPPED);
  *found = 0;
  for (size_t i = 0; i < b->n; i++) {
    nd_raw *raw = &b->raws[i];
    if (raw->file != file || raw->offset != offset || raw->rejected) continue;
    *found = 1;
    raw->rejected = true;
    raw->at = b->reasons.n;
    raw->n = reason.n;
    return nd_buf_append(&b->reasons, reason.p, reason.n, err);
  }
  return ND_OK;
}

static nd_str string_at(const nd_str *strings, size_t i) {
  return strings && strings[i].p ? strings[i] : (nd_str){"", 0};
}

nd_status nd_stage_sign(nd_stage_block *out, nd_stage *s, const nd_block_name *name,
                        const nd_stage_rows *rows, nd_error *err) {
  const uint32_t task = name->task, part = name->part;
  nd_block *b = &s->block;
  nd_signer_start(b, s->signer, task, part);
  for (size_t i = 0; i < rows->n; i++) {
    nd_raw raw = {0};
    nd_document d = {.kind = ND_KIND_TEXT,
                     .id = string_at(rows->id, i),
                     .url = string_at(rows->url, i),
                     .time = string_at(rows->time, i),
                     .field = string_at(rows->field, i),
                     .body = string_at(rows->text, i),
                     .charset = nd_str_of("utf-8")};
    b->head.raw_bytes += d.body.n;
    if (d.body.n > s->settings.input.max_document)
      return nd_fail(err, ND_ERR_LIMIT,
                     "the text of %.*s has %zu bytes: more than --max-document, %llu",
                     (int)(d.id.n < ID_SHOWN ? d.id.n : ID_SHOWN), d.id.p, d.body.n,
                     (unsigned long long)s->settings.input.max_document);
    ND_TRY(nd_signer_add(b, s->signer, &d, &raw, err));
  }
  return hand_out(out, s, err);
}
