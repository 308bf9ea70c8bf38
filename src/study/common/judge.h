/* Comparison of found pairs with a ground truth of pairs or clusters, for studies. */
#ifndef ND_STUDY_COMMON_JUDGE_H
#define ND_STUDY_COMMON_JUDGE_H

#include "study/common/list.h"

typedef enum nd_verdict { ND_CORRECT, ND_INCORRECT, ND_UNDECIDED } nd_verdict;

/* If the list also has pairs with the number 0, which are not near-duplicates, it
 * covers only some pairs: others are undecided. */
typedef struct nd_judge {
  nd_list list;
  bool some;      /* the list covers only some pairs */
  uint64_t pairs; /* true pairs of documents in the map */
} nd_judge;

/* `ids` has the documents of the study; lines with others are ignored. */
nd_status nd_judge_open(nd_judge *j, const char *path, nd_id_map *ids, const nd_hooks *hooks,
                        nd_error *err) ND_MUST_CHECK;
void nd_judge_close(nd_judge *j);

/* Returns the verdict on a pair, whose smaller number comes first in `key`. */
nd_verdict nd_judge_pair(const nd_judge *j, uint64_t key);

#endif
