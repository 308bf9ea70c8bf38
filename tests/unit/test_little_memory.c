/* Every method with so little memory that even a small corpus does not fit: the pairs are those
 * of a run in memory, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "little_memory.h"

#include "fault_tools.h"
#include "find/exact.h"
#include "settings/option_fields.h"

static char dir[200];

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static void run(nd_buf *out, nd_summary *summary, const char *const *options, bool against,
                uint64_t memory) {
  const char *inputs[2] = {corpus_path, second_path};
  nd_sink sink = {out, collect};
  nd_options o;
  nd_options_init(&o);
  o.threads = 1 + (unsigned)nd_rng_below(&rng, 3);
  for (size_t i = 0; options[i]; i += 2) ok(nd_options_set(&o, options[i], options[i + 1], &err));
  if (against) snprintf(o.against, sizeof o.against, "%s", second_path);
  snprintf(o.tmp, sizeof o.tmp, "%s", dir);
  out->n = 0;
  ok(little_pairs(summary, inputs, against ? 1 : 2, &sink, &o, NULL, memory, &err));
}

static const char *const sets[][9] = {
    {"threshold", "0.5", NULL},
    {"threshold", "0.5", "collapse", "yes", NULL},
    {"threshold", "0.4", "bucket-cap", "2", NULL},
    {"family", "linear", "verify", "none", "threshold", "0.5", NULL},
    {"family", "linear", "threshold", "0.1", "columns", "minhash,exact", NULL},
    {"method", "join", "threshold", "0.3", NULL},
    {"method", "ppjoin+", "threshold", "0.5", NULL},
    {"method", "allpairs", "similarity", "cosine", "threshold", "0.5", NULL},
    {"method", "join", "similarity", "edit", "threshold", "4", NULL},
    {"method", "join", "similarity", "containment", "threshold", "0.5", NULL},
    {"method", "exact", "threshold", "0", NULL},
    {"method", "exact", "threshold", "0.3", "top", "3", NULL},
    {"method", "exact", "sample", "sct:6", "sample", "mod:2", NULL},
    {"sample", "sct:20", "verify", "exact", NULL},
    {"method", "exact", "sample", "adaptive:0.8", "threshold", "0.5", NULL},
    {"method", "simhash", "hamming", "12", NULL},
    {"method", "simhash", "weights", "tfidf", "columns", "simhash,site", NULL},
    {"method", "supershingle", "agree", "1", NULL},
    {"method", "projection", "agree-bits", "250", "complete", "yes", NULL},
    {"method", "combined-site", "complete", "yes", NULL},
    {"method", "digest", NULL},
    {"ignore-boilerplate", "yes", "threshold", "0.3", NULL},
    {"ignore-boilerplate", "yes", "tokens", "codepoints", "shingle", "chars:9", NULL},
    {"sample", "mod:2", "verify", "sample", "threshold", "0.3", NULL},
    {"similarity", "containment", "method", "exact", "threshold", "0.8", NULL},
    {"similarity", "overlap", "method", "exact", "threshold", "9", NULL},
    {"similarity", "cosine", "method", "exact", "threshold", "0.7", NULL},
    {"verify", "none", "candidates", "exact", "method", "simhash", "hamming", "16", NULL},
    {"method", "join", "similarity", "edit", "threshold", "4", "shingle", "chars:3", NULL},
    {"method", "join", "similarity", "edit", "threshold", "9", "top", "2", NULL},
    {"method", "digest", "features", "shingles", NULL},
};

static void test_same_pairs(void **state) {
  (void)state;
  nd_buf want = {0}, got = {0};
  size_t bytes = 0;
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    make_varied_corpus(60 + (size_t)nd_rng_below(&rng, 120), nd_rng_below(&rng, 2));
    for (int against = 0; against < 2; against++) {
      nd_summary x, y;
      if (against && (strcmp(sets[k][0], "ignore-boilerplate") == 0)) continue;
      run(&want, &x, sets[k], against, 64 << 20);
      bytes += want.n;
      for (uint64_t memory = 1 << 12; memory <= 1 << 18; memory <<= 6) {
        run(&got, &y, sets[k], against, memory);
        if (got.n != want.n || memcmp(got.p, want.p, want.n) != 0)
          fail_msg("set %zu, %d, in %lu bytes: %zu bytes of pairs, not %zu", k, against, memory,
                   got.n, want.n);
        assert_int_equal(x.pairs, y.pairs);
      }
    }
  }
  assert_true(bytes > 5000);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
}

/* Documents with long fields that nobody asks for, packed: many blocks, of which few ids fit.
 * Copies lie far from one another, so that ids are asked for in no order. */
static void test_ids_of_many_blocks(void **state) {
  (void)state;
  enum { DOCUMENTS = 44, PAD = 600000 };
  static const char *const options[] = {"threshold", "0.9", NULL};
  char *pad = malloc(PAD + 1);
  memset(pad, 'x', PAD);
  pad[PAD] = '\0';
  gzFile f = gzopen(corpus_path, "wb1");
  assert_non_null(f);
  for (int i = 0; i < DOCUMENTS; i++) {
    if (i % 3) gzprintf(f, "{\"id\": \"name %d\", ", i); /* others are told by their place */
    gzprintf(f, "%s\"text\": \"this is the text number %d of many\", \"pad\": \"", i % 3 ? "" : "{",
             i * 7 % DOCUMENTS / 4);
    assert_int_equal(gzwrite(f, pad, PAD), PAD);
    gzprintf(f, "\"}\n");
  }
  assert_int_equal(gzclose(f), Z_OK);
  write_file(second_path, &(nd_buf){.p = pad, .n = 0});
  nd_buf want = {0}, got = {0};
  nd_summary x, y;
  run(&want, &x, options, false, 64 << 20);
  assert_true(x.pairs > DOCUMENTS / 2);
  run(&got, &y, options, false, 1 << 10);
  assert_int_equal(got.n, want.n);
  assert_memory_equal(got.p, want.p, want.n);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
  free(pad);
}

/* So long that a thread's share of them is written in pieces; and no documents on one side. */
static void long_sets_join_alike_in_pieces(void **state) {
  (void)state;
  enum { DOCUMENTS = 30 };
  static const char *const options[] = {"method", "join",  "threshold", "0.9",
                                        "format", "jsonl", NULL};
  nd_buf text = {0}, want = {0}, got = {0};
  for (int i = 0; i < DOCUMENTS; i++) { /* pairs, of which the second begins differently */
    ok(nd_buf_printf(&text, &err, "{\"id\": %d, \"text\": \"", i));
    for (int k = 0; k < 3000 + 400 * (i / 2); k++)
      ok(nd_buf_printf(&text, &err, "w%d ", k * DOCUMENTS + (i % 2 && k < 9 ? i : i / 2)));
    ok(nd_buf_printf(&text, &err, "\"}\n"));
  }
  write_file(corpus_path, &text);
  write_file(second_path, &(nd_buf){.p = text.p, .n = 0});
  nd_summary x, y;
  run(&want, &x, options, false, 64 << 20);
  assert_int_equal(x.pairs, DOCUMENTS / 2);
  run(&got, &y, options, false, 1 << 14);
  assert_int_equal(got.n, want.n);
  assert_memory_equal(got.p, want.p, want.n);
  static char no_words[] = "{\"id\": \"x\", \"text\": \"\"}\n"; /* nothing to compare with */
  write_file(second_path, &(nd_buf){.p = no_words, .n = strlen(no_words)});
  run(&got, &y, options, true, 1 << 14);
  assert_true(got.n == 0 && y.against_documents == 1);
  write_file(second_path, &(nd_buf){.p = text.p, .n = 0});
  for (int swapped = 0; swapped < 2; swapped++) {
    run(&got, &y, options, true, 1 << 14);
    assert_int_equal(got.n, 0);
    assert_int_equal(y.documents + y.against_documents, DOCUMENTS);
    assert_int_equal(swapped ? y.documents : y.against_documents, 0);
    write_file(second_path, &text);
    write_file(corpus_path, &(nd_buf){.p = text.p, .n = 0});
  }
  nd_buf_clear(&text);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
}

/* Parts of shingles that do not fit by chance, though most do. */
static void test_large_parts(void **state) {
  (void)state;
  enum { DOCUMENTS = 64, WORDS = 1023 }; /* 2^16 shingles, almost */
  static const char *const options[] = {"method", "exact", "threshold", "0.3", NULL};
  nd_buf text = {0};
  for (int i = 0; i < DOCUMENTS; i++) {
    ok(nd_buf_printf(&text, &err, "{\"text\": \""));
    for (int k = 0; k < WORDS; k++) /* the first half is that of the one before */
      ok(nd_buf_printf(&text, &err, "%d.", (i - (i % 2 && k < WORDS / 2)) * WORDS + k));
    ok(nd_buf_printf(&text, &err, "\"}\n"));
  }
  write_file(corpus_path, &text);
  text.n = 0;
  write_file(second_path, &text);
  nd_buf want = {0}, got = {0};
  nd_summary x, y;
  run(&want, &x, options, false, 64 << 20);
  assert_int_equal(x.pairs, DOCUMENTS / 2);
  run(&got, &y, options, false, 1 << 12);
  assert_int_equal(got.n, want.n);
  assert_memory_equal(got.p, want.p, want.n);
  nd_buf_clear(&text);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
  static const struct {
    uint64_t items, wanted;
    unsigned bits;
  } cases[] = {{0, 1, 4}, {1 << 16, 1 << 12, 4}, {1 << 17, 1 << 12, 5}, {UINT64_MAX, 1 << 12, 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(nd_exact_bits(cases[i].items, cases[i].wanted), cases[i].bits);
}

static int set_up(void **state) {
  (void)state;
  if (!begin_folder(dir, sizeof dir, "little")) return -1;
  corpus_in(dir);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  unlink(corpus_path);
  unlink(second_path);
  corpus_clear();
  return remove_folder(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_pairs), cmocka_unit_test(test_ids_of_many_blocks),
      cmocka_unit_test(long_sets_join_alike_in_pieces), cmocka_unit_test(test_large_parts)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
