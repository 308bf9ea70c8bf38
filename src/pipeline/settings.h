/* Options resolved: words become choices, zeros become numbers.
 *
 * Every job resolves its options once; the rooms then get plain values. */
#ifndef ND_PIPELINE_SETTINGS_H
#define ND_PIPELINE_SETTINGS_H

#include "feature/fingerprint.h"
#include "feature/sample.h"
#include "feature/shingle.h"
#include "input/format.h"
#include "neardup/options.h"
#include "text/text.h"

typedef struct nd_settings {
  const nd_options *options;
  const nd_format *format; /* NULL: sniff */
  nd_input_options input;
  nd_token_kind tokens;
  nd_shingle_spec shingle;
  nd_method method;
  nd_similarity similarity;
  nd_fingerprint_kind fingerprint;
  nd_decimal threshold;
  bool every_pair; /* method exact without a threshold: all that share a shingle */
  nd_sample sample;
  nd_verify verify;
  nd_clustering cluster;
  nd_keep keep;
  uint32_t permutations, bands, rows;
  double predicted_recall; /* at the threshold, of the bands */
  unsigned threads;
  uint64_t memory;
  uint32_t shard, shards; /* 0, 1: everything */
} nd_settings;

nd_status nd_settings_resolve(nd_settings *out, const nd_options *o, nd_error *err) ND_MUST_CHECK;

#endif
