/* Distributed --method exact: the two-stage MapReduce of Nikkhoo 2010, section 3.1
 * (see neardup/stage.h).
 *
 *   1  document → (shingle, document); the documents of a shingle → all pairs of them
 *   2  pairs, counted → resemblance
 *
 * A shingle is represented by its fingerprint, as on one machine. */
#include "base/sorter.h"
#include "find/exact.h"
#include "similarity/similarity.h"
#include "stage/stage_work.h"
#include "store/workdir.h"
#include "text/words.h"

static const uint64_t high_mask = ~(uint64_t)UINT32_MAX;

nd_status nd_stage_prints(nd_spread *out, uint32_t *sizes, nd_stage *s,
                          const nd_document_texts *texts, nd_error *err) {
  const uint32_t *document = texts->document;
  const nd_str *text = texts->text;
  const size_t n = texts->n;
  nd_printer p = {0};
  nd_status status = ND_OK;
  uint32_t partitions = nd_spread_partitions(out);
  for (size_t i = 0; i < n && status == ND_OK; i++) {
    status = nd_printer_run(&p, &s->settings, text[i], document[i], err);
    sizes[i] = (uint32_t)p.n;
    for (size_t k = 0; k < p.n && status == ND_OK; k++)
      status = nd_spread_add(out, nd_share_of(p.items[k].key, partitions), p.items[k].key,
                             p.items[k].value, err);
  }
  nd_printer_clear(&p);
  return status;
}

nd_status nd_stage_census(nd_spread *out, nd_stage *s, const nd_str *text, size_t n,
                          nd_error *err) {
  const nd_settings *set = &s->settings;
  nd_shingler g = {0};
  nd_status status = ND_OK;
  uint32_t partitions = nd_spread_partitions(out);
  for (size_t i = 0; i < n && status == ND_OK; i++) {
    status = nd_shingler_run(&g, text[i], set->shingle, set->options->seed, err);
    if (status == ND_OK) status = nd_shingler_sort(&g, err);
    for (size_t k = 0; status == ND_OK && k < g.shingles.n; k++) {
      uint64_t key = g.shingles.fingerprint[k];
      if (nd_sample_key(key) % set->sample.mod != set->sample.residue) continue;
      status = nd_spread_add(out, nd_share_of(nd_mix(key), partitions), key, 1, err);
    }
  }
  nd_shingler_clear(&g);
  return status;
}

nd_status nd_stage_common(nd_str *keys, nd_stage *s, nd_str counts, nd_error *err) {
  size_t n;
  ND_TRY(nd_runs_load(&n, s, &counts, 1, err));
  s->out.n = 0;
  for (size_t i = 0; i < n; i++)
    if (s->items[i].value > s->settings.sample.sct)
      ND_TRY(nd_buf_append(&s->out, &s->items[i].key, sizeof s->items[i].key, err));
  *keys = nd_buf_str(&s->out);
  return ND_OK;
}

nd_status nd_stage_leave_out(nd_stage *s, const uint64_t *keys, size_t n, nd_error *err) {
  const char *tmp = nd_workdir_tmp(s->options.tmp);
  nd_shingle_set_free(s->common);
  s->common = NULL;
  s->settings.sample.common = NULL;
  ND_TRY(
      nd_shingle_set_new(&s->common, nd_budget(s->settings.memory, ND_SHARE_STAGE_SET), tmp, err));
  for (size_t i = 0; i < n; i++) ND_TRY(nd_shingle_set_add(s->common, keys[i], err));
  ND_TRY(nd_shingle_set_finish(s->common, err));
  s->settings.sample.common = s->common;
  return ND_OK;
}

/* Emits every pair of the documents of one shingle. */
static nd_status give_pairs(nd_sorter *to, const nd_item *items, size_t n, nd_error *err) {
  enum { BATCH = 512 }; /* pairs that are handed to the sorter at once */
  nd_item out[BATCH];
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i + 1; j < n; j++) {
      out[kept++] = (nd_item){nd_pair_key((uint32_t)items[i].value, (uint32_t)items[j].value), 1};
      if (kept < sizeof out / sizeof *out) continue;
      ND_TRY(nd_sorter_add(to, out, kept, err));
      kept = 0;
    }
  }
  return nd_sorter_add(to, out, kept, err);
}

typedef struct count_spread {
  nd_spread *counts;
  uint64_t documents;
} count_spread;

static nd_status spread_counts(void *context, nd_item *items, size_t n, nd_error *err) {
  const count_spread *s = context;
  const uint64_t partitions = nd_spread_partitions(s->counts);
  for (size_t i = 0; i < n; i++)
    ND_TRY(nd_spread_add(s->counts,
                         (uint32_t)(nd_pair_of(items[i].key).a * partitions / s->documents),
                         items[i].key, items[i].value, err));
  return ND_OK;
}

nd_status nd_stage_expand(nd_spread *counts, nd_stage *s, const nd_runs *given, uint64_t documents,
                          nd_error *err) {
  const nd_str *runs = given->run;
  const size_t n = given->n;
  size_t total;
  nd_sorter *pairs = NULL;
  const char *tmp = nd_workdir_tmp(s->options.tmp);
  ND_TRY(nd_runs_load(&total, s, runs, n, err));
  nd_group_items(s, total);
  nd_status status =
      nd_sorter_new(&pairs, nd_budget(s->settings.memory, ND_SHARE_STAGE_PAIRS), tmp, true, err);
  if (status == ND_OK) nd_sorter_sum(pairs);
  for (size_t i = 0, end; i < total && status == ND_OK; i = end) {
    const nd_item *at = &s->items[i];
    for (end = i + 1; end < total && s->items[end].key == at->key &&
                      /* untaken: colliding 64-bit hashes */
                      (s->items[end].value & high_mask) == (at->value & high_mask);)
      end++;
    if (end - i > 1) status = give_pairs(pairs, at, end - i, err);
  }
  count_spread spread = {counts, documents};
  if (status == ND_OK) status = nd_sorter_finish(pairs, err);
  if (status == ND_OK) status = nd_sorter_each(pairs, spread_counts, &spread, err);
  nd_sorter_free(pairs);
  return status;
}

nd_status nd_stage_judge(nd_str *pairs, nd_stage *s, nd_str counts, const nd_document_sizes *given,
                         nd_error *err) {
  const uint32_t *sizes = given->size;
  const uint64_t documents = given->n;
  const nd_settings *set = &s->settings;
  size_t n, kept = 0;
  ND_TRY(nd_runs_load(&n, s, &counts, 1, err));
  for (size_t i = 0; i < n; i++) {
    const nd_pair p = nd_pair_of(s->items[i].key);
    if (p.a >= documents || p.b >= documents)
      return nd_fail(err, ND_ERR_DATA, "a pair names a document that does not exist");
    uint32_t common = (uint32_t)s->items[i].value;
    nd_overlap o = {common, sizes[p.a] + sizes[p.b] - common, sizes[p.a]};
    if (!set->every_pair && !nd_similarity_reaches(set->similarity, o, set->threshold)) continue;
    s->items[kept++] = (nd_item){s->items[i].key, set->similarity->value(o)};
  }
  ND_TRY(nd_run_pack(&s->out, s->items, kept, 8, err));
  *pairs = nd_buf_str(&s->out);
  return ND_OK;
}
