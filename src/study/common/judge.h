/* Found pairs against a list of true pairs or clusters, as studies do it. */
#ifndef ND_STUDY_COMMON_JUDGE_H
#define ND_STUDY_COMMON_JUDGE_H

#include "study/common/list.h"

typedef enum nd_verdict { ND_CORRECT, ND_INCORRECT, ND_UNDECIDED } nd_verdict;

/* A list that also names pairs which are no near-duplicates (a number of 0) is
 * of some pairs only: what it does not name is undecided. */
typedef struct nd_judge {
  nd_list list;
  bool some;      /* … only */
  uint64_t pairs; /* true ones, among the documents of the map */
} nd_judge;

/* `ids` numbers the documents of the study; lines about others are passed over. */
nd_status nd_judge_open(nd_judge *j, const char *path, nd_id_map *ids, const nd_hooks *hooks,
                        nd_error *err) ND_MUST_CHECK;
void nd_judge_close(nd_judge *j);

/* key: a pair, the smaller number first */
nd_verdict nd_judge_pair(const nd_judge *j, uint64_t key);

#endif
