/* memory: a record is a text by itself, in UTF-8, as a string of JSON is.  Records
 * come from neardup/memory.h's chunks, never from a stream. */
#include "input/format.h"

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *err) {
  (void)d;
  (void)o;
  (void)err;
  *out = (nd_document){.kind = ND_KIND_TEXT, .charset = {"utf-8", 5}, .body = raw};
  return ND_OK;
}

const nd_format nd_format_memory = {.name = "memory", .decode = decode};
