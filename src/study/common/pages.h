/* Documents of a study in memory: a row of id, site and sketch each, and the tokens of
 * some of them, read in a second pass. */
#ifndef ND_STUDY_COMMON_PAGES_H
#define ND_STUDY_COMMON_PAGES_H

#include "base/id_map.h"
#include "neardup/study.h"
#include "study/common/corpus.h"

typedef struct nd_pages nd_pages;

/* Computes the sketch of a document. */
typedef nd_status (*nd_pages_sketch)(uint64_t *out, void *context, const nd_tokens *tokens,
                                     nd_error *err);

struct nd_pages {
  nd_id_map ids; /* id → row */
  uint64_t *site, *sketch;
  uint64_t *digest; /* of the tokens, to distinguish documents with the same id */
  size_t site_cap, sketch_cap, digest_cap;
  /* selection of documents */
  bool unique;     /* leave out exact duplicates */
  uint32_t fewest; /* leave out documents with fewer tokens */
  uint32_t words;  /* 64-bit words of a sketch */
  nd_pages_sketch make;
  void *context;
  /* counts of documents left out */
  uint64_t copies, small, repeated;
  nd_id_map digests;
  /* tokens of the wanted rows, as 32-bit hashes */
  uint8_t *wanted; /* per row */
  uint64_t *begin; /* per row: start in `tokens` */
  uint32_t *length;
  uint32_t *tokens;
  size_t token_n, token_cap;
};

/* Reads all inputs; the caller has set the selection in `p`. */
nd_status nd_pages_read(nd_pages *p, nd_summary *summary, const nd_study_request *request,
                        const nd_options *options, const nd_hooks *hooks,
                        nd_error *err) ND_MUST_CHECK;

/* Reads them again for the tokens of the rows with nonzero wanted[row]. */
nd_status nd_pages_fetch(nd_pages *p, const nd_study_request *request, const nd_options *options,
                         const nd_hooks *hooks, nd_error *err) ND_MUST_CHECK;
void nd_pages_clear(nd_pages *p);

/* Allocates wanted[], all zero. */
nd_status nd_pages_want(nd_pages *p, nd_error *err) ND_MUST_CHECK;

/* Samples at most `most` of n positions, ascending; the same for the same seed. */
nd_status nd_sample_positions(size_t **out, size_t *count, size_t n, size_t most, uint64_t seed,
                              nd_error *err) ND_MUST_CHECK;

#endif
