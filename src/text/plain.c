/* Converts bytes to text, and lines of integers to tokens; see plain.h. */
#include "text/plain.h"

#include "base/hash.h"

void nd_plain_clear(nd_plain *p) {
  nd_buf_clear(&p->utf8);
  nd_buf_clear(&p->text);
  nd_free(p->seen);
  nd_free(p->times);
  *p = (nd_plain){0};
}

nd_status nd_plain_text(nd_str *out, nd_plain *p, const nd_plain_request *request, nd_error *err) {
  bool html = request->html || (request->sniff && nd_html_looks_like(request->bytes));
  nd_str utf8;
  p->images = false;
  ND_TRY(nd_charset_to_utf8(&utf8, &p->utf8, request->bytes, request->charset, html, err));
  if (!html) {
    *out = utf8;
    return ND_OK;
  }
  p->text.n = 0;
  p->images = request->images;
  if (request->images)
    ND_TRY(nd_html_text_images(&p->text, utf8, err));
  else
    ND_TRY(nd_html_text(&p->text, utf8, err));
  *out = nd_buf_str(&p->text);
  return ND_OK;
}

/* Counts the earlier occurrences of a number, in a table of `slots` that holds the counts: a table
 * of base/hash_table.h would need another array. */
static uint32_t count_seen(nd_plain *p, size_t slots, uint64_t number) {
  size_t at = nd_hash_slot(number, nd_hash_secret(), slots);
  while (p->times[at] && p->seen[at] != number) at = (at + 1) & (slots - 1);
  p->seen[at] = number;
  return p->times[at]++;
}

static inline bool is_digit(char c) {
  return (unsigned char)(c - '0') < 10;
}

/* Most sets are strictly ascending, so no number repeats and no table is needed. */
static bool rises(nd_str line) {
  const char *p = line.p, *end = line.p + line.n;
  uint64_t last = 0;
  for (bool first = true;; first = false) {
    while (p != end && !is_digit(*p)) p++;
    if (p == end) return true;
    uint64_t number = 0;
    while (p != end && is_digit(*p)) number = number * 10 + (uint64_t)(*p++ - '0');
    if (!first && number <= last) return false;
    last = number;
  }
}

static nd_status clear_table(nd_plain *p, size_t slots, nd_error *err) {
  ND_TRY(nd_array_grow(&p->seen, &p->seen_cap, slots, sizeof *p->seen, err));
  ND_TRY(nd_array_grow(&p->times, &p->times_cap, slots, sizeof *p->times, err));
  memset(p->times, 0, slots * sizeof *p->times);
  return ND_OK;
}

/* Appends the digits without leading zeros, and ".2" for a second occurrence. */
nd_status nd_plain_sets(nd_tokens *out, nd_plain *p, nd_str line, nd_error *err) {
  const bool apart = rises(line);
  size_t slots = 16;
  while (slots < line.n + 2) slots *= 2; /* at most n/2 numbers */
  if (!apart) ND_TRY(clear_table(p, slots, err));
  out->text.n = 0;
  out->count = 0;
  ND_TRY(nd_array_grow(&out->end, &out->cap, line.n / 2 + 1, sizeof *out->end, err));
  ND_TRY(nd_buf_reserve(&out->text, line.n + 1, err));
  const char *at = line.p, *end = line.p + line.n;
  for (;;) {
    while (at != end && !is_digit(*at)) at++;
    if (at == end) return ND_OK;
    while (at + 1 != end && *at == '0' && is_digit(at[1])) at++;
    const char *first = at;
    uint64_t number = 0;
    while (at != end && is_digit(*at)) number = number * 10 + (uint64_t)(*at++ - '0');
    const size_t digits = (size_t)(at - first);
    /* Repeats make the text longer than the line. */
    ND_TRY(nd_buf_reserve(&out->text, digits + (size_t)(end - at) + 16, err));
    char *to = out->text.p + out->text.n;
    if (out->count) *to++ = ' ';
    memcpy(to, first, digits);
    out->text.n = (size_t)(to + digits - out->text.p);
    const uint32_t before = apart ? 0 : count_seen(p, slots, number);
    if (before) ND_TRY(nd_buf_printf(&out->text, err, ".%u", before + 1));
    out->end[out->count++] = (uint32_t)out->text.n;
  }
}
