/* Progress on standard error: a bar on a terminal, or JSON lines. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static void draw_bar(cli_progress *p, const nd_progress *now) {
  enum { BAR = 24 };
  char line[256];
  double share = fmin(1, (double)now->done / (double)now->total); /* a file may grow */
  int n = snprintf(line, sizeof line, "%-6s ", now->stage);
  if (now->total) {
    line[n++] = '[';
    for (int i = 0; i < BAR; i++) line[n++] = i < (int)(share * BAR) ? '#' : '.';
    line[n++] = ']';
    n += snprintf(line + n, sizeof line - (size_t)n, " %3d%%  %s documents", (int)(share * 100),
                  cli_count(now->documents));
    if (strcmp(now->stage, "read") == 0 && now->seconds > 0.5) {
      double rate = (double)now->done / now->seconds;
      int left = (int)ceil((double)now->total * (1 - share) / fmax(rate, 1));
      n += snprintf(line + n, sizeof line - (size_t)n, "  %s/s  %d:%02d left", cli_bytes(rate),
                    left / 60, left % 60);
    }
  } else if (strcmp(now->stage, "verify") == 0) {
    n += snprintf(line + n, sizeof line - (size_t)n, "%s pairs", cli_count(now->done));
  }
  unsigned width = cli_width(stderr);
  if ((unsigned)n >= width) n = (int)width - 1;
  fprintf(stderr, "\r%.*s\033[K", n, line);
  fflush(stderr);
  p->drawn = 1;
}

static void show(void *context, const nd_progress *now) {
  cli_progress *p = context;
  if (!cli_wait_for_room(STDERR_FILENO)) return;
  if (p->how == CLI_PROGRESS_JSON) {
    fprintf(stderr,
            "{\"stage\": \"%s\", \"done\": %" PRIu64 ", \"total\": %" PRIu64
            ", \"documents\": %" PRIu64 ", \"seconds\": %.3f}\n",
            now->stage, now->done, now->total, now->documents, now->seconds);
    return;
  }
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  double clock = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
  if (clock - p->last < 0.1) return;
  p->last = clock;
  draw_bar(p, now);
}

void cli_progress_start(cli_progress *p, nd_options *options, nd_hooks *hooks) {
  memset(p, 0, sizeof *p);
  const char *term = getenv("TERM");
  int able = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
  const char *how = nd_options_get(options, "progress");
  p->how = strcmp(how, "json") == 0                              ? CLI_PROGRESS_JSON
           : strcmp(how, "auto") == 0 && able && !cli_is_quiet() ? CLI_PROGRESS_BAR
                                                                 : CLI_PROGRESS_NONE;
  cli_interruptible(hooks);
  hooks->context = p;
  hooks->progress = p->how == CLI_PROGRESS_NONE ? NULL : show;
}

void cli_progress_end(cli_progress *p) {
  if (p->drawn) cli_say("\r\033[K");
  p->drawn = 0;
}
