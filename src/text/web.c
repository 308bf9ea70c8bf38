/* Web tokens: the text is split at URLs and images; the word tokeniser processes the rest.
 * See web.h. */
#include "text/web.h"

#include "text/site.h"
#include "text/words.h"

static bool is_alnum(char c) {
  return (unsigned)((c | 32) - 'a') < 26 || (unsigned)(c - '0') < 10;
}

static char lower(char c) {
  return (unsigned)(c - 'A') < 26 ? (char)(c | 32) : c;
}

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Tests for a character of RFC 3986. */
static bool is_url_char(char c) {
  return is_alnum(c) || (c && strchr("-._~:/?#[]@!$&'()*+,;=%", c) != NULL);
}

/* Ends the token that starts at `begin` in out->text; removes an empty token and the space
 * before it. */
static nd_status end_token(nd_tokens *out, size_t begin, nd_error *err) {
  if (out->text.n == begin) {
    if (out->count) out->text.n--;
    return ND_OK;
  }
  if (out->text.n >= UINT32_MAX) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "a document has more than 4 GiB of tokens");
  ND_TRY(nd_array_grow(&out->end, &out->cap, out->count + 1, sizeof *out->end, err));
  out->end[out->count++] = (uint32_t)out->text.n;
  return ND_OK;
}

/* Makes room for a token of n bytes and returns its start. */
static nd_status begin_token(size_t *begin, nd_tokens *out, size_t n, nd_error *err) {
  ND_TRY(nd_buf_reserve(&out->text, n + 1, err));
  if (out->count) out->text.p[out->text.n++] = ' ';
  *begin = out->text.n;
  return ND_OK;
}

/* --- URLs in the text ---------------------------------------------------- */

static nd_status put_pieces(nd_tokens *out, nd_str url, nd_error *err) {
  for (size_t i = 0; i < url.n;) {
    size_t stop = i, begin;
    bool word = false;
    for (; stop < url.n && url.p[stop] != '/' && url.p[stop] != '.'; stop++)
      word |= is_alnum(url.p[stop]);
    size_t n = stop - i;
    if (n && i == 0 && url.p[stop - 1] == ':') n--; /* "http:" */
    if (word) {
      ND_TRY(begin_token(&begin, out, n, err));
      for (size_t k = 0; k < n; k++) out->text.p[out->text.n++] = lower(url.p[i + k]);
      ND_TRY(end_token(out, begin, err));
    }
    i = stop + 1;
  }
  return ND_OK;
}

/* Tests whether text[0 .. at) ends with this word (lower case) after no letter or digit. */
static bool ends_with(const char *text, size_t at, const char *word, size_t n) {
  if (at < n) return false;
  for (size_t i = 0; i < n; i++) {
    if (lower(text[at - n + i]) != word[i]) return false;
  }
  return at == n || !is_alnum(text[at - n - 1]);
}

/* Returns the start of the URL whose "://" or "www." has its first mark at `at`, or SIZE_MAX. */
static size_t url_begin(nd_str text, size_t at) {
  static const struct {
    const char *name;
    size_t n;
  } schemes[] = {{"http", 4}, {"https", 5}, {"ftp", 3}};
  const char *p = text.p;
  if (p[at] == '.')
    return ends_with(p, at, "www", 3) && at + 1 < text.n && is_alnum(p[at + 1]) ? at - 3 : SIZE_MAX;
  if (text.n - at < 4 || p[at + 1] != '/' || p[at + 2] != '/' || !is_url_char(p[at + 3]))
    return SIZE_MAX;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (ends_with(p, at, schemes[i].name, schemes[i].n)) return at - schemes[i].n;
  }
  return SIZE_MAX;
}

static size_t url_end(nd_str text, size_t at) {
  while (at < text.n && is_url_char(text.p[at])) at++;
  while (strchr(".,:;!?'()[]", text.p[at - 1])) at--; /* stops at a letter */
  return at;
}

/* Finds the next occurrence of a byte from `at`; caches it, so that a text is searched once
 * per byte. */
typedef struct finder {
  size_t dot, colon;
} finder;

static size_t next_of(nd_str text, size_t at, char c) {
  const char *p = at < text.n ? memchr(text.p + at, c, text.n - at) : NULL;
  return p ? (size_t)(p - text.p) : text.n;
}

/* Appends the words and URLs of a text without images. */
static nd_status put_text(nd_tokens *out, nd_str text, nd_error *err) {
  finder f = {next_of(text, 0, '.'), next_of(text, 0, ':')};
  size_t done = 0;
  for (;;) {
    size_t at = f.dot < f.colon ? f.dot : f.colon;
    if (at == text.n) break;
    size_t begin = url_begin(text, at), end = at + 1;
    /* A URL never starts inside the previous one, which would include its mark. */
    if (begin != SIZE_MAX) {
      end = url_end(text, at);
      ND_TRY(nd_words_append(out, (nd_str){text.p + done, begin - done}, ND_TOKENS_WORDS, err));
      ND_TRY(put_pieces(out, (nd_str){text.p + begin, end - begin}, err));
      done = end;
    }
    if (f.dot < end) f.dot = next_of(text, end, '.');
    if (f.colon < end) f.colon = next_of(text, end, ':');
  }
  return nd_words_append(out, (nd_str){text.p + done, text.n - done}, ND_TOKENS_WORDS, err);
}

/* --- images ------------------------------------------------------------------ */

static nd_str strip(nd_str s) {
  while (s.n && is_space(s.p[0])) s = (nd_str){s.p + 1, s.n - 1};
  while (s.n && is_space(s.p[s.n - 1])) s.n--;
  return s;
}

/* "data:" and other schemes without a host are not files of the page. */
static bool has_scheme(nd_str url) {
  for (size_t i = 0; i < url.n; i++) {
    char c = lower(url.p[i]);
    if (c == ':') return i > 0;
    if ((unsigned)(c - 'a') >= 26 && (i == 0 || ((unsigned)(c - '0') >= 10 && !strchr("+-.", c))))
      return false;
  }
  return false;
}

static nd_str file_name(nd_str url, nd_str authority) {
  size_t begin = authority.n ? (size_t)(authority.p + authority.n - url.p) : 0;
  size_t end = begin, from = begin;
  while (end < url.n && url.p[end] != '?' && url.p[end] != '#') end++;
  for (size_t i = begin; i < end; i++) {
    if (url.p[i] == '/') from = i + 1;
  }
  /* "http://host" has no path at all */
  if (authority.n && from == begin) from = end;
  return (nd_str){url.p + from, end - from};
}

static nd_status put_image(nd_tokens *out, nd_str url, nd_str host, nd_error *err) {
  url = strip(url);
  nd_str authority = nd_url_authority(url), term = url;
  size_t folded = 0; /* number of leading bytes to lower-case */
  if (authority.n) {
    if (host.n && nd_host_same(authority, host))
      term = file_name(url, authority);
    else
      folded = (size_t)(authority.p + authority.n - url.p);
  } else if (!has_scheme(url)) {
    term = file_name(url, authority);
  }
  size_t begin;
  ND_TRY(begin_token(&begin, out, term.n, err));
  for (size_t i = 0; i < term.n; i++) {
    if (is_space(term.p[i])) continue;
    out->text.p[out->text.n++] = i < folded ? lower(term.p[i]) : term.p[i];
  }
  return end_token(out, begin, err);
}

nd_status nd_web_split(nd_tokens *out, nd_str utf8, bool images, nd_str page_url, nd_error *err) {
  out->text.n = 0;
  out->count = 0;
  if (!images) return put_text(out, utf8, err);
  nd_str host = nd_url_host(strip(page_url));
  for (size_t i = 0; i < utf8.n;) {
    size_t mark = next_of(utf8, i, 0);
    ND_TRY(put_text(out, (nd_str){utf8.p + i, mark - i}, err));
    if (mark == utf8.n) break;
    size_t close = next_of(utf8, mark + 1, 0);
    ND_TRY(put_image(out, (nd_str){utf8.p + mark + 1, close - mark - 1}, host, err));
    i = close + 1;
  }
  return ND_OK;
}
