/* Comparison of found pairs with the ground truth; see judge.h. */
#include "study/common/judge.h"

static nd_status count_clusters(nd_judge *j, nd_error *err) {
  const nd_list *l = &j->list;
  uint64_t *size = nd_calloc((size_t)l->cluster_n + 1, sizeof *size);
  if (!size) return nd_fail_memory(err, ((size_t)l->cluster_n + 1) * sizeof *size);
  for (uint32_t d = 0; d < l->document_n; d++) {
    if (l->cluster[d] < ND_CONTRADICTED) j->pairs += size[l->cluster[d]]++;
  }
  nd_free(size);
  return ND_OK;
}

nd_status nd_judge_open(nd_judge *j, const char *path, nd_id_map *ids, const nd_hooks *hooks,
                        nd_error *err) {
  *j = (nd_judge){0};
  nd_list_rule rule = {.closed = true, .above_zero = true, .hooks = hooks};
  ND_TRY(nd_list_read(&j->list, path, &rule, ids, err));
  if (j->list.kind == ND_LIST_CLUSTERS) return count_clusters(j, err);
  for (size_t i = 0; i < j->list.n; i++) {
    j->pairs += j->list.judged[i] == ND_JUDGED_YES;
    j->some |= j->list.judged[i] == ND_JUDGED_NO;
  }
  return ND_OK;
}

void nd_judge_close(nd_judge *j) {
  nd_list_clear(&j->list);
}

nd_verdict nd_judge_pair(const nd_judge *j, uint64_t key) {
  bool listed;
  nd_judgement said = nd_list_judge(&listed, &j->list, key);
  if (said == ND_JUDGED_BOTH || (!listed && j->some)) return ND_UNDECIDED;
  return said == ND_JUDGED_YES ? ND_CORRECT : ND_INCORRECT;
}
