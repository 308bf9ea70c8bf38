/* The allocator's door, the byte buffer and the growing array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tools.h"

static int clear_hooks(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  return 0;
}

static void fails_the_nth(void **state) {
  (void)state;
  nd_mem_fail_at(3);
  void *a = nd_malloc(10), *b = nd_calloc(2, 5);
  assert_non_null(a);
  assert_non_null(b);
  void *same = nd_realloc(a, 20);
  assert_null(same); /* the third; a stays valid */
  memset(a, 1, 10);
  a = nd_realloc(a, 20);
  assert_non_null(a);
  assert_int_equal(nd_mem_count(), 4);
  nd_mem_fail_at(0);
  assert_non_null(b);
  nd_free(a);
  nd_free(b);
  nd_free(NULL);
  assert_int_equal(nd_mem_count(), 0);
}

static void zero_bytes_are_no_failure(void **state) {
  (void)state;
  void *p = nd_malloc(0), *q = nd_calloc(0, 8), *r = nd_realloc(NULL, 0), *t = nd_calloc(8, 0);
  assert_non_null(t);
  nd_free(t);
  assert_non_null(p);
  assert_non_null(q);
  assert_non_null(r);
  r = nd_realloc(r, 0);
  assert_non_null(r);
  nd_free(p);
  nd_free(q);
  nd_free(r);
}

static void buffer_holds_what_was_appended(void **state) {
  (void)state;
  nd_rng rng = {11};
  nd_buf b = {0};
  char *naive = malloc(200000);
  size_t n = 0;
  for (int i = 0; i < 2000; i++) {
    char piece[100];
    size_t m = (size_t)nd_rng_below(&rng, sizeof piece);
    for (size_t j = 0; j < m; j++) piece[j] = (char)nd_rng_next(&rng);
    ok(nd_buf_append(&b, piece, m, &err));
    memcpy(naive + n, piece, m);
    n += m;
    assert_int_equal(b.n, n);
    assert_true(b.cap >= b.n);
    /* the slack is readable; the sanitizer looks */
    volatile char sum = 0;
    for (int j = 0; j < ND_SLACK; j++) sum = (char)(sum + b.p[b.cap + (size_t)j]);
  }
  assert_memory_equal(b.p, naive, n);
  nd_buf_clear(&b);
  assert_null(b.p);
  assert_int_equal(b.n, 0);
  ok(nd_buf_append(&b, "again", 5, &err));
  assert_true(nd_str_eq(nd_buf_str(&b), nd_str_of("again")));
  nd_buf_clear(&b);
  free(naive);
}

static void reserve_gives_a_pointer_even_for_nothing(void **state) {
  (void)state;
  nd_buf b = {0};
  ok(nd_buf_reserve(&b, 0, &err));
  assert_non_null(b.p);
  ok(nd_buf_append(&b, NULL, 0, &err));
  assert_int_equal(b.n, 0);
  nd_buf_clear(&b);
}

static void reserve_refuses_absurd_sizes(void **state) {
  (void)state;
  nd_buf b = {0};
  ok(nd_buf_append(&b, "abc", 3, &err));
  assert_int_equal(nd_buf_reserve(&b, SIZE_MAX, &err), ND_ERR_MEMORY);
  assert_int_equal(nd_buf_reserve(&b, SIZE_MAX - 3, &err), ND_ERR_MEMORY);
  assert_int_equal(nd_buf_reserve(&b, SIZE_MAX / 2, NULL), ND_ERR_MEMORY);
  assert_int_equal(b.n, 3);
  assert_memory_equal(b.p, "abc", 3);
  nd_buf_clear(&b);
}

static void a_failed_reserve_leaves_the_buffer(void **state) {
  (void)state;
  nd_buf b = {0};
  ok(nd_buf_append(&b, "abc", 3, &err));
  nd_mem_fail_at(1);
  assert_int_equal(nd_buf_reserve(&b, 100000, &err), ND_ERR_MEMORY);
  assert_non_null(strstr(err.message, "memory"));
  nd_mem_fail_at(0);
  assert_memory_equal(b.p, "abc", 3);
  ok(nd_buf_append(&b, "def", 3, &err));
  assert_true(nd_str_eq(nd_buf_str(&b), nd_str_of("abcdef")));
  nd_buf_clear(&b);
}

static void prints_like_snprintf(void **state) {
  (void)state;
  nd_buf b = {0};
  char naive[9000] = "";
  size_t n = 0;
  for (int i = 0; i < 300; i++) {
    ok(nd_buf_printf(&b, &err, "%d:%s:%5.2f|", i, i % 7 ? "word" : "", i / 3.0));
    n += (size_t)snprintf(naive + n, sizeof naive - n, "%d:%s:%5.2f|", i, i % 7 ? "word" : "",
                          i / 3.0);
  }
  assert_int_equal(b.n, n);
  assert_memory_equal(b.p, naive, n);
  /* A letter that the C locale has no bytes for. */
  assert_int_equal(nd_buf_printf(&b, &err, "%ls", L"\u0416"), ND_ERR_IO);
  assert_non_null(strstr(err.message, "formatted"));
  assert_int_equal(b.n, n);
  nd_buf_clear(&b);
}

static void array_grows_and_keeps(void **state) {
  (void)state;
  uint32_t *a = NULL;
  size_t cap = 0;
  for (uint32_t i = 0; i < 50000; i++) {
    ok(nd_array_grow(&a, &cap, i + 1, sizeof *a, &err));
    assert_true(cap > i);
    a[i] = i * 7;
  }
  for (uint32_t i = 0; i < 50000; i++) assert_int_equal(a[i], i * 7);
  size_t old = cap;
  assert_int_equal(nd_array_grow(&a, &cap, SIZE_MAX / 2, sizeof *a, &err), ND_ERR_MEMORY);
  assert_int_equal(cap, old);
  nd_mem_fail_at(1);
  assert_int_equal(nd_array_grow(&a, &cap, cap + 1, sizeof *a, &err), ND_ERR_MEMORY);
  assert_int_equal(cap, old);
  assert_int_equal(a[49999], 49999u * 7);
  nd_mem_fail_at(0);
  nd_free(a);
}

static void strings_compare(void **state) {
  (void)state;
  assert_true(nd_str_eq((nd_str){NULL, 0}, (nd_str){"x", 0}));
  assert_true(nd_str_eq(nd_str_of("ab"), (nd_str){"abc", 2}));
  assert_false(nd_str_eq(nd_str_of("ab"), nd_str_of("ac")));
  assert_false(nd_str_eq(nd_str_of("ab"), nd_str_of("abc")));
}

static void messages_are_cut_and_clean(void **state) {
  (void)state;
  char giant[5000];
  memset(giant, 'x', sizeof giant - 1);
  giant[sizeof giant - 1] = '\0';
  assert_int_equal(nd_fail(&err, ND_ERR_DATA, "%s", giant), ND_ERR_DATA);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  assert_int_equal(nd_fail(&err, ND_ERR_IO, "a\033[31mb\nc\x7f d\xc3\xa4"), ND_ERR_IO);
  assert_string_equal(err.message, "a?[31mb?c? d\xc3\xa4");
  assert_int_equal(err.status, ND_ERR_IO);
  assert_int_equal(nd_fail(NULL, ND_ERR_STATE, "nobody reads this %d", 1), ND_ERR_STATE);
  for (int s = ND_OK; s <= ND_ERR_CANCELLED; s++)
    assert_string_not_equal(nd_status_name((nd_status)s), "unknown");
}

/* Of a message that is too long the middle goes, for the end says what to do; no character is cut.
 */
static void long_messages_keep_their_end(void **state) {
  (void)state;
  static char name[20000];
  nd_error e;
  for (size_t n = 900; n < 1100; n++) {
    for (size_t i = 0; i + 2 <= n; i += 2) memcpy(name + i, "\xc3\xa4", 3);
    nd_fail(&e, ND_ERR_IO, "x%s cannot %s: reason; remedy", n % 2 ? "x" : "", name);
    size_t length = strlen(e.message);
    assert_true(length < sizeof e.message && length > 880);
    assert_string_equal(e.message + length - 16, ": reason; remedy");
    for (const char *c = e.message; *c; c++) {
      bool first = (unsigned char)*c == 0xc3;
      assert_true(!first || (unsigned char)c[1] == 0xa4);
      assert_true((unsigned char)*c != 0xa4 || (c > e.message && (unsigned char)c[-1] == 0xc3));
    }
  }
  memset(name, 'n', sizeof name - 1); /* no path is that long */
  nd_fail(&e, ND_ERR_IO, "cannot %s: reason", name);
  assert_true(strlen(e.message) == sizeof e.message - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(fails_the_nth, clear_hooks),
      cmocka_unit_test(zero_bytes_are_no_failure),
      cmocka_unit_test(buffer_holds_what_was_appended),
      cmocka_unit_test(reserve_gives_a_pointer_even_for_nothing),
      cmocka_unit_test(reserve_refuses_absurd_sizes),
      cmocka_unit_test_teardown(a_failed_reserve_leaves_the_buffer, clear_hooks),
      cmocka_unit_test(prints_like_snprintf),
      cmocka_unit_test_teardown(array_grows_and_keeps, clear_hooks),
      cmocka_unit_test(strings_compare),
      cmocka_unit_test(messages_are_cut_and_clean),
      cmocka_unit_test(long_messages_keep_their_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
