/* Distributed writing of kept documents; see neardup/stage.h. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/writer.h"
#include "output/cut.h"
#include "result/kept.h"
#include "stage/stage_work.h"
#include "store/workdir.h"

/* The dropped parts of a range's block, ascending. */
typedef struct cuts {
  nd_cut *cut;
  size_t n, cap;
} cuts;

static nd_status add_cut(cuts *c, uint64_t offset, uint64_t length, nd_error *err) {
  ND_TRY(nd_array_grow(&c->cut, &c->cap, c->n + 1, sizeof *c->cut, err));
  size_t at = c->n++;
  for (; at && c->cut[at - 1].offset > offset; at--) c->cut[at] = c->cut[at - 1];
  c->cut[at] = (nd_cut){offset, length};
  return ND_OK;
}

static nd_status add_reject(void *context, uint64_t offset, uint64_t length, uint32_t file,
                            uint32_t line, nd_str reason, nd_error *err) {
  (void)file;
  (void)line;
  (void)reason;
  return add_cut(context, offset, length, err);
}

static nd_status find_cuts(cuts *c, nd_stage *s, nd_str image, const uint8_t *dropped,
                           nd_error *err) {
  nd_image i;
  ND_TRY(nd_image_open(&i, s, image, err));
  const uint64_t *offset = nd_image_wide(&i, ND_COL_OFFSET);
  const uint64_t *length = nd_image_wide(&i, ND_COL_LENGTH);
  for (uint32_t d = 0; d < i.head.docs; d++)
    if (dropped[d]) ND_TRY(add_cut(c, offset[d], length[d], err));
  return nd_image_rejects(&i, add_reject, c, err);
}

nd_status nd_stage_cut_bytes(uint64_t *out, nd_stage *s, nd_str image, const uint8_t *dropped,
                             nd_error *err) {
  cuts c = {0};
  nd_status status = find_cuts(&c, s, image, dropped, err);
  *out = 0;
  for (size_t i = 0; i < c.n; i++) *out += c.cut[i].length;
  nd_free(c.cut);
  return status;
}

nd_status nd_stage_cut(nd_stage *s, const nd_cut_request *q, nd_error *err) {
  cuts c = {0};
  int in = -1, out = -1;
  nd_status status = find_cuts(&c, s, q->image, q->dropped, err);
  if (status == ND_OK) status = nd_io_open(&in, q->from, O_RDONLY, 0, err);
  if (status == ND_OK) status = nd_io_open(&out, q->to, O_WRONLY | O_CREAT, 0666, err);
  if (status == ND_OK)
    status = nd_cut_plain(in, q->from, out, q->to, q->begin, q->end, q->at, c.cut, c.n, NULL, err);
  if (in >= 0) close(in);
  if (out >= 0) {
    nd_status closed = nd_io_close(out, q->to, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = closed;
  }
  nd_free(c.cut);
  return status;
}

static nd_status nothing_beside(void *context, nd_error *err) {
  (void)context;
  (void)err;
  return ND_OK;
}

/* Stores the blocks as a store of their own. */
static nd_status lay_down(const char *work, const nd_str *images, size_t n, nd_error *err) {
  char *path = NULL;
  nd_writer *w = NULL;
  ND_TRY(nd_path_join(&path, work, "blocks-0-0", err));
  nd_status status = nd_writer_open(&w, path, err);
  for (size_t i = 0; i < n && status == ND_OK; i++)
    status = nd_writer_put(w, images[i].p, images[i].n, err);
  if (status == ND_OK)
    status = nd_writer_close(w, false, err);
  else
    nd_writer_abandon(w);
  nd_free(path);
  return status;
}

static nd_status seal(nd_store *store, const nd_feed *feed, nd_error *err) {
  uint32_t tasks = nd_feed_tasks(feed);
  uint64_t *begin = nd_malloc(tasks * sizeof *begin);
  if (!begin) return nd_fail_memory(err, tasks * sizeof *begin);
  for (uint32_t i = 0; i < tasks; i++) begin[i] = nd_feed_task(feed, i)->begin;
  nd_status status = nd_store_seal(store, tasks, begin, err);
  nd_free(begin);
  return status;
}

nd_status nd_stage_keep(nd_stage *s, const nd_keep_request *request, nd_error *err) {
  nd_intake *p = request->plan;
  const nd_str *images = request->images;
  const size_t n = request->image_n;
  nd_summary summary = {0};
  nd_run j;
  uint32_t *centre = NULL;
  nd_kept kept = {.again = true}; /* engines may run a task again */
  for (size_t i = 0; i < n; i++)
    if (!nd_block_valid(images[i]))
      return nd_fail(err, ND_ERR_DATA, "a part of the job is damaged: a block of %zu bytes",
                     images[i].n);
  ND_TRY(lay_down(request->work, images, n, err));
  nd_run_elsewhere(&j, &s->settings, &s->options, &summary, 0);
  j.walk = p->walk;
  j.feed = p->feed;
  nd_status status = nd_store_open(&j.store, request->work, err);
  if (status == ND_OK) status = seal(&j.store, j.feed, err);
  if (status == ND_OK) {
    centre = nd_malloc((j.store.documents + 1) * sizeof *centre);
    if (!centre) status = nd_fail_memory(err, j.store.documents * sizeof *centre);
  }
  if (status == ND_OK) {
    for (uint32_t d = 0; d < j.store.documents; d++) centre[d] = d + (request->dropped[d] != 0);
    status = nd_kept_write(&kept, &j, centre, request->directory, nothing_beside, NULL, err);
  }
  nd_kept_clear(&kept);
  nd_free(centre);
  nd_store_close(&j.store);
  return status;
}
