/* A pull tokenizer for HTML after the WHATWG standard's tokenizer states.
 *
 * Tokens are views of the input: text, names and comments stand there as they
 * were written, and nd_html_decode turns a view into what the standard emits
 * (character references, NUL, line ends, lower case).  Attributes are not
 * split unless somebody walks them.  Every call is linear in the bytes it
 * moves past, whatever the input.
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
  nd_html_state state; /* TEXT: where it stood, which says how to decode it */
  nd_str raw;          /* the text, a tag's name, a comment's or doctype's inside */
  nd_str attributes;   /* tags: what stands between the name and the '>' */
  bool self_closing;   /* tags */
  bool unclosed;       /* DOCTYPE: the input ended inside it */
} nd_html_token;

typedef struct nd_html_scan {
  const char *p, *end;
  nd_html_state state;
  nd_str last_start; /* name of the last start tag: what ends raw text */
  bool foreign;      /* in SVG or MathML, where <![CDATA[ is no comment */
} nd_html_scan;

void nd_html_scan_init(nd_html_scan *s, nd_str html);

/* The next token; false at the end.  Adjacent text may come in several tokens. */
bool nd_html_scan_next(nd_html_scan *s, nd_html_token *out);

/* Switches the state after a start tag (script, style, title …) as a parser
 * with scripting switched off does; other tokens change nothing. */
void nd_html_scan_enter(nd_html_scan *s, const nd_html_token *token);

/* --- tags ----------------------------------------------------------------- */
typedef struct nd_html_attribute {
  nd_str name;  /* decode with ND_HTML_AS_NAME */
  nd_str value; /* decode with ND_HTML_AS_VALUE */
} nd_html_attribute;

/* Takes the next attribute off `*rest` (at first the token's attributes).
 * Of two attributes with one name the first counts; that is left to the caller. */
bool nd_html_next_attribute(nd_str *rest, nd_html_attribute *out);

/* `p` stands after a tag's name: the place of the tag's '>', NULL when the
 * input ends before it. */
const char *nd_html_tag_end(const char *p, const char *end, bool *self_closing);

/* The place of the `</name` that ends raw text begun at p, or end.  SCRIPT
 * follows the escaped and double-escaped states; `name` is matched without case. */
const char *nd_html_raw_end(const char *p, const char *end, nd_str name, nd_html_state state);

/* The place after a comment whose inside begins at p (after "<!--"); the inside is
 * [p, *inside_end). */
const char *nd_html_comment_end(const char *p, const char *end, const char **inside_end);

/* Moves p past one attribute, as the states from "before attribute name" do.
 * 1: an attribute, 0: p is at the '>', -1: the input ended. */
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
  ND_HTML_AS_VALUE,   /* like RCDATA, with the attributes' rule for a missing ';' */
  ND_HTML_AS_NAME     /* ASCII lower case, NUL is U+FFFD */
} nd_html_as;

nd_html_as nd_html_text_as(nd_html_state state);

/* Appends; line ends become "\n". */
nd_status nd_html_decode(nd_buf *out, nd_str raw, nd_html_as as, nd_error *err) ND_MUST_CHECK;

/* The character reference at p (*p is '&'): bytes it takes of the input, 0 when
 * it is none and the '&' stands for itself.  Writes 1..6 bytes of UTF-8, never
 * more than 6/5 of the bytes taken. */
size_t nd_html_reference(const char *p, const char *end, bool in_value, char value[8],
                         size_t *value_n);

/* --- elements --------------------------------------------------------------- */
enum {
  ND_HTML_EL_BREAK = 1,    /* separates words: blocks, table cells, br … */
  ND_HTML_EL_BREAKOUT = 2, /* ends SVG and MathML content */
  ND_HTML_EL_TEMPLATE = 4,
  ND_HTML_EL_FOREIGN = 8, /* svg, math */
  ND_HTML_EL_SHOWN = 16,  /* its raw text is to be read */
  ND_HTML_EL_IMAGE = 32,  /* img */
  ND_HTML_EL_STATE = 64   /* times the nd_html_state that its content is in */
};

/* Flags of an element; 0 for inline and unknown ones. */
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
