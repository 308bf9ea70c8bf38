/* Charsets by label, and declarations in pages; internal to charset.c. */
#ifndef ND_TEXT_CHARSET_H
#define ND_TEXT_CHARSET_H

#include "base/mem.h"

typedef enum nd_charset_kind {
  ND_CHARSET_UTF8,
  ND_CHARSET_UTF16LE,
  ND_CHARSET_UTF16BE,
  ND_CHARSET_1252,  /* built-in table */
  ND_CHARSET_USER,  /* x-user-defined: special rule */
  ND_CHARSET_BYTES, /* single-byte, upper half from iconv */
  ND_CHARSET_MULTI, /* iconv; ASCII bytes are ASCII unless they follow others */
  ND_CHARSET_SHIFT  /* iconv; escape sequences, so nothing can be skipped */
} nd_charset_kind;

typedef struct nd_charset {
  nd_charset_kind kind;
  const char *name;   /* of the Encoding Standard */
  const char *iconv;  /* NULL if not used */
  const char *labels; /* separated by spaces */
} nd_charset;

/* Returns the charset of a label, ignoring white space around it, or NULL.  The standard maps
 * iso-2022-kr and iso-2022-cn to "replacement" against script injection; no scripts run here,
 * so they are decoded. */
const nd_charset *nd_charset_find(nd_str label);

/* Returns the charset that a <meta> or an XML declaration in the first 1024 bytes declares, by
 * the prescan of the standard, or NULL. */
const nd_charset *nd_charset_prescan(nd_str html);

/* Returns the charset that a <meta> anywhere before <body> declares, or NULL.  Browsers switch
 * to a late declaration too, so it takes precedence over windows-1252. */
const nd_charset *nd_charset_late_meta(nd_str html);

/* --- charset_utf8.c -------------------------------------------------------- */
/* Returns the length of the ASCII prefix. */
size_t nd_ascii_prefix(const unsigned char *p, size_t n);

/* Returns the length of the non-ASCII sequence at p (left > 0) if it is complete and valid;
 * otherwise returns 0 and sets *bad to the number of bytes that one U+FFFD replaces. */
size_t nd_utf8_sequence(const unsigned char *p, size_t left, size_t *bad);

#endif
