/* ARC 1.x: the web archives before WARC.  A record is one line, its block, and
 * a line end:
 *
 *     URL IP-address Archive-date Content-type Archive-length
 *     URL IP Date Type Result Checksum Location Offset Filename Length   (2.0)
 *
 * URLs (and some writers' types) hold spaces, so the line is read from its
 * right end: the date is the rightmost run of 14 digits behind an address. */
#include "input/archive.h"
#include "input/http.h"

enum { MAX_LINE = 1 << 16, MAX_SCHEME = 32, MAX_FIELDS = 16 };

typedef struct arc_line {
  size_t size; /* with its line end */
  nd_str url, date, type, length;
  bool version_block; /* "filedesc://…" */
} arc_line;

static bool is_date(nd_str s) {
  if (s.n < 14 || s.n > 18) return false;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') return false;
  }
  return true;
}

static bool is_address(nd_str s) {
  if (s.n == 0 || s.n > 64) return false;
  for (size_t i = 0; i < s.n; i++) {
    if (!memchr("0123456789abcdefABCDEF.:-", s.p[i], 25)) return false;
  }
  return true;
}

static bool is_scheme_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.';
}

/* The last word of *s, cut off it together with the space before. */
static bool pop_word(nd_str *word, nd_str *s) {
  size_t n = s->n;
  while (n && s->p[n - 1] != ' ' && s->p[n - 1] != '\t') n--;
  if (n == 0) return false;
  *word = (nd_str){s->p + n, s->n - n};
  s->n = n - 1;
  return true;
}

static nd_seen read_line(arc_line *out, nd_str b, bool whole) {
  size_t scheme = 0;
  while (scheme < b.n && scheme < MAX_SCHEME && is_scheme_char(b.p[scheme])) scheme++;
  if (scheme == b.n) return whole ? ND_SEEN_NO : ND_SEEN_MORE;
  if (scheme == 0 || b.p[scheme] != ':') return ND_SEEN_NO;
  const char *end = memchr(b.p, '\n', b.n < MAX_LINE ? b.n : MAX_LINE);
  if (!end) return b.n >= MAX_LINE || whole ? ND_SEEN_NO : ND_SEEN_MORE;
  nd_str line = {b.p, (size_t)(end - b.p)};
  *out = (arc_line){.size = line.n + 1, .version_block = nd_archive_begins(line, "filedesc:")};
  line = nd_archive_trim(line);
  if (!pop_word(&out->length, &line)) return ND_SEEN_NO;
  if (out->version_block) return ND_SEEN_YES;
  nd_str right = {line.p + line.n, 0};
  nd_str word;
  for (int i = 0; i < MAX_FIELDS && pop_word(&word, &line); i++) {
    nd_str before = line, address;
    /* What stands before is at least the scheme: it has no spaces. */
    if (is_date(word) && right.n && pop_word(&address, &before) && is_address(address)) {
      size_t n = 0;
      while (n < right.n && right.p[n] != ' ' && right.p[n] != '\t') n++;
      out->url = nd_archive_trim(before);
      out->date = word;
      out->type = (nd_str){right.p, n};
      return ND_SEEN_YES;
    }
    right = (nd_str){word.p, (size_t)(right.p + right.n - word.p)};
  }
  return ND_SEEN_NO;
}

static nd_seen arc_starts(nd_str bytes, bool whole) {
  arc_line line;
  return read_line(&line, bytes, whole);
}

static const char *const length_names[4] = {"has no length", "has a negative length",
                                            "has a length that is not a number",
                                            "has an absurd length"};

static nd_seen arc_head(nd_archive_head *out, const char **bad, nd_str bytes, bool whole) {
  arc_line line = {0};
  (void)read_line(&line, bytes, whole); /* arc_starts has seen it */
  *bad = nd_archive_length(&out->length, line.length, length_names);
  if (*bad) return ND_SEEN_NO;
  out->size = line.size;
  out->document = !line.version_block;
  return ND_SEEN_YES;
}

const nd_archive nd_archive_arc = {.noun = "ARC record",
                                   .first_line = MAX_LINE,
                                   .max_head = MAX_LINE,
                                   .separators = 1,
                                   .starts = arc_starts,
                                   .head = arc_head};

static nd_status arc_frame(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  return nd_archive_frame(out, s, &nd_archive_arc, o, err);
}

static int arc_sniff(nd_str head) {
  arc_line line;
  if (read_line(&line, head, true) != ND_SEEN_YES) return 0;
  return line.version_block ? 95 : 80;
}

static nd_status arc_decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                            nd_error *err) {
  *out = (nd_document){.kind = ND_KIND_OTHER};
  d->head.n = d->body.n = d->spare.n = 0;
  arc_line line;
  nd_archive_head head = {0};
  if (read_line(&line, raw, true) != ND_SEEN_YES ||
      nd_archive_length(&head.length, line.length, length_names)) {
    return nd_fail(err, ND_ERR_DATA, "this is no ARC record");
  }
  head.size = line.size;
  /* ARC has no ids; a URL at a time is one. */
  ND_TRY(nd_buf_append(&d->head, line.url.p, line.url.n, err));
  ND_TRY(nd_buf_append(&d->head, "#", 1, err));
  ND_TRY(nd_buf_append(&d->head, line.date.p, line.date.n, err));
  out->id = nd_buf_str(&d->head);
  out->url = line.url;
  out->time = line.date;
  out->body = nd_archive_block(raw, &head);
  if (nd_archive_begins(line.url, "dns:") || nd_archive_begins(line.type, "text/dns")) {
    out->why = "a DNS record";
    return ND_OK;
  }
  nd_http_message m = {.bytes = out->body, .type = line.type, .max_body = o->max_document};
  if (nd_http_begins(out->body) || nd_archive_begins(line.url, "http")) {
    return nd_http_decode(out, d, &m, err);
  }
  nd_http_media(out, line.type);
  nd_http_refuse_binary(out);
  return ND_OK;
}

const nd_format nd_format_arc = {.name = "arc",
                                 .help = "Internet Archive ARC files, a document per record",
                                 .members = true,
                                 .sniff = arc_sniff,
                                 .frame = arc_frame,
                                 .decode = arc_decode};
