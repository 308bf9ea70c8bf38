/* text: the whole stream is one document.
 *
 * An empty stream has no frame, because a frame of no bytes would repeat forever;
 * the reader of the file makes an empty file a document (whole_stream). */
#include "input/format.h"

enum { STEP = 1 << 16 };

/* Anything can be text, so every other claim wins. */
static int sniff(nd_str head) {
  (void)head;
  return 1;
}

/* Skips to the end of a stream that is too long, window by window. */
static nd_status skip_rest(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  nd_str view;
  do {
    view = (nd_str){NULL, 0};
    nd_status status = nd_stream_peek(&view, s, STEP, err);
    nd_stream_skip(s, view.n);
    out->length += view.n;
    if (status != ND_OK) return status;
  } while (view.n);
  (void)nd_fail(err, ND_ERR_LIMIT, "longer than --max-document (%llu bytes)",
                (unsigned long long)o->max_document);
  return ND_OK;
}

static nd_status frame(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  *out = (nd_frame){ND_FRAME_REJECT, nd_stream_offset(s), 0, {"", 0}};
  nd_str view = {NULL, 0};
  size_t want = STEP;
  for (;;) {
    nd_status status = nd_stream_peek(&view, s, want, err);
    if (status != ND_OK) {
      out->length = view.n;
      nd_stream_skip(s, view.n);
      return status;
    }
    if (view.n > o->max_document) return skip_rest(out, s, o, err);
    if (view.n < want) break;
    want = view.n + view.n / 2 + STEP;
    if (want > o->max_document) want = (size_t)o->max_document + 1;
  }
  nd_stream_skip(s, view.n);
  out->kind = view.n ? ND_FRAME_DOCUMENT : ND_FRAME_END;
  out->length = view.n;
  out->raw = view;
  return ND_OK;
}

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *err) {
  (void)d, (void)o, (void)err;
  *out = (nd_document){.kind = ND_KIND_SNIFF, .body = raw};
  return ND_OK;
}

const nd_format nd_format_text = {.name = "text",
                                  .help = "a document per file",
                                  .whole_stream = true,
                                  .sniff = sniff,
                                  .frame = frame,
                                  .decode = decode};
