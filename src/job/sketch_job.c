/* Creating, merging and showing sketch files; see neardup/sketchfile.h. */
#include "neardup/sketchfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "input/line_list.h"
#include "job/job.h"
#include "output/tsv.h"
#include "settings/method.h"
#include "sketchfile/sketch_file.h"
#include "store/workdir.h"

static nd_status fill_chunk(nd_sketch_chunk *c, nd_run *j, size_t block, nd_buf *name,
                            nd_error *err) {
  const nd_store *s = &j->store;
  const nd_block_ref *b = &s->blocks[block];
  ND_TRY(nd_sketch_chunk_reserve(c, b->head.docs, j->settings.row.total, err));
  c->docs = b->head.docs;
  c->ids.n = 0;
  ND_TRY(nd_store_column(s, block, ND_COL_DIGEST, sizeof *c->digest, c->digest, err));
  ND_TRY(nd_store_column(s, block, ND_COL_SHINGLES, sizeof *c->shingles, c->shingles, err));
  ND_TRY(nd_store_rows(c->rows, s, block, err));
  for (uint32_t i = 0; i < c->docs; i++) {
    name->n = 0;
    ND_TRY(nd_ids_append(name, j->ids, b->first + i, err));
    ND_TRY(nd_tsv_unescape(&c->ids, nd_buf_str(name), err)); /* ids in the file are not escaped */
    /* untaken: more than 2^31 things */
    if (c->ids.n > UINT32_MAX)
      return nd_fail(err, ND_ERR_LIMIT, "the ids of one block exceed 4 GiB");
    c->id_end[i] = (uint32_t)c->ids.n;
  }
  return ND_OK;
}

/* Hashes the deferred words, which identify the collection that the weights were computed from. */
static nd_status hash_deferred(uint64_t *collection, const nd_store *s, nd_error *err) {
  uint64_t deferred[512];
  for (uint64_t d = 0; s->has_deferred && d < s->documents;) {
    size_t n = s->documents - d < 512 ? (size_t)(s->documents - d) : 512;
    ND_TRY(nd_store_deferred(deferred, s, (uint32_t)d, n, err));
    for (size_t i = 0; i < n; i++)
      *collection = (*collection ^ deferred[i]) * 0x9e3779b97f4a7c15u + (*collection >> 31);
    d += n;
  }
  return ND_OK;
}

static nd_status write_file(nd_run *j, nd_output *file, nd_error *err) {
  nd_buf parameters = {0}, name = {0};
  nd_sketch_chunk chunk = {0};
  nd_sketch_writer *w = NULL;
  const nd_store *s = &j->store;
  uint64_t collection = s->documents;
  nd_status status = hash_deferred(&collection, s, err);
  if (status == ND_OK) status = nd_sketch_parameters(&parameters, &j->settings, collection, err);
  if (status == ND_OK)
    status = nd_sketch_create(&w, file, nd_buf_str(&parameters), j->settings.row.total, err);
  for (size_t i = 0; i < s->block_n && status == ND_OK; i++) {
    if (s->blocks[i].head.docs == 0) continue;
    status = fill_chunk(&chunk, j, i, &name, err);
    if (status == ND_OK) status = nd_sketch_put(w, &chunk, err);
    if (status == ND_OK) status = nd_run_report(j, "write", s->blocks[i].first, s->documents, err);
  }
  if (status == ND_OK)
    status = nd_sketch_finish(w, err);
  else
    nd_sketch_abandon(w);
  nd_buf_clear(&parameters);
  nd_buf_clear(&name);
  nd_sketch_chunk_clear(&chunk);
  return status;
}

static nd_status refuse_method(const char *name, nd_error *err) {
  char names[200] = "";
  size_t n = 0;
  for (const nd_method *const *m = nd_methods; *m && n < sizeof names; m++)
    if ((*m)->judge)
      n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", (*m)->name);
  return nd_fail(err, ND_ERR_USAGE, "--method %s has no sketches; use one of: %s", name, names);
}

/* Keeps every sketch that the method uses, including those it could compute from texts instead. */
static nd_status keep_sketches(nd_run *j, nd_error *err) {
  nd_settings *s = &j->settings;
  if (s->bands) nd_settings_keep(s, s->candidates->sketch);
  bool any = false;
  for (unsigned i = 0; i < s->row.n; i++) any |= s->row.part[i].sketch->from != ND_FROM_URL;
  if (!any) return refuse_method(j->options->method, err);
  s->bands = s->rows = 0; /* bands are computed when the file is used */
  return ND_OK;
}

static nd_status sketch(nd_run *j, const char *const *inputs, size_t n, const char *work,
                        nd_output *file, nd_error *err) {
  char *spool = NULL;
  ND_TRY(keep_sketches(j, err));
  ND_TRY(nd_path_join(&spool, work, "stdin", err));
  nd_status status = nd_job_input(j, inputs, n, NULL, spool, err);
  nd_free(spool);
  ND_TRY(status);
  if (!j->feed)
    return nd_fail(err, ND_ERR_USAGE,
                   "%s is a sketch file already; combine sketch files with `neardup merge`",
                   j->walk.files[0].path);
  ND_TRY(nd_job_read(j, work, err));
  j->summary->kept = j->store.documents;
  ND_TRY(write_file(j, file, err));
  j->summary->write_seconds = nd_job_lap(j);
  return ND_OK;
}

nd_status nd_sketch_documents(nd_summary *out, const nd_sketch_request *request,
                              const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  const char *const *inputs = request->inputs;
  const size_t n = request->input_n;
  nd_run j;
  char *work = NULL;
  nd_status status = nd_job_open(&j, out, options, hooks, err);
  if (status == ND_OK && n == 0)
    status = nd_fail(err, ND_ERR_USAGE, "no input given; name files or directories, or -");
  const nd_output_request place = {
      .path = request->file, .kind = ND_OUTPUT_SKETCHES, .inputs = inputs, .input_n = n};
  nd_output *output = NULL;
  if (status == ND_OK) status = nd_output_open(&output, &place, options, err);
  if (status == ND_OK) status = nd_workdir_private(&work, options->tmp, err);
  if (status == ND_OK) status = sketch(&j, inputs, n, work, output, err);
  status = nd_output_close(output, status, err);
  nd_job_finish(&j);
  nd_job_close(&j);
  if (work) {
    nd_status removed = nd_remove_tree(work, status == ND_OK ? err : NULL);
    if (status == ND_OK) status = removed;
  }
  nd_free(work);
  return status;
}

/* --- merging --------------------------------------------------------------------- */

static nd_status copy_chunks(nd_sketch_writer *w, nd_sketch_reader *r, nd_sketch_chunk *chunk,
                             const nd_hooks *hooks, nd_error *err) {
  for (;;) {
    bool more;
    ND_TRY(nd_hooks_check(hooks, err));
    ND_TRY(nd_sketch_next(&more, chunk, r, err));
    if (!more) return ND_OK;
    ND_TRY(nd_sketch_put(w, chunk, err));
  }
}

nd_status nd_sketch_merge(nd_summary *out, const nd_sketch_request *request,
                          const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  const char *const *files = request->inputs;
  const size_t n = request->input_n;
  *out = (nd_summary){.files = n};
  if (n == 0)
    return nd_fail(err, ND_ERR_USAGE, "no sketch files to merge given; name at least one");
  nd_sketch_reader first = {.fd = -1};
  nd_sketch_writer *w = NULL;
  nd_sketch_chunk chunk = {0};
  const nd_output_request place = {
      .path = request->file, .kind = ND_OUTPUT_SKETCHES, .inputs = files, .input_n = n};
  nd_output *output = NULL;
  nd_status status = nd_output_open(&output, &place, options, err);
  if (status == ND_OK) status = nd_sketch_open(&first, files[0], files[0], err);
  if (status == ND_OK)
    status = nd_sketch_create(&w, output, nd_buf_str(&first.parameters), first.head.words, err);
  for (size_t i = 0; i < n && status == ND_OK; i++) {
    nd_sketch_reader r = {.fd = -1};
    status = nd_sketch_open(&r, files[i], files[i], err);
    if (status == ND_OK) status = nd_sketch_same(&first, &r, err);
    if (status == ND_OK) status = copy_chunks(w, &r, &chunk, hooks, err);
    out->documents += r.head.documents;
    out->bytes += r.head.bytes;
    nd_sketch_close(&r);
  }
  if (status == ND_OK)
    status = nd_sketch_finish(w, err);
  else
    nd_sketch_abandon(w);
  status = nd_output_close(output, status, err);
  nd_sketch_close(&first);
  nd_sketch_chunk_clear(&chunk);
  return status;
}

/* --- showing ------------------------------------------------------------------------ */

static nd_status show(nd_buf *out, nd_sketch_reader *r, const nd_hooks *hooks, nd_error *err) {
  const nd_sketch_head *h = &r->head;
  nd_sketch_chunk chunk = {0};
  uint64_t documents = 0, empty = 0;
  bool more = true;
  nd_status status = ND_OK;
  while (status == ND_OK && more) {
    status = nd_hooks_check(hooks, err);
    if (status == ND_OK) status = nd_sketch_next(&more, &chunk, r, err);
    for (uint32_t i = 0; status == ND_OK && i < chunk.docs; i++) empty += chunk.shingles[i] == 0;
    documents += chunk.docs;
  }
  nd_sketch_chunk_clear(&chunk);
  ND_TRY(status);
  if (documents != h->documents)
    return nd_fail(err, ND_ERR_DATA, "%s: the sketch file is damaged (number of documents)",
                   r->name);
  ND_TRY(nd_buf_printf(out, err, "version\t%d\ndocuments\t%" PRIu64 "\nempty\t%" PRIu64 "\n",
                       ND_SKETCH_VERSION, documents, empty));
  ND_TRY(nd_buf_printf(out, err, "bytes\t%" PRIu64 "\nbytes-per-sketch\t%" PRIu32 "\n", h->bytes,
                       h->words * 8));
  /* "name value" → "name TAB value"; a foreign file may contain any bytes */
  nd_str rest = nd_buf_str(&r->parameters), line, name;
  while (nd_line_field(&line, &rest, '\n') && line.n) {
    if (!nd_line_field(&name, &line, ' ')) break;
    ND_TRY(nd_tsv_append(out, name, err));
    ND_TRY(nd_buf_append(out, "\t", 1, err));
    if (line.p) ND_TRY(nd_tsv_append(out, line, err));
    ND_TRY(nd_buf_append(out, "\n", 1, err));
  }
  return ND_OK;
}

nd_status nd_sketch_info(const char *file, const nd_sink *sink, const nd_hooks *hooks,
                         nd_error *err) {
  nd_sketch_reader r = {.fd = -1};
  nd_buf text = {0};
  nd_status status = nd_sketch_open(&r, file, file, err);
  if (status == ND_OK) status = show(&text, &r, hooks, err);
  if (status == ND_OK) status = sink->write(sink->context, text.p, text.n, err);
  nd_sketch_close(&r);
  nd_buf_clear(&text);
  return status;
}
