/* A pull tokenizer for HTML, modelled on the tokenizer states of the WHATWG standard.
 *
 * Tokens are views of the input; nd_html_decode converts a view to the output of the
 * standard (character references, NUL, line ends, lower case).  Attributes are split only on
 * request.  Every call is linear in the bytes it consumes, for any input.
 *
 *   nd_html_scan s;
 *   nd_html_scan_init(&s, html);
 *   while (nd_html_scan_next(&s, &token)) nd_html_scan_enter(&s, &token); */
#ifndef ND_TEXT_HTML_SCAN_H
#define ND_TEXT_HTML_SCAN_H

#include "base/mem.h"

typedef enum nd_html_state {
  ND_HTML_DATA,
  ND_HTML_RCDATA,  /* title, textarea: text and references */
  ND_HTML_RAWTEXT, /* style, xmp, iframe, noembed, noframes */
  ND_HTML_SCRIPT,
  ND_HTML_PLAINTEXT,
  ND_HTML_CDATA
} nd_html_state;

typedef enum nd_html_kind {
  ND_HTML_TEXT,
  ND_HTML_START_TAG,
  ND_HTML_END_TAG,
  ND_HTML_COMMENT,
  ND_HTML_DOCTYPE
} nd_html_kind;

typedef struct nd_html_token {
  nd_html_kind kind;
  nd_html_state state; /* TEXT: the state that determines its decoding */
  nd_str raw;          /* text, name of a tag, or inside of a comment or doctype */
  nd_str attributes;   /* tags: between the name and the '>' */
  bool self_closing;   /* tags */
  bool unclosed;       /* DOCTYPE: the input ended inside it */
} nd_html_token;

typedef struct nd_html_scan {
  const char *p, *end;
  nd_html_state state;
  nd_str last_start; /* name of the last start tag, which ends raw text */
  bool foreign;      /* in SVG or MathML, where <![CDATA[ is not a comment */
} nd_html_scan;

void nd_html_scan_init(nd_html_scan *s, nd_str html);

/* Reads the next token; returns false at the end.  Adjacent text may be several tokens. */
bool nd_html_scan_next(nd_html_scan *s, nd_html_token *out);

/* Switches the state after a start tag (script, style, title …), like a parser with scripting
 * disabled; ignores other tokens. */
void nd_html_scan_enter(nd_html_scan *s, const nd_html_token *token);

/* --- tags ----------------------------------------------------------------- */
typedef struct nd_html_attribute {
  nd_str name;  /* decode with ND_HTML_AS_NAME */
  nd_str value; /* decode with ND_HTML_AS_VALUE */
} nd_html_attribute;

/* Splits the next attribute off `*rest`, initially the attributes of the token.  Of several
 * attributes with the same name the first counts; the caller must handle that. */
bool nd_html_next_attribute(nd_str *rest, nd_html_attribute *out);

/* Returns the '>' of the tag whose name ends at `p`, or NULL if the input ends before it. */
const char *nd_html_tag_end(const char *p, const char *end, bool *self_closing);

/* Returns the `</name` that ends the raw text at p, or end.  SCRIPT follows the escaped and
 * double-escaped states; `name` is matched ignoring case. */
const char *nd_html_raw_end(const char *p, const char *end, nd_str name, nd_html_state state);

/* Returns the end of a comment whose inside starts at p, after "<!--"; the inside is
 * [p, *inside_end). */
const char *nd_html_comment_end(const char *p, const char *end, const char **inside_end);

/* Moves p past one attribute, like the states from "before attribute name".  Returns 1 for an
 * attribute, 0 if p is at the '>', -1 if the input ended. */
int nd_html_attribute_step(const char **p, const char *end, nd_html_attribute *out,
                           bool *self_closing);

typedef struct nd_html_doctype {
  bool has_name, has_public, has_system, quirks;
  nd_str name, public_id, system_id; /* decode: AS_NAME, AS_RAWTEXT, AS_RAWTEXT */
} nd_html_doctype;
void nd_html_parse_doctype(nd_html_doctype *out, const nd_html_token *token);

/* --- decoding -------------------------------------------------------------- */
typedef enum nd_html_as {
  ND_HTML_AS_DATA,    /* references resolved, NUL kept */
  ND_HTML_AS_RCDATA,  /* references resolved, NUL is U+FFFD */
  ND_HTML_AS_RAWTEXT, /* no references, NUL is U+FFFD; comments too */
  ND_HTML_AS_CDATA,   /* no references, NUL kept */
  ND_HTML_AS_VALUE,   /* like RCDATA, with the rule of attributes for a missing ';' */
  ND_HTML_AS_NAME     /* ASCII lower case, NUL is U+FFFD */
} nd_html_as;

nd_html_as nd_html_text_as(nd_html_state state);

/* Appends the decoded view; line ends become "\n". */
nd_status nd_html_decode(nd_buf *out, nd_str raw, nd_html_as as, nd_error *err) ND_MUST_CHECK;

/* Decodes the character reference at p (*p is '&').  Returns its length in the input, or 0 if
 * it is not a reference and the '&' stands for itself.  Writes 1 to 6 bytes of UTF-8, at most
 * 6/5 of the length. */
size_t nd_html_reference(const char *p, const char *end, bool in_value, char value[8],
                         size_t *value_n);

/* --- elements --------------------------------------------------------------- */
enum {
  ND_HTML_EL_BREAK = 1,    /* separates words: blocks, table cells, br … */
  ND_HTML_EL_BREAKOUT = 2, /* ends SVG and MathML content */
  ND_HTML_EL_TEMPLATE = 4,
  ND_HTML_EL_FOREIGN = 8, /* svg, math */
  ND_HTML_EL_SHOWN = 16,  /* its raw text is visible */
  ND_HTML_EL_IMAGE = 32,  /* img */
  ND_HTML_EL_STATE = 64   /* factor of the nd_html_state of its content */
};

/* Returns the flags of an element; 0 for inline and unknown ones. */
unsigned nd_html_element(nd_str name);

#define ND_HTML_ELEMENT_HASH(key) ((uint64_t)(key)*0xb76d7e6829bfc431u >> 55)
typedef struct nd_html_element_slot {
  uint64_t key; /* up to 8 bytes of the lower-case name, the first one lowest */
  unsigned flags;
} nd_html_element_slot;
extern const nd_html_element_slot nd_html_elements[512];

static inline bool nd_html_is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}
static inline bool nd_html_is_alpha(char c) {
  return (unsigned)((c | 32) - 'a') < 26;
}
static inline char nd_html_lower(char c) {
  return (unsigned)(c - 'A') < 26 ? (char)(c | 32) : c;
}

#endif
