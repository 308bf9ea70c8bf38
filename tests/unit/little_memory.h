/* nd_pairs with less memory than options may ask for: what lies on disk otherwise only for large
 * corpora does so for small ones. */
#ifndef LITTLE_MEMORY_H
#define LITTLE_MEMORY_H

#include "neardup.h"

nd_status little_pairs(nd_summary *out, const char *const *inputs, size_t n, const nd_sink *sink,
                       const nd_options *options, const nd_hooks *hooks, uint64_t memory,
                       nd_error *e);

#endif
