/* Streams that go on behind damage: every member damaged in turn and at
 * random; the same bytes at the same offsets however the file is read; bytes
 * made to be searched for ever; failing calls. */
#include "stream_tools.h"

/* ---- a file of members ---- */

enum { MOST = 64 };

typedef struct packed {
  nd_packing packing;
  size_t n;
  nd_buf bytes, plain;
  size_t at[MOST + 1], plain_at[MOST + 1]; /* where members begin, packed and not */
} packed;

static void packed_clear(packed *p) {
  nd_buf_clear(&p->bytes);
  nd_buf_clear(&p->plain);
}

static void add_words(nd_buf *b, size_t n) {
  for (size_t end = b->n + n; b->n < end;) {
    ok(nd_buf_printf(b, &err, "%llx%c", (unsigned long long)draw(50000), draw(12) ? ' ' : '\n'));
    if (b->n > end) b->n = end;
  }
}

static void pack_gzip(nd_buf *out, const char *p, size_t n, int level) {
  add_gzip(out, p, n, level, Z_DEFAULT_STRATEGY, NULL);
}

static void pack_zstd(nd_buf *out, const char *p, size_t n, int level) {
  ZSTD_CCtx *c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
  size_t bound = ZSTD_compressBound(n) + 100;
  ok(nd_buf_reserve(out, bound, &err));
  size_t got = ZSTD_compress2(c, out->p + out->n, bound, p, n);
  assert_false(ZSTD_isError(got));
  out->n += got;
  ZSTD_freeCCtx(c);
}

static packed make(nd_packing packing, size_t members, size_t least, size_t most) {
  packed p = {.packing = packing, .n = members};
  for (size_t i = 0; i < members; i++) {
    p.at[i] = p.bytes.n;
    p.plain_at[i] = p.plain.n;
    ok(nd_buf_printf(&p.plain, &err, "<member %zu>\n", i));
    add_words(&p.plain, least + draw(most - least + 1));
    const char *from = p.plain.p + p.plain_at[i];
    size_t n = p.plain.n - p.plain_at[i];
    int level = 1 + (int)draw(9);
    if (packing == ND_PACKING_GZIP)
      pack_gzip(&p.bytes, from, n, level);
    else
      pack_zstd(&p.bytes, from, n, level);
  }
  p.at[members] = p.bytes.n;
  p.plain_at[members] = p.plain.n;
  return p;
}

/* ---- reading with recovery ---- */

typedef struct reading {
  nd_buf bytes;
  nd_status end;
  size_t gaps;
  uint64_t gap_sum; /* over the offsets of the gaps */
} reading;

/* Reads everything in steps of `want`. */
static reading read_on(nd_stream *s, size_t want, bool keep) {
  reading r = {0};
  uint64_t total = 0;
  for (;;) {
    nd_str seen;
    bool found;
    r.end = nd_stream_peek(&seen, s, want, &err);
    if (keep) add(&r.bytes, seen.p, seen.n);
    nd_stream_skip(s, seen.n);
    total += seen.n;
    assert_int_equal(nd_stream_offset(s), total);
    if (r.end == ND_OK && seen.n) continue;
    if (r.end != ND_ERR_DATA) break;
    nd_error first = err;
    ok(nd_stream_recover(&found, s, &err));
    assert_int_equal(nd_stream_offset(s), total);
    if (!found) { /* and it stays so */
      assert_int_equal(nd_stream_peek(&seen, s, 1, &err), ND_ERR_DATA);
      assert_int_equal(seen.n, 0);
      assert_string_equal(err.message, first.message);
      ok(nd_stream_recover(&found, s, &err));
      assert_false(found);
      break;
    }
    r.gaps++;
    r.gap_sum += r.gaps * total;
  }
  nd_stream_close(s);
  return r;
}

static void same(const reading *a, const reading *b) {
  assert_int_equal(a->end, b->end);
  assert_int_equal(a->gaps, b->gaps);
  assert_int_equal(a->gap_sum, b->gap_sum);
  assert_int_equal(a->bytes.n, b->bytes.n);
  assert_true(a->bytes.n == 0 || memcmp(a->bytes.p, b->bytes.p, a->bytes.n) == 0);
}

/* In several ways, which must agree; the caller clears. */
static reading read_ways(const nd_buf *b, bool bytewise) {
  reading first = read_on(open_way(MEMORY, b), 1, true);
  static const size_t wants[] = {1, 1000, 100000, 700000};
  for (size_t i = 0; i < 4 + (size_t)bytewise; i++) {
    if (i == 4) nd_io_short(1);
    reading other = read_on(open_way(A_FILE, b), wants[i % 4], true);
    nd_io_short(0);
    same(&first, &other);
    nd_buf_clear(&other.bytes);
  }
  return first;
}

static void begins_with(const reading *r, const char *p, size_t n) {
  assert_true(r->bytes.n >= n);
  assert_true(n == 0 || memcmp(r->bytes.p, p, n) == 0);
}

static void ends_with(const reading *r, const char *p, size_t n) {
  assert_true(r->bytes.n >= n);
  assert_true(n == 0 || memcmp(r->bytes.p + r->bytes.n - n, p, n) == 0);
}

/* ---- one member damaged ---- */

static void damage_each(nd_packing packing, size_t least, size_t most) {
  packed p = make(packing, 20, least, most);
  size_t tail = packing == ND_PACKING_GZIP ? 8 : 4, unseen = 0;
  for (size_t i = 0; i < p.n; i++) {
    size_t begin = p.at[i], end = p.at[i + 1];
    size_t places[] = {
        begin + 1,         begin + 3,      begin + 10, begin + 10 + draw(end - begin - 10 - tail),
        (begin + end) / 2, end - tail - 1, end - tail, end - 1};
    for (size_t j = 0; j < sizeof places / sizeof *places; j++) {
      if (i == 0 && j < 2 && packing == ND_PACKING_ZSTD) continue; /* that is no zstd file */
      if (i == 0 && j < 1) continue;
      char old = p.bytes.p[places[j]];
      p.bytes.p[places[j]] ^= (char)(j == 1 ? 0xe0 : j == 4 ? 0xff : 1 << draw(8));
      reading r = read_ways(&p.bytes, i == 7);
      begins_with(&r, p.plain.p, p.plain_at[i]);
      ends_with(&r, p.plain.p + p.plain_at[i + 1], p.plain.n - p.plain_at[i + 1]);
      if (r.gaps == 0 && r.end == ND_OK) {
        unseen++; /* an unused bit */
        assert_int_equal(r.bytes.n, p.plain.n);
      } else {
        assert_int_equal(r.end, i == 19 ? ND_ERR_DATA : ND_OK);
        assert_int_equal(r.gaps, i == 19 ? 0 : 1);
      }
      /* A wrong checksum costs no bytes. */
      if (j >= 6) assert_int_equal(r.bytes.n, p.plain.n);
      /* A pipe cannot go back, but it comes to its end. */
      if (j % 3 == 0) {
        reading other = read_on(open_way(PIPE, &p.bytes), 1, true);
        begins_with(&other, p.plain.p, p.plain_at[i]);
        nd_buf_clear(&other.bytes);
      }
      p.bytes.p[places[j]] = old;
      nd_buf_clear(&r.bytes);
    }
  }
  print_message("%zu changes without effect\n", unseen);
  assert_true(unseen < 80);
  packed_clear(&p);
}

static void test_gzip_each(void **state) {
  (void)state;
  new_seed();
  damage_each(ND_PACKING_GZIP, 100, 3000);
  damage_each(ND_PACKING_GZIP, 5, 40);
}

static void test_zstd_each(void **state) {
  (void)state;
  new_seed();
  damage_each(ND_PACKING_ZSTD, 100, 3000);
}

/* ---- many members damaged ---- */

static void undamaged_members_are_all_found(void **state) {
  (void)state;
  new_seed();
  size_t lost = 0, whole = 0;
  for (int round = 0; round < 20; round++) {
    nd_packing packing = round % 2 ? ND_PACKING_ZSTD : ND_PACKING_GZIP;
    packed p = make(packing, 10 + draw(30), 300, round % 5 ? 4000 : 90000);
    bool hit[MOST] = {false};
    for (uint64_t changes = 1 + draw(8); changes; changes--) {
      size_t i = draw(p.n), size = p.at[i + 1] - p.at[i];
      size_t n = 1 + draw(draw(2) ? 1 : size / 2), place = p.at[i] + 4 + draw(size - 4);
      for (; n && place < p.at[i + 1]; n--, place++) p.bytes.p[place] = (char)draw(256);
      hit[i] = true;
    }
    reading r = read_ways(&p.bytes, round % 10 == 0);
    size_t at = 0;
    for (size_t i = 0; i < p.n; i++) {
      if (hit[i]) {
        lost++;
        continue;
      }
      const char *from = p.plain.p + p.plain_at[i];
      size_t n = p.plain_at[i + 1] - p.plain_at[i];
      const char *seen = memmem(r.bytes.p + at, r.bytes.n - at, from, n);
      if (!seen) fail_msg("round %d: member %zu of %zu is lost", round, i, p.n);
      at = (size_t)(seen - r.bytes.p) + n;
      whole++;
    }
    packed_clear(&p);
    nd_buf_clear(&r.bytes);
  }
  print_message("%zu members damaged, %zu whole\n", lost, whole);
}

/* Members of many blocks and larger than the window: where the good bytes end must not depend on
 * how much is asked for at once. */
static void test_same_offsets(void **state) {
  (void)state;
  new_seed();
  size_t gaps = 0;
  for (int round = 0; round < 9; round++) {
    packed p = make(round % 3 ? ND_PACKING_GZIP : ND_PACKING_ZSTD, 3, 150000, 600000);
    for (int i = 0; i < 3; i++) {
      size_t place = 4 + draw(p.bytes.n - 4);
      if (draw(2))
        p.bytes.p[place] ^= (char)(1 << draw(8));
      else
        memset(p.bytes.p + place, (int)draw(256), draw(p.bytes.n - place < 9 ? 1 : 9));
    }
    reading r = read_ways(&p.bytes, false);
    gaps += r.gaps;
    nd_buf_clear(&r.bytes);
    packed_clear(&p);
  }
  assert_true(gaps > 0);
}

/* ---- nothing to go on with ---- */

static void test_no_more(void **state) {
  (void)state;
  new_seed();
  for (int kind = 0; kind < 2; kind++) {
    packed p = make(kind ? ND_PACKING_ZSTD : ND_PACKING_GZIP, 3, 500, 1000);
    size_t n = p.bytes.n;
    nd_buf b = {0};
    for (int i = 0; i < 3; i++) {
      b.n = 0;
      add(&b, p.bytes.p, i == 0 ? n : i == 1 ? n - 3 : p.at[2] + 60);
      if (i == 0) add(&b, "garbage that is no member at all, \x1f\x8b\x08 \x28\xb5\x2f\xfd", 42);
      reading r = read_ways(&b, true);
      assert_int_equal(r.end, ND_ERR_DATA);
      assert_int_equal(r.gaps, 0);
      begins_with(&r, p.plain.p, i < 2 ? p.plain.n : p.plain_at[2]);
      nd_buf_clear(&r.bytes);
    }
    /* Garbage between members, and zeros of padding, cost nothing but themselves. */
    b.n = 0;
    add(&b, p.bytes.p, p.at[1]);
    add(&b, "some garbage \x1f\x8b\x08\0 here \0\0\0", 26);
    add(&b, p.bytes.p + p.at[1], n - p.at[1]);
    reading r = read_ways(&b, true);
    assert_int_equal(r.end, ND_OK);
    assert_int_equal(r.gaps, 1);
    assert_int_equal(r.bytes.n, p.plain.n);
    begins_with(&r, p.plain.p, p.plain.n);
    nd_buf_clear(&r.bytes);
    /* Without damage there is nothing to recover from. */
    nd_stream *s = open_way(MEMORY, kind ? &p.plain : &p.bytes);
    nd_str seen;
    bool found = true;
    ok(nd_stream_peek(&seen, s, 10, &err));
    ok(nd_stream_recover(&found, s, &err));
    assert_false(found);
    assert_int_equal(nd_stream_offset(s), 0);
    nd_stream_close(s);
    nd_buf_clear(&b);
    packed_clear(&p);
  }
}

/* What is still visible is passed over: bytes from both sides never meet. */
static void what_was_visible_is_skipped(void **state) {
  (void)state;
  new_seed();
  packed p = make(ND_PACKING_GZIP, 3, 500, 1000);
  p.bytes.p[p.at[1] + 1] ^= 1;
  nd_stream *s = open_way(MEMORY, &p.bytes);
  nd_str seen;
  bool found;
  assert_int_equal(nd_stream_peek(&seen, s, p.plain.n, &err), ND_ERR_DATA);
  assert_int_equal(seen.n, p.plain_at[1]);
  nd_stream_skip(s, 100);
  ok(nd_stream_recover(&found, s, &err));
  assert_true(found);
  assert_int_equal(nd_stream_offset(s), p.plain_at[1]);
  ok(nd_stream_peek(&seen, s, 10, &err));
  assert_memory_equal(seen.p, "<member 2>", 10);
  nd_stream_close(s);
  packed_clear(&p);
}

/* A packed file inside a member whose checksum is wrong is not taken for the next member. */
static void inner_member_is_not_taken_for_the_next(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    nd_buf inner = {0}, b = {0};
    void (*pack)(nd_buf *, const char *, size_t, int) = kind ? pack_zstd : pack_gzip;
    pack(&inner, "inner", 5, 6);
    pack(&b, inner.p, inner.n, 0);
    b.p[b.n - (kind ? 1 : 5)] ^= 1;
    reading r = read_ways(&b, true);
    assert_int_equal(r.gaps, 0);
    assert_int_equal(r.bytes.n, inner.n);
    nd_buf_clear(&r.bytes);
    pack(&b, "next", 4, 6);
    r = read_ways(&b, true);
    assert_int_equal(r.gaps, 1);
    assert_int_equal(r.end, ND_OK);
    assert_int_equal(r.bytes.n, inner.n + 4);
    ends_with(&r, "next", 4);
    nd_buf_clear(&r.bytes);
    nd_buf_clear(&inner);
    nd_buf_clear(&b);
  }
}

/* A dictionary in front serves the frames behind the damage, too; without it nothing can be read.
 */
static void dictionary_serves_frames_behind_damage(void **state) {
  (void)state;
  new_seed();
  enum { SAMPLES = 1000, FRAMES = 9 };
  nd_buf samples = {0}, dict = {0}, b = {0}, plain = {0};
  size_t sizes[SAMPLES], at[FRAMES + 1], plain_at[FRAMES + 1];
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t before = samples.n;
    ok(nd_buf_printf(&samples, &err, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: "));
    add_words(&samples, 40 + draw(60));
    sizes[i] = samples.n - before;
  }
  ok(nd_buf_reserve(&dict, 20000, &err));
  dict.n = ZDICT_trainFromBuffer(dict.p, 20000, samples.p, sizes, SAMPLES);
  assert_false(ZDICT_isError(dict.n));
  const unsigned char head[8] = {
      0x5d, 0x2a, 0x4d, 0x18, (unsigned char)dict.n, (unsigned char)(dict.n >> 8)};
  add(&b, head, 8);
  add(&b, dict.p, dict.n);
  ZSTD_CCtx *c = ZSTD_createCCtx();
  ZSTD_CCtx_loadDictionary(c, dict.p, dict.n);
  for (size_t i = 0, from = 0; i < FRAMES; from += sizes[i++]) {
    at[i] = b.n;
    plain_at[i] = plain.n;
    add(&plain, samples.p + from, sizes[i]);
    ok(nd_buf_reserve(&b, 1000, &err));
    size_t got = ZSTD_compress2(c, b.p + b.n, 1000, samples.p + from, sizes[i]);
    assert_false(ZSTD_isError(got));
    b.n += got;
  }
  ZSTD_freeCCtx(c);
  at[FRAMES] = b.n;
  plain_at[FRAMES] = plain.n;
  for (size_t i = 0; i < FRAMES; i++) {
    b.p[at[i]] ^= 1;
    reading r = read_ways(&b, true);
    assert_int_equal(r.gaps, i + 1 < FRAMES);
    assert_int_equal(r.bytes.n, plain.n - (plain_at[i + 1] - plain_at[i]));
    begins_with(&r, plain.p, plain_at[i]);
    ends_with(&r, plain.p + plain_at[i + 1], plain.n - plain_at[i + 1]);
    nd_buf_clear(&r.bytes);
    b.p[at[i]] ^= 1;
  }
  memset(b.p + 16, 0xff, 200);
  reading r = read_ways(&b, true);
  assert_int_equal(r.end, ND_ERR_DATA);
  assert_int_equal(r.bytes.n, 0);
  nd_buf *all[] = {&samples, &dict, &b, &plain, &r.bytes};
  for (size_t i = 0; i < 5; i++) nd_buf_clear(all[i]);
}

/* ---- made to take long ---- */

static void repeat(nd_buf *b, const char *p, size_t n, size_t times) {
  ok(nd_buf_reserve(b, n * times, &err));
  for (size_t i = 0; i < times; i++) add(b, p, n);
}

#if defined(__SANITIZE_THREAD__)
enum { HOSTILE = 100000 }; /* bytes; that sanitizer makes it many times slower */
#else
enum { HOSTILE = 1000000 };
#endif

static void search_behind_damage_takes_linear_time(void **state) {
  (void)state;
  struct {
    const char *p;
    size_t n;
  } unit[] = {
      {"\x1f\x8b\x08", 3},
      {"\x1f\x8b\x08\0", 4},
      {"\x1f\x8b\x08\x08", 4},
      {"\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\x1f", 12},
      /* Each one a member whose stored block holds the next one's header: it runs to the end. */
      {"\x1f\x8b\x08\0\0\0\0\0\0\3\0\x0a\0\xf5\xff", 15},
      {"\x28\xb5\x2f\xfd", 4},
      {"\x28\xb5\x2f\xfd\x00\x38", 6},
      /* The same in zstd: a raw block of the six bytes of the next frame's header. */
      {"\x28\xb5\x2f\xfd\x00\x38\x30\0\0", 9},
      /* Raw blocks of 128 KiB that overlap, the next one inside. */
      {"\x28\xb5\x2f\xfd\x00\x38\x00\0\x10", 9},
      {"\x28\xb5\x2f\xfd\x00\x88\x04\0\x10", 9},
  };
  for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
    nd_buf b = {0};
    repeat(&b, unit[i].p, unit[i].n, HOSTILE / unit[i].n * (unit[i].n == 3 ? 3 : 1));
    clock_t start = clock();
    reading r = read_on(open_way(MEMORY, &b), 1, false);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%zu: %zu bytes, %zu gaps, %.3f s\n", i, b.n, r.gaps, seconds);
    assert_true(seconds < 20); /* of CPU time: linear, even with a sanitizer */
    nd_buf_clear(&b);
  }
}

/* ---- failing calls ---- */

static nd_status job(const nd_buf *b, bool memory, uint64_t *bytes) {
  nd_stream *s;
  nd_str seen;
  bool found = false;
  nd_status status = memory ? nd_stream_open_memory(&s, nd_buf_str(b), "memory", &err)
                            : nd_stream_open(&s, at("packed"), &err);
  if (status != ND_OK) return status;
  do {
    found = false;
    status = nd_stream_peek(&seen, s, 1000, &err);
    nd_stream_skip(s, seen.n);
    if (status == ND_ERR_DATA) {
      status = nd_stream_recover(&found, s, &err);
      nd_str none;
      if (status != ND_OK) assert_int_equal(nd_stream_peek(&none, s, 1, &err), status);
    }
  } while (status == ND_OK && (found || seen.n));
  *bytes = nd_stream_offset(s);
  nd_stream_close(s);
  return status;
}

static void test_failing_calls(void **state) {
  (void)state;
  new_seed();
  for (int kind = 0; kind < 4; kind++) {
    packed p = make(kind % 2 ? ND_PACKING_ZSTD : ND_PACKING_GZIP, 3, 300000, 400000);
    p.bytes.p[(p.at[1] + p.at[2]) / 2] ^= 0x55;
    p.bytes.p[p.at[2] - 1] ^= 1;
    write_bytes(at("packed"), p.bytes.p, p.bytes.n);
    bool memory = kind >= 2;
    uint64_t all, bytes;
    ok(job(&p.bytes, memory, &all));
    for (uint64_t nth = 1;; nth++) {
      nd_mem_fail_at(nth);
      nd_status status = job(&p.bytes, memory, &bytes);
      bool reached = nd_mem_count() >= nth;
      nd_mem_fail_at(0);
      if (!reached) {
        ok(status);
        assert_int_equal(bytes, all);
        break;
      }
      assert_int_equal(status, ND_ERR_MEMORY);
    }
    for (uint64_t nth = 1; !memory; nth++) {
      nd_io_fail_at(nth, EIO);
      nd_status status = job(&p.bytes, memory, &bytes);
      bool reached = nd_io_count() >= nth;
      nd_io_fail_at(0, 0);
      if (!reached) break;
      assert_int_equal(status, ND_ERR_IO);
    }
    packed_clear(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_gzip_each, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_each, clear_hooks),
      cmocka_unit_test_teardown(undamaged_members_are_all_found, clear_hooks),
      cmocka_unit_test_teardown(test_same_offsets, clear_hooks),
      cmocka_unit_test_teardown(test_no_more, clear_hooks),
      cmocka_unit_test_teardown(what_was_visible_is_skipped, clear_hooks),
      cmocka_unit_test_teardown(inner_member_is_not_taken_for_the_next, clear_hooks),
      cmocka_unit_test_teardown(dictionary_serves_frames_behind_damage, clear_hooks),
      cmocka_unit_test_teardown(search_behind_damage_takes_linear_time, clear_hooks),
      cmocka_unit_test_teardown(test_failing_calls, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
