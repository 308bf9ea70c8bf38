/* Lines of a list; see line_list.h. */
#include "input/line_list.h"

#include <inttypes.h>

enum { PEEK = 1 << 16, LONGEST = 1 << 26 };

const char *nd_line_list_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

static nd_status read_all(nd_stream *s, const char *name, nd_line_each each, void *context,
                          nd_error *err) {
  size_t want = PEEK;
  uint64_t number = 0;
  for (;;) {
    nd_str seen;
    ND_TRY(nd_stream_peek(&seen, s, want, err));
    if (seen.n == 0) return ND_OK;
    const char *last = memrchr(seen.p, '\n', seen.n);
    if (!last && seen.n >= want) {
      want *= 2;
      if (want > LONGEST)
        return nd_fail(err, ND_ERR_DATA, "%s:%" PRIu64 " is longer than 64 MiB; this is no list",
                       name, number + 1);
      continue;
    }
    size_t whole = last ? (size_t)(last - seen.p) + 1 : seen.n;
    for (size_t at = 0; at < whole;) {
      const char *newline = memchr(seen.p + at, '\n', whole - at);
      size_t end = newline ? (size_t)(newline - seen.p) : whole;
      nd_str line = {seen.p + at, end - at};
      number++;
      at = end + 1;
      if (line.n && line.p[line.n - 1] == '\r') line.n--;
      if (line.n) ND_TRY(each(context, line, number, err));
    }
    nd_stream_skip(s, whole);
    want = PEEK;
  }
}

nd_status nd_line_list_read(const char *path, const nd_hooks *hooks, nd_line_each each,
                            void *context, nd_error *err) {
  nd_stream *s = NULL;
  ND_TRY(nd_stream_open_polled(&s, path, hooks, err));
  nd_status status = read_all(s, nd_line_list_name(path), each, context, err);
  nd_stream_close(s);
  return status;
}

static bool is_digit(nd_str t, size_t i) {
  return i < t.n && t.p[i] >= '0' && t.p[i] <= '9';
}

bool nd_line_number(int64_t *out, nd_str t) {
  enum { PLACES = 9, DIGITS = 40 };
  size_t i = 0;
  bool negative = t.n && t.p[0] == '-';
  if (t.n && (t.p[0] == '-' || t.p[0] == '+')) i++;
  char digits[DIGITS]; /* significant ones; a point stands before digits[point] */
  int n = 0, point = 0, seen = 0;
  for (; is_digit(t, i); i++, seen = 1) {
    if (n == 0 && t.p[i] == '0') continue;
    if (n < DIGITS) digits[n++] = t.p[i];
    if (++point > DIGITS) return false;
  }
  if (i < t.n && t.p[i] == '.') {
    for (i++; is_digit(t, i); i++, seen = 1) {
      if (n == 0 && t.p[i] == '0')
        point = point > -1000 ? point - 1 : point;
      else if (n < DIGITS)
        digits[n++] = t.p[i];
    }
  }
  if (!seen) return false;
  if (i < t.n && (t.p[i] == 'e' || t.p[i] == 'E')) {
    bool down = ++i < t.n && t.p[i] == '-';
    if (i < t.n && (t.p[i] == '-' || t.p[i] == '+')) i++;
    int power = 0;
    if (!is_digit(t, i)) return false;
    for (; is_digit(t, i); i++) power = power < 1000 ? power * 10 + (t.p[i] - '0') : power;
    point += down ? -power : power;
  }
  if (i != t.n || (n && point > PLACES)) return false;
  int64_t value = 0;
  for (int k = 0; n && k < point + PLACES; k++) value = value * 10 + (k < n ? digits[k] - '0' : 0);
  *out = negative ? -value : value;
  return true;
}
