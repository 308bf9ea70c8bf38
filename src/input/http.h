/* HTTP responses as archives keep them: head, transfer and content encodings,
 * media type → the body's bytes and what they are. */
#ifndef ND_INPUT_HTTP_H
#define ND_INPUT_HTTP_H

#include "input/format.h"

typedef struct nd_http_message {
  nd_str bytes;      /* head and body */
  nd_str type;       /* the media type where the head has none, or empty */
  bool truncated;    /* known to be cut: a packed body may end early */
  uint64_t max_body; /* a body that unpacks to more is ND_ERR_LIMIT */
} nd_http_message;

/* Sets kind, body, charset and why of *out.  The body is a view into the
 * message, or into d->body or d->spare where it had to be unpacked.
 *
 * Crawlers often store a body unpacked and leave the header that says it is
 * packed; so what is not packed as stated counts as unpacked already. */
nd_status nd_http_decode(nd_document *out, nd_decoder *d, const nd_http_message *m,
                         nd_error *err) ND_MUST_CHECK;

/* Does a status line begin here? */
bool nd_http_begins(nd_str bytes);

/* Sets kind, charset and why of *out from a media type ("text/html; charset=x"). */
void nd_http_media(nd_document *out, nd_str type);

/* Turns text (not HTML) whose bytes are clearly binary into ND_KIND_OTHER. */
void nd_http_refuse_binary(nd_document *out);

/* --- http_codec.c --------------------------------------------------------- */
typedef enum nd_http_codec {
  ND_HTTP_IDENTITY,
  ND_HTTP_GZIP,
  ND_HTTP_DEFLATE,
  ND_HTTP_ZSTD,
  ND_HTTP_BROTLI,
  ND_HTTP_COMPRESS,
  ND_HTTP_UNKNOWN
} nd_http_codec;

/* One name of a Content-Encoding, without its parameters. */
nd_http_codec nd_http_codec_of(nd_str name);

typedef struct nd_http_limits {
  uint64_t max_bytes; /* ND_ERR_LIMIT above it */
  bool truncated;     /* accept what was unpacked when the input ends early */
} nd_http_limits;

/* Unpacks `in` into `scratch` (replacing it); *out = `in` itself where it is
 * not packed.  *why is set, and *out meaningless, for a codec we cannot read. */
nd_status nd_http_unpack(nd_str *out, const char **why, nd_buf *scratch, nd_http_codec codec,
                         nd_str in, const nd_http_limits *limits, nd_error *err) ND_MUST_CHECK;

/* No control characters among the first bytes. */
bool nd_http_is_text(nd_str bytes);

#endif
