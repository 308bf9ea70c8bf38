/* The progress line of the command, drawn from any report: what a terminal gets to see of runs
 * that take longer than a test may. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/interrupt.c"
#include "cli/messages.c"
#include "cli/progress.c"

static unsigned width;
unsigned cli_width(FILE *of) {
  (void)of;
  return width;
}

/* What is drawn, without the escape sequence at its end. */
static const char *drawn(nd_progress now) {
  static char text[400];
  char path[] = "/tmp/nd_test_progress_XXXXXX";
  int file = mkstemp(path), saved = dup(STDERR_FILENO);
  assert_true(file >= 0 && saved >= 0);
  unlink(path);
  cli_progress p = {.how = CLI_PROGRESS_BAR};
  fflush(stderr);
  dup2(file, STDERR_FILENO);
  draw_bar(&p, &now);
  dup2(saved, STDERR_FILENO);
  ssize_t n = pread(file, text, sizeof text - 1, 0);
  close(saved);
  close(file);
  assert_true(n > 4 && p.drawn);
  assert_int_equal(text[0], '\r');
  assert_memory_equal(text + n - 3, "\033[K", 3);
  text[n - 3] = '\0';
  return text + 1;
}

static void progress_line_fits_the_terminal(void **state) {
  (void)state;
  static const struct {
    nd_progress now; /* stage, done, total, documents, seconds */
    const char *line;
  } rows[] = {
      {{"read", 50, 100, 1234, 2}, /* the time that is left */
       "read   [############............]  50%  1,234 documents  25 B/s  0:02 left"},
      {{"read", 0, 100, 0, 0.4}, "read   [........................]   0%  0 documents"},
      {{"read", 0, 100, 0, 1}, /* nothing yet: no division by it */
       "read   [........................]   0%  0 documents  0 B/s  1:40 left"},
      {{"read", 300, 100, 7, 1}, /* a file that has grown */
       "read   [########################] 100%  7 documents  300 B/s  0:00 left"},
      {{"find", 5, 10, 99, 9}, "find   [############............]  50%  99 documents"},
      {{"verify", 12345, 0, 99, 9}, "verify 12,345 pairs"},
      {{"write", 0, 0, 99, 9}, "write  "},
  };
  width = 200;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(drawn(rows[i].now), rows[i].line);
  width = 20;
  assert_string_equal(drawn(rows[0].now), "read   [###########");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(progress_line_fits_the_terminal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
