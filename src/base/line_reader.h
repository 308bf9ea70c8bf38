/* Reads an open file line by line; lines may have any length. */
#ifndef ND_BASE_LINE_READER_H
#define ND_BASE_LINE_READER_H

#include "base/mem.h"

typedef struct nd_line_reader {
  int fd;           /* borrowed */
  const char *name; /* for messages */
  nd_buf text;      /* [at, n) is not yet returned */
  size_t at;
  uint64_t offset;
} nd_line_reader;

/* Returns the next line without its newline, valid until the next call; p = NULL at the end of the
 * file.  Initialise a reader with {.fd, .name}. */
nd_status nd_line_reader_next(nd_str *out, nd_line_reader *r, nd_error *err) ND_MUST_CHECK;
void nd_line_reader_clear(nd_line_reader *r);

#endif
