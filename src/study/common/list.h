/* Lists of pairs and clusters: read, judged, sorted.
 *
 * Ids are numbered in a map that all lists of a comparison share.  A closed map
 * is a list of all documents: lines that name others are left out and counted. */
#ifndef ND_STUDY_COMMON_LIST_H
#define ND_STUDY_COMMON_LIST_H

#include "base/id_map.h"
#include "neardup/eval.h"

typedef enum nd_list_kind { ND_LIST_AUTO, ND_LIST_PAIRS, ND_LIST_CLUSTERS } nd_list_kind;

typedef enum nd_judgement { ND_JUDGED_NO, ND_JUDGED_YES, ND_JUDGED_BOTH } nd_judgement;

#define ND_CONTRADICTED (UINT32_MAX - 1) /* a document that lines put into two clusters */

typedef struct nd_list_rule {
  nd_list_kind kind;
  bool closed;
  bool above_zero;    /* without a threshold: only numbers above 0 mean yes */
  bool has_threshold; /* from `threshold` billionths on */
  int64_t threshold;
  const nd_hooks *hooks; /* polled while reading; may be NULL */
} nd_list_rule;

typedef struct nd_list {
  nd_list_kind kind;
  nd_eval_list notes;
  /* pairs, ascending and unique, the smaller number first */
  uint64_t *key;
  int64_t *value;  /* billionths; the first line's */
  uint8_t *judged; /* nd_judgement */
  size_t n;
  /* clusters, per document of the map: a number, ND_NO_ID or ND_CONTRADICTED */
  uint32_t *cluster;
  uint32_t cluster_n, document_n;
} nd_list;

nd_status nd_list_read(nd_list *out, const char *path, const nd_list_rule *rule, nd_id_map *ids,
                       nd_error *err) ND_MUST_CHECK;
void nd_list_clear(nd_list *l);

/* "auto", "pairs", "clusters" or NULL → a kind; `option` for the message. */
nd_status nd_list_kind_of(nd_list_kind *out, const char *word, const char *option,
                          nd_error *err) ND_MUST_CHECK;

/* Gives a cluster list room for documents that were numbered after it was read. */
nd_status nd_list_widen(nd_list *l, uint32_t documents, nd_error *err) ND_MUST_CHECK;

/* What the list says about a pair; *listed = false: nothing (for clusters: no).
 * The documents are among those that a list of clusters has room for. */
nd_judgement nd_list_judge(bool *listed, const nd_list *l, uint64_t key);

#endif
