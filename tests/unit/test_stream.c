/* Streams: what comes out against what was packed, every truncation and every
 * bit flip of small files, random damage of larger ones, failing calls.
 *
 * A pipe cannot be read twice, so there zlib alone unpacks gzip: comparing a
 * pipe with a file compares the two engines. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>
#include <zdict.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"
#include "input/stream.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_stream_XXXXXX";

static void says(const char *words) {
  if (!strstr(err.message, words)) fail_msg("'%s' lacks '%s'", err.message, words);
}

static const char *at(const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
  return path[turn];
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command);
}

static int clear_hooks(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  nd_mem_fail_at(0);
  return 0;
}

static uint64_t rng;
static uint64_t draw(uint64_t below) {
  rng = rng * 6364136223846793005u + 1442695040888963407u;
  return (rng >> 33) % below;
}

static void new_seed(void) {
  rng = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
  print_message("seed %llu\n", (unsigned long long)rng);
}

/* ---- making data ---- */

static void add(nd_buf *b, const void *p, size_t n) {
  ok(nd_buf_append(b, p, n, &err));
}

static nd_buf words(size_t n) {
  nd_buf b = {0};
  while (b.n < n) {
    char word[16];
    int length = snprintf(word, sizeof word, "%llx%c", (unsigned long long)draw(5000),
                          draw(12) ? ' ' : '\n');
    add(&b, word, (size_t)length);
  }
  b.n = n;
  return b;
}

static nd_buf noise(size_t n) {
  nd_buf b = {0};
  ok(nd_buf_reserve(&b, n, &err));
  for (b.n = 0; b.n < n; b.n++) b.p[b.n] = (char)draw(256);
  return b;
}

static void add_gzip(nd_buf *out, const void *p, size_t n, int level, int strategy,
                     gz_header *head) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 8, strategy), Z_OK);
  if (head) deflateSetHeader(&z, head);
  size_t bound = deflateBound(&z, n) + 1000;
  ok(nd_buf_reserve(out, bound, &err));
  z.next_in = (z_const Bytef *)(uintptr_t)p;
  z.avail_in = (unsigned)n;
  z.next_out = (Bytef *)out->p + out->n;
  z.avail_out = (unsigned)bound;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  out->n += z.total_out;
  deflateEnd(&z);
}

static void add_zstd(nd_buf *out, const void *p, size_t n, int window_log, const nd_buf *dict) {
  ZSTD_CCtx *c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  if (window_log) ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
  if (dict) ZSTD_CCtx_loadDictionary(c, dict->p, dict->n);
  size_t bound = ZSTD_compressBound(n) + 100;
  ok(nd_buf_reserve(out, bound, &err));
  ZSTD_inBuffer in = {p, n, 0};
  ZSTD_outBuffer to = {out->p + out->n, bound, 0};
  /* Two calls, so that the frame does not know its size and keeps its window. */
  assert_false(ZSTD_isError(ZSTD_compressStream2(c, &to, &in, ZSTD_e_continue)));
  assert_int_equal(ZSTD_compressStream2(c, &to, &in, ZSTD_e_end), 0);
  out->n += to.pos;
  ZSTD_freeCCtx(c);
}

static void add_skippable(nd_buf *out, int type, const void *p, size_t n) {
  unsigned char head[8] = {(unsigned char)(0x50 + type),
                           0x2a,
                           0x4d,
                           0x18,
                           (unsigned char)n,
                           (unsigned char)(n >> 8),
                           (unsigned char)(n >> 16),
                           (unsigned char)(n >> 24)};
  add(out, head, 8);
  add(out, p, n);
}

/* ---- reading ---- */

typedef enum way { MEMORY, A_FILE, PIPE, WAYS } way;

static void write_file(const char *path, const void *p, size_t n) {
  unlink(path); /* a fresh file: ext4 waits for the disk when an old one is overwritten */
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(n ? fwrite(p, 1, n, f) : 0, n);
  assert_int_equal(fclose(f), 0);
}

static nd_stream *open_way(way how, const nd_buf *b) {
  nd_stream *s = NULL;
  if (how == MEMORY) {
    /* Exactly as long as the bytes, for the address sanitizer. */
    char *tight = malloc(b->n ? b->n : 1);
    if (b->n) memcpy(tight, b->p, b->n);
    ok(nd_stream_open_memory(&s, (nd_str){tight, b->n}, "packed", &err));
    static char *old;
    free(old);
    old = tight;
  } else if (how == A_FILE) {
    write_file(at("packed"), b->p, b->n);
    ok(nd_stream_open(&s, at("packed"), &err));
  } else {
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    if (b->n > 60000) fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    assert_int_equal(write(ends[1], b->p, b->n), b->n);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    ok(nd_stream_open(&s, name, &err));
    close(ends[0]);
  }
  return s;
}

/* All bytes, in steps of `want`; checks the promises about failures on the way. */
static nd_status drain(nd_buf *out, nd_stream *s, size_t want) {
  *out = (nd_buf){0};
  for (;;) {
    nd_str seen;
    nd_status status = nd_stream_peek(&seen, s, want, &err);
    if (status == ND_OK && seen.n == 0) return ND_OK;
    if (seen.n > 0) {
      add(out, seen.p, seen.n);
      nd_stream_skip(s, seen.n);
      assert_int_equal(nd_stream_offset(s), out->n);
      if (status == ND_OK) continue;
    }
    nd_error first = err;
    assert_int_equal(nd_stream_peek(&seen, s, 1, &err), status);
    assert_string_equal(first.message, err.message);
    assert_int_equal(seen.n, 0);
    assert_true(strstr(err.message, nd_stream_name(s)) == err.message || status != ND_ERR_DATA);
    return status;
  }
}

static nd_status unpack(nd_buf *out, way how, const nd_buf *packed, size_t want) {
  nd_stream *s = open_way(how, packed);
  nd_status status = drain(out, s, want);
  if (status == ND_OK) assert_int_equal(nd_stream_packed_offset(s), packed->n);
  nd_stream_close(s);
  return status;
}

static void unpacks_to(const nd_buf *packed, const nd_buf *plain) {
  for (way how = 0; how < WAYS; how++) {
    if (how == PIPE && packed->n > 60000) continue;
    nd_buf got;
    ok(unpack(&got, how, packed, 1));
    assert_int_equal(got.n, plain->n);
    assert_true(plain->n == 0 || memcmp(got.p, plain->p, plain->n) == 0);
    nd_buf_clear(&got);
  }
}

static const char *without_name(const char *message) {
  const char *colon = strstr(message, ": ");
  return colon ? colon : message;
}

/* The same result and the same good bytes from memory, a file and a pipe, in large and
 * single-byte reads; a prefix of `plain` unless that is NULL.  Returns how many good bytes.
 * (In single-byte reads of a file the faster engine may have given bytes of a block that
 * zlib refuses as a whole, so with damage only a pipe is compared there.) */
static size_t alike(nd_status *result, const nd_buf *packed, const nd_buf *plain) {
  nd_buf first = {0};
  char message[1000] = "";
  for (int run = 0; run < 4; run++) {
    nd_buf got;
    nd_io_short(run == 3 ? 1 : 0);
    way how = run < 3 ? (way)run : plain ? A_FILE : PIPE;
    nd_status status = unpack(&got, how, packed, run == 2 ? 1000 : 1);
    nd_io_short(0);
    if (run == 0) {
      first = got;
      *result = status;
      if (status != ND_OK) snprintf(message, sizeof message, "%s", without_name(err.message));
      if (plain) {
        assert_true(got.n <= plain->n);
        assert_true(got.n == 0 || memcmp(got.p, plain->p, got.n) == 0);
      }
      continue;
    }
    assert_int_equal(status, *result);
    if (status != ND_OK && run != 3) assert_string_equal(without_name(err.message), message);
    assert_int_equal(got.n, first.n);
    assert_true(got.n == 0 || memcmp(got.p, first.p, got.n) == 0);
    nd_buf_clear(&got);
  }
  size_t n = first.n;
  nd_buf_clear(&first);
  snprintf(err.message, sizeof err.message, "%s", message);
  return n;
}

static size_t fails_alike(const nd_buf *packed, const nd_buf *plain) {
  nd_status status;
  size_t n = alike(&status, packed, plain);
  if (status != ND_ERR_DATA) fail_msg("no damage was seen: %s", nd_status_name(status));
  return n;
}

/* ---- plain ---- */

static void test_plain(void **state) {
  (void)state;
  size_t sizes[] = {0, 1, 2, 3, 4, 5, 65536, 262143, 262144, 262145, 262152, 262153, 1000000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    nd_buf b = words(sizes[i]);
    unpacks_to(&b, &b);
    nd_stream *s = open_way(A_FILE, &b);
    assert_int_equal(nd_stream_packing(s), ND_PACKING_NONE);
    assert_int_equal(nd_stream_members(s), 0);
    assert_int_equal(nd_stream_packed_offset(s), 0);
    nd_stream_close(s);
    nd_buf_clear(&b);
  }
  const char *near[] = {"\x1f", "\x1f\x8c\x08", "\x28\xb5\x2f", "\x28\xb5\x2f\xfe", "\x50\x2a\x4d"};
  for (size_t i = 0; i < 5; i++) {
    nd_buf b = {0};
    add(&b, near[i], strlen(near[i]));
    unpacks_to(&b, &b);
    nd_buf_clear(&b);
  }
  nd_stream_close(NULL);
}

static void test_open_failures(void **state) {
  (void)state;
  nd_stream *s;
  assert_int_equal(nd_stream_open(&s, at("none"), &err), ND_ERR_IO);
  assert_null(s);
  says("cannot open");
  says("No such file");
  assert_int_equal(nd_stream_open(&s, dir, &err), ND_ERR_IO);
  says("it is a directory");
  if (getuid() != 0) {
    write_file(at("secret"), "x", 1);
    chmod(at("secret"), 0);
    assert_int_equal(nd_stream_open(&s, at("secret"), &err), ND_ERR_IO);
    says("check its permissions");
  }
}

static void test_stdin(void **state) {
  (void)state;
  int saved = dup(0);
  write_file(at("in"), "skipped,seen", 12);
  int fd = open(at("in"), O_RDONLY);
  assert_int_equal(lseek(fd, 8, SEEK_SET), 8);
  dup2(fd, 0);
  close(fd);
  nd_stream *s;
  nd_buf got;
  ok(nd_stream_open(&s, "-", &err));
  assert_string_equal(nd_stream_name(s), "-");
  ok(drain(&got, s, 1));
  assert_int_equal(nd_stream_packed_offset(s), 4);
  nd_stream_close(s);
  assert_int_equal(got.n, 4);
  assert_memory_equal(got.p, "seen", 4);
  assert_int_equal(lseek(0, 0, SEEK_CUR), 8); /* still open */
  nd_buf_clear(&got);
  dup2(saved, 0);
  close(saved);
}

/* ---- gzip ---- */

static void test_gzip(void **state) {
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
    says(i == 1 || i == 2 ? "in the middle of a member's header" : "no gzip member");
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

/* ---- zstd ---- */

static void test_zstd(void **state) {
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
    says("no zstd frame");
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

/* ---- the window ---- */

static void pack_three(nd_buf packed[3], const nd_buf *plain) {
  memset(packed, 0, 3 * sizeof packed[0]);
  add(&packed[ND_PACKING_NONE], plain->p, plain->n);
  add_gzip(&packed[ND_PACKING_GZIP], plain->p, plain->n / 3, 6, Z_DEFAULT_STRATEGY, NULL);
  add_gzip(&packed[ND_PACKING_GZIP], plain->p + plain->n / 3, plain->n - plain->n / 3, 1,
           Z_DEFAULT_STRATEGY, NULL);
  add_zstd(&packed[ND_PACKING_ZSTD], plain->p, plain->n / 3, 0, NULL);
  add_zstd(&packed[ND_PACKING_ZSTD], plain->p + plain->n / 3, plain->n - plain->n / 3, 0, NULL);
}

static void test_random_walk(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(3000000), packed[3];
  pack_three(packed, &plain);
  for (int run = 0; run < 12; run++) {
    nd_stream *s = open_way(run % 2 ? A_FILE : MEMORY, &packed[run % 3]);
    assert_int_equal(nd_stream_packing(s), run % 3);
    if (run >= 6) nd_io_short(1 + draw(100000));
    size_t place = 0;
    uint64_t sum = 0;
    while (place < plain.n) {
      size_t most = draw(30) == 0 ? 2000000 : draw(4) == 0 ? 100000 : 50;
      size_t want = draw(most), left = plain.n - place;
      if (draw(20) == 0) {
        if (want > left) want = left;
        ok(nd_stream_advance(s, want, &err));
        place += want;
        continue;
      }
      nd_str seen;
      ok(nd_stream_peek(&seen, s, want, &err));
      assert_true(seen.n >= (want < left ? want : left) && seen.n <= left);
      assert_memory_equal(seen.p, plain.p + place, seen.n < 5000 ? seen.n : 5000);
      if (seen.n) assert_int_equal(seen.p[seen.n - 1], plain.p[place + seen.n - 1]);
      for (size_t i = 0; i < ND_SLACK; i++) sum += (unsigned char)seen.p[seen.n + i];
      size_t step = draw(seen.n + 1);
      nd_stream_skip(s, step);
      place += step;
      assert_int_equal(nd_stream_offset(s), place);
    }
    assert_true(sum != 1);
    nd_str seen;
    ok(nd_stream_peek(&seen, s, 1, &err));
    assert_int_equal(seen.n, 0);
    nd_stream_close(s);
    nd_io_short(0);
  }
  for (int i = 0; i < 3; i++) nd_buf_clear(&packed[i]);
  nd_buf_clear(&plain);
}

/* Large wants with small steps: the work must not be want × steps. */
static void test_large_want_small_steps(void **state) {
  (void)state;
  nd_buf plain = words(6000000), packed[3];
  pack_three(packed, &plain);
  for (int i = 0; i < 3; i++) {
    nd_stream *s = open_way(A_FILE, &packed[i]);
    nd_str seen;
    size_t steps = 0;
    for (;; steps++) {
      ok(nd_stream_peek(&seen, s, 1000000, &err));
      if (seen.n == 0) break;
      nd_stream_skip(s, seen.n < 16 ? seen.n : 16);
    }
    assert_int_equal(steps, plain.n / 16);
    nd_stream_close(s);
    nd_buf_clear(&packed[i]);
  }
  /* A huge want of a small file claims no memory for what is not there. */
  nd_stream *s = open_way(MEMORY, &plain);
  nd_str seen;
  ok(nd_stream_peek(&seen, s, SIZE_MAX, &err));
  assert_int_equal(seen.n, plain.n);
  nd_stream_close(s);
  nd_buf_clear(&plain);
}

static void test_advance(void **state) {
  (void)state;
  new_seed();
  nd_buf plain = words(2000000), packed[3];
  pack_three(packed, &plain);
  for (int i = 0; i < 3; i++) {
    for (int far = 0; far < 2; far++) {
      nd_stream *s = open_way(far ? A_FILE : MEMORY, &packed[i]);
      nd_str seen;
      ok(nd_stream_peek(&seen, s, 100, &err));
      ok(nd_stream_advance(s, 1700001, &err));
      assert_int_equal(nd_stream_offset(s), 1700001);
      ok(nd_stream_peek(&seen, s, 50, &err));
      assert_memory_equal(seen.p, plain.p + 1700001, 50);
      ok(nd_stream_advance(s, 0, &err));
      assert_int_equal(nd_stream_advance(s, far ? UINT64_MAX : 300000, &err), ND_ERR_DATA);
      says("shorter than expected: it ends at byte 2000000");
      assert_int_equal(nd_stream_offset(s), 2000000);
      ok(nd_stream_peek(&seen, s, 1, &err));
      assert_int_equal(seen.n, 0);
      nd_stream_close(s);
    }
    if (i == 0) continue;
    packed[i].n -= 3;
    nd_stream *s = open_way(A_FILE, &packed[i]);
    assert_int_equal(nd_stream_advance(s, 2000001, &err), ND_ERR_DATA);
    says("truncated");
    assert_int_equal(nd_stream_offset(s), 2000000);
    nd_stream_close(s);
  }
  for (int i = 0; i < 3; i++) nd_buf_clear(&packed[i]);
  nd_buf_clear(&plain);
  /* A sparse terabyte is not read. */
  write_file(at("sparse"), "x", 1);
  if (truncate(at("sparse"), (off_t)1 << 40) == 0) {
    nd_stream *s;
    nd_str seen;
    ok(nd_stream_open(&s, at("sparse"), &err));
    ok(nd_stream_advance(s, ((uint64_t)1 << 40) - 7, &err));
    ok(nd_stream_peek(&seen, s, 100, &err));
    assert_int_equal(seen.n, 7);
    assert_int_equal(nd_stream_packed_offset(s), ((uint64_t)1 << 40) - 7);
    nd_stream_close(s);
  }
  unlink(at("sparse"));
}

/* ---- failing calls ---- */

static nd_status whole_job(const char *path, nd_str memory, uint64_t *bytes) {
  nd_stream *s;
  nd_str seen;
  nd_status status =
      path ? nd_stream_open(&s, path, &err) : nd_stream_open_memory(&s, memory, "memory", &err);
  if (status != ND_OK) {
    assert_null(s);
    return status;
  }
  do { /* makes the window grow */
    status = nd_stream_peek(&seen, s, 700000, &err);
    nd_stream_skip(s, seen.n);
  } while (status == ND_OK && seen.n > 0);
  *bytes = nd_stream_offset(s);
  nd_stream_close(s);
  return status;
}

static void test_failing_calls(void **state) {
  (void)state;
  nd_buf plain = words(1500000), packed[3];
  pack_three(packed, &plain);
  for (int i = 0; i < 6; i++) {
    nd_buf *b = &packed[i % 3];
    if (i >= 3 && i % 3) b->n -= 2; /* truncated: gzip's second engine takes part */
    nd_status want = i >= 3 && i % 3 ? ND_ERR_DATA : ND_OK;
    write_file(at("job"), b->p, b->n);
    for (int memory = 0; memory < 2; memory++) {
      uint64_t bytes;
      const char *path = memory ? NULL : at("job");
      for (uint64_t nth = 1;; nth++) {
        nd_mem_fail_at(nth);
        nd_status status = whole_job(path, nd_buf_str(b), &bytes);
        bool reached = nd_mem_count() >= nth;
        nd_mem_fail_at(0);
        if (!reached) {
          assert_int_equal(status, want);
          assert_int_equal(bytes, plain.n);
          assert_true(nth > 2);
          break;
        }
        assert_int_equal(status, ND_ERR_MEMORY);
      }
      for (uint64_t nth = 1; !memory; nth++) {
        nd_io_fail_at(nth, EIO);
        nd_status status = whole_job(path, nd_buf_str(b), &bytes);
        bool reached = nd_io_count() >= nth;
        nd_io_fail_at(nth, EINTR);
        if (!reached) break;
        assert_int_equal(status, ND_ERR_IO);
        says("cannot ");
        says(at("job"));
        if (nth != 2) assert_int_equal(whole_job(path, nd_buf_str(b), &bytes), want);
        nd_io_fail_at(0, 0);
      }
      nd_io_fail_at(0, 0);
    }
  }
  for (int i = 0; i < 3; i++) nd_buf_clear(&packed[i]);
  nd_buf_clear(&plain);
}

/* ---- real files ---- */

static void check_real(const char *path, const char *name) {
  nd_stream *s;
  nd_buf got;
  ok(nd_stream_open(&s, path, &err));
  nd_packing packing = nd_stream_packing(s);
  nd_status status = drain(&got, s, 1);
  nd_stream_close(s);
  bool broken = !strcmp(name, "clipped.warc.gz") || !strcmp(name, "invalid-truncated.gz") ||
                !strcmp(name, "invalid-compression.gz") || !strcmp(name, "invalid-entries.gz") ||
                !strcmp(name, "double-single-inflate-error.gz");
  if (status != (broken ? ND_ERR_DATA : ND_OK)) fail_msg("%s: %s", path, err.message);
  if (!broken && packing == ND_PACKING_GZIP) {
    gzFile f = gzopen(path, "rb");
    char *want = malloc(got.n + 1);
    assert_int_equal(gzread(f, want, (unsigned)got.n + 1), got.n);
    assert_memory_equal(want, got.p, got.n);
    gzclose(f);
    free(want);
  }
  nd_buf_clear(&got);
}

static void test_real(void **state) {
  (void)state;
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  char path[2000];
  snprintf(path, sizeof path, "%s/warc-fixtures", data);
  DIR *top = opendir(path);
  assert_non_null(top);
  int files = 0;
  for (struct dirent *e; (e = readdir(top));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/warc-fixtures/%s", data, e->d_name);
    DIR *sub = opendir(path);
    if (!sub) continue;
    for (struct dirent *f; (f = readdir(sub));) {
      if (f->d_name[0] == '.') continue;
      snprintf(path, sizeof path, "%s/warc-fixtures/%s/%s", data, e->d_name, f->d_name);
      check_real(path, f->d_name);
      files++;
    }
    closedir(sub);
  }
  closedir(top);
  print_message("%d files\n", files);
  assert_true(files > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_plain, clear_hooks),
      cmocka_unit_test_teardown(test_open_failures, clear_hooks),
      cmocka_unit_test_teardown(test_stdin, clear_hooks),
      cmocka_unit_test_teardown(test_gzip, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_members, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_truncated, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_flipped, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_random_damage, clear_hooks),
      cmocka_unit_test_teardown(test_gzip_headers, clear_hooks),
      cmocka_unit_test_teardown(test_zstd, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_truncated, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_flipped, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_block_damage, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_window, clear_hooks),
      cmocka_unit_test_teardown(test_zstd_dictionary, clear_hooks),
      cmocka_unit_test_teardown(test_random_walk, clear_hooks),
      cmocka_unit_test_teardown(test_large_want_small_steps, clear_hooks),
      cmocka_unit_test_teardown(test_advance, clear_hooks),
      cmocka_unit_test_teardown(test_failing_calls, clear_hooks),
      cmocka_unit_test_teardown(test_real, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
