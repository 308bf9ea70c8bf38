/* kept/: packed files large and small, files without a document, and inputs that change while they
 * are being copied. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "neardup.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tools.h"

static char dir[] = "/tmp/nd_test_kept_XXXXXX";

/* --- packed files ------------------------------------------------------------------- */

enum { FILES = 6, LINES = 12, PAD = 450000 };

/* Line `line` of file `file`; of two neighbours with `copies` the second is a copy. */
static void put_line(nd_buf *out, int file, int line, bool copies, size_t pad) {
  ok(nd_buf_printf(out, &err, "{\"text\": \"the words number %d of file %d here\", \"pad\": \"",
                   copies ? line / 2 : line, file));
  ok(nd_buf_reserve(out, pad, &err));
  memset(out->p + out->n, 'x', pad);
  out->n += pad;
  ok(nd_buf_append(out, "\"}\n", 3, &err));
}

typedef struct packed_file {
  const char *name, *mode; /* "wb0": as large as what is in it */
  bool copies;
  size_t pad;
} packed_file;

static const packed_file files[FILES] = {
    {"large.gz", "wb0", true, PAD}, {"large-whole.gz", "wb0", false, PAD},
    {"small.gz", "wb", true, 1000}, {"small-whole.gz", "wb", false, 1000},
    {"nothing.gz", "wb", false, 0}, /* of copies alone */
    {"blank", NULL, false, 0}};

static void read_whole(nd_buf *out, const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("%s is not there", path);
  out->n = 0;
  ok(nd_buf_reserve(out, 8 << 20, &err));
  out->n = fread(out->p, 1, 8 << 20, f);
  fclose(f);
}

static void read_packed(nd_buf *out, const char *path) {
  gzFile f = gzopen(path, "rb");
  if (!f) fail_msg("%s is not there", path);
  out->n = 0;
  ok(nd_buf_reserve(out, 8 << 20, &err));
  out->n = (size_t)gzread(f, out->p, 8 << 20);
  gzclose(f);
}

static void write_inputs(void) {
  nd_buf text = {0};
  for (int f = 0; f < FILES; f++) {
    text.n = 0;
    if (!files[f].mode) {
      FILE *plain = fopen(path_in(dir, files[f].name), "wb");
      assert_int_equal(fwrite("\n \n", 1, 3, plain), 3);
      fclose(plain);
      continue;
    }
    bool nothing = strcmp(files[f].name, "nothing.gz") == 0;
    for (int i = 0; i < LINES; i++)
      put_line(&text, nothing ? 1 : f, i, files[f].copies, files[f].pad);
    gzFile packed = gzopen(path_in(dir, files[f].name), files[f].mode);
    assert_non_null(packed);
    assert_int_equal(gzwrite(packed, text.p, (unsigned)text.n), text.n);
    assert_int_equal(gzclose(packed), Z_OK);
  }
  nd_buf_clear(&text);
}

static void remove_out(void) {
  ok(nd_remove_tree(path_in(dir, "out"), &err));
}

/* How often it was asked whether to stop; the time when it is. */
typedef struct asked {
  int times, stop_at;
} asked;

static int stop(void *context) {
  asked *a = context;
  return ++a->times == a->stop_at;
}

static nd_status run(nd_summary *s, asked *a) {
  static char paths[FILES][80];
  const char *inputs[FILES];
  nd_options o;
  nd_options_init(&o);
  o.threads = 1;
  ok(nd_options_set(&o, "format", "jsonl", &err));
  for (int f = 0; f < FILES; f++) {
    snprintf(paths[f], sizeof paths[f], "%s/%s", dir, files[f].name);
    inputs[f] = paths[f];
  }
  const nd_hooks hooks = {.context = a, .cancelled = stop};
  return nd_dedup(
      s, &(nd_dedup_request){.inputs = inputs, .input_n = FILES, .directory = path_in(dir, "out")},
      &o, &hooks, &err);
}

static void packed_files(void **state) {
  (void)state;
  nd_summary s;
  asked a = {0};
  nd_buf got = {0}, want = {0};
  write_inputs();
  ok(run(&s, &a));
  assert_int_equal(s.documents, 5 * LINES);
  assert_int_equal(s.dropped, 2 * LINES / 2 + LINES);
  for (int f = 0; f < FILES; f++) {
    char kept[100];
    snprintf(kept, sizeof kept, "%s/out/kept/%s", dir, files[f].name);
    if (strcmp(files[f].name, "nothing.gz") == 0) {
      assert_int_not_equal(access(kept, F_OK), 0);
    } else if (files[f].copies) { /* the first of each two */
      want.n = 0;
      for (int i = 0; i < LINES; i += 2) put_line(&want, f, i, true, files[f].pad);
      read_packed(&got, kept);
      assert_int_equal(got.n, want.n);
      assert_memory_equal(got.p, want.p, want.n);
    } else { /* the same bytes */
      read_whole(&want, path_in(dir, files[f].name));
      read_whole(&got, kept);
      assert_int_equal(got.n, want.n);
      assert_memory_equal(got.p, want.p, want.n);
    }
  }
  remove_out();
  /* The last times it is asked, the large file is being copied.  On a busy machine it may be asked
   * less often than before: then again. */
  for (int all = a.times, last = 0, tries = 0; last < 3;) {
    a = (asked){0, all - last};
    nd_status status = run(&s, &a);
    if (status == ND_OK && tries++ < 50) {
      all = a.times;
      remove_out();
      continue;
    }
    assert_int_equal(status, ND_ERR_CANCELLED);
    assert_int_equal(a.times, a.stop_at);
    assert_int_not_equal(access(path_in(dir, "out/summary.json"), F_OK), 0);
    remove_out();
    last++;
  }
  for (int f = 0; f < FILES; f++) unlink(path_in(dir, files[f].name));
  nd_buf_clear(&got);
  nd_buf_clear(&want);
}

/* --- inputs that change ------------------------------------------------------------- */

static void vanish(const char *path) {
  assert_int_equal(unlink(path), 0);
}
static void grow(const char *path) {
  struct stat before;
  assert_int_equal(stat(path, &before), 0);
  assert_int_equal(truncate(path, before.st_size + 7), 0);
  const struct timespec times[2] = {before.st_atim, before.st_mtim};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}
static void touch(const char *path) {
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

typedef struct change {
  void (*how)(const char *path);
  bool late; /* when copying has begun */
  bool done;
} change;

static void note_progress(void *context, const nd_progress *p) {
  change *c = context;
  if (strcmp(p->stage, "write") != 0 || c->done || (c->late && p->total == 0)) return;
  c->how(path_in(dir, "corpus.jsonl"));
  c->done = true;
}

static void changed_inputs(void **state) {
  (void)state;
  static const change cases[] = {{vanish, false, false},
                                 {grow, false, false},
                                 {touch, false, false},
                                 {grow, true, false},
                                 {touch, true, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    change c = cases[i];
    nd_options o;
    nd_summary s;
    char path[80];
    snprintf(path, sizeof path, "%s/corpus.jsonl", dir);
    const char *input = path;
    FILE *f = fopen(path, "wb");
    for (int k = 0; k < 10; k++) fprintf(f, "{\"text\": \"the words of number %d\"}\n", k / 2);
    fclose(f);
    nd_options_init(&o);
    o.threads = 1;
    const nd_hooks hooks = {.context = &c, .progress = note_progress};
    nd_status status = nd_dedup(
        &s, &(nd_dedup_request){.inputs = &input, .input_n = 1, .directory = path_in(dir, "out")},
        &o, &hooks, &err);
    assert_true(c.done);
    if (status != ND_ERR_STATE || !strstr(err.message, "has changed while it was being read"))
      fail_msg("case %zu: %s: %s", i, nd_status_name(status), err.message);
    unlink(path);
    remove_out();
  }
}

static int setup(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return rmdir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packed_files),
      cmocka_unit_test(changed_inputs),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
