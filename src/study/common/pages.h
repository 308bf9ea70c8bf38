/* The documents of a study in memory: ids, sites and sketches, row by row; and,
 * by a second reading, the tokens of a few of them. */
#ifndef ND_STUDY_COMMON_PAGES_H
#define ND_STUDY_COMMON_PAGES_H

#include "base/id_map.h"
#include "neardup/study.h"
#include "study/common/corpus.h"

typedef struct nd_pages nd_pages;

/* Writes a document's words of sketch. */
typedef nd_status (*nd_pages_sketch)(uint64_t *out, void *context, const nd_tokens *tokens,
                                     nd_error *err);

struct nd_pages {
  nd_id_map ids; /* row = number */
  uint64_t *site, *sketch;
  uint64_t *digest; /* of its tokens: tells it from others of its id */
  size_t site_cap, sketch_cap, digest_cap;
  /* how documents come in */
  bool unique;     /* leave out those whose tokens came before */
  uint32_t fewest; /* … and those of fewer tokens */
  uint32_t words;  /* of a sketch */
  nd_pages_sketch make;
  void *context;
  /* what was left out */
  uint64_t copies, small, repeated;
  nd_id_map digests;
  /* tokens of the rows that were asked for, as 32-bit hashes */
  uint8_t *wanted; /* per row */
  uint64_t *begin; /* per row, in `tokens`; begin + length */
  uint32_t *length;
  uint32_t *tokens;
  size_t token_n, token_cap;
};

/* Reads all inputs; the first fields of `p` are set by the caller. */
nd_status nd_pages_read(nd_pages *p, nd_summary *summary, const nd_study_request *request,
                        const nd_options *options, const nd_hooks *hooks,
                        nd_error *err) ND_MUST_CHECK;

/* Reads them again for the tokens of the rows with wanted[row] != 0. */
nd_status nd_pages_fetch(nd_pages *p, const nd_study_request *request, const nd_options *options,
                         const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_pages_clear(nd_pages *p);

/* Room for marking rows; all unmarked. */
nd_status nd_pages_want(nd_pages *p, nd_error *err) ND_MUST_CHECK;

/* A sample of a list of pairs, the same for the same seed: positions of at most
 * `most` of n, rising. */
nd_status nd_sample_positions(size_t **out, size_t *count, size_t n, size_t most, uint64_t seed,
                              nd_error *err) ND_MUST_CHECK;

#endif
