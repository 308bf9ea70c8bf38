/* HTTP responses → body bytes, kind and charset.  Tolerant: this reads what
 * crawlers stored, not what a standard promises. */
#include "input/http.h"

#include <ctype.h>

#include "input/archive.h"

enum { MAX_CODECS = 8, SNIFF_BYTES = 1024 };

typedef struct http_head {
  nd_str type;
  nd_http_codec codecs[MAX_CODECS]; /* in the order to undo them, last first */
  size_t codec_count;
  bool chunked;
  bool too_many;
  int status;
} http_head;

/* --- head ----------------------------------------------------------------- */

bool nd_http_begins(nd_str b) {
  return nd_archive_begins(b, "http/") || nd_archive_begins(b, "icy ");
}

static bool is_token(char c) {
  return c > ' ' && c < 0x7f && !memchr("()<>@,;:\\\"/[]?={}", c, 17);
}

/* The name of the header on this line; n = 0: it is none. */
static nd_str header_name(nd_str line) {
  size_t n = 0;
  while (n < line.n && is_token(line.p[n])) n++;
  size_t colon = n;
  while (colon < line.n && (line.p[colon] == ' ' || line.p[colon] == '\t')) colon++;
  if (colon == line.n || line.p[colon] != ':') n = 0;
  return (nd_str){line.p, n};
}

/* The next line with its end; false: there is none. */
static bool next_line(nd_str *line, nd_str b, size_t at) {
  if (at >= b.n) return false;
  const char *end = memchr(b.p + at, '\n', b.n - at);
  *line = (nd_str){b.p + at, end ? (size_t)(end - b.p) + 1 - at : b.n - at};
  return true;
}

static void add_codecs(http_head *h, nd_http_codec *list, size_t *count, nd_str value) {
  while (value.n) {
    const char *comma = memchr(value.p, ',', value.n);
    nd_str part = {value.p, comma ? (size_t)(comma - value.p) : value.n};
    value.p += part.n + (comma != NULL);
    value.n -= part.n + (comma != NULL);
    const char *semicolon = part.n ? memchr(part.p, ';', part.n) : NULL;
    if (semicolon) part.n = (size_t)(semicolon - part.p);
    nd_http_codec codec = nd_http_codec_of(nd_archive_trim(part));
    if (codec == ND_HTTP_IDENTITY) continue;
    if (*count == MAX_CODECS / 2) {
      h->too_many = true;
      return;
    }
    list[(*count)++] = codec;
  }
}

/* A head without a status line (ClueWeb09 has them) counts only when every line
 * up to a blank one is a header. */
static bool is_bare_head(nd_str b) {
  nd_str line;
  size_t headers = 0;
  for (size_t at = 0; next_line(&line, b, at); at += line.n) {
    if (nd_archive_trim(line).n == 0) return headers > 0;
    if (headers && (line.p[0] == ' ' || line.p[0] == '\t')) continue;
    if (header_name(line).n == 0) return false;
    headers++;
  }
  return false;
}

/* Reads the head; returns where the body begins. */
static size_t read_head(http_head *h, nd_str b) {
  nd_http_codec content[MAX_CODECS / 2], transfer[MAX_CODECS / 2];
  size_t contents = 0, transfers = 0, at = 0;
  nd_str line = {0};
  *h = (http_head){0};
  if (nd_http_begins(b)) {
    next_line(&line, b, 0);
    size_t i = 0;
    while (i < line.n && line.p[i] != ' ') i++;
    while (i < line.n && line.p[i] == ' ') i++;
    for (size_t k = 0; k < 3 && i < line.n && isdigit((unsigned char)line.p[i]); k++, i++) {
      h->status = h->status * 10 + (line.p[i] - '0');
    }
    at = line.n;
  } else if (!is_bare_head(b)) {
    return 0;
  }
  while (next_line(&line, b, at)) {
    if (line.p[0] == '\n' || (line.p[0] == '\r' && line.n == 2 && line.p[1] == '\n')) {
      at += line.n;
      break;
    }
    if (line.p[0] == '<') break; /* the blank line is missing */
    at += line.n;
    nd_str name = header_name(line);
    if (name.n == 0) continue;
    const char *colon = memchr(line.p + name.n, ':', line.n - name.n);
    nd_str value = {colon + 1, (size_t)(line.p + line.n - colon - 1)};
    nd_str fold;
    while (next_line(&fold, b, at) && (fold.p[0] == ' ' || fold.p[0] == '\t')) {
      value.n += fold.n;
      at += fold.n;
    }
    value = nd_archive_trim(value);
    if (nd_archive_is(name, "content-type")) {
      if (value.n) h->type = value;
    } else if (nd_archive_is(name, "content-encoding")) {
      add_codecs(h, content, &contents, value);
    } else if (nd_archive_is(name, "transfer-encoding")) {
      add_codecs(h, transfer, &transfers, value);
      for (size_t i = 0; i + 7 <= value.n; i++) {
        if (nd_archive_begins((nd_str){value.p + i, value.n - i}, "chunked")) h->chunked = true;
      }
    }
  }
  memcpy(h->codecs, content, contents * sizeof *content);
  memcpy(h->codecs + contents, transfer, transfers * sizeof *transfer);
  h->codec_count = contents + transfers;
  return at;
}

/* --- chunks --------------------------------------------------------------- */

/* The chunk size on the line at `at`; false: there is none. */
static bool chunk_size(uint64_t *size, size_t *after, nd_str b, size_t at) {
  size_t i = at;
  uint64_t value = 0;
  for (; i < b.n && isxdigit((unsigned char)b.p[i]); i++) {
    if (i - at >= 15) return false;
    int c = tolower((unsigned char)b.p[i]);
    value = value * 16 + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  if (i == at) return false;
  while (i < b.n && (b.p[i] == ' ' || b.p[i] == '\t')) i++;
  if (i < b.n && b.p[i] == ';') {
    while (i < b.n && b.p[i] != '\n') i++;
  }
  if (i < b.n && b.p[i] == '\r') i++;
  if (i >= b.n || b.p[i] != '\n') return false;
  *size = value;
  *after = i + 1;
  return true;
}

/* Joins the chunks.  What does not begin with a chunk was joined already; from
 * a broken chunk size on the rest is taken as it is. */
static nd_status join_chunks(nd_str *out, nd_buf *scratch, nd_str in, nd_error *err) {
  size_t at = 0;
  uint64_t size;
  scratch->n = 0;
  while (at < in.n) {
    size_t data;
    if (!chunk_size(&size, &data, in, at)) {
      if (at == 0) return ND_OK;
      ND_TRY(nd_buf_append(scratch, in.p + at, in.n - at, err));
      break;
    }
    bool first = at == 0;
    if (size == 0) { /* what follows are trailers */
      if (first && nd_archive_trim((nd_str){in.p + data, in.n - data}).n) return ND_OK;
      break;
    }
    size_t have = size < in.n - data ? (size_t)size : in.n - data;
    /* Text may begin with a line that looks like a size ("2009"). */
    if (first && have < size && in.p[data - 2] != '\r') return ND_OK;
    size_t next = data + have;
    if (next < in.n && in.p[next] == '\r') next++;
    if (next < in.n && in.p[next] == '\n') {
      next++;
    } else if (next < in.n && first) {
      return ND_OK;
    }
    ND_TRY(nd_buf_append(scratch, in.p + data, have, err));
    at = next;
  }
  *out = nd_buf_str(scratch);
  return ND_OK;
}

/* --- media types ---------------------------------------------------------- */

static const struct {
  const char *begins;
  nd_kind kind;
  const char *why;
} media[] = {
    /* the first that fits counts */
    {"text/html", ND_KIND_HTML, NULL},
    {"application/xhtml", ND_KIND_HTML, NULL},
    {"text/plain", ND_KIND_TEXT, NULL},
    {"text/css", ND_KIND_OTHER, "a style sheet"},
    {"text/javascript", ND_KIND_OTHER, "a script"},
    {"text/ecmascript", ND_KIND_OTHER, "a script"},
    {"text/x-javascript", ND_KIND_OTHER, "a script"},
    {"image/svg", ND_KIND_OTHER, "an image"},
    {"image", ND_KIND_OTHER, "an image"},
    {"audio", ND_KIND_OTHER, "audio"},
    {"video", ND_KIND_OTHER, "a video"},
    {"font", ND_KIND_OTHER, "a font"},
    {"model/", ND_KIND_OTHER, "a 3D model"},
    {"application/font", ND_KIND_OTHER, "a font"},
    {"application/x-font", ND_KIND_OTHER, "a font"},
    {"application/vnd.ms-fontobject", ND_KIND_OTHER, "a font"},
    {"application/pdf", ND_KIND_OTHER, "a PDF"},
    {"application/x-pdf", ND_KIND_OTHER, "a PDF"},
    {"application/postscript", ND_KIND_OTHER, "PostScript"},
    {"application/octet-stream", ND_KIND_OTHER, "binary data"},
    {"binary/", ND_KIND_OTHER, "binary data"},
    {"application/javascript", ND_KIND_OTHER, "a script"},
    {"application/x-javascript", ND_KIND_OTHER, "a script"},
    {"application/ecmascript", ND_KIND_OTHER, "a script"},
    {"application/wasm", ND_KIND_OTHER, "a program"},
    {"application/x-shockwave-flash", ND_KIND_OTHER, "a Flash film"},
    {"application/zip", ND_KIND_OTHER, "an archive file"},
    {"application/x-zip", ND_KIND_OTHER, "an archive file"},
    {"application/gzip", ND_KIND_OTHER, "an archive file"},
    {"application/x-gzip", ND_KIND_OTHER, "an archive file"},
    {"application/x-bzip", ND_KIND_OTHER, "an archive file"},
    {"application/x-tar", ND_KIND_OTHER, "an archive file"},
    {"application/x-rar", ND_KIND_OTHER, "an archive file"},
    {"application/x-7z", ND_KIND_OTHER, "an archive file"},
    {"application/zstd", ND_KIND_OTHER, "an archive file"},
    {"application/warc", ND_KIND_OTHER, "an archive file"},
    {"application/java-archive", ND_KIND_OTHER, "a program"},
    {"application/x-msdownload", ND_KIND_OTHER, "a program"},
    {"application/x-dosexec", ND_KIND_OTHER, "a program"},
    {"application/vnd.android", ND_KIND_OTHER, "a program"},
    {"application/msword", ND_KIND_OTHER, "an office document"},
    {"application/vnd.ms-", ND_KIND_OTHER, "an office document"},
    {"application/vnd.openxmlformats", ND_KIND_OTHER, "an office document"},
    {"application/vnd.oasis.opendocument", ND_KIND_OTHER, "an office document"},
    {"application/rtf", ND_KIND_OTHER, "an office document"},
    {"text/rtf", ND_KIND_OTHER, "an office document"},
    {"application/ogg", ND_KIND_OTHER, "audio"},
    {"application/dns", ND_KIND_OTHER, "a DNS record"},
    {"text/dns", ND_KIND_OTHER, "a DNS record"},
};

static nd_str charset_of(nd_str type) {
  const char *semicolon;
  while (type.n && (semicolon = memchr(type.p, ';', type.n))) {
    type.n -= (size_t)(semicolon + 1 - type.p);
    type.p = semicolon + 1;
    while (type.n && isspace((unsigned char)type.p[0])) type.p++, type.n--;
    if (!nd_archive_begins(type, "charset")) continue;
    nd_str value = nd_archive_trim((nd_str){type.p + 7, type.n - 7});
    if (value.n == 0 || value.p[0] != '=') continue;
    value = nd_archive_trim((nd_str){value.p + 1, value.n - 1});
    if (value.n && (value.p[0] == '"' || value.p[0] == '\'')) value.p++, value.n--;
    size_t n = 0;
    while (n < value.n && is_token(value.p[n]) && value.p[n] != '\'') n++;
    return (nd_str){value.p, n};
  }
  return (nd_str){0};
}

void nd_http_media(nd_document *out, nd_str type) {
  type = nd_archive_trim(type);
  out->kind = ND_KIND_SNIFF;
  out->why = NULL;
  out->charset = charset_of(type);
  for (size_t i = 0; i < sizeof media / sizeof *media; i++) {
    if (!nd_archive_begins(type, media[i].begins)) continue;
    out->kind = media[i].kind;
    out->why = media[i].why;
    return;
  }
}

void nd_http_refuse_binary(nd_document *out) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *why;
  } magic[] = {
      {"%PDF-", 5, "a PDF"},
      {"\x89PNG\r\n", 6, "an image"},
      {"GIF8", 4, "an image"},
      {"\xff\xd8\xff", 3, "an image"},
      {"PK\3\4", 4, "an archive file"},
      {"\x1f\x8b", 2, "an archive file"},
      {"\xd0\xcf\x11\xe0", 4, "an office document"},
      {"%!PS-", 5, "PostScript"},
      {"\x7f"
       "ELF",
       4, "a program"},
  };
  if (out->kind != ND_KIND_TEXT && out->kind != ND_KIND_SNIFF) return;
  nd_str b = out->body;
  for (size_t i = 0; i < sizeof magic / sizeof *magic; i++) {
    if (b.n < magic[i].n || memcmp(b.p, magic[i].bytes, magic[i].n) != 0) continue;
    out->kind = ND_KIND_OTHER;
    out->why = magic[i].why;
    return;
  }
  /* UTF-16 and UTF-32 are the only texts that hold zero bytes. */
  bool wide =
      nd_archive_begins(out->charset, "utf-16") || nd_archive_begins(out->charset, "utf-32") ||
      nd_archive_begins(out->charset, "ucs-2") || nd_archive_begins(out->charset, "utf16") ||
      (b.n >= 2 && (!memcmp(b.p, "\xff\xfe", 2) || !memcmp(b.p, "\xfe\xff", 2)));
  if (!wide && b.n && memchr(b.p, 0, b.n < SNIFF_BYTES ? b.n : SNIFF_BYTES)) {
    out->kind = ND_KIND_OTHER;
    out->why = "binary data";
  }
}

nd_status nd_http_decode(nd_document *out, nd_decoder *d, const nd_http_message *m, nd_error *err) {
  http_head head;
  nd_str rest = m->bytes;
  size_t at = read_head(&head, rest);
  /* "100 Continue" and its like come before the response itself. */
  while (head.status / 100 == 1 && nd_http_begins((nd_str){rest.p + at, rest.n - at})) {
    rest = (nd_str){rest.p + at, rest.n - at};
    at = read_head(&head, rest);
  }
  out->body = (nd_str){rest.p + at, rest.n - at};
  nd_http_media(out, head.type.n ? head.type : m->type);
  if (out->kind == ND_KIND_OTHER) return ND_OK;
  if (head.too_many) return nd_fail(err, ND_ERR_DATA, "the body has too many content encodings");

  nd_buf *to = &d->body, *other = &d->spare;
  nd_http_limits limits = {.max_bytes = m->max_body, .truncated = m->truncated};
  if (head.chunked) ND_TRY(join_chunks(&out->body, to, out->body, err));
  if (head.codec_count == 0 && out->kind == ND_KIND_HTML && out->body.n > 2 &&
      memcmp(out->body.p, "\x1f\x8b\x08", 3) == 0) {
    head.codecs[head.codec_count++] = ND_HTTP_GZIP; /* its header was lost */
  }
  for (size_t i = head.codec_count; i-- > 0;) {
    if (out->body.p == to->p) { /* it lies there: unpack into the other one */
      nd_buf *swap = to;
      to = other;
      other = swap;
    }
    const char *why = NULL;
    ND_TRY(nd_http_unpack(&out->body, &why, to, head.codecs[i], out->body, &limits, err));
    if (why) {
      out->kind = ND_KIND_OTHER;
      out->why = why;
      return ND_OK;
    }
  }
  if (out->body.n > m->max_body) {
    return nd_fail(err, ND_ERR_LIMIT, "the body is longer than --max-document");
  }
  nd_http_refuse_binary(out);
  return ND_OK;
}
