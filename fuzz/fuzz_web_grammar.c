/* WARC files that a grammar makes, with HTTP messages and pages in them, so that it is known which
 * documents must come out, with which words; packed in every way, in reads of any size, cut off
 * and damaged.  A record that is damaged may be lost, the ones around it never. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "http_grammar.h"
#include "input/format.h"
#include "read/sign.h"
#include "settings/option_fields.h"

enum { MOST_RECORDS = 8, MOST_BYTES = 56 << 10 };

typedef enum destiny {
  NOTHING,  /* no document */
  WHOLE,    /* a document with these words */
  NO_TEXT,  /* a document that is not text */
  REJECTED, /* must be refused */
  MAYBE     /* damaged: anything, but for what stands around it */
} destiny;

typedef struct record {
  destiny fate;
  bool unsure_length; /* what follows is looked at, too */
  bool cut;           /* in its head */
  unsigned id;
  size_t end;   /* in the file */
  size_t words; /* where they end in `seen` */
} record;

static record records[MOST_RECORDS];
static size_t record_n;
static nd_buf file, packed, block, seen;
static http_page made;
static bool spaced; /* records stand behind blank lines */
static bool traps;  /* a body holds lines that look like a record */
static nd_settings settings;
static nd_signer *signer;

/* --- records --------------------------------------------------------------------- */
static const char *put_version(nd_buf *out, fuzz_bytes *in) {
  static const char *const versions[] = {"WARC/1.0",  "WARC/1.1", "WARC/0.18",
                                         "WARC/0.17", "warc/1.0", NULL};
  static const char *const ends[] = {"\r\n", "\n", NULL};
  fuzz_puts(out, fuzz_word(in, versions));
  if (fuzz_chance(in, 8)) fuzz_puts(out, " \t");
  const char *eol = fuzz_word(in, ends);
  fuzz_puts(out, eol);
  return eol;
}

typedef struct head {
  const char *type, *content_type, *length; /* NULL: left out */
  const char *url;
  unsigned id;
  bool cut; /* ends in the middle */
} head;

/* The fields in an order of their own, with others between them. */
static void put_head(nd_buf *out, const head *h, fuzz_bytes *in) {
  static const char *const others[] = {
      "WARC-Date: 2020-01-02T03:04:05Z",
      "X-Other: WARC/1.0",
      "no colon",
      ": no name",
      "WARC-Payload-Digest: sha1:AAAA",
      "Content-Lengthy: 9",
      "X-Folded: a\r\n b",
      "A-Name-That-Is-Longer-Than-Any-Field-Could-Ever-Be-In-A-Head-Of-A-Record: x",
      NULL};
  const char *eol = put_version(out, in);
  char id[64], trec[64], length[32] = "";
  snprintf(id, sizeof id, h->id % 3 ? "<urn:uuid:%u>" : "urn:uuid:%u", h->id);
  snprintf(trec, sizeof trec, "clueweb-%u", h->id);
  if (h->length) snprintf(length, sizeof length, "%s", h->length);
  unsigned order = fuzz_pick(in, 6), blanks = fuzz_pick(in, 16);
  for (unsigned i = 0; i < 6; i++) {
    unsigned field = order == 5 ? 5 - i : (i + order) % 6;
    if (h->cut && i == 3) return;
    switch (field) {
      case 0: http_field(out, "WARC-Type", h->type, eol, in); break;
      case 1: http_field(out, "WARC-Record-ID", id, eol, in); break;
      case 2:
        if (h->url) http_field(out, "WARC-Target-URI", h->url, eol, in);
        break;
      case 3:
        if (h->content_type) http_field(out, "Content-Type", h->content_type, eol, in);
        break;
      case 4:
        if (h->id % 2) http_field(out, "WARC-TREC-ID", trec, eol, in);
        break;
      case 5:
        if (h->length && blanks > 13) { /* as in ClueWeb09 */
          for (unsigned k = 13; k < blanks; k++) fuzz_puts(out, eol);
          fuzz_putf(out, "Content-Length: %s%s", length, eol);
        } else if (h->length) {
          http_field(out, "Content-Length", length, eol, in);
        }
    }
    if (fuzz_chance(in, 8)) fuzz_puts(out, fuzz_word(in, others)), fuzz_puts(out, eol);
    if (field == 5 && h->length && fuzz_chance(in, 8)) fuzz_puts(out, "Content-Length: 3\n");
  }
  fuzz_puts(out, eol);
}

/* What stands between records, and a body that looks like one. */
static void put_junk(nd_buf *out, fuzz_bytes *in) {
  static const char *const junk[] = {"\r\n\r\nnot a record\r\n", "\n\nWARC/x\n",
                                     "\n\n<p>WARC/1.0 \n",
                                     "\r\n\r\nWARC/1.0 200 OK\r\nContent-Length: 7\r\n\r\n", NULL};
  fuzz_puts(out, fuzz_word(in, junk));
}

static void put_separators(nd_buf *out, fuzz_bytes *in) {
  static const char *const ends[] = {"\r\n\r\n", "\r\n\r\n", "\n\n", "\r\n\r\n\r\n\r\n", NULL};
  fuzz_puts(out, fuzz_word(in, ends));
}

/* A record with a page or a text, into `block`; what becomes of it. */
static destiny make_block(head *h, bool *exact_only, size_t *largest, unsigned id, fuzz_bytes *in) {
  static const char *const http_types[] = {"application/http; msgtype=response",
                                           "application/http;\r\n msgtype=response", NULL, NULL};
  static const char *const none[] = {"warcinfo", "request", "metadata", "revisit", "x", "", NULL};
  destiny fate = WHOLE;
  *exact_only = false;
  *largest = 0;
  block.n = 0;
  h->content_type = NULL;
  switch (fuzz_pick(in, 8)) {
    default:
      h->type = "response";
      h->content_type = http_types[fuzz_pick(in, 4)];
      http_make(&made, &block, id, in);
      *exact_only = made.packed;
      *largest = made.largest;
      fuzz_put_str(&seen, nd_buf_str(&made.seen));
      return made.text ? WHOLE : NO_TEXT;
    case 4: /* words that a crawl's extraction wrote */
      h->type = "conversion";
      h->content_type = fuzz_chance(in, 2) ? "text/plain" : NULL;
      http_words(&block, &seen, id, in);
      break;
    case 5:
      h->type = "resource";
      h->content_type = http_resource(&made, &block, id, in);
      *exact_only = made.packed;
      *largest = made.largest;
      fuzz_put_str(&seen, nd_buf_str(&made.seen));
      break;
    case 6:
      h->type = fuzz_word(in, none);
      fuzz_puts(&block, "software: x\r\nformat: WARC\r\n");
      if (fuzz_chance(in, 2)) fuzz_puts(&block, "HTTP/1.1 200 OK\r\n\r\n<p>h0000z</p>");
      fate = NOTHING;
      break;
    case 7: /* nothing to compare */
      h->type = "resource";
      h->content_type = fuzz_chance(in, 2) ? "image/png" : "text/dns";
      fuzz_puts(&block, "\x89PNG\r\n\x1a\n h0001z");
      fate = NO_TEXT;
  }
  /* A whole record inside a body is no record while the length is right. */
  bool sure = record_n < 2 || !records[record_n - 2].unsure_length; /* of the one before */
  if (sure && fate == WHOLE && h->type[0] == 'c' && fuzz_chance(in, 4)) {
    fuzz_puts(&block,
              "\r\n\r\nWARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <trap>\r\n"
              "Content-Length: 4\r\n\r\ntrap\r\n\r\n");
    *exact_only = traps = true;
  }
  return fate;
}

/* A length for a body that is missing.  One that ends where a later record does would be right, so
 * it is short, or longer than any file. */
static void put_wrong_length(char length[32], unsigned by) {
  snprintf(length, 32, "%u", by > 10 ? MOST_BYTES + PAGE_MOST : 3 * by);
}

/* Damage of a head or a length. */
static destiny damage(head *h, bool *unsure, char length[32], fuzz_bytes *in) {
  static const char *const bad[] = {"", "-1", "x", "12x", "99999999999999999999", "0x10", NULL};
  unsigned by = 1 + fuzz_pick(in, 20);
  static const char tail[] = "_the_tail_is_no_word_";
  switch (fuzz_pick(in, 6)) {
    case 0: { /* a body that goes on like a head is taken for one */
      bool like = block.n && strchr("CcWw", block.p[0]);
      h->length = NULL;
      return like ? MAYBE : REJECTED;
    }
    case 1: h->length = fuzz_word(in, bad); return REJECTED;
    case 2: /* the file goes on in the middle of the head */
      if (spaced) return WHOLE;
      h->cut = true;
      put_wrong_length(length, by);
      return REJECTED;
    case 3: /* too short, in the last line */
      fuzz_puts(&block, tail);
      snprintf(length, 32, "%zu", block.n - by);
      *unsure = true;
      return WHOLE;
    case 4: /* too long */
      snprintf(length, 32, "%zu", block.n + 3 * by);
      *unsure = true;
      return WHOLE;
    default: /* the body is missing */
      *unsure = true;
      put_wrong_length(length, by);
      block.n = 0;
      return MAYBE;
  }
}

static void add_record(unsigned id, size_t max_document, fuzz_bytes *in) {
  record *r = &records[record_n++];
  char length[32], url[64];
  head h = {.id = id};
  bool exact_only;
  size_t largest, words = seen.n, start = file.n;
  *r = (record){.id = id};
  snprintf(url, sizeof url, id % 4 ? "http://site%u.example/p" : "<http://site%u.example/p>", id);
  h.url = url;
  r->fate = make_block(&h, &exact_only, &largest, id, in);
  snprintf(length, sizeof length, "%zu", block.n);
  h.length = length;
  if (!exact_only && r->fate != NOTHING && fuzz_chance(in, 4)) {
    bool large = r->fate == NO_TEXT;
    r->fate = damage(&h, &r->unsure_length, length, in);
    if (large && r->fate == WHOLE) r->fate = NO_TEXT;
  }
  put_head(&file, &h, in);
  size_t total = file.n - start + block.n;
  r->cut = h.cut;
  if (!h.cut) {
    fuzz_put_str(&file, nd_buf_str(&block));
    put_separators(&file, in);
  }
  if (r->fate == WHOLE || r->fate == NO_TEXT) {
    bool near = r->unsure_length && total + 100 > max_document;
    if (near)
      r->fate = MAYBE;
    else if (total > max_document || (largest > max_document && r->fate == WHOLE))
      r->fate = REJECTED;
  }
  if (r->fate != WHOLE) seen.n = words;
  r->words = seen.n;
  r->end = file.n;
}

static void make_file(size_t max_document, fuzz_bytes *in) {
  static const char *const before[] = {"", "", "\xef\xbb\xbf", "\r\n", "\xef\xbb\xbf\n", NULL};
  file.n = seen.n = record_n = 0;
  traps = false;
  fuzz_puts(&file, fuzz_word(in, before));
  for (unsigned id = 1; in->n && record_n < MOST_RECORDS && file.n < MOST_BYTES; id++) {
    if (record_n && !traps && fuzz_chance(in, 8)) {
      put_junk(&file, in);
      /* Before damage only a blank line tells a record from one in a body. */
      if (spaced) fuzz_puts(&file, "\n\n");
      record *last = &records[record_n - 1];
      last->end = file.n;
      if (last->cut) last->fate = MAYBE; /* now its head has an end */
    }
    add_record(id, max_document, in);
  }
}

/* --- reading ---------------------------------------------------------------------- */
typedef struct reading {
  size_t at; /* the next record that may come */
  size_t rejected;
} reading;

static bool is_word(nd_str t) {
  if (t.n != 6 || (t.p[0] != 'q' && t.p[0] != 'h') || t.p[5] != 'z') return false;
  for (int i = 1; i < 5; i++)
    if (!memchr("0123456789abcdef", t.p[i], 16)) return false;
  return true;
}

/* The words that came out, in order, as they are written down. */
static void check_words(const nd_tokens *t, nd_str expected) {
  for (size_t i = 0; i < t->count; i++) {
    nd_str token = nd_token(t, i);
    if (!is_word(token) && !http_is_mark(token)) continue;
    fuzz_check(expected.n > token.n && memcmp(expected.p, token.p, token.n) == 0 &&
               expected.p[token.n] == ' ');
    expected.p += token.n + 1;
    expected.n -= token.n + 1;
  }
  fuzz_check(expected.n == 0);
}

/* Damage may give a record the id of another one, but hardly its URL as well. */
static bool is_of(const nd_read *read, const record *r) {
  char id[64], url[64];
  snprintf(id, sizeof id, r->id % 2 ? "clueweb-%u" : "urn:uuid:%u", r->id);
  snprintf(url, sizeof url, "http://site%u.example/p", r->id);
  return nd_str_eq(read->document.id, nd_str_of(id)) &&
         nd_str_eq(read->document.url, nd_str_of(url));
}

static void check_document(reading *r, const nd_read *read) {
  size_t found = r->at;
  while (found < record_n && !is_of(read, &records[found])) found++;
  if (found == record_n) { /* a damaged one, if there is any */
    for (found = r->at; found < record_n && records[found].fate != MAYBE;) found++;
  }
  fuzz_check(found < record_n);
  for (; r->at < found; r->at++) /* before it nothing may be missing */
    fuzz_check(records[r->at].fate != WHOLE && records[r->at].fate != NO_TEXT);
  const record *expected = &records[r->at++];
  fuzz_check(expected->fate == WHOLE || expected->fate == NO_TEXT || expected->fate == MAYBE);
  if (expected->fate == MAYBE) return;
  fuzz_check((read->document.kind == ND_KIND_OTHER) == (expected->fate == NO_TEXT));
  if (expected->fate == NO_TEXT) return;
  size_t from = expected == records ? 0 : expected[-1].words;
  check_words(read->tokens, (nd_str){seen.p + from, expected->words - from});
  fuzz_note(read->text.p, read->text.n);
}

/* Reads everything, behind damage too, and checks what comes. */
static void check_stream(nd_stream *s) {
  reading r = {0};
  nd_error err = {0};
  uint64_t at = 0;
  for (;;) {
    nd_frame frame = {0};
    err.message[0] = '\0';
    nd_status status = nd_format_warc.frame(&frame, s, &settings.input, &err);
    if (status == ND_ERR_DATA) {
      bool found = false;
      fuzz_check(err.message[0]);
      if (nd_stream_recover(&found, s, &err) != ND_OK || !found) break;
      at = nd_stream_offset(s);
      continue;
    }
    fuzz_check(status == ND_OK);
    if (frame.kind == ND_FRAME_END) break;
    fuzz_check(frame.offset == at && frame.length > 0);
    at += frame.length;
    if (frame.kind == ND_FRAME_REJECT) {
      fuzz_check(err.message[0]);
      r.rejected++;
    }
    if (frame.kind != ND_FRAME_DOCUMENT) continue;
    nd_read read;
    status = nd_signer_read(&read, signer, &nd_format_warc, frame.raw, &err);
    if (status == ND_OK) {
      check_document(&r, &read);
    } else {
      fuzz_check((status == ND_ERR_DATA || status == ND_ERR_LIMIT) && err.message[0]);
      r.rejected++;
    }
  }
  size_t rejects = 0;
  bool sure = true;
  for (size_t i = 0; i < record_n; i++) {
    const record *e = &records[i];
    fuzz_check(i < r.at || (e->fate != WHOLE && e->fate != NO_TEXT)); /* none is lost */
    rejects += e->fate == REJECTED;
    sure &= e->fate != MAYBE;
  }
  if (sure) fuzz_check(r.rejected >= rejects);
}

static void check_bytes(nd_str bytes, size_t step) {
  nd_error err = {0};
  nd_stream *s = NULL;
  if (step == 0) {
    fuzz_check(nd_stream_open_memory(&s, bytes, "fuzz", &err) == ND_OK);
    check_stream(s);
    nd_stream_close(s);
    return;
  }
  int fd = memfd_create("warc", MFD_CLOEXEC);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  fuzz_check(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
  nd_io_short(step);
  fuzz_check(nd_stream_open(&s, path, &err) == ND_OK);
  check_stream(s);
  nd_stream_close(s);
  nd_io_short(0);
  close(fd);
}

/* The file ends in this record, or it is damaged: what survives? */
static void spoil(size_t which, bool gone_behind) {
  for (size_t i = 0; i < record_n; i++) {
    bool hit = i == which || (i + 1 == which && records[i].unsure_length);
    if (hit) records[i].fate = MAYBE;
    if (gone_behind && i > which) records[i].fate = NOTHING;
  }
}

static size_t record_at(size_t place) {
  size_t i = 0;
  while (i + 1 < record_n && records[i].end <= place) i++;
  return i;
}

static void cut_file(fuzz_bytes *in) {
  size_t cut = fuzz_pick(in, 65536) % file.n;
  if (traps || cut == 0) return;
  spoil(record_at(cut), true);
  file.n = cut;
  record_n = record_at(cut) + 1;
  check_bytes(nd_buf_str(&file), 0);
}

/* One byte of one member or frame is another one. */
static void damage_member(fuzz_packing how, fuzz_bytes *in) {
  size_t which = fuzz_pick(in, 256) % record_n, begin = 0, end[MOST_RECORDS];
  if (traps) return;
  packed.n = 0;
  for (size_t i = 0, at = 0; i < record_n; at = records[i++].end) {
    nd_str piece = {file.p + at, records[i].end - at};
    if (i == which) begin = packed.n;
    if (how == FUZZ_GZIP_MEMBERS)
      fuzz_deflate(&packed, piece, 31, 1);
    else
      fuzz_zstd(&packed, piece, true);
    end[i] = packed.n;
  }
  size_t at = begin + fuzz_pick(in, 65536) % (end[which] - begin);
  if (at < 4) return; /* then the file is no packed one */
  packed.p[at] = (char)(packed.p[at] ^ (1 + fuzz_pick(in, 255)));
  spoil(which, false);
  check_bytes(nd_buf_str(&packed), 0);
}

static void set_up(void) {
  static nd_options options;
  nd_error err = {0};
  nd_options_init(&options);
  fuzz_check(nd_buf_reserve(&seen, 1, &err) == ND_OK);
  fuzz_check(nd_settings_resolve(&settings, &options, &err) == ND_OK);
  fuzz_check(nd_signer_new(&signer, &settings, &err) == ND_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint64_t limits[] = {1 << 20, 1 << 20, 1 << 20, 3000, 700};
  static const size_t steps[] = {0, 0, 0, 0, 1, 17, 400, 4096};
  fuzz_bytes in = {data, size};
  if (!signer) set_up();
  fuzz_packing how = (fuzz_packing)fuzz_pick(&in, FUZZ_PACKINGS);
  size_t step = steps[fuzz_pick(&in, 8)];
  unsigned worse = fuzz_pick(&in, 4);
  settings.input.max_document = limits[fuzz_pick(&in, 5)];
  spaced = worse == 2;
  fuzz_bytes later = in; /* the choices once more, for what is done to the file */
  make_file(settings.input.max_document, &in);
  if (record_n == 0) return 0;
  check_bytes(nd_buf_str(&file), how == FUZZ_PLAIN ? step : 0);
  if (how != FUZZ_PLAIN) {
    size_t end[MOST_RECORDS];
    for (size_t i = 0; i < record_n; i++) end[i] = records[i].end;
    packed.n = 0;
    fuzz_bytes cuts = later;
    fuzz_pack(&packed, nd_buf_str(&file), end, record_n, how, &cuts);
    check_bytes(nd_buf_str(&packed), step);
  }
  if (worse == 1) cut_file(&later);
  if (worse == 2 && (how == FUZZ_GZIP_MEMBERS || how == FUZZ_ZSTD_FRAMES))
    damage_member(how, &later);
  return 0;
}
