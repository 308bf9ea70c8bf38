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
#include "job/job.h"
#include "result/lines.h"
#include "store/ids.h"
#include "store/store.h"
#include "store/workdir.h"

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
  ND_TRY(nd_block_reject(b, 7, 1, file, 0, nd_str_of("is none"), &err));
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
  if (got->n != strlen(name) || (got->n && memcmp(got->p, name, got->n) != 0))
    fail_msg("%.*s, not %s", (int)got->n, got->p, name);
}

/* Documents in order, at random and again and again. */
static void ids_agree_with_the_list_in_any_order(void **state) {
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

static void given_ids_answer_for_their_documents_only(void **state) {
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

static nd_status refuse(void *context, const char *bytes, size_t n, nd_error *e) {
  (void)context, (void)bytes, (void)n;
  return nd_fail(e, ND_ERR_IO, "the reader is gone");
}

/* Long names: what is written goes out on the way, and what fails there is told. */
static void clusters_go_out(void **state) {
  (void)state;
  static char long_name[200000];
  static const uint32_t document[] = {0, 1, 2, 3};
  uint32_t centre[] = {0, 0, 0, 0}, size[] = {4, 0, 0, 0};
  uint64_t value[4] = {0};
  memset(long_name, 'n', sizeof long_name);
  const nd_str name = {long_name, sizeof long_name};
  const nd_str id[] = {name, name, name, name};
  nd_clusters c = {.n = 4, .centre = centre, .value = value};
  for (int broken = 0; broken < 2; broken++) {
    nd_run j = {.settings.similarity = nd_similarities[0]};
    nd_sink sink = {NULL, broken ? refuse : forget};
    nd_lines l = {.sink = &sink};
    ok(nd_ids_given(&j.ids, document, id, 4, &err));
    nd_status status = nd_lines_clusters(&l, &j, &c, size, &err);
    assert_int_equal(status, broken ? ND_ERR_IO : ND_OK);
    assert_int_equal(l.text.n, 0); /* every line is longer than what is held back */
    nd_buf_clear(&l.text);
    nd_ids_free(j.ids);
  }
}

typedef struct counter {
  unsigned n, fails;
} counter;

static nd_status count_reject(void *context, const nd_reject *r, nd_error *e) {
  counter *c = context;
  assert_true(r->reason.n > 0);
  return ++c->n == c->fails ? nd_fail(e, ND_ERR_DATA, "number %u", c->n) : ND_OK;
}

static nd_walk_problem problems[] = {{"a link", "leads nowhere"}, {"a folder", "cannot be opened"}};

static nd_status list_rejects(void *context) {
  nd_run *j = context;
  nd_lines l = {.text = line};
  l.text.n = 0;
  nd_status status = nd_lines_rejects(&l, j, &err);
  if (status == ND_OK) assert_non_null(strstr(l.text.p, "a folder\tcannot be opened\n"));
  return status;
}

/* Rejected records of all blocks, then what the walk could not open; whoever takes them may fail
 * at each. */
static void rejects_of_blocks_precede_problems_of_the_walk(void **state) {
  (void)state;
  nd_run j = {.store = store, .walk = walk};
  j.walk.problems = problems;
  j.walk.problem_n = 2;
  for (unsigned fails = 0; fails <= TASKS + 2; fails++) {
    counter c = {0, fails};
    assert_int_equal(nd_run_rejects(&j, count_reject, &c, &err), fails ? ND_ERR_DATA : ND_OK);
    assert_int_equal(c.n, fails ? fails : TASKS + 2);
  }
  ok(nd_ids_new(&j.ids, &store, &walk, 0, &err));
  ok(nd_buf_reserve(&line, 10000, &err));
  assert_true(every_place_fails(list_rejects, &j) >= 6);
  nd_buf_clear(&line);
  nd_ids_free(j.ids);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_agree_with_the_list_in_any_order), cmocka_unit_test(every_place),
      cmocka_unit_test(given_ids_answer_for_their_documents_only),
      cmocka_unit_test(clusters_go_out),
      cmocka_unit_test(rejects_of_blocks_precede_problems_of_the_walk)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
