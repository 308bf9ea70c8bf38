/* Converts the bytes of a document to UTF-8 text. */
#ifndef ND_TEXT_PLAIN_H
#define ND_TEXT_PLAIN_H

#include "text/text.h"

typedef struct nd_plain_request {
  nd_str bytes;
  nd_str charset; /* declared outside the document, or empty */
  bool html;      /* known to be HTML */
  bool sniff;     /* detect HTML */
  bool images;    /* keep the URLs of images in HTML (web.h) */
} nd_plain_request;

/* Buffers, per thread. */
typedef struct nd_plain {
  nd_buf utf8, text;
  bool images;    /* the last text has the URLs of images, between NULs */
  uint64_t *seen; /* sets: table of occurrences per number */
  uint32_t *times;
  size_t seen_cap, times_cap;
} nd_plain;
void nd_plain_clear(nd_plain *p);

/* Converts a document; *out is borrowed from the request or *p until the next call. */
nd_status nd_plain_text(nd_str *out, nd_plain *p, const nd_plain_request *request,
                        nd_error *err) ND_MUST_CHECK;

/* Converts a line of integers to tokens; the 2nd, 3rd … occurrence of a number becomes the
 * token "7.2", "7.3" … (Xiao et al. 2008, section 2.1). */
nd_status nd_plain_sets(nd_tokens *out, nd_plain *p, nd_str line, nd_error *err) ND_MUST_CHECK;

#endif
