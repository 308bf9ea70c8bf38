/* WARC: web archives, versions 0.17 to 1.1, with the oddities of ClueWeb09:
 * lines ended by "\n" alone, blank and foreign lines inside a head, lengths
 * that are a few bytes off, HTTP responses without a status line. */
#include "input/warc.h"

#include "input/http.h"

enum { VERSION_LINE = 32, MAX_HEAD = 1 << 20 };

/* "WARC/" (in any case) digits "." digits, blanks, a line end. */
static nd_seen warc_starts(nd_str b, bool whole) {
  size_t i = b.n < 5 ? b.n : 5;
  for (size_t k = 0; k < i; k++) {
    if (b.p[k] != "WARC/"[k] && b.p[k] != "warc/"[k]) return ND_SEEN_NO;
  }
  int dots = 0, digits = 0;
  for (; i < b.n && i < VERSION_LINE; i++) {
    char c = b.p[i];
    if (c >= '0' && c <= '9') {
      digits = 1;
    } else if (c == '.' && digits && !dots) {
      dots = 1;
      digits = 0;
    } else {
      break;
    }
  }
  while (i < b.n && i < VERSION_LINE && (b.p[i] == ' ' || b.p[i] == '\t' || b.p[i] == '\r')) i++;
  if (i < b.n) {
    return i < VERSION_LINE && b.p[i] == '\n' && dots && digits ? ND_SEEN_YES : ND_SEEN_NO;
  }
  return whole ? ND_SEEN_NO : ND_SEEN_MORE;
}

static const struct {
  const char *name;
  size_t at; /* in nd_warc_fields */
} field_names[] = {
    {"content-length", offsetof(nd_warc_fields, content_length)}, /* LENGTH_FIELD */
    {"warc-type", offsetof(nd_warc_fields, type)},
    {"warc-record-id", offsetof(nd_warc_fields, record_id)},
    {"warc-trec-id", offsetof(nd_warc_fields, trec_id)},
    {"warc-target-uri", offsetof(nd_warc_fields, target)},
    {"warc-date", offsetof(nd_warc_fields, date)},
    {"content-type", offsetof(nd_warc_fields, content_type)},
    {"warc-identified-payload-type", offsetof(nd_warc_fields, payload_type)},
    {"warc-truncated", offsetof(nd_warc_fields, truncated)},
};
enum { LENGTH_FIELD = 0, FIELDS = sizeof field_names / sizeof *field_names };

static int field_of(nd_str name) {
  for (int i = 0; i < FIELDS; i++) {
    if (nd_archive_is(name, field_names[i].name)) return i;
  }
  return -1;
}

/* After a blank line and before a Content-Length: does the head go on?  At
 * most one more blank line is looked past. */
static nd_seen head_goes_on(nd_str b, size_t *at, bool whole) {
  size_t i = *at;
  if (i < b.n && b.p[i] == '\r') i++;
  if (i < b.n && b.p[i] == '\n') {
    i++;
  } else {
    i = *at;
  }
  *at = i;
  nd_str rest = {b.p + i, b.n - i};
  if (nd_archive_begins(rest, "warc-") || nd_archive_begins(rest, "content-")) return ND_SEEN_YES;
  return rest.n < 8 && !whole ? ND_SEEN_MORE : ND_SEEN_NO;
}

nd_seen nd_warc_read_head(nd_warc_fields *out, size_t *size, nd_str b, bool whole) {
  nd_str values[FIELDS] = {{0}};
  bool seen[FIELDS] = {0};
  int last = -1;
  const char *nl = b.n ? memchr(b.p, '\n', b.n) : NULL;
  if (!nl) return ND_SEEN_MORE;
  size_t at = (size_t)(nl - b.p) + 1;
  for (;;) {
    nl = at < b.n ? memchr(b.p + at, '\n', b.n - at) : NULL;
    if (!nl) return ND_SEEN_MORE;
    size_t next = (size_t)(nl - b.p) + 1;
    nd_str line = {b.p + at, next - at};
    char first = line.p[0];
    if (first == '\n' || (first == '\r' && line.n == 2)) {
      at = next;
      if (seen[LENGTH_FIELD]) break;
      nd_seen on = head_goes_on(b, &next, whole);
      if (on == ND_SEEN_MORE) return ND_SEEN_MORE;
      if (on == ND_SEEN_NO) break;
      last = -1;
      at = next;
      continue;
    }
    if ((first == 'W' || first == 'w') && warc_starts(line, true) == ND_SEEN_YES) return ND_SEEN_NO;
    at = next;
    if (first == ' ' || first == '\t') {
      if (last >= 0) values[last].n = (size_t)(b.p + next - values[last].p);
      continue;
    }
    last = -1;
    const char *colon = memchr(line.p, ':', line.n < 64 ? line.n : 64);
    if (!colon) continue;
    int field = field_of(nd_archive_trim((nd_str){line.p, (size_t)(colon - line.p)}));
    if (field < 0 || seen[field]) continue;
    seen[field] = true;
    values[field] = (nd_str){colon + 1, (size_t)(b.p + next - colon - 1)};
    last = field;
  }
  *size = at;
  for (int i = 0; i < FIELDS; i++) {
    nd_str value = nd_archive_trim(values[i]);
    memcpy((char *)out + field_names[i].at, &value, sizeof value);
  }
  return ND_SEEN_YES;
}

static const char *const length_names[4] = {
    "has no Content-Length", "has a negative Content-Length",
    "has a Content-Length that is not a number", "has an absurd Content-Length"};

static nd_seen warc_head(nd_archive_head *out, const char **bad, nd_str bytes, bool whole) {
  nd_warc_fields f;
  nd_seen seen = nd_warc_read_head(&f, &out->size, bytes, whole);
  if (seen == ND_SEEN_NO) *bad = "has a head without an end: another one begins inside it";
  if (seen != ND_SEEN_YES) return seen;
  *bad = nd_archive_length(&out->length, f.content_length, length_names);
  if (*bad) return ND_SEEN_NO;
  out->document = nd_archive_is(f.type, "response") || nd_archive_is(f.type, "resource") ||
                  nd_archive_is(f.type, "conversion");
  return ND_SEEN_YES;
}

const nd_archive nd_archive_warc = {.noun = "WARC record",
                                    .first_line = VERSION_LINE,
                                    .max_head = MAX_HEAD,
                                    .separators = 2,
                                    .starts = warc_starts,
                                    .head = warc_head};

static nd_status warc_frame(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err) {
  return nd_archive_frame(out, s, &nd_archive_warc, o, err);
}

static int warc_sniff(nd_str head) {
  if (head.n >= 3 && !memcmp(head.p, "\xef\xbb\xbf", 3)) head.p += 3, head.n -= 3;
  while (head.n && (head.p[0] == '\n' || head.p[0] == '\r')) head.p++, head.n--;
  return warc_starts(head, false) == ND_SEEN_YES ? 100 : 0;
}

/* A value on one line: folds become one space.  `to` has room. */
static nd_str unfold(nd_buf *to, nd_str value) {
  if (!value.n || !memchr(value.p, '\n', value.n)) return value;
  nd_str flat = {to->p + to->n, 0};
  for (size_t i = 0; i < value.n; i++) {
    if (value.p[i] != '\r' && value.p[i] != '\n') {
      to->p[to->n++] = value.p[i];
      continue;
    }
    while (i + 1 < value.n && (unsigned char)value.p[i + 1] <= ' ') i++;
    to->p[to->n++] = ' ';
  }
  flat.n = (size_t)(to->p + to->n - flat.p);
  return flat;
}

static nd_str without_angles(nd_str s) {
  if (s.n && s.p[0] == '<') s.p++, s.n--;
  if (s.n && s.p[s.n - 1] == '>') s.n--;
  return s;
}

static nd_status warc_decode(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                             nd_error *err) {
  *out = (nd_document){.kind = ND_KIND_OTHER};
  d->head.n = d->body.n = d->spare.n = 0;
  nd_warc_fields f;
  nd_archive_head head = {0};
  if (nd_warc_read_head(&f, &head.size, raw, true) != ND_SEEN_YES ||
      nd_archive_length(&head.length, f.content_length, length_names)) {
    return nd_fail(err, ND_ERR_DATA, "this is no WARC record");
  }
  ND_TRY(nd_buf_reserve(&d->head, head.size, err)); /* so that views do not move */
  out->id = without_angles(unfold(&d->head, f.trec_id.n ? f.trec_id : f.record_id));
  out->url = without_angles(unfold(&d->head, f.target));
  out->time = unfold(&d->head, f.date);
  nd_str type = unfold(&d->head, f.content_type);
  nd_str block = nd_archive_block(raw, &head);
  bool response = nd_archive_is(f.type, "response");

  if (nd_archive_begins(type, "application/http") ||
      (response &&
       (nd_http_begins(block) || (type.n == 0 && nd_archive_begins(out->url, "http"))))) {
    nd_http_message m = {.bytes = block,
                         .type = unfold(&d->head, f.payload_type),
                         .truncated = f.truncated.n > 0,
                         .max_body = o->max_document};
    return nd_http_decode(out, d, &m, err);
  }
  out->body = block;
  if (nd_archive_begins(out->url, "dns:") || nd_archive_begins(type, "text/dns")) {
    out->why = "a DNS record";
    return ND_OK;
  }
  if (nd_archive_is(f.type, "conversion")) {
    /* What a crawl's text extraction wrote: UTF-8 unless it says otherwise. */
    nd_http_media(out, type.n ? type : nd_str_of("text/plain"));
    if (out->charset.n == 0 && out->kind != ND_KIND_OTHER) out->charset = nd_str_of("utf-8");
    return ND_OK;
  }
  nd_http_media(out, type);
  nd_http_refuse_binary(out);
  return ND_OK;
}

const nd_format nd_format_warc = {
    .name = "warc",
    .help = "WARC files, a document per response, resource or conversion",
    .members = true,
    .sniff = warc_sniff,
    .frame = warc_frame,
    .decode = warc_decode};
