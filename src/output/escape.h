/* Text of documents made safe to show: in HTML and XML, and on a terminal. */
#ifndef ND_OUTPUT_ESCAPE_H
#define ND_OUTPUT_ESCAPE_H

#include "base/mem.h"

/* Appends `text` for use between tags or inside a quoted attribute: & < > " '
 * become references.  What a reader cannot see is shown: control characters as
 * their pictures (U+2400 …), controls of writing direction as <U+202E>, which
 * could turn a name round; what is not UTF-8 or not allowed in XML as U+FFFD.
 * `line`: line ends and tabs are shown as well, else they pass. */
nd_status nd_escape_html(nd_buf *out, nd_str text, bool line, nd_error *err) ND_MUST_CHECK;

/* The same for a terminal: no control character passes, but nothing is a
 * reference. */
nd_status nd_escape_plain(nd_buf *out, nd_str text, bool line, nd_error *err) ND_MUST_CHECK;

/* Appends a JSON string with its quotes that may stand inside <script>: < > &
 * and the line ends of JavaScript are \u escapes, invisible ones as above. */
nd_status nd_escape_script(nd_buf *out, nd_str text, nd_error *err) ND_MUST_CHECK;

/* One code point of `text` at *at, which moves behind it; U+FFFD for each byte
 * that is not UTF-8. */
uint32_t nd_escape_point(nd_str text, size_t *at);

/* Control characters (C0, DEL, C1), line and paragraph separators, controls of
 * writing direction, and characters that show nothing at all.  ZWNJ and ZWJ are
 * not among them: Persian, Indic scripts and emoji are written with them. */
bool nd_escape_hidden(uint32_t point);

#endif
