/* Bytes to text, and lines of integers to tokens; see plain.h. */
#include "text/plain.h"

#include <inttypes.h>

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

/* How often this number was seen before, in a table of `slots`. */
static uint32_t count_seen(nd_plain *p, size_t slots, uint64_t number) {
  size_t at = nd_mix(number ^ 0x5851f42d4c957f2du) & (slots - 1);
  while (p->times[at] && p->seen[at] != number) at = (at + 1) & (slots - 1);
  p->seen[at] = number;
  return p->times[at]++;
}

nd_status nd_plain_sets(nd_tokens *out, nd_plain *p, nd_str line, nd_error *err) {
  out->text.n = 0;
  out->count = 0;
  size_t slots = 16;
  while (slots < line.n + 2) slots *= 2; /* at most n/2 numbers */
  ND_TRY(nd_array_grow(&p->seen, &p->seen_cap, slots, sizeof *p->seen, err));
  ND_TRY(nd_array_grow(&p->times, &p->times_cap, slots, sizeof *p->times, err));
  memset(p->times, 0, slots * sizeof *p->times);
  for (size_t i = 0; i < line.n;) {
    if (line.p[i] < '0' || line.p[i] > '9') {
      i++;
      continue;
    }
    uint64_t number = 0;
    while (i < line.n && line.p[i] >= '0' && line.p[i] <= '9')
      number = number * 10 + (uint64_t)(line.p[i++] - '0');
    uint32_t before = count_seen(p, slots, number);
    ND_TRY(nd_array_grow(&out->end, &out->cap, out->count + 1, sizeof *out->end, err));
    if (out->count) ND_TRY(nd_buf_append(&out->text, " ", 1, err));
    if (before)
      ND_TRY(nd_buf_printf(&out->text, err, "%" PRIu64 ".%u", number, before + 1));
    else
      ND_TRY(nd_buf_printf(&out->text, err, "%" PRIu64, number));
    out->end[out->count++] = (uint32_t)out->text.n;
  }
  return ND_OK;
}
