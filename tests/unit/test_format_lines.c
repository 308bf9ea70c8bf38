/* Framing by line, and the formats lines, sets and text, against a naive split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "input/format.h"

static uint64_t seed = 977;

static uint32_t any(uint32_t below) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (uint32_t)(seed >> 32) % below;
}

static nd_stream *open_bytes(nd_str bytes) {
  nd_stream *s = NULL;
  assert_int_equal(nd_stream_open_memory(&s, bytes, "bytes", NULL), ND_OK);
  return s;
}

/* Frames of `text`, as lines "KIND offset length raw". */
static void list(nd_buf *out, const nd_format *format, nd_str text, uint64_t max) {
  nd_stream *s = open_bytes(text);
  nd_input_options o = {.max_document = max};
  uint64_t at = 0;
  out->n = 0;
  for (;;) {
    nd_frame f;
    nd_error err = {0};
    assert_int_equal(format->frame(&f, s, &o, &err), ND_OK);
    assert_int_equal(f.offset, at);
    if (f.kind == ND_FRAME_END) break;
    assert_true(f.length > 0);
    at += f.length;
    assert_int_equal(nd_stream_offset(s), at);
    assert_int_equal(nd_buf_printf(out, NULL, "%c%llu+%llu ", "EDOR"[f.kind],
                                   (unsigned long long)f.offset, (unsigned long long)f.length),
                     ND_OK);
    if (f.kind == ND_FRAME_DOCUMENT) {
      assert_int_equal(nd_buf_append(out, f.raw.p, f.raw.n, NULL), ND_OK);
    } else if (f.kind == ND_FRAME_REJECT) {
      assert_int_equal(err.status, ND_ERR_LIMIT);
      assert_non_null(strstr(err.message, "longer than --max-document"));
    }
    assert_int_equal(nd_buf_append(out, "|", 1, NULL), ND_OK);
  }
  assert_int_equal(at, text.n);
  nd_stream_close(s);
}

static void expect(const nd_format *format, const char *text, uint64_t max, const char *frames) {
  nd_buf got = {0};
  list(&got, format, nd_str_of(text), max);
  if (!nd_str_eq(nd_buf_str(&got), nd_str_of(frames)))
    fail_msg("got %.*s, not %s", (int)got.n, got.p, frames);
  nd_buf_clear(&got);
}

static void lines_are_framed_with_their_ends(void **state) {
  (void)state;
  const nd_format *l = &nd_format_lines;
  expect(l, "", 9, "");
  expect(l, "a", 9, "D0+1 a|");
  expect(l, "a\nb\r\n\nc d", 9, "D0+2 a|D2+3 b|D5+1 |D6+3 c d|");
  expect(l, "\r\r\n \n", 9, "D0+3 \r|D3+2  |");
  expect(l, "123\r\n1234\n12345\n1", 3, "D0+5 123|R5+5 |R10+6 |D16+1 1|");
  expect(l, "1234\r", 4, "D0+5 1234|");
  expect(&nd_format_jsonl, "\n{}\n \t\r\n{}\r\n", 9, "O0+1 |D1+3 {}|O4+4 |D8+4 {}|");
  expect(&nd_format_sets, "1 2\n\n3", 9, "D0+4 1 2|O4+1 |D5+1 3|");
}

static void text_file_is_one_record_within_the_limit(void **state) {
  (void)state;
  expect(&nd_format_text, "", 9, "");
  expect(&nd_format_text, "a\nb\r\n", 9, "D0+5 a\nb\r\n|");
  expect(&nd_format_text, "123456789", 9, "D0+9 123456789|");
  expect(&nd_format_text, "1234567890", 9, "R0+10 |");
}

/* Long lines and texts around the limit, NUL bytes in them. */
static void random_lines_agree_with_a_naive_split(void **state) {
  (void)state;
  print_message("seed %llu\n", (unsigned long long)seed);
  nd_buf text = {0}, want = {0}, got = {0};
  for (int round = 0; round < 150; round++) {
    text.n = want.n = 0;
    uint64_t max = any(2) ? any(100) : any(300000);
    uint32_t lines = any(30);
    int blank = (int)any(2);
    for (uint32_t i = 0; i < lines; i++) {
      size_t start = text.n;
      uint32_t n = any(4) ? any(200) : any(3) ? (uint32_t)max + any(3) : any(400000);
      if (any(8) == 0) n = 0;
      assert_int_equal(nd_buf_reserve(&text, n + 2, NULL), ND_OK);
      memset(text.p + text.n, "ab \0"[any(4)], n);
      size_t line = n;
      bool spaces = n == 0 || text.p[start] == ' ';
      text.n += n;
      if (any(3) == 0) text.p[text.n++] = '\r';
      if (i + 1 < lines || any(2) || text.n == start) text.p[text.n++] = '\n';
      char kind = line > max ? 'R' : blank && spaces ? 'O' : 'D';
      assert_int_equal(nd_buf_printf(&want, NULL, "%c%zu+%zu ", kind, start, text.n - start),
                       ND_OK);
      if (kind == 'D') assert_int_equal(nd_buf_append(&want, text.p + start, line, NULL), ND_OK);
      assert_int_equal(nd_buf_append(&want, "|", 1, NULL), ND_OK);
    }
    list(&got, blank ? &nd_format_sets : &nd_format_lines, nd_buf_str(&text), max);
    assert_true(nd_str_eq(nd_buf_str(&got), nd_buf_str(&want)));

    want.n = 0;
    if (text.n) {
      assert_int_equal(nd_buf_printf(&want, NULL, "%c0+%zu ", text.n > max ? 'R' : 'D', text.n),
                       ND_OK);
      if (text.n <= max) assert_int_equal(nd_buf_append(&want, text.p, text.n, NULL), ND_OK);
      assert_int_equal(nd_buf_append(&want, "|", 1, NULL), ND_OK);
    }
    list(&got, &nd_format_text, nd_buf_str(&text), max);
    assert_true(nd_str_eq(nd_buf_str(&got), nd_buf_str(&want)));
  }
  nd_buf_clear(&text);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
}

/* A gzip file that breaks off: whole lines come first, then the failure, whose
 * frame spans the good bytes that are left. */
static void whole_lines_precede_a_truncation(void **state) {
  (void)state;
  nd_buf text = {0};
  for (int i = 0; i < 5000; i++)
    assert_int_equal(nd_buf_printf(&text, NULL, "line %d %u\n", i, any(1000000)), ND_OK);
  unsigned char *packed = malloc(text.n + 1000);
  assert_non_null(packed);
  z_stream z = {.next_in = (Bytef *)text.p,
                .avail_in = (uInt)text.n,
                .next_out = packed,
                .avail_out = (uInt)text.n + 1000};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  size_t cut = z.total_out / 2;
  deflateEnd(&z);

  nd_input_options o = {.max_document = 1000};
  for (int which = 0; which < 3; which++) {
    const nd_format *format = which == 0   ? &nd_format_lines
                              : which == 1 ? &nd_format_text
                                           : &nd_format_trec;
    nd_stream *s = open_bytes((nd_str){(char *)packed, cut});
    nd_status status;
    nd_frame f;
    nd_error err = {0};
    uint64_t at = 0;
    int lines = 0;
    while ((status = format->frame(&f, s, &o, &err)) == ND_OK) {
      assert_int_not_equal(f.kind, ND_FRAME_END);
      assert_int_equal(f.offset, at);
      at += f.length;
      if (f.kind == ND_FRAME_DOCUMENT) {
        assert_memory_equal(f.raw.p, text.p + f.offset, f.raw.n);
        lines++;
      }
    }
    assert_int_equal(status, ND_ERR_DATA);
    assert_true(err.message[0] != 0);
    assert_int_equal(f.offset, at);
    assert_true(which ? lines == 0 : f.length < 20 && lines > 1000);
    if (which == 1) assert_true(f.length > 0); /* the text; trec has passed over it before */
    assert_int_equal(nd_stream_offset(s), f.offset + f.length);
    assert_int_equal(format->frame(&f, s, &o, &err), ND_ERR_DATA);
    nd_stream_close(s);
  }
  free(packed);
  nd_buf_clear(&text);
}

/* The same in a line and in a text that are too long anyway: what follows is not known. */
static void test_truncated_long(void **state) {
  (void)state;
  enum { LONG = 3 << 20 };
  char *text = malloc(LONG);
  unsigned char *packed = malloc(LONG);
  assert_true(text && packed);
  for (size_t i = 0; i < LONG; i++) text[i] = "0123456789abcdef"[any(16)];
  z_stream z = {.next_in = (Bytef *)text, .avail_in = LONG, .next_out = packed, .avail_out = LONG};
  assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  size_t cut = z.total_out / 2;
  deflateEnd(&z);
  nd_input_options o = {.max_document = 1000};
  for (int which = 0; which < 2; which++) {
    nd_stream *s = open_bytes((nd_str){(char *)packed, cut});
    nd_frame f;
    nd_error err = {0};
    const nd_format *format = which ? &nd_format_text : &nd_format_lines;
    assert_int_equal(format->frame(&f, s, &o, &err), ND_ERR_DATA);
    assert_non_null(strstr(err.message, "truncated"));
    assert_true(f.offset == 0 && f.length > 1 << 20);
    assert_int_equal(nd_stream_offset(s), f.length);
    nd_stream_close(s);
  }
  free(packed);
  free(text);
}

static void decoding_borrows_the_bytes(void **state) {
  (void)state;
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 100};
  nd_document doc;
  nd_str raw = nd_str_of("  some text ");
  assert_int_equal(nd_format_lines.decode(&doc, &d, raw, &o, NULL), ND_OK);
  assert_int_equal(doc.kind, ND_KIND_TEXT);
  assert_true(doc.body.p == raw.p && doc.body.n == raw.n && doc.id.n == 0);
  assert_int_equal(nd_format_text.decode(&doc, &d, raw, &o, NULL), ND_OK);
  assert_int_equal(doc.kind, ND_KIND_SNIFF);
  assert_true(doc.body.p == raw.p && doc.charset.n == 0);
  nd_decoder_clear(&d);
}

static void sets_take_64_bit_integers_only(void **state) {
  (void)state;
  static const struct {
    const char *line, *bad;
  } cases[] = {
      {"1 2 3", NULL},
      {"", NULL},
      {" 7\t8  ", NULL},
      {"18446744073709551615 000000000000000000000000001", NULL},
      {"18446744073709551616", "\"18446744073709551616\""},
      {"1 -2", "\"-2\""},
      {"1 2x 3", "\"2x\""},
      {"1.5", "\"1.5\""},
      {"99999999999999999999 1", "\"99999999999999999999\""},
      {"1 abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
       "\"abcdefghijklmnopqrstuvwxyzabcdefghijklmn\"..."},
  };
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 100};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd_document doc;
    nd_error err = {0};
    nd_str raw = nd_str_of(cases[i].line);
    nd_status status = nd_format_sets.decode(&doc, &d, raw, &o, &err);
    assert_int_equal(status, cases[i].bad ? ND_ERR_DATA : ND_OK);
    if (cases[i].bad) {
      assert_non_null(strstr(err.message, cases[i].bad));
    } else {
      assert_int_equal(doc.kind, ND_KIND_SETS);
      assert_true(doc.body.p == raw.p && doc.body.n == raw.n);
    }
  }
  nd_decoder_clear(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_framed_with_their_ends),
      cmocka_unit_test(text_file_is_one_record_within_the_limit),
      cmocka_unit_test(random_lines_agree_with_a_naive_split),
      cmocka_unit_test(whole_lines_precede_a_truncation),
      cmocka_unit_test(decoding_borrows_the_bytes),
      cmocka_unit_test(sets_take_64_bit_integers_only),
      cmocka_unit_test(test_truncated_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
