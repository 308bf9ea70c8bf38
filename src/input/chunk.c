/* Texts of chunks, read in place; see neardup/memory.h.
 *
 * A view of Arrow's string_view is 16 bytes:
 *
 *   n <= 12   int32 n | the bytes themselves
 *   else      int32 n | 4 bytes prefix | int32 buffer | int32 offset */
#include <inttypes.h>

#include "base/mem.h"
#include "neardup/memory.h"

enum { INLINE_VIEW = 12, VIEW = 16 };

static nd_status bad(const char *what, uint64_t i, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA, "text %" PRIu64 " of a chunk %s: the column is damaged", i,
                 what);
}

static nd_status view_text(nd_str *out, const nd_chunk *c, uint64_t i, nd_error *err) {
  const char *view = (const char *)c->index + (c->first + i) * VIEW;
  int32_t n, buffer, offset;
  memcpy(&n, view, 4);
  if (n < 0) return bad("has a negative length", i, err);
  if (n <= INLINE_VIEW) {
    *out = (nd_str){view + 4, (size_t)n};
    return ND_OK;
  }
  memcpy(&buffer, view + 8, 4);
  memcpy(&offset, view + 12, 4);
  if (buffer < 0 || (uint64_t)buffer >= c->buffer_n || offset < 0 ||
      (int64_t)offset + n > c->sizes[buffer])
    return bad("lies outside its buffers", i, err);
  *out = (nd_str){c->buffers[buffer] + offset, (size_t)n};
  return ND_OK;
}

static nd_status span_text(nd_str *out, const nd_chunk *c, uint64_t i, int64_t begin, int64_t end,
                           nd_error *err) {
  if (begin < 0 || end < begin) return bad("ends before it begins", i, err);
  if (end > begin && !c->bytes) return bad("has no bytes", i, err);
  *out = (nd_str){end > begin ? c->bytes + begin : "", (size_t)(end - begin)};
  return ND_OK;
}

nd_status nd_chunk_text(nd_str *out, int *null, const nd_chunk *c, uint64_t i, nd_error *err) {
  uint64_t at = c->first + i;
  *out = (nd_str){"", 0};
  *null = c->valid && !(c->valid[at >> 3] >> (at & 7) & 1);
  if (*null) return ND_OK;
  switch (c->layout) { /* untaken: no further value */
    case ND_LAYOUT_STR: {
      nd_str text = ((const nd_str *)c->index)[at];
      *null = text.p == NULL;
      if (text.p) *out = text;
      return ND_OK;
    }
    case ND_LAYOUT_OFFSET32: {
      const int32_t *offset = c->index;
      return span_text(out, c, i, offset[at], offset[at + 1], err);
    }
    case ND_LAYOUT_OFFSET64: {
      const int64_t *offset = c->index;
      return span_text(out, c, i, offset[at], offset[at + 1], err);
    }
    case ND_LAYOUT_VIEW: return view_text(out, c, i, err);
  }
  return nd_fail(err, ND_ERR_USAGE, "a chunk of texts has an unknown layout");
}
