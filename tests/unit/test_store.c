/* The store: what threads append in any order comes back in order; an
 * interrupted run keeps its whole blocks; damage and gaps are found. */
#include <dirent.h>
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

#include "base/rng.h"
#include "base/threads.h"
#include "store/store.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_store_XXXXXX";
static nd_rng rng;

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  return mkdtemp(dir) ? 0 : -1;
}

/* Calls `take` for every log in the directory; the number of them. */
static int each_log(void (*take)(const char *path)) {
  DIR *d = opendir(dir);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    if (strncmp(e->d_name, "blocks-", 7) != 0) continue;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (take) take(path);
    n++;
  }
  if (d) closedir(d);
  return n;
}

static void remove_log(const char *path) {
  unlink(path);
}

static int empty_dir(void **state) {
  (void)state;
  nd_io_fail_at(0, 0);
  nd_mem_fail_at(0);
  each_log(remove_log);
  return 0;
}

static int teardown(void **state) {
  empty_dir(state);
  return rmdir(dir);
}

enum { BANDS = 3, WORDS = 2 };

/* Documents per (task, part), some of them none; the last part is known. */
static uint32_t docs_of(uint32_t task, uint32_t part) {
  return (uint32_t)(nd_mix((uint64_t)task << 32 | part) % 4) * (task % 3 ? 1 : 40);
}
static uint32_t parts_of(uint32_t task) {
  return 1 + task % 4;
}

static uint64_t value_of(uint32_t task, uint32_t part, uint32_t i, uint32_t what) {
  return nd_mix(nd_mix(nd_mix((uint64_t)task << 32 | part) + i) + what);
}

static int print_text(char *text, size_t room, uint32_t task, uint32_t part, uint32_t i) {
  if (value_of(task, part, i, 99) % 5 == 0) return 0; /* no tokens */
  return snprintf(text, room, "task %u part %u document %u", task, part, i);
}

static nd_status fill(nd_block *b, uint32_t task, uint32_t part, nd_error *e) {
  nd_block_start(b, task, part, BANDS, WORDS);
  for (uint32_t i = 0; i < docs_of(task, part); i++) {
    nd_status status = nd_block_reserve(b, e);
    if (status != ND_OK) return status;
    b->digest[i] = (nd_digest){value_of(task, part, i, 0), 0};
    for (uint32_t j = 0; j < BANDS; j++) b->bands[i * BANDS + j] = value_of(task, part, i, 10 + j);
    for (uint32_t j = 0; j < WORDS; j++) b->sketch[i * WORDS + j] = value_of(task, part, i, 20 + j);
    b->rank[i] = value_of(task, part, i, 1);
    b->id_hash[i] = b->offset[i] = b->length[i] = i;
    b->file[i] = b->line[i] = b->shingles[i] = i;
    char text[100];
    int n = print_text(text, sizeof text, task, part, i);
    status = nd_buf_append(&b->texts, text, (size_t)n, e);
    if (status == ND_OK) status = nd_buf_append(&b->ids, "id", 2, e);
    if (status != ND_OK) return status;
    b->text_end[i] = (uint32_t)b->texts.n;
    b->id_end[i] = (uint32_t)b->ids.n;
    b->url_end[i] = 0;
    b->head.docs++;
  }
  b->head.last = part + 1 == parts_of(task);
  return nd_block_finish(b, e);
}

static void append(nd_log *log, uint32_t task, uint32_t part) {
  nd_block b = {0};
  ok(fill(&b, task, part, &err));
  ok(nd_log_append(log, &b, &err));
  nd_block_clear(&b);
}

/* A task's ranges begin at different places of their files. */
static nd_status seal_store(nd_store *s, uint32_t tasks, nd_error *e) {
  uint64_t begin[64];
  for (uint32_t i = 0; i < 64; i++) begin[i] = (uint64_t)i << 34;
  return nd_store_seal(s, tasks, begin, e);
}

/* The text of a document that is kept in its block. */
static void read_text(nd_buf *out, const nd_store *s, uint32_t document) {
  size_t block = nd_store_find(s, document);
  const nd_block_header *h = &s->blocks[block].head;
  nd_span span = s->span[document];
  out->n = 0;
  ok(nd_buf_reserve(out, span.n, &err));
  uint64_t at = nd_block_column(h, ND_COLUMNS) + h->id_bytes + span.begin;
  ok(nd_store_read(s, block, at, out->p, span.n, &err));
  out->n = span.n;
}

/* Everything in a sealed store is where it belongs. */
static void check_sealed(const nd_store *s, uint32_t tasks) {
  uint32_t document = 0;
  size_t block = 0;
  nd_buf text = {0};
  for (uint32_t t = 0; t < tasks; t++) {
    for (uint32_t p = 0; p < parts_of(t); p++, block++) {
      uint32_t docs = docs_of(t, p);
      assert_int_equal(s->blocks[block].head.task, t);
      assert_int_equal(s->blocks[block].head.part, p);
      assert_int_equal(s->blocks[block].head.docs, docs);
      assert_int_equal(s->blocks[block].first, document);
      uint64_t *column = malloc((docs + 1) * 8);
      ok(nd_store_column(s, block, ND_COL_RANK, 8, column, &err));
      for (uint32_t i = 0; i < docs; i++) assert_int_equal(column[i], value_of(t, p, i, 1));
      for (uint32_t band = 0; band < BANDS; band++) {
        ok(nd_store_band(s, block, band, column, &err));
        for (uint32_t i = 0; i < docs; i++)
          assert_int_equal(column[i], value_of(t, p, i, 10 + band));
      }
      free(column);
      for (uint32_t i = 0; i < docs; i++, document++) {
        assert_int_equal(nd_store_find(s, document), block);
        char want[100];
        int n = print_text(want, sizeof want, t, p, i);
        read_text(&text, s, document);
        assert_int_equal(text.n, n);
        assert_memory_equal(text.p, want, (size_t)n);
        uint64_t sketch[WORDS];
        ok(nd_store_row(sketch, s, document, &err));
        for (uint32_t j = 0; j < WORDS; j++) assert_int_equal(sketch[j], value_of(t, p, i, 20 + j));
      }
    }
  }
  assert_int_equal(s->block_n, block);
  assert_int_equal(s->documents, document);
  nd_buf_clear(&text);
}

/* ---- several threads ---- */

enum { TASKS = 40, THREADS = 4 };

typedef struct writers {
  nd_store *store;
  nd_log log[THREADS];
  nd_block block[THREADS];
} writers;

static nd_status do_task(void *context, unsigned member, uint64_t job, nd_error *e) {
  writers *w = context;
  uint32_t task = (uint32_t)(TASKS - 1 - job); /* not in order */
  for (uint32_t p = 0; p < parts_of(task); p++) {
    if (nd_store_has(w->store, task, p)) continue;
    nd_status status = fill(&w->block[member], task, p, e);
    if (status == ND_OK) status = nd_log_append(&w->log[member], &w->block[member], e);
    if (status != ND_OK) return status;
  }
  return ND_OK;
}

static void write_all(nd_store *s, uint64_t jobs) {
  writers w = {.store = s};
  for (int i = 0; i < THREADS; i++) ok(nd_log_open(&w.log[i], s, &err));
  ok(nd_threads_run(THREADS, jobs, do_task, &w, &err));
  for (int i = 0; i < THREADS; i++) {
    ok(nd_log_close(&w.log[i], &err));
    nd_block_clear(&w.block[i]);
  }
}

static void threads_write_and_it_comes_back(void **state) {
  (void)state;
  nd_store s;
  ok(nd_store_open(&s, dir, &err));
  write_all(&s, TASKS);
  ok(seal_store(&s, TASKS, &err));
  check_sealed(&s, TASKS);
  struct stat st;
  uint64_t bytes = 0;
  for (size_t i = 0; i < s.log_n; i++) {
    assert_int_equal(stat(s.logs[i].path, &st), 0);
    bytes += (uint64_t)st.st_size;
  }
  assert_int_equal(nd_store_bytes(&s), bytes);
  nd_store_close(&s);
  ok(nd_store_open(&s, dir, &err)); /* and again, from the files alone */
  for (uint32_t t = 0; t < TASKS; t++)
    for (uint32_t p = 0; p < parts_of(t); p++) assert_true(nd_store_has(&s, t, p));
  assert_false(nd_store_has(&s, 0, parts_of(0)));
  assert_false(nd_store_has(&s, TASKS, 0));
  ok(seal_store(&s, TASKS, &err));
  check_sealed(&s, TASKS);
  nd_store_close(&s);
  nd_store_close(&s); /* twice is harmless */
}

static void a_second_run_finishes_the_first(void **state) {
  (void)state;
  nd_store s;
  ok(nd_store_open(&s, dir, &err));
  write_all(&s, TASKS / 3); /* the last third of the tasks */
  assert_int_equal(seal_store(&s, TASKS, &err), ND_ERR_STATE);
  nd_store_close(&s);
  ok(nd_store_open(&s, dir, &err));
  size_t before = s.block_n;
  assert_true(before > 0 && s.have_n == before);
  write_all(&s, TASKS);
  assert_true(s.block_n > before);
  ok(seal_store(&s, TASKS, &err));
  check_sealed(&s, TASKS);
  nd_store_close(&s);
}

static void an_empty_store(void **state) {
  (void)state;
  nd_store s;
  ok(nd_store_open(&s, dir, &err));
  assert_false(nd_store_has(&s, 0, 0));
  assert_int_equal(nd_store_bytes(&s), 0);
  assert_int_equal(seal_store(&s, 1, &err), ND_ERR_STATE);
  assert_non_null(strstr(err.message, "--shard"));
  ok(seal_store(&s, 0, &err));
  assert_int_equal(s.documents, 0);
  nd_store_close(&s);
  assert_int_equal(nd_store_open(&s, "/nonexistent/of/tests", &err), ND_ERR_IO);
  nd_store_close(&s);
}

/* ---- gaps ---- */

static void one_log(uint32_t tasks, uint32_t skip_task, uint32_t skip_part) {
  nd_store s;
  nd_log log;
  ok(nd_store_open(&s, dir, &err));
  ok(nd_log_open(&log, &s, &err));
  for (uint32_t t = 0; t < tasks; t++)
    for (uint32_t p = 0; p < parts_of(t); p++)
      if (t != skip_task || p != skip_part) append(&log, t, p);
  ok(nd_log_close(&log, &err));
  nd_store_close(&s);
}

static nd_status seal(uint32_t tasks) {
  nd_store s;
  ok(nd_store_open(&s, dir, &err));
  nd_status status = seal_store(&s, tasks, &err);
  nd_store_close(&s);
  return status;
}

static void a_missing_part_is_found(void **state) {
  (void)state;
  for (uint32_t t = 0; t < 5; t++) {
    for (uint32_t p = 0; p < parts_of(t); p++) {
      one_log(5, t, p);
      assert_int_equal(seal(5), ND_ERR_STATE);
      char place[60];
      snprintf(place, sizeof place, "part %u of task %u", p, t);
      assert_non_null(strstr(err.message, place));
      empty_dir(NULL);
    }
  }
  one_log(5, 99, 0);
  assert_int_equal(seal(5), ND_OK);
  assert_int_equal(seal(6), ND_ERR_STATE);
  assert_int_equal(seal(4), ND_ERR_STATE); /* more than there should be */
}

static void a_part_after_the_last_is_found(void **state) {
  (void)state;
  nd_store s;
  nd_log log;
  one_log(3, 99, 0);
  ok(nd_store_open(&s, dir, &err));
  ok(nd_log_open(&log, &s, &err));
  append(&log, 2, parts_of(2) + 1);
  ok(nd_log_close(&log, &err));
  nd_store_close(&s);
  assert_int_equal(seal(3), ND_ERR_STATE);
  empty_dir(NULL);
  one_log(3, 99, 0); /* the begin of a task that is none */
  ok(nd_store_open(&s, dir, &err));
  ok(nd_log_open(&log, &s, &err));
  append(&log, 3, 0);
  ok(nd_log_close(&log, &err));
  nd_store_close(&s);
  assert_int_equal(seal(3), ND_ERR_STATE);
}

static void a_part_twice_counts_once(void **state) {
  (void)state;
  one_log(4, 99, 0);
  one_log(4, 99, 0);
  nd_store s;
  ok(nd_store_open(&s, dir, &err));
  ok(seal_store(&s, 4, &err));
  check_sealed(&s, 4);
  nd_store_close(&s);
}

/* Raw blocks hold no texts: their spans count from where the task begins. */
static void raw_spans(void **state) {
  (void)state;
  nd_store s;
  nd_log log;
  nd_block b = {0};
  ok(nd_store_open(&s, dir, &err));
  ok(nd_log_open(&log, &s, &err));
  for (uint32_t t = 0; t < 3; t++) {
    nd_block_start(&b, t, 0, 0, 0);
    for (uint32_t i = 0; i < 5; i++) {
      ok(nd_block_reserve(&b, &err));
      b.digest[i] = (nd_digest){0, 0};
      b.rank[i] = b.id_hash[i] = 0;
      b.offset[i] = ((uint64_t)t << 34) + 100 * i;
      b.length[i] = 10 + i;
      b.file[i] = b.line[i] = b.shingles[i] = b.text_end[i] = b.id_end[i] = b.url_end[i] = 0;
      b.head.docs++;
    }
    b.head.raw = 1;
    b.head.last = 1;
    ok(nd_block_finish(&b, &err));
    ok(nd_log_append(&log, &b, &err));
  }
  ok(nd_log_close(&log, &err));
  ok(seal_store(&s, 3, &err));
  for (uint32_t d = 0; d < 15; d++) {
    assert_int_equal(s.span[d].begin, 100 * (d % 5));
    assert_int_equal(s.span[d].n, 10 + d % 5);
    /* The same, read when they are asked for: from this document on to its block's end. */
    nd_span some[ND_SPANS];
    size_t n = 0;
    ok(nd_store_spans(some, &n, &s, d / 5, d, &err));
    assert_int_equal(n, 5 - d % 5);
    assert_memory_equal(some, s.span + d, n * sizeof *some);
    for (uint64_t nth = 1; nth <= 2; nth++) {
      nd_io_fail_at(nth, EIO);
      assert_int_equal(nd_store_spans(some, &n, &s, d / 5, d, &err), ND_ERR_IO);
      nd_io_fail_at(0, 0);
    }
  }
  nd_store_close(&s);
  nd_block_clear(&b);
}

/* ---- damage ---- */

static char log_path[600];
static void keep_path(const char *path) {
  snprintf(log_path, sizeof log_path, "%s", path);
}

static char *slurp(const char *path, size_t *n) {
  int fd = open(path, O_RDONLY);
  struct stat st;
  assert_true(fd >= 0 && fstat(fd, &st) == 0);
  char *bytes = malloc((size_t)st.st_size);
  assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
  close(fd);
  *n = (size_t)st.st_size;
  return bytes;
}

static void spit(const char *path, const char *bytes, size_t n) {
  int fd = open(path, O_WRONLY | O_TRUNC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, n), n);
  close(fd);
}

/* Blocks that end at or before byte `n`. */
static size_t whole_blocks(const char *bytes, size_t size, size_t n) {
  size_t count = 0;
  for (size_t at = 0; at < size; count++) {
    nd_block_header h;
    memcpy(&h, bytes + at, sizeof h);
    at += sizeof h + h.payload;
    if (at > n) break;
  }
  return count;
}

static void cuts_and_flips_cost_one_block(void **state) {
  (void)state;
  one_log(6, 99, 0);
  assert_int_equal(each_log(keep_path), 1);
  size_t n;
  char *bytes = slurp(log_path, &n);
  for (int round = 0; round < 300; round++) {
    size_t at = (size_t)nd_rng_below(&rng, n), want = whole_blocks(bytes, n, at);
    char bit = (char)(1 << nd_rng_below(&rng, 8));
    if (round % 2) {
      spit(log_path, bytes, at);
    } else {
      bytes[at] ^= bit;
      spit(log_path, bytes, n);
      bytes[at] ^= bit;
    }
    nd_store s;
    ok(nd_store_open(&s, dir, &err));
    assert_int_equal(s.block_n, want); /* all before the damage, none of it */
    for (size_t i = 0; i < s.block_n; i++)
      assert_true(nd_store_has(&s, s.blocks[i].head.task, s.blocks[i].head.part));
    assert_int_equal(seal_store(&s, 6, &err), ND_ERR_STATE);
    nd_store_close(&s);
  }
  free(bytes);
}

/* ---- faults ---- */

static nd_status live(nd_error *e) {
  nd_store s;
  nd_log log = {0};
  nd_block b = {0};
  nd_status status = nd_store_open(&s, dir, e);
  if (status == ND_OK) status = nd_log_open(&log, &s, e);
  for (uint32_t t = 0; t < 3 && status == ND_OK; t++) {
    for (uint32_t p = 0; p < parts_of(t) && status == ND_OK; p++) {
      if (nd_store_has(&s, t, p)) continue;
      status = fill(&b, t, p, e);
      if (status == ND_OK) status = nd_log_append(&log, &b, e);
    }
  }
  if (status == ND_OK)
    status = nd_log_close(&log, e);
  else
    nd_log_abandon(&log);
  if (status == ND_OK) status = seal_store(&s, 3, e);
  nd_store_close(&s);
  nd_block_clear(&b);
  return status;
}

static void every_fault_is_reported_and_survived(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
      nd_error e = {0};
      if (kind)
        nd_io_fail_at(nth, ENOSPC);
      else
        nd_mem_fail_at(nth);
      nd_status status = live(&e);
      hit = (kind ? nd_io_count() : nd_mem_count()) >= nth;
      nd_io_fail_at(0, 0);
      nd_mem_fail_at(0);
      /* a refused reservation of disk space is not a failure */
      if (hit && status != ND_OK) assert_int_equal(status, kind ? ND_ERR_IO : ND_ERR_MEMORY);
      if (!hit) assert_int_equal(status, ND_OK);
      ok(live(&e)); /* the next run finishes it */
      nd_store s;
      ok(nd_store_open(&s, dir, &err));
      ok(seal_store(&s, 3, &err));
      check_sealed(&s, 3);
      nd_store_close(&s);
      empty_dir(NULL);
    }
  }
}

/* The disk is full at the fourth block: the three before it stay. */
static void a_full_disk_keeps_the_blocks_before(void **state) {
  (void)state;
  nd_store s;
  nd_log log;
  nd_block b = {0};
  ok(nd_store_open(&s, dir, &err));
  ok(nd_log_open(&log, &s, &err));
  for (uint32_t t = 0; t < 3; t++) append(&log, t, 0);
  ok(fill(&b, 3, 0, &err));
  nd_io_fail_at(1, ENOSPC);
  assert_int_equal(nd_log_append(&log, &b, &err), ND_ERR_IO);
  nd_io_fail_at(0, 0);
  nd_log_abandon(&log);
  nd_block_clear(&b);
  nd_store_close(&s);
  ok(nd_store_open(&s, dir, &err));
  for (uint32_t t = 0; t < 3; t++) assert_true(nd_store_has(&s, t, 0));
  assert_false(nd_store_has(&s, 3, 0));
  nd_store_close(&s);
}

/* The folder is gone: there is no place for a log. */
static void no_folder(void **state) {
  (void)state;
  nd_store s;
  nd_log log;
  char path[80];
  snprintf(path, sizeof path, "%s/sub", dir);
  assert_int_equal(mkdir(path, 0777), 0);
  ok(nd_store_open(&s, path, &err));
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(nd_log_open(&log, &s, &err), ND_ERR_IO);
  assert_non_null(strstr(err.message, "open for writing"));
  nd_log_abandon(&log);
  nd_store_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(threads_write_and_it_comes_back, empty_dir),
      cmocka_unit_test_teardown(a_second_run_finishes_the_first, empty_dir),
      cmocka_unit_test_teardown(an_empty_store, empty_dir),
      cmocka_unit_test_teardown(a_missing_part_is_found, empty_dir),
      cmocka_unit_test_teardown(a_part_after_the_last_is_found, empty_dir),
      cmocka_unit_test_teardown(a_part_twice_counts_once, empty_dir),
      cmocka_unit_test_teardown(raw_spans, empty_dir),
      cmocka_unit_test_teardown(no_folder, empty_dir),
      cmocka_unit_test_teardown(cuts_and_flips_cost_one_block, empty_dir),
      cmocka_unit_test_teardown(every_fault_is_reported_and_survived, empty_dir),
      cmocka_unit_test_teardown(a_full_disk_keeps_the_blocks_before, empty_dir)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
