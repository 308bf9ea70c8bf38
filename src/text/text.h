/* Steps from documents to tokens: charset → (HTML →) text → words. */
#ifndef ND_TEXT_TEXT_H
#define ND_TEXT_TEXT_H

#include "base/mem.h"

/* --- charset.c ---------------------------------------------------------- */
/* Converts `bytes` to UTF-8.  The charset is, in this order: a BOM, `declared`
 * (from an HTTP header), for HTML a <meta> in the first 1024 bytes, UTF-8 if the bytes are
 * valid UTF-8, else windows-1252.  Labels are those of the WHATWG Encoding Standard (latin1
 * and ascii mean windows-1252 …).  An unknown or wrong label is ignored.  Undecodable bytes
 * become U+FFFD and are never an error.  `*out` points into `bytes` if they are UTF-8 (without
 * the BOM), otherwise into `scratch`. */
nd_status nd_charset_to_utf8(nd_str *out, nd_buf *scratch, nd_str bytes, nd_str declared, bool html,
                             nd_error *err) ND_MUST_CHECK;

/* Returns the length of the longest valid UTF-8 prefix (vectorised over ASCII). */
size_t nd_utf8_valid_prefix(nd_str bytes);

/* Detects HTML for ND_KIND_SNIFF: after white space and comments, a doctype or a tag that HTML
 * documents start with. */
bool nd_html_looks_like(nd_str bytes);

/* --- html.c -------------------------------------------------------------- */
/* Appends the text of an HTML page (UTF-8): script, style, comments and tags
 * dropped, character references resolved, block-level tags as a line break,
 * inline ones (b, span, a …) as nothing.  Title and textarea count as text. */
nd_status nd_html_text(nd_buf *out, nd_str html, nd_error *err) ND_MUST_CHECK;

/* Likewise, and appends the src of every <img>, unless empty, with references resolved, between
 * two NUL bytes; the text has no other NUL. */
nd_status nd_html_text_images(nd_buf *out, nd_str html, nd_error *err) ND_MUST_CHECK;

/* --- words.c ------------------------------------------------------------- */
/* The tokens of one document.  text holds them normalised and joined by single
 * spaces; token i is text[start(i) .. end[i]) with start(0) = 0 and
 * start(i) = end[i-1] + 1.  ND_SLACK bytes after the text are readable. */
typedef struct nd_tokens {
  nd_buf text;
  uint32_t *end;
  size_t count;
  size_t cap;
} nd_tokens;

/* WEB means tokens of web.h; the functions here treat it as WORDS. */
typedef enum nd_token_kind { ND_TOKENS_WORDS, ND_TOKENS_CODEPOINTS, ND_TOKENS_WEB } nd_token_kind;

/* Replaces *out by the tokens of `utf8` (DESIGN: NFKC, then full case folding;
 * maximal runs of Unicode L, M, N; every Han, Hiragana, Katakana, Thai, Lao,
 * Khmer, Myanmar code point alone; CODEPOINTS: every L, M, N code point alone).
 * Invalid UTF-8 bytes separate tokens.  ND_ERR_LIMIT above 4 GiB of tokens. */
nd_status nd_words_split(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                         nd_error *err) ND_MUST_CHECK;
void nd_tokens_clear(nd_tokens *t);

static inline nd_str nd_token(const nd_tokens *t, size_t i) {
  uint32_t start = i ? t->end[i - 1] + 1 : 0;
  return (nd_str){t->text.p + start, t->end[i] - start};
}

#endif
