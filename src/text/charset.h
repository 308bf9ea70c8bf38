/* Charsets by their labels, and what a page says of itself; for charset.c. */
#ifndef ND_TEXT_CHARSET_H
#define ND_TEXT_CHARSET_H

#include "base/mem.h"

typedef enum nd_charset_kind {
  ND_CHARSET_UTF8,
  ND_CHARSET_UTF16LE,
  ND_CHARSET_UTF16BE,
  ND_CHARSET_1252,  /* own table */
  ND_CHARSET_USER,  /* x-user-defined: own rule */
  ND_CHARSET_BYTES, /* one byte a character, the upper half asked of iconv */
  ND_CHARSET_MULTI, /* iconv; ASCII bytes are ASCII unless they follow others */
  ND_CHARSET_SHIFT  /* iconv; escape sequences, so nothing can be skipped */
} nd_charset_kind;

typedef struct nd_charset {
  nd_charset_kind kind;
  const char *name;   /* the Encoding Standard's */
  const char *iconv;  /* NULL: not needed */
  const char *labels; /* separated by spaces */
} nd_charset;

/* By label, white space around it ignored; NULL: unknown.  The
 * standard maps iso-2022-kr and iso-2022-cn to "replacement", which keeps
 * scripts out; nothing runs here, so they are decoded. */
const nd_charset *nd_charset_find(nd_str label);

/* What a <meta> (or an XML declaration) in the first 1024 bytes says, by the
 * standard's prescan; NULL: nothing. */
const nd_charset *nd_charset_prescan(nd_str html);

/* What a <meta> anywhere before <body> says: browsers change their mind when
 * they find one late, so this is asked before windows-1252 is assumed. */
const nd_charset *nd_charset_late_meta(nd_str html);

/* --- charset_utf8.c -------------------------------------------------------- */
/* Bytes at the front that are ASCII. */
size_t nd_ascii_prefix(const unsigned char *p, size_t n);

/* Looks at the sequence at p, no ASCII (left > 0): its length when it is whole and valid,
 * else 0 and in *bad how many bytes one U+FFFD stands for. */
size_t nd_utf8_sequence(const unsigned char *p, size_t left, size_t *bad);

#endif
