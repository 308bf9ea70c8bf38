/* ARC: framing, repair, decoding, hostile input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>
#include <fts.h>

#include "tiny_stream.h"

#include "every_place.h" /* its err comes after the ones above */

enum { MAX = 64 << 20 };

static nd_str str(const char *s) {
  return nd_str_of(s);
}

static void assert_str(nd_str got, const char *want) {
  if (!nd_str_eq(got, str(want))) print_message("got [%.*s], want [%s]\n", (int)got.n, got.p, want);
  assert_true(nd_str_eq(got, str(want)));
}

static frames frames_of(const char *text, uint64_t max) {
  check_any(&nd_archive_arc, &nd_format_arc, str(text), max);
  return read_all(&nd_archive_arc, &nd_format_arc, (tiny){.bytes = str(text)}, max);
}

#define GOLDEN                                                                   \
  "filedesc://x.arc 0.0.0.0 20140216050221 text/plain 67\n"                      \
  "1 0 Maker\nURL IP-address Archive-date Content-type Archive-length\n\n\n"     \
  "http://a.example/ 1.2.3.4 20140216050221 text/html 54\n"                      \
  "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>one</p>\n"               \
  "http://b.example/?q=From The Live Web 1.2.3.4 20140216050222 text/plain 25\n" \
  "HTTP/1.0 404 No\r\n\r\ngone!!\n"                                              \
  "http://c.example/ ::1 20140216050223 text/html 200 - - 123 x.arc 5\nthree\n"  \
  "dns:d.example 9.9.9.9 20140216050224 text/dns 7\n1.2.3.4\n"                   \
  "http://e.example/ 1.2.3.4 20140216050225 image/gif 3\nGIF\n"
#define GOOD "http://g.example/ 1.2.3.4 20200101000000 text/plain 2\nok\n"

static void reads_every_record_of_a_good_archive(void **state) {
  (void)state;
  static const struct {
    nd_kind kind;
    const char *id, *url, *time, *body;
  } want[] = {
      {ND_KIND_HTML, "http://a.example/#20140216050221", "http://a.example/", "20140216050221",
       "<p>one</p>"},
      {ND_KIND_TEXT, "http://b.example/?q=From The Live Web#20140216050222",
       "http://b.example/?q=From The Live Web", "20140216050222", "gone!!"},
      {ND_KIND_HTML, "http://c.example/#20140216050223", "http://c.example/", "20140216050223",
       "three"},
      {ND_KIND_OTHER, "dns:d.example#20140216050224", "dns:d.example", "20140216050224", "1.2.3.4"},
      {ND_KIND_OTHER, "http://e.example/#20140216050225", "http://e.example/", "20140216050225",
       "GIF"},
  };
  frames f = frames_of(GOLDEN, MAX);
  assert_int_equal(f.n, 6);
  assert_int_equal(f.others, 1);
  assert_int_equal(f.documents, 5);
  nd_decoder d = {0};
  nd_input_options o = {.max_document = MAX};
  for (size_t i = 1; i < f.n; i++) {
    nd_document doc;
    nd_str raw = {&GOLDEN[f.list[i].offset], f.list[i].length};
    assert_int_equal(nd_format_arc.decode(&doc, &d, raw, &o, &err), ND_OK);
    assert_int_equal(doc.kind, want[i - 1].kind);
    assert_str(doc.id, want[i - 1].id);
    assert_str(doc.url, want[i - 1].url);
    assert_str(doc.time, want[i - 1].time);
    assert_str(doc.body, want[i - 1].body);
  }
  nd_decoder_clear(&d);
  frames_clear(&f);
}

static void test_cut_everywhere(void **state) {
  (void)state;
  frames whole = frames_of(GOLDEN, MAX);
  for (size_t n = 0; n < strlen(GOLDEN); n++) {
    nd_str bytes = {GOLDEN, n};
    frames f = read_all(&nd_archive_arc, &nd_format_arc, (tiny){.bytes = bytes}, MAX);
    assert_int_equal(f.end, ND_OK);
    assert_true(f.rejects <= 1);
    size_t complete = 0;
    while (complete < whole.n && whole.list[complete].offset + whole.list[complete].length <= n) {
      assert_int_equal(f.list[complete].kind, whole.list[complete].kind);
      assert_true(nd_str_eq(f.bodies[complete], whole.bodies[complete]));
      complete++;
    }
    frames_clear(&f);
    if (n == 0) continue;
    f = read_all(&nd_archive_arc, &nd_format_arc, (tiny){.bytes = str(GOLDEN), .fail_from = n},
                 MAX);
    assert_int_equal(f.end, ND_ERR_DATA);
    assert_true(f.n >= complete);
    frames_clear(&f);
  }
  frames_clear(&whole);
}

static void rejects_wrong_lengths_with_their_reason(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t documents, rejects;
    const char *why; /* of the first frame */
  } cases[] = {
      {"http://x/ 1.2.3.4 20200101000000 text/plain -1\n\n" GOOD, 1, 1,
       "the ARC record has a negative length"},
      {"http://x/ 1.2.3.4 20200101000000 text/plain abc\n\n" GOOD, 1, 1,
       "the ARC record has a length that is not a number"},
      {"http://x/ 1.2.3.4 20200101000000 text/plain 1000000000000000000\nbody\n" GOOD, 1, 1,
       "the ARC record has an absurd length"},
      {"http://x/ 1.2.3.4 20200101000000 text/plain 9000\nbody\n" GOOD, 1, 1,
       "the ARC record is truncated"},
      {"monkeys\n" GOOD, 1, 1, "here begins no ARC record"},
      {"http://x/ 1111111111.1111111111.1111111111.1111111111.1111111111.1111111111 "
       "20200101000000 text/plain 2\nab\n" GOOD,
       1, 1, "here begins no ARC record"}, /* no address is that long */
      {"http://x/ 1.2.3.4 20200101000000 text/plain 2\nlonger\n" GOOD, 2, 0, ""},
      {"http://x/ 1.2.3.4 20200101000000 text/plain 9\nshort\n" GOOD, 2, 0, ""},
      {"http://x/ 1.2.3.4 20200101000000 text/plain 8\nshort\n" GOOD, 2, 0, ""},
      {"http://x/ 1.2.3.4 20200101000000 text/plain 5\nright\nmonkeys\n" GOOD, 2, 1, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    frames f = frames_of(cases[i].text, MAX);
    assert_int_equal(f.documents, cases[i].documents);
    assert_int_equal(f.rejects, cases[i].rejects);
    assert_string_equal(f.why[0], cases[i].why);
    frames_clear(&f);
  }
  frames f = frames_of(GOLDEN, 80);
  assert_true(f.rejects > 0);
  assert_string_equal(f.why[1], "the ARC record is longer than --max-document");
  frames_clear(&f);
  /* So wrong, and above max_document, that nobody can look there first. */
  f = read_all(
      &nd_archive_arc, &nd_format_arc,
      (tiny){.bytes = str("http://x/ 1.2.3.4 20200101000000 text/plain 9000000\nbody\n" GOOD)},
      1000);
  assert_int_equal(f.documents, 1);
  assert_int_equal(f.rejects, 1);
  assert_string_equal(f.why[0], "the ARC record is truncated, or its length is wrong");
  frames_clear(&f);
}

static nd_status decode_one(void *context) {
  const char *raw = context;
  nd_input_options o = {.max_document = MAX};
  nd_decoder d = {0};
  nd_document doc;
  nd_status status = nd_format_arc.decode(&doc, &d, str(raw), &o, &err);
  if (status == ND_OK) assert_str(doc.id, "http://x/ y#20200101000000");
  if (status == ND_OK) assert_str(doc.body, "ab");
  nd_decoder_clear(&d);
  return status;
}

static void decoding_fails_cleanly_and_refuses_what_is_no_record(void **state) {
  (void)state;
  static char good[] = "http://x/ y 1.2.3.4 20200101000000 text/plain 2\nab\n";
  assert_int_equal(every_place_fails(decode_one, good), 3);
  /* What no frame was made of is no record. */
  static char bad[][60] = {"", "http://x/\n",
                           "http://x/ 1.2.3.4 20200101000000 text/plain x\nab\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(decode_one(bad[i]), ND_ERR_DATA);
    assert_string_equal(err.message, "this is no ARC record");
  }
}

static void append(nd_buf *b, const char *text) {
  assert_int_equal(nd_buf_append(b, text, strlen(text), &err), ND_OK);
}

static void timed(const char *what, nd_buf *b) {
  clock_t start = clock();
  nd_stream *s;
  assert_int_equal(nd_stream_open_memory(&s, nd_buf_str(b), what, &err), ND_OK);
  nd_input_options o = {.max_document = MAX};
  size_t n = 0;
  uint64_t at = 0;
  for (nd_frame frame; nd_format_arc.frame(&frame, s, &o, &err) == ND_OK; n++) {
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
  for (int i = 0; i < 100000; i++) append(&b, "http://x/ 1.2.3.4 20200101000000 t x\n");
  timed("bad lengths", &b);
  for (int i = 0; i < 100000; i++) append(&b, "http://x/ 1.2.3.4 20200101000000 t 900000\n");
  timed("lengths that are too long", &b);
  for (int i = 0; i < 2000000; i++) append(&b, "h:");
  timed("a line without an end", &b);
  for (int i = 0; i < 50; i++) {
    append(&b, "http:");
    for (int k = 0; k < 33000; k++) append(&b, " 1");
    append(&b, "\n");
  }
  timed("lines of many words", &b);
  for (int i = 0; i < 1000000; i++) append(&b, "h: \n");
  timed("short lines", &b);
}

static void mutated_archives_keep_the_frames_invariants(void **state) {
  (void)state;
  uint64_t seed = tiny_seed();
  clock_t start = clock();
  int runs = 0;
  for (; runs < 20000 && clock() - start < CLOCKS_PER_SEC; runs++) {
    nd_buf b = mutate(str(GOLDEN GOOD), &seed);
    check_any(&nd_archive_arc, &nd_format_arc, nd_buf_str(&b), runs % 3 ? MAX : 120);
    nd_buf_clear(&b);
  }
  print_message("%d mutations\n", runs);
}

static void sniffs_arc_and_nothing_else(void **state) {
  (void)state;
  assert_true(nd_format_arc.sniff(str(GOLDEN)) >= 90);
  assert_true(nd_format_arc.sniff(str(GOOD)) >= 50);
  assert_int_equal(nd_format_arc.sniff(str("http://example.org/ is a page\n")), 0);
  assert_int_equal(nd_format_arc.sniff(str("filedesc:")), 0);
  assert_int_equal(nd_format_arc.sniff(str("")), 0);
  assert_int_equal(nd_format_arc.sniff(str("WARC/1.0\n")), 0);
}

/* Records without the version block, as warcio 1.8.1 counts them; bad.arc and
 * badexample.arc hold records whose lengths or dates are damaged. */
static const fixture known[] = {
    {"1-1-20110922131213-00000-svc-VirtualBox.arc", 101, 0},
    {"IAH-20080430204825-00000-blackbook.arc.gz", 299, 0},
    {"invalid-arcfile-record-then-garbage.arc", 1, 1},
    {"small_BNF.arc", 5, 0},
    {"test-arc-1.0-dashed-fields.arc", 1, 0},
    {"test-arc-1.0-invalid-fields.arc", 1, 1},
    {"bad.arc", 1, 3},
    {"badexample.arc.gz", 2, 3},
    {"example-space-in-url.arc", 1, 0},
    {"example.arc", 1, 0},
    {"example.arc.gz", 1, 0},
};

static void reads_the_known_records_of_real_archives(void **state) {
  (void)state;
  read_fixtures(&nd_format_arc, known, sizeof known / sizeof *known);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_record_of_a_good_archive),
      cmocka_unit_test(test_cut_everywhere),
      cmocka_unit_test(rejects_wrong_lengths_with_their_reason),
      cmocka_unit_test(hostile_archives_take_linear_time),
      cmocka_unit_test(mutated_archives_keep_the_frames_invariants),
      cmocka_unit_test(sniffs_arc_and_nothing_else),
      cmocka_unit_test(reads_the_known_records_of_real_archives),
      cmocka_unit_test(decoding_fails_cleanly_and_refuses_what_is_no_record),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
