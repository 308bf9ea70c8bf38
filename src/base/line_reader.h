/* The lines of an open file, one after another, however long it is. */
#ifndef ND_BASE_LINE_READER_H
#define ND_BASE_LINE_READER_H

#include "base/mem.h"

typedef struct nd_line_reader {
  int fd;           /* the caller's */
  const char *name; /* for messages */
  nd_buf text;      /* [at, n) is still to be read */
  size_t at;
  uint64_t offset;
} nd_line_reader;

/* The next line without its end, valid until the next call; p = NULL at the end of the file.
 * {.fd, .name} is a fresh reader. */
nd_status nd_line_reader_next(nd_str *out, nd_line_reader *r, nd_error *err) ND_MUST_CHECK;
void nd_line_reader_clear(nd_line_reader *r);

#endif
