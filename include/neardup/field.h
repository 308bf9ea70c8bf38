/* Fields of tables: ids, paths and reasons as lists of pairs, clusters and
 * rejected records hold them.
 *
 * A tab is written \t, a line feed \n, a carriage return \r and a backslash \\.
 * Other bytes that could damage a table, a terminal or a reader are written \xHH,
 * a byte each: those that are not UTF-8, control characters, line and paragraph
 * separators, controls of writing direction, and invisible characters (the list
 * is in docs/formats.md).  So a field is always UTF-8 and never holds a tab or a
 * line end, and the bytes can be had back. */
#ifndef NEARDUP_FIELD_H
#define NEARDUP_FIELD_H

#include "neardup/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the field of `text` to `out`, which has room for 4 * text.n bytes, and
 * returns its length; `out` NULL: only the length. */
ND_API size_t nd_field_escape(char *out, nd_str text);

/* Writes the text of `field` to `out`, which has room for field.n bytes (it may be
 * the field itself), and returns its length.  A backslash that begins none of the
 * escapes above stands for itself. */
ND_API size_t nd_field_unescape(char *out, nd_str field);

#ifdef __cplusplus
}
#endif

#endif
