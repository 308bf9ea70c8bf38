/* Messages for people. */
#include "neardup/status.h"

#include <stdarg.h>
#include <stdio.h>

int nd_error_write(nd_error *err, nd_status status, const char *format, ...) {
  if (err == NULL) return 0;
  va_list args;
  va_start(args, format);
  vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  err->status = status;
  /* File names and ids come from strangers: no escape sequence may reach a
   * terminal through an error message. */
  for (char *c = err->message; *c; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
  return 1;
}

const char *nd_status_name(nd_status status) {
  switch (status) {
    case ND_OK: return "ok";
    case ND_ERR_USAGE: return "usage";
    case ND_ERR_MEMORY: return "memory";
    case ND_ERR_IO: return "io";
    case ND_ERR_DATA: return "data";
    case ND_ERR_LIMIT: return "limit";
    case ND_ERR_STATE: return "state";
    case ND_ERR_CANCELLED: return "cancelled";
  }
  return "unknown";
}
