#include "stream_tools.h"

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

char stream_dir[] = "/tmp/nd_test_stream_XXXXXX";

void says(const char *words) {
  if (!strstr(err.message, words)) fail_msg("'%s' lacks '%s'", err.message, words);
}

const char *at(const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", stream_dir, name);
  return path[turn];
}

int setup(void **state) {
  (void)state;
  return mkdtemp(stream_dir) ? 0 : -1;
}

int teardown(void **state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", stream_dir);
  return system(command);
}

int clear_hooks(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  nd_mem_fail_at(0);
  return 0;
}

static nd_rng rng;

uint64_t draw(uint64_t below) {
  return nd_rng_below(&rng, below);
}

void new_seed(void) {
  seed_rng(&rng);
}

/* ---- making data ---- */

void add(nd_buf *b, const void *p, size_t n) {
  ok(nd_buf_append(b, p, n, &err));
}

nd_buf words(size_t n) {
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

nd_buf noise(size_t n) {
  nd_buf b = {0};
  ok(nd_buf_reserve(&b, n, &err));
  for (b.n = 0; b.n < n; b.n++) b.p[b.n] = (char)draw(256);
  return b;
}

void add_gzip(nd_buf *out, const void *p, size_t n, int level, int strategy, gz_header *head) {
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

void add_zstd(nd_buf *out, const void *p, size_t n, int window_log, const nd_buf *dict) {
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

void add_skippable(nd_buf *out, int type, const void *p, size_t n) {
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

void write_bytes(const char *path, const void *p, size_t n) {
  unlink(path); /* a fresh file: ext4 waits for the disk when an old one is overwritten */
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(n ? fwrite(p, 1, n, f) : 0, n);
  assert_int_equal(fclose(f), 0);
}

nd_stream *open_way(way how, const nd_buf *b) {
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
    write_bytes(at("packed"), b->p, b->n);
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

nd_status drain(nd_buf *out, nd_stream *s, size_t want) {
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

nd_status unpack(nd_buf *out, way how, const nd_buf *packed, size_t want) {
  nd_stream *s = open_way(how, packed);
  nd_status status = drain(out, s, want);
  if (status == ND_OK) assert_int_equal(nd_stream_packed_offset(s), packed->n);
  nd_stream_close(s);
  return status;
}

void unpacks_to(const nd_buf *packed, const nd_buf *plain) {
  for (way how = 0; how < WAYS; how++) {
    if (how == PIPE && packed->n > 60000) continue;
    nd_buf got;
    ok(unpack(&got, how, packed, 1));
    assert_int_equal(got.n, plain->n);
    assert_true(plain->n == 0 || memcmp(got.p, plain->p, plain->n) == 0);
    nd_buf_clear(&got);
  }
}

const char *without_name(const char *message) {
  const char *colon = strstr(message, ": ");
  return colon ? colon : message;
}

size_t alike(nd_status *result, const nd_buf *packed, const nd_buf *plain) {
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

size_t fails_alike(const nd_buf *packed, const nd_buf *plain) {
  nd_status status;
  size_t n = alike(&status, packed, plain);
  if (status != ND_ERR_DATA) fail_msg("no damage was seen: %s", nd_status_name(status));
  return n;
}
