/* Hosts and sites; see site.h. */
#include "text/site.h"

#include <xxhash.h>

static char lower(char c) {
  return (unsigned)(c - 'A') < 26 ? (char)(c | 32) : c;
}

static bool is_scheme_char(char c) {
  return (unsigned)(lower(c) - 'a') < 26 || (unsigned)(c - '0') < 10 || c == '+' || c == '-' ||
         c == '.';
}

/* "user@host:port/path" → host. */
static nd_str host_of_authority(nd_str s) {
  size_t end = 0, begin = 0;
  while (end < s.n && s.p[end] != '/' && s.p[end] != '?' && s.p[end] != '#' && s.p[end] != '\\')
    end++;
  for (size_t i = 0; i < end; i++) {
    if (s.p[i] == '@') begin = i + 1;
  }
  size_t stop = begin;
  if (stop < end && s.p[stop] == '[') { /* an IPv6 address */
    while (stop < end && s.p[stop] != ']') stop++;
    if (stop < end) stop++;
  } else {
    while (stop < end && s.p[stop] != ':') stop++;
  }
  while (stop > begin && s.p[stop - 1] == '.') stop--;
  return (nd_str){s.p + begin, stop - begin};
}

/* Returns the length of "scheme:", or 0. */
static size_t scheme_length(nd_str url) {
  size_t i = 0;
  if (url.n == 0 || (unsigned)(lower(url.p[0]) - 'a') >= 26) return 0;
  while (i < url.n && is_scheme_char(url.p[i])) i++;
  return i < url.n && url.p[i] == ':' ? i + 1 : 0;
}

static bool has_slashes(nd_str url, size_t at) {
  return url.n - at >= 2 && url.p[at] == '/' && url.p[at + 1] == '/';
}

nd_str nd_url_authority(nd_str url) {
  size_t at = scheme_length(url);
  if (!has_slashes(url, at)) return (nd_str){url.p, 0};
  return host_of_authority((nd_str){url.p + at + 2, url.n - at - 2});
}

nd_str nd_url_host(nd_str url) {
  size_t at = scheme_length(url);
  if (has_slashes(url, at)) return nd_url_authority(url);
  if (url.n == 0 || url.p[0] == '/' || url.p[0] == '?' || url.p[0] == '#')
    return (nd_str){url.p, 0};
  /* "host:80/path" resembles a scheme, but is followed by a number. */
  if (at && (at == url.n || (unsigned)(url.p[at] - '0') >= 10)) return (nd_str){url.p, 0};
  return host_of_authority(url);
}

/* Tests for an IPv4 or IPv6 address; the host is not empty. */
static bool is_address(nd_str host) {
  if (host.p[0] == '[') return true;
  for (size_t i = 0; i < host.n; i++) {
    if (host.p[i] != '.' && (unsigned)(host.p[i] - '0') >= 10) return false;
  }
  return true;
}

nd_str nd_host_site(nd_str host) {
  size_t dots = 0, first = 0;
  for (size_t i = host.n; i-- > 0;) {
    if (host.p[i] != '.') continue;
    dots++;
    first = i;
  }
  if (dots < 2 || is_address(host)) return host;
  return (nd_str){host.p + first + 1, host.n - first - 1};
}

bool nd_host_same(nd_str a, nd_str b) {
  if (a.n != b.n) return false;
  for (size_t i = 0; i < a.n; i++) {
    if (lower(a.p[i]) != lower(b.p[i])) return false;
  }
  return true;
}

uint64_t nd_site_key(nd_str url) {
  return nd_site_number(nd_host_site(nd_url_host(url)));
}

uint64_t nd_site_number(nd_str site) {
  if (site.n == 0) return 0;
  char small[256]; /* a host name has at most 253 bytes; the rest of a longer one keeps its case */
  size_t n = site.n < sizeof small ? site.n : sizeof small;
  for (size_t i = 0; i < n; i++) small[i] = lower(site.p[i]);
  uint64_t key = XXH3_64bits_withSeed(small, n, site.n);
  if (site.n > n) key = XXH3_64bits_withSeed(site.p + n, site.n - n, key);
  return key + !key;
}
