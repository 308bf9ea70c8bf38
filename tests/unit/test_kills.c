/* dedup killed before any of its file calls, and what it left behind damaged.
 *
 * A child runs the job and is killed (SIGKILL) before call number n, for every n
 * from the first to the last: that is every step of a checkpoint, and all between
 * them.  Its successor is killed too, while it resumes.  Expected each time: the
 * directory is the whole result or can be resumed, the last run gives the bytes
 * of an undisturbed one, and no other file is left.
 *
 * Then a bit is flipped, or the file cut, in every section of every file that an
 * interrupted run or `sketch` leaves: noticed each time.
 *
 * NEARDUP_KILLS=all kills before every call; otherwise as many as a few seconds
 * allow, chosen at random. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/io.h"
#include "fault_tools.h"
#include "settings/option_fields.h"
#include "store/block.h"
#include "store/workdir.h"

enum { DOCUMENTS = 40, MOST_SECTIONS = 400 };
static const double SECONDS = 0.7; /* of each way to run */

static char dir[200], out_path[240], tmp_path[240], sketch_path[240];
static const char *inputs[2] = {corpus_path, second_path};

/* --- ways to run --------------------------------------------------------------------- */

typedef struct way {
  const char *name;
  const char *options[6]; /* name, value, … */
  size_t moved;           /* bytes a single read or write moves at most; 0: any number */
  bool elsewhere;         /* --tmp */
  bool sharded;
} way;

static const way ways[] = {
    {"dedup", {NULL}, 0, false, false},
    {"dedup, torn writes", {NULL}, 300, false, false},
    {"dedup with --tmp", {"keep", "longest"}, 0, true, false},
    {"dedup in shards", {NULL}, 0, false, true},
    {"dedup by simhash, one thread", {"method", "simhash", "threads", "1"}, 0, false, false},
};

static nd_status dedup(nd_summary *s, const way *w) {
  nd_options o;
  nd_options_init(&o);
  o.threads = 2;
  o.memory = 64 << 20;
  for (size_t i = 0; w->options[i]; i += 2)
    ok(nd_options_set(&o, w->options[i], w->options[i + 1], &err));
  if (w->elsewhere) snprintf(o.tmp, sizeof o.tmp, "%s", tmp_path);
  nd_status status = ND_OK;
  const char *const shards[] = {"1/2", "2/2", ""};
  for (int i = w->sharded ? 0 : 2; i < 3 && status == ND_OK; i++) {
    snprintf(o.shard, sizeof o.shard, "%s", shards[i]);
    status = nd_dedup(s, &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = out_path},
                      &o, NULL, &err);
  }
  return status;
}

/* In a child: killed before call `nth`; true when it was, false when it came to its end. */
static bool killed_at(const way *w, uint64_t nth) {
  fflush(stdout);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    nd_summary s;
    nd_io_short(w->moved);
    nd_io_fail_at(nth, ND_IO_KILL);
    _exit(dedup(&s, w) == ND_OK ? 0 : 1);
  }
  int how;
  while (waitpid(child, &how, 0) < 0) assert_int_equal(errno, EINTR);
  if (WIFEXITED(how)) assert_int_equal(WEXITSTATUS(how), 0);
  if (WIFSIGNALED(how)) assert_int_equal(WTERMSIG(how), SIGKILL);
  return WIFSIGNALED(how);
}

static uint64_t count_calls(const way *w) {
  nd_summary s;
  ok(nd_remove_tree(out_path, &err));
  nd_io_short(w->moved);
  nd_io_fail_at(UINT64_MAX, ND_IO_KILL);
  ok(dedup(&s, w));
  uint64_t n = nd_io_count();
  nd_io_fail_at(0, 0);
  nd_io_short(0);
  return n;
}

/* --- what is left ---------------------------------------------------------------------- */

static const char *const results[] = {
    "kept", "pairs.tsv", "clusters.tsv", "rejected.tsv", "report.html", "summary.json", NULL};

/* What a directory without .neardup holds is a whole result, or nothing. */
static void expect_no_half_truth(const way *w, const nd_buf *want, uint64_t nth) {
  char hidden[300], summary[300];
  nd_file_info there, made;
  snprintf(hidden, sizeof hidden, "%s/.neardup", out_path);
  snprintf(summary, sizeof summary, "%s/summary.json", out_path);
  ok(nd_io_probe(&there, hidden, &err));
  if (there.exists) return;
  nd_buf got = {0};
  gather(&got, out_path);
  ok(nd_io_probe(&made, summary, &err));
  bool whole = made.exists && got.n == want->n && memcmp(got.p, want->p, got.n) == 0;
  if (!whole && got.n)
    fail_msg("%s, killed before call %lu: a result that is not whole", w->name, nth);
  nd_buf_clear(&got);
}

static void expect_right(const way *w, const nd_buf *want, const char *when) {
  static const char *const known[] = {"corpus.jsonl", "second.jsonl", "out", "tmp", NULL};
  static const char *const nothing[] = {NULL};
  nd_summary s;
  err = (nd_error){0};
  nd_status status = dedup(&s, w);
  if (status != ND_OK) fail_msg("%s, %s: the rerun says %s", w->name, when, err.message);
  nd_buf got = {0};
  gather(&got, out_path);
  if (got.n != want->n || memcmp(got.p, want->p, got.n) != 0)
    fail_msg("%s, %s: other bytes", w->name, when);
  nd_buf_clear(&got);
  if (left_behind(out_path, results)[0])
    fail_msg("%s, %s: the directory also holds%s", w->name, when, left_behind(out_path, results));
  if (left_behind(tmp_path, nothing)[0])
    fail_msg("%s, %s: --tmp holds%s", w->name, when, left_behind(tmp_path, nothing));
  if (left_behind(dir, known)[0])
    fail_msg("%s, %s: stray files:%s", w->name, when, left_behind(dir, known));
}

static void kill_one_way(const way *w) {
  bool all = getenv("NEARDUP_KILLS") != NULL;
  nd_buf want = {0};
  uint64_t n = count_calls(w), first = 0, second = 0;
  gather(&want, out_path);
  assert_true(want.n > 0);
  uint64_t *order = shuffled(n, &rng);
  double end = now() + SECONDS;
  for (uint64_t i = 0; i < n && (all || now() < end); i++) {
    char when[100];
    uint64_t again = 1 + nd_rng_below(&rng, n);
    ok(nd_remove_tree(out_path, &err));
    if (killed_at(w, order[i])) first++;
    expect_no_half_truth(w, &want, order[i]);
    if (killed_at(w, again)) second++; /* while it resumes; not when that is done before */
    expect_no_half_truth(w, &want, again);
    snprintf(when, sizeof when, "killed before call %lu and then %lu", order[i], again);
    expect_right(w, &want, when);
  }
  assert_true(first > 0);
  print_message("%-30s %lu calls: %lu kills, %lu more of the resumed run\n", w->name, n, first,
                second);
  free(order);
  nd_buf_clear(&want);
  ok(nd_remove_tree(out_path, &err));
}

static void every_call_may_be_the_last(void **state) {
  (void)state;
  make_varied_corpus(DOCUMENTS, true);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) kill_one_way(&ways[i]);
}

/* --- damage ------------------------------------------------------------------------------ */

typedef struct section {
  const char *name;
  size_t begin, end;
} section;

static section sections[MOST_SECTIONS];
static size_t section_n;

static void add_section(const char *name, size_t begin, size_t end) {
  if (begin == end) return;
  assert_true(begin < end && section_n < MOST_SECTIONS);
  sections[section_n++] = (section){name, begin, end};
}

static char *slurp(size_t *n, const char *path) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *bytes = malloc(1 << 22);
  *n = fread(bytes, 1, 1 << 22, f);
  fclose(f);
  return bytes;
}

static void spit(const char *path, const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  fclose(f);
}

static void sections_of_blocks(const char *bytes, size_t n) {
  static const char *const names[] = {"digest",   "bands",  "sketch", "rank", "id_hash",
                                      "offset",   "length", "file",   "line", "shingles",
                                      "text_end", "id_end", "url_end"};
  section_n = 0;
  for (size_t at = 0; at + sizeof(nd_block_header) <= n;) {
    nd_block_header h;
    memcpy(&h, bytes + at, sizeof h);
    if (!h.payload) break; /* reserved space */
    add_section("magic", at, at + 8);
    add_section("checksum", at + 8, at + 16);
    add_section("payload", at + 16, at + 24);
    add_section("header", at + 24, at + sizeof h);
    for (int c = 0; c < ND_COLUMNS; c++)
      add_section(names[c], at + nd_block_column(&h, (nd_column)c),
                  at + nd_block_column(&h, (nd_column)(c + 1)));
    size_t p = at + nd_block_column(&h, ND_COLUMNS);
    add_section("ids", p, p + h.id_bytes);
    add_section("texts", p + h.id_bytes, p + h.id_bytes + h.text_bytes);
    p += h.id_bytes + h.text_bytes;
    add_section("rejects", p, p + h.reject_bytes);
    add_section("starts", p + h.reject_bytes, p + h.reject_bytes + 8 * h.starts);
    add_section("urls", at + nd_block_urls(&h), at + nd_block_urls(&h) + h.url_bytes);
    at += sizeof h + h.payload;
  }
}

/* What an interrupted run leaves: its manifest and its logs of blocks. */
typedef struct left {
  char name[64];
  char *bytes;
  size_t n;
} left;

enum { MOST_LEFT = 8 };
static left lefts[MOST_LEFT];
static size_t left_n;

static void hidden_path(char *out, size_t room, const char *name) {
  snprintf(out, room, "%s/.neardup/%.64s", out_path, name);
}

static void forget_left(void) {
  while (left_n) free(lefts[--left_n].bytes);
}

/* Takes what is there; the number of its blocks' bytes. */
static size_t take_left(void) {
  char path[400];
  size_t bytes = 0;
  forget_left();
  hidden_path(path, sizeof path, "");
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d)) && left_n < MOST_LEFT;) {
    bool log = strncmp(e->d_name, "blocks-", 7) == 0;
    if (!log && strcmp(e->d_name, "manifest") != 0) continue;
    left *l = &lefts[left_n++];
    snprintf(l->name, sizeof l->name, "%.63s", e->d_name);
    hidden_path(path, sizeof path, l->name);
    l->bytes = slurp(&l->n, path);
    if (log) bytes += l->n;
  }
  if (d) closedir(d);
  return bytes;
}

static void put_back(void) {
  char path[400];
  ok(nd_remove_tree(out_path, &err));
  hidden_path(path, sizeof path, "");
  ok(nd_io_mkdirs(path, &err));
  for (size_t i = 0; i < left_n; i++) {
    hidden_path(path, sizeof path, lefts[i].name);
    spit(path, lefts[i].bytes, lefts[i].n);
  }
}

/* Kills a run once it has read something; the number of documents that can be resumed. */
static uint64_t interrupt(const way *w, uint64_t calls) {
  for (uint64_t nth = calls * 3 / 4; nth > 0; nth -= nth / 8 + 1) {
    ok(nd_remove_tree(out_path, &err));
    if (!killed_at(w, nth) || take_left() == 0) continue;
    nd_summary s;
    ok(dedup(&s, w));
    if (s.resumed_documents) return s.resumed_documents;
  }
  fail_msg("%s: no kill left a block", w->name);
  return 0;
}

/* Spoils one place of a section in what was left, or in any file. */
static void spoil(const char *path, char *bytes, size_t n, const section *s, bool cut) {
  size_t at = s->begin + (size_t)nd_rng_below(&rng, s->end - s->begin);
  char bit = (char)(1 << nd_rng_below(&rng, 8));
  if (!cut) bytes[at] ^= bit;
  spit(path, bytes, cut ? at : n);
  if (!cut) bytes[at] ^= bit;
}

/* A damaged block does not count, and its documents are read again; a damaged manifest is
 * another run's. */
static void damage_left(const way *w, const nd_buf *want, uint64_t resumable, const left *l) {
  nd_summary s;
  char path[400], when[100];
  bool log = strcmp(l->name, "manifest") != 0;
  hidden_path(path, sizeof path, l->name);
  for (size_t i = 0; i < 2 * section_n; i++) {
    const section *part = &sections[i / 2];
    snprintf(when, sizeof when, "%s %s", part->name, i & 1 ? "cut" : "flipped");
    put_back();
    spoil(path, l->bytes, l->n, part, i & 1);
    nd_status status = dedup(&s, w);
    if (!log && status != ND_ERR_STATE)
      fail_msg("%s, %s: %s", w->name, when, nd_status_name(status));
    if (log && (status != ND_OK || s.resumed_documents >= resumable))
      fail_msg("%s, %s: %s, and %lu documents were resumed", w->name, when, nd_status_name(status),
               s.resumed_documents);
    if (log) expect_right(w, want, when);
  }
}

static void damage_is_noticed(void **state) {
  (void)state;
  static const way kinds[] = {
      {"dedup", {"keep", "longest"}, 0, false, false},
      {"dedup by sites", {"method", "combined-site"}, 0, false, false},
  };
  size_t damages = 0;
  make_varied_corpus(DOCUMENTS, true);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    nd_buf want = {0};
    uint64_t calls = count_calls(&kinds[k]);
    gather(&want, out_path);
    uint64_t resumable = interrupt(&kinds[k], calls);
    for (size_t i = 0; i < left_n; i++) {
      section_n = 0;
      if (strcmp(lefts[i].name, "manifest") == 0)
        add_section("manifest", 0, lefts[i].n);
      else
        sections_of_blocks(lefts[i].bytes, lefts[i].n);
      damages += 2 * section_n;
      damage_left(&kinds[k], &want, resumable, &lefts[i]);
    }
    forget_left();
    nd_buf_clear(&want);
    ok(nd_remove_tree(out_path, &err));
  }
  print_message("%zu damages of blocks and manifests\n", damages);
}

static uint64_t number_at(const char *p, int n) {
  uint64_t x = 0;
  while (n-- > 0) x = x << 8 | (unsigned char)p[n];
  return x;
}

/* docs/formats.md draws the file. */
static void sections_of_sketches(const char *bytes, size_t n) {
  static const struct {
    const char *name;
    size_t bytes;
  } head[] = {{"magic", 8}, {"order", 4},     {"version", 4}, {"size of parameters", 4},
              {"words", 4}, {"documents", 8}, {"chunks", 8},  {"size", 8}};
  size_t at = 0;
  section_n = 0;
  for (size_t i = 0; i < sizeof head / sizeof *head; at += head[i++].bytes)
    add_section(head[i].name, at, at + head[i].bytes);
  add_section("checksum", 56, 64);
  size_t parameters = (size_t)number_at(bytes + 16, 4), words = (size_t)number_at(bytes + 20, 4);
  add_section("parameters", 64, 64 + parameters);
  for (at = 64 + (parameters + 7) / 8 * 8; at < n;) {
    size_t count = (size_t)number_at(bytes + at, 4), ids = (size_t)number_at(bytes + at + 4, 4);
    add_section("documents of a chunk", at, at + 4);
    add_section("bytes of its ids", at + 4, at + 8);
    add_section("checksum of a chunk", at + 8, at + 16);
    at += 16;
    add_section("digests", at, at + 16 * count);
    at += 16 * count;
    add_section("rows", at, at + 8 * words * count);
    at += 8 * words * count;
    add_section("shingles", at, at + 4 * count);
    add_section("ends of ids", at + 4 * count, at + 8 * count);
    at += 8 * count;
    add_section("ids", at, at + ids);
    at += (ids + 7) / 8 * 8;
  }
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static void damaged_sketches_are_refused(void **state) {
  (void)state;
  make_varied_corpus(DOCUMENTS, true);
  const char *file = sketch_path;
  nd_options o;
  nd_summary s;
  nd_buf pairs = {0};
  nd_sink sink = {&pairs, collect};
  nd_options_init(&o);
  ok(nd_sketch_documents(&s,
                         &(nd_sketch_request){.inputs = inputs, .input_n = 2, .file = sketch_path},
                         &o, NULL, &err));
  ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &file, .input_n = 1, .sink = &sink}, &o, NULL,
              &err));
  size_t n;
  char *bytes = slurp(&n, sketch_path);
  sections_of_sketches(bytes, n);
  assert_true(section_n >= 18);
  for (size_t i = 0; i < 2 * section_n; i++) {
    spoil(sketch_path, bytes, n, &sections[i / 2], i & 1);
    pairs.n = 0;
    err.message[0] = '\0';
    nd_status status = nd_pairs(
        &s, &(nd_pairs_request){.inputs = &file, .input_n = 1, .sink = &sink}, &o, NULL, &err);
    /* Without its magic, it is a text like any other. */
    bool text = sections[i / 2].begin == 0 && status == ND_OK && s.documents == 1;
    if (!text && (status != ND_ERR_DATA || !err.message[0] || pairs.n))
      fail_msg("%s %s: %s: %s", sections[i / 2].name, i & 1 ? "cut" : "flipped",
               nd_status_name(status), err.message);
  }
  print_message("%zu damages of a sketch file\n", 2 * section_n);
  free(bytes);
  nd_buf_clear(&pairs);
  unlink(sketch_path);
}

/* --- the group ----------------------------------------------------------------------------- */

static int setup(void **state) {
  (void)state;
  if (!begin_folder(dir, sizeof dir, "kills")) return -1;
  snprintf(corpus_path, sizeof corpus_path, "%s/corpus.jsonl", dir);
  snprintf(second_path, sizeof second_path, "%s/second.jsonl", dir);
  snprintf(out_path, sizeof out_path, "%s/out", dir);
  snprintf(tmp_path, sizeof tmp_path, "%s/tmp", dir);
  snprintf(sketch_path, sizeof sketch_path, "%s/sketches", dir);
  setenv("TMPDIR", dir, 1);
  return nd_io_mkdirs(tmp_path, &err) == ND_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  ok(nd_remove_tree(out_path, &err));
  ok(nd_remove_tree(tmp_path, &err));
  unlink(corpus_path);
  unlink(second_path);
  corpus_clear();
  return remove_folder(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_may_be_the_last),
      cmocka_unit_test(damage_is_noticed),
      cmocka_unit_test(damaged_sketches_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
