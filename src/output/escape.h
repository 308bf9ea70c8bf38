/* Makes the text of documents safe to show in HTML, XML, scripts and terminals. */
#ifndef ND_OUTPUT_ESCAPE_H
#define ND_OUTPUT_ESCAPE_H

#include "base/mem.h"

/* Appends `text` for use between tags or inside a quoted attribute.  & < > " ' become references.
 * Invisible characters become visible: control characters as their pictures (U+2400 …), controls
 * of writing direction, which could reverse a name, as <U+202E>.  Bytes that are not UTF-8 and
 * characters that XML forbids become U+FFFD.  With `line`, line ends and tabs become visible,
 * too. */
nd_status nd_escape_html(nd_buf *out, nd_str text, bool line, nd_error *err) ND_MUST_CHECK;

/* Appends `text` for a terminal: like nd_escape_html, but without references. */
nd_status nd_escape_plain(nd_buf *out, nd_str text, bool line, nd_error *err) ND_MUST_CHECK;

/* Appends a quoted JSON string for use inside <script>: < > & and the line ends of JavaScript are
 * \u escapes; invisible characters are replaced as above. */
nd_status nd_escape_script(nd_buf *out, nd_str text, nd_error *err) ND_MUST_CHECK;

/* Decodes one code point of `text` at *at and advances *at; U+FFFD for each byte that is not
 * UTF-8. */
uint32_t nd_escape_point(nd_str text, size_t *at);

/* Returns true for control characters (C0, DEL, C1), line and paragraph separators, controls of
 * writing direction, and characters without a glyph.  ZWNJ and ZWJ are excluded: Persian, Indic
 * scripts and emoji need them. */
bool nd_escape_hidden(uint32_t point);

#endif
