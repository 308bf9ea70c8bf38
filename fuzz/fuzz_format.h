/* A format over hostile bytes: frames tile the stream, records decode or are
 * rejected with a reason, and nothing is larger than allowed. */
#ifndef FUZZ_FORMAT_H
#define FUZZ_FORMAT_H

#include "fuzz.h"
#include "input/format.h"

enum { FUZZ_MOST = 1 << 16 }; /* --max-document */

static inline void fuzz_note_document(const nd_document *d) {
  int kind = (int)d->kind;
  fuzz_note(&kind, sizeof kind);
  fuzz_note(d->id.p, d->id.n);
  fuzz_note(d->url.p, d->url.n);
  fuzz_note(d->body.p, d->body.n);
  fuzz_check(d->body.n <= FUZZ_MOST);
  fuzz_check(d->kind != ND_KIND_OTHER || d->why != NULL);
}

static inline void fuzz_format(const nd_format *format, nd_str bytes) {
  const nd_input_options options = {"id", "text", "url", "time", "score", FUZZ_MOST};
  nd_error err = {0};
  nd_stream *s = NULL;
  nd_decoder decoder = {0};
  fuzz_check(nd_stream_open_memory(&s, bytes, "fuzz", &err) == ND_OK);
  uint64_t at = 0;
  for (;;) {
    nd_frame frame = {0};
    err.message[0] = '\0';
    nd_status status = format->frame(&frame, s, &options, &err);
    if (status == ND_ERR_DATA) { /* damage of the packing: go on behind it */
      fuzz_check(err.message[0]);
      bool found = false;
      if (nd_stream_recover(&found, s, &err) != ND_OK || !found) break;
      at = nd_stream_offset(s);
      continue;
    }
    fuzz_check(status == ND_OK);
    if (frame.kind == ND_FRAME_END) break;
    fuzz_check(frame.offset == at && frame.length > 0);
    at += frame.length;
    fuzz_check(nd_stream_offset(s) == at);
    if (frame.kind == ND_FRAME_REJECT) fuzz_check(err.message[0]);
    if (frame.kind != ND_FRAME_DOCUMENT) continue;
    nd_document d = {0};
    err.message[0] = '\0';
    status = format->decode(&d, &decoder, frame.raw, &options, &err);
    if (status == ND_OK)
      fuzz_note_document(&d);
    else
      fuzz_check((status == ND_ERR_DATA || status == ND_ERR_LIMIT) && err.message[0]);
  }
  nd_decoder_clear(&decoder);
  nd_stream_close(s);
}

#endif
