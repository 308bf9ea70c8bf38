/* The tokenizer: finds the starts and ends of tokens.  States that differ only in parse errors
 * are merged. */
#include "text/html_scan.h"

static bool ends_name(char c) {
  return c == '>' || c == '/' || nd_html_is_space(c);
}

/* Tests for `word` (lower case) at p, ignoring case. */
static bool at_word(const char *p, const char *end, const char *word, size_t n) {
  if ((size_t)(end - p) < n) return false;
  for (size_t i = 0; i < n; i++) {
    if (nd_html_lower(p[i]) != word[i]) return false;
  }
  return true;
}

/* --- tags ------------------------------------------------------------------- */
int nd_html_attribute_step(const char **place, const char *end, nd_html_attribute *out,
                           bool *self_closing) {
  const char *p = *place;
  for (;; p++) {
    if (p == end) return *place = p, -1;
    if (*p == '>') return *place = p, 0;
    if (*p == '/') {
      if (end - p > 1 && p[1] == '>') return *self_closing = true, *place = p + 1, 0;
    } else if (!nd_html_is_space(*p)) {
      break;
    }
  }
  const char *name = p++; /* a '=' here starts a name */
  while (p < end && *p != '=' && !ends_name(*p)) p++;
  out->name = (nd_str){name, (size_t)(p - name)};
  out->value = (nd_str){p, 0};
  while (p < end && nd_html_is_space(*p)) p++;
  if (p == end || *p != '=') return *place = p, p == end ? -1 : 1;
  p++;
  while (p < end && nd_html_is_space(*p)) p++;
  if (p == end) return *place = p, -1;
  if (*p == '"' || *p == '\'') {
    const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
    if (!close) return *place = end, -1;
    out->value = (nd_str){p + 1, (size_t)(close - p - 1)};
    return *place = close + 1, 1;
  }
  const char *value = p;
  while (p < end && *p != '>' && !nd_html_is_space(*p)) p++;
  out->value = (nd_str){value, (size_t)(p - value)};
  return *place = p, p == end ? -1 : 1;
}

const char *nd_html_tag_end(const char *p, const char *end, bool *self_closing) {
  nd_html_attribute ignored;
  *self_closing = false;
  int step;
  do step = nd_html_attribute_step(&p, end, &ignored, self_closing);
  while (step > 0);
  return step == 0 ? p : NULL;
}

bool nd_html_next_attribute(nd_str *rest, nd_html_attribute *out) {
  /* The byte after the attributes is the '>' of the tag. */
  const char *p = rest->p, *end = rest->p + rest->n;
  bool self_closing;
  if (p == NULL || nd_html_attribute_step(&p, end + 1, out, &self_closing) != 1) return false;
  *rest = (nd_str){p, (size_t)(end - p)};
  return true;
}

/* Reads a tag whose name starts at `name`; returns false if the input ends inside it. */
static bool scan_tag(nd_html_scan *s, nd_html_token *out, nd_html_kind kind, const char *name) {
  const char *p = name;
  while (p < s->end && !ends_name(*p)) p++;
  const char *close = nd_html_tag_end(p, s->end, &out->self_closing);
  s->p = close ? close + 1 : s->end;
  if (!close) return false;
  out->kind = kind;
  out->raw = (nd_str){name, (size_t)(p - name)};
  out->attributes = (nd_str){p, (size_t)(close - p)};
  if (kind == ND_HTML_START_TAG) s->last_start = out->raw;
  return true;
}

/* --- raw text ----------------------------------------------------------------- */
/* Tests for the end tag of `name` at p, which is a '<'. */
static bool at_end_tag(const char *p, const char *end, nd_str name) {
  if (name.n == 0 || (size_t)(end - p) < name.n + 3 || p[1] != '/') return false;
  for (size_t i = 0; i < name.n; i++) {
    if (!nd_html_is_alpha(p[2 + i]) || nd_html_lower(p[2 + i]) != nd_html_lower(name.p[i]))
      return false;
  }
  return ends_name(p[2 + name.n]);
}

static bool at_script_word(const char *p, const char *end) {
  return end - p > 6 && at_word(p, end, "script", 6) && ends_name(p[6]);
}

/* Script data: "<!--" escapes, "<script" inside that escapes twice, and "-->"
 * undoes both.  The dashes of "<!--" may be those of "-->". */
static const char *script_end(const char *p, const char *end, nd_str name) {
  enum { PLAIN, ESCAPED, TWICE } mode = PLAIN;
  for (;;) {
    if (mode == PLAIN) {
      p = p < end ? memchr(p, '<', (size_t)(end - p)) : NULL;
      if (!p) return end;
    } else {
      while (p < end && *p != '<' && *p != '>') p++;
      if (p == end) return end;
      if (*p == '>') {
        if (p[-1] == '-' && p[-2] == '-') mode = PLAIN;
        p++;
        continue;
      }
    }
    if (mode != TWICE && at_end_tag(p, end, name)) return p;
    if (mode == PLAIN) {
      if (end - p >= 4 && memcmp(p, "<!--", 4) == 0) {
        mode = ESCAPED;
        p += 3;
      }
    } else if (mode == ESCAPED) {
      if (at_script_word(p + 1, end)) mode = TWICE;
    } else if (end - p > 1 && p[1] == '/' && at_script_word(p + 2, end)) {
      mode = ESCAPED;
    }
    p++;
  }
}

const char *nd_html_raw_end(const char *p, const char *end, nd_str name, nd_html_state state) {
  if (state == ND_HTML_PLAINTEXT) return end;
  if (state == ND_HTML_SCRIPT) return script_end(p, end, name);
  while (p < end && (p = memchr(p, '<', (size_t)(end - p))) != NULL) {
    if (at_end_tag(p, end, name)) return p;
    p++;
  }
  return end;
}

static const char *cdata_end(const char *p, const char *end) {
  const char *close = memmem(p, (size_t)(end - p), "]]>", 3);
  return close ? close : end;
}

/* --- comments and doctypes ------------------------------------------------------ */
const char *nd_html_comment_end(const char *p, const char *end, const char **inside_end) {
  const char *start = p;
  if (p < end && *p == '>') return *inside_end = p, p + 1;
  if (end - p > 1 && p[0] == '-' && p[1] == '>') return *inside_end = p, p + 2;
  while (p < end && (p = memchr(p, '>', (size_t)(end - p))) != NULL) {
    if (p - start >= 2 && p[-1] == '-' && p[-2] == '-') return *inside_end = p - 2, p + 1;
    if (p - start >= 3 && p[-1] == '!' && p[-2] == '-' && p[-3] == '-')
      return *inside_end = p - 3, p + 1;
    p++;
  }
  /* The input ends in the comment: drop a partial end mark. */
  p = end;
  if (p - start >= 3 && memcmp(p - 3, "--!", 3) == 0) {
    p -= 3;
  } else {
    for (int i = 0; i < 2 && p > start && p[-1] == '-'; i++) p--;
  }
  return *inside_end = p, end;
}

/* Reads a bogus comment or doctype up to and including the next '>'. */
static void scan_to_gt(nd_html_scan *s, nd_html_token *out, nd_html_kind kind, const char *p) {
  const char *close = p < s->end ? memchr(p, '>', (size_t)(s->end - p)) : NULL;
  out->kind = kind;
  out->unclosed = close == NULL;
  out->raw = (nd_str){p, (size_t)((close ? close : s->end) - p)};
  s->p = close ? close + 1 : s->end;
}

static nd_str quoted(const char **place, const char *end, bool *cut) {
  const char *p = *place, *close = memchr(p + 1, *p, (size_t)(end - p - 1));
  *cut = close == NULL;
  if (!close) close = end;
  *place = close + !*cut;
  return (nd_str){p + 1, (size_t)(close - p - 1)};
}

void nd_html_parse_doctype(nd_html_doctype *out, const nd_html_token *token) {
  const char *p = token->raw.p, *end = p + token->raw.n;
  bool cut = false;
  *out = (nd_html_doctype){.quirks = true};
  while (p < end && nd_html_is_space(*p)) p++;
  if (p == end) return;
  const char *name = p;
  while (p < end && !nd_html_is_space(*p)) p++;
  out->has_name = true;
  out->name = (nd_str){name, (size_t)(p - name)};
  while (p < end && nd_html_is_space(*p)) p++;
  if (p == end) {
    out->quirks = token->unclosed;
    return;
  }
  bool is_public = at_word(p, end, "public", 6);
  if (!is_public && !at_word(p, end, "system", 6)) return;
  p += 6;
  while (p < end && nd_html_is_space(*p)) p++;
  if (p == end || (*p != '"' && *p != '\'')) return;
  if (is_public) {
    out->has_public = true;
    out->public_id = quoted(&p, end, &cut);
    if (cut) return;
    while (p < end && nd_html_is_space(*p)) p++;
    if (p == end) {
      out->quirks = token->unclosed;
      return;
    }
    if (*p != '"' && *p != '\'') return;
  }
  out->has_system = true;
  out->system_id = quoted(&p, end, &cut);
  if (cut) return;
  while (p < end && nd_html_is_space(*p)) p++;
  /* Further text is ignored, so the end of input is not an error there. */
  out->quirks = p == end && token->unclosed;
}

/* --- the pull interface ---------------------------------------------------------- */
void nd_html_scan_init(nd_html_scan *s, nd_str html) {
  *s = (nd_html_scan){.p = html.p, .end = html.p + html.n};
}

static bool emit_text(nd_html_scan *s, nd_html_token *out, const char *p, nd_html_state state) {
  out->kind = ND_HTML_TEXT;
  out->state = state;
  out->raw = (nd_str){s->p, (size_t)(p - s->p)};
  s->p = p;
  return true;
}

/* Tests whether markup starts at p, a '<' in the data state. */
static bool at_markup(const char *p, const char *end) {
  if (end - p < 2) return false;
  if (p[1] == '/') return end - p > 2;
  return nd_html_is_alpha(p[1]) || p[1] == '!' || p[1] == '?';
}

/* Reads the markup at s->p, a '<'.  Returns false if it gives no token. */
static bool scan_markup(nd_html_scan *s, nd_html_token *out) {
  const char *p = s->p + 1, *end = s->end;
  if (nd_html_is_alpha(*p)) return scan_tag(s, out, ND_HTML_START_TAG, p);
  if (*p == '/') {
    if (nd_html_is_alpha(p[1])) return scan_tag(s, out, ND_HTML_END_TAG, p + 1);
    if (p[1] == '>') return s->p = p + 2, false;
    return scan_to_gt(s, out, ND_HTML_COMMENT, p + 1), true;
  }
  if (*p == '?') return scan_to_gt(s, out, ND_HTML_COMMENT, p), true;
  p++;
  if (end - p >= 2 && p[0] == '-' && p[1] == '-') {
    const char *inside_end;
    out->kind = ND_HTML_COMMENT;
    s->p = nd_html_comment_end(p + 2, end, &inside_end);
    out->raw = (nd_str){p + 2, (size_t)(inside_end - p - 2)};
    return true;
  }
  if (at_word(p, end, "doctype", 7)) return scan_to_gt(s, out, ND_HTML_DOCTYPE, p + 7), true;
  if (s->foreign && end - p >= 7 && memcmp(p, "[CDATA[", 7) == 0) {
    s->p = p + 7;
    s->state = ND_HTML_CDATA;
    return false;
  }
  return scan_to_gt(s, out, ND_HTML_COMMENT, p), true;
}

bool nd_html_scan_next(nd_html_scan *s, nd_html_token *out) {
  *out = (nd_html_token){0};
  while (s->p < s->end) {
    const char *p = s->p;
    if (s->state == ND_HTML_CDATA) {
      p = cdata_end(p, s->end);
      if (p > s->p) return emit_text(s, out, p, ND_HTML_CDATA);
      s->p = p + 3;
      s->state = ND_HTML_DATA;
    } else if (s->state != ND_HTML_DATA) {
      p = nd_html_raw_end(p, s->end, s->last_start, s->state);
      if (p > s->p) return emit_text(s, out, p, s->state);
      s->state = ND_HTML_DATA;
      if (scan_tag(s, out, ND_HTML_END_TAG, p + 2)) return true;
    } else {
      while (p < s->end) {
        const char *lt = memchr(p, '<', (size_t)(s->end - p));
        if (lt && !at_markup(lt, s->end)) {
          p = lt + 1;
          continue;
        }
        p = lt ? lt : s->end;
        break;
      }
      if (p > s->p) return emit_text(s, out, p, ND_HTML_DATA);
      if (scan_markup(s, out)) return true;
    }
  }
  return false;
}

void nd_html_scan_enter(nd_html_scan *s, const nd_html_token *token) {
  if (token->kind != ND_HTML_START_TAG || s->foreign) return;
  s->state = (nd_html_state)(nd_html_element(token->raw) / ND_HTML_EL_STATE);
}
