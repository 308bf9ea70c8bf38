/* A stage (neardup/stage.h) with some options set. */
#ifndef STAGE_TOOLS_H
#define STAGE_TOOLS_H

#include "neardup/stage.h"

extern const char stage_secret[ND_STAGE_SECRET];

/* set: names and values, and NULL. */
nd_stage *stage_of(const char *const *set, int dedup);

#endif
