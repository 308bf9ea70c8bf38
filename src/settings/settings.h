/* Options resolved: words become choices, zeros become numbers.
 *
 * Every job resolves its options once; rooms get plain values. */
#ifndef ND_SETTINGS_SETTINGS_H
#define ND_SETTINGS_SETTINGS_H

#include "cluster/keep.h"
#include "feature/fingerprint.h"
#include "feature/sample.h"
#include "feature/shingle.h"
#include "input/format.h"
#include "settings/budget.h"
#include "settings/option_fields.h"
#include "settings/row.h"
#include "similarity/similarity.h"
#include "sketch/minhash.h"
#include "sketch/simhash.h"
#include "text/text.h"

typedef enum nd_verify {
  ND_VERIFY_EXACT,
  ND_VERIFY_SKETCH,
  ND_VERIFY_NONE,
  ND_VERIFY_SAMPLE
} nd_verify;
/* Returns the word of --verify. */
const char *nd_verify_name(nd_verify how);

typedef enum nd_clustering { ND_CLUSTER_STAR, ND_CLUSTER_COMPONENTS } nd_clustering;

typedef struct nd_method nd_method; /* method.h */

/* A column of a pair after its ids (--columns): the similarity, `exact` for that of the documents,
 * or a comparison of two sketches. */
typedef struct nd_pair_column {
  bool exact;
  const nd_sketch *sketch;
} nd_pair_column;

typedef struct nd_settings {
  const nd_options *options;
  const nd_format *format; /* NULL: sniff */
  nd_input_options input;
  nd_token_kind tokens;
  nd_shingle_spec shingle;
  const nd_method *method, *candidates, *verifier;
  const nd_similarity *similarity;
  nd_fingerprint_kind fingerprint;
  nd_decimal threshold;
  bool every_pair; /* method exact without a threshold: all pairs that share a shingle */
  nd_sample sample;
  bool counting_passages;         /* --ignore-boilerplate: the prepass is still to count passages */
  const nd_shingle_set *passages; /* boilerplate passages, after the prepass; borrowed */
  nd_verify verify;
  nd_clustering cluster;
  nd_keep keep;
  nd_family family;
  uint32_t permutations, bands, rows; /* bands 0: no bands */
  double predicted_recall;            /* of the bands at the threshold */
  uint32_t min_values, supershingles, agree;
  uint32_t bits, agree_bits, combined_bits;
  uint32_t distance, pieces; /* projection: differing bits; pieces 0: find every pair */
  uint32_t hamming;
  nd_weights weights;
  bool feature_shingles; /* simhash, projection: features are shingles, not tokens */
  nd_row row;
  nd_pair_column columns[2 + ND_ROW_MOST];
  unsigned column_n;
  unsigned threads;
  uint64_t memory;
  uint32_t shard, shards; /* 0 of 1: the entire input */
} nd_settings;

/* Returns true if the only column is the similarity. */
bool nd_settings_usual_columns(const nd_settings *s);

/* Returns true if the texts of documents are used after the first pass. */
bool nd_settings_use_texts(const nd_settings *s);

nd_status nd_settings_resolve(nd_settings *out, const nd_options *o, nd_error *err) ND_MUST_CHECK;

enum { ND_OPTION_VALUE = 1100 }; /* bytes for the value of any option */

/* Writes the value of an option in this run, even if it was chosen automatically. */
void nd_settings_option(char value[ND_OPTION_VALUE], const nd_settings *s,
                        const nd_option_row *row);

#endif
