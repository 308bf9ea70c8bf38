/* Interruptions: Ctrl-C, and readers of standard output that do not read or go away. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;
static int stdout_gone;

static void on_signal(int number) {
  /* untaken: ends before it is counted */
  if (interrupted) _exit(128 + number); /* asked twice: at once */
  interrupted = number;
}

static int is_cancelled(void *context) {
  (void)context;
  return interrupted;
}

int cli_wait_for_room(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  while (!interrupted) {
    int ready = poll(&p, 1, 20);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
  }
  return 0;
}

/* Returns whether a message would be read, or could at least be left there. */
static int has_room(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  return poll(&p, 1, 0) != 0;
}

void cli_interruptible(nd_hooks *hooks) {
  *hooks = (nd_hooks){.cancelled = is_cancelled};
  /* Without SA_RESTART, so that a signal ends a call that waits. */
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

static nd_status write_all(const char *bytes, size_t n, nd_error *err) {
  struct stat st;
  /* untaken: the system never refuses this */
  int plain = fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode);
  while (n) {
    if (!plain && !cli_wait_for_room(STDOUT_FILENO))
      return nd_fail(err, ND_ERR_CANCELLED, "interrupted");
    ssize_t put = write(STDOUT_FILENO, bytes, plain || n < PIPE_BUF ? n : PIPE_BUF);
    if (interrupted) return nd_fail(err, ND_ERR_CANCELLED, "interrupted");
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      stdout_gone = errno == EPIPE;
      return nd_fail(err, ND_ERR_IO, "cannot write to standard output: %s", strerror(errno));
    }
    bytes += put;
    n -= (size_t)put;
  }
  return ND_OK;
}

static nd_status write_unchanged(void *context, const char *bytes, size_t n, nd_error *err) {
  (void)context;
  return write_all(bytes, n, err);
}

static nd_status write_harmless(void *context, const char *bytes, size_t n, nd_error *err) {
  (void)context;
  char part[4096];
  while (n) {
    size_t m = n < sizeof part ? n : sizeof part;
    if (m < n && (unsigned char)bytes[m - 1] == 0xc2) m--; /* the second byte decides */
    memcpy(part, bytes, m);
    cli_make_harmless(part, m);
    nd_status status = write_all(part, m, err);
    if (status != ND_OK) return status; /* untaken: the terminal is gone */
    bytes += m;
    n -= m;
  }
  return ND_OK;
}

nd_sink cli_stdout(void) {
  return (nd_sink){NULL, isatty(STDOUT_FILENO) ? write_harmless : write_unchanged};
}

nd_sink cli_stdout_coloured(void) {
  return (nd_sink){NULL, write_unchanged};
}

void cli_say(const char *line) {
  if (!cli_is_quiet() && has_room(STDERR_FILENO)) fputs(line, stderr);
}

int cli_exit(nd_status status, const nd_error *err, const nd_summary *summary) {
  /* untaken: ends before it is counted */
  if (stdout_gone) { /* the reader left: end as programs in a pipe do */
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  if (status == ND_OK) return summary->rejected ? EXIT_REJECTED : EXIT_DONE;
  if (!interrupted || has_room(STDERR_FILENO)) cli_complain("%s", err->message);
  if (interrupted) return 128 + interrupted; /* also where it made a call fail */
  return status == ND_ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}
