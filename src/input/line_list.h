/* Lists: plain or compressed files of lines of fields, such as pairs, clusters and
 * TREC runs.  Lines are read one by one, without their ends (LF or CR LF); empty
 * lines are skipped. */
#ifndef ND_INPUT_LINE_LIST_H
#define ND_INPUT_LINE_LIST_H

#include "base/mem.h"
#include "codec/stream.h"

/* `number` counts all lines, from 1. */
typedef nd_status (*nd_line_each)(void *context, nd_str line, uint64_t number, nd_error *err);

/* Reads a file ("-": standard input) to its end, and polls the hooks.  A line above 64 MiB, a
 * damaged or missing file is an error that names the place. */
nd_status nd_line_list_read(const char *path, const nd_hooks *hooks, nd_line_each each,
                            void *context, nd_error *err) ND_MUST_CHECK;

/* Returns the name of the file in messages: its path, or "standard input". */
const char *nd_line_list_name(const char *path);

/* Takes the next field up to `separator` off *rest; returns false at the end. */
static inline bool nd_line_field(nd_str *field, nd_str *rest, char separator) {
  if (!rest->p) return false;
  const char *at = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
  *field = (nd_str){rest->p, at ? (size_t)(at - rest->p) : rest->n};
  *rest = at ? (nd_str){at + 1, rest->n - field->n - 1} : (nd_str){NULL, 0};
  return true;
}

/* Takes the next word between blanks and tabs off *rest; returns false at the end. */
static inline bool nd_line_word(nd_str *word, nd_str *rest) {
  size_t i = 0;
  while (i < rest->n && (rest->p[i] == ' ' || rest->p[i] == '\t')) i++;
  size_t begin = i;
  while (i < rest->n && rest->p[i] != ' ' && rest->p[i] != '\t') i++;
  *word = (nd_str){rest->p + begin, i - begin};
  *rest = (nd_str){rest->p + i, rest->n - i};
  return word->n > 0;
}

/* Parses a decimal number, optionally with sign and exponent, as billionths: 0.8 is 800,000,000;
 * further digits are truncated.  Returns false if it is not a number or above 10⁹. */
bool nd_line_number(int64_t *out, nd_str text);
enum { ND_LINE_UNIT = 1000000000 };

#endif
