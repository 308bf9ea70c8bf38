/* The JSON reader: one pass without recursion, a plain state machine with one
 * bit of stack for each level of nesting.  What a string is, json_string.c knows. */
#include "input/json.h"

typedef struct parser {
  const char *p, *end;
  const char *why; /* what is wrong at p */
  nd_cpu_level level;
  unsigned depth;
  bool named; /* a member's name and colon were read */
  uint64_t in_object[(ND_JSON_DEPTH + 63) / 64];
} parser;

static inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline void skip_space(parser *j) {
  while (j->p != j->end && is_space(*j->p)) j->p++;
}

static inline bool wrong(parser *j, const char *why) {
  j->why = j->p == j->end ? ND_JSON_CUT : why;
  return false;
}

static inline bool is_digit(const parser *j) {
  return j->p != j->end && *j->p >= '0' && *j->p <= '9';
}

static bool read_digits(parser *j) {
  if (!is_digit(j)) return wrong(j, "a digit is missing in a number");
  while (is_digit(j)) j->p++;
  return true;
}

static bool read_number(parser *j) {
  if (*j->p == '-') j->p++;
  if (j->p != j->end && *j->p == '0') {
    j->p++;
    if (is_digit(j)) return wrong(j, "a number begins with 0");
  } else if (!read_digits(j)) {
    return false;
  }
  if (j->p != j->end && *j->p == '.') {
    j->p++;
    if (!read_digits(j)) return false;
  }
  if (j->p != j->end && (*j->p | 0x20) == 'e') {
    j->p++;
    if (j->p != j->end && (*j->p == '+' || *j->p == '-')) j->p++;
    if (!read_digits(j)) return false;
  }
  return true;
}

static bool read_word(parser *j, const char *word) {
  for (; *word; word++, j->p++) {
    if (j->p == j->end || *j->p != *word) return wrong(j, "a value is missing");
  }
  return true;
}

/* Reads a string; p stands on the opening quote. */
static inline bool read_string(parser *j, nd_str *value, bool *escaped) {
  nd_json_string s;
  const char *start = j->p + 1;
  nd_json_scan(&s, (nd_str){start, (size_t)(j->end - start)}, j->level);
  j->p = start + s.length;
  if (ND_UNLIKELY(s.why != NULL)) {
    j->why = s.why;
    return false;
  }
  *value = (nd_str){start, s.length};
  *escaped = s.escaped;
  if (s.high) {
    const char *fault = nd_json_utf8_fault(*value, j->level);
    if (fault) {
      j->p = fault;
      return wrong(j, "a string is not UTF-8");
    }
  }
  j->p++;
  return true;
}

static bool push(parser *j, bool object) {
  if (j->depth == ND_JSON_DEPTH) {
    j->why = "nested deeper than 1000 levels";
    _Static_assert(ND_JSON_DEPTH == 1000, "the message names the limit");
    return false;
  }
  uint64_t bit = 1ull << (j->depth & 63), *word = &j->in_object[j->depth / 64];
  *word = object ? *word | bit : *word & ~bit;
  j->depth++;
  return true;
}

static inline bool inside_object(const parser *j) {
  unsigned top = j->depth - 1;
  return j->in_object[top / 64] >> (top & 63) & 1;
}

/* The members with this name, one bit each. */
static uint32_t match_name(const nd_json_field *fields, size_t count, nd_str raw, bool escaped) {
  uint32_t set = 0;
  for (size_t i = 0; i < count; i++) {
    if (escaped ? nd_json_escaped_is(raw, fields[i].name) : nd_str_eq(raw, fields[i].name))
      set |= 1u << i;
  }
  return set;
}

static bool parse(parser *j, nd_json_field *fields, size_t count) {
  nd_str text = {NULL, 0};   /* of the last string */
  bool escaped = false;      /* has escapes */
  uint32_t wanted = 0;       /* fields that the current member of the outermost object fills */
  const char *nested = NULL; /* where that member's object or array begins */
  nd_json_type type;

  if (j->end - j->p >= 3 && memcmp(j->p, "\xef\xbb\xbf", 3) == 0) j->p += 3;
value:
  skip_space(j);
  if (j->p == j->end) return wrong(j, ND_JSON_CUT);
  const char *start = j->p;
  switch (*j->p) {
    case '"':
      if (!read_string(j, &text, &escaped)) return false;
      type = ND_JSON_STRING;
      break;
    case '{':
    case '[':
      type = *j->p == '{' ? ND_JSON_OBJECT : ND_JSON_ARRAY;
      if (j->depth == 1) nested = j->p;
      if (!push(j, type == ND_JSON_OBJECT)) return false;
      j->p++;
      skip_space(j);
      if (j->p == j->end) return wrong(j, ND_JSON_CUT);
      if (*j->p == (type == ND_JSON_OBJECT ? '}' : ']')) goto close;
      if (type == ND_JSON_OBJECT) goto name;
      goto value;
    case 't':
      if (!read_word(j, "true")) return false;
      type = ND_JSON_TRUE;
      break;
    case 'f':
      if (!read_word(j, "false")) return false;
      type = ND_JSON_FALSE;
      break;
    case 'n':
      if (!read_word(j, "null")) return false;
      type = ND_JSON_NULL;
      break;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      if (!read_number(j)) return false;
      type = ND_JSON_NUMBER;
      break;
    default: return wrong(j, "a value is missing");
  }
after:
  if (wanted && j->depth == 1) {
    nd_str as_written = {start, (size_t)(j->p - start)};
    for (size_t i = 0; i < count; i++) {
      if (!(wanted >> i & 1)) continue;
      fields[i].type = type;
      fields[i].escaped = type == ND_JSON_STRING && escaped;
      fields[i].value = type == ND_JSON_STRING ? text : as_written;
    }
  }
  skip_space(j);
  if (j->depth == 0 && j->p == j->end) return true;
  if (j->depth == 0) return wrong(j, "something follows after the value");
  if (inside_object(j)) {
    if (j->p == j->end || (*j->p != ',' && *j->p != '}'))
      return wrong(j, "a comma or } is missing");
    if (*j->p == '}') goto close;
    j->p++;
    skip_space(j);
    goto name;
  }
  if (j->p == j->end || (*j->p != ',' && *j->p != ']')) return wrong(j, "a comma or ] is missing");
  if (*j->p == ']') goto close;
  j->p++;
  goto value;
name:
  if (j->p == j->end || *j->p != '"') return wrong(j, "a member's name is missing");
  if (!read_string(j, &text, &escaped)) return false;
  if (j->depth == 1) wanted = match_name(fields, count, text, escaped);
  skip_space(j);
  if (j->p == j->end || *j->p != ':') return wrong(j, "a colon is missing");
  j->p++;
  j->named = true;
  goto value;
close:
  type = *j->p == '}' ? ND_JSON_OBJECT : ND_JSON_ARRAY;
  j->p++;
  j->depth--;
  start = nested;
  goto after;
}

static nd_status run(nd_json_field *fields, size_t count, nd_str text, nd_error *err) {
  parser j = {0};
  j.p = text.p;
  j.end = text.p + text.n;
  j.why = NULL;
  j.level = nd_cpu();
  j.depth = 0;
  j.named = false;
  if (parse(&j, fields, count)) return ND_OK;
  return nd_fail(err, ND_ERR_DATA, "not valid JSON at byte %zu: %s", (size_t)(j.p - text.p) + 1,
                 j.why);
}

/* The text from its first byte that counts. */
static nd_str trimmed(nd_str text) {
  if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0) text.p += 3, text.n -= 3;
  while (text.n && is_space(*text.p)) text.p++, text.n--;
  return text;
}

nd_status nd_json_check(nd_str text, nd_error *err) {
  if (text.n == 0) return nd_fail(err, ND_ERR_DATA, "not valid JSON: it is empty");
  return run(NULL, 0, text, err);
}

nd_status nd_json_read(nd_json_field *fields, size_t count, nd_str text, nd_error *err) {
  for (size_t i = 0; i < count; i++) {
    fields[i].type = ND_JSON_ABSENT;
    fields[i].escaped = false;
    fields[i].value = (nd_str){"", 0};
  }
  if (count > ND_JSON_FIELDS) return nd_fail(err, ND_ERR_USAGE, "too many JSON fields are wanted");
  nd_str head = trimmed(text);
  if (head.n == 0 || *head.p != '{') return nd_fail(err, ND_ERR_DATA, "not a JSON object");
  return run(fields, count, text, err);
}

bool nd_json_cut_off(nd_str text) {
  nd_str head = trimmed(text);
  if (head.n == 0 || *head.p != '{') return false;
  parser j = {0};
  j.p = head.p;
  j.end = head.p + head.n;
  j.why = NULL;
  j.level = nd_cpu();
  j.depth = 0;
  j.named = false;
  return !parse(&j, NULL, 0) && j.named && strcmp(j.why, ND_JSON_CUT) == 0;
}

const char *nd_json_type_name(nd_json_type type) {
  switch (type) { /* untaken: no further value */
    case ND_JSON_ABSENT: return "absent";
    case ND_JSON_STRING: return "a string";
    case ND_JSON_NUMBER: return "a number";
    case ND_JSON_TRUE: return "true";
    case ND_JSON_FALSE: return "false";
    case ND_JSON_NULL: return "null";
    case ND_JSON_OBJECT: return "an object";
    case ND_JSON_ARRAY: return "an array";
  }
  return "unknown";
}
