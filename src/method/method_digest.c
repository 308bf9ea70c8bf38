/* --method digest: exact duplicates, which every run finds first, and nothing else. */
#include "settings/method.h"

const nd_method nd_method_digest = {.name = "digest", .help = "exact duplicates only"};
