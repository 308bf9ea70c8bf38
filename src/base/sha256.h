/* SHA-256 (FIPS 180-4) for the content security policy of HTML pages, which names their style and
 * script by this digest.  Not optimised for speed. */
#ifndef ND_BASE_SHA256_H
#define ND_BASE_SHA256_H

#include "neardup/status.h"

void nd_sha256(uint8_t out[32], nd_str bytes);

/* Writes the digest in base64, as in "sha256-…" sources, with a NUL. */
void nd_sha256_base64(char out[45], nd_str bytes);

#endif
