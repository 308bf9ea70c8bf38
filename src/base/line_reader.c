/* The lines of a file; see line_reader.h. */
#include "base/line_reader.h"

#include "base/io.h"

enum { READ_BLOCK = 1 << 16 };

nd_status nd_line_reader_next(nd_str *out, nd_line_reader *r, nd_error *err) {
  for (;;) {
    const char *begin = r->text.p ? r->text.p + r->at : NULL;
    const char *end = begin ? memchr(begin, '\n', r->text.n - r->at) : NULL;
    if (end) {
      *out = (nd_str){begin, (size_t)(end - begin)};
      r->at += out->n + 1;
      return ND_OK;
    }
    if (r->text.p && r->at) {
      memmove(r->text.p, r->text.p + r->at, r->text.n - r->at);
      r->text.n -= r->at;
      r->at = 0;
    }
    size_t got;
    ND_TRY(nd_buf_reserve(&r->text, READ_BLOCK, err));
    ND_TRY(nd_io_pread(&got, r->fd, r->text.p + r->text.n, READ_BLOCK, r->offset, r->name, err));
    r->offset += got;
    r->text.n += got;
    if (got) continue;
    *out = (nd_str){r->text.n ? r->text.p : NULL, r->text.n};
    r->at = r->text.n;
    return ND_OK;
  }
}

void nd_line_reader_clear(nd_line_reader *r) {
  nd_buf_clear(&r->text);
}
