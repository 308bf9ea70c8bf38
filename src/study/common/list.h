/* Lists of pairs and clusters: reading, judging, sorting.
 *
 * All lists of a comparison share a map that numbers the ids.  A closed map has all
 * documents: lines with others are left out and counted. */
#ifndef ND_STUDY_COMMON_LIST_H
#define ND_STUDY_COMMON_LIST_H

#include "base/id_map.h"
#include "neardup/eval.h"

typedef enum nd_list_kind { ND_LIST_AUTO, ND_LIST_PAIRS, ND_LIST_CLUSTERS } nd_list_kind;

typedef enum nd_judgement { ND_JUDGED_NO, ND_JUDGED_YES, ND_JUDGED_BOTH } nd_judgement;

#define ND_CONTRADICTED (UINT32_MAX - 1) /* a document in two clusters */

typedef struct nd_list_rule {
  nd_list_kind kind;
  bool closed;
  bool above_zero;    /* without a threshold: only numbers above 0 are near-duplicates */
  bool has_threshold; /* at least `threshold` billionths */
  int64_t threshold;
  const nd_hooks *hooks; /* polled while reading; may be NULL */
} nd_list_rule;

typedef struct nd_list {
  nd_list_kind kind;
  nd_eval_list notes;
  /* pairs, ascending and unique, the smaller number first */
  uint64_t *key;
  int64_t *value;  /* billionths, from the first line of the pair */
  uint8_t *judged; /* nd_judgement */
  size_t n;
  /* clusters: per document of the map, a number, ND_NO_ID or ND_CONTRADICTED */
  uint32_t *cluster;
  uint32_t cluster_n, document_n;
} nd_list;

nd_status nd_list_read(nd_list *out, const char *path, const nd_list_rule *rule, nd_id_map *ids,
                       nd_error *err) ND_MUST_CHECK;
void nd_list_clear(nd_list *l);

/* Parses "auto", "pairs", "clusters" or NULL; `option` is for the error message. */
nd_status nd_list_kind_of(nd_list_kind *out, const char *word, const char *option,
                          nd_error *err) ND_MUST_CHECK;

/* Extends a cluster list to documents that were numbered after it was read. */
nd_status nd_list_widen(nd_list *l, uint32_t documents, nd_error *err) ND_MUST_CHECK;

/* Returns the judgement of a pair.  *listed is false if the list does not have it, which
 * for clusters means no.  A list of clusters must cover both documents. */
nd_judgement nd_list_judge(bool *listed, const nd_list *l, uint64_t key);

#endif
