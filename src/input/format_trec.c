/* trec: records between <DOC> and </DOC>, as NIST's collections have them.
 *
 *   TREC text (AP, FT, LATIMES …)        TREC web (WT10g, GOV, GOV2)
 *     <DOC>                                <DOC>
 *     <DOCNO> AP890101-0001 </DOCNO>       <DOCNO>WTX001-B01-1</DOCNO>
 *     <HEAD>…</HEAD>                       <DOCHDR>
 *     <TEXT> … </TEXT>                     http://… 208.194.41.61 19970101152051 text/html 2080
 *     </DOC>                               HTTP/1.0 200 OK
 *                                          Content-Type: text/html
 *                                          </DOCHDR>
 *                                          <html> … </html>
 *                                          </DOC>
 * Tags may have any case.  <DOC id="…" url="…"> is accepted too; its id is used if there is no
 * DOCNO.  A web page may contain anything, so a missing </DOC> is assumed only at a <DOC> at the
 * start of a line. */
#include "input/format.h"

enum { STEP = 1 << 16, TAG_MAX = 2048, WINDOW = 2 * TAG_MAX };

static inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static inline bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns the length of the prefix of `word` (lower case) with which text starts. */
static size_t common(nd_str text, const char *word) {
  size_t i = 0;
  while (i < text.n && word[i] && lower(text.p[i]) == word[i]) i++;
  return i;
}

static bool begins(nd_str text, const char *word) {
  return word[common(text, word)] == '\0';
}

static nd_str from(nd_str text, size_t at) {
  return (nd_str){text.p + at, text.n - at};
}

static nd_str trim(nd_str text) {
  while (text.n && is_space(text.p[0])) text.p++, text.n--;
  while (text.n && is_space(text.p[text.n - 1])) text.n--;
  return text;
}

/* --- framing --------------------------------------------------------------- */

typedef enum mark_kind { MARK_NONE, MARK_OPEN, MARK_CLOSE, MARK_CUT } mark_kind;

/* Classifies the '<' at the start of text; CUT: more bytes are needed.  TAG_MAX bytes are always
 * enough. */
static mark_kind mark_at(nd_str text, size_t *length) {
  size_t n = common(text, "</doc>");
  *length = n;
  if (n == 6) return MARK_CLOSE;
  if (n == text.n) return MARK_CUT;
  n = common(text, "<doc");
  if (n < 4) return n == text.n ? MARK_CUT : MARK_NONE;
  for (; n < text.n && n < TAG_MAX; n++) {
    *length = n + 1;
    if (text.p[n] == '>') return MARK_OPEN;
    if (text.p[n] == '\n' || text.p[n] == '<' || (n == 4 && !is_space(text.p[n]))) return MARK_NONE;
  }
  return n == TAG_MAX ? MARK_NONE : MARK_CUT;
}

/* The first mark at or after *at: an opening one, or, inside a record, a
 * closing one or an opening one at the beginning of a line (there, *at is not
 * the first byte: that is one of the record's own).  With NONE, *at
 * is where to go on once more bytes are there. */
static mark_kind find_mark(nd_str view, size_t *at, bool inside, bool last) {
  const char *p = view.p + *at, *end = view.p + view.n;
  while (p < end && (p = memchr(p, '<', (size_t)(end - p))) != NULL) {
    size_t length;
    if (end - p >= 3 && lower(p[1]) != 'd' && lower(p[2]) != 'd') {
      p++;
      continue;
    }
    mark_kind kind = mark_at((nd_str){p, (size_t)(end - p)}, &length);
    *at = (size_t)(p - view.p);
    if (kind == MARK_CUT && !last) return MARK_NONE;
    if (kind == MARK_CLOSE && inside) return MARK_CLOSE;
    if (kind == MARK_OPEN && (!inside || p[-1] == '\n' || p[-1] == '\r')) return MARK_OPEN;
    p++;
  }
  *at = view.n;
  return MARK_NONE;
}

static nd_status look(nd_str *view, bool *last, nd_stream *s, size_t want, nd_error *err) {
  *view = (nd_str){NULL, 0};
  nd_status status = nd_stream_peek(view, s, want, err);
  *last = status != ND_OK || view->n < want;
  return status;
}

static void move(nd_frame *out, nd_stream *s, size_t n) {
  nd_stream_skip(s, n);
  out->length += n;
}

/* The record that begins with a tag of `tag` bytes. */
static nd_status frame_record(nd_frame *out, nd_stream *s, size_t tag, const nd_input_options *o,
                              nd_error *err) {
  nd_str view;
  bool last;
  mark_kind kind;
  size_t at = tag;
  nd_status status = look(&view, &last, s, WINDOW, err);
  while ((kind = find_mark(view, &at, true, last)) == MARK_NONE && !last) {
    size_t want = view.n + view.n / 2 + STEP;
    if (out->length + view.n > o->max_document) { /* too long: let go of what was seen */
      size_t n = at - 1;                          /* but for the end of a line */
      move(out, s, n);
      at = 1;
      want = view.n - n + STEP;
    }
    status = look(&view, &last, s, want, err);
  }
  if (kind == MARK_NONE) {
    move(out, s, view.n);
    if (status != ND_OK) return status;
  } else if (kind == MARK_OPEN) {
    move(out, s, at);
  } else {
    size_t n = at + 6;
    (void)look(&view, &last, s, n + 2, NULL); /* the line's end belongs to the record */
    size_t eol = begins(from(view, n), "\r\n") ? 2 : begins(from(view, n), "\n") ? 1 : 0;
    if (out->length + n <= o->max_document) {
      out->kind = ND_FRAME_DOCUMENT;
      out->raw = (nd_str){view.p, n};
      move(out, s, n + eol);
      return ND_OK;
    }
    move(out, s, n + eol);
  }
  if (out->length > o->max_document)
    (void)nd_fail(err, ND_ERR_LIMIT, "longer than --max-document (%llu bytes)",
                  (unsigned long long)o->max_document);
  else
    (void)nd_fail(err, ND_ERR_DATA, "the record has no </DOC>");
  return ND_OK;
}

static nd_status frame(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  *out = (nd_frame){ND_FRAME_REJECT, nd_stream_offset(s), 0, {"", 0}};
  nd_str view;
  bool last;
  nd_status status = look(&view, &last, s, WINDOW, err);
  size_t at = 0, tag;
  if (view.n && mark_at(view, &tag) == MARK_OPEN) return frame_record(out, s, tag, o, err);
  if (find_mark(view, &at, false, last) == MARK_NONE && status != ND_OK) {
    move(out, s, view.n);
    return status;
  }
  move(out, s, at);
  out->kind = at ? ND_FRAME_OTHER : ND_FRAME_END;
  return ND_OK;
}

/* --- decoding -------------------------------------------------------------- */

/* The first place of `tag` (lower case, with its '<'), or SIZE_MAX. */
static size_t find_tag(nd_str text, const char *tag) {
  const char *p = text.p, *end = text.p + text.n;
  while (p < end && (p = memchr(p, '<', (size_t)(end - p))) != NULL) {
    if (begins((nd_str){p, (size_t)(end - p)}, tag)) return (size_t)(p - text.p);
    p++;
  }
  return SIZE_MAX;
}

/* The value of an attribute in an opening tag; empty when there is none. */
static nd_str attribute(nd_str tag, const char *name_equals) {
  size_t name = strlen(name_equals);
  for (size_t i = 1; i + name < tag.n; i++) {
    if (!is_space(tag.p[i - 1]) || !begins(from(tag, i), name_equals)) continue;
    nd_str value = from(tag, i + name);
    char quote = value.p[0];
    size_t n = 1;
    if (quote != '"' && quote != '\'') {
      for (n = 0; !is_space(value.p[n]) && value.p[n] != '>';) n++; /* the tag ends with it */
      return (nd_str){value.p, n};
    }
    while (n < value.n && value.p[n] != quote) n++;
    return trim((nd_str){value.p + 1, n - 1});
  }
  return (nd_str){"", 0};
}

/* Takes the next line off the text. */
static nd_str next_line(nd_str *text) {
  const char *newline = text->n ? memchr(text->p, '\n', text->n) : NULL;
  nd_str line = {text->p, newline ? (size_t)(newline - text->p) : text->n};
  *text = from(*text, line.n + (newline != NULL));
  return trim(line);
}

static nd_str next_word(nd_str *line) {
  size_t n = 0;
  while (n < line->n && !is_space(line->p[n])) n++;
  nd_str word = {line->p, n};
  *line = trim(from(*line, n));
  return word;
}

/* What a Content-Type says. */
static void read_type(nd_document *out, nd_str type) {
  bool html = begins(type, "text/html") || begins(type, "application/xhtml+xml");
  /* Other types hold text that was extracted when the collection was made. */
  out->kind = html || type.n == 0 ? ND_KIND_HTML : ND_KIND_SNIFF;
  for (size_t i = 0; i < type.n; i++) {
    if (!begins(from(type, i), "charset=")) continue;
    nd_str set = trim(from(type, i + 8));
    if (set.n && (*set.p == '"' || *set.p == '\'')) set = from(set, 1);
    size_t n = 0;
    while (n < set.n && !is_space(set.p[n]) && !strchr(";,\"'", set.p[n])) n++;
    out->charset = (nd_str){set.p, n};
    return;
  }
}

/* Reads the lines of <DOCHDR>: "URL [address time type length]", then the HTTP head. */
static void read_header(nd_document *out, nd_str header) {
  nd_str type = {"", 0};
  header = trim(header);
  if (!begins(header, "http/")) {
    nd_str line = next_line(&header);
    out->url = next_word(&line);
    (void)next_word(&line);
    out->time = next_word(&line);
    type = next_word(&line);
  }
  while (header.n) {
    nd_str line = next_line(&header);
    if (begins(line, "content-type:")) {
      type = trim(from(line, 13));
    } else if (begins(line, "date:") && out->time.n == 0) {
      out->time = trim(from(line, 5));
    }
  }
  read_type(out, type);
}

static nd_status decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                        nd_error *err) {
  (void)o;
  *out = (nd_document){.kind = ND_KIND_HTML};
  size_t tag;
  if (raw.n < 6 || mark_at(raw, &tag) != MARK_OPEN || tag > raw.n - 6)
    return nd_fail(err, ND_ERR_DATA, "not a <DOC> record");
  nd_str open = {raw.p, tag}, inner = {raw.p + tag, raw.n - tag - 6};

  size_t at = find_tag(inner, "<docno>");
  if (at == SIZE_MAX) {
    out->id = attribute(open, "id=");
    out->url = attribute(open, "url=");
    out->body = inner;
    if (out->id.n == 0) return nd_fail(err, ND_ERR_DATA, "the record has no DOCNO");
    return ND_OK;
  }
  nd_str before = trim((nd_str){inner.p, at});
  inner = from(inner, at + 7);
  size_t close = find_tag(inner, "</docno>");
  if (close == SIZE_MAX) return nd_fail(err, ND_ERR_DATA, "DOCNO has no </DOCNO>");
  out->id = trim((nd_str){inner.p, close});
  if (out->id.n == 0) return nd_fail(err, ND_ERR_DATA, "DOCNO is empty");
  inner = from(inner, close + 8);

  /* Only elements like DOCOLDNO stand between DOCNO and DOCHDR. */
  for (nd_str rest = trim(inner); begins(rest, "<doc"); rest = trim(rest)) {
    bool header = begins(rest, "<dochdr>");
    close = find_tag(from(rest, 1), header ? "</dochdr>" : "</doc");
    if (header && close == SIZE_MAX) return nd_fail(err, ND_ERR_DATA, "DOCHDR has no </DOCHDR>");
    if (close == SIZE_MAX) break;
    if (header) {
      read_header(out, (nd_str){rest.p + 8, close - 7});
      out->body = from(rest, close + 10);
      return ND_OK;
    }
    const char *end = memchr(rest.p + close + 1, '>', rest.n - close - 1);
    if (!end) break;
    rest = from(rest, (size_t)(end - rest.p) + 1);
  }
  out->body = inner;
  if (before.n) { /* an element ahead of DOCNO: the text is in two pieces */
    d->body.n = 0;
    ND_TRY(nd_buf_append(&d->body, before.p, before.n, err));
    ND_TRY(nd_buf_append(&d->body, "\n", 1, err));
    ND_TRY(nd_buf_append(&d->body, inner.p, inner.n, err));
    out->body = nd_buf_str(&d->body);
  }
  return ND_OK;
}

/* A lone <doc> may begin any XML file: it takes a DOCNO or an id as well. */
static int sniff(nd_str head) {
  if (head.n >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0) head = from(head, 3);
  head = trim(head);
  size_t tag;
  if (head.n == 0 || mark_at(head, &tag) != MARK_OPEN) return 0;
  if (find_tag(from(head, tag), "<docno>") != SIZE_MAX) return 90;
  if (attribute((nd_str){head.p, tag}, "id=").n) return 80;
  return memcmp(head.p, "<DOC>", 5) == 0 ? 60 : 0; /* no opening tag is shorter */
}

static bool is_rest(const nd_frame *frame) {
  return frame->kind == ND_FRAME_OTHER;
}

const nd_format nd_format_trec = {.name = "trec",
                                  .help = "TREC collections, a document per <DOC>",
                                  .sniff = sniff,
                                  .frame = frame,
                                  .is_rest = is_rest,
                                  .decode = decode};
