/* Error messages. */
#include "neardup/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_TEXT = 1 << 14, HEAD = 400 };

static bool continues(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* Removes the middle of a message that is too long (a path may have 4,096 bytes), as the reason and
 * the remedy are at the end.  UTF-8 characters are not split. */
static void shorten(char *message, size_t room, const char *text) {
  const char *dots = " ... ";
  size_t n = strlen(text), head = HEAD, from = n - (room - 1 - HEAD - strlen(dots));
  while (head > HEAD - 4 && continues(text[head])) head--;
  while (from < n && continues(text[from])) from++;
  snprintf(message, room, "%.*s%s%s", (int)head, text, dots, text + from);
}

int nd_error_write(nd_error *err, nd_status status, const char *format, ...) {
  if (err == NULL) return 0;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  if (n >= (int)sizeof err->message) {
    char text[LONGEST_TEXT];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    shorten(err->message, sizeof err->message, text);
  }
  err->status = status;
  /* File names and ids are untrusted: no escape sequence may reach a terminal through an error
   * message. */
  for (char *c = err->message; *c; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
  return 1;
}

const char *nd_status_name(nd_status status) {
  switch (status) { /* untaken: no further value */
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
