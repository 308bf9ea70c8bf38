/* lines: a line is a document.  Also the framing by line that jsonl and sets
 * share. */
#include "input/format.h"

enum { STEP = 1 << 16 };

static bool is_blank(nd_str line) {
  for (size_t i = 0; i < line.n; i++) {
    char c = line.p[i];
    if (c != ' ' && !(c >= '\t' && c <= '\r')) return false;
  }
  return true;
}

static nd_status too_long(nd_frame *out, const nd_input_options *o, nd_error *err) {
  out->kind = ND_FRAME_REJECT;
  (void)nd_fail(err, ND_ERR_LIMIT, "longer than --max-document (%llu bytes)",
                (unsigned long long)o->max_document);
  return ND_OK;
}

/* Skips the rest of a line that is too long, window by window. */
static nd_status skip_line(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  for (;;) {
    nd_str view = {NULL, 0};
    nd_status status = nd_stream_peek(&view, s, 1, err);
    const char *newline = view.n ? memchr(view.p, '\n', view.n) : NULL;
    size_t n = newline ? (size_t)(newline - view.p) + 1 : view.n;
    nd_stream_skip(s, n);
    out->length += n;
    if (newline || (status == ND_OK && view.n == 0)) return too_long(out, o, err);
    if (status != ND_OK) return status;
  }
}

nd_status nd_frame_any_line(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  *out = (nd_frame){ND_FRAME_REJECT, nd_stream_offset(s), 0, {"", 0}};
  nd_str view = {NULL, 0};
  size_t seen = 0, want = 1;
  for (;;) {
    nd_status status = nd_stream_peek(&view, s, want, err);
    const char *newline = view.n > seen ? memchr(view.p + seen, '\n', view.n - seen) : NULL;
    if (newline) {
      view.n = (size_t)(newline - view.p);
      out->length = view.n + 1;
      break;
    }
    if (status != ND_OK || view.n < want) {
      out->length = view.n;
      if (status != ND_OK) {
        nd_stream_skip(s, view.n);
        return status;
      }
      if (view.n == 0) {
        out->kind = ND_FRAME_END;
        return ND_OK;
      }
      break;
    }
    seen = view.n;
    if (seen - 1 > o->max_document) { /* even if its last byte is a "\r" */
      out->length = seen;
      nd_stream_skip(s, seen);
      return skip_line(out, s, o, err);
    }
    want = seen + seen / 2 + STEP;
  }
  nd_stream_skip(s, (size_t)out->length);
  if (view.n && view.p[view.n - 1] == '\r') view.n--;
  if (view.n > o->max_document) return too_long(out, o, err);
  out->kind = ND_FRAME_DOCUMENT;
  out->raw = view;
  return ND_OK;
}

nd_status nd_frame_line(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  ND_TRY(nd_frame_any_line(out, s, o, err));
  if (out->kind == ND_FRAME_DOCUMENT && is_blank(out->raw)) {
    out->kind = ND_FRAME_OTHER;
    out->raw = (nd_str){"", 0};
  }
  return ND_OK;
}

/* Any text has lines: only the user can say that each is a document. */
static int sniff(nd_str head) {
  (void)head;
  return 0;
}

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *err) {
  (void)d, (void)o, (void)err;
  *out = (nd_document){.kind = ND_KIND_TEXT, .body = raw};
  return ND_OK;
}

/* A blank line is a document without words, so line numbers match those of an editor. */
const nd_format nd_format_lines = {.name = "lines",
                                   .help = "a document per line",
                                   .line_based = true,
                                   .blank_lines = true,
                                   .sniff = sniff,
                                   .frame = nd_frame_any_line,
                                   .decode = decode};
