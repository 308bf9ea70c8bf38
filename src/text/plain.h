/* A document's bytes → the UTF-8 text that is split into tokens. */
#ifndef ND_TEXT_PLAIN_H
#define ND_TEXT_PLAIN_H

#include "text/text.h"

typedef struct nd_plain_request {
  nd_str bytes;
  nd_str charset; /* declared outside, or empty */
  bool html;      /* known to be HTML */
  bool sniff;     /* look whether it is */
  bool images;    /* of HTML, keep the URLs of images (web.h) */
} nd_plain_request;

/* Buffers of one thread. */
typedef struct nd_plain {
  nd_buf utf8, text;
  bool images;    /* the last text has its images' URLs, between NULs */
  uint64_t *seen; /* sets: token → how often, a small table */
  uint32_t *times;
  size_t seen_cap, times_cap;
} nd_plain;
void nd_plain_clear(nd_plain *p);

/* *out is borrowed from the request or from *p until the next call. */
nd_status nd_plain_text(nd_str *out, nd_plain *p, const nd_plain_request *request,
                        nd_error *err) ND_MUST_CHECK;

/* A line of integers → tokens; the 2nd, 3rd … occurrence of a number becomes a
 * token of its own, "7.2", "7.3" (Xiao et al. 2008, section 2.1). */
nd_status nd_plain_sets(nd_tokens *out, nd_plain *p, nd_str line, nd_error *err) ND_MUST_CHECK;

#endif
