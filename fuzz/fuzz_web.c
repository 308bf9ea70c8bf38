/* Web tokens of pages and of plain texts, hosts and sites.  The first line is the
 * page's URL. */
#include "fuzz.h"
#include "text/site.h"
#include "text/web.h"

static bool inside(nd_str part, nd_str whole) {
  return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void check_tokens(const nd_tokens *t) {
  size_t at = 0;
  for (size_t i = 0; i < t->count; i++) {
    fuzz_check(t->end[i] > at && t->end[i] <= t->text.n);
    for (size_t k = at; k < t->end[i]; k++) fuzz_check(t->text.p[k] != ' ' && t->text.p[k] != '\n');
    if (i + 1 < t->count) fuzz_check(t->text.p[t->end[i]] == ' ');
    at = t->end[i] + 1;
  }
  fuzz_check(t->text.n == (t->count ? t->end[t->count - 1] : 0));
  fuzz_note(t->text.p, t->text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
  nd_str url = {(const char *)data, line ? (size_t)(line - data) : 0};
  nd_str page = {(const char *)data + url.n, size - url.n};
  nd_buf text = {0};
  nd_tokens t = {0};
  nd_str host = nd_url_host(url), authority = nd_url_authority(url), site = nd_host_site(host);
  fuzz_check(inside(host, url) && inside(authority, url) && inside(site, host));
  fuzz_check(nd_host_same(host, host));
  uint64_t key = nd_site_key(url);
  fuzz_check((key == 0) == (site.n == 0));
  fuzz_note(&key, sizeof key);
  fuzz_check(nd_html_text_images(&text, page, NULL) == ND_OK);
  fuzz_check(nd_web_split(&t, nd_buf_str(&text), true, url, NULL) == ND_OK);
  check_tokens(&t);
  fuzz_check(nd_web_split(&t, page, false, url, NULL) == ND_OK);
  check_tokens(&t);
  fuzz_check(nd_web_split(&t, page, true, url, NULL) == ND_OK); /* marks anywhere */
  check_tokens(&t);
  nd_buf_clear(&text);
  nd_tokens_clear(&t);
  return 0;
}
