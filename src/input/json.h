/* A reader of JSON fields: validates a JSON text against RFC 8259 and extracts members of its
 * outermost object, without building a tree.
 *
 * Values are views into the text; only a string with escapes needs to be copied, by
 * nd_json_unescape.  Limit: ND_JSON_DEPTH levels of nesting. */
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

/* Checks that this is one JSON text (any value, optional white space and BOM). */
nd_status nd_json_check(nd_str text, nd_error *err) ND_MUST_CHECK;

/* Validates the text, which must be an object, and fills type, escaped and value of the fields (at
 * most ND_JSON_FIELDS) from its members; the last of several members with the same name counts. */
nd_status nd_json_read(nd_json_field *fields, size_t count, nd_str text,
                       nd_error *err) ND_MUST_CHECK;

/* Tests for the start of a truncated object: the only fault is the end, and at least one member's
 * name is complete. */
bool nd_json_cut_off(nd_str text);

/* Appends a checked string (the value of a STRING field) with its escapes
 * resolved.  A surrogate without its partner becomes U+FFFD. */
nd_status nd_json_unescape(nd_buf *out, nd_str value, nd_error *err) ND_MUST_CHECK;

/* "a string", "null" …: for messages. */
const char *nd_json_type_name(nd_json_type type);

/* --- json_string.c: strings; every CPU level gives the same ----------------- */

/* Result of scanning a string from after its opening quote: `length` is the length up to the
 * closing quote, or up to the fault, with `why` set. */
typedef struct nd_json_string {
  size_t length;
  bool escaped;    /* has a backslash */
  bool high;       /* has bytes above 0x7f: still to be checked as UTF-8 */
  const char *why; /* NULL: fine */
} nd_json_string;
void nd_json_scan(nd_json_string *out, nd_str bytes, nd_cpu_level level);

/* Returns the first byte that is not UTF-8, or NULL. */
const char *nd_json_utf8_fault(nd_str text, nd_cpu_level level);

/* Tests whether a checked string with escapes equals this name. */
bool nd_json_escaped_is(nd_str value, nd_str name);

/* The reason of a failure if the text is only truncated. */
#define ND_JSON_CUT "the text ends too early"

#endif
