/* A stage (neardup/stage.h) with some options set. */
#ifndef STAGE_TOOLS_H
#define STAGE_TOOLS_H

#include "neardup/stage.h"
#include "tools.h"

static const char secret[ND_STAGE_SECRET] = "the same in all stages";

/* set: names and values, and NULL. */
static nd_stage *stage_of(const char *const *set, int dedup) {
  nd_stage *s = NULL;
  nd_options o;
  nd_options_init(&o);
  for (; *set; set += 2) ok(nd_options_set(&o, set[0], set[1], &err));
  ok(nd_stage_new(&s, &o, dedup, secret, &err));
  return s;
}

#endif
