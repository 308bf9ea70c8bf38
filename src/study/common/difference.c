/* Classification of differences; see difference.h.  Simple rules on the words that differ,
 * in a fixed order, so that a reader can check the result. */
#include "study/common/difference.h"

const char *nd_difference_name(nd_difference kind) {
  static const char *const names[ND_DIFFERENCES] = {"exact",       "url",       "time",
                                                    "counter",     "passage",   "contained",
                                                    "boilerplate", "editorial", "other"};
  return names[kind];
}

const char *nd_difference_text(nd_difference kind) {
  static const char *const texts[ND_DIFFERENCES] = {"the same words in the same order",
                                                    "the same words under two URLs",
                                                    "only dates and times differ",
                                                    "only numbers or generated names differ",
                                                    "one passage was inserted or deleted",
                                                    "one document is contained in the other",
                                                    "the same frame around a different core",
                                                    "changes in several places",
                                                    "little in common"};
  return texts[kind];
}

/* --- URLs ------------------------------------------------------------------------- */

const char *nd_url_difference_name(nd_url_difference d) {
  static const char *const names[ND_URL_DIFFERENCES] = {
      "same", "scheme", "www", "index page", "session id", "query", "path", "host"};
  return names[d];
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool starts(nd_str s, const char *prefix) {
  size_t n = strlen(prefix);
  if (s.n < n) return false;
  for (size_t i = 0; i < n; i++)
    if (lower(s.p[i]) != prefix[i]) return false;
  return true;
}

static nd_str after(nd_str s, size_t n) {
  return (nd_str){s.p + n, s.n - n};
}

static size_t find(nd_str s, char c) {
  const char *p = s.n ? memchr(s.p, c, s.n) : NULL;
  return p ? (size_t)(p - s.p) : s.n;
}

/* Parameters that identify visitors, not pages. */
static bool is_session(nd_str parameter) {
  static const char *const names[] = {"jsessionid=", "phpsessid=", "sessionid=",   "session_id=",
                                      "session=",    "sid=",       "s=",           "utm_",
                                      "fbclid=",     "gclid=",     "aspsessionid", "cfid=",
                                      "cftoken=",    "osid=",      "oscsid="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (starts(parameter, names[i])) return true;
  return false;
}

static nd_status put_query(nd_buf *out, nd_str query, nd_error *err) {
  bool first = true;
  while (query.n) {
    size_t n = find(query, '&');
    nd_str parameter = {query.p, n};
    query = after(query, n < query.n ? n + 1 : n);
    if (is_session(parameter)) continue;
    ND_TRY(nd_buf_append(out, first ? "?" : "&", 1, err));
    ND_TRY(nd_buf_append(out, parameter.p, parameter.n, err));
    first = false;
  }
  return ND_OK;
}

static nd_str without_index(nd_str path) {
  static const char *const names[] = {"index.html",  "index.htm",    "index.php",   "index.asp",
                                      "index.aspx",  "index.jsp",    "default.htm", "default.html",
                                      "default.asp", "default.aspx", "home.html"};
  size_t slash = path.n;
  while (slash > 0 && path.p[slash - 1] != '/') slash--;
  nd_str file = after(path, slash);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (file.n == strlen(names[i]) && starts(file, names[i])) path.n = slash;
  while (path.n && path.p[path.n - 1] == '/') path.n--;
  return path;
}

/* Normalises a URL so that differences up to `level`, below ND_URL_HOST, vanish. */
static nd_status reduce(nd_buf *out, nd_str url, nd_url_difference level, nd_error *err) {
  out->n = 0;
  url.n = find(url, '#');
  if (level >= ND_URL_SCHEME) {
    if (starts(url, "https://")) url = after(url, 8);
    if (starts(url, "http://")) url = after(url, 7);
  }
  if (level >= ND_URL_WWW && starts(url, "www.")) url = after(url, 4);
  size_t host_end = find(url, '/'), mark = find(url, '?');
  if (level < ND_URL_SCHEME) return nd_buf_append(out, url.p, url.n, err);
  if (host_end > mark) host_end = mark;
  nd_str host = {url.p, host_end}, path = {url.p + host_end, mark - host_end};
  nd_str query = after(url, mark < url.n ? mark + 1 : mark);
  if (level >= ND_URL_SESSION) path.n = find(path, ';');
  if (level >= ND_URL_INDEX) path = without_index(path);
  for (size_t i = 0; i < host.n; i++) {
    char c = lower(host.p[i]);
    ND_TRY(nd_buf_append(out, &c, 1, err));
  }
  if (level < ND_URL_PATH) ND_TRY(nd_buf_append(out, path.p, path.n, err));
  if (level < ND_URL_SESSION && mark < url.n) ND_TRY(nd_buf_append(out, "?", 1, err));
  if (level < ND_URL_SESSION) return nd_buf_append(out, query.p, query.n, err);
  return level < ND_URL_QUERY ? put_query(out, query, err) : ND_OK;
}

nd_status nd_url_compare(nd_url_difference *out, nd_str a, nd_str b, nd_error *err) {
  nd_buf x = {0}, y = {0};
  nd_status status = ND_OK;
  nd_url_difference level = ND_URL_SAME;
  if (a.n && b.n) {
    for (; status == ND_OK && level < ND_URL_HOST; level = (nd_url_difference)(level + 1)) {
      status = reduce(&x, a, level, err);
      if (status == ND_OK) status = reduce(&y, b, level, err);
      if (status == ND_OK && nd_str_eq(nd_buf_str(&x), nd_buf_str(&y))) break;
    }
  }
  nd_buf_clear(&x);
  nd_buf_clear(&y);
  *out = level;
  return status;
}

/* --- words ---------------------------------------------------------------------- */

static size_t digits_of(nd_str w) {
  size_t n = 0;
  while (n < w.n && w.p[n] >= '0' && w.p[n] <= '9') n++;
  return n;
}

static bool is_one_of(nd_str w, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (w.n == strlen(list[i]) && memcmp(w.p, list[i], w.n) == 0) return true;
  return false;
}

/* Words that occur only in dates and times. */
static bool is_time_name(nd_str w) {
  static const char *const names[] = {
      "january",   "february", "march",     "april",    "may",    "june",     "july",   "august",
      "september", "october",  "november",  "december", "jan",    "feb",      "mar",    "apr",
      "jun",       "jul",      "aug",       "sep",      "sept",   "oct",      "nov",    "dec",
      "monday",    "tuesday",  "wednesday", "thursday", "friday", "saturday", "sunday", "mon",
      "tue",       "tues",     "wed",       "thu",      "thur",   "thurs",    "fri",    "sat",
      "sun",       "am",       "pm",        "gmt",      "utc",    "est",      "edt",    "cst",
      "cdt",       "mst",      "mdt",       "pst",      "pdt",    "cet",      "cest",   "bst"};
  return is_one_of(w, names, sizeof names / sizeof *names);
}

static bool is_year(nd_str w) {
  return w.n == 4 && digits_of(w) == 4 && (memcmp(w.p, "19", 2) == 0 || memcmp(w.p, "20", 2) == 0);
}

/* Tests whether a word may be part of a date or time; *sure: it almost certainly is. */
static bool is_time(nd_str w, bool *sure) {
  size_t d = digits_of(w);
  if (is_time_name(w) || is_year(w)) {
    *sure = true;
    return true;
  }
  if (d == w.n && (d == 8 || d == 14) && (w.p[0] == '1' || w.p[0] == '2')) {
    *sure = true; /* 20060102150405 */
    return true;
  }
  if (d == w.n) return d <= 2 || (d == 3 && w.p[0] != '0'); /* hours to milliseconds */
  nd_str rest = after(w, d);                                /* not empty */
  if (d == 0 || d > 2) return false;
  if ((rest.p[0] == 't' || rest.p[0] == 'z') && digits_of(after(rest, 1)) == rest.n - 1) {
    *sure = true; /* 02t15 of an ISO time, 05z */
    return true;
  }
  static const char *const endings[] = {"st", "nd", "rd", "th", "am", "pm", "h"};
  if (!is_one_of(rest, endings, 7)) return false;
  *sure = true;
  return true;
}

/* Tests for a number or a generated name: hexadecimal letters with digits. */
static bool is_counter(nd_str w) {
  size_t digits = 0, hex = 0;
  for (size_t i = 0; i < w.n; i++) {
    digits += w.p[i] >= '0' && w.p[i] <= '9';
    hex += w.p[i] >= 'a' && w.p[i] <= 'f';
  }
  if (digits == w.n) return true;
  if (w.n >= 8 && digits >= 1 && digits + hex == w.n) return true;
  return w.n >= 12 && digits >= 3; /* a session id */
}

typedef struct evidence {
  bool time, counter, sure_time;
} evidence;

static void look(evidence *e, const nd_tokens *t, size_t first, size_t n) {
  for (size_t i = first; i < first + n && (e->time || e->counter); i++) {
    nd_str w = nd_token(t, i);
    if (e->time && !is_time(w, &e->sure_time)) e->time = false;
    if (e->counter && !is_counter(w)) e->counter = false;
  }
}

/* A time may include words that do not differ: "12 March 2009". */
static void look_around(evidence *e, const nd_tokens *t, size_t first, size_t n) {
  size_t from = first > 3 ? first - 3 : 0, to = first + n + 3 < t->count ? first + n + 3 : t->count;
  for (size_t i = from; i < to; i++) {
    nd_str w = nd_token(t, i);
    if (is_time_name(w) || is_year(w)) e->sure_time = true;
  }
}

static bool one_passage(const nd_diff *d) {
  size_t changes = 0;
  bool one_sided = true;
  for (size_t i = 0; i < d->n; i++) {
    if (d->runs[i].same) continue;
    changes++;
    one_sided = one_sided && (d->runs[i].a_n == 0 || d->runs[i].b_n == 0);
  }
  return changes == 1 && one_sided;
}

/* The largest change has most of the differing words, and much of both documents. */
static bool other_core(const nd_diff *d, size_t n, size_t m) {
  uint64_t most = 0, changed = d->only_a + d->only_b;
  nd_diff_run core = {0};
  for (size_t i = 0; i < d->n; i++) {
    const nd_diff_run *r = &d->runs[i];
    if (r->same || (uint64_t)r->a_n + r->b_n <= most) continue;
    most = (uint64_t)r->a_n + r->b_n;
    core = *r;
  }
  return most * 10 >= changed * 6 && (uint64_t)core.a_n * 7 >= n && (uint64_t)core.b_n * 7 >= m;
}

nd_difference nd_difference_kind(nd_diff *d, const nd_tokens *a, const nd_tokens *b,
                                 nd_url_difference url) {
  if (d->only_a + d->only_b == 0)
    return url == ND_URL_SAME ? ND_DIFFERENCE_EXACT : ND_DIFFERENCE_URL;
  evidence e = {true, true, false};
  for (size_t i = 0; i < d->n; i++) {
    const nd_diff_run *r = &d->runs[i];
    if (r->same) continue;
    look(&e, a, r->a, r->a_n);
    look(&e, b, r->b, r->b_n);
    if (e.time) look_around(&e, a, r->a, r->a_n);
  }
  if (e.time && e.sure_time) return ND_DIFFERENCE_TIME;
  if (e.counter) return ND_DIFFERENCE_COUNTER;
  uint64_t least = a->count < b->count ? a->count : b->count;
  uint64_t most = a->count < b->count ? b->count : a->count;
  if (one_passage(d) && d->same) return ND_DIFFERENCE_PASSAGE;
  if (d->same * 20 >= least * 19 && d->same && most * 10 >= least * 12)
    return ND_DIFFERENCE_CONTAINED;
  if (d->same * 5 < most) return ND_DIFFERENCE_OTHER;
  nd_diff_join_islands(d, 5);
  return other_core(d, a->count, b->count) ? ND_DIFFERENCE_BOILERPLATE : ND_DIFFERENCE_EDITORIAL;
}
