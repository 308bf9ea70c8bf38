/* Sketches and functions that the combined methods share with supershingle and projection. */
#ifndef ND_METHOD_SHARED_SKETCHES_H
#define ND_METHOD_SHARED_SKETCHES_H

#include "settings/method.h"

extern const nd_sketch nd_sketch_supershingle, nd_sketch_projection;

void nd_supershingle_keys(nd_keys *out, const nd_settings *s);
bool nd_supershingle_judge(uint64_t *value, const nd_settings *s, const uint64_t *a,
                           const uint64_t *b);
void nd_supershingle_coverage(char *out, size_t room, const nd_settings *s);

void nd_projection_keys(nd_keys *out, const nd_settings *s);
bool nd_projection_judge(uint64_t *value, const nd_settings *s, const uint64_t *a,
                         const uint64_t *b);
void nd_projection_coverage(char *out, size_t room, const nd_settings *s);

/* Sets the search for projections to find pairs with at least `agreeing` agreeing bits. */
void nd_projection_search(nd_settings *s, uint32_t agreeing);

#endif
