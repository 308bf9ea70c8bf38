/* Which pairs are compared together.
 *
 * Pairs that hang together make a group.  Where a group has several pairs per
 * document (the versions of one page), its documents are read once and compared
 * as sets of numbered shingles (verify/group.h); elsewhere two at a time.  What
 * is found is the same; only the time differs. */
#ifndef ND_VERIFY_PAIR_GROUPS_H
#define ND_VERIFY_PAIR_GROUPS_H

#include "base/mem.h"
#include "base/radix.h"

enum { ND_PAIR_GROUPS_MOST = 1 << 16 }; /* pairs of one plan */
#define ND_ALONE UINT32_MAX

/* A piece of work for one thread: places [begin, end) of the plan. */
typedef struct nd_pair_groups_job {
  uint32_t begin, end;
} nd_pair_groups_job;

/* {0} is an empty one. */
typedef struct nd_pair_groups {
  uint32_t *item;  /* by place: which pair; a group's pairs in their order */
  uint32_t *group; /* by place: its group, or ND_ALONE */
  nd_pair_groups_job *jobs;
  size_t n, job_n;
  /* scratch, kept between calls */
  uint32_t *slot, *parent, *pairs, *members, *local, *key;
  size_t cap, job_cap, slots;
} nd_pair_groups;

/* Items are pairs; at most ND_PAIR_GROUPS_MOST of them.  groups: look for them. */
nd_status nd_pair_groups_plan(nd_pair_groups *t, const nd_item *items, size_t n, bool groups,
                              nd_error *err) ND_MUST_CHECK;
void nd_pair_groups_clear(nd_pair_groups *t);

#endif
