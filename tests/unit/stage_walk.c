#include "stage_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/workdir.h"

enum { WALK_DOCUMENTS = 512, WALK_BLOCKS = 16, WALK_PAIRS = 1 << 16 };

typedef struct walk_place { /* a few runs */
  nd_buf run[WALK_BLOCKS];
  size_t n;
} walk_place;

typedef struct stage_walker {
  nd_stage *stage;
  nd_intake *plan;
  nd_settle *settle;
  nd_stage_facts facts;
  nd_stage_block head[WALK_BLOCKS];
  nd_buf image[WALK_BLOCKS], texts[WALK_BLOCKS];
  uint32_t first[WALK_BLOCKS];
  size_t blocks;
  uint32_t documents;
  uint32_t same[WALK_DOCUMENTS], position[WALK_DOCUMENTS], sizes[WALK_DOCUMENTS];
  uint64_t rank[WALK_DOCUMENTS];
  nd_buf text[WALK_DOCUMENTS], evidence[WALK_DOCUMENTS], id[WALK_DOCUMENTS];
  uint64_t pairs[WALK_PAIRS], kinds[WALK_PAIRS], asked[WALK_PAIRS], values[WALK_PAIRS];
  uint64_t n; /* pairs */
  walk_place place[WALK_PLACES];
  nd_spread *spread, *other;
} stage_walker;

static nd_status too_large(nd_error *e) {
  return nd_fail(e, ND_ERR_STATE, "the walk has no room for that many");
}

static nd_status walk_keep(nd_buf *to, nd_str from, nd_error *e) {
  to->n = 0;
  return nd_buf_append(to, from.p, from.n, e);
}

static nd_status walk_read(stage_walker *w, nd_error *e) {
  for (uint32_t t = 0; t < nd_intake_task_count(w->plan); t++) {
    nd_reader *r;
    ND_TRY(nd_reader_open(
        &r, w->stage,
        &(nd_reader_request){.plan = w->plan, .begin = t, .end = t + 1, .keep_texts = 1}, e));
    nd_status status;
    for (int more = 1;;) {
      nd_stage_block *b = &w->head[w->blocks];
      status = nd_reader_next(&more, b, r, e);
      if (status != ND_OK || !more) break;
      status = walk_keep(&w->image[w->blocks], b->image, e);
      if (status == ND_OK) status = walk_keep(&w->texts[w->blocks], b->texts, e);
      if (status != ND_OK) break;
      w->first[w->blocks++] = w->documents;
      w->documents += b->docs;
      if (w->blocks >= WALK_BLOCKS || w->documents >= WALK_DOCUMENTS) status = too_large(e);
      if (status != ND_OK) break;
    }
    nd_reader_close(r);
    ND_TRY(status);
  }
  return ND_OK;
}

/* Every document's text and id; NULL in a raw block: it is read again. */
static nd_status walk_texts(stage_walker *w, nd_error *e) {
  const char *paths[4];
  for (size_t i = 0; i < nd_intake_file_count(w->plan); i++)
    paths[i] = nd_intake_file(w->plan, i).path;
  for (size_t b = 0; b < w->blocks; b++) {
    for (uint32_t row = 0; row < w->head[b].docs; row++) {
      uint64_t end;
      nd_str out;
      uint32_t d = w->first[b] + row;
      ND_TRY(nd_stage_texts(&out, &end, w->stage,
                            &(nd_stored_block){.image = nd_buf_str(&w->image[b]),
                                               .texts = nd_buf_str(&w->texts[b]),
                                               .texts_sum = w->head[b].texts_sum,
                                               .plan = w->plan,
                                               .rows = &row,
                                               .row_n = 1},
                            e));
      ND_TRY(walk_keep(&w->text[d], out, e));
      ND_TRY(nd_stage_evidence(&out, &end, w->stage,
                               &(nd_stored_block){.image = nd_buf_str(&w->image[b]),
                                                  .texts = nd_buf_str(&w->texts[b]),
                                                  .texts_sum = w->head[b].texts_sum,
                                                  .plan = w->plan,
                                                  .rows = &row,
                                                  .row_n = 1},
                               e));
      ND_TRY(walk_keep(&w->evidence[d], out, e));
      ND_TRY(nd_stage_ids(&out, &end, w->stage,
                          &(nd_stored_block){.image = nd_buf_str(&w->image[b]),
                                             .paths = paths,
                                             .lines = 0,
                                             .rows = &row,
                                             .row_n = 1},
                          e));
      ND_TRY(walk_keep(&w->id[d], out, e));
    }
  }
  return ND_OK;
}

/* What a spread holds, place by place. */
static nd_status walk_take(stage_walker *w, nd_spread *spread, uint32_t places, nd_error *e) {
  for (uint32_t p = 0; p < places; p++) {
    nd_str run;
    ND_TRY(nd_spread_take(&run, spread, p, e));
    if (!run.n) continue;
    if (w->place[p].n >= WALK_BLOCKS) return too_large(e);
    ND_TRY(walk_keep(&w->place[p].run[w->place[p].n++], run, e));
  }
  return ND_OK;
}

static size_t walk_runs(nd_str *out, walk_place *p) {
  size_t n = p->n;
  for (size_t i = 0; i < n; i++) out[i] = nd_buf_str(&p->run[i]);
  p->n = 0;
  return n;
}

static nd_status walk_fresh(stage_walker *w, uint32_t places, unsigned a, unsigned b, nd_error *e) {
  nd_spread_free(w->spread);
  nd_spread_free(w->other);
  w->spread = w->other = NULL;
  ND_TRY(nd_spread_new(&w->spread, places, a, e));
  return nd_spread_new(&w->other, 1, b, e);
}

static nd_status walk_copies(stage_walker *w, nd_error *e) {
  nd_str runs[WALK_BLOCKS], out, ids;
  ND_TRY(walk_fresh(w, 1, 8, 4, e));
  for (size_t b = 0; b < w->blocks; b++) {
    uint8_t tokens[WALK_DOCUMENTS];
    nd_str image = nd_buf_str(&w->image[b]);
    ND_TRY(nd_stage_digests(w->spread, w->other, w->stage,
                            &(nd_stored_block){.image = image, .first = w->first[b]}, e));
    ND_TRY(nd_stage_ranks(w->rank + w->first[b], tokens, w->stage, image, e));
    for (uint32_t i = 0; i < w->head[b].docs; i++)
      w->same[w->first[b] + i] = tokens[i] ? w->first[b] + i : UINT32_MAX;
  }
  ND_TRY(nd_spread_take(&ids, w->other, 0, e));
  ND_TRY(nd_stage_repeated(&out, w->stage, &ids, ids.n > 0, e));
  ND_TRY(walk_take(w, w->spread, 1, e));
  size_t n = walk_runs(runs, &w->place[0]);
  ND_TRY(nd_stage_copies(&out, w->stage, runs, n, e));
  for (size_t i = 0; i < out.n / 8; i++) {
    uint32_t pair[2];
    memcpy(pair, out.p + 8 * i, 8);
    w->same[pair[0]] = pair[1];
  }
  return ND_OK;
}

/* The items of a run become the walk's pairs and kinds. */
static nd_status walk_items(stage_walker *w, nd_str run, nd_error *e) {
  w->n = 0;
  if (!run.n) return ND_OK;
  ND_TRY(nd_run_count(&w->n, run, e));
  if (w->n >= WALK_PAIRS) return too_large(e);
  return nd_run_items(w->pairs, w->kinds, run, e);
}

static nd_status walk_keys(stage_walker *w, nd_error *e) {
  nd_str runs[WALK_BLOCKS], run;
  nd_stage_buckets stats = {0};
  ND_TRY(walk_fresh(w, w->facts.keys + 1, w->facts.key_bytes, 1, e));
  for (size_t b = 0; b < w->blocks; b++)
    ND_TRY(nd_stage_keys(
        w->spread, w->stage,
        &(nd_keys_request){
            .image = nd_buf_str(&w->image[b]), .position = w->position + w->first[b], .ranges = 1},
        e));
  if (w->facts.keys > WALK_PLACES) return too_large(e);
  ND_TRY(walk_take(w, w->spread, w->facts.keys, e));
  for (uint32_t p = 0; p < w->facts.keys; p++) {
    size_t n = walk_runs(runs, &w->place[p]);
    ND_TRY(nd_stage_group(
        w->other, &stats, w->stage,
        &(nd_group_request){.kind = p, .runs = {runs, n}, .positions = w->documents}, e));
  }
  ND_TRY(nd_spread_take(&run, w->other, 0, e));
  nd_buf kept = {0};
  nd_status status = walk_keep(&kept, run, e);
  nd_str edges = nd_buf_str(&kept);
  if (status == ND_OK && edges.n)
    status = nd_stage_merge(&run, w->stage, &(nd_runs){&edges, 1}, ND_MERGE_LEAST, e);
  if (status == ND_OK) status = walk_items(w, run, e);
  nd_buf_clear(&kept);
  return status;
}

/* The run of the one place of a spread, its equal keys added up. */
static nd_status walk_summed(nd_str *out, stage_walker *w, nd_spread *from, nd_error *e) {
  nd_str runs[WALK_BLOCKS];
  ND_TRY(walk_take(w, from, 1, e));
  size_t n = walk_runs(runs, &w->place[0]);
  return nd_stage_merge(out, w->stage, &(nd_runs){runs, n}, ND_MERGE_SUM, e);
}

static nd_status walk_exact(stage_walker *w, nd_error *e) {
  nd_str runs[WALK_BLOCKS], out, texts[WALK_DOCUMENTS];
  uint32_t document[WALK_DOCUMENTS], sizes[WALK_DOCUMENTS];
  size_t n = 0;
  for (uint32_t d = 0; d < w->documents; d++) {
    if (w->same[d] != d) continue;
    texts[n] = nd_buf_str(&w->text[d]);
    document[n++] = d;
  }
  nd_buf kept = {0};
  nd_status status = ND_OK;
  if (w->facts.sct) {
    ND_TRY(walk_fresh(w, 1, 4, 4, e));
    ND_TRY(nd_stage_census(w->spread, w->stage, texts, n, e));
    ND_TRY_GOTO(walk_summed(&out, w, w->spread, e), done);
    ND_TRY_GOTO(walk_keep(&kept, out, e), done);
    ND_TRY_GOTO(nd_stage_common(&out, w->stage, nd_buf_str(&kept), e), done);
    ND_TRY_GOTO(walk_keep(&kept, out, e), done);
    ND_TRY_GOTO(nd_stage_leave_out(w->stage, (const uint64_t *)(const void *)kept.p, kept.n / 8, e),
                done);
  }
  ND_TRY_GOTO(walk_fresh(w, 1, 8, 4, e), done);
  ND_TRY_GOTO(
      nd_stage_prints(w->spread, sizes, w->stage, &(nd_document_texts){document, texts, n}, e),
      done);
  for (size_t i = 0; i < n; i++) w->sizes[document[i]] = sizes[i];
  ND_TRY_GOTO(walk_take(w, w->spread, 1, e), done);
  n = walk_runs(runs, &w->place[0]);
  ND_TRY_GOTO(nd_stage_expand(w->other, w->stage, &(nd_runs){runs, n}, w->documents, e), done);
  ND_TRY_GOTO(walk_summed(&out, w, w->other, e), done);
  ND_TRY_GOTO(walk_keep(&kept, out, e), done);
  ND_TRY_GOTO(nd_stage_judge(&out, w->stage, nd_buf_str(&kept),
                             &(nd_document_sizes){w->sizes, w->documents}, e),
              done);
  ND_TRY_GOTO(walk_items(w, out, e), done);
done:
  nd_buf_clear(&kept);
  return status;
}

static nd_status walk_verify(uint64_t *values, stage_walker *w, const uint64_t *pairs, size_t n,
                             int all, nd_error *e) {
  nd_str texts[WALK_DOCUMENTS];
  uint32_t document[WALK_DOCUMENTS];
  for (uint32_t d = 0; d < w->documents; d++) {
    texts[d] = nd_buf_str(&w->evidence[d]);
    document[d] = d;
  }
  return nd_stage_verify(
      values, w->stage,
      &(nd_comparison){
          .pairs = pairs, .n = n, .evidence = {document, texts, w->documents}, .all = all},
      e);
}

static int walk_rising(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

/* Counted candidates by position, as those of the bands are. */
static void walk_reorder(stage_walker *w) {
  for (uint64_t i = 0; i < w->n; i++) {
    uint64_t a = w->position[w->pairs[i] >> 32], b = w->position[(uint32_t)w->pairs[i]];
    w->pairs[i] = a < b ? a << 32 | b : b << 32 | a;
    w->kinds[i] = 0;
  }
  qsort(w->pairs, w->n, sizeof *w->pairs, walk_rising);
}

static nd_status walk_settle(stage_walker *w, const char *tmp, nd_error *e) {
  ND_TRY(nd_settle_new(&w->settle, w->stage,
                       &(nd_settle_request){.same = w->same,
                                            .rank = w->facts.ranked ? w->rank : NULL,
                                            .documents = w->documents,
                                            .tmp = tmp},
                       e));
  nd_settle_positions(w->position, w->settle);
  if (w->facts.exact) {
    ND_TRY(walk_exact(w, e));
    if (w->facts.direct) return nd_settle_direct(w->settle, w->pairs, w->kinds, w->n, e);
    walk_reorder(w);
  } else {
    ND_TRY(walk_keys(w, e));
  }
  memcpy(w->asked, w->pairs, w->n * sizeof *w->pairs);
  nd_settle_documents(w->asked, w->n, w->settle);
  ND_TRY(walk_verify(w->values, w, w->asked, w->n, 0, e));
  return nd_settle_verify(w->settle, &(nd_candidates){w->pairs, w->kinds, w->values, w->n}, e);
}

static nd_status walk_cluster(stage_walker *w, nd_error *e) {
  const uint64_t *missing;
  size_t n;
  uint32_t roots[WALK_DOCUMENTS];
  ND_TRY(nd_settle_pairs(w->pairs, w->values, w->settle, e));
  ND_TRY(nd_stage_components(roots, w->documents, w->pairs, nd_settle_pair_count(w->settle), e));
  ND_TRY(nd_settle_cluster(&missing, &n, w->settle, w->facts.components ? roots : NULL, e));
  ND_TRY(walk_verify(w->values, w, missing, n, 1, e));
  return nd_settle_finish(w->settle, w->values, n, e);
}

/* The page, with parts as the blocks tell them: files have numbers here. */
static nd_status walk_report(stage_walker *w, const nd_summary *counts, const uint8_t *dropped,
                             const char *dir, nd_error *e) {
  const uint32_t *document;
  nd_str text[WALK_DOCUMENTS], lines;
  nd_buf parts = {0}, rejected = {0};
  const char *paths[4] = {"a", "b", "c", "d"};
  nd_settle_page page = {.summary = counts, .text = text};
  nd_status status = nd_settle_report_texts(&document, &page.texts, w->settle, e);
  page.text_document = document;
  for (size_t i = 0; status == ND_OK && i < page.texts; i++)
    text[i] = nd_buf_str(&w->text[document[i]]);
  for (size_t b = 0; status == ND_OK && b < w->blocks; b++) {
    nd_str image = nd_buf_str(&w->image[b]);
    status = nd_stage_parts(&lines, w->stage, image, dropped + w->first[b], e);
    if (status == ND_OK) status = nd_buf_append(&parts, lines.p, lines.n, e);
    if (status == ND_OK)
      status = nd_stage_rejects(&lines, w->stage,
                                &(nd_stored_block){.image = image, .paths = paths, .lines = 0}, e);
    if (status == ND_OK) status = nd_buf_append(&rejected, lines.p, lines.n, e);
  }
  page.parts = nd_buf_str(&parts);
  page.rejected = nd_buf_str(&rejected);
  if (status == ND_OK) status = nd_settle_write_report(w->settle, &page, dir, e);
  nd_buf_clear(&parts);
  nd_buf_clear(&rejected);
  return status;
}

static nd_status walk_write(stage_walker *w, const char *dir, nd_error *e) {
  uint32_t document[WALK_DOCUMENTS], centre[WALK_DOCUMENTS];
  uint64_t value[WALK_DOCUMENTS];
  uint8_t wanted[WALK_DOCUMENTS], dropped[WALK_DOCUMENTS];
  nd_str id[WALK_DOCUMENTS], image[WALK_BLOCKS];
  size_t n = 0;
  char path[400], work[400];
  nd_settle_wanted(wanted, w->settle);
  for (uint32_t d = 0; d < w->documents; d++) {
    if (!wanted[d]) continue;
    document[n] = d;
    id[n++] = nd_buf_str(&w->id[d]);
  }
  snprintf(path, sizeof path, "%s/pairs.tsv", dir);
  ND_TRY(nd_settle_write_pairs(w->settle, path, &(nd_document_texts){document, id, n}, 1, e));
  snprintf(path, sizeof path, "%s/clusters.tsv", dir);
  ND_TRY(nd_settle_write_clusters(w->settle, path, &(nd_document_texts){document, id, n}, e));
  nd_summary counts = {0};
  nd_settle_counts(&counts, w->settle);
  snprintf(path, sizeof path, "%s/summary.json", dir);
  ND_TRY(nd_settle_write_summary(w->settle, &counts, path, e));
  nd_settle_result(centre, value, w->settle);
  for (uint32_t d = 0; d < w->documents; d++) dropped[d] = centre[d] != d;
  for (size_t b = 0; b < w->blocks; b++) {
    uint64_t gone;
    image[b] = nd_buf_str(&w->image[b]);
    ND_TRY(nd_stage_cut_bytes(&gone, w->stage, image[b], dropped + w->first[b], e));
  }
  ND_TRY(walk_report(w, &counts, dropped, dir, e));
  snprintf(path, sizeof path, "%s/kept", dir);
  snprintf(work, sizeof work, "%s/work", dir);
  mkdir(path, 0777);
  mkdir(work, 0777);
  ND_TRY(nd_stage_keep(w->stage,
                       &(nd_keep_request){.plan = w->plan,
                                          .images = image,
                                          .image_n = w->blocks,
                                          .dropped = dropped,
                                          .directory = path,
                                          .work = work},
                       e));
  return nd_remove_tree(work, e);
}

nd_status stage_walk(nd_summary *counts, const char *const *inputs, size_t n, const char *dir,
                     const nd_options *o, nd_error *e) {
  static stage_walker walker; /* large */
  stage_walker *w = &walker;
  static char secret[ND_STAGE_SECRET];
  memset(w, 0, sizeof *w);
  memset(secret, 42, sizeof secret);
  mkdir(dir, 0777); /* where sorting may go, too */
  nd_status status = nd_stage_new(&w->stage, o, 1, secret, e);
  if (status == ND_OK) nd_stage_about(&w->facts, w->stage);
  if (status == ND_OK)
    status = nd_intake_new(&w->plan, w->stage,
                           &(nd_intake_request){.inputs = inputs, .input_n = n, .avoid = NULL}, e);
  if (status == ND_OK && nd_intake_problem_count(w->plan)) {
    const char *reason;
    const char *where = nd_intake_problem(&reason, w->plan, 0);
    status = nd_fail(e, ND_ERR_IO, "%s: %s", where, reason);
  }
  if (status == ND_OK) status = walk_read(w, e);
  *counts = (nd_summary){.documents = w->documents};
  for (size_t b = 0; b < w->blocks; b++) counts->rejected += w->head[b].rejects;
  if (status == ND_OK) status = walk_texts(w, e);
  if (status == ND_OK) status = walk_copies(w, e);
  if (status == ND_OK) status = walk_settle(w, dir, e);
  if (status == ND_OK) status = walk_cluster(w, e);
  if (status == ND_OK) status = walk_write(w, dir, e);
  nd_spread_free(w->spread);
  nd_spread_free(w->other);
  nd_settle_free(w->settle);
  nd_intake_free(w->plan);
  nd_stage_free(w->stage);
  for (size_t i = 0; i < WALK_BLOCKS; i++) nd_buf_clear(&w->image[i]), nd_buf_clear(&w->texts[i]);
  for (size_t i = 0; i < WALK_DOCUMENTS; i++)
    nd_buf_clear(&w->text[i]), nd_buf_clear(&w->evidence[i]), nd_buf_clear(&w->id[i]);
  for (size_t p = 0; p < WALK_PLACES; p++) {
    for (size_t i = 0; i < WALK_BLOCKS; i++) nd_buf_clear(&w->place[p].run[i]);
  }
  return status;
}
