/* Every operation with every kind of failure, at every call in turn.
 *
 * An operation is a row (fault_operations.h): it runs a job of the public API on a small
 * corpus and leaves what came out in a buffer.  A fault is a row: it makes one call of
 * memory, files or threads fail, or all of them short.  Expected each time: the
 * right status and a message, or the right bytes; no descriptor left open; and a
 * rerun without faults that gives the right bytes.  (Leaks are the address
 * sanitizer's to find.)
 *
 * NEARDUP_FAULTS=all tries every call, =all:2/8 of every eighth operation from the third
 * on (for several processes), =places one call of every place in the code
 * (told by who called whom), any other word every call of the operations that it
 * occurs in, =places:WORD one of every place in these; otherwise some operations
 * and as many calls as a few seconds allow, chosen at random. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "fault_operations.h"

#include "base/io.h"
#include "base/threads.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tiny_budget.h"

static nd_summary right; /* of a run without failures */

static const double SECONDS = 4; /* of all operations together */

/* --- faults -------------------------------------------------------------------------- */

static void no_faults(void) {
  nd_mem_fail_at(0);
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  nd_threads_fail_at(0);
  sink_fails = asked_fails = 0;
}

static void memory(uint64_t nth) {
  nd_mem_fail_at(nth);
}
static void full_disk(uint64_t nth) {
  nd_io_fail_at(nth, ENOSPC);
}
static void bad_disk(uint64_t nth) {
  nd_io_fail_at(nth, EIO);
}
static void no_descriptors(uint64_t nth) {
  nd_io_fail_at(nth, EMFILE);
}
static void read_only(uint64_t nth) {
  nd_io_fail_at(nth, EROFS);
}
static void interrupted(uint64_t nth) {
  nd_io_fail_at(nth, EINTR);
}
static void no_thread(uint64_t nth) {
  nd_threads_fail_at(nth);
}
static void short_calls(uint64_t nth) {
  nd_io_fail_at(UINT64_MAX, 0);
  nd_io_short(nth % 7 + 1);
}

static void closed_sink(uint64_t nth) {
  sink_calls = 0;
  sink_fails = nth;
}
static uint64_t count_sink(void) {
  return sink_calls;
}
static void cancelled(uint64_t nth) {
  asked = 0;
  asked_fails = nth;
}
static uint64_t count_asked(void) {
  return asked;
}

typedef struct fault {
  const char *name;
  void (*at)(uint64_t nth);
  uint64_t (*count)(void);
  void (*watch)(nd_watch watching); /* NULL: every call is a place */
  nd_status status;                 /* a failure's */
  bool harmless;                    /* nothing may come of it */
} fault;

static const fault faults[] = {
    {"no memory", memory, nd_mem_count, nd_mem_watch, ND_ERR_MEMORY, false},
    {"full disk", full_disk, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"bad disk", bad_disk, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"no descriptor", no_descriptors, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"read-only", read_only, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"interrupted", interrupted, nd_io_count, nd_io_watch, ND_ERR_IO, false},
    {"no thread", no_thread, nd_threads_count, NULL, ND_OK, true},
    {"short calls", short_calls, nd_io_count, NULL, ND_OK, true},
    {"closed sink", closed_sink, count_sink, NULL, ND_ERR_IO, false},
    {"cancelled", cancelled, count_asked, NULL, ND_ERR_CANCELLED, false},
};
enum { FAULTS = sizeof faults / sizeof *faults, MOST_CALLS = 8000 };

/* --- one failure -------------------------------------------------------------------- */

static void remove_out(void) {
  ok(nd_remove_tree(out_path, &err));
}

static int stop_soon(void *context) { /* asked by any thread */
  return atomic_fetch_add((_Atomic int *)context, 1) >= 4;
}

/* A run that was interrupted, for the operation to go on with. */
static void interrupt_first(const operation *op) {
  _Atomic int times = 0;
  nd_hooks hooks = {.context = &times, .cancelled = stop_soon};
  nd_options o = options_of(op);
  if (strstr(op->name, "apart")) snprintf(o.tmp, sizeof o.tmp, "%s", fault_dir);
  assert_int_equal(
      nd_dedup(&summary, &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = out_path},
               &o, &hooks, &err),
      ND_ERR_CANCELLED);
}

static nd_status run(nd_buf *out, const operation *op) {
  out->n = 0;
  err = (nd_error){0};
  return op->run(out, op);
}

static bool same_bytes(const nd_buf *a, const nd_buf *b) {
  return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* What came out, when it has to be right. */
static void check_result(nd_buf *got, const nd_buf *want, const operation *op, const char *when) {
  gather_result(got, op);
  if (!same_bytes(got, want)) fail_msg("%s: other bytes %s", op->name, when);
}

/* All but the list of what was rejected, the last file: one that cannot be read is a record there,
 * whatever the reason. */
static bool same_but_for_reasons(const nd_buf *a, const nd_buf *b) {
  static const char list[] = "rejected.tsv";
  const char *x = memmem(a->p, a->n, list, sizeof list - 1);
  const char *y = memmem(b->p, b->n, list, sizeof list - 1);
  return x && y && x - a->p == y - b->p && memcmp(a->p, b->p, (size_t)(x - a->p)) == 0;
}

static bool only_places(void) {
  const char *wanted = getenv("NEARDUP_FAULTS");
  return wanted && strncmp(wanted, "places", 6) == 0;
}

static void fail_once(nd_buf *got, const operation *op, const nd_buf *want, const fault *f,
                      uint64_t nth) {
  if (writes_folder(op)) remove_out();
  if (op->resumed) interrupt_first(op);
  size_t files = open_files();
  f->at(nth);
  nd_status status = run(got, op);
  uint64_t count = f->count();
  no_faults();
  if (open_files() != files)
    fail_msg("%s, %s at %lu: a descriptor is open", op->name, f->name, nth);
  if (status != ND_OK) {
    /* A document that is in a file that cannot be read is not there. */
    bool missing =
        strncmp(op->name, "explain", 7) == 0 && status == ND_ERR_DATA && f->status == ND_ERR_IO;
    if (f->harmless || (status != f->status && !missing) || !err.message[0])
      fail_msg("%s, %s at %lu: %s: %s", op->name, f->name, nth, nd_status_name(status),
               err.message);
    assert_true(count >= nth);
  } else if (summary.rejected == right.rejected && summary.documents == right.documents &&
             summary.against_documents == right.against_documents) {
    gather_result(got, op);
    const bool same = same_bytes(got, want);
    if (!same && (f->status != ND_ERR_IO || !same_but_for_reasons(got, want)))
      fail_msg("%s: other bytes after %s at %lu without consequence", op->name, f->name, nth);
    if (!same) remove_out();
  } else { /* an input that could not be read is rejected, and said to be */
    assert_int_equal(f->status, ND_ERR_IO);
    assert_true(summary.rejected > 0);
    if (writes_folder(op)) remove_out();
  }
  if (only_places() && nth % 8) return; /* reruns are tried elsewhere, mostly */
  /* A file that could not be looked into was read as a stream: other shares, another run. */
  if (op->run == run_wide && writes_folder(op) && f->status == ND_ERR_IO) remove_out();
  status = run(got, op);
  if (status != ND_OK)
    fail_msg("%s again after %s at %lu: %s", op->name, f->name, nth, err.message);
  check_result(got, want, op, "in the rerun");
  ok(remove_left_behind(fault_dir, &err));
  static const char *const known[] = {"corpus.jsonl", "second.jsonl", "truth.tsv", "out",
                                      "run1",         "run2",         "qrels",     "wide.jsonl",
                                      "copies.jsonl", "crowd.jsonl",  "pages0",    "pages1",
                                      "damaged0.gz",  "damaged1.gz",  "folder",    NULL};
  const char *left = left_behind(fault_dir, known);
  if (left[0]) fail_msg("%s, %s at %lu leaves behind:%s", op->name, f->name, nth, left);
}

/* How many calls there are to fail; or how many places, whose calls are in place_call. */
static uint64_t calls_of(nd_buf *got, const operation *op, const fault *f, bool places) {
  if (writes_folder(op)) remove_out();
  if (op->resumed) interrupt_first(op);
  f->at(UINT64_MAX);
  if (places) f->watch(note_place);
  ok(run(got, op));
  uint64_t n = f->at == short_calls ? 7 : f->count();
  no_faults();
  if (!places) return n;
  f->watch(NULL);
  return place_n;
}

/* Tries calls in random order until `end`: all of them, or where there are very many one of each
 * place. */
static uint64_t try_fault(nd_buf *got, const operation *op, const nd_buf *want, const fault *f,
                          double end) {
  /* A quick run tries a third of the kinds of failure with each operation. */
  if (!getenv("NEARDUP_FAULTS") && nd_rng_below(&rng, 3)) return 0;
  bool places = only_places() && f->watch;
  place_n = 0;
  place_kind = (uint64_t)(f - faults) + 1;
  uint64_t n = calls_of(got, op, f, places), tried = 0;
  if (!places && f->watch && n > MOST_CALLS && getenv("NEARDUP_FAULTS")) {
    forget_places();
    places = true;
    n = calls_of(got, op, f, places);
  }
  uint64_t *order = shuffled(n, &rng);
  for (size_t i = 0; places && i < n; i++) order[i] = place_call[i];
  if (only_places() && places && f->at != memory && f->at != bad_disk) {
    /* The same places with another error: some of them. */
    for (size_t i = 0; i < n / 4; i++) order[i] = order[4 * i];
    n /= 4;
  } else if (only_places() && !places && n > 64) {
    n = 64;
  }
  for (; tried < n && (tried == 0 || now() < end); tried++)
    fail_once(got, op, want, f, order[tried]);
  free(order);
  return tried;
}

static void try_operation(const operation *op, double seconds) {
  const char *wanted = getenv("NEARDUP_FAULTS");
  static unsigned turn;
  unsigned part = 0, parts = 1;
  if (wanted && sscanf(wanted, "all:%u/%u", &part, &parts) == 2) wanted = "all";
  if (turn++ % parts != part) return;
  if (only_places()) wanted = wanted[6] ? wanted + 7 : NULL;
  if (wanted && strcmp(wanted, "all") != 0 && !strstr(op->name, wanted)) return;
  if (!getenv("NEARDUP_FAULTS") && nd_rng_below(&rng, 4)) return; /* quick: some of them */
  nd_buf want = {0}, got = {0};
  uint64_t tried = 0;
  /* Errors travel far: a place is told by more of its callers, but in studies, which take long. */
  callers = strstr(op->name, "study") ? 10 : MOST_CALLERS;
  ok(nd_buf_reserve(&want, 1 << 20, &err)); /* the sink itself does not fail */
  ok(nd_buf_reserve(&got, 1 << 20, &err));
  if (writes_folder(op)) remove_out();
  ok(run(&want, op));
  right = summary;
  gather_result(&want, op);
  assert_true(want.n > 0);
  for (int i = 0; i < FAULTS; i++) {
    double end = now() + seconds / FAULTS;
    tried += try_fault(&got, op, &want, &faults[i], end);
  }
  print_message("%-28s %lu failures\n", op->name, tried);
  nd_buf_clear(&want);
  nd_buf_clear(&got);
}

/* --- tests --------------------------------------------------------------------------- */

static double share(size_t parts) {
  return getenv("NEARDUP_FAULTS") ? 1e9 : SECONDS / 2 / (double)parts;
}

static void operations_fail_cleanly(void **state) {
  (void)state;
  nd_mem_strict(only_places());
  make_varied_corpus(DOCUMENTS, true);
  for (size_t i = 0; i < operation_count; i++)
    try_operation(&operations[i], share(operation_count));
}

/* The words of --method in the table of options, so that a new one is here too. */
static void methods_fail_cleanly(void **state) {
  (void)state;
  make_varied_corpus(DOCUMENTS, true);
  size_t row = 0;
  while (strcmp(nd_option_at(row)->name, "method") != 0) row++;
  char words[400];
  size_t methods = 1;
  snprintf(words, sizeof words, "%s", nd_option_at(row)->values);
  for (const char *p = words; *p; p++) methods += *p == ' ';
  char *rest = NULL;
  for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    char name[40];
    snprintf(name, sizeof name, "pairs by %s", word);
    operation op = {name, run_pairs, {"method", word}, false};
    try_operation(&op, share(methods));
  }
}

/* Members of gzip with a few documents each, the first longer than what is read at a time; one of
 * the members is damaged. */
static void write_damaged(const char *path, int member) {
  enum { PAD = 300000 };
  char *pad = malloc(PAD);
  memset(pad, 'x', PAD);
  size_t begin[5] = {0};
  gzFile f;
  for (int i = 0; i < 4; i++) {
    assert_non_null(f = gzopen(path, i ? "ab" : "wb"));
    for (int k = 0; k < 6; k++) {
      assert_true(
          gzprintf(f, "{\"id\": \"%d-%d\", \"text\": \"a text of %d or %d\"", i, k, i, k / 2) > 0);
      if (k == 0) assert_true(gzprintf(f, ", \"pad\": \"") > 0);
      if (k == 0) assert_int_equal(gzwrite(f, pad, PAD), PAD);
      assert_true(gzprintf(f, k ? "}\n" : "\"}\n") > 0);
    }
    assert_int_equal(gzclose(f), Z_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    begin[i + 1] = (size_t)st.st_size;
  }
  free(pad);
  nd_buf b = {0};
  FILE *in = fopen(path, "rb");
  ok(nd_buf_reserve(&b, 1 << 16, &err));
  b.n = fread(b.p, 1, 1 << 16, in);
  fclose(in);
  size_t at = begin[member] + 10; /* behind the header */
  for (size_t i = at; i < at + 20; i++) b.p[i] ^= 0x55;
  write_file(path, &b);
  nd_buf_clear(&b);
}

static void put_response(nd_buf *b, int number, const char *type, nd_str body) {
  nd_buf http = {0};
  ok(nd_buf_printf(&http, &err, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n", type));
  ok(nd_buf_append(&http, body.p, body.n, &err));
  ok(nd_buf_printf(b, &err,
                   "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%d>\r\n"
                   "WARC-Target-URI: http://a.example.org/%d\r\n"
                   "Content-Type: application/http\r\nContent-Length: %zu\r\n\r\n",
                   number, number, http.n));
  ok(nd_buf_append(b, http.p, http.n, &err));
  put(b, "\r\n\r\n");
  nd_buf_clear(&http);
}

/* Pages in several charsets, with what web tokens are made of. */
static void write_pages(void) {
#define PAGE \
  "<p>one two three <img src=/pictures/a.gif> see http://b.example.org/x?y=1 four five six"
  nd_buf b = {0};
  put_response(&b, 1, "text/html; charset=windows-1252", nd_str_of(PAGE " caf\xe9 \x80 5"));
  put_response(&b, 2, "text/html; charset=gbk",
               nd_str_of(PAGE " \xc4\xe3\xba\xc3 \x80 \xff seven"));
  put_response(&b, 3, "text/html", nd_str_of("<meta charset=shift_jis>" PAGE " \x83\x65\x83\x58"));
  put_response(&b, 4, "text/plain; charset=utf-16le", (nd_str){"o\0n\0e\0 \0t\0w\0o\0", 14});
  put_response(&b, 5, "text/html; charset=utf-8", nd_str_of(PAGE " bad \xc3 byte"));
  put_response(&b, 6, "text/html; charset=iso-2022-jp", nd_str_of(PAGE " \x1b$B$\"\x1b(B"));
  put_response(&b, 7, "image/png", nd_str_of("\x89PNG"));
  write_file(pages_path[0], &b);
  b.n = 0;
  for (int i = 0; i < 3; i++)
    ok(nd_buf_printf(
        &b, &err,
        "<DOC>\n<DOCNO>T-%d</DOCNO>\n<DOCHDR>\nhttp://c.example.org/%d\nHTTP/1.0 200 OK\n"
        "Content-Type: text/html\n</DOCHDR>\n<TITLE>a title</TITLE>\n" PAGE "\n</DOC>\n",
        i, i));
  put(&b,
      "<DOC>\n<DOCNO>T-9</DOCNO>\n<HEAD>a head</HEAD>\n<TEXT>\none two three "
      "four\n</TEXT>\n</DOC>\n");
  write_file(pages_path[1], &b);
  nd_buf_clear(&b);
}

/* Copies in a packed archive, a packed file of which nothing is dropped, and what is no document.
 * Records of an archive are members. */
static void write_folder(void) {
  char path[300];
  nd_buf b = {0};
  assert_int_equal(mkdir(folder_path, 0777), 0);
  snprintf(path, sizeof path, "%s/archive.warc.gz", folder_path);
  for (int i = 0; i < 8; i++) {
    b.n = 0;
    put_response(&b, i, i == 7 ? "image/png" : "text/plain",
                 nd_str_of(i < 4 ? "a page of a few words, twice" : PAGE));
    gzFile f = gzopen(path, i ? "ab" : "wb");
    assert_int_equal(gzwrite(f, b.p, (unsigned)b.n), b.n);
    assert_int_equal(gzclose(f), Z_OK);
  }
  snprintf(path, sizeof path, "%s/deep", folder_path);
  assert_int_equal(mkdir(path, 0777), 0);
  snprintf(path, sizeof path, "%s/deep/whole.jsonl.gz", folder_path);
  gzFile f = gzopen(path, "wb");
  for (int i = 0; i < 4; i++)
    assert_true(gzprintf(f, "{\"text\": \"%d is a number, and %d another\"}\n", i, i * i) > 0);
  assert_int_equal(gzclose(f), Z_OK);
  b.n = 0;
  put(&b, "{\"text\": 1}\n");
  snprintf(path, sizeof path, "%s/wrong.jsonl", folder_path);
  write_file(path, &b);
  b.n = 0;
  put(&b, "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
  snprintf(path, sizeof path, "%s/info.warc", folder_path);
  write_file(path, &b);
  snprintf(path, sizeof path, "%s/gone", folder_path);
  assert_int_equal(symlink("nowhere", path), 0);
  nd_buf_clear(&b);
}

static int setup(void **state) {
  (void)state;
  if (!begin_folder(fault_dir, sizeof fault_dir, "faults")) return -1;
  snprintf(corpus_path, sizeof corpus_path, "%s/corpus.jsonl", fault_dir);
  snprintf(second_path, sizeof second_path, "%s/second.jsonl", fault_dir);
  snprintf(out_path, sizeof out_path, "%s/out", fault_dir);
  snprintf(truth_path, sizeof truth_path, "%s/truth.tsv", fault_dir);
  nd_buf truth = {0};
  for (int i = 0; i < 40; i += 2) ok(nd_buf_printf(&truth, &err, "d%d\td%d\t1\n", i, i + 1));
  write_file(truth_path, &truth);
  nd_buf_clear(&truth);
  nd_buf lines[3] = {{0}, {0}, {0}};
  for (int topic = 1; topic < 4; topic++) {
    for (int i = 0; i < 20; i++) {
      ok(nd_buf_printf(&lines[0], &err, "%d Q0 d%d %d %d.5 one\n", topic, i, i, 100 - i));
      ok(nd_buf_printf(&lines[1], &err, "%d Q0 d%d %d %d two\n", topic, 39 - i, i, 100 - i));
      ok(nd_buf_printf(&lines[2], &err, "%d 0 d%d %d\n", topic, 2 * i, i % 3));
    }
  }
  ok(nd_buf_printf(&lines[2], &err, "9 0 unseen 1\n")); /* in no run */
  const char *const names[3] = {"run1", "run2", "qrels"};
  char *const paths[3] = {run_path[0], run_path[1], qrels_path};
  for (int i = 0; i < 3; i++) {
    snprintf(paths[i], sizeof qrels_path, "%s/%s", fault_dir, names[i]);
    write_file(paths[i], &lines[i]);
    nd_buf_clear(&lines[i]);
  }
  for (int i = 0; i < 2; i++) {
    snprintf(damaged_path[i], sizeof damaged_path[i], "%s/damaged%d.gz", fault_dir, i);
    write_damaged(damaged_path[i], i ? 0 : 2);
  }
  for (int i = 0; i < 2; i++)
    snprintf(pages_path[i], sizeof pages_path[i], "%s/pages%d", fault_dir, i);
  write_pages();
  snprintf(folder_path, sizeof folder_path, "%s/folder", fault_dir);
  write_folder();
  nd_buf copies = {0};
  snprintf(copies_path, sizeof copies_path, "%s/copies.jsonl", fault_dir);
  for (int i = 0; i < 40; i++) /* the last ones differ a little */
    ok(nd_buf_printf(
        &copies, &err,
        "{\"id\": \"c%d\", \"url\": \"http://%d.example.org/\", \"text\": \"w%d is a word and then "
        "there are nine more of them, to end%s\"}\n",
        i, i % 5, i / 2, i < 30 || i % 2 ? "" : " here"));
  write_file(copies_path, &copies);
  nd_buf_clear(&copies);
  nd_buf crowd = {0};
  snprintf(crowd_path, sizeof crowd_path, "%s/crowd.jsonl", fault_dir);
  for (int i = 0; i < 130; i++)
    ok(nd_buf_printf(&crowd, &err,
                     "{\"id\": \"e%d\", \"url\": \"http://%d.example.org/%d\", \"text\": \"all "
                     "of them say the same and then w%d\"}\n",
                     i, i % 7, i, i));
  write_file(crowd_path, &crowd);
  nd_buf_clear(&crowd);
  nd_buf wide = {0};
  snprintf(wide_path, sizeof wide_path, "%s/wide.jsonl", fault_dir);
  for (int i = 0; i < 12; i++) {
    static const char line_end[] = "\"}\r\n";
    ok(nd_buf_printf(&wide, &err,
                     "{\"id\": %d, \"text\": \"a text of %d and %d words\", \"pad\": \"", i, i / 2,
                     i / 3));
    const size_t pad = i == 9 ? 900000 : 400000; /* over the end of a range */
    ok(nd_buf_reserve(&wide, pad, &err));
    memset(wide.p + wide.n, 'x', pad);
    wide.n += pad;
    ok(nd_buf_append(&wide, line_end, strlen(line_end), &err));
    if (i == 5) ok(nd_buf_printf(&wide, &err, "no record\n"));
  }
  write_file(wide_path, &wide);
  nd_buf_clear(&wide);
  setenv("TMPDIR", fault_dir, 1); /* where pairs puts its temporary files */
  return 0;
}

static int clear_faults(void **state) {
  (void)state;
  no_faults();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  remove_out();
  ok(nd_remove_tree(folder_path, &err));
  unlink(corpus_path);
  unlink(second_path);
  unlink(truth_path);
  unlink(run_path[0]);
  unlink(run_path[1]);
  unlink(qrels_path);
  unlink(wide_path);
  unlink(copies_path);
  unlink(crowd_path);
  unlink(pages_path[0]);
  unlink(pages_path[1]);
  unlink(damaged_path[0]);
  unlink(damaged_path[1]);
  corpus_clear();
  ok(remove_left_behind(fault_dir, &err)); /* of runs that lay apart and were not gone on with */
  return remove_folder(fault_dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(operations_fail_cleanly, clear_faults),
      cmocka_unit_test_teardown(methods_fail_cleanly, clear_faults),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
