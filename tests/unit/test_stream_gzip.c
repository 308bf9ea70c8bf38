/* gzip streams: what comes out against what was packed, every truncation and every bit flip of
 * small files, random damage of larger ones.
 *
 * A pipe cannot be read twice, so there zlib alone unpacks gzip: comparing a
 * pipe with a file compares the two engines. */
#include "stream_tools.h"

static void every_level_and_strategy_unpacks(void **state) {
  (void)state;
  new_seed();
  int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
  for (int level = 0; level <= 9; level += 3) {
    for (size_t i = 0; i < 4; i++) {
      nd_buf plain = i % 2 ? noise(100000 + draw(500000)) : words(100000 + draw(1000000));
      nd_buf packed = {0};
      add_gzip(&packed, plain.p, plain.n, level, strategies[i], NULL);
      unpacks_to(&packed, &plain);
      nd_buf_clear(&plain);
      nd_buf_clear(&packed);
    }
  }
}

static void test_gzip_members(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = {0}, packed = {0};
  for (int i = 0; i < 3000; i++) {
    size_t n = draw(8) == 0 ? 0 : draw(600);
    nd_buf record = words(n);
    add(&plain, record.p, record.n);
    add_gzip(&packed, record.p, record.n, (int)draw(10), Z_DEFAULT_STRATEGY, NULL);
    if (draw(100) == 0) add(&packed, "\0\0\0\0\0", 1 + draw(5)); /* padding between members */
    nd_buf_clear(&record);
  }
  unpacks_to(&packed, &plain);
  /* Short reads: pieces of header and trailer arrive apart. */
  for (size_t n = 5; n <= 11; n += 6) {
    nd_buf got;
    nd_io_short(n);
    ok(unpack(&got, A_FILE, &packed, 1));
    nd_io_short(0);
    assert_true(got.n == plain.n && memcmp(got.p, plain.p, got.n) == 0);
    nd_buf_clear(&got);
  }
  nd_stream *s = open_way(A_FILE, &packed);
  nd_str seen;
  ok(nd_stream_peek(&seen, s, plain.n + 1, &err));
  assert_int_equal(seen.n, plain.n);
  assert_int_equal(nd_stream_members(s), 3000);
  assert_int_equal(nd_stream_packing(s), ND_PACKING_GZIP);
  nd_stream_close(s);

  nd_buf zeros = {0};
  ok(nd_buf_reserve(&zeros, 600000, &err));
  memset(zeros.p, 0, 600000);
  size_t n = packed.n;
  add(&packed, zeros.p, 600000);
  unpacks_to(&packed, &plain);
  packed.n = n;
  const char *junk[] = {"x", "\x1f", "\x1f\x8b", "\x1f\x8c garbage that is long", "\0\0junk"};
  for (size_t i = 0; i < 5; i++) {
    packed.n = n;
    add(&packed, junk[i], i == 4 ? 6 : strlen(junk[i]));
    nd_buf got;
    assert_int_equal(unpack(&got, A_FILE, &packed, 1), ND_ERR_DATA);
    says(i == 1 || i == 2 ? "in the middle of a member's header" : "not a gzip member");
    assert_true(got.n == plain.n && memcmp(got.p, plain.p, got.n) == 0);
    nd_buf_clear(&got);
  }
  nd_buf_clear(&zeros);
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

/* A member with everything a header can have, then a plain one. */
static nd_buf small_gzip(const nd_buf *plain) {
  nd_buf packed = {0};
  gz_header head = {.extra = (Bytef *)(uintptr_t) "extra",
                    .extra_len = 5,
                    .name = (Bytef *)(uintptr_t) "name",
                    .comment = (Bytef *)(uintptr_t) "comment",
                    .hcrc = 1,
                    .os = 3};
  add_gzip(&packed, plain->p, plain->n / 2, 6, Z_DEFAULT_STRATEGY, &head);
  add_gzip(&packed, plain->p + plain->n / 2, plain->n - plain->n / 2, 6, Z_FIXED, NULL);
  return packed;
}

static void test_gzip_truncated(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(500);
  nd_buf packed = small_gzip(&plain);
  unpacks_to(&packed, &plain);
  size_t last = 0, ends = 0;
  for (size_t n = 2; n < packed.n; n++) {
    nd_buf cut = {0};
    add(&cut, packed.p, n);
    size_t whole = last;
    nd_buf got;
    if (unpack(&got, MEMORY, &cut, 1) == ND_OK) { /* cut between the members */
      ends++;
      whole = got.n;
      assert_int_equal(whole, plain.n / 2);
    } else {
      whole = fails_alike(&cut, &plain);
      says("truncated gzip data");
      char place[40];
      snprintf(place, sizeof place, "ends at byte %zu,", n);
      says(place);
      if (n < 32) says("header");
      if (packed.n - n <= 8) {
        says("trailer");
        assert_int_equal(whole, plain.n);
      }
    }
    assert_true(whole >= last); /* more packed bytes never give fewer plain ones */
    last = whole;
    nd_buf_clear(&got);
    nd_buf_clear(&cut);
  }
  assert_int_equal(ends, 1);
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

static void test_gzip_flipped(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(160);
  nd_buf packed = small_gzip(&plain);
  size_t harmless = 0;
  for (size_t bit = 16; bit < packed.n * 8; bit++) {
    packed.p[bit / 8] ^= (char)(1 << bit % 8);
    nd_buf got;
    nd_status status = unpack(&got, A_FILE, &packed, 1);
    if (status == ND_OK) {
      harmless++; /* time, flags and system of the second header */
      assert_true(got.n == plain.n && memcmp(got.p, plain.p, got.n) == 0);
    } else {
      assert_int_equal(status, ND_ERR_DATA);
      fails_alike(&packed, NULL);
    }
    nd_buf_clear(&got);
    packed.p[bit / 8] ^= (char)(1 << bit % 8);
  }
  /* 6 bytes of the second header and its text flag (the first has a checksum), the bits
   * between the end of a body and its trailer, and now and then one in a body: a match that
   * begins elsewhere and copies the same bytes, the length of a code that is not used. */
  assert_in_range(harmless, 48, 49 + 14 + 16);
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

/* Larger files with several blocks, damaged at random places. */
static void test_gzip_random_damage(void **state) {
  (void)state;
  new_seed();
  for (int round = 0; round < 60; round++) {
    nd_buf plain = words(20000 + draw(80000));
    nd_buf packed = {0};
    size_t half = draw(plain.n);
    add_gzip(&packed, plain.p, half, 1 + (int)draw(9), Z_DEFAULT_STRATEGY, NULL);
    add_gzip(&packed, plain.p + half, plain.n - half, 6, Z_DEFAULT_STRATEGY, NULL);
    switch (draw(3)) {
      case 0: packed.p[10 + draw(packed.n - 10)] ^= (char)(1 << draw(8)); break;
      case 1: packed.p[10 + draw(packed.n - 10)] = (char)draw(256); break;
      default: packed.n -= draw(packed.n - 4);
    }
    nd_status status;
    alike(&status, &packed, NULL);
    nd_buf_clear(&plain);
    nd_buf_clear(&packed);
  }
}

static void test_gzip_headers(void **state) {
  (void)state;
  nd_buf plain = {0}, packed = {0};
  add(&plain, "hello", 5);
  add_gzip(&packed, plain.p, plain.n, 6, Z_DEFAULT_STRATEGY, NULL);
  size_t n = packed.n;
  struct {
    size_t place;
    int change;
    const char *words;
  } cases[] = {{2, 7, "unknown compression method"},
               {3, 0x80, "unknown header flags"},
               {n - 1, 1, "the length is wrong"},
               {n - 8, 1, "the checksum is wrong"},
               {10, 6, "damaged gzip data at byte 1"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char old = packed.p[cases[i].place];
    packed.p[cases[i].place] = (char)(old ^ cases[i].change);
    fails_alike(&packed, i >= 4 ? NULL : &plain);
    says(cases[i].words);
    packed.p[cases[i].place] = old;
  }
  /* An endless name in a header that never comes to its data. */
  nd_buf endless = {0};
  add(&endless, "\x1f\x8b\x08\x08\0\0\0\0\0\3", 10);
  for (int i = 0; i < 30000; i++) add(&endless, "name", 4);
  nd_buf got;
  assert_int_equal(unpack(&got, A_FILE, &endless, 1), ND_ERR_DATA);
  says("in the middle of a member's header");
  /* gzip inside gzip is unpacked once. */
  nd_buf twice = {0};
  add_gzip(&twice, packed.p, packed.n, 6, Z_DEFAULT_STRATEGY, NULL);
  unpacks_to(&twice, &packed);
  nd_buf_clear(&endless);
  nd_buf_clear(&twice);
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
  nd_buf_clear(&got);
}
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(every_level_and_strategy_unpacks, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_members, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_truncated, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_flipped, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_random_damage, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_headers, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
