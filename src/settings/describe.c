/* Sketch methods in words; see describe.h. */
#include "settings/describe.h"

#include <stdio.h>

#include "settings/methods.h"
#include "sketch/supershingle.h"

/* What makes two documents similar, by their sketches. */
static void describe_rule(char *out, size_t room, const nd_settings *s) {
  double threshold = (double)s->threshold.num / (double)s->threshold.den;
  switch (s->confirm) {
    case ND_METHOD_SUPERSHINGLE:
      snprintf(out, room, "at least %u of %u super-shingles agree", s->agree, s->supershingles);
      return;
    case ND_METHOD_PROJECTION:
      snprintf(out, room, "at least %u of %u bits agree", s->agree_bits, s->bits);
      return;
    case ND_METHOD_SIMHASH: snprintf(out, room, "at most %u of 64 bits differ", s->hamming); return;
    case ND_METHOD_COMBINED:
      snprintf(out, room, "at least %u of %u super-shingles and %u of %u bits agree", s->agree,
               s->supershingles, s->combined_bits, s->bits);
      return;
    case ND_METHOD_COMBINED_SITE:
      snprintf(out, room,
               "on one site at least %u of %u super-shingles and %u of %u bits agree, else %u bits",
               s->agree, s->supershingles, s->combined_bits, s->bits, s->agree_bits);
      return;
    default:
      snprintf(out, room, "a share of at least %.10g of %u min values agrees", threshold,
               s->permutations);
  }
}

static void describe_bits(char *out, size_t room, const nd_settings *s) {
  uint32_t sure = s->pieces ? s->pieces - 1 : s->distance;
  if (sure >= s->distance)
    snprintf(out, room, "every pair of at most %u differing bits is found", s->distance);
  else
    snprintf(out, room,
             "every pair of at most %u differing bits is found (%u pieces of %u), of those up to "
             "%u most; --complete finds all",
             sure, s->pieces, s->bits / s->pieces, s->distance);
}

static void describe_super(char *out, size_t room, const nd_settings *s) {
  const double at[] = {0.8, 0.9, 0.95, 0.99};
  double p[4];
  for (size_t i = 0; i < 4; i++)
    p[i] = nd_super_recall(at[i], s->min_values, s->supershingles, s->agree);
  snprintf(out, room,
           "pairs of resemblance 0.8, 0.9, 0.95, 0.99 agree so with probability %.4f, %.4f, %.4f, "
           "%.4f",
           p[0], p[1], p[2], p[3]);
}

void nd_describe(nd_summary *summary, const nd_settings *s) {
  const nd_method_row *confirm = &nd_methods[s->confirm];
  char rule[200];
  describe_rule(rule, sizeof rule, s);
  size_t room = sizeof summary->decision;
  summary->decision[0] = summary->coverage[0] = '\0';
  /* Counting min values is finding and deciding at once. */
  bool counted = s->candidates == ND_METHOD_MINHASH && s->confirm == ND_METHOD_MINHASH &&
                 s->family == ND_FAMILY_LINEAR;
  if (s->verify == ND_VERIFY_NONE && !counted)
    snprintf(summary->decision, room, "by nothing: every candidate is listed");
  else if (s->verify == ND_VERIFY_SKETCH || s->verify == ND_VERIFY_NONE)
    snprintf(summary->decision, room, "by sketches: %s", rule);
  else if (confirm->defined)
    snprintf(summary->decision, room,
             "by sketches and documents: %s, and the documents are %.10g "
             "similar",
             rule, (double)s->threshold.num / (double)s->threshold.den);
  room = sizeof summary->coverage;
  switch (s->candidates) {
    case ND_METHOD_SUPERSHINGLE:
    case ND_METHOD_COMBINED: describe_super(summary->coverage, room, s); break;
    case ND_METHOD_COMBINED_SITE:
    case ND_METHOD_PROJECTION: describe_bits(summary->coverage, room, s); break;
    case ND_METHOD_SIMHASH:
      snprintf(summary->coverage, room, "every pair of at most %u differing bits is found",
               s->hamming);
      break;
    case ND_METHOD_MINHASH:
      if (s->family == ND_FAMILY_LINEAR)
        snprintf(summary->coverage, room, "every pair that shares a min value is counted");
      break;
    default: break;
  }
}
