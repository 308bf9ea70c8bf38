/* Texts in memory, in every layout, against the files job on the same texts: the
 * same pairs, clusters and survivors; and damaged columns, which are refused. */
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

#include "base/mem.h"
#include "base/rng.h"
#include "every_place.h"
#include "job_calls.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "store/workdir.h"
#include "tiny_budget.h"

enum { TEXTS = 300, CHUNKS = 4 };

static nd_rng rng;
static char dir[] = "/tmp/nd_test_memory_XXXXXX";

/* ---- a corpus: texts, and the same as JSONL ---- */

static nd_str text[TEXTS]; /* p NULL: a null, which JSONL leaves out */
static char fact[TEXTS][8];
static nd_buf joined; /* all texts, one after another */

static void make_texts(void) {
  size_t at[TEXTS + 1];
  joined.n = 0;
  for (size_t i = 0; i < TEXTS; i++) {
    at[i] = joined.n;
    if (i > 4 && nd_rng_below(&rng, 3) == 0) { /* another one with a few words changed */
      size_t from = (size_t)nd_rng_below(&rng, i), n = at[from + 1] - at[from];
      ok(nd_buf_reserve(&joined, n, &err));
      ok(nd_buf_append(&joined, joined.p + at[from], n, &err));
      for (uint64_t k = nd_rng_below(&rng, 3); k && n; k--) {
        char *byte = joined.p + at[i] + nd_rng_below(&rng, n);
        if ((unsigned char)*byte < 0x80) *byte = (char)('a' + nd_rng_below(&rng, 26));
      }
    } else {
      static const char *const words[] = {"the", "and", "été", "straße", "中文", "x", "fish", "0"};
      for (uint64_t k = nd_rng_below(&rng, 60); k; k--)
        ok(nd_buf_printf(&joined, &err, "%s%u ", words[nd_rng_below(&rng, 8)],
                         (unsigned)nd_rng_below(&rng, 900)));
    }
    at[i + 1] = joined.n;
    snprintf(fact[i], sizeof fact[i], "%u", (unsigned)nd_rng_below(&rng, 50));
  }
  for (size_t i = 0; i < TEXTS; i++) {
    text[i] = (nd_str){joined.p + at[i], at[i + 1] - at[i]};
    if (nd_rng_below(&rng, 12) == 0) text[i] = (nd_str){NULL, 0};
  }
}

static void write_json(const char *path) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (size_t i = 0; i < TEXTS; i++) {
    if (!text[i].p) continue;
    fprintf(f, "{\"id\": \"%zu\", \"score\": %s, \"text\": \"%.*s\"}\n", i, fact[i], (int)text[i].n,
            text[i].p);
  }
  assert_int_equal(fclose(f), 0);
}

/* ---- columns ---- */

typedef struct column {
  nd_chunk chunk[CHUNKS], facts[CHUNKS];
  void *made[CHUNKS * 8];
  size_t made_n;
  size_t given; /* by next */
} column;

static void *keep_made(column *c, size_t bytes) {
  return c->made[c->made_n++] = calloc(bytes ? bytes : 1, 1);
}

static void free_column(column *c) {
  for (size_t i = 0; i < c->made_n; i++) free(c->made[i]);
}

/* `n` texts from `from`; arrays have exactly their sizes, so that a sanitizer sees
 * every step too far.  `first` more entries come before, as in a slice. */
static nd_chunk make_chunk(column *c, const nd_str *from, size_t n, nd_layout layout,
                           size_t first) {
  nd_chunk out = {.layout = layout, .n = n, .first = first};
  uint8_t *valid = keep_made(c, (first + n + 7) / 8);
  size_t bytes = 0;
  for (size_t i = 0; i < n; i++) {
    if (from[i].p) valid[(first + i) / 8] |= (uint8_t)(1 << (first + i) % 8);
    bytes += from[i].n;
  }
  char *all = keep_made(c, bytes);
  size_t at = 0, rows = first + n;
  nd_str *strings = layout == ND_LAYOUT_STR ? keep_made(c, rows * sizeof *strings) : NULL;
  int32_t *narrow = layout == ND_LAYOUT_OFFSET32 ? keep_made(c, (rows + 1) * 4) : NULL;
  int64_t *wide = layout == ND_LAYOUT_OFFSET64 ? keep_made(c, (rows + 1) * 8) : NULL;
  char *views = layout == ND_LAYOUT_VIEW ? keep_made(c, rows * 16) : NULL;
  for (size_t i = 0; i < n; i++) {
    if (from[i].n) memcpy(all + at, from[i].p, from[i].n);
    int32_t length = (int32_t)from[i].n, offset = (int32_t)at;
    if (strings && from[i].p) strings[first + i] = (nd_str){all + at, from[i].n};
    if (views && length <= 12) {
      memcpy(views + (first + i) * 16, &length, 4);
      if (length) memcpy(views + (first + i) * 16 + 4, all + at, from[i].n);
    } else if (views) {
      int32_t view[4] = {length, 0, 0, offset};
      memcpy(&view[1], all + at, 4);
      memcpy(views + (first + i) * 16, view, 16);
    }
    at += from[i].n;
    if (narrow) narrow[first + i + 1] = (int32_t)at;
    if (wide) wide[first + i + 1] = (int64_t)at;
  }
  if (layout == ND_LAYOUT_VIEW) {
    const char **buffers = keep_made(c, sizeof *buffers);
    int64_t *sizes = keep_made(c, sizeof *sizes);
    buffers[0] = all;
    sizes[0] = (int64_t)bytes;
    out.buffers = buffers;
    out.sizes = sizes;
    out.buffer_n = 1;
  }
  out.index = strings ? (void *)strings : narrow ? (void *)narrow : wide ? (void *)wide : views;
  out.bytes = all;
  out.valid = layout == ND_LAYOUT_STR ? NULL : valid;
  return out;
}

static void make_column(column *c, nd_layout layout) {
  *c = (column){0};
  size_t from = 0;
  for (size_t i = 0; i < CHUNKS; i++) {
    size_t left = TEXTS - from;
    size_t n = i + 1 == CHUNKS ? left : (size_t)nd_rng_below(&rng, left);
    nd_str facts[TEXTS];
    for (size_t k = 0; k < n; k++) facts[k] = (nd_str){fact[from + k], strlen(fact[from + k])};
    c->chunk[i] = make_chunk(c, text + from, n, layout, (size_t)nd_rng_below(&rng, 11));
    c->facts[i] = make_chunk(c, facts, n, ND_LAYOUT_OFFSET32, 0);
    from += n;
  }
}

static nd_status give_next(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *e) {
  column *c = context;
  (void)e;
  while (c->given < CHUNKS && c->chunk[c->given].n == 0) c->given++;
  if (c->given == CHUNKS) return ND_OK;
  *texts = c->chunk[c->given];
  *facts = c->facts[c->given++];
  return ND_OK;
}

/* ---- the two ways ---- */

static nd_status collect(void *context, const char *bytes, size_t n, nd_error *e) {
  return nd_buf_append(context, bytes, n, e);
}

static void read_whole(nd_buf *out, const char *path) {
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  out->n = 0;
  for (int byte; (byte = fgetc(f)) != EOF;) {
    char b = (char)byte;
    ok(nd_buf_append(out, &b, 1, &err));
  }
  fclose(f);
}

static void put_pairs(nd_buf *out, const nd_result *r) {
  for (uint64_t i = 0; i < r->pair_n; i++)
    ok(nd_buf_printf(out, &err, "%u\t%u\t%.6f\n", r->a[i], r->b[i], r->value[i]));
}

static void put_clusters(nd_buf *out, const nd_result *r) {
  bool several[TEXTS] = {false};
  for (size_t i = 0; i < TEXTS; i++)
    if (r->cluster[i] != i) several[r->cluster[i]] = true;
  for (size_t i = 0; i < TEXTS; i++) {
    bool kept = r->keep[i / 8] >> i % 8 & 1;
    assert_int_equal(kept, r->cluster[i] == i);
    if (several[r->cluster[i]])
      ok(nd_buf_printf(out, &err, "%zu\t%u\t%s\t%.6f\n", i, r->cluster[i],
                       kept ? "kept" : "dropped", r->similarity[i]));
  }
}

static void same_text(nd_buf *got, nd_buf *want) {
  ok(nd_buf_append(got, "", 1, &err));
  ok(nd_buf_append(want, "", 1, &err));
  assert_string_equal(got->p, want->p);
}

static void compare(const char *json, const nd_options *o, nd_layout layout, bool streamed) {
  char out[80], path[120];
  nd_buf got = {0}, want = {0};
  nd_summary s, m;
  nd_result r;
  column c;
  make_column(&c, layout);
  nd_text_stream stream = {.chunks = c.chunk, .n = CHUNKS, .facts = c.facts};
  if (streamed) stream = (nd_text_stream){.context = &c, .next = give_next};
  nd_corpus corpus = {.texts = &stream};

  snprintf(out, sizeof out, "%s/out", dir);
  ok(nd_dedup(&s, &(nd_dedup_request){.inputs = &json, .input_n = 1, .directory = out}, o, NULL,
              &err));
  ok(job_dedup_memory(&r, &m, &corpus, o, NULL, &err));
  assert_int_equal(r.n, TEXTS);
  assert_int_equal(s.kept, m.kept);
  assert_int_equal(s.dropped, m.dropped);
  assert_int_equal(s.clusters, m.clusters);
  assert_int_equal(s.pairs, m.pairs);
  assert_int_equal(s.documents, m.documents);
  assert_int_equal(s.largest_cluster, m.largest_cluster);
  snprintf(path, sizeof path, "%s/pairs.tsv", out);
  read_whole(&want, path);
  put_pairs(&got, &r);
  same_text(&got, &want);
  snprintf(path, sizeof path, "%s/clusters.tsv", out);
  read_whole(&want, path);
  got.n = 0;
  put_clusters(&got, &r);
  same_text(&got, &want);
  nd_result_clear(&r);
  ok(nd_remove_tree(out, &err));

  got.n = want.n = c.given = 0;
  nd_sink sink = {&want, collect};
  ok(nd_pairs(&s, &(nd_pairs_request){.inputs = &json, .input_n = 1, .sink = &sink}, o, NULL,
              &err));
  ok(job_pairs_memory(&r, &m, &corpus, o, NULL, &err));
  assert_null(r.keep);
  put_pairs(&got, &r);
  same_text(&got, &want);
  nd_result_clear(&r);
  nd_buf_clear(&got);
  nd_buf_clear(&want);
  free_column(&c);
}

static void same_as_the_files(void **state) {
  (void)state;
  static const char *const choices[][2] = {
      {"keep", "first"},         {"keep", "longest"},  {"keep", "field:score"},
      {"method", "exact"},       {"method", "join"},   {"keep", "centre"},
      {"cluster", "components"}, {"verify", "sketch"}, {"method", "digest"},
  };
  char json[80];
  snprintf(json, sizeof json, "%s/corpus.jsonl", dir);
  for (unsigned round = 0; round < 18; round++) {
    make_texts();
    write_json(json);
    nd_options o;
    nd_options_init(&o);
    o.threads = 1 + nd_rng_below(&rng, 3);
    ok(nd_options_set(&o, "threshold", round % 2 ? "0.7" : "0.9", &err));
    ok(nd_options_set(&o, choices[round % 9][0], choices[round % 9][1], &err));
    compare(json, &o, (nd_layout)(round % 4), round % 3 == 1);
  }
  unlink(json);
}

/* The files themselves, with the result in memory. */
static void files_have_ids(void **state) {
  (void)state;
  char json[80];
  const char *path = json;
  snprintf(json, sizeof json, "%s/corpus.jsonl", dir);
  make_texts();
  write_json(json);
  FILE *f = fopen(json, "a");
  assert_non_null(f);
  fputs("{\"id\": 1}\n", f);
  fclose(f);
  nd_options o;
  nd_options_init(&o);
  nd_result r;
  nd_summary s;
  nd_corpus corpus = {.files = &path, .file_n = 1};
  ok(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err));
  size_t d = 0;
  for (size_t i = 0; i < TEXTS; i++) {
    if (!text[i].p) continue;
    char want[24];
    size_t n = (size_t)snprintf(want, sizeof want, "%zu", i);
    assert_int_equal(r.id_end[d + 1] - r.id_end[d], n);
    assert_memory_equal(r.ids + r.id_end[d], want, n);
    d++;
  }
  assert_int_equal(r.n, d);
  assert_int_equal(r.rejection_n, 1);
  assert_int_equal(r.rejections[0].text, UINT64_MAX);
  assert_non_null(strstr(r.strings + r.rejections[0].place, "corpus.jsonl:"));
  assert_non_null(strstr(r.strings + r.rejections[0].reason, "\"text\" is missing"));
  nd_result_clear(&r);
  unlink(json);
}

static nd_chunk strings_of(const nd_str *texts, size_t n) {
  return (nd_chunk){.layout = ND_LAYOUT_STR, .n = n, .index = texts};
}

static void against_and_rejects(void **state) {
  (void)state;
  const nd_str one[] = {
      {"one two three four five six seven", 33},
      {"nothing else is like this one here at all", 41},
      {"far too long for this very small limit, which is sixty bytes in all", 67}};
  const nd_str two[] = {{"a b c d e f g h", 15}, {"One, two; three four FIVE six seven!", 36}};
  nd_chunk a = strings_of(one, 3), b = strings_of(two, 2);
  nd_text_stream texts = {.chunks = &a, .n = 1}, other = {.chunks = &b, .n = 1};
  nd_corpus corpus = {.texts = &texts, .against = &other};
  nd_options o;
  nd_options_init(&o);
  o.max_document = 60;
  nd_result r;
  nd_summary s;
  ok(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err));
  assert_int_equal(r.n, 3);
  assert_int_equal(r.keep[0], 2);
  assert_int_equal(r.cluster[0], 4); /* the second of the other collection */
  assert_int_equal(r.pair_n, 1);
  assert_int_equal(r.a[0], 0);
  assert_int_equal(r.b[0], 4);
  assert_int_equal(r.rejection_n, 1);
  assert_int_equal(r.rejections[0].text, 2);
  assert_int_equal(s.kept + s.dropped + s.rejected, s.documents);
  nd_result_clear(&r);
}

static void nothing_is_nothing(void **state) {
  (void)state;
  const nd_str texts[] = {{NULL, 0}, {"", 0}, {"   ", 3}, {NULL, 0}, {"", 0}};
  nd_options o;
  nd_options_init(&o);
  nd_result r;
  nd_summary s;
  for (size_t n = 0; n <= 5; n++) {
    nd_chunk chunk = strings_of(texts, n);
    nd_text_stream stream = {.chunks = &chunk, .n = n ? 1 : 0};
    nd_corpus corpus = {.texts = &stream};
    ok(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err));
    assert_int_equal(r.n, n);
    assert_int_equal(r.keep[0], (1 << n) - 1);
    assert_int_equal(r.pair_n, 0);
    nd_result_clear(&r);
  }
}

static void refused(const nd_chunk *chunk, const char *why) {
  nd_text_stream stream = {.chunks = chunk, .n = 1};
  nd_corpus corpus = {.texts = &stream};
  nd_options o;
  nd_options_init(&o);
  nd_result r;
  nd_summary s;
  assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_DATA);
  if (!strstr(err.message, why)) fail_msg("%s", err.message);
  nd_result_clear(&r);
}

/* A value for --keep that is damaged. */
static void damaged_values(void) {
  const int32_t falling[] = {0, 5, 2}, rising[] = {0, 5, 6};
  const nd_chunk texts = {.layout = ND_LAYOUT_OFFSET32, .n = 2, .index = rising, .bytes = "abcdef"};
  nd_chunk values = texts;
  values.index = falling;
  nd_text_stream stream = {.chunks = &texts, .facts = &values, .n = 1};
  nd_corpus corpus = {.texts = &stream};
  nd_options o;
  nd_options_init(&o);
  ok(nd_options_set(&o, "keep", "field:x", &err));
  nd_result r;
  nd_summary s;
  assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_DATA);
  assert_non_null(strstr(err.message, "text 1 of a chunk ends before it begins"));
  nd_result_clear(&r);
}

static void damage_is_refused(void **state) {
  (void)state;
  const int32_t falling[] = {0, 5, 2}, negative[] = {-4, 5, 6};
  nd_chunk c = {.layout = ND_LAYOUT_OFFSET32, .n = 2, .index = falling, .bytes = "abcdefgh"};
  refused(&c, "text 1 of a chunk ends before it begins");
  c.index = negative;
  refused(&c, "text 0 of a chunk ends before it begins");
  const int32_t rising[] = {0, 5, 6};
  c.index = rising;
  c.bytes = NULL;
  refused(&c, "has no bytes");
  const char *buffers[] = {"twenty bytes of text"};
  const int64_t sizes[] = {20};
  int32_t view[4] = {20, 0, 0, 1};
  nd_chunk v = {.layout = ND_LAYOUT_VIEW,
                .n = 1,
                .index = view,
                .buffers = buffers,
                .sizes = sizes,
                .buffer_n = 1};
  refused(&v, "outside its buffers");
  view[2] = 1, view[3] = 0;
  refused(&v, "outside its buffers");
  view[2] = -1;
  refused(&v, "outside its buffers");
  view[2] = 0, view[3] = -1;
  refused(&v, "outside its buffers");
  view[0] = -1;
  refused(&v, "negative length");
  damaged_values();
}

/* More texts, and more bytes of them, than are taken at a time. */
static void many_texts(void **state) {
  (void)state;
  enum { MANY = 40000, LARGE = 5, BYTES = 1 << 20 };
  nd_str *all = malloc(MANY * sizeof *all);
  char *bytes = malloc(MANY * 8), *large = malloc(BYTES);
  memset(large, 'x', BYTES);
  for (size_t i = 0; i < MANY; i++) {
    snprintf(bytes + 8 * i, 8, "%zu", i / 2);
    all[i] = nd_str_of(bytes + 8 * i);
    if (i < LARGE) all[i] = (nd_str){large, BYTES};
  }
  const nd_chunk chunk = {.layout = ND_LAYOUT_STR, .index = all, .n = MANY};
  const nd_text_stream stream = {.chunks = &chunk, .n = 1};
  const nd_corpus corpus = {.texts = &stream};
  nd_options o;
  nd_result r;
  nd_summary s;
  nd_options_init(&o);
  ok(nd_options_set(&o, "method", "digest", &err));
  ok(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err));
  assert_int_equal(s.documents, MANY);
  assert_int_equal(s.dropped, LARGE - 1 + (MANY - LARGE - 1) / 2);
  for (size_t i = LARGE + 1; i < MANY; i++)
    assert_int_equal(r.keep[i / 8] >> i % 8 & 1, i % 2 == 0);
  nd_result_clear(&r);
  free(all);
  free(bytes);
  free(large);
}

static int stop_now(void *context) {
  return ++*(int *)context > 3;
}

static void options_that_do_not_fit(void **state) {
  (void)state;
  const nd_str texts[] = {{"a b", 3}};
  nd_chunk chunk = strings_of(texts, 1);
  nd_text_stream stream = {.chunks = &chunk, .n = 1};
  nd_corpus corpus = {.texts = &stream}, nothing = {0};
  nd_options o;
  nd_options_init(&o);
  nd_result r;
  nd_summary s;
  assert_int_equal(job_dedup_memory(&r, &s, &nothing, &o, NULL, &err), ND_ERR_USAGE);
  ok(nd_options_set(&o, "keep", "newest", &err));
  assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_USAGE);
  nd_options_init(&o);
  ok(nd_options_set(&o, "shard", "1/2", &err));
  assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_USAGE);
  nd_options_init(&o);
  int asked = 3;
  nd_hooks hooks = {.context = &asked, .cancelled = stop_now};
  assert_int_equal(job_pairs_memory(&r, &s, &corpus, &o, &hooks, &err), ND_ERR_CANCELLED);
}

/* --- failures --- */

typedef struct memory_job {
  nd_corpus corpus;
  nd_options options;
  bool dedup;
  size_t at; /* which chunk `next` gives */
  const column *texts, *facts;
  size_t documents;
} memory_job;

static nd_status next_chunk(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *e) {
  memory_job *j = context;
  (void)e;
  while (j->at < CHUNKS && j->texts->chunk[j->at].n == 0) j->at++; /* which would be the end */
  if (j->at == CHUNKS) return ND_OK;
  *texts = j->texts->chunk[j->at];
  *facts = j->facts->chunk[j->at++];
  return ND_OK;
}

static nd_status run_in_memory(void *context) {
  memory_job *j = context;
  nd_result r;
  nd_summary s;
  j->at = 0;
  nd_status status =
      (j->dedup ? job_dedup_memory : job_pairs_memory)(&r, &s, &j->corpus, &j->options, NULL, &err);
  if (status == ND_OK) assert_int_equal(s.documents, j->documents);
  nd_result_clear(&r);
  return status;
}

/* Every place fails once: an error, no leak, nothing left on disk. */
static void failing_places(void **state) {
  (void)state;
  make_texts();
  column c; /* which are their own values, too */
  make_column(&c, ND_LAYOUT_VIEW);
  size_t documents = 0;
  for (size_t i = 0; i < TEXTS; i++) documents += text[i].p != NULL;
  memory_job j = {.texts = &c, .facts = &c, .documents = documents};
  char apart[100]; /* a clean-up that fails leaves something behind */
  snprintf(apart, sizeof apart, "%s/failing", dir);
  assert_int_equal(mkdir(apart, 0777), 0);
  setenv("TMPDIR", apart, 1);
  nd_text_stream chunks = {.chunks = c.chunk, .n = CHUNKS};
  nd_text_stream stream = {.context = &j, .next = next_chunk};
  nd_options_init(&j.options);
  j.options.threads = 1;
  j.corpus = (nd_corpus){.texts = &chunks, .against = &chunks};
  size_t failures = every_place_fails(run_in_memory, &j);
  ok(nd_options_set(&j.options, "keep", "field:x", &err));
  j.corpus = (nd_corpus){.texts = &stream};
  j.dedup = true;
  failures += every_place_fails(run_in_memory, &j);
  print_message("%zu failures\n", failures);
  assert_true(failures > 150);
  ok(nd_remove_tree(apart, &err));
  setenv("TMPDIR", dir, 1);
  free_column(&c);
}

static nd_status give_too_few(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *e) {
  const memory_job *j = context;
  (void)e;
  size_t i = 0;
  while (j->texts->chunk[i].n < 2) i++;
  *texts = *facts = j->texts->chunk[i];
  facts->n--;
  return ND_OK;
}

static nd_status give_nothing(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *e) {
  (void)context;
  (void)texts;
  (void)facts;
  return nd_fail(e, ND_ERR_IO, "the source is gone");
}

/* Sources that break off, values that are too few, and options that texts cannot follow. */
static void bad_sources(void **state) {
  (void)state;
  make_texts();
  column c;
  make_column(&c, ND_LAYOUT_OFFSET64);
  memory_job j = {.texts = &c};
  nd_result r;
  nd_summary s;
  nd_options o;
  nd_options_init(&o);
  nd_text_stream few = {.context = &j, .next = give_too_few}, gone = {.next = give_nothing};
  nd_text_stream whole = {.chunks = c.chunk, .n = CHUNKS};
  nd_corpus corpus = {.texts = &few};
  assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "texts, but"));
  corpus.texts = &gone;
  assert_int_equal(job_pairs_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_IO);
  assert_string_equal(err.message, "the source is gone");
  corpus.texts = &whole;
  static const char *const unfit[][2] = {
      {"keep", "url"},  {"keep", "field:x"},         {"keep", "oldest"},
      {"against", "x"}, {"method", "combined-site"}, {"columns", "site"}};
  for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++) {
    nd_options_init(&o);
    ok(nd_options_set(&o, unfit[i][0], unfit[i][1], &err));
    assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_USAGE);
  }
  nd_options_init(&o);
  ok(nd_options_set(&o, "method", "exact", &err));
  ok(nd_options_set(&o, "threshold", "0", &err));
  assert_int_equal(job_dedup_memory(&r, &s, &corpus, &o, NULL, &err), ND_ERR_USAGE);
  ok(job_pairs_memory(&r, &s, &corpus, &o, NULL, &err));
  assert_true(r.pair_n > 0);
  nd_result_clear(&r);
  /* A link to nothing below a folder is rejected, by its path. */
  char folder[100], link[120];
  snprintf(folder, sizeof folder, "%s/folder", dir);
  snprintf(link, sizeof link, "%s/to-nothing", folder);
  assert_int_equal(mkdir(folder, 0777), 0);
  assert_int_equal(symlink("nowhere", link), 0);
  const char *files[] = {folder};
  nd_corpus linked = {.files = files, .file_n = 1};
  nd_options_init(&o);
  ok(job_dedup_memory(&r, &s, &linked, &o, NULL, &err));
  assert_int_equal(r.rejection_n, 1);
  assert_int_equal(r.rejections[0].text, UINT64_MAX);
  assert_string_equal(r.strings + r.rejections[0].place, link);
  nd_result_clear(&r);
  unlink(link);
  rmdir(folder);
  free_column(&c);
}

static int setup(void **state) {
  (void)state;
  seed_rng(&rng);
  if (!mkdtemp(dir)) return -1;
  setenv("TMPDIR", dir, 1);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  nd_buf_clear(&joined);
  return rmdir(dir); /* fails when something was left behind */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_as_the_files),   cmocka_unit_test(files_have_ids),
      cmocka_unit_test(against_and_rejects), cmocka_unit_test(nothing_is_nothing),
      cmocka_unit_test(damage_is_refused),   cmocka_unit_test(options_that_do_not_fit),
      cmocka_unit_test(failing_places),      cmocka_unit_test(bad_sources),
      cmocka_unit_test(many_texts),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
