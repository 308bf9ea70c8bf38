/* Writing JSON, one member at a time, indented. */
#ifndef ND_OUTPUT_JSON_OUT_H
#define ND_OUTPUT_JSON_OUT_H

#include "base/mem.h"

typedef struct nd_json_out {
  nd_buf text;
  nd_status status; /* the first failure; later calls do nothing */
  nd_error *err;
  int depth;
  bool first; /* the next member is the first of its object or array */
  bool line;  /* members are written on one line */
} nd_json_out;

void nd_json_put_begin(nd_json_out *j, const char *name, char bracket); /* '{' or '[' */
void nd_json_put_end(nd_json_out *j, char bracket);                     /* '}' or ']' */
void nd_json_put_string(nd_json_out *j, const char *name, nd_str value);
void nd_json_put_count(nd_json_out *j, const char *name, uint64_t value);
void nd_json_put_number(nd_json_out *j, const char *name, double value, int decimals);

#endif
