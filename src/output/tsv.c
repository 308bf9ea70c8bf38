/* Escaping and numbers for tab-separated lines; see tsv.h. */
#include "output/tsv.h"

#include <stdio.h>

nd_status nd_tsv_append(nd_buf *out, nd_str text, nd_error *err) {
  ND_TRY(nd_buf_reserve(out, 2 * text.n, err));
  char *p = out->p + out->n;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    char escaped = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\\' ? '\\' : 0;
    if (escaped) {
      *p++ = '\\';
      c = escaped;
    }
    *p++ = c;
  }
  out->n = (size_t)(p - out->p);
  return ND_OK;
}

nd_status nd_tsv_unescape(nd_buf *out, nd_str text, nd_error *err) {
  ND_TRY(nd_buf_reserve(out, text.n, err));
  char *p = out->p + out->n;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (c == '\\') {
      c = text.p[++i];
      c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
    }
    *p++ = c;
  }
  out->n = (size_t)(p - out->p);
  return ND_OK;
}

nd_status nd_tsv_ratio(nd_buf *out, uint32_t common, uint32_t joint, nd_error *err) {
  const uint64_t million = 1000000;
  uint64_t scaled = (uint64_t)common * million;
  uint64_t x = joint ? scaled / joint : 0, left = joint ? scaled % joint : 0;
  if (2 * left > joint) x++;
  if (joint && 2 * left == joint) { /* a tie: as the nearest double lies */
    char tie[32];
    snprintf(tie, sizeof tie, "%.6f", (double)common / joint);
    tie[1] = '.'; /* whatever the locale says */
    return nd_buf_append(out, tie, 8, err);
  }
  char text[16] = {(char)('0' + x / million), '.'};
  uint64_t rest = x % million;
  for (int i = 7; i >= 2; i--, rest /= 10) text[i] = (char)('0' + rest % 10);
  return nd_buf_append(out, text, 8, err);
}
