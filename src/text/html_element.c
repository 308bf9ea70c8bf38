/* Properties of elements for the text extractor, as a perfect hash table: the multiplier in
 * ND_HTML_ELEMENT_HASH gives every name its own slot (-Woverride-init warns if a new name
 * collides). */
#include "text/html_scan.h"

#define LONG(a, b, c, d, e, f, g, h)                                                \
  ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | \
   (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)
#define E(a, b, c, d, e, f, g, h, flags) \
  [ND_HTML_ELEMENT_HASH(LONG(a, b, c, d, e, f, g, h))] = {LONG(a, b, c, d, e, f, g, h), flags}

enum {
  BREAK = ND_HTML_EL_BREAK,
  OUT = ND_HTML_EL_BREAKOUT,
  TEMPLATE = ND_HTML_EL_TEMPLATE,
  FOREIGN = ND_HTML_EL_FOREIGN,
  RCDATA = ND_HTML_EL_STATE * ND_HTML_RCDATA | ND_HTML_EL_SHOWN,
  RAWTEXT = ND_HTML_EL_STATE * ND_HTML_RAWTEXT,
  SHOWN_RAW = RAWTEXT | ND_HTML_EL_SHOWN,
  SCRIPT = ND_HTML_EL_STATE * ND_HTML_SCRIPT,
  PLAINTEXT = ND_HTML_EL_STATE * ND_HTML_PLAINTEXT | ND_HTML_EL_SHOWN
};

/* clang-format off */
const nd_html_element_slot nd_html_elements[512] = {
    E('a', 'd', 'd', 'r', 'e', 's', 's', 0, BREAK),
    E('a', 'r', 't', 'i', 'c', 'l', 'e', 0, BREAK),
    E('a', 's', 'i', 'd', 'e', 0, 0, 0, BREAK),
    E('a', 'u', 'd', 'i', 'o', 0, 0, 0, BREAK),
    E('b', 0, 0, 0, 0, 0, 0, 0, OUT),
    E('b', 'i', 'g', 0, 0, 0, 0, 0, OUT),
    E('b', 'o', 'd', 'y', 0, 0, 0, 0, BREAK | OUT),
    E('b', 'r', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('b', 'u', 't', 't', 'o', 'n', 0, 0, BREAK),
    E('c', 'a', 'n', 'v', 'a', 's', 0, 0, BREAK),
    E('c', 'a', 'p', 't', 'i', 'o', 'n', 0, BREAK),
    E('c', 'e', 'n', 't', 'e', 'r', 0, 0, BREAK | OUT),
    E('c', 'o', 'd', 'e', 0, 0, 0, 0, OUT),
    E('c', 'o', 'l', 0, 0, 0, 0, 0, BREAK),
    E('c', 'o', 'l', 'g', 'r', 'o', 'u', 'p', BREAK),
    E('d', 'd', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('d', 'e', 't', 'a', 'i', 'l', 's', 0, BREAK),
    E('d', 'i', 'a', 'l', 'o', 'g', 0, 0, BREAK),
    E('d', 'i', 'r', 0, 0, 0, 0, 0, BREAK),
    E('d', 'i', 'v', 0, 0, 0, 0, 0, BREAK | OUT),
    E('d', 'l', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('d', 't', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('e', 'm', 0, 0, 0, 0, 0, 0, OUT),
    E('e', 'm', 'b', 'e', 'd', 0, 0, 0, OUT),
    E('f', 'i', 'e', 'l', 'd', 's', 'e', 't', BREAK),
    E('f', 'i', 'g', 'u', 'r', 'e', 0, 0, BREAK),
    E('f', 'o', 'o', 't', 'e', 'r', 0, 0, BREAK),
    E('f', 'o', 'r', 'm', 0, 0, 0, 0, BREAK),
    E('f', 'r', 'a', 'm', 'e', 0, 0, 0, BREAK),
    E('f', 'r', 'a', 'm', 'e', 's', 'e', 't', BREAK),
    E('h', '1', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', '2', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', '3', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', '4', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', '5', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', '6', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', 'e', 'a', 'd', 0, 0, 0, 0, BREAK | OUT),
    E('h', 'e', 'a', 'd', 'e', 'r', 0, 0, BREAK),
    E('h', 'g', 'r', 'o', 'u', 'p', 0, 0, BREAK),
    E('h', 'r', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('h', 't', 'm', 'l', 0, 0, 0, 0, BREAK),
    E('i', 0, 0, 0, 0, 0, 0, 0, OUT),
    E('i', 'f', 'r', 'a', 'm', 'e', 0, 0, BREAK | RAWTEXT),
    E('i', 'm', 'g', 0, 0, 0, 0, 0, OUT | ND_HTML_EL_IMAGE),
    E('i', 'n', 'p', 'u', 't', 0, 0, 0, BREAK),
    E('l', 'e', 'g', 'e', 'n', 'd', 0, 0, BREAK),
    E('l', 'i', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('l', 'i', 's', 't', 'i', 'n', 'g', 0, BREAK | OUT),
    E('m', 'a', 'i', 'n', 0, 0, 0, 0, BREAK),
    E('m', 'a', 'r', 'q', 'u', 'e', 'e', 0, BREAK),
    E('m', 'a', 't', 'h', 0, 0, 0, 0, FOREIGN),
    E('m', 'e', 'n', 'u', 0, 0, 0, 0, BREAK | OUT),
    E('m', 'e', 't', 'a', 0, 0, 0, 0, OUT),
    E('n', 'a', 'v', 0, 0, 0, 0, 0, BREAK),
    E('n', 'o', 'b', 'r', 0, 0, 0, 0, OUT),
    E('n', 'o', 'e', 'm', 'b', 'e', 'd', 0, RAWTEXT),
    E('n', 'o', 'f', 'r', 'a', 'm', 'e', 's', RAWTEXT),
    E('o', 'b', 'j', 'e', 'c', 't', 0, 0, BREAK),
    E('o', 'l', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('o', 'p', 't', 'g', 'r', 'o', 'u', 'p', BREAK),
    E('o', 'p', 't', 'i', 'o', 'n', 0, 0, BREAK),
    E('p', 0, 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('p', 'r', 'e', 0, 0, 0, 0, 0, BREAK | OUT),
    E('r', 'p', 0, 0, 0, 0, 0, 0, BREAK),
    E('r', 't', 0, 0, 0, 0, 0, 0, BREAK),
    E('r', 'u', 'b', 'y', 0, 0, 0, 0, OUT),
    E('s', 0, 0, 0, 0, 0, 0, 0, OUT),
    E('s', 'c', 'r', 'i', 'p', 't', 0, 0, SCRIPT),
    E('s', 'e', 'a', 'r', 'c', 'h', 0, 0, BREAK),
    E('s', 'e', 'c', 't', 'i', 'o', 'n', 0, BREAK),
    E('s', 'e', 'l', 'e', 'c', 't', 0, 0, BREAK),
    E('s', 'm', 'a', 'l', 'l', 0, 0, 0, OUT),
    E('s', 'p', 'a', 'n', 0, 0, 0, 0, OUT),
    E('s', 't', 'r', 'i', 'k', 'e', 0, 0, OUT),
    E('s', 't', 'r', 'o', 'n', 'g', 0, 0, OUT),
    E('s', 't', 'y', 'l', 'e', 0, 0, 0, RAWTEXT),
    E('s', 'u', 'b', 0, 0, 0, 0, 0, OUT),
    E('s', 'u', 'm', 'm', 'a', 'r', 'y', 0, BREAK),
    E('s', 'u', 'p', 0, 0, 0, 0, 0, OUT),
    E('s', 'v', 'g', 0, 0, 0, 0, 0, FOREIGN),
    E('t', 'a', 'b', 'l', 'e', 0, 0, 0, BREAK | OUT),
    E('t', 'b', 'o', 'd', 'y', 0, 0, 0, BREAK),
    E('t', 'd', 0, 0, 0, 0, 0, 0, BREAK),
    E('t', 'e', 'm', 'p', 'l', 'a', 't', 'e', TEMPLATE),
    E('t', 'e', 'x', 't', 0, 0, 0, 0, BREAK),
    E('t', 'e', 'x', 't', 'a', 'r', 'e', 'a', BREAK | RCDATA),
    E('t', 'f', 'o', 'o', 't', 0, 0, 0, BREAK),
    E('t', 'h', 0, 0, 0, 0, 0, 0, BREAK),
    E('t', 'h', 'e', 'a', 'd', 0, 0, 0, BREAK),
    E('t', 'i', 't', 'l', 'e', 0, 0, 0, BREAK | RCDATA),
    E('t', 'r', 0, 0, 0, 0, 0, 0, BREAK),
    E('t', 't', 0, 0, 0, 0, 0, 0, OUT),
    E('u', 0, 0, 0, 0, 0, 0, 0, OUT),
    E('u', 'l', 0, 0, 0, 0, 0, 0, BREAK | OUT),
    E('v', 'a', 'r', 0, 0, 0, 0, 0, OUT),
    E('v', 'i', 'd', 'e', 'o', 0, 0, 0, BREAK),
    E('x', 'm', 'p', 0, 0, 0, 0, 0, BREAK | SHOWN_RAW),
};
/* clang-format on */

/* The names that do not fit in a slot. */
static const struct {
  const char *name;
  unsigned flags;
} longer[] = {{"blockquote", BREAK | OUT}, {"figcaption", BREAK}, {"plaintext", BREAK | PLAINTEXT}};

unsigned nd_html_element(nd_str name) {
  if (name.n > 8) {
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
      size_t k = 0;
      while (k < name.n && nd_html_lower(name.p[k]) == longer[i].name[k] && longer[i].name[k]) k++;
      if (k == name.n && longer[i].name[k] == 0) return longer[i].flags;
    }
    return 0;
  }
  uint64_t key = 0;
  for (size_t i = 0; i < name.n; i++) {
    key |= (uint64_t)(unsigned char)nd_html_lower(name.p[i]) << 8 * i;
  }
  const nd_html_element_slot *slot = &nd_html_elements[ND_HTML_ELEMENT_HASH(key)];
  return slot->key == key ? slot->flags : 0;
}
