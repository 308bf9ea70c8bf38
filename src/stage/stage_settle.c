/* The last, central step of a distributed run; see neardup/stage.h.
 *
 * The remaining data is small (numbers and values), and its processing is sequential: the rounds of
 * the verifier decide which star edges are skipped, and greedy stars follow an order.  So one
 * machine does it, with the functions of an ordinary run. */
#include "cluster/union_find.h"
#include "result/lines.h"
#include "result/summary.h"
#include "settings/describe.h"
#include "stage/stage_end.h"
#include "store/workdir.h"

nd_status nd_settle_new(nd_settle **out, const nd_stage *s, const nd_settle_request *request,
                        nd_error *err) {
  const uint32_t *same = request->same;
  const uint64_t *rank = request->rank, documents = request->documents;
  const char *tmp = request->tmp;
  *out = NULL;
  if (documents >= UINT32_MAX)
    return nd_fail(
        err, ND_ERR_LIMIT,
        "%llu documents are more than one run can number (4,294,967,294); split the input",
        (unsigned long long)documents);
  nd_settle *t = nd_calloc(1, sizeof *t);
  if (!t) return nd_fail_memory(err, sizeof *t);
  t->options = s->options;
  nd_run *j = &t->job;
  nd_run_elsewhere(j, &s->settings, &t->options, &t->summary, documents);
  t->tmp = nd_malloc(strlen(tmp) + 1);
  j->found.same = nd_malloc(documents * sizeof *same);
  nd_status status =
      j->found.same && t->tmp ? ND_OK : nd_fail_memory(err, documents * sizeof *same);
  if (status == ND_OK) {
    strcpy(t->tmp, tmp);
    if (documents) memcpy(j->found.same, same, documents * sizeof *same);
    for (uint64_t d = 0; d < documents && status == ND_OK; d++) {
      if (same[d] != ND_NO_DOCUMENT && (same[d] > d || same[same[d]] != same[d]))
        status =
            nd_fail(err, ND_ERR_DATA, "document %llu duplicates one that is not a first occurrence",
                    (unsigned long long)d);
      j->found.copies += same[d] != d && same[d] != ND_NO_DOCUMENT;
    }
  }
  if (status == ND_OK && rank)
    status = nd_order_make(&j->found.order, rank, j->found.same, (uint32_t)documents, err);
  if (status != ND_OK) {
    nd_settle_free(t);
    return status;
  }
  *out = t;
  return ND_OK;
}

void nd_settle_free(nd_settle *t) {
  if (!t) return;
  nd_chooser_clear(&t->chooser);
  nd_clusters_clear(&t->clusters);
  nd_run_clear(&t->job);
  nd_free(t->size);
  nd_free(t->missing);
  nd_free(t->asked);
  nd_free(t->tmp);
  nd_free(t);
}

void nd_settle_positions(uint32_t *out, const nd_settle *t) {
  const nd_found *f = &t->job.found;
  for (uint32_t d = 0; d < t->job.store.documents; d++)
    out[d] = f->same[d] == d ? nd_order_position(&f->order, d) : UINT32_MAX;
}

void nd_settle_documents(uint64_t *pairs, size_t n, const nd_settle *t) {
  const nd_order *o = &t->job.found.order;
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(pairs[i]);
    pairs[i] = nd_pair_key(nd_order_document(o, p.a), nd_order_document(o, p.b));
  }
}

static bool pair_exists(uint64_t key, uint64_t documents) {
  return nd_pair_of(key).a < documents && nd_pair_of(key).b < documents;
}

nd_status nd_stage_components(uint32_t *root, uint64_t documents, const uint64_t *pairs, size_t n,
                              nd_error *err) {
  nd_union_start(root, (uint32_t)documents);
  for (size_t i = 0; i < n; i++) {
    if (!pair_exists(pairs[i], documents))
      return nd_fail(err, ND_ERR_DATA, "pair %zu names a document that does not exist", i);
    nd_union_join(root, nd_pair_of(pairs[i]).a, nd_pair_of(pairs[i]).b);
  }
  nd_union_flatten(root, (uint32_t)documents);
  return ND_OK;
}

/* Judges pairs by known values: the rounds request some of the pairs, in ascending order. */
typedef struct known {
  const uint64_t *pairs, *values;
  size_t at;
} known;

static nd_status judge_known(void *context, nd_item *items, size_t n, nd_error *err) {
  known *k = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    while (k->pairs[k->at] < items[i].key) k->at++;
    items[i].value = k->values[k->at];
  }
  return ND_OK;
}

static uint64_t pair_of_kind(uint64_t kind) {
  return kind == ND_STAGE_STAR ? ND_PAIR_STAR : ND_PAIR_FULL;
}

static uint64_t as_it_is(uint64_t value) {
  return value;
}

static nd_status add_items(nd_sorter *to, const uint64_t *keys, const uint64_t *values,
                           uint64_t (*meant)(uint64_t value), size_t n, nd_error *err) {
  enum { ROOM = 1 << 12 };
  nd_item *items = nd_malloc(ROOM * sizeof *items);
  if (!items) return nd_fail_memory(err, ROOM * sizeof *items);
  nd_status status = ND_OK;
  for (size_t at = 0; at < n && status == ND_OK;) {
    size_t some = n - at < ROOM ? n - at : ROOM;
    for (size_t i = 0; i < some; i++) items[i] = (nd_item){keys[at + i], meant(values[at + i])};
    status = nd_sorter_add(to, items, some, err);
    at += some;
  }
  nd_free(items);
  return status == ND_OK ? nd_sorter_finish(to, err) : status;
}

nd_status nd_settle_verify(nd_settle *t, const nd_candidates *candidates, nd_error *err) {
  const uint64_t *pairs = candidates->pairs, *values = candidates->values;
  const size_t n = candidates->n;
  nd_run *j = &t->job;
  const uint64_t documents = j->store.documents,
                 share = nd_budget(j->settings.memory, ND_SHARE_PAIRS);
  for (size_t i = 0; i < n; i++) {
    if (!pair_exists(pairs[i], documents) || (i && pairs[i] <= pairs[i - 1]))
      return nd_fail(err, ND_ERR_DATA, "candidate pair %zu is out of order or of range", i);
  }
  ND_TRY(nd_sorter_new(&j->found.pairs, share, t->tmp, true, err));
  ND_TRY(add_items(j->found.pairs, pairs, candidates->kinds, pair_of_kind, n, err));
  known k = {pairs, values, 0};
  nd_verify_request request = {.documents = documents,
                               .memory = share,
                               .tmp = t->tmp,
                               .judge = judge_known,
                               .judge_context = &k};
  ND_TRY(nd_verify_by(&j->verified, &j->found, &request, err));
  nd_sorter_free(j->found.pairs);
  j->found.pairs = NULL;
  return ND_OK;
}

nd_status nd_settle_direct(nd_settle *t, const uint64_t *pairs, const uint64_t *values, size_t n,
                           nd_error *err) {
  nd_run *j = &t->job;
  ND_TRY(nd_sorter_new(&j->verified.sorted, nd_budget(j->settings.memory, ND_SHARE_PAIRS), t->tmp,
                       true, err));
  j->verified.pairs = n;
  return add_items(j->verified.sorted, pairs, values, as_it_is, n, err);
}

uint64_t nd_settle_pair_count(const nd_settle *t) {
  return t->job.verified.pairs;
}

typedef struct unpacking {
  uint64_t *pairs, *values;
} unpacking;

static nd_status unpack_some(void *context, nd_item *items, size_t n, nd_error *err) {
  unpacking *u = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    *u->pairs++ = items[i].key;
    *u->values++ = items[i].value;
  }
  return ND_OK;
}

nd_status nd_settle_pairs(uint64_t *pairs, uint64_t *values, nd_settle *t, nd_error *err) {
  unpacking u = {pairs, values};
  return nd_sorter_each(t->job.verified.sorted, unpack_some, &u, err);
}

nd_status nd_settle_cluster(const uint64_t **missing, size_t *n, nd_settle *t,
                            const uint32_t *roots, nd_error *err) {
  nd_item *items = NULL;
  *missing = NULL;
  *n = 0;
  for (uint64_t d = 0; roots && d < t->job.store.documents; d++)
    if (roots[d] >= t->job.store.documents)
      return nd_fail(err, ND_ERR_DATA, "a component's root does not exist");
  t->chooser.roots = roots;
  ND_TRY(nd_survivors_group(&t->clusters, &t->chooser, &t->job, t->tmp, err));
  if (t->job.settings.cluster != ND_CLUSTER_COMPONENTS) return ND_OK;
  nd_status status = nd_survivors_missing(&items, &t->missing_n, &t->clusters, err);
  if (status == ND_OK && t->missing_n) {
    t->missing = nd_malloc(t->missing_n * sizeof *t->missing);
    if (!t->missing) status = nd_fail_memory(err, t->missing_n * sizeof *t->missing);
    for (size_t i = 0; i < t->missing_n && status == ND_OK; i++) t->missing[i] = items[i].key;
  }
  nd_free(items);
  *missing = t->missing;
  *n = t->missing_n;
  return status;
}

nd_status nd_settle_finish(nd_settle *t, const uint64_t *values, size_t n, nd_error *err) {
  if (n != t->missing_n)
    return nd_fail(err, ND_ERR_USAGE, "%zu similarities were requested, %zu given", t->missing_n,
                   n);
  nd_clusters *c = &t->clusters;
  for (size_t i = 0; i < n; i++) c->value[nd_pair_of(t->missing[i]).b] = values[i];
  nd_survivors_copies(c, &t->chooser);
  nd_summary *s = &t->summary;
  ND_TRY(nd_survivors_count(&t->size, s, c, err));
  s->kept = c->n - s->dropped;
  t->clustered = true;
  return ND_OK;
}

void nd_settle_result(uint32_t *centre, uint64_t *value, const nd_settle *t) {
  const nd_clusters *c = &t->clusters;
  for (uint32_t i = 0; i < c->n; i++) {
    centre[i] = c->centre[i];
    value[i] =
        c->centre[i] == i ? nd_similarity_of_copies(t->job.settings.similarity) : c->value[i];
  }
}

static nd_status want_some(void *context, nd_item *items, size_t n, nd_error *err) {
  uint8_t *wanted = context;
  (void)err;
  for (size_t i = 0; i < n; i++)
    wanted[nd_pair_of(items[i].key).a] = wanted[nd_pair_of(items[i].key).b] = 1;
  return ND_OK;
}

void nd_settle_wanted(uint8_t *wanted, const nd_settle *t) {
  const nd_run *j = &t->job;
  const uint32_t *same = j->found.same;
  uint64_t n = j->store.documents;
  nd_error ignored;
  memset(wanted, 0, n);
  nd_status status = nd_sorter_each(j->verified.sorted, want_some, wanted, &ignored);
  /* If pairs could not be read, lists more ids than needed; the error is reported by the next
   * reader. */
  if (status != ND_OK) memset(wanted, 1, n);
  for (uint64_t d = 0; d < n; d++) {
    if (same[d] != ND_NO_DOCUMENT && same[d] != d) wanted[d] = wanted[same[d]] = 1;
    if (t->clustered && t->size[t->clusters.centre[d]] >= 2) wanted[d] = 1;
  }
}

typedef struct writing {
  nd_settle *settle;
  int collapse;
} writing;

static nd_status fill_pairs(nd_lines *l, void *context, nd_error *err) {
  writing *w = context;
  nd_run *j = &w->settle->job;
  return w->collapse ? nd_lines_pairs_collapsed(l, j, err)
                     : nd_lines_pairs_all(l, j, w->settle->tmp, err);
}

static nd_status fill_clusters(nd_lines *l, void *context, nd_error *err) {
  const writing *w = context;
  return nd_lines_clusters(l, &w->settle->job, &w->settle->clusters, w->settle->size, err);
}

static nd_status write_list(nd_settle *t, const char *path, nd_lines_fill fill, int collapse,
                            const nd_document_texts *ids, nd_error *err) {
  static const uint32_t none = 0;
  writing w = {t, collapse};
  nd_ids_free(t->job.ids);
  t->job.ids = NULL;
  ND_TRY(nd_ids_given(&t->job.ids, ids->document ? ids->document : &none, ids->text, ids->n, err));
  const char *slash = strrchr(path, '/');
  if (!slash) return nd_lines_file(".", path, fill, &w, err);
  char *dir = nd_malloc((size_t)(slash - path) + 2);
  if (!dir) return nd_fail_memory(err, strlen(path));
  memcpy(dir, path, (size_t)(slash - path) + 1);
  dir[slash - path + (slash == path)] = '\0';
  nd_status status = nd_lines_file(dir, slash + 1, fill, &w, err);
  nd_free(dir);
  return status;
}

nd_status nd_settle_write_pairs(nd_settle *t, const char *path, const nd_document_texts *ids,
                                int collapse, nd_error *err) {
  t->summary.pairs = 0;
  return write_list(t, path, fill_pairs, collapse, ids, err);
}

nd_status nd_settle_write_clusters(nd_settle *t, const char *path, const nd_document_texts *ids,
                                   nd_error *err) {
  if (!t->clustered) return nd_fail(err, ND_ERR_USAGE, "there are no clusters yet");
  return write_list(t, path, fill_clusters, 1, ids, err);
}

void nd_settle_counts(nd_summary *out, const nd_settle *t) {
  const nd_summary *s = &t->summary;
  out->pairs = s->pairs;
  out->candidates = t->job.verified.candidates;
  out->skipped = t->job.verified.skipped;
  out->copies = t->job.found.copies;
  out->dropped = s->dropped;
  out->kept = s->kept;
  out->clusters = s->clusters;
  out->largest_cluster = s->largest_cluster;
}

nd_summary nd_settle_summary(const nd_settle *t, const nd_summary *summary) {
  nd_summary copy = *summary;
  const nd_settings *s = &t->job.settings;
  copy.permutations = s->permutations;
  copy.bands = s->bands;
  copy.rows = s->rows;
  copy.predicted_recall = s->bands ? s->predicted_recall : 1;
  copy.verify = nd_verify_name(s->verify);
  copy.sampled = s->sample.on;
  nd_describe(&copy, s);
  copy.max_document = s->input.max_document;
  return copy;
}

nd_status nd_settle_write_summary(const nd_settle *t, const nd_summary *summary, const char *path,
                                  nd_error *err) {
  nd_run j = t->job;
  nd_summary copy = nd_settle_summary(t, summary);
  j.summary = &copy;
  return nd_summary_write(&j, path, NULL, 0, err);
}
