/* State of a search, shared by the files of hamming.h. */
#ifndef ND_CANDIDATE_HAMMING_WORK_H
#define ND_CANDIDATE_HAMMING_WORK_H

#include "candidate/hamming_solve.h"

typedef struct nd_search {
  const nd_hamming_request *request;
  nd_vector_set set;  /* the vectors in memory */
  nd_flat table;      /* rows of the set */
  uint32_t *same;     /* per document */
  nd_solver **solver; /* one per thread */
  unsigned threads;
  nd_solve_level plan; /* the pieces of all vectors */
} nd_search;

nd_status nd_search_check(const nd_search *s, nd_error *err) ND_MUST_CHECK;

/* Plans the pieces from the vectors of the set, for a search among `n`; *tables is false if
 * tables save nothing and all pairs should be compared. */
nd_status nd_search_choose(bool *tables, nd_search *s, uint64_t n, nd_error *err) ND_MUST_CHECK;

/* Sets a level for all threads, which then work at depth + 1. */
void nd_search_level(nd_search *s, unsigned depth, const nd_solve_level *level);

/* Finds the pairs of the set that share the piece of level `depth`. */
nd_status nd_search_table(nd_search *s, unsigned depth, nd_error *err) ND_MUST_CHECK;

/* Fills the table with the rows that take part, in order. */
nd_status nd_search_rows(nd_search *s, nd_error *err) ND_MUST_CHECK;

/* Finds the pairs of the entries [0, end) of the table with [from, last); from = 0: each with
 * all after it. */
nd_status nd_search_all(nd_search *s, uint64_t end, uint64_t from, uint64_t last,
                        nd_error *err) ND_MUST_CHECK;

/* Searches vectors that are not in memory. */
nd_status nd_search_far(nd_search *s, nd_error *err) ND_MUST_CHECK;

#endif
