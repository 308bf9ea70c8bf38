/* zstd streams: what comes out against what was packed, every truncation and every bit flip of
 * small files, damaged blocks, windows, dictionaries. */
#include "stream_tools.h"

static void frames_and_skippable_ones_unpack(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = {0}, packed = {0};
  add_skippable(&packed, 0, "user data", 9);
  for (int i = 0; i < 40; i++) {
    nd_buf part = i % 3 ? words(draw(30000)) : noise(draw(100000));
    add(&plain, part.p, part.n);
    add_zstd(&packed, part.p, part.n, i % 4 ? 0 : 10 + i / 4, NULL);
    if (i % 5 == 0) add_skippable(&packed, 1 + i % 15, part.p, part.n / 2);
    nd_buf_clear(&part);
  }
  unpacks_to(&packed, &plain);
  for (size_t n = 7; n <= 1000; n += 300) {
    nd_buf got;
    nd_io_short(n);
    ok(unpack(&got, A_FILE, &packed, 1));
    nd_io_short(0);
    assert_true(got.n == plain.n && memcmp(got.p, plain.p, got.n) == 0);
    nd_buf_clear(&got);
  }
  size_t n = packed.n;
  const char *junk[] = {"junk that is long enough", "\0\0\0\0\0\0\0\0"};
  for (size_t i = 0; i < 2; i++) {
    packed.n = n;
    add(&packed, junk[i], 8);
    nd_buf got;
    assert_int_equal(unpack(&got, A_FILE, &packed, 1), ND_ERR_DATA);
    says("not a zstd frame");
    assert_true(got.n == plain.n && memcmp(got.p, plain.p, got.n) == 0);
    nd_buf_clear(&got);
  }
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

static void test_zstd_truncated(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(600), packed = {0};
  add_zstd(&packed, plain.p, 300, 0, NULL);
  size_t first = packed.n;
  add_skippable(&packed, 3, "0123456789", 10);
  size_t second = packed.n;
  add_zstd(&packed, plain.p + 300, 300, 0, NULL);
  for (size_t n = 4; n < packed.n; n++) {
    nd_buf cut = {0};
    add(&cut, packed.p, n);
    if (n == first || n == second) {
      nd_buf got;
      ok(unpack(&got, A_FILE, &cut, 1));
      assert_int_equal(got.n, 300);
      nd_buf_clear(&got);
    } else {
      size_t good = fails_alike(&cut, &plain);
      says("truncated zstd data: the file ends");
      assert_true(n < first || good >= 300);
      if (packed.n - n <= 4) assert_int_equal(good, 600); /* only the checksum is missing */
    }
    nd_buf_clear(&cut);
  }
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

static void test_zstd_flipped(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(300), packed = {0};
  add_zstd(&packed, plain.p, plain.n, 0, NULL);
  for (size_t bit = 32; bit < packed.n * 8; bit++) {
    packed.p[bit / 8] ^= (char)(1 << bit % 8);
    nd_buf got;
    nd_status status = unpack(&got, MEMORY, &packed, 1);
    if (status == ND_OK) { /* the window size may change unseen */
      assert_true(got.n == plain.n && memcmp(got.p, plain.p, got.n) == 0);
    } else {
      assert_int_equal(status, ND_ERR_DATA);
    }
    nd_buf_clear(&got);
    packed.p[bit / 8] ^= (char)(1 << bit % 8);
  }
  packed.p[packed.n - 1] ^= 1;
  assert_int_equal(fails_alike(&packed, &plain), plain.n);
  says("the checksum is wrong");
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

/* Damage costs its own block only. */
static void test_zstd_block_damage(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = noise(1 << 20), packed = {0};
  add_zstd(&packed, plain.p, plain.n, 0, NULL);
  size_t header = 6; /* magic, descriptor, window */
  for (size_t block = 0; block < 8; block++) {
    size_t place = header + block * ((1 << 17) + 3);
    char old = packed.p[place];
    packed.p[place] = (char)(old | 6); /* the reserved block type */
    nd_buf got;
    assert_int_equal(unpack(&got, A_FILE, &packed, 1), ND_ERR_DATA);
    says("damaged zstd data at byte");
    assert_int_equal(got.n, block << 17);
    assert_true(got.n == 0 || memcmp(got.p, plain.p, got.n) == 0);
    packed.p[place] = old;
    nd_buf_clear(&got);
  }
  nd_buf_clear(&plain);
  nd_buf_clear(&packed);
}

static void test_zstd_window(void **state) {
  (void)state;
  nd_buf plain = {0}, wide = {0}, too_wide = {0};
  add(&plain, "some words of text", 18);
  add_zstd(&wide, plain.p, plain.n, 27, NULL);
  unpacks_to(&wide, &plain);
  add_zstd(&too_wide, plain.p, plain.n, 28, NULL);
  fails_alike(&too_wide, &plain);
  says("--long=27");
  nd_buf_clear(&plain);
  nd_buf_clear(&wide);
  nd_buf_clear(&too_wide);
}

static void test_zstd_dictionary(void **state) {
  (void)state;
  new_seed();
  enum { SAMPLES = 2000 };
  nd_buf samples = {0}, dict = {0}, plain = {0}, body = {0}, packed = {0};
  size_t sizes[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    size_t before = samples.n;
    ok(nd_buf_printf(&samples, &err, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: %llu\r\n",
                     (unsigned long long)draw(1000000)));
    sizes[i] = samples.n - before;
  }
  ok(nd_buf_reserve(&dict, 20000, &err));
  dict.n = ZDICT_trainFromBuffer(dict.p, 20000, samples.p, sizes, SAMPLES);
  assert_false(ZDICT_isError(dict.n));
  for (size_t i = 0, from = 0; i < 50; from += sizes[i++]) {
    add(&plain, samples.p + from, sizes[i]);
    add_zstd(&body, samples.p + from, sizes[i], 0, &dict);
  }
  fails_alike(&body, &plain);
  says("needs a dictionary");
  add_skippable(&packed, 13, dict.p, dict.n);
  add(&packed, body.p, body.n);
  unpacks_to(&packed, &plain);
  packed.n = 0;
  nd_buf small = {0};
  add_zstd(&small, dict.p, dict.n, 0, NULL);
  add_skippable(&packed, 13, small.p, small.n);
  size_t head = packed.n;
  add(&packed, body.p, body.n);
  unpacks_to(&packed, &plain);
  nd_buf cut = {0};
  for (size_t n = 4; n < head; n += 97) {
    cut.n = 0;
    add(&cut, packed.p, n);
    assert_int_equal(fails_alike(&cut, &plain), 0);
    says("truncated zstd data");
  }
  packed.p[head - 2] ^= 1;
  fails_alike(&packed, &plain);
  says("the dictionary is damaged");
  cut.n = 0;
  add(&cut, "\x5d\x2a\x4d\x18\xff\xff\xff\xff....", 12);
  fails_alike(&cut, &plain);
  says("the dictionary is too large");
  /* Something else in a frame of that type is skipped like any other. */
  cut.n = 0;
  add_skippable(&cut, 13, "no dictionary", 13);
  add_zstd(&cut, plain.p, plain.n, 0, NULL);
  unpacks_to(&cut, &plain);
  nd_buf *all[] = {&samples, &dict, &plain, &body, &packed, &small, &cut};
  for (size_t i = 0; i < 7; i++) nd_buf_clear(all[i]);
}
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(frames_and_skippable_ones_unpack, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_truncated, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_flipped, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_block_damage, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_window, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_dictionary, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
