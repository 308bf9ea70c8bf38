/* SHA-256 (FIPS 180-4): for the content security policy of pages, which names
 * its style and script by this digest.  Nothing here needs to be fast. */
#ifndef ND_BASE_SHA256_H
#define ND_BASE_SHA256_H

#include "neardup/status.h"

void nd_sha256(uint8_t out[32], nd_str bytes);

/* The digest in base64, as "sha256-…" sources are written; NUL-terminated. */
void nd_sha256_base64(char out[45], nd_str bytes);

#endif
