/* Groups of pairs that share documents.
 *
 * Connected pairs form a group.  If a group has several pairs per document (the versions of one
 * page), its documents are read once and compared as sets of numbered shingles
 * (similarity/group.h); other pairs are compared one by one.  The results are the same, only the
 * time differs. */
#ifndef ND_VERIFY_PAIR_GROUPS_H
#define ND_VERIFY_PAIR_GROUPS_H

#include "base/hash_table.h"
#include "base/radix.h"

enum { ND_PAIR_GROUPS_MOST = 1 << 16 }; /* pairs of one plan */
#define ND_ALONE UINT32_MAX

/* Work for one thread: the pairs [begin, end) of the plan. */
typedef struct nd_pair_groups_job {
  uint32_t begin, end;
} nd_pair_groups_job;

/* {0} is an empty plan. */
typedef struct nd_pair_groups {
  uint32_t *item;  /* indices of the pairs, group by group, each group in input order */
  uint32_t *group; /* the group of each, or ND_ALONE */
  nd_pair_groups_job *jobs;
  size_t n, job_n;
  /* scratch, kept between calls */
  uint32_t *parent, *pairs, *members, *local, *key;
  size_t cap, job_cap;
  nd_slots table; /* documents of the list */
} nd_pair_groups;

/* Plans the comparison of `n` pairs, at most ND_PAIR_GROUPS_MOST.  groups: false plans every pair
 * alone. */
nd_status nd_pair_groups_plan(nd_pair_groups *t, const nd_item *items, size_t n, bool groups,
                              nd_error *err) ND_MUST_CHECK;
void nd_pair_groups_clear(nd_pair_groups *t);

#endif
