/* Ranks of documents; see keep.h. */
#include "cluster/keep.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t worst = UINT64_MAX;

/* Returns the days since 1970-01-01 of a date in the proleptic Gregorian calendar. */
static int64_t days_of(int64_t y, int64_t m, int64_t d) {
  y -= m <= 2;
  int64_t era = (y >= 0 ? y : y - 399) / 400;
  int64_t year = y - era * 400;
  int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

static int take(nd_str *s, int digits) {
  int x = 0, n = 0;
  while (s->n && n < digits && *s->p >= '0' && *s->p <= '9') {
    x = x * 10 + (*s->p - '0');
    s->p++;
    s->n--;
    n++;
  }
  return n == digits ? x : -1;
}

static void take_separators(nd_str *s) {
  while (s->n && (*s->p == '-' || *s->p == ':' || *s->p == 'T' || *s->p == 't' || *s->p == ' ' ||
                  *s->p == '/')) {
    s->p++;
    s->n--;
  }
}

static int64_t zone_seconds(nd_str s) {
  if (s.n && *s.p == '.') {
    s.p++;
    s.n--;
    while (s.n && *s.p >= '0' && *s.p <= '9') {
      s.p++;
      s.n--;
    }
  }
  if (s.n && *s.p == ' ') { /* 2008-05-02 14:34:56 +0200 */
    s.p++;
    s.n--;
  }
  if (s.n < 3 || (*s.p != '+' && *s.p != '-')) return 0;
  int64_t sign = *s.p == '+' ? 1 : -1;
  s.p++;
  s.n--;
  int hours = take(&s, 2);
  if (s.n && *s.p == ':') {
    s.p++;
    s.n--;
  }
  int minutes = take(&s, 2);
  if (hours < 0) return 0;
  return sign * (hours * 3600 + (minutes > 0 ? minutes * 60 : 0));
}

bool nd_keep_parse_time(int64_t *out, nd_str text) {
  size_t digits = 0;
  while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9') digits++;
  if (digits >= 9 && digits <= 13 && (digits == text.n || text.p[digits] == '.')) {
    int64_t x = 0; /* Unix time, in seconds or milliseconds */
    for (size_t i = 0; i < digits; i++) x = x * 10 + (text.p[i] - '0');
    *out = digits >= 12 ? x / 1000 : x;
    return true;
  }
  nd_str s = text;
  int year = take(&s, 4);
  if (year < 0) return false;
  int rest[5] = {1, 1, 0, 0, 0}; /* month, day, hour, minute, second */
  for (int i = 0; i < 5; i++) {
    nd_str before = s;
    if (i < 3)
      take_separators(&s);
    else if (s.n && *s.p == ':') {
      s.p++;
      s.n--;
    }
    int x = take(&s, 2);
    if (x < 0) {
      s = before;
      break;
    }
    rest[i] = x;
  }
  if (rest[0] < 1 || rest[0] > 12 || rest[1] < 1 || rest[1] > 31) return false;
  *out = days_of(year, rest[0], rest[1]) * 86400 + rest[2] * 3600 + rest[3] * 60 + rest[4] -
         zone_seconds(s);
  return true;
}

/* Ranks URLs: fewest of query, fragment and session id, then by length. */
static uint64_t url_rank(nd_str url) {
  if (url.n == 0) return worst;
  uint64_t dirt = 0;
  for (size_t i = 0; i < url.n; i++) dirt += url.p[i] == '?' || url.p[i] == '#' || url.p[i] == ';';
  if (dirt > 255) dirt = 255;
  return dirt << 32 | (url.n < UINT32_MAX ? url.n : UINT32_MAX);
}

/* Ranks numbers, the greatest first. */
static uint64_t field_rank(nd_str field) {
  char text[64];
  if (field.n == 0 || field.n >= sizeof text) return worst;
  memcpy(text, field.p, field.n);
  text[field.n] = '\0';
  char *end;
  double x = strtod(text, &end) + 0.0; /* -0 is 0 */
  if (*end || isnan(x)) return worst;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  /* Doubles compare like their bits after flipping those of negative numbers. */
  bits = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
  return worst - 1 - (bits - (bits == worst));
}

uint64_t nd_keep_rank(nd_keep keep, const nd_keep_facts *f) {
  int64_t seconds;
  switch (keep) { /* untaken: no further value */
    case ND_KEEP_FIRST:
    case ND_KEEP_CENTRE: return 0;
    case ND_KEEP_LONGEST: return worst - 1 - f->text_bytes;
    case ND_KEEP_SHORTEST: return f->text_bytes;
    case ND_KEEP_OLDEST:
    case ND_KEEP_NEWEST:
      if (!nd_keep_parse_time(&seconds, f->time)) return worst;
      seconds += INT64_C(1) << 50;
      return keep == ND_KEEP_OLDEST ? (uint64_t)seconds : worst - 1 - (uint64_t)seconds;
    case ND_KEEP_URL: return url_rank(f->url);
    case ND_KEEP_FIELD: return field_rank(f->field);
  }
  return 0;
}
