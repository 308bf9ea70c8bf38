/* Writes runs without near-duplicates in a second pass; see trec_run.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"
#include "base/writer.h"
#include "input/line_list.h"
#include "store/workdir.h"
#include "study/nikkhoo/trec_run.h"

typedef struct filter {
  nd_writer *writer;
  uint64_t *rank; /* per line of the file: its new rank + 1, or 0 if dropped */
  uint64_t lines; /* upper bound on the lines of the file */
  nd_buf line;
  uint64_t removed;
} filter;

/* Writes the line with a new fourth word. */
static nd_status take_line(void *context, nd_str line, uint64_t number, nd_error *err) {
  filter *f = context;
  nd_str rest = line, word = {0};
  int words = 0;
  while (words < 4 && nd_line_word(&word, &rest)) words++;
  if (words < 4) return ND_OK; /* a blank line */
  if (number > f->lines || !f->rank[number]) {
    f->removed++;
    return ND_OK;
  }
  f->line.n = 0;
  ND_TRY(nd_buf_append(&f->line, line.p, (size_t)(word.p - line.p), err));
  ND_TRY(nd_buf_printf(&f->line, err, "%" PRIu64, f->rank[number] - 1));
  ND_TRY(nd_buf_append(&f->line, rest.p, rest.n, err));
  ND_TRY(nd_buf_append(&f->line, "\n", 1, err));
  return nd_writer_put(f->writer, f->line.p, f->line.n, err);
}

/* Computes the new ranks of a run; they start like the original ones, at 0 or 1. */
static nd_status number_lines(filter *f, const nd_trec *t, uint32_t run, nd_near *near,
                              int64_t threshold, nd_error *err) {
  const nd_trec_run *r = &t->runs[run];
  uint32_t *document = nd_malloc((r->n + 1) * sizeof *document);
  uint8_t *keep = nd_malloc(r->n + 1);
  for (size_t i = 0; i < r->n; i++) {
    if (r->results[i].line > f->lines) f->lines = r->results[i].line;
  }
  f->rank = nd_calloc(f->lines + 1, sizeof *f->rank);
  nd_status status = ND_OK;
  if (!document || !keep || !f->rank)
    status = nd_fail_memory(err, (f->lines + 1) * sizeof *f->rank);
  for (size_t i = 0; i < t->run_topic_n && status == ND_OK; i++) {
    const nd_run_topic *rt = &t->run_topics[i];
    if (rt->run != run) continue;
    size_t m = rt->end - rt->begin;
    const nd_trec_line *of = r->results + rt->begin;
    uint64_t next = 1;
    for (size_t k = 0; k < m; k++) {
      document[k] = of[k].document;
      if (of[k].rank == 0) next = 0;
    }
    nd_near_filter(keep, near, document, m, threshold);
    for (size_t k = 0; k < m; k++) {
      if (keep[k]) f->rank[of[k].line] = ++next;
    }
  }
  nd_free(document);
  nd_free(keep);
  return status;
}

/* Builds the output path of a run, DIR/NAME. */
static nd_status place_of(char **out, const char *path, const char *directory, nd_error *err) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  char name[512];
  size_t n =
      (size_t)snprintf(name, sizeof name, "%s", base); /* it fits, since the run was opened */
  if (n > 3 && strcmp(name + n - 3, ".gz") == 0) name[n - 3] = '\0';
  if (n > 4 && strcmp(name + n - 4, ".zst") == 0) name[n - 4] = '\0';
  if (strcmp(name, "summary.json") == 0 || strcmp(name, ".neardup") == 0)
    return nd_fail(
        err, ND_ERR_USAGE,
        "the run %s cannot be filtered: the directory needs a file named %s; rename the run", path,
        name);
  return nd_path_join(out, directory, name, err);
}

static nd_status filter_run(uint64_t *removed, const nd_trec *t, uint32_t run, nd_near *near,
                            int64_t threshold, const char *to, nd_error *err) {
  filter f = {0};
  nd_status status = number_lines(&f, t, run, near, threshold, err);
  if (status == ND_OK) status = nd_writer_open(&f.writer, to, err);
  if (status == ND_OK) {
    status = nd_line_list_read(t->runs[run].path, t->hooks, take_line, &f, err);
    if (status == ND_OK)
      status = nd_writer_close(f.writer, false, err);
    else
      nd_writer_abandon(f.writer);
  }
  *removed += f.removed;
  nd_free(f.rank);
  nd_buf_clear(&f.line);
  return status;
}

nd_status nd_trec_filter(uint64_t *removed, const nd_trec *t, nd_near *near, int64_t threshold,
                         const char *directory, nd_error *err) {
  char **to = nd_calloc(t->run_n + 1, sizeof *to);
  if (!to) return nd_fail_memory(err, (t->run_n + 1) * sizeof *to);
  nd_status status = nd_io_mkdirs(directory, err);
  for (uint32_t i = 0; i < t->run_n && status == ND_OK; i++) {
    if (strcmp(t->runs[i].path, "-") == 0)
      status = nd_fail(err, ND_ERR_USAGE,
                       "a run from standard input cannot be filtered: it is "
                       "read twice; save it to a file");
    if (status == ND_OK) status = place_of(&to[i], t->runs[i].path, directory, err);
    for (uint32_t k = 0; k < i && status == ND_OK; k++) {
      if (strcmp(to[i], to[k]) == 0)
        status = nd_fail(err, ND_ERR_USAGE, "%s and %s would be written to the same file",
                         t->runs[k].path, t->runs[i].path);
    }
  }
  for (uint32_t i = 0; i < t->run_n && status == ND_OK; i++)
    status = filter_run(removed, t, i, near, threshold, to[i], err);
  for (size_t i = 0; i < t->run_n; i++) nd_free(to[i]);
  nd_free(to);
  return status;
}
