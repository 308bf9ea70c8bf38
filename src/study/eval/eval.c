/* nd_eval: two lists → measures; see neardup/eval.h. */
#include "neardup/eval.h"

#include <math.h>
#include <stdio.h>

#include "base/hooks.h"
#include "input/line_list.h"
#include "study/common/compare.h"

static nd_status threshold_of(nd_list_rule *rule, const char *text, const char *option,
                              nd_error *err) {
  if (!text) return ND_OK;
  rule->has_threshold = true;
  if (nd_line_number(&rule->threshold, nd_str_of(text))) return ND_OK;
  return nd_fail(err, ND_ERR_USAGE, "%s must be a number, not %s", option, text);
}

static nd_status by_of(nd_eval_by *out, const nd_eval_request *q, nd_error *err) {
  *out = ND_BY_NONE;
  if (!q->by) return ND_OK;
  *out = strcmp(q->by, "size") == 0 ? ND_BY_SIZE : ND_BY_SITE;
  if (*out == ND_BY_SITE && strcmp(q->by, "site") != 0)
    return nd_fail(err, ND_ERR_USAGE, "--by must be size or site, not %s", q->by);
  if (q->documents || q->corpus_n) return ND_OK;
  return nd_fail(
      err, ND_ERR_USAGE,
      "--by %s needs the documents: --documents LIST (id, tokens, URL) or --corpus INPUT", q->by);
}

static void empty_group(nd_eval_group *g, const char *name) {
  *g = (nd_eval_group){.precision = NAN,
                       .recall = NAN,
                       .f1 = NAN,
                       .average_error = NAN,
                       .correlation = NAN,
                       .common_error = NAN,
                       .common_correlation = NAN,
                       .bcubed_precision = NAN,
                       .bcubed_recall = NAN,
                       .bcubed_f1 = NAN,
                       .accuracy = NAN,
                       .duplicates_accuracy = NAN};
  snprintf(g->name, sizeof g->name, "%s", name);
}

static void name_groups(nd_compare *c) {
  nd_eval_result *out = c->out;
  static const char *const sites[] = {"same site", "other site", "no site"};
  for (size_t g = 0; g < ND_EVAL_GROUPS; g++) empty_group(&out->group[g], "all");
  out->group_n = c->by == ND_BY_SIZE ? 1 + ND_SIZE_GROUPS : c->by == ND_BY_SITE ? 4 : 1;
  for (unsigned g = 0; g < ND_SIZE_GROUPS && c->by == ND_BY_SIZE; g++)
    nd_size_group_name(out->group[1 + g].name, sizeof out->group->name, g);
  for (unsigned g = 0; g < 3 && c->by == ND_BY_SITE; g++)
    snprintf(out->group[1 + g].name, sizeof out->group->name, "%s", sites[g]);
}

static nd_status read_lists(nd_compare *c, const nd_eval_request *q, const nd_options *options,
                            const nd_hooks *hooks, nd_error *err) {
  nd_list_rule truth = {.above_zero = true, .hooks = hooks}, result = {.hooks = hooks};
  ND_TRY(nd_list_kind_of(&truth.kind, q->truth_kind, "--truth-kind", err));
  ND_TRY(nd_list_kind_of(&result.kind, q->result_kind, "--result-kind", err));
  ND_TRY(threshold_of(&truth, q->truth_threshold, "--truth-threshold", err));
  ND_TRY(threshold_of(&result, q->threshold, "--threshold", err));
  if (strcmp(q->truth, "-") == 0 && strcmp(q->result, "-") == 0)
    return nd_fail(err, ND_ERR_USAGE, "only one of the two lists can be standard input");
  c->documents.ids = &c->ids;
  if (q->documents) ND_TRY(nd_documents_list(&c->documents, q->documents, hooks, err));
  if (q->corpus_n)
    ND_TRY(nd_documents_corpus(&c->documents, q->corpus, q->corpus_n, options, hooks, err));
  truth.closed = result.closed = q->documents || q->corpus_n;
  ND_TRY(nd_list_read(&c->truth, q->truth, &truth, &c->ids, err));
  return nd_list_read(&c->result, q->result, &result, &c->ids, err);
}

/* Clusters cover all documents, except those with contradicting lines. */
static nd_status line_up(nd_compare *c, nd_error *err) {
  c->n = (uint32_t)c->ids.n;
  c->without = nd_calloc((size_t)c->n + 1, 1);
  if (!c->without) return nd_fail_memory(err, (size_t)c->n + 1);
  nd_list *lists[] = {&c->truth, &c->result};
  for (int i = 0; i < 2; i++) {
    if (lists[i]->kind != ND_LIST_CLUSTERS) continue;
    ND_TRY(nd_list_widen(lists[i], c->n, err));
    for (uint32_t d = 0; d < c->n; d++) c->without[d] |= lists[i]->cluster[d] == ND_CONTRADICTED;
  }
  for (uint32_t d = 0; d < c->n; d++) c->out->documents += !c->without[d];
  return ND_OK;
}

static nd_status run(nd_compare *c, const nd_eval_request *q, const nd_options *options,
                     const nd_hooks *hooks, nd_error *err) {
  nd_list_kind as;
  ND_TRY(nd_list_kind_of(&as, q->as, "--as", err));
  ND_TRY(by_of(&c->by, q, err));
  ND_TRY(read_lists(c, q, options, hooks, err));
  ND_TRY(nd_hooks_check(hooks, err));
  ND_TRY(line_up(c, err));
  name_groups(c);
  c->out->rejected = c->documents.rejected;
  c->out->truth = c->truth.notes;
  c->out->result = c->result.notes;
  bool both = c->truth.kind == ND_LIST_CLUSTERS && c->result.kind == ND_LIST_CLUSTERS;
  c->out->clusters = as == ND_LIST_CLUSTERS || (as == ND_LIST_AUTO && both);
  if (c->out->clusters && c->judged)
    return nd_fail(err, ND_ERR_USAGE, "--judged is for pairs; clusters reach over all documents");
  if (c->judged && c->truth.kind == ND_LIST_CLUSTERS)
    return nd_fail(err, ND_ERR_USAGE,
                   "--judged needs a truth list of pairs; this one has clusters");
  return c->out->clusters ? nd_compare_clusters(c, err) : nd_compare_pairs(c, err);
}

nd_status nd_eval(nd_eval_result *out, const nd_eval_request *request, const nd_options *options,
                  const nd_hooks *hooks, nd_error *err) {
  *out = (nd_eval_result){.ari = NAN, .homogeneity = NAN, .completeness = NAN, .v_measure = NAN};
  out->truth.kind = out->result.kind = "";
  nd_compare c = {.out = out, .judged = request->judged};
  nd_status status = run(&c, request, options, hooks, err);
  nd_list_clear(&c.truth);
  nd_list_clear(&c.result);
  nd_documents_clear(&c.documents);
  nd_id_map_clear(&c.ids);
  nd_free(c.without);
  return status;
}
