/* Descriptions for the summary; see describe.h. */
#include "settings/describe.h"

#include <stdio.h>

#include "settings/method.h"

void nd_describe(nd_summary *summary, const nd_settings *s) {
  const nd_method *find = s->candidates, *verifier = s->verifier;
  char rule[200] = "";
  if (verifier->rule) verifier->rule(rule, sizeof rule, s);
  size_t room = sizeof summary->decision;
  summary->decision[0] = summary->coverage[0] = '\0';
  const bool decided = find == verifier && find->decides && find->decides(s);
  if (s->verify == ND_VERIFY_NONE && !decided)
    snprintf(summary->decision, room, "by nothing: every candidate is listed");
  else if (s->verify == ND_VERIFY_SKETCH || s->verify == ND_VERIFY_NONE)
    snprintf(summary->decision, room, "by sketches: %s", rule);
  else if (verifier->defined)
    snprintf(summary->decision, room,
             "by sketches and documents: %s, and the documents are %.10g "
             "similar",
             rule, (double)s->threshold.num / (double)s->threshold.den);
  if (find->coverage) find->coverage(summary->coverage, sizeof summary->coverage, s);
}
