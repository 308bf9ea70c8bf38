/* Names of documents out of a store, with room for all blocks and with room for few, in any order,
 * against a list; every read and every piece of memory fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "every_place.h"
#include "pipeline/ids.h"
#include "pipeline/store.h"
#include "pipeline/workdir.h"

enum { TASKS = 20, DOCS = 6, ALL = TASKS * DOCS, LINES = 100 };
static char dir[] = "/tmp/nd_test_ids_XXXXXX";
static char want[ALL][60];
static nd_store store;
static nd_input_file files[TASKS];
static char paths[TASKS][30];
static nd_walk walk = {.files = files, .n = TASKS};
static nd_rng rng;

/* Every third document has an id of its own, the next a line, the third an offset or, at the
 * file's begin, nothing.  Of four tasks two are ranges of one file. */
static nd_status fill(nd_block *b, uint32_t task) {
  nd_block_start(b, task, 0, 1, 1);
  b->head.lines_relative = task % 4 < 2;
  uint32_t file = b->head.range_file = b->head.lines_relative ? task / 4 * 4 : task;
  b->head.lines = LINES;
  for (uint32_t i = 0; i < DOCS; i++) {
    char id[30] = "", *name = want[task * DOCS + i];
    ND_TRY(nd_block_reserve(b, &err));
    b->digest[i] = (nd_digest){task, i};
    b->bands[i] = b->sketch[i] = b->rank[i] = b->id_hash[i] = b->length[i] = 0;
    b->shingles[i] = b->text_end[i] = b->url_end[i] = 0;
    b->file[i] = file;
    b->line[i] = i % 3 == 1 ? i : 0;
    b->offset[i] = i / 3 * 10;
    const unsigned before = b->head.lines_relative && task % 4 == 1 ? LINES : 0;
    if (i % 3 == 0) {
      snprintf(id, sizeof id, "own\t%u", task * DOCS + i);
      snprintf(name, sizeof *want, "own\\t%u", task * DOCS + i);
    } else if (i % 3 == 1) {
      snprintf(name, sizeof *want, "%s:%u", paths[file], before + i);
    } else {
      snprintf(name, sizeof *want, i > 3 ? "%s@%u" : "%s", paths[file], (unsigned)b->offset[i]);
    }
    ND_TRY(nd_buf_append(&b->ids, id, strlen(id), &err));
    b->id_end[i] = (uint32_t)b->ids.n;
    b->head.docs++;
  }
  b->head.last = 1;
  return nd_block_finish(b, &err);
}

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  if (!mkdtemp(dir)) return -1;
  uint64_t begin[TASKS] = {0};
  nd_log log;
  nd_block b = {0};
  ok(nd_store_open(&store, dir, &err));
  ok(nd_log_open(&log, &store, &err));
  for (uint32_t t = 0; t < TASKS; t++) {
    snprintf(paths[t], sizeof paths[t], "file%u", t);
    files[t].path = paths[t];
  }
  for (uint32_t t = 0; t < TASKS; t++) {
    ok(fill(&b, t));
    ok(nd_log_append(&log, &b, &err));
  }
  nd_block_clear(&b);
  ok(nd_log_close(&log, &err));
  ok(nd_store_seal(&store, TASKS, begin, &err));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nd_store_close(&store);
  ok(nd_remove_tree(dir, &err));
  return 0;
}

static void check(const nd_buf *got, const char *name) {
  if (got->n != strlen(name) || memcmp(got->p, name, got->n) != 0)
    fail_msg("%.*s, not %s", (int)got->n, got->p, name);
}

/* Documents in order, at random and again and again. */
static void names(void **state) {
  (void)state;
  nd_buf got = {0};
  for (unsigned memory = 0; memory <= 1 << 20; memory += 1 << 20) {
    nd_ids *ids;
    ok(nd_ids_new(&ids, &store, &walk, memory, &err));
    for (unsigned i = 0; i < 6 * ALL; i++) {
      uint32_t d = i < ALL       ? i
                   : i < 2 * ALL ? i % 2 * (i % ALL)
                                 : (uint32_t)nd_rng_below(&rng, ALL);
      got.n = 0;
      ok(nd_ids_append(&got, ids, d, &err));
      check(&got, want[d]);
    }
    nd_ids_rewind(ids);
    nd_ids_free(ids);
  }
  nd_buf_clear(&got);
}

static nd_buf line; /* its room is there */

/* From the first block to far ones: nothing of them is loaded, all kinds of names are read. */
static nd_status jump(void *context) {
  (void)context;
  nd_ids *ids;
  ND_TRY(nd_ids_new(&ids, &store, &walk, 0, &err));
  nd_status status = ND_OK;
  for (uint32_t i = 0; i < 2 * DOCS && status == ND_OK; i++) {
    uint32_t d = i ? ALL - 2 - i / 2 : 0; /* each twice: the second time it is remembered */
    line.n = 0;
    status = nd_ids_append(&line, ids, d, &err);
    if (status == ND_OK) check(&line, want[d]);
  }
  nd_ids_free(ids);
  return status;
}

static void every_place(void **state) {
  (void)state;
  ok(nd_buf_reserve(&line, 1000, &err));
  assert_true(every_place_fails(jump, NULL) >= 10);
  nd_buf_clear(&line);
}

static void given(void **state) {
  (void)state;
  static const uint32_t document[] = {3, 5, 9};
  const nd_str id[] = {nd_str_of("three"), nd_str_of("five"), nd_str_of("nine")};
  nd_ids *ids;
  nd_buf got = {0};
  ok(nd_ids_given(&ids, document, id, 3, &err));
  for (uint32_t d = 0; d < 12; d++) {
    got.n = 0;
    const char *name = d == 3 ? "three" : d == 5 ? "five" : d == 9 ? "nine" : NULL;
    nd_status status = nd_ids_append(&got, ids, d, &err);
    assert_int_equal(status, name ? ND_OK : ND_ERR_STATE);
    check(&got, name ? name : "");
  }
  nd_buf_clear(&got);
  nd_ids_free(ids);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(every_place),
                                     cmocka_unit_test(given)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
