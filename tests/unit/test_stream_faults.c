/* Streams over damaged files, from memory, a file and a pipe: what can be read behind the damage
 * is, and a failure of any call on the way there is told as what it is. */
#include "stream_tools.h"

#include "every_place.h"

/* Three members, "<0>…", "<1>…" and "<2>…", of which the middle one is damaged. */
typedef struct sample {
  const char *what;
  nd_buf packed;
  const char *left; /* which members can be read, "02": all but the middle one */
  way how;
  size_t most; /* bytes of one read; 0: any */
} sample;

static nd_buf member[3];

/* Reads on behind damage; the beginnings of members that were met must be those of the sample. */
static nd_status job(void *context) {
  const sample *x = context;
  nd_stream *s = NULL;
  char seen_of[8] = "";
  size_t seen_n = 0;
  nd_status status;
  nd_io_short(x->most);
  if (x->how == A_FILE) {
    status = nd_stream_open(&s, at("packed"), &err);
  } else if (x->how == MEMORY) {
    status = nd_stream_open_memory(&s, nd_buf_str(&x->packed), "memory", &err);
  } else {
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    assert_int_equal(write(ends[1], x->packed.p, x->packed.n), x->packed.n);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    status = nd_stream_open(&s, name, &err);
    close(ends[0]);
  }
  for (bool found = true; status == ND_OK && found;) {
    nd_str seen;
    status = nd_stream_peek(&seen, s, 1000, &err);
    for (size_t i = 0; i + 2 < seen.n; i++)
      if (seen.p[i] == '<' && seen.p[i + 2] == '>' && seen_n + 1 < sizeof seen_of)
        seen_of[seen_n++] = seen.p[i + 1];
    found = seen.n > 0;
    nd_stream_skip(s, seen.n);
    if (status == ND_ERR_DATA) status = nd_stream_recover(&found, s, &err);
  }
  nd_io_short(0);
  nd_stream_close(s);
  if (status == ND_OK && strcmp(seen_of, x->left) != 0)
    fail_msg("%s: members \"%s\", not \"%s\"", x->what, seen_of, x->left);
  return status;
}

static void check(sample x) {
  write_bytes(at("packed"), x.packed.p, x.packed.n);
  static const size_t most[] = {0, 3000};
  for (x.how = 0; x.how < WAYS; x.how++) {
    for (int i = 0; i < 2; i++) {
      x.most = most[i];
      if (every_place_fails(job, &x) < 3) fail_msg("%s: few failures", x.what);
    }
  }
  nd_buf_clear(&x.packed);
}

static int make_members(void **state) {
  new_seed();
  for (int i = 0; i < 3; i++) {
    member[i] = words(20000 + (size_t)draw(20000));
    for (size_t k = 0; k < member[i].n; k++) /* no other beginnings */
      if (member[i].p[k] == '<') member[i].p[k] = ' ';
    member[i].p[0] = '<', member[i].p[1] = (char)('0' + i), member[i].p[2] = '>';
  }
  return setup(state);
}

static int drop_members(void **state) {
  for (int i = 0; i < 3; i++) nd_buf_clear(&member[i]);
  return teardown(state);
}

static void gzip_member(nd_buf *out, int i, bool checked_header) {
  gz_header head = {.hcrc = checked_header, .name = (Bytef *)"name", .name_max = 5};
  add_gzip(out, member[i].p, member[i].n, 6, Z_DEFAULT_STRATEGY, &head);
}

static void reads_behind_damaged_gzip_members(void **state) {
  (void)state;
  enum { CUT, HEADER, CHECKSUM, PADDED, HEADER_CHECKED, HEADER_WRONG, KINDS };
  static const struct {
    const char *what, *left;
  } want[KINDS] = {{"a member that is cut", "01"},
                   {"a header that is none", "02"},
                   {"a wrong checksum", "012"},
                   {"a wrong checksum and zeros", "012"},
                   {"a header with a checksum behind the damage", "02"},
                   {"a header with a wrong checksum behind the damage", "0"}};
  for (int kind = 0; kind < KINDS; kind++) {
    nd_buf b = {0};
    gzip_member(&b, 0, false);
    const size_t second = b.n;
    gzip_member(&b, 1, false);
    const size_t third = b.n;
    static const char zeros[5000];
    if (kind == PADDED) add(&b, zeros, sizeof zeros);
    if (kind != CUT) gzip_member(&b, 2, kind >= HEADER_CHECKED);
    if (kind == CUT) b.n = (second + third) / 2;
    if (kind == HEADER || kind >= HEADER_CHECKED) b.p[second] ^= 1;
    if (kind == CHECKSUM || kind == PADDED) b.p[third - 8] ^= 1;
    if (kind == HEADER_WRONG) b.p[third + 12] ^= 1; /* in its name */
    check((sample){.what = want[kind].what, .packed = b, .left = want[kind].left});
  }
}

static void reads_behind_damaged_zstd_frames(void **state) {
  (void)state;
  enum { MAGIC, CHECKSUM, WIDE, BLOCK, KINDS };
  static const struct {
    const char *what, *left;
  } want[KINDS] = {{"a frame that is none", "02"},
                   {"a wrong checksum", "012"},
                   {"a window that is too wide", "02"},
                   {"a damaged first block", "02"}};
  for (int kind = 0; kind < KINDS; kind++) {
    nd_buf b = {0};
    add_zstd(&b, member[0].p, member[0].n, 0, NULL);
    const size_t second = b.n;
    add_zstd(&b, member[1].p, member[1].n, kind == WIDE ? 28 : 0, NULL);
    const size_t third = b.n;
    add_zstd(&b, member[2].p, member[2].n, 0, NULL);
    if (kind == MAGIC) b.p[second] ^= 1;
    if (kind == CHECKSUM) b.p[third - 1] ^= 1;
    if (kind == BLOCK) memset(b.p + second + 12, 0xff, 100);
    check((sample){.what = want[kind].what, .packed = b, .left = want[kind].left});
  }
}

static void reads_behind_damage_with_a_dictionary(void **state) {
  (void)state;
  enum { SAMPLES = 2000 };
  nd_buf samples = {0}, dict = {0}, small = {0};
  size_t sizes[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    size_t before = samples.n;
    ok(nd_buf_printf(&samples, &err, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: %u\r\n",
                     (unsigned)draw(1000000)));
    sizes[i] = samples.n - before;
  }
  ok(nd_buf_reserve(&dict, 20000, &err));
  dict.n = ZDICT_trainFromBuffer(dict.p, 20000, samples.p, sizes, SAMPLES);
  assert_false(ZDICT_isError(dict.n));
  add_zstd(&small, dict.p, dict.n, 0, NULL);
  for (int kind = 0; kind < 3; kind++) {
    nd_buf b = {0};
    if (kind == 2) small.n -= 9; /* packed, but not all of it */
    add_skippable(&b, 13, kind ? small.p : dict.p, kind ? small.n : dict.n);
    for (int i = 0; i < 3; i++) add_zstd(&b, member[i].p, member[i].n, 0, &dict);
    check((sample){.what = "a dictionary", .packed = b, .left = kind < 2 ? "012" : ""});
  }
  nd_buf_clear(&samples);
  nd_buf_clear(&dict);
  nd_buf_clear(&small);
}

/* A dictionary that would unpack to more than 128 MiB claims no more. */
static void test_dictionary_bomb(void **state) {
  (void)state;
  enum { PIECE = 1 << 20 };
  char *zeros = calloc(1, PIECE);
  nd_buf bomb = {0}, b = {0}, got;
  ZSTD_CCtx *c = ZSTD_createCCtx();
  ok(nd_buf_reserve(&bomb, PIECE, &err));
  ZSTD_outBuffer to = {bomb.p, bomb.cap, 0};
  for (int i = 0; i < 130; i++) {
    ZSTD_inBuffer in = {zeros, PIECE, 0};
    assert_false(
        ZSTD_isError(ZSTD_compressStream2(c, &to, &in, i < 129 ? ZSTD_e_continue : ZSTD_e_end)));
  }
  bomb.n = to.pos;
  add_skippable(&b, 13, bomb.p, bomb.n);
  assert_int_equal(unpack(&got, MEMORY, &b, 1), ND_ERR_DATA);
  says("the dictionary is too large");
  assert_int_equal(got.n, 0);
  ZSTD_freeCCtx(c);
  free(zeros);
  nd_buf_clear(&bomb);
  nd_buf_clear(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(reads_behind_damaged_gzip_members, clear_hooks),
      cmocka_unit_test_teardown(reads_behind_damaged_zstd_frames, clear_hooks),
      cmocka_unit_test_teardown(reads_behind_damage_with_a_dictionary, clear_hooks),
      cmocka_unit_test_teardown(test_dictionary_bomb, clear_hooks),
  };
  return cmocka_run_group_tests(tests, make_members, drop_members);
}
