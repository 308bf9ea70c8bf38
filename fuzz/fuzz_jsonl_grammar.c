/* The JSONL reader over files that a grammar makes, so that the id and the text of every line
 * are known: a line is spelled and its meaning is written down beside it. */
#include "grammar.h"
#include "input/format.h"

enum { TEXT, ID, URL, TIME, KEEP, FIELDS };
enum { MOST_LINES = 40, MOST_BYTES = 48 << 10, DEEPEST = 1000 };

typedef enum meaning { DOCUMENT, REJECTED, BLANK } meaning;

typedef struct line {
  meaning means;
  size_t end; /* in the file, behind its line end */
  nd_buf value[FIELDS];
} line;

static line lines[MOST_LINES];
static size_t line_n;
static nd_buf file, packed, spelled, decoded;
static const char *names[FIELDS]; /* what the reader is asked for */

static const char *const usable[] = {"text", "id",           "url",     "time",
                                     "a",    "t\xc3\xa9xt",  "\"q\"\\", "\xf0\x9f\x98\x80",
                                     "",     "text\xc2\x80", NULL};

/* --- strings ---------------------------------------------------------------- */
static void put_escape(nd_buf *out, unsigned unit, fuzz_bytes *in) {
  fuzz_putf(out, fuzz_chance(in, 2) ? "\\u%04X" : "\\u%04x", unit & 0xffff);
}

/* One code point, spelled in one of the ways there are. */
static void put_spelled(nd_buf *out, uint32_t c, fuzz_bytes *in) {
  static const char shorts[] = "\"\\/\b\f\n\r\t", letters[] = "\"\\/bfnrt";
  const char *found = c && c < 0x80 ? strchr(shorts, (int)c) : NULL;
  unsigned how = fuzz_pick(in, 3);
  if (found && how != 2) {
    fuzz_putf(out, "\\%c", letters[found - shorts]);
  } else if (how == 2 && c >= 0x10000) {
    put_escape(out, 0xd800 + ((c - 0x10000) >> 10), in);
    put_escape(out, 0xdc00 + ((c - 0x10000) & 0x3ff), in);
  } else if (how == 2 || c < 0x20) {
    put_escape(out, c, in);
  } else {
    fuzz_put_code(out, c);
  }
}

/* The inside of a string; what it means is appended to `means`. */
static void put_inside(nd_buf *out, nd_buf *means, fuzz_bytes *in) {
  static const uint32_t odd[] = {0,      0x7f,   0x80,     0x7ff,  0x800,  0xffff,  0x10000,
                                 0x2028, 0xfeff, 0x10ffff, 0xd7ff, 0xe000, 0x1f600, 0xfffd};
  static const char letters[] = "abc xyz";
  unsigned high = 0; /* a lone one that was written last */
  for (unsigned rule; (rule = fuzz_pick(in, 10)) && out->n < MOST_BYTES;) {
    unsigned before = high, n = fuzz_pick(in, 256);
    size_t start = out->n;
    uint32_t c = 0;
    high = 0;
    switch (rule) {
      case 1: /* a run of letters, often about as long as a block of the scanner */
      case 2:
        for (unsigned i = 0; i < (rule == 1 ? n % 8 : 56 + n % 16); i++) {
          fuzz_put(out, &letters[(i + n) % 7], 1);
          fuzz_put(means, &letters[(i + n) % 7], 1);
        }
        break;
      case 3:
      case 4: c = n < 128 ? n : n << 5; break;
      case 5: c = odd[n % (sizeof odd / sizeof *odd)]; break;
      case 6: c = 0x10000 + (n << 8 | fuzz_byte(in)); break;
      case 7: /* half a character */
        high = 0xd800 + n;
        put_escape(out, high, in);
        fuzz_put_code(means, 0xfffd);
        break;
      case 8: /* the other half */
        put_escape(out, 0xdc00 + n, in);
        if (before) {
          means->n -= 3;
          fuzz_put_code(means, 0x10000 + ((before - 0xd800) << 10) + n);
        } else {
          fuzz_put_code(means, 0xfffd);
        }
        break;
      default: /* long ones */
        for (unsigned i = 0; i < 8 * n; i++) {
          fuzz_puts(out, "0123456789");
          fuzz_puts(means, "0123456789");
        }
    }
    if (rule >= 3 && rule <= 6) {
      put_spelled(out, c, in);
      fuzz_put_code(means, c);
    }
    if (out->n == start) high = before; /* nothing came between */
  }
}

static void put_string(nd_buf *out, nd_buf *means, fuzz_bytes *in) {
  fuzz_puts(out, "\"");
  put_inside(out, means, in);
  fuzz_puts(out, "\"");
}

static void put_known(nd_buf *out, const char *s, fuzz_bytes *in) {
  const unsigned char *p = (const unsigned char *)s;
  fuzz_puts(out, "\"");
  while (*p) {
    size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? *p : *p & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) c = c << 6 | (p[i] & 63);
    put_spelled(out, c, in);
    p += n;
  }
  fuzz_puts(out, "\"");
}

/* --- values ------------------------------------------------------------------ */
static void put_space(nd_buf *out, fuzz_bytes *in) {
  static const char *const spaces[] = {"", "", "", " ", "\t", "\r", "  \t ", NULL};
  fuzz_puts(out, fuzz_word(in, spaces));
}

static void put_number(nd_buf *out, fuzz_bytes *in) {
  static const char *const whole[] = {"0", "7", "42", "18446744073709551616", "1000", NULL};
  static const char *const parts[] = {"", ".0", ".123456789", ".5", NULL};
  static const char *const powers[] = {"", "e5", "E-07", "e+400", NULL};
  fuzz_puts(out, fuzz_chance(in, 3) ? "-" : "");
  fuzz_puts(out, fuzz_word(in, whole));
  fuzz_puts(out, fuzz_word(in, parts));
  fuzz_puts(out, fuzz_word(in, powers));
}

typedef enum value_kind { STRING, NULL_VALUE, OTHER_VALUE } value_kind;

/* A value at this depth; `means` gets what a field shows of it.  False: too deep. */
static bool put_value(value_kind *kind, nd_buf *out, nd_buf *means, unsigned depth,
                      fuzz_bytes *in) {
  static const char *const words[] = {"true", "false", NULL};
  size_t start = out->n;
  bool fine = true;
  unsigned rule = fuzz_pick(in, 12), n = 0;
  *kind = OTHER_VALUE;
  means->n = 0;
  switch (rule) {
    default:
      *kind = STRING;
      put_string(out, means, in);
      return true;
    case 5: put_number(out, in); break;
    case 6: fuzz_puts(out, fuzz_word(in, words)); break;
    case 7:
      *kind = NULL_VALUE;
      fuzz_puts(out, "null");
      return true;
    case 8: /* nested without end, nearly */
      n = fuzz_chance(in, 2) ? fuzz_pick(in, 8) : DEEPEST - 4 + fuzz_pick(in, 8);
      for (unsigned i = 0; i < n; i++) fuzz_puts(out, rule == 8 && n % 2 ? "{\"\":" : "[");
      fuzz_puts(out, "0");
      for (unsigned i = 0; i < n; i++) fuzz_puts(out, n % 2 ? "}" : "]");
      fine = depth + n <= DEEPEST;
      break;
    case 9:
    case 10: {
      nd_buf ignored = {0};
      value_kind any;
      n = depth < 6 ? fuzz_pick(in, 4) : 0;
      fuzz_puts(out, rule == 9 ? "[" : "{");
      put_space(out, in);
      for (unsigned i = 0; i < n; i++) {
        if (i) fuzz_puts(out, ",");
        put_space(out, in);
        if (rule == 10) {
          if (fuzz_chance(in, 2))
            put_known(out, names[fuzz_pick(in, FIELDS)], in);
          else
            put_string(out, &ignored, in);
          put_space(out, in);
          fuzz_puts(out, ":");
          put_space(out, in);
        }
        fine &= put_value(&any, out, &ignored, depth + 1, in);
        put_space(out, in);
      }
      fuzz_puts(out, rule == 9 ? "]" : "}");
      nd_buf_clear(&ignored);
    }
  }
  fuzz_put(means, out->p + start, out->n - start); /* as it is written */
  return fine;
}

/* --- lines ------------------------------------------------------------------- */
/* Members with values that no JSON has. */
static const char *const faults[] = {"\"x\":01",
                                     "\"x\":1.",
                                     "\"x\":.5",
                                     "\"x\":+1",
                                     "\"x\":-",
                                     "\"x\":1e",
                                     "\"x\":0x1",
                                     "\"x\":NaN",
                                     "\"x\":Infinity",
                                     "\"x\" 1",
                                     "\"x\":",
                                     "\"x\":1,",
                                     ",\"x\":1",
                                     "'x':1",
                                     "x:1",
                                     "\"x\":[1,]",
                                     "\"x\":{1}",
                                     "\"x\":'a'",
                                     "\"x\":tru",
                                     "\"x\":nulll",
                                     "\"x\":\"\\x\"",
                                     "\"x\":\"\\u12G4\"",
                                     "\"x\":\"\\u123\"",
                                     "\"x\":\"\1\"",
                                     "\"x\":\"\t\"",
                                     "\"x\":\"\x1f\"",
                                     "\"x\":\"\xff\"",
                                     "\"x\":\"\xc0\x80\"",
                                     "\"x\":\"\xed\xa0\x80\"",
                                     "\"x\":\"\xf4\x90\x80\x80\"",
                                     "\"x\":\"\xe2\x82\"",
                                     "\"x\":\"\x80\"",
                                     "\"x\":\"\xf8\x88\x80\x80\x80\"",
                                     "\"x\":1 2",
                                     "\"x\":\"a\"\"b\"",
                                     "\"x\":[1}",
                                     "\"x\":{\"a\":1]",
                                     "\"x\":/**/1",
                                     "\"x\":\xef\xbb\xbf"
                                     "1",
                                     NULL};

/* An object into `spelled`; what its fields show into `l`.  False: it is no JSON. */
static bool put_object(line *l, fuzz_bytes *in, bool at_fault) {
  value_kind kind[FIELDS];
  bool fine = true, seen[FIELDS] = {false};
  nd_buf value = {0};
  unsigned members = fuzz_pick(in, 8), fault = at_fault ? fuzz_pick(in, members + 1) : members + 1;
  for (int f = 0; f < FIELDS; f++) l->value[f].n = 0, kind[f] = NULL_VALUE;
  fuzz_puts(&spelled, "{");
  for (unsigned i = 0; i <= members; i++) {
    put_space(&spelled, in);
    if (i) fuzz_puts(&spelled, ",");
    put_space(&spelled, in);
    if (i == fault) {
      fuzz_puts(&spelled, fuzz_word(in, faults));
      fine = false;
      continue;
    }
    decoded.n = 0;
    if (i == members && !fuzz_chance(in, 8)) { /* mostly there is a text */
      fuzz_puts(&decoded, names[TEXT]);
      put_known(&spelled, names[TEXT], in);
    } else if (fuzz_chance(in, 4)) {
      put_string(&spelled, &decoded, in);
    } else {
      const char *name = names[fuzz_pick(in, FIELDS)];
      fuzz_puts(&decoded, name);
      put_known(&spelled, name, in);
    }
    put_space(&spelled, in);
    fuzz_puts(&spelled, ":");
    put_space(&spelled, in);
    value_kind now;
    if (i == members) {
      now = STRING;
      value.n = 0;
      put_string(&spelled, &value, in);
    } else {
      fine &= put_value(&now, &spelled, &value, 1, in);
    }
    for (int f = 0; f < FIELDS; f++) {
      if (!names[f][0] || !nd_str_eq(nd_buf_str(&decoded), nd_str_of(names[f]))) continue;
      seen[f] = true;
      kind[f] = now;
      l->value[f].n = 0;
      if (now != NULL_VALUE) fuzz_put(&l->value[f], value.p, value.n);
    }
  }
  put_space(&spelled, in);
  fuzz_puts(&spelled, "}");
  nd_buf_clear(&value);
  l->means = fine && seen[TEXT] && kind[TEXT] == STRING ? DOCUMENT : REJECTED;
  return fine;
}

static void put_blanks(nd_buf *out, fuzz_bytes *in) {
  static const char blanks[] = " \t\v\f\r";
  for (unsigned n = fuzz_pick(in, 6); n; n--) fuzz_put(out, &blanks[fuzz_pick(in, 5)], 1);
}

/* A line into `spelled`, without its end. */
static void put_line(line *l, fuzz_bytes *in) {
  static const char *const rubbish[] = {"x",    "}", "{}", "\"", "/", ",", "\xef\xbb\xbf",
                                        "\x01", NULL};
  static const char *const others[] = {
      "[{\"text\":\"a\"}]", "\"text\"", "5", "null", "text", "\xff", NULL};
  unsigned rule = fuzz_pick(in, 16);
  spelled.n = 0;
  if (rule == 10) {
    put_blanks(&spelled, in);
    l->means = BLANK;
    return;
  }
  if (rule == 11) {
    fuzz_puts(&spelled, fuzz_word(in, others));
    l->means = REJECTED;
    return;
  }
  if (rule == 15) fuzz_puts(&spelled, "\xef\xbb\xbf");
  put_space(&spelled, in);
  size_t begin = spelled.n;
  put_object(l, in, rule == 12);
  if (rule == 13) { /* cut off */
    spelled.n = begin + 1 + fuzz_pick(in, 65536) % (spelled.n - begin - 1);
    l->means = REJECTED;
  }
  put_space(&spelled, in);
  if (rule == 14) {
    fuzz_puts(&spelled, fuzz_word(in, rubbish));
    l->means = REJECTED;
  }
}

static void make_file(uint64_t max_document, fuzz_bytes *in) {
  file.n = line_n = 0;
  while (in->n && line_n < MOST_LINES && file.n < MOST_BYTES) {
    line *l = &lines[line_n];
    put_line(l, in);
    unsigned end = fuzz_pick(in, 8);
    if (end == 7) fuzz_puts(&spelled, "\r");
    size_t n = spelled.n;
    if (n && spelled.p[n - 1] == '\r') n--;
    if (n > max_document) l->means = REJECTED;
    fuzz_put(&file, spelled.p, spelled.n);
    if (in->n || end) fuzz_puts(&file, "\n");
    if (file.n == (line_n ? l[-1].end : 0)) break; /* nothing behind the last line end */
    l->end = file.n;
    line_n++;
  }
}

/* --- what must hold ----------------------------------------------------------- */
static void check_document(const nd_document *d, const line *l) {
  const nd_str *const got[FIELDS] = {&d->body, &d->id, &d->url, &d->time, &d->field};
  fuzz_check(d->kind == ND_KIND_TEXT);
  for (int f = 0; f < FIELDS; f++) {
    fuzz_check(nd_str_eq(*got[f], nd_buf_str(&l->value[f])));
    fuzz_note(got[f]->p, got[f]->n);
  }
}

static void check_file(nd_str bytes, const nd_input_options *options) {
  nd_error err = {0};
  nd_stream *s = NULL;
  nd_decoder decoder = {0};
  fuzz_check(nd_stream_open_memory(&s, bytes, "fuzz", &err) == ND_OK);
  uint64_t at = 0;
  for (size_t i = 0; i <= line_n; i++) {
    nd_frame frame = {0};
    err.message[0] = '\0';
    fuzz_check(nd_format_jsonl.frame(&frame, s, options, &err) == ND_OK);
    if (i == line_n) {
      fuzz_check(frame.kind == ND_FRAME_END);
      break;
    }
    const line *l = &lines[i];
    fuzz_check(frame.offset == at && frame.offset + frame.length == l->end);
    at = l->end;
    fuzz_check((frame.kind == ND_FRAME_OTHER) == (l->means == BLANK));
    if (l->means == BLANK) continue;
    nd_document d = {0};
    bool taken = frame.kind == ND_FRAME_DOCUMENT &&
                 nd_format_jsonl.decode(&d, &decoder, frame.raw, options, &err) == ND_OK;
    fuzz_check(taken == (l->means == DOCUMENT));
    if (taken)
      check_document(&d, l);
    else
      fuzz_check(err.message[0]);
  }
  nd_decoder_clear(&decoder);
  nd_stream_close(s);
}

/* A file whose first line is a whole object is seen to be JSONL. */
static void check_sniff(void) {
  size_t i = 0, begin = 0;
  while (i < line_n && lines[i].means == BLANK) begin = lines[i++].end;
  if (i == line_n || lines[i].means != DOCUMENT) return;
  if (begin && file.p[begin] == '\xef') return; /* a BOM in the middle is none of a file */
  fuzz_check(nd_format_sniff(nd_buf_str(&file)) == &nd_format_jsonl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint64_t limits[] = {1 << 16, 1 << 16, 1 << 16, 200, 64, 17};
  fuzz_bytes in = {data, size};
  fuzz_packing how = (fuzz_packing)fuzz_pick(&in, FUZZ_PACKINGS);
  uint64_t max_document = limits[fuzz_pick(&in, 6)];
  for (int f = 0; f < FIELDS; f++) {
    unsigned rule = fuzz_pick(&in, 16);
    names[f] = rule ? usable[rule % 10] : usable[f == KEEP ? 8 : f];
  }
  nd_input_options options = {.text_field = names[TEXT],
                              .id_field = names[ID],
                              .url_field = names[URL],
                              .time_field = names[TIME],
                              .keep_field = names[KEEP],
                              .max_document = max_document};
  if (!names[TEXT][0]) names[TEXT] = "text";
  make_file(max_document, &in);
  check_file(nd_buf_str(&file), &options);
  check_sniff();
  if (how == FUZZ_PLAIN || file.n == 0) return 0;
  size_t end[MOST_LINES];
  for (size_t i = 0; i < line_n; i++) end[i] = lines[i].end;
  packed.n = 0;
  fuzz_bytes cuts = {data, size};
  fuzz_pack(&packed, nd_buf_str(&file), end, line_n, how, &cuts);
  check_file(nd_buf_str(&packed), &options);
  return 0;
}
