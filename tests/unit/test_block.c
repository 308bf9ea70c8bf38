/* Blocks: every column where the layout says, and no damaged byte unnoticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "store/block.h"
#include "tools.h"

static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return 0;
}

static int clear_hooks(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  return 0;
}

/* Values that can be told apart: column, document, place. */
static uint64_t cell(int column, uint32_t document, uint32_t place) {
  return nd_mix((uint64_t)column << 56 | (uint64_t)place << 32 | document);
}

static nd_status add_document(nd_block *b) {
  nd_status status = nd_block_reserve(b, &err);
  if (status != ND_OK) return status;
  uint32_t d = b->head.docs;
  b->digest[d] = (nd_digest){cell(ND_COL_DIGEST, d, 0), cell(ND_COL_DIGEST, d, 1)};
  for (uint32_t i = 0; i < b->head.bands; i++)
    b->bands[d * b->head.bands + i] = cell(ND_COL_BANDS, d, i);
  for (uint32_t i = 0; i < b->head.sketch_words; i++)
    b->sketch[d * b->head.sketch_words + i] = cell(ND_COL_SKETCH, d, i);
  b->rank[d] = cell(ND_COL_RANK, d, 0);
  b->id_hash[d] = cell(ND_COL_ID_HASH, d, 0);
  b->offset[d] = cell(ND_COL_OFFSET, d, 0);
  b->length[d] = cell(ND_COL_LENGTH, d, 0);
  b->file[d] = (uint32_t)cell(ND_COL_FILE, d, 0);
  b->line[d] = (uint32_t)cell(ND_COL_LINE, d, 0);
  b->shingles[d] = (uint32_t)cell(ND_COL_SHINGLES, d, 0);
  status = nd_buf_printf(&b->ids, &err, "id-%u", d);
  if (status == ND_OK) status = nd_buf_printf(&b->texts, &err, "text of %u", d * d);
  if (status != ND_OK) return status;
  b->id_end[d] = (uint32_t)b->ids.n;
  b->text_end[d] = (uint32_t)b->texts.n;
  b->head.docs++;
  return ND_OK;
}

static nd_status build(nd_block *b, uint32_t docs, uint32_t bands, uint32_t words,
                       uint32_t rejects) {
  nd_block_start(b, 7, 3, bands, words);
  nd_status status = ND_OK;
  for (uint32_t i = 0; i < docs && status == ND_OK; i++) status = add_document(b);
  for (uint32_t i = 0; i < rejects && status == ND_OK; i++)
    status = nd_block_reject(b, 1000 + i, 10 + i, i, i + 1, nd_str_of("too strange"), &err);
  b->head.raw_bytes = 12345;
  return status == ND_OK ? nd_block_finish(b, &err) : status;
}

static uint64_t u64_at(const nd_block *b, uint64_t at) {
  uint64_t x;
  assert_true(at + sizeof x <= b->image.n);
  memcpy(&x, b->image.p + at, sizeof x);
  return x;
}

static uint32_t u32_at(const nd_block *b, uint64_t at) {
  uint32_t x;
  assert_true(at + sizeof x <= b->image.n);
  memcpy(&x, b->image.p + at, sizeof x);
  return x;
}

static void check_image(const nd_block *b, uint32_t docs, uint32_t rejects) {
  nd_block_header h;
  assert_true(nd_block_valid(nd_buf_str(&b->image)));
  memcpy(&h, b->image.p, sizeof h);
  assert_memory_equal(&h, &b->head, sizeof h);
  assert_int_equal(h.task, 7);
  assert_int_equal(h.part, 3);
  assert_int_equal(h.docs, docs);
  assert_int_equal(h.rejects, rejects);
  assert_int_equal(h.raw_bytes, 12345);
  assert_int_equal(sizeof h + h.payload, b->image.n);
  assert_int_equal(b->image.n % ND_BLOCK_ALIGN, 0);
  const int wide[] = {ND_COL_RANK, ND_COL_ID_HASH, ND_COL_OFFSET, ND_COL_LENGTH};
  const int narrow[] = {ND_COL_FILE, ND_COL_LINE, ND_COL_SHINGLES};
  for (uint32_t d = 0; d < docs; d++) {
    for (uint32_t i = 0; i < 2; i++)
      assert_int_equal(u64_at(b, nd_block_column(&h, ND_COL_DIGEST) + 16 * d + 8 * i),
                       cell(ND_COL_DIGEST, d, i));
    for (uint32_t i = 0; i < h.bands; i++) /* band by band */
      assert_int_equal(u64_at(b, nd_block_column(&h, ND_COL_BANDS) + 8 * (i * docs + d)),
                       cell(ND_COL_BANDS, d, i));
    for (uint32_t i = 0; i < h.sketch_words; i++)
      assert_int_equal(u64_at(b, nd_block_column(&h, ND_COL_SKETCH) + 8 * (d * h.sketch_words + i)),
                       cell(ND_COL_SKETCH, d, i));
    for (int i = 0; i < 4; i++)
      assert_int_equal(u64_at(b, nd_block_column(&h, (nd_column)wide[i]) + 8 * d),
                       cell(wide[i], d, 0));
    for (int i = 0; i < 3; i++)
      assert_int_equal(u32_at(b, nd_block_column(&h, (nd_column)narrow[i]) + 4 * d),
                       (uint32_t)cell(narrow[i], d, 0));
    assert_int_equal(u32_at(b, nd_block_column(&h, ND_COL_TEXT_END) + 4 * d), b->text_end[d]);
    assert_int_equal(u32_at(b, nd_block_column(&h, ND_COL_ID_END) + 4 * d), b->id_end[d]);
  }
  uint64_t ids = nd_block_column(&h, ND_COLUMNS);
  if (docs) {
    assert_memory_equal(b->image.p + ids, b->ids.p, h.id_bytes);
    assert_memory_equal(b->image.p + ids + h.id_bytes, b->texts.p, h.text_bytes);
  }
  uint64_t at = ids + h.id_bytes + h.text_bytes;
  for (uint32_t i = 0; i < rejects; i++) {
    assert_int_equal(u64_at(b, at), 1000 + i);
    assert_int_equal(u64_at(b, at + 8), 10 + i);
    assert_int_equal(u32_at(b, at + 16), i);
    assert_int_equal(u32_at(b, at + 20), i + 1);
    assert_int_equal(u32_at(b, at + 24), 11);
    assert_memory_equal(b->image.p + at + 28, "too strange", 11);
    at += 28 + 11;
  }
}

static void columns_are_where_the_layout_says(void **state) {
  (void)state;
  nd_block b = {0}; /* one block, used again and again */
  const uint32_t docs[] = {0, 1, 2, 255, 256, 257, 1000, 3};
  for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
    ok(build(&b, docs[i], 13, 4, (uint32_t)i));
    check_image(&b, docs[i], (uint32_t)i);
  }
  nd_block_clear(&b);
  ok(build(&b, 300, 0, 0, 0)); /* digest only */
  check_image(&b, 300, 0);
  nd_block_clear(&b);
  ok(build(&b, 300, 20, 0, 2));
  check_image(&b, 300, 2);
  nd_block_clear(&b);
}

static void every_flipped_bit_is_seen(void **state) {
  (void)state;
  nd_block b = {0};
  ok(build(&b, 3, 2, 2, 1));
  nd_str image = nd_buf_str(&b.image);
  for (size_t i = 0; i < image.n; i++) {
    for (int bit = 0; bit < 8; bit++) {
      b.image.p[i] ^= (char)(1 << bit);
      if (nd_block_valid(image)) fail_msg("bit %d of byte %zu", bit, i);
      b.image.p[i] ^= (char)(1 << bit);
    }
  }
  assert_true(nd_block_valid(image));
  nd_block_clear(&b);
}

static void every_cut_is_seen(void **state) {
  (void)state;
  nd_block b = {0};
  ok(build(&b, 3, 2, 0, 1));
  for (size_t n = 0; n < b.image.n; n++) {
    char *cut = malloc(n ? n : 1); /* the sanitizer guards its end */
    memcpy(cut, b.image.p, n);
    assert_false(nd_block_valid((nd_str){cut, n}));
    free(cut);
  }
  size_t whole = b.image.n; /* what follows does not matter */
  ok(nd_buf_append(&b.image, "the next block", 14, &err));
  assert_true(nd_block_valid((nd_str){b.image.p, whole + 14}));
  nd_block_clear(&b);
}

/* Headers full of nonsense, with the right magic: refused, never read beyond. */
static void hostile_headers(void **state) {
  (void)state;
  nd_block b = {0};
  ok(build(&b, 3, 2, 2, 1));
  nd_block_header good = b.head;
  for (int round = 0; round < 20000; round++) {
    nd_block_header h = good;
    for (int changes = 1 + (int)nd_rng_below(&rng, 3); changes; changes--) {
      size_t word = 1 + (size_t)nd_rng_below(&rng, sizeof h / 8 - 1);
      uint64_t x = nd_rng_next(&rng) >> nd_rng_below(&rng, 64);
      if (nd_rng_below(&rng, 4) == 0) x = UINT64_MAX - nd_rng_below(&rng, 300);
      memcpy((char *)&h + 8 * word, &x, 8);
    }
    if (memcmp(&h, &good, sizeof h) == 0) continue;
    char *bytes = malloc(b.image.n);
    memcpy(bytes, b.image.p, b.image.n);
    memcpy(bytes, &h, sizeof h);
    assert_false(nd_block_valid((nd_str){bytes, b.image.n}));
    free(bytes);
  }
  nd_block_clear(&b);
}

static void memory_faults(void **state) {
  (void)state;
  bool hit = true;
  for (uint64_t nth = 1; hit; nth++) {
    nd_block b = {0};
    nd_mem_fail_at(nth);
    nd_status status = build(&b, 300, 3, 2, 2);
    hit = nd_mem_count() >= nth;
    nd_mem_fail_at(0);
    assert_int_equal(status, hit ? ND_ERR_MEMORY : ND_OK);
    ok(build(&b, 300, 3, 2, 2)); /* usable again */
    check_image(&b, 300, 2);
    nd_block_clear(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_are_where_the_layout_says),
      cmocka_unit_test(every_flipped_bit_is_seen), cmocka_unit_test(every_cut_is_seen),
      cmocka_unit_test(hostile_headers), cmocka_unit_test_teardown(memory_faults, clear_hooks)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
