/* WARC: framing, repair, decoding, hostile input. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <fts.h>

#include "tiny_stream.h"

#include "every_place.h" /* its err comes after the ones above */

enum { MAX = 64 << 20 };

static nd_str str(const char *s) {
  return nd_str_of(s);
}

static frames frames_of(const char *text, uint64_t max) {
  check_any(&nd_archive_warc, &nd_format_warc, str(text), max);
  return read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = str(text)}, max);
}

static nd_document decode(nd_decoder *d, nd_str raw) {
  nd_document doc;
  nd_input_options o = {.max_document = MAX};
  nd_status status = nd_format_warc.decode(&doc, d, raw, &o, &err);
  if (status != ND_OK) print_message("%s\n", err.message);
  assert_int_equal(status, ND_OK);
  return doc;
}

static void assert_str(nd_str got, const char *want) {
  if (!nd_str_eq(got, str(want))) print_message("got [%.*s], want [%s]\n", (int)got.n, got.p, want);
  assert_true(nd_str_eq(got, str(want)));
}

#define HTTP "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
#define GOLDEN                                                                                 \
  "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 9\r\n\r\nabout: me\r\n\r\n"              \
  "WARC/1.1\r\nwarc-type: RESPONSE\r\nWARC-Record-ID: <urn:x:1>\r\n"                           \
  "WARC-Target-URI: <http://a.example/>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"                \
  "content-type: application/http; msgtype=response\r\nCONTENT-LENGTH: 69\r\n\r\n" HTTP        \
  "<p>one</p>\r\n\r\n"                                                                         \
  "WARC/0.18\nWARC-Type: response\nWARC-TREC-ID: clueweb09-en0000-00-00000\n"                  \
  "WARC-Record-ID: <urn:x:2>\nContent-Type: application/http;msgtype=response\n"               \
  "WARC-Target-URI: http://b.example/\nContent-Length: 36\n\n"                                 \
  "HTTP/1.1 200\nContent-Type: x\n\nTwo &\n\n\nWARC/1.0\r\nWARC-Type:\r\n  conversion\r\n"     \
  "WARC-Target-URI: http://c.example/\r\n\tlong\r\nContent-Length:\r\n 5\r\n\r\nthree\r\n\r\n" \
  "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\n"    \
  "PNG\r\n\r\n"                                                                                \
  "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: dns:a.example\r\n"                      \
  "Content-Type: text/dns\r\nContent-Length: 7\r\n\r\n1.2.3.4\r\n\r\n"

static void reads_every_record_of_a_good_archive(void **state) {
  (void)state;
  frames f = frames_of(GOLDEN, MAX);
  assert_int_equal(f.n, 6);
  assert_int_equal(f.others, 1);
  assert_int_equal(f.documents, 5);
  nd_decoder d = {0};
  static const struct {
    nd_kind kind;
    const char *id, *url, *time, *charset, *body;
  } want[] = {
      {ND_KIND_HTML, "urn:x:1", "http://a.example/", "2020-01-02T03:04:05Z", "utf-8", "<p>one</p>"},
      {ND_KIND_SNIFF, "clueweb09-en0000-00-00000", "http://b.example/", "", "", "Two &\n"},
      {ND_KIND_TEXT, "", "http://c.example/ long", "", "utf-8", "three"},
      {ND_KIND_OTHER, "", "", "", "", "PNG"},
      {ND_KIND_OTHER, "", "dns:a.example", "", "", "1.2.3.4"},
  };
  for (size_t i = 1; i < f.n; i++) {
    nd_str raw = {&GOLDEN[f.list[i].offset], f.list[i].length};
    assert_true(nd_archive_begins(raw, "warc/"));
    nd_document doc = decode(&d, raw);
    assert_int_equal(doc.kind, want[i - 1].kind);
    assert_str(doc.id, want[i - 1].id);
    assert_str(doc.url, want[i - 1].url);
    assert_str(doc.time, want[i - 1].time);
    assert_str(doc.charset, want[i - 1].charset);
    assert_str(doc.body, want[i - 1].body);
  }
  nd_decoder_clear(&d);
  frames_clear(&f);
}

static void test_cut_everywhere(void **state) {
  (void)state;
  size_t all = strlen(GOLDEN);
  frames whole = frames_of(GOLDEN, MAX);
  for (size_t n = 0; n < all; n++) {
    nd_str bytes = {GOLDEN, n};
    frames f = read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = bytes}, MAX);
    assert_int_equal(f.end, ND_OK);
    assert_true(f.rejects <= 1);
    if (f.rejects) assert_int_equal(f.list[f.n - 1].kind, ND_FRAME_REJECT);
    size_t complete = 0;
    while (complete < whole.n && whole.list[complete].offset + whole.list[complete].length <= n) {
      complete++;
    }
    assert_true(f.n >= complete);
    for (size_t i = 0; i < complete; i++) {
      assert_int_equal(f.list[i].kind, whole.list[i].kind);
      assert_true(nd_str_eq(f.bodies[i], whole.bodies[i]));
    }
    frames_clear(&f);
    /* The same place, damaged: whole records before it still come. */
    if (n == 0) continue;
    f = read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = str(GOLDEN), .fail_from = n},
                 MAX);
    assert_int_equal(f.end, ND_ERR_DATA);
    assert_true(f.n >= complete);
    frames_clear(&f);
  }
  frames_clear(&whole);
}

#define GOOD "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 2\r\n\r\nok\r\n\r\n"

/* A length that is too long, and damage before its end: the record between still comes. */
static void test_wrong_length_before_damage(void **state) {
  (void)state;
  static const char head[] = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 9999\r\n\r\n";
  nd_buf b = {0};
  for (int i = 0; i < 400; i++) {
    const char *text = i == 0 ? head : i == 1 ? "some body\r\n\r\n" : GOOD;
    assert_int_equal(nd_buf_append(&b, text, strlen(text), &err), ND_OK);
  }
  const size_t damage = 1000, before = (damage - strlen(head) - 13) / strlen(GOOD);
  frames f = read_all(&nd_archive_warc, &nd_format_warc,
                      (tiny){.bytes = {b.p, b.n}, .fail_from = damage}, MAX);
  assert_int_equal(f.end, ND_ERR_DATA);
  assert_int_equal(f.list[0].kind, ND_FRAME_REJECT);
  assert_string_equal(f.why[0], "the WARC record is truncated, or its length is wrong");
  assert_int_equal(f.documents, before);
  assert_true(nd_str_eq(f.bodies[1], nd_str_of("ok")));
  frames_clear(&f);
  nd_buf_clear(&b);
}

static void test_bad_heads(void **state) {
  (void)state;
  static const struct {
    const char *head, *why;
  } cases[] = {
      {"WARC/1.0\r\nWARC-Type: response\r\n\r\nbody\r\n\r\n",
       "the WARC record has no Content-Length"},
      {"WARC/1.0\r\nContent-Length: \r\n\r\nbody\r\n\r\n", "the WARC record has no Content-Length"},
      {"WARC/1.0\r\nContent-Length: -5\r\n\r\nbody\r\n\r\n",
       "the WARC record has a negative Content-Length"},
      {"WARC/1.0\r\nContent-Length: five\r\n\r\nbody\r\n\r\n",
       "the WARC record has a Content-Length that is not a number"},
      {"WARC/1.0\r\nContent-Length: 1000000000000000000\r\n\r\nbody\r\n\r\n",
       "the WARC record has an absurd Content-Length"},
      {"WARC/1.0\r\nContent-Length: 99999999999999999999999999\r\n\r\nbody\r\n\r\n",
       "the WARC record has an absurd Content-Length"},
      {"WARC/1.0\r\nWARC-Type: response\r\n",
       "the WARC record has a head without an end: another one begins inside it"},
      {"monkeys\nWARC/x\n", "here begins no WARC record"},
      {"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9000\r\n\r\nlost\r\n\r\n",
       "the WARC record is truncated"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s%s%s", GOOD, cases[i].head, GOOD, GOOD);
    frames f = frames_of(text, MAX);
    assert_int_equal(f.documents, 3);
    assert_int_equal(f.rejects, 1);
    assert_int_equal(f.n, 4);
    assert_string_equal(f.why[1], cases[i].why);
    frames_clear(&f);
  }
}

static void wrong_lengths_are_repaired(void **state) {
  (void)state;
  /* A length that is a few bytes off, both ways; blank and foreign lines in a
   * head; rubbish behind a record that is itself right. */
  static const struct {
    const char *text;
    size_t frames, documents, rejects;
    const char *body;
  } cases[] = {
      {"WARC/1.0\nWARC-Type: resource\nContent-Length: 30\n\nshort\n\n" GOOD, 2, 2, 0, "short"},
      {"WARC/1.0\nWARC-Type: resource\nContent-Length: 2\n\nlonger\n\n" GOOD, 2, 2, 0, "longer"},
      {"WARC/1.0\nWARC-Type: resource\nContent-Length: 5\n\nright" GOOD, 2, 2, 0, "right"},
      {"WARC/1.0\nWARC-Type: resource\n\nContent-Length: 5\n\nblank\n\n" GOOD, 2, 2, 0, "blank"},
      {"WARC/1.0\nWARC-Type: resource\nrubbish\n\n\nWARC-Date: x\nContent-Length: "
       "5\n\nlines\n\n" GOOD,
       2, 2, 0, "lines"},
      {"WARC/1.0\nWARC-Type: resource\nContent-Length: 5\n\nright\n\nmonkeys\n" GOOD, 3, 2, 1,
       "right"},
      {GOOD "WARC/1.0\nWARC-Type: warcinfo\nContent-Length: 12\n\nshort\n" GOOD, 3, 2, 0, "ok"},
      {"WARC/1.0\nWARC-Type: resource\nContent-Length: 10\n\nlast\n\n", 1, 1, 0, "last"},
      {"warc/1.0\nWARC-Type: resource\nContent-Length: 5\n\nlower\n\n" GOOD, 2, 2, 0, "lower"},
      {"WARC/1.0\nWARC-Type: resource\nContent-Length: 8\n\nWARC/1.0\n\n" GOOD, 2, 2, 0,
       "WARC/1.0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    frames f = frames_of(cases[i].text, MAX);
    assert_int_equal(f.n, cases[i].frames);
    assert_int_equal(f.documents, cases[i].documents);
    assert_int_equal(f.rejects, cases[i].rejects);
    assert_str(f.bodies[0], cases[i].body);
    frames_clear(&f);
  }
  /* Blank lines and a byte order mark before the first record. */
  frames f = frames_of("\xef\xbb\xbf\r\n\n" GOOD, MAX);
  assert_int_equal(f.n, 2);
  assert_int_equal(f.others, 1);
  frames_clear(&f);
}

static void append(nd_buf *b, const char *text) {
  assert_int_equal(nd_buf_append(b, text, strlen(text), &err), ND_OK);
}

static void fill(nd_buf *b, char c, size_t n) {
  assert_int_equal(nd_buf_reserve(b, n, &err), ND_OK);
  memset(b->p + b->n, c, n);
  b->n += n;
}

static void too_long_records_are_skipped_in_a_small_window(void **state) {
  (void)state;
  /* Records above max_document: skipped with a small window. */
  static const char *const types[] = {"response", "request"};
  for (int i = 0; i < 2; i++) {
    nd_buf b = {0};
    append(&b, GOOD "WARC/1.0\nWARC-Type: ");
    append(&b, types[i]);
    append(&b, "\nContent-Length: 20000000\n\n");
    fill(&b, 'x', 20000000);
    append(&b, "\r\n\r\n" GOOD);
    frames f = read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = nd_buf_str(&b)}, 1000);
    assert_int_equal(f.n, 3);
    assert_int_equal(f.documents, 2);
    assert_int_equal(f.rejects, i == 0);
    assert_true(f.most < 2 << 20);
    if (i == 0) assert_string_equal(f.why[1], "the WARC record is longer than --max-document");
    frames_clear(&f);
    /* … and cut off. */
    b.n = 10000000;
    f = read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = nd_buf_str(&b)}, 1000);
    assert_int_equal(f.rejects, 1);
    assert_string_equal(f.why[1], "the WARC record is truncated");
    assert_true(f.most < 2 << 20);
    frames_clear(&f);
    nd_buf_clear(&b);
  }
  /* A record that stopped long before its end, with others inside its length. */
  nd_buf b = {0};
  append(&b, "WARC/1.0\nWARC-Type: response\nContent-Length: 50000\n\nstopped\n\n");
  for (int i = 0; i < 2000; i++) append(&b, GOOD);
  frames f = read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = nd_buf_str(&b)}, MAX);
  assert_int_equal(f.rejects, 1);
  assert_int_equal(f.documents, 2000);
  frames_clear(&f);
  nd_buf_clear(&b);
}

/* A length that is wrong and above max_document, in a stream that can't look ahead: the next
 * record is found, wherever it lies between two looks; what only looks like one is not. */
static void test_large_wrong(void **state) {
  (void)state;
  static const struct {
    const char *before, *record;
    bool found;
  } cases[] = {{"\r\n\r\n", GOOD, true},
               {"\n\n", GOOD, true},
               {"\n", GOOD, false},
               {"\n\n", "WARC/1.0\nContent-Length: many\n\n", false},
               {"\n\n", "WARC/monkeys\n\n", false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    for (size_t pad = (1 << 16) - 70; pad < (1 << 16) + 6; pad++) {
      nd_buf b = {0};
      append(&b, "WARC/1.0\nWARC-Type: response\nContent-Length: 1300000\n\n");
      const size_t head = b.n;
      fill(&b, 'x', pad - head);
      append(&b, cases[k].before);
      append(&b, cases[k].record);
      if (!cases[k].found) {
        fill(&b, 'x', head + 1300000 - b.n);
        append(&b, "\n\n" GOOD);
      }
      frames f = read_all(&nd_archive_warc, &nd_format_warc, (tiny){.bytes = nd_buf_str(&b)}, 1000);
      assert_int_equal(f.documents, 1);
      assert_int_equal(f.rejects, 1);
      assert_string_equal(f.why[0], cases[k].found
                                        ? "the WARC record is truncated, or its length is wrong"
                                        : "the WARC record is longer than --max-document");
      frames_clear(&f);
      nd_buf_clear(&b);
    }
  }
}

/* A large record in a file, whose end is looked for first. */
typedef struct large {
  char path[40];
  const char *why; /* what is said of it, or NULL */
  int cut_at;      /* the call before which the file loses its end; 0: none */
} large;
static large *cutting;

static void cut_file(uint64_t nth) {
  if ((int)nth == cutting->cut_at) assert_int_equal(truncate(cutting->path, 300000), 0);
}

static nd_status read_large(void *context) {
  const large *l = context;
  nd_input_options o = {.max_document = 1000};
  nd_frame frame;
  nd_stream *s;
  ND_TRY(nd_stream_open(&s, l->path, &err));
  nd_status status = nd_format_warc.frame(&frame, s, &o, &err);
  if (status == ND_OK) assert_int_equal(frame.kind, ND_FRAME_REJECT);
  if (status == ND_OK && l->why) assert_string_equal(err.message, l->why);
  if (status == ND_OK) assert_int_equal(nd_stream_offset(s), frame.length);
  nd_stream_close(s);
  return status;
}

static void test_large_file(void **state) {
  (void)state;
  large l = {"/tmp/nd_test_warc_XXXXXX", "the WARC record is longer than --max-document", 0};
  nd_buf b = {0};
  append(&b, "WARC/1.0\nWARC-Type: response\nContent-Length: 3000000\n\n");
  fill(&b, 'x', 3000000);
  append(&b, "\n\n" GOOD);
  int fd = mkstemp(l.path);
  assert_true(fd >= 0 && write(fd, b.p, b.n) == (ssize_t)b.n);
  assert_true(every_place_fails(read_large, &l) >= 4);
  /* The file is cut while it is read, before each of the calls. */
  nd_io_fail_at(UINT64_MAX, EIO);
  ok(read_large(&l));
  const int calls = (int)nd_io_count();
  l.why = NULL;
  cutting = &l;
  nd_io_watch(cut_file);
  for (l.cut_at = 1; l.cut_at <= calls; l.cut_at++) {
    assert_int_equal(pwrite(fd, b.p, b.n, 0), b.n);
    nd_io_fail_at(UINT64_MAX, EIO);
    err.message[0] = '\0';
    ok(read_large(&l));
    assert_non_null(strstr(err.message, l.cut_at < calls ? "truncated" : "the WARC record is "));
  }
  nd_io_watch(NULL);
  nd_io_fail_at(0, 0);
  close(fd);
  unlink(l.path);
  nd_buf_clear(&b);
}

/* What no frame was made of is no record. */
static void test_no_record(void **state) {
  (void)state;
  static const char *const bad[] = {"", "WARC/1.0", "WARC/1.0\nContent-Length: 3\n",
                                    "WARC/1.0\nContent-Length: x\n\nabc"};
  nd_input_options o = {.max_document = MAX};
  nd_decoder d = {0};
  nd_document doc;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(nd_format_warc.decode(&doc, &d, str(bad[i]), &o, &err), ND_ERR_DATA);
    assert_string_equal(err.message, "this is no WARC record");
  }
  nd_decoder_clear(&d);
}

static void timed(const char *what, nd_buf *b, uint64_t max) {
  clock_t start = clock();
  nd_stream *s;
  assert_int_equal(nd_stream_open_memory(&s, nd_buf_str(b), what, &err), ND_OK);
  nd_input_options o = {.max_document = max};
  size_t n = 0;
  uint64_t at = 0;
  for (nd_frame frame; nd_format_warc.frame(&frame, s, &o, &err) == ND_OK; n++) {
    at += frame.length;
    if (frame.kind == ND_FRAME_END) break;
  }
  assert_int_equal(at, b->n);
  nd_stream_close(s);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  print_message("%-40s %6zu KiB %8zu frames %.3f s\n", what, b->n >> 10, n, seconds);
  assert_true(seconds < 10);
  nd_buf_clear(b);
}

static void hostile_archives_take_linear_time(void **state) {
  (void)state;
  nd_buf b = {0};
  for (int i = 0; i < 1000000; i++) append(&b, "WARC/1.0\n");
  timed("version lines", &b, MAX);
  append(&b, "WARC/1.0\n");
  for (int i = 0; i < 1000000; i++) append(&b, "A: b\n");
  append(&b, "\n");
  timed("a head of many lines", &b, MAX);
  for (int k = 0; k < 8; k++) {
    append(&b, "WARC/1.0\n");
    for (int i = 0; i < 300000; i++) append(&b, "A: b\n");
  }
  timed("heads without an end", &b, MAX);
  append(&b, "WARC/1.0\n");
  fill(&b, '\n', 5000000);
  timed("blank lines", &b, MAX);
  for (int k = 0; k < 5; k++) {
    append(&b, "WARC/1.0\nA: b\n");
    for (int i = 0; i < 100000; i++) append(&b, "\nWARC-A: b\n");
  }
  timed("a head that goes on after blank lines", &b, MAX);
  for (int i = 0; i < 200000; i++) append(&b, "WARC/1.0\nContent-Length: 1000000\n\n");
  timed("lengths that are too long", &b, MAX);
  for (int i = 0; i < 200000; i++) append(&b, "WARC/1.0\nContent-Length: 60000000\n\n");
  timed("lengths far too long", &b, MAX);
  for (int i = 0; i < 200000; i++) append(&b, "WARC/1.0\nContent-Length: 0\n\nx\n");
  timed("lengths that are too short", &b, MAX);
  fill(&b, 'W', 20000000);
  timed("rubbish", &b, MAX);
}

static void mutated_archives_keep_the_frames_invariants(void **state) {
  (void)state;
  uint64_t seed = tiny_seed();
  clock_t start = clock();
  int runs = 0;
  for (; runs < 20000 && clock() - start < CLOCKS_PER_SEC; runs++) {
    nd_buf b = mutate(str(GOLDEN GOOD), &seed);
    check_any(&nd_archive_warc, &nd_format_warc, nd_buf_str(&b), runs % 3 ? MAX : 300);
    nd_buf_clear(&b);
  }
  print_message("%d mutations\n", runs);
}

static void sniffs_warc_and_nothing_else(void **state) {
  (void)state;
  assert_int_equal(nd_format_warc.sniff(str(GOOD)), 100);
  assert_int_equal(nd_format_warc.sniff(str("WARC/0.18\nWARC-Type: x\n")), 100);
  assert_int_equal(nd_format_warc.sniff(str("\n\nWARC/1.1\r\n")), 100);
  assert_int_equal(nd_format_warc.sniff(str("\r\nWARC/1.1\r\n")), 100);
  assert_int_equal(nd_format_warc.sniff(str("WARC/ is a format")), 0);
  assert_int_equal(nd_format_warc.sniff(str("")), 0);
  assert_int_equal(nd_format_warc.sniff(str("<html>")), 0);
}

/* Numbers of response, resource and conversion records: as another reader
 * (warcio 1.8.1) counts them, or, for the files that it refuses (one gzip member,
 * ClueWeb09's lengths), as `grep -c` does. */
static const fixture known[] = {
    {"example.docs.warc.gz", 9, 0},
    {"example.pdf.warc.gz", 35, 0},
    {"example.txt.warc.gz", 2, 0},
    {"issue-493.warc", 10, 0},
    {"issue-514.warc", 4, 0},
    {"clueweb-quirk.warc.gz", 29, 0},
    {"warcfile.warc", 16, 0},
    {"warcfile.warc.gz", 16, 0},
    {"whirlwind.warc.gz", 1, 0},
    {"whirlwind.warc.wat.gz", 0, 0},
    {"whirlwind.warc.wet.gz", 1, 0},
    {"IAH-urls-wget.warc", 19, 0},
    {"IAH-urls-wget.warc.gz", 19, 0},
    {"mutliple-headers.warc", 1, 0},
    {"link-extraction-test.warc", 7, 0},
    {"IAH-20080430204825-00000-blackbook.warc.gz", 299, 0},
    {"invalid-warcfile-contenttype-recommended.warc", 3, 0},
    {"invalid-warcfile-encoding-headers.warc.gz", 3, 0},
    {"invalid-warcfile-record-then-garbage.warc", 1, 1},
    {"invalid-warcfile-lonely-request-response-resource-conversion.warc", 0, 4},
    {"valid-warcfile-upper-lower-case.warc", 4, 0},
    {"CC-MAIN-20150226074059-00000-ip-10-28-5-156.ec2.internal.warc.gz", 4, 0},
    {"CC-MAIN-20150226074105-00336-ip-10-28-5-156.ec2.internal.warc.gz", 18, 0},
    {"example-bad-non-chunked.warc.gz", 1, 0},
    {"example-iana.org-chunked.warc", 1, 0},
    {"example-resource.warc.gz", 1, 0},
    {"example-space-in-target-uri.warc.gz", 1, 0},
    {"example-wget-bad-target-uri.warc.gz", 3, 0},
    {"example-wrong-chunks.warc.gz", 1, 0},
    {"example.warc", 1, 0},
    {"example.warc.gz", 1, 0},
    {"post-test.warc.gz", 3, 0},
    {"0000tw-00.warc.gz", 3, 0},
    {"ClueWeb09_English_Sample_File.warc.gz", 100, 0},
    {"webis-en0000-00.warc.gz", 23, 0},
};

static void reads_the_known_records_of_real_archives(void **state) {
  (void)state;
  read_fixtures(&nd_format_warc, known, sizeof known / sizeof *known);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_record_of_a_good_archive),
      cmocka_unit_test(test_cut_everywhere),
      cmocka_unit_test(test_wrong_length_before_damage),
      cmocka_unit_test(test_bad_heads),
      cmocka_unit_test(wrong_lengths_are_repaired),
      cmocka_unit_test(too_long_records_are_skipped_in_a_small_window),
      cmocka_unit_test(test_large_wrong),
      cmocka_unit_test(hostile_archives_take_linear_time),
      cmocka_unit_test(mutated_archives_keep_the_frames_invariants),
      cmocka_unit_test(sniffs_warc_and_nothing_else),
      cmocka_unit_test(reads_the_known_records_of_real_archives),
      cmocka_unit_test(test_large_file),
      cmocka_unit_test(test_no_record),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
