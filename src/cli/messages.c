/* Messages for people on standard error, and numbers in them.
 *
 * Errors are always printed.  --quiet leaves out notes (the summary) and warnings. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static bool quiet;

void cli_set_quiet(void) {
  quiet = true;
}

int cli_is_quiet(void) {
  return quiet;
}

void cli_make_harmless(char *p, size_t n) {
  unsigned char before = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)p[i];
    if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) p[i] = '?';
    if (before == 0xc2 && c >= 0x80 && c < 0xa0) p[i - 1] = p[i] = '?';
    before = c;
  }
}

const char *cli_shown(const char *text) {
  static char buffers[4][2048];
  static int next;
  if (!isatty(STDERR_FILENO)) return text;
  char *out = buffers[next++ & 3];
  snprintf(out, sizeof *buffers, "%s", text);
  cli_make_harmless(out, strlen(out));
  return out;
}

static void complain(const char *format, va_list args) {
  char message[8192];
  vsnprintf(message, sizeof message, format, args);
  if (isatty(STDERR_FILENO)) cli_make_harmless(message, strlen(message));
  fprintf(stderr, "neardup: %s\n", message);
}

void cli_complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain(format, args);
  va_end(args);
}

void cli_warn(const char *format, ...) {
  if (quiet) return;
  va_list args;
  va_start(args, format);
  complain(format, args);
  va_end(args);
}

void cli_note(const char *format, ...) {
  if (quiet) return;
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
}

const char *cli_plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

const char *cli_count(uint64_t n) {
  static char buffers[8][32];
  static int next;
  char *out = buffers[next++ & 7], digits[32];
  int length = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = '\0';
  return out;
}

const char *cli_bytes(double n) {
  static char buffers[8][32];
  static int next;
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (n >= 999.5 && unit < 5) { /* untaken: more than 999 PB */
    n /= 1000;
    unit++;
  }
  char *out = buffers[next++ & 7];
  snprintf(out, 32, unit && n < 99.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
  return out;
}
