/* A strict little XML reader for tests: is this well formed?  Elements nest,
 * attributes are quoted and appear once, references are known, no character
 * that XML forbids.  It knows no DTD, CDATA or processing instructions: ours have none. */
#ifndef XML_CHECK_H
#define XML_CHECK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct xml_check {
  const char *p, *end;
  char stack[64][32];
  int depth;
  char fault[200];
} xml_check;

/* One root element and nothing else but white space. */
bool xml_well_formed(xml_check *x, const char *p, size_t n);

#endif
