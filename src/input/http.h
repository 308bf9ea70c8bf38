/* HTTP responses as stored in archives: decodes head, transfer and content encodings
 * and media type; gives the bytes of the body and their kind. */
#ifndef ND_INPUT_HTTP_H
#define ND_INPUT_HTTP_H

#include "input/format.h"

typedef struct nd_http_message {
  nd_str bytes;      /* head and body */
  nd_str type;       /* the media type where the head has none, or empty */
  bool truncated;    /* known to be truncated: a compressed body may end early */
  uint64_t max_body; /* a body that decompresses to more is ND_ERR_LIMIT */
} nd_http_message;

/* Sets kind, body, charset and why of *out.  The body is a view into the
 * message, or into d->body or d->spare if it had to be decompressed.
 *
 * Crawlers often store a decompressed body with its original Content-Encoding; so
 * a body that is not compressed as stated counts as decompressed already. */
nd_status nd_http_decode(nd_document *out, nd_decoder *d, const nd_http_message *m,
                         nd_error *err) ND_MUST_CHECK;

/* Tests for a status line. */
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
  bool truncated;     /* accept a partial result if the input ends early */
} nd_http_limits;

/* Decompresses `in` into `scratch` (replacing it); sets *out to `in` itself if it is not
 * compressed. For an unsupported codec sets *why and leaves *out undefined. */
nd_status nd_http_unpack(nd_str *out, const char **why, nd_buf *scratch, nd_http_codec codec,
                         nd_str in, const nd_http_limits *limits, nd_error *err) ND_MUST_CHECK;

/* Tests that the first bytes have no control characters. */
bool nd_http_is_text(nd_str bytes);

#endif
