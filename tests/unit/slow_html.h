/* The text of an HTML page, slowly: the rules of nd_html_text said with the
 * tokenizer's tokens.  For tests and fuzzing. */
#ifndef SLOW_HTML_H
#define SLOW_HTML_H

#include "base/mem.h"

/* The rules of nd_html_text, said with tokens. */
void slow_html_text(nd_buf *out, nd_str html);

#endif
