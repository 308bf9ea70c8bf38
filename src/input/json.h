/* A reader of JSON fields: checks a whole JSON text against RFC 8259 and picks
 * wanted members of its outermost object, without building a tree.
 *
 * Values are views into the text; only a string that holds escapes needs to be
 * copied, by nd_json_unescape.  Limits: ND_JSON_DEPTH levels of nesting. */
#ifndef ND_INPUT_JSON_H
#define ND_INPUT_JSON_H

#include "base/cpu.h"
#include "base/mem.h"

enum { ND_JSON_DEPTH = 1000, ND_JSON_FIELDS = 32 };

typedef enum nd_json_type {
  ND_JSON_ABSENT = 0,
  ND_JSON_STRING,
  ND_JSON_NUMBER,
  ND_JSON_TRUE,
  ND_JSON_FALSE,
  ND_JSON_NULL,
  ND_JSON_OBJECT,
  ND_JSON_ARRAY
} nd_json_type;

typedef struct nd_json_field {
  nd_str name; /* in: what to look for, unescaped UTF-8 */
  nd_json_type type;
  bool escaped; /* STRING: value holds escapes */
  nd_str value; /* STRING: the bytes between the quotes; others: as written */
} nd_json_field;

/* Is this one JSON text (any value, white space around it, maybe a BOM)? */
nd_status nd_json_check(nd_str text, nd_error *err) ND_MUST_CHECK;

/* Checks the whole text, which must be an object, and fills type, escaped and
 * value of the fields (at most ND_JSON_FIELDS) from its members; the last of
 * several members with one name counts. */
nd_status nd_json_read(nd_json_field *fields, size_t count, nd_str text,
                       nd_error *err) ND_MUST_CHECK;

/* Could this be the beginning of a longer text that is an object?  True when
 * nothing is wrong but the end, and at least one member's name is there. */
bool nd_json_cut_off(nd_str text);

/* Appends a checked string (the value of a STRING field) with its escapes
 * resolved.  A surrogate without its partner becomes U+FFFD. */
nd_status nd_json_unescape(nd_buf *out, nd_str value, nd_error *err) ND_MUST_CHECK;

/* "a string", "null" …: for messages. */
const char *nd_json_type_name(nd_json_type type);

/* --- json_string.c: strings; every CPU level gives the same ----------------- */

/* Reads from after the opening quote to the closing one; `length` is what lies
 * between, or where it went wrong, with `why` set. */
typedef struct nd_json_string {
  size_t length;
  bool escaped;    /* has a backslash */
  bool high;       /* has bytes above 0x7f: still to be checked as UTF-8 */
  const char *why; /* NULL: fine */
} nd_json_string;
void nd_json_scan(nd_json_string *out, nd_str bytes, nd_cpu_level level);

/* The first place that is not UTF-8, or NULL. */
const char *nd_json_utf8_fault(nd_str text, nd_cpu_level level);

/* Does a checked string with escapes mean this name? */
bool nd_json_escaped_is(nd_str value, nd_str name);

/* The reason when nothing is wrong but the end. */
#define ND_JSON_CUT "the text ends too early"

#endif
