/* sets: a line is a set of non-negative 64-bit integers, separated by spaces. */
#include "input/format.h"

static int sniff(nd_str head) {
  (void)head;
  return 0;
}

static inline bool is_space(char c) {
  return c == ' ' || c == '\t';
}

/* The end of the integer at p, or NULL.  Leading zeros do not count. */
static const char *skip_integer(const char *p, const char *end) {
  static const char most[] = "18446744073709551615";
  const char *start = p;
  while (p != end && *p == '0') p++;
  const char *first = p;
  while (p != end && (unsigned char)(*p - '0') < 10) p++;
  size_t digits = (size_t)(p - first);
  if (p == start || (p != end && !is_space(*p))) return NULL;
  if (digits > 20 || (digits == 20 && memcmp(first, most, 20) > 0)) return NULL;
  return p;
}

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *err) {
  (void)d, (void)o;
  *out = (nd_document){.kind = ND_KIND_SETS, .body = raw};
  const char *p = raw.p, *end = raw.p + raw.n;
  for (;;) {
    while (p != end && is_space(*p)) p++;
    if (p == end) return ND_OK;
    const char *token = p;
    p = skip_integer(p, end);
    if (!p) {
      size_t n = 0;
      while (token + n != end && !is_space(token[n])) n++;
      return nd_fail(err, ND_ERR_DATA, "token \"%.*s\"%s is not an integer from 0 to 2^64-1",
                     (int)(n > 40 ? 40 : n), token, n > 40 ? "..." : "");
    }
  }
}

const nd_format nd_format_sets = {.name = "sets",
                                  .help = "a set of numbers per line, separated by spaces",
                                  .line_based = true,
                                  .sets = true,
                                  .sniff = sniff,
                                  .frame = nd_frame_line,
                                  .decode = decode};
