/* Files of sketches: what is written comes back; a file with any byte changed,
 * cut at any place or made longer is refused; files with valid checksums and
 * absurd numbers are refused too; a failing disk leaves no file. */
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
#include <xxhash.h>

#include <cmocka.h>

#include "base/rng.h"
#include "neardup/sketchfile.h"
#include "settings/option_fields.h"
#include "sketchfile/sketch_file.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_sketch_XXXXXX";
static char path[200], other[200];
static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  if (!mkdtemp(dir)) return -1;
  snprintf(path, sizeof path, "%s/one.nds", dir);
  snprintf(other, sizeof other, "%s/two.nds", dir);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  unlink(path);
  unlink(other);
  return rmdir(dir);
}

static const nd_str parameters = {"tokens words\nseed 1\nsimhash one\n", 33};
enum { WORDS = 3, MOST = 40, CHUNKS = 3 };

/* Contents that follow from a number. */
static void fill(nd_sketch_chunk *c, uint64_t number) {
  nd_rng r = {number * 77 + 5};
  c->docs = (uint32_t)(nd_rng_next(&r) % MOST);
  ok(nd_sketch_chunk_reserve(c, c->docs, WORDS, &err));
  c->ids.n = 0;
  for (uint32_t i = 0; i < c->docs; i++) {
    c->digest[i] = (nd_digest){nd_rng_next(&r), nd_rng_next(&r)};
    for (int w = 0; w < WORDS; w++) c->rows[i * WORDS + (uint32_t)w] = nd_rng_next(&r);
    c->shingles[i] = (uint32_t)(nd_rng_next(&r) % 3);
    char id[20];
    int n = snprintf(id, sizeof id, "id\t%llu", (unsigned long long)(nd_rng_next(&r) % 100000));
    ok(nd_buf_append(&c->ids, id, (size_t)n - (size_t)(nd_rng_next(&r) % 2), &err));
    c->id_end[i] = (uint32_t)c->ids.n;
  }
}

/* An output file, whatever was there before. */
static nd_output *open_output(const char *name) {
  nd_options o;
  nd_output *file = NULL;
  const nd_output_request request = {.path = name, .kind = ND_OUTPUT_SKETCHES};
  nd_options_init(&o);
  o.force = 1;
  strcpy(o.resume, "never");
  if (nd_output_open(&file, &request, &o, &err) != ND_OK) assert_null(file);
  return file;
}

static nd_status write_to(const char *name, uint64_t seed) {
  nd_sketch_writer *w = NULL;
  nd_sketch_chunk c = {0};
  nd_output *file = open_output(name);
  if (!file) return err.status;
  nd_status status = nd_sketch_create(&w, file, parameters, WORDS, &err);
  for (uint64_t i = 0; i < CHUNKS && status == ND_OK; i++) {
    fill(&c, seed + i);
    status = nd_sketch_put(w, &c, &err);
  }
  if (status == ND_OK)
    status = nd_sketch_finish(w, &err);
  else
    nd_sketch_abandon(w);
  nd_sketch_chunk_clear(&c);
  return nd_output_close(file, status, &err);
}

static nd_status read_all(uint64_t *documents, const char *name) {
  nd_sketch_reader r;
  nd_sketch_chunk c = {0};
  bool more = true;
  *documents = 0;
  nd_status status = nd_sketch_open(&r, name, "it", &err);
  while (status == ND_OK && more) {
    status = nd_sketch_next(&more, &c, &r, &err);
    if (status == ND_OK && more) *documents += c.docs;
  }
  nd_sketch_close(&r);
  nd_sketch_chunk_clear(&c);
  return status;
}

static void comes_back(void **state) {
  (void)state;
  ok(write_to(path, 9));
  nd_sketch_reader r;
  nd_sketch_chunk c = {0}, want = {0};
  bool is = false, more = true;
  ok(nd_sketch_probe(&is, path, &err));
  assert_true(is);
  ok(nd_sketch_open(&r, path, "it", &err));
  assert_int_equal(r.head.words, WORDS);
  assert_int_equal(r.head.chunks, CHUNKS);
  assert_true(nd_str_eq(nd_buf_str(&r.parameters), parameters));
  assert_true(nd_str_eq(nd_sketch_parameter(parameters, "seed"), nd_str_of("1")));
  assert_null(nd_sketch_parameter(parameters, "see").p);
  for (uint64_t i = 0; i < CHUNKS; i++) {
    fill(&want, 9 + i);
    ok(nd_sketch_next(&more, &c, &r, &err));
    assert_true(more);
    assert_int_equal(c.docs, want.docs);
    if (!c.docs) continue;
    assert_memory_equal(c.digest, want.digest, c.docs * sizeof *c.digest);
    assert_memory_equal(c.rows, want.rows, c.docs * WORDS * sizeof *c.rows);
    assert_memory_equal(c.shingles, want.shingles, c.docs * sizeof *c.shingles);
    assert_memory_equal(c.id_end, want.id_end, c.docs * sizeof *c.id_end);
    assert_true(nd_str_eq(nd_buf_str(&c.ids), nd_buf_str(&want.ids)));
  }
  ok(nd_sketch_next(&more, &c, &r, &err));
  assert_false(more);
  nd_sketch_close(&r);
  nd_sketch_chunk_clear(&c);
  nd_sketch_chunk_clear(&want);
}

static size_t load(char **bytes, const char *name) {
  FILE *f = fopen(name, "rb");
  assert_non_null(f);
  fseek(f, 0, SEEK_END);
  size_t n = (size_t)ftell(f);
  rewind(f);
  *bytes = malloc(n + 1);
  assert_int_equal(fread(*bytes, 1, n, f), n);
  fclose(f);
  return n;
}

static void save(const char *name, const char *bytes, size_t n) {
  FILE *f = fopen(name, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
}

/* Only bytes that say nothing (the head's zeros, paddings) may go unnoticed. */
static void damage_is_found(void **state) {
  (void)state;
  ok(write_to(path, 2));
  char *bytes;
  size_t n = load(&bytes, path);
  uint64_t documents;
  size_t step = n / 150 + 1;
  for (size_t i = 0; i < n; i += 1 + (size_t)(nd_rng_next(&rng) % step)) {
    bytes[i] ^= (char)(1 << nd_rng_next(&rng) % 8);
    save(other, bytes, n);
    nd_status status = read_all(&documents, other);
    if (status != ND_ERR_DATA && !(i >= 64 + parameters.n && i < 64 + 40))
      fail_msg("byte %zu of %zu changed: %s", i, n, nd_status_name(status));
    save(other, bytes, i);
    assert_int_equal(read_all(&documents, other), ND_ERR_DATA);
    free(bytes);
    n = load(&bytes, path);
  }
  bytes = realloc(bytes, n + 8);
  memset(bytes + n, 0, 8);
  save(other, bytes, n + 8);
  assert_int_equal(read_all(&documents, other), ND_ERR_DATA);
  free(bytes);
}

static void put(char *p, uint64_t x, int n) {
  for (int i = 0; i < n; i++) p[i] = (char)(x >> 8 * i);
}

/* A head whose checksum is right. */
static void sign_head(char *bytes, size_t parameter_bytes) {
  uint64_t seed = XXH3_64bits(bytes + 64, parameter_bytes);
  put(bytes + 56, XXH3_64bits_withSeed(bytes, 56, seed), 8);
}

static void absurd_numbers(void **state) {
  (void)state;
  const uint64_t absurd[] = {0, 1, 7, 60000, UINT32_MAX / 2, UINT32_MAX};
  ok(write_to(path, 4));
  for (int field = 0; field < 6; field++) {
    for (size_t k = 0; k < sizeof absurd / sizeof *absurd; k++) {
      if (field == 3 && absurd[k] == 0) continue; /* as it is */
      char *bytes;
      uint64_t documents;
      size_t n = load(&bytes, path), chunk = 64 + 40;
      if (field < 4) { /* parameter bytes, words, chunks (low, high) */
        const size_t at[] = {16, 20, 32, 36};
        put(bytes + at[field], absurd[k], 4);
        size_t p = field == 0 ? (size_t)absurd[k] : parameters.n;
        if (p > n - 64) p = 0;
        sign_head(bytes, p);
      } else { /* documents, bytes of ids of the first chunk */
        put(bytes + chunk + (field == 4 ? 0 : 4), absurd[k], 4);
      }
      save(other, bytes, n);
      nd_status status = read_all(&documents, other);
      if (status != ND_ERR_DATA)
        fail_msg("field %d, number %zu: %s", field, k, nd_status_name(status));
      free(bytes);
    }
  }
}

/* Ids that end before they begin, beyond all of them, and before the last byte. */
static void wrong_ids(void **state) {
  (void)state;
  static const uint32_t ends[][2] = {{3, 2}, {1, 9}, {1, 3}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    nd_sketch_writer *w = NULL;
    nd_sketch_chunk c = {0};
    uint64_t documents;
    nd_output *file = open_output(path);
    ok(nd_sketch_create(&w, file, parameters, WORDS, &err));
    fill(&c, 1);
    ok(nd_sketch_chunk_reserve(&c, 2, WORDS, &err));
    c.docs = 2;
    c.ids.n = 4;
    memcpy(c.id_end, ends[i], sizeof ends[i]);
    ok(nd_sketch_put(w, &c, &err));
    ok(nd_sketch_finish(w, &err));
    ok(nd_output_close(file, ND_OK, &err));
    nd_sketch_chunk_clear(&c);
    assert_int_equal(read_all(&documents, path), ND_ERR_DATA);
    assert_non_null(strstr(err.message, "damaged (ids)"));
  }
}

static void wrong_number_of_documents(void **state) {
  (void)state;
  char *bytes;
  const nd_sink sink = {NULL, forget};
  ok(write_to(path, 4));
  ok(nd_sketch_info(path, &sink, NULL, &err));
  size_t n = load(&bytes, path);
  bytes[24]++;
  sign_head(bytes, parameters.n);
  save(other, bytes, n);
  free(bytes);
  assert_int_equal(nd_sketch_info(other, &sink, NULL, &err), ND_ERR_DATA);
  assert_non_null(strstr(err.message, "number of documents"));
}

static void differences_are_named(void **state) {
  (void)state;
  nd_sketch_reader a = {.fd = -1, .name = "a"}, b = {.fd = -1, .name = "b"};
  ok(nd_buf_append(&a.parameters, "seed 1\nsite 64\n", 15, &err));
  ok(nd_buf_append(&b.parameters, "seed 1\n", 7, &err));
  assert_int_equal(nd_sketch_same(&a, &b, &err), ND_ERR_DATA);
  assert_non_null(strstr(err.message, "site is 64 in the first and none in the second"));
  assert_int_equal(nd_sketch_same(&b, &a, &err), ND_ERR_DATA);
  assert_non_null(strstr(err.message, "site is none in the first and 64 in the second"));
  ok(nd_sketch_same(&a, &a, &err));
  nd_sketch_close(&a);
  nd_sketch_close(&b);
}

static void failing_disk(void **state) {
  (void)state;
  uint64_t documents, appeared = 0;
  for (uint64_t nth = 1; nth < 200; nth++) {
    unlink(path);
    nd_io_fail_at(nth, 28 /* ENOSPC */);
    nd_status status = write_to(path, 3);
    uint64_t calls = nd_io_count();
    nd_io_fail_at(0, 0);
    struct stat st;
    if (status == ND_OK) {
      ok(read_all(&documents, path));
      if (calls >= nth) continue; /* it can do without the table of mounts */
      assert_in_range(appeared, 1, 2);
      return;
    }
    assert_int_equal(status, ND_ERR_IO);
    if (stat(path, &st) != 0) continue;
    /* Renamed, but is the directory on the disk? */
    ok(read_all(&documents, path));
    appeared++;
  }
  fail_msg("it never succeeds");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comes_back),
      cmocka_unit_test(damage_is_found),
      cmocka_unit_test(absurd_numbers),
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(failing_disk),
      cmocka_unit_test(wrong_ids),
      cmocka_unit_test(wrong_number_of_documents),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
