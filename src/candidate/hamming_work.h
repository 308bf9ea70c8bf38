/* Inside of hamming.h: one search, shared by its files. */
#ifndef ND_CANDIDATE_HAMMING_WORK_H
#define ND_CANDIDATE_HAMMING_WORK_H

#include "candidate/hamming_solve.h"

typedef struct nd_search {
  const nd_hamming_request *request;
  nd_vector_set set;  /* what is in memory */
  nd_flat table;      /* rows of the set */
  uint32_t *same;     /* per document */
  nd_solver **solver; /* one per thread */
  unsigned threads;
  nd_solve_level plan; /* the pieces of all vectors */
} nd_search;

nd_status nd_search_check(const nd_search *s, nd_error *err) ND_MUST_CHECK;

/* Plans the pieces by the vectors of the set, of which a search for `n` is to be made;
 * *tables = false: nothing is saved by them, compare all with all. */
nd_status nd_search_choose(bool *tables, nd_search *s, uint64_t n, nd_error *err) ND_MUST_CHECK;

/* The same level for all threads, who then work at depth `depth` + 1. */
void nd_search_level(nd_search *s, unsigned depth, const nd_solve_level *level);

/* The pairs of the set that share the piece of the level `depth`. */
nd_status nd_search_table(nd_search *s, unsigned depth, nd_error *err) ND_MUST_CHECK;

/* Puts the rows that take part into the table, in order. */
nd_status nd_search_rows(nd_search *s, nd_error *err) ND_MUST_CHECK;

/* The pairs of the table's places [0, end) with the places [from, last); from = 0: each with
 * all after it. */
nd_status nd_search_all(nd_search *s, uint64_t end, uint64_t from, uint64_t last,
                        nd_error *err) ND_MUST_CHECK;

/* Where the vectors are not in memory. */
nd_status nd_search_far(nd_search *s, nd_error *err) ND_MUST_CHECK;

#endif
