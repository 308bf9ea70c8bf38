#include "stage_tools.h"
#include "settings/option_fields.h"

#include "tools.h"

const char stage_secret[ND_STAGE_SECRET] = "the same in all stages";

nd_stage *stage_of(const char *const *set, int dedup) {
  nd_stage *s = NULL;
  nd_options o;
  nd_options_init(&o);
  for (; *set; set += 2) ok(nd_options_set(&o, set[0], set[1], &err));
  ok(nd_stage_new(&s, &o, dedup, stage_secret, &err));
  return s;
}
