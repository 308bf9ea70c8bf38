/* The jobs through the public API, against a naive reading of the same corpus:
 * all pairs compared in integers, greedy clusters, and what is written.  Then
 * the same job interrupted, and with every allocation and every system call
 * failing in turn: it fails cleanly, and a rerun gives the same bytes. */
#include <dirent.h>
#include <errno.h>
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
#include <xxhash.h>

#include "base/io.h"
#include "fault_tools.h"
#include "naive_corpus.h"
#include "settings/option_fields.h"
#include "store/workdir.h"

static char dir[] = "/tmp/nd_test_pipeline_XXXXXX";
static char out_path[80];
static const char *inputs[2] = {corpus_path, second_path};

/* ---- results ---- */

static size_t number_of(const char *id) {
  assert_int_equal(id[0], 'd');
  size_t i = (size_t)strtoul(id + 1, NULL, 10);
  assert_true(i < doc_n);
  return i;
}

static void read_file_text(nd_buf *out, const char *folder, const char *name) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("%s is missing", path);
  out->n = 0;
  for (;;) {
    ok(nd_buf_reserve(out, 1 << 16, &err));
    size_t got = fread(out->p + out->n, 1, 1 << 16, f);
    out->n += got;
    if (got == 0) break;
  }
  out->p[out->n] = '\0';
  fclose(f);
}

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static uint8_t paired[MOST_DOCS][MOST_DOCS];
static uint64_t true_pairs, found_pairs;

/* Every line is true, exact and in order; how many of all are there? */
static void check_pairs(char *text, const nd_options *o, bool collapsed) {
  memset(paired, 0, sizeof paired);
  size_t last_a = 0, last_b = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    char a_id[32], b_id[32], shown[32], want[32];
    assert_int_equal(sscanf(line, "%31[^\t]\t%31[^\t]\t%31s", a_id, b_id, shown), 3);
    size_t a = number_of(a_id), b = number_of(b_id);
    assert_true(a < b);
    assert_true(a > last_a || (a == last_a && b > last_b));
    last_a = a;
    last_b = b;
    uint64_t common, joint;
    overlap(&common, &joint, &docs[a], &docs[b]);
    if (!reaches(common, joint, o)) fail_msg("%s: %lu of %lu", line, common, joint);
    double similarity = (double)common / (double)joint;
    snprintf(want, sizeof want, "%.6f", similarity);
    assert_string_equal(shown, want);
    paired[a][b] = paired[b][a] = 1;
  }
  for (size_t b = 0; b < doc_n; b++) {
    bool first = true; /* of its copies */
    for (size_t a = 0; a < b; a++) {
      uint64_t common, joint;
      bool copy = same_tokens(&docs[a], &docs[b]);
      if (copy && first) assert_true(paired[a][b]); /* copies are never missed */
      if (copy && collapsed && !first) assert_false(paired[a][b]);
      if (copy) first = false;
      if (collapsed) continue;
      if (copy) assert_true(paired[a][b]);
      overlap(&common, &joint, &docs[a], &docs[b]);
      if (copy || !reaches(common, joint, o)) continue;
      true_pairs++;
      found_pairs += paired[a][b];
    }
  }
}

/* ---- the naive clustering ---- */

static size_t order[MOST_DOCS], group[MOST_DOCS], centre[MOST_DOCS];
static nd_keep order_keep;

static int by_wish(const void *x, const void *y) {
  size_t a = *(const size_t *)x, b = *(const size_t *)y;
  size_t m = docs[a].text_bytes, n = docs[b].text_bytes;
  if (order_keep == ND_KEEP_LONGEST && m != n) return m > n ? -1 : 1;
  if (order_keep == ND_KEEP_SHORTEST && m != n) return m < n ? -1 : 1;
  return a < b ? -1 : a > b;
}

static bool neighbours(size_t a, size_t b) {
  return group[a] == group[b] || paired[group[a]][group[b]];
}

/* Documents in the wanted order: one that is not claimed stays and claims. */
static void cluster_naively(bool star, nd_keep keep) {
  order_keep = keep;
  for (size_t i = 0; i < doc_n; i++) {
    order[i] = group[i] = i;
    centre[i] = SIZE_MAX;
    for (size_t j = 0; j < i && group[i] == i; j++)
      if (same_tokens(&docs[i], &docs[j])) group[i] = j;
  }
  qsort(order, doc_n, sizeof *order, by_wish);
  for (size_t p = 0; p < doc_n; p++) {
    size_t a = order[p];
    if (centre[a] != SIZE_MAX) continue;
    centre[a] = a;
    bool grown = docs[a].tokens > 0;
    while (grown) {
      grown = false;
      for (size_t b = 0; b < doc_n; b++) {
        if (centre[b] != SIZE_MAX || docs[b].tokens == 0) continue;
        bool joins = neighbours(a, b);
        for (size_t c = 0; !star && !joins && c < doc_n; c++)
          joins = centre[c] == a && neighbours(c, b);
        if (!joins) continue;
        centre[b] = a;
        grown = !star;
      }
    }
  }
}

static void check_clusters(char *text, const nd_options *o, bool star) {
  size_t size[MOST_DOCS] = {0}, lines = 0, wanted = 0, last = SIZE_MAX;
  for (size_t i = 0; i < doc_n; i++) size[centre[i]]++;
  for (size_t i = 0; i < doc_n; i++) wanted += size[centre[i]] > 1;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
    char id[32], kept_id[32], word[32], shown[32], want[32];
    assert_int_equal(sscanf(line, "%31[^\t]\t%31[^\t]\t%31[^\t]\t%31s", id, kept_id, word, shown),
                     4);
    size_t i = number_of(id), k = number_of(kept_id);
    assert_true(last == SIZE_MAX || i > last);
    last = i;
    if (centre[i] != k) fail_msg("%s, but by hand it goes to d%zu", line, centre[i]);
    assert_string_equal(word, i == k ? "kept" : "dropped");
    uint64_t common, joint;
    overlap(&common, &joint, &docs[i], &docs[k]);
    double similarity = (double)common / (double)joint;
    snprintf(want, sizeof want, "%.6f", similarity);
    assert_string_equal(shown, want);
    if (star) assert_true(reaches(common, joint, o));
  }
  assert_int_equal(lines, wanted);
}

/* kept/ is the input without the dropped and the rejected lines. */
static void check_kept(const char *out) {
  nd_buf got = {0}, want = {0};
  for (size_t f = 0; f < 2; f++) {
    want.n = 0;
    const nd_buf *b = &text_of[f];
    size_t next = f ? doc_n / 2 : 0;
    for (size_t at = 0; at < b->n;) {
      const char *newline = memchr(b->p + at, '\n', b->n - at);
      size_t n = (size_t)(newline - b->p) + 1 - at;
      bool stays = b->p[at] != '{'; /* blank */
      if (next < doc_n && docs[next].file == f && docs[next].at == at) {
        stays = centre[next] == next;
        next++;
      }
      if (stays) ok(nd_buf_append(&want, b->p + at, n, &err));
      at += n;
    }
    read_file_text(&got, out, f ? "kept/second.jsonl" : "kept/corpus.jsonl");
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
  }
  nd_buf_clear(&got);
  nd_buf_clear(&want);
}

/* ---- running ---- */

static int setup(void **state) {
  (void)state;
  rng.state = test_seed();
  if (!mkdtemp(dir)) return -1;
  snprintf(corpus_path, sizeof corpus_path, "%s/corpus.jsonl", dir);
  snprintf(second_path, sizeof second_path, "%s/second.jsonl", dir);
  snprintf(out_path, sizeof out_path, "%s/out", dir);
  setenv("TMPDIR", dir, 1); /* where pairs puts its temporary files */
  return 0;
}

static void remove_out(void) {
  ok(nd_remove_tree(out_path, &err));
}

static int teardown(void **state) {
  (void)state;
  remove_out();
  unlink(corpus_path);
  unlink(second_path);
  corpus_clear();
  return remove_folder(dir);
}

static int clear_hooks(void **state) {
  (void)state;
  nd_mem_fail_at(0);
  nd_io_fail_at(0, 0);
  return 0;
}

static nd_options standard(void) {
  nd_options o;
  nd_options_init(&o);
  o.threads = 1 + nd_rng_below(&rng, 3);
  o.memory = 64 << 20;
  return o;
}

static void set(nd_options *o, const char *name, const char *value) {
  ok(nd_options_set(o, name, value, &err));
}

static nd_status dedup(nd_summary *s, const nd_options *o, const nd_hooks *hooks) {
  return nd_dedup(s, &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = out_path}, o,
                  hooks, &err);
}

static nd_status pairs(nd_summary *s, nd_buf *out, const nd_options *o) {
  out->n = 0;
  nd_sink sink = {out, collect};
  return nd_pairs(s, &(nd_pairs_request){.inputs = inputs, .input_n = 2, .sink = &sink}, o, NULL,
                  &err);
}

static int visible(const struct dirent *e) {
  return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* Names and bytes of a directory, but for the summary and the report, which tell times. */
static void digest_tree(XXH3_state_t *h, const char *path) {
  struct dirent **names;
  int n = scandir(path, &names, visible, alphasort);
  if (n < 0) fail_msg("%s cannot be listed", path);
  nd_buf bytes = {0};
  for (int i = 0; i < n; i++) {
    char full[600];
    struct stat st;
    snprintf(full, sizeof full, "%s/%s", path, names[i]->d_name);
    assert_int_equal(lstat(full, &st), 0);
    XXH3_64bits_update(h, names[i]->d_name, strlen(names[i]->d_name) + 1);
    if (S_ISDIR(st.st_mode)) {
      digest_tree(h, full);
    } else if (strcmp(names[i]->d_name, "summary.json") != 0 &&
               strcmp(names[i]->d_name, "report.html") != 0) {
      read_file_text(&bytes, path, names[i]->d_name);
      XXH3_64bits_update(h, bytes.p, bytes.n);
    }
    free(names[i]);
  }
  free(names);
  nd_buf_clear(&bytes);
}

static uint64_t digest_out(void) {
  XXH3_state_t *h = XXH3_createState();
  XXH3_64bits_reset(h);
  digest_tree(h, out_path);
  uint64_t x = XXH3_64bits_digest(h);
  XXH3_freeState(h);
  return x;
}

/* ---- tests: right answers ---- */

static void pairs_are_true_and_found(void **state) {
  (void)state;
  nd_buf out = {0};
  true_pairs = found_pairs = 0;
  double predicted = 1;
  for (int round = 0; round < 40; round++) {
    make_corpus(60 + (size_t)nd_rng_below(&rng, 140));
    nd_options o = standard();
    o.seed = nd_rng_next(&rng);
    static const char *const thresholds[] = {"0.8", "0.7", "0.9", "0.8", "0.999999", "1"};
    set(&o, "threshold", thresholds[nd_rng_below(&rng, 4 + 2 * (round % 8 == 0))]);
    for (o.collapse = 0; o.collapse < 2; o.collapse++) {
      nd_summary s;
      ok(pairs(&s, &out, &o));
      if (s.predicted_recall < predicted) predicted = s.predicted_recall;
      assert_int_equal(s.documents, doc_n + reject_n);
      assert_int_equal(s.rejected, reject_n);
      size_t lines = 0;
      for (size_t i = 0; i < out.n; i++) lines += out.p[i] == '\n';
      assert_int_equal(s.pairs, lines);
      ok(nd_buf_append(&out, "", 1, &err));
      check_pairs(out.p, &o, o.collapse);
    }
  }
  double recall = (double)found_pairs / (double)true_pairs;
  print_message("recall %.4f of %llu pairs without the copies, %.4f predicted\n", recall,
                (unsigned long long)true_pairs, predicted);
  assert_true(predicted >= 0.95);
  assert_true(recall >= predicted);
  nd_buf_clear(&out);
}

static void clusters_follow_from_the_pairs(void **state) {
  (void)state;
  static const char *const keeps[] = {"first", "longest", "shortest"};
  nd_buf text = {0};
  for (int round = 0; round < 24; round++) {
    bool star = round % 4 != 3;
    nd_keep keep = (nd_keep)(round % 3);
    make_corpus(60 + (size_t)nd_rng_below(&rng, 140));
    nd_options o = standard();
    o.seed = nd_rng_next(&rng);
    set(&o, "cluster", star ? "star" : "components");
    set(&o, "keep", keeps[keep]);
    nd_summary s;
    remove_out();
    ok(dedup(&s, &o, NULL));
    assert_int_equal(s.documents, doc_n + reject_n);
    assert_int_equal(s.documents, s.kept + s.dropped + s.rejected);
    assert_int_equal(s.rejected, reject_n);
    read_file_text(&text, out_path, "pairs.tsv");
    check_pairs(text.p, &o, true);
    cluster_naively(star, keep);
    size_t kept = 0;
    for (size_t i = 0; i < doc_n; i++) kept += centre[i] == i;
    read_file_text(&text, out_path, "clusters.tsv");
    check_clusters(text.p, &o, star);
    assert_int_equal(s.kept, kept);
    check_kept(out_path);
    read_file_text(&text, out_path, "rejected.tsv");
    size_t rejects = 0;
    for (size_t i = 0; i < text.n; i++) rejects += text.p[i] == '\n';
    assert_int_equal(rejects, reject_n);
  }
  nd_buf_clear(&text);
}

/* ---- tests: stopped and failing ---- */

typedef struct stopper {
  _Atomic uint64_t asked;
  uint64_t at;
} stopper;

static int stop_at(void *context) {
  stopper *s = context;
  return ++s->asked >= s->at;
}

static void a_cancelled_run_resumes(void **state) {
  (void)state;
  make_corpus(150);
  nd_options o = standard();
  nd_summary s;
  remove_out();
  ok(dedup(&s, &o, NULL));
  uint64_t want = digest_out();
  for (uint64_t at = 1;; at++) {
    stopper stop = {.at = at};
    nd_hooks hooks = {.context = &stop, .cancelled = stop_at};
    remove_out();
    nd_status status = dedup(&s, &o, &hooks);
    if (status == ND_OK) {
      assert_true(at > 3); /* it was asked in several stages */
      break;
    }
    assert_int_equal(status, ND_ERR_CANCELLED);
    ok(dedup(&s, &o, NULL));
    assert_int_equal(s.documents, s.kept + s.dropped + s.rejected);
    assert_true(digest_out() == want);
  }
}

typedef void (*fail_at)(uint64_t nth);
static void memory_fails(uint64_t nth) {
  nd_mem_fail_at(nth);
}
static void disk_is_full(uint64_t nth) {
  nd_io_fail_at(nth, ENOSPC);
}
static void disk_is_bad(uint64_t nth) {
  nd_io_fail_at(nth, EIO);
}

enum { SECONDS = 1 }; /* for one kind of failure; NEARDUP_FAULTS=all has no limit */

static double time_limit(void) {
  return getenv("NEARDUP_FAULTS") ? 1e9 : SECONDS;
}

/* Fails the nth call of a dedup, for as many n as there is time for. */
static void dedup_with(fail_at break_at, uint64_t (*count)(void), bool memory) {
  make_varied_corpus(60, true);
  nd_options o = standard();
  o.threads = 1 + nd_rng_below(&rng, 2);
  set(&o, "keep", nd_rng_below(&rng, 2) ? "longest" : "first");
  set(&o, "cluster", nd_rng_below(&rng, 2) ? "star" : "components");
  set(&o, "verify", nd_rng_below(&rng, 4) ? "exact" : "sketch");
  nd_summary s;
  remove_out();
  break_at(UINT64_MAX);
  ok(dedup(&s, &o, NULL));
  uint64_t n = count();
  break_at(0);
  uint64_t want = digest_out();
  size_t files = open_files();
  uint64_t *at = shuffled(n, &rng), tried = 0, survived = 0;
  for (double end = now() + time_limit(); tried < n && now() < end; tried++) {
    remove_out();
    err = (nd_error){0};
    break_at(at[tried]);
    nd_status status = dedup(&s, &o, NULL);
    bool reached = count() >= at[tried];
    nd_error first = err;
    break_at(0);
    assert_int_equal(open_files(), files);
    if (status != ND_OK) {
      assert_true(reached);
      if (memory)
        assert_int_equal(status, ND_ERR_MEMORY);
      else if (status != ND_ERR_IO)
        fail_msg("%s: %s", nd_status_name(status), err.message);
      assert_true(err.message[0]);
    } else if (s.rejected != reject_n || s.documents != doc_n + reject_n) {
      /* An input file that cannot be read is rejected, and said to be. */
      assert_false(memory);
      assert_true(s.rejected > 0);
      assert_int_equal(s.documents, s.kept + s.dropped + s.rejected);
      set(&o, "resume", "never");
    } else {
      survived++;
    }
    ok(dedup(&s, &o, NULL));
    set(&o, "resume", "auto");
    if (digest_out() != want)
      fail_msg("other bytes after failure %lu of %lu: %s, %s", at[tried], n, nd_status_name(status),
               first.message);
  }
  print_message("%lu of %lu failures tried, %lu of them without consequence\n", tried, n, survived);
  free(at);
}

static void dedup_without_memory(void **state) {
  (void)state;
  dedup_with(memory_fails, nd_mem_count, true);
}

static void dedup_with_a_full_disk(void **state) {
  (void)state;
  dedup_with(disk_is_full, nd_io_count, false);
}

static void dedup_with_a_bad_disk(void **state) {
  (void)state;
  dedup_with(disk_is_bad, nd_io_count, false);
}

static void pairs_with_failures(void **state) {
  (void)state;
  make_varied_corpus(60, true);
  nd_buf want = {0}, got = {0};
  nd_summary s;
  for (int kind = 0; kind < 2; kind++) {
    nd_options o = standard();
    fail_at break_at = kind ? disk_is_full : memory_fails;
    uint64_t (*count)(void) = kind ? nd_io_count : nd_mem_count;
    ok(nd_buf_reserve(&want, 1 << 20, &err)); /* the sink itself does not fail */
    ok(nd_buf_reserve(&got, 1 << 20, &err));
    break_at(UINT64_MAX);
    ok(pairs(&s, &want, &o));
    uint64_t n = count();
    break_at(0);
    size_t files = open_files();
    uint64_t *at = shuffled(n, &rng), tried = 0;
    for (double end = now() + time_limit() / 2; tried < n && now() < end; tried++) {
      break_at(at[tried]);
      nd_status status = pairs(&s, &got, &o);
      break_at(0);
      assert_int_equal(open_files(), files);
      if (status != ND_OK && kind == 0) assert_int_equal(status, ND_ERR_MEMORY);
      if (status != ND_OK) {
        assert_true(err.message[0]);
      } else if (s.rejected == reject_n && s.documents == doc_n + reject_n) {
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, got.n);
      }
    }
    print_message("%lu of %lu failures tried\n", tried, n);
    free(at);
    ok(remove_left_behind(dir, &err));
  }
  nd_buf_clear(&want);
  nd_buf_clear(&got);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_are_true_and_found),
      cmocka_unit_test(clusters_follow_from_the_pairs),
      cmocka_unit_test(a_cancelled_run_resumes),
      cmocka_unit_test_teardown(dedup_without_memory, clear_hooks),
      cmocka_unit_test_teardown(dedup_with_a_full_disk, clear_hooks),
      cmocka_unit_test_teardown(dedup_with_a_bad_disk, clear_hooks),
      cmocka_unit_test_teardown(pairs_with_failures, clear_hooks),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
