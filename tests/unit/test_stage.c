/* The stages of a job (neardup/stage.h), run one after another over blocks taken
 * in any order and any number of places, against nd_dedup: the same lists, byte
 * for byte, and the same report but for what it cost. */
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

#include "base/io.h"
#include "naive_corpus.h"
#include "neardup/stage.h"
#include "settings/option_fields.h"
#include "stage_walk.h"
#include "store/workdir.h"

enum { MOST_BLOCKS = 64, MOST_PLACES = 200, MOST_RUNS = 64 };

static char dir[] = "/tmp/nd_test_stage_XXXXXX";
static const char *inputs[2] = {corpus_path, second_path};
static char secret[ND_STAGE_SECRET];

typedef struct held { /* a block, kept */
  nd_stage_block head;
  nd_buf image, texts;
  uint32_t first;
} held;

typedef struct heap { /* the runs of a place */
  nd_buf run[MOST_RUNS];
  size_t n;
} heap;

static held blocks[MOST_BLOCKS];
static size_t block_n;
static heap places[MOST_PLACES];

static void keep(nd_buf *to, nd_str from) {
  to->n = 0;
  ok(nd_buf_append(to, from.p, from.n, &err));
}

static void collect(nd_spread *s, uint32_t n) {
  for (uint32_t p = 0; p < n; p++) {
    nd_str run;
    ok(nd_spread_take(&run, s, p, &err));
    if (!run.n) continue;
    assert_true(places[p].n < MOST_RUNS);
    keep(&places[p].run[places[p].n++], run);
  }
}

static size_t views(nd_str *out, const heap *h) {
  for (size_t i = 0; i < h->n; i++) out[i] = nd_buf_str(&h->run[i]);
  return h->n;
}

static void clear_places(void) {
  for (size_t p = 0; p < MOST_PLACES; p++) {
    for (size_t i = 0; i < MOST_RUNS; i++) nd_buf_clear(&places[p].run[i]);
    places[p].n = 0;
  }
}

static uint32_t read_blocks(nd_stage *s, const nd_intake *plan) {
  uint32_t documents = 0;
  block_n = 0;
  for (uint32_t t = 0; t < nd_intake_task_count(plan); t++) {
    nd_reader *r;
    ok(nd_reader_open(
        &r, s,
        &(nd_reader_request){
            .plan = plan, .begin = t, .end = t + 1, .keep_texts = (int)nd_rng_below(&rng, 2)},
        &err));
    for (int more = 1;;) {
      held *b = &blocks[block_n];
      ok(nd_reader_next(&more, &b->head, r, &err));
      if (!more) break;
      keep(&b->image, b->head.image);
      keep(&b->texts, b->head.texts);
      b->first = documents;
      documents += b->head.docs;
      assert_true(++block_n < MOST_BLOCKS);
    }
    nd_reader_close(r);
  }
  return documents;
}

/* The text of a document, or what it is compared by, wherever it lies. */
static void fetch(nd_buf *out, nd_stage *s, const nd_intake *plan, uint32_t d, bool evidence) {
  size_t i = 0;
  while (d >= blocks[i].first + blocks[i].head.docs) i++;
  uint32_t row = d - blocks[i].first;
  uint64_t end;
  nd_str text;
  const nd_stored_block block = {.image = nd_buf_str(&blocks[i].image),
                                 .texts = nd_buf_str(&blocks[i].texts),
                                 .texts_sum = blocks[i].head.texts_sum,
                                 .plan = plan,
                                 .rows = &row,
                                 .row_n = 1};
  ok((evidence ? nd_stage_evidence : nd_stage_texts)(&text, &end, s, &block, &err));
  keep(out, text);
}

static void verify(uint64_t *values, nd_stage *s, const nd_intake *plan, const uint64_t *pairs,
                   size_t n, int all) {
  for (size_t i = 0; i < n; i++) {
    uint32_t a = (uint32_t)(pairs[i] >> 32), b = (uint32_t)pairs[i];
    uint32_t documents[2] = {a < b ? a : b, a < b ? b : a};
    nd_buf text[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) fetch(&text[k], s, plan, documents[k], true);
    nd_str shelf[2] = {nd_buf_str(&text[0]), nd_buf_str(&text[1])};
    ok(nd_stage_verify(
        &values[i], s,
        &(nd_comparison){.pairs = &pairs[i], .n = 1, .evidence = {documents, shelf, 2}, .all = all},
        &err));
    nd_buf_clear(&text[0]);
    nd_buf_clear(&text[1]);
  }
}

static void find_copies(uint32_t *same, uint64_t *rank, nd_stage *s, uint32_t n, uint32_t shares) {
  nd_spread *digests, *ids;
  ok(nd_spread_new(&digests, shares, 8, &err));
  ok(nd_spread_new(&ids, shares, 4, &err));
  for (size_t k = block_n; k-- > 0;) { /* in another order than they came */
    nd_str image = nd_buf_str(&blocks[k].image);
    ok(nd_stage_digests(digests, ids, s,
                        &(nd_stored_block){.image = image, .first = blocks[k].first}, &err));
    if (k % 2) collect(digests, shares);
    uint8_t *tokens = calloc(blocks[k].head.docs + 1, 1);
    ok(nd_stage_ranks(rank + blocks[k].first, tokens, s, image, &err));
    for (uint32_t i = 0; i < blocks[k].head.docs; i++)
      same[blocks[k].first + i] = tokens[i] ? blocks[k].first + i : UINT32_MAX;
    free(tokens);
  }
  collect(digests, shares);
  nd_spread_free(digests);
  nd_spread_free(ids);
  for (uint32_t p = 0; p < shares; p++) {
    nd_str runs[MOST_RUNS], pairs;
    size_t runs_n = views(runs, &places[p]);
    ok(nd_stage_copies(&pairs, s, runs, runs_n, &err));
    for (size_t i = 0; i < pairs.n / 8; i++) {
      uint32_t pair[2];
      memcpy(pair, pairs.p + 8 * i, 8);
      assert_true(pair[1] < pair[0] && pair[0] < n);
      same[pair[0]] = pair[1];
    }
  }
  clear_places();
}

/* Candidates, rising: one merged run. */
static void find_edges(nd_buf *out, nd_stage_buckets *stats, nd_stage *s, const uint32_t *position,
                       uint32_t n, uint32_t ranges) {
  nd_stage_facts facts;
  nd_stage_about(&facts, s);
  nd_spread *keys, *edges;
  assert_true(facts.keys * ranges <= MOST_PLACES);
  ok(nd_spread_new(&keys, facts.keys * ranges, facts.key_bytes, &err));
  ok(nd_spread_new(&edges, 1, 1, &err));
  for (size_t k = block_n; k-- > 0;) {
    ok(nd_stage_keys(keys, s,
                     &(nd_keys_request){.image = nd_buf_str(&blocks[k].image),
                                        .position = position + blocks[k].first,
                                        .ranges = ranges},
                     &err));
    collect(keys, facts.keys * ranges);
  }
  for (uint32_t p = 0; p < facts.keys * ranges; p++) {
    nd_str runs[MOST_RUNS];
    size_t runs_n = views(runs, &places[p]);
    ok(nd_stage_group(
        edges, stats, s,
        &(nd_group_request){.kind = p / ranges, .runs = {runs, runs_n}, .positions = n}, &err));
  }
  clear_places();
  nd_str run, merged;
  ok(nd_spread_take(&run, edges, 0, &err));
  if (run.n) {
    ok(nd_stage_merge(&merged, s, &(nd_runs){&run, 1}, ND_MERGE_LEAST, &err));
    keep(out, merged);
  }
  nd_spread_free(keys);
  nd_spread_free(edges);
}

enum { MOST_SITES = 16 };

typedef struct site_sum {
  char name[40];
  unsigned documents, dropped;
} site_sum;

static void add_site(site_sum *sums, const char *name, unsigned documents, unsigned dropped) {
  size_t i = 0;
  while (sums[i].name[0] && strcmp(sums[i].name, name) != 0) i++;
  assert_true(i + 1 < MOST_SITES && strlen(name) < sizeof sums->name);
  strcpy(sums[i].name, name);
  sums[i].documents += documents;
  sums[i].dropped += dropped;
}

/* Parts of all blocks, added up; files by their names. */
static void add_parts(nd_buf *out, nd_settle *t, nd_stage *s, const nd_intake *plan, uint32_t n) {
  uint64_t sums[2][16][2] = {{{0}}};
  site_sum sites[MOST_SITES] = {{{0}, 0, 0}};
  uint32_t *centre = calloc(n + 1, sizeof *centre);
  uint64_t *value = calloc(n + 1, sizeof *value);
  uint8_t *dropped = calloc(n + 1, 1);
  nd_settle_result(centre, value, t);
  for (uint32_t d = 0; d < n; d++) dropped[d] = centre[d] != d;
  for (size_t k = 0; k < block_n; k++) {
    nd_str lines;
    nd_buf text = {0};
    ok(nd_stage_parts(&lines, s, nd_buf_str(&blocks[k].image), dropped + blocks[k].first, &err));
    keep(&text, lines);
    ok(nd_buf_append(&text, "", 1, &err));
    for (char *line = strtok(text.p, "\n"); line; line = strtok(NULL, "\n")) {
      unsigned documents, gone, number;
      char name[40];
      if (line[0] == 's') {
        assert_int_equal(sscanf(line + 1, "%u%u%39s", &documents, &gone, name), 3);
        add_site(sites, name, documents, gone);
        continue;
      }
      assert_int_equal(sscanf(line + 1, "%u%u%u", &documents, &gone, &number), 3);
      assert_true((line[0] == 'f' || line[0] == 'z') && number < 16);
      sums[line[0] == 'z'][number][0] += documents;
      sums[line[0] == 'z'][number][1] += gone;
    }
    nd_buf_clear(&text);
  }
  for (size_t i = 0; sites[i].name[0]; i++)
    ok(nd_buf_printf(out, &err, "s\t%u\t%u\t%s\n", sites[i].documents, sites[i].dropped,
                     sites[i].name));
  for (int z = 0; z < 2; z++) {
    for (unsigned i = 0; i < 16; i++) {
      char name[20];
      snprintf(name, sizeof name, "%u", i);
      if (sums[z][i][0])
        ok(nd_buf_printf(out, &err, "%c\t%u\t%u\t%s\n", z ? 'z' : 'f', (unsigned)sums[z][i][0],
                         (unsigned)sums[z][i][1], z ? name : nd_intake_file(plan, i).path));
    }
  }
  free(centre);
  free(value);
  free(dropped);
}

/* Lines that no stage has written. */
static void refuse_parts(nd_settle *t, nd_settle_page *page) {
  static const char *const bad[] = {"f\t1\tx\tname\n",
                                    "f\tx\t1\tname\n",
                                    "f\t\t1\tname\n",
                                    "f\t1:\t1\tname\n",
                                    "f\t-1\t1\tname\n",
                                    "f\t99999999999999999999\t1\tname\n",
                                    "\n",
                                    "f\n",
                                    "ff\t1\t1\tname\n",
                                    "f\t1\n",
                                    "f\t1\t1\n",
                                    "q\t1\t1\tname\n",
                                    "z\t1\t1\tname\n",
                                    "z\t1\t1\t99\n",
                                    "s\t1\t1"};
  static char directory[300];
  snprintf(directory, sizeof directory, "%s/refused", dir);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    page->parts = nd_str_of(bad[i]);
    err.message[0] = '\0';
    if (nd_settle_write_report(t, page, directory, &err) != ND_ERR_DATA)
      fail_msg("parts %zu are taken: %s", i, err.message);
    assert_string_equal(err.message, "malformed line about a part of the corpus");
  }
  page->parts = (nd_str){NULL, 0};
  static const char *const reasons[] = {"no reason\n", "\n", "no reason, no end"};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    page->rejected = nd_str_of(reasons[i]);
    assert_int_equal(nd_settle_write_report(t, page, directory, &err), ND_ERR_DATA);
    assert_string_equal(err.message, "malformed reject line");
  }
  assert_int_equal(access(directory, F_OK), -1);
}

static void write_report(nd_settle *t, nd_stage *s, const nd_intake *plan, nd_settle_page *page) {
  const uint32_t *documents;
  const char *paths[4];
  nd_buf parts = {0}, rejected = {0};
  for (size_t i = 0; i < nd_intake_file_count(plan); i++) paths[i] = nd_intake_file(plan, i).path;
  for (size_t k = 0; k < block_n; k++) {
    nd_str lines;
    ok(nd_stage_rejects(
        &lines, s,
        &(nd_stored_block){.image = nd_buf_str(&blocks[k].image), .paths = paths, .lines = 0},
        &err));
    if (lines.n) ok(nd_buf_append(&rejected, lines.p, lines.n, &err));
  }
  page->rejected = nd_buf_str(&rejected);
  ok(nd_settle_report_texts(&documents, &page->texts, t, &err));
  nd_buf *kept = calloc(page->texts + 1, sizeof *kept);
  nd_str *texts = calloc(page->texts + 1, sizeof *texts);
  for (size_t i = 0; i < page->texts; i++) {
    fetch(&kept[i], s, plan, documents[i], false);
    texts[i] = nd_buf_str(&kept[i]);
  }
  page->text_document = documents;
  page->text = texts;
  page->inputs = inputs;
  page->input_n = 2;
  page->directory = "out";
  add_parts(&parts, t, s, plan, (uint32_t)page->n);
  page->parts = nd_buf_str(&parts);
  ok(nd_settle_write_report(t, page, dir, &err));
  refuse_parts(t, page);
  for (size_t i = 0; i < page->texts; i++) nd_buf_clear(&kept[i]);
  free(kept);
  free(texts);
  nd_buf_clear(&parts);
  nd_buf_clear(&rejected);
}

static void write_lists(nd_settle *t, nd_stage *s, const nd_intake *plan, uint32_t n,
                        const nd_summary *summary) {
  const char *paths[4];
  for (size_t i = 0; i < nd_intake_file_count(plan); i++) paths[i] = nd_intake_file(plan, i).path;
  uint32_t *documents = calloc(n + 1, sizeof *documents);
  nd_str *ids = calloc(n + 1, sizeof *ids);
  nd_buf *kept = calloc(n + 1, sizeof *kept);
  for (size_t k = 0; k < block_n; k++) {
    for (uint32_t row = 0; row < blocks[k].head.docs; row++) {
      uint32_t d = blocks[k].first + row;
      uint64_t end;
      nd_str id;
      ok(nd_stage_ids(&id, &end, s,
                      &(nd_stored_block){.image = nd_buf_str(&blocks[k].image),
                                         .paths = paths,
                                         .lines = 0,
                                         .rows = &row,
                                         .row_n = 1},
                      &err));
      keep(&kept[d], id);
      documents[d] = d;
      ids[d] = nd_buf_str(&kept[d]);
    }
  }
  char path[100];
  snprintf(path, sizeof path, "%s/pairs", dir);
  ok(nd_settle_write_pairs(t, path, &(nd_document_texts){documents, ids, n}, 1, &err));
  snprintf(path, sizeof path, "%s/clusters", dir);
  ok(nd_settle_write_clusters(t, path, &(nd_document_texts){documents, ids, n}, &err));
  write_report(t, s, plan,
               &(nd_settle_page){.summary = summary, .document = documents, .id = ids, .n = n});
  for (uint32_t d = 0; d < n; d++) nd_buf_clear(&kept[d]);
  free(kept);
  free(ids);
  free(documents);
}

static void same_file(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  assert_non_null(x);
  assert_non_null(y);
  for (int p = 0; p != EOF;) {
    p = getc(x);
    assert_int_equal(p, getc(y));
  }
  fclose(x);
  fclose(y);
}

/* Addresses of documents, which settling does not know, are taken out. */
static void take_out_urls(nd_buf *b) {
  static const char mark[] = ",\"u\":\"";
  for (char *p = b->p; (p = strstr(p, mark));) {
    char *end = strchr(p + sizeof mark - 1, '"') + 1;
    memmove(p, end, (size_t)(b->p + b->n - end));
    b->n -= (size_t)(end - p);
  }
}

/* A report without its costs and the command line. */
static nd_buf load_report(const char *path) {
  nd_buf out = {0};
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  for (size_t got = 1; got; out.n += got) {
    ok(nd_buf_reserve(&out, 1 << 16, &err));
    got = fread(out.p + out.n, 1, 1 << 16, f);
  }
  fclose(f);
  ok(nd_buf_append(&out, "", 1, &err));
  char *from = strstr(out.p, "<section id=\"cost\">"),
       *to = strstr(out.p, "<section id=\"again\">");
  assert_true(from && to && from < to);
  to = strstr(to, "</section>");
  assert_non_null(to);
  memmove(from, to, (size_t)(out.p + out.n - to));
  out.n -= (size_t)(to - from);
  take_out_urls(&out);
  return out;
}

static void same_report(const char *a, const char *b) {
  nd_buf x = load_report(a), y = load_report(b);
  assert_true(x.n > 20000);
  size_t at = 0;
  while (at < x.n && at < y.n && x.p[at] == y.p[at]) at++;
  size_t from = at < 80 ? 0 : at - 80;
  if (at < x.n || at < y.n)
    fail_msg("the reports differ at %zu: %.160s\nand: %.160s", at, x.p + from, y.p + from);
  nd_buf_clear(&x);
  nd_buf_clear(&y);
}

static uint64_t star_edges; /* seen by … */

static void walk_and_compare(const nd_options *o) {
  char path[120], lists[120];
  nd_summary summary;
  snprintf(path, sizeof path, "%s/out", dir);
  ok(nd_remove_tree(path, &err));
  ok(nd_dedup(&summary, &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = path}, o,
              NULL, &err));
  nd_stage *s;
  nd_intake *plan;
  ok(nd_stage_new(&s, o, 1, secret, &err));
  ok(nd_intake_new(&plan, s, &(nd_intake_request){.inputs = inputs, .input_n = 2, .avoid = NULL},
                   &err));
  uint32_t n = read_blocks(s, plan), ranges = 1 + (uint32_t)nd_rng_below(&rng, 5);
  uint32_t *same = calloc(n + 1, sizeof *same), *position = calloc(n + 1, sizeof *position);
  uint64_t *rank = calloc(n + 1, sizeof *rank);
  nd_stage_facts facts;
  nd_stage_about(&facts, s);
  find_copies(same, rank, s, n, ranges);
  nd_settle *t;
  ok(nd_settle_new(
      &t, s,
      &(nd_settle_request){
          .same = same, .rank = facts.ranked ? rank : NULL, .documents = n, .tmp = dir},
      &err));
  nd_settle_positions(position, t);
  nd_buf run = {0};
  nd_stage_buckets buckets = {0};
  find_edges(&run, &buckets, s, position, n, ranges);
  assert_int_equal(buckets.buckets, summary.buckets);
  assert_int_equal(buckets.hot, summary.hot_buckets);
  assert_int_equal(buckets.hot_documents, summary.hot_documents);
  assert_int_equal(buckets.largest, summary.largest_bucket);
  uint64_t count = 0;
  if (run.n) ok(nd_run_count(&count, nd_buf_str(&run), &err));
  uint64_t *pairs = calloc(count + 1, 8), *kinds = calloc(count + 1, 8);
  uint64_t *values = calloc(count + 1, 8), *asked = calloc(count + 1, 8);
  if (run.n) ok(nd_run_items(pairs, kinds, nd_buf_str(&run), &err));
  for (uint64_t i = 0; i < count; i++) star_edges += kinds[i] == ND_STAGE_STAR && buckets.hot;
  memcpy(asked, pairs, count * 8);
  nd_settle_documents(asked, count, t);
  verify(values, s, plan, asked, count, 0);
  ok(nd_settle_verify(t, &(nd_candidates){pairs, kinds, values, count}, &err));
  const uint64_t *missing;
  size_t missing_n;
  ok(nd_settle_cluster(&missing, &missing_n, t, NULL, &err));
  uint64_t *filled = calloc(missing_n + 1, 8);
  verify(filled, s, plan, missing, missing_n, 1);
  ok(nd_settle_finish(t, filled, missing_n, &err));
  write_lists(t, s, plan, n, &summary);
  nd_summary counts = {0};
  nd_settle_counts(&counts, t);
  assert_int_equal(counts.candidates, summary.candidates);
  assert_int_equal(counts.skipped, summary.skipped);
  assert_int_equal(counts.dropped, summary.dropped);
  snprintf(path, sizeof path, "%s/out/pairs.tsv", dir);
  snprintf(lists, sizeof lists, "%s/pairs", dir);
  same_file(path, lists);
  snprintf(path, sizeof path, "%s/out/clusters.tsv", dir);
  snprintf(lists, sizeof lists, "%s/clusters", dir);
  same_file(path, lists);
  snprintf(path, sizeof path, "%s/out/report.html", dir);
  snprintf(lists, sizeof lists, "%s/report.html", dir);
  same_report(path, lists);
  nd_settle_free(t);
  nd_intake_free(plan);
  nd_stage_free(s);
  nd_buf_clear(&run);
  void *all[] = {same, position, rank, pairs, kinds, values, asked, filled};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void test_same_lists(void **state) {
  (void)state;
  static const char *const sets[][4] = {
      {"threshold", "0.5", "keep", "first"},
      {"bucket-cap", "2", "threshold", "0.4"},
      {"keep", "longest", "threshold", "0.5"},
      {"cluster", "components", "threshold", "0.4"},
      {"keep", "centre", "bucket-cap", "3"},
      {"verify", "sketch", "threshold", "0.5"},
      {"verify", "none", "bucket-cap", "3"},
      {"method", "supershingle", "agree", "1"},
      {"method", "supershingle", "verify", "exact"},
      {"method", "simhash", "hamming", "8"},
      {"method", "simhash", "bucket-cap", "2"},
      {"method", "projection", "agree-bits", "340"},
      {"method", "projection", "complete", "yes"},
      {"method", "combined", "cluster", "components"},
      {"method", "combined-site", "agree", "1"},
      {"method", "digest", "keep", "first"},
      {"candidates", "simhash", "confirm", "minhash"},
      {"candidates", "minhash", "confirm", "projection"},
  };
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    make_varied_corpus(60 + (size_t)nd_rng_below(&rng, 80), k % 2);
    nd_options o;
    nd_options_init(&o);
    for (int i = 0; i < 4; i += 2) ok(nd_options_set(&o, sets[k][i], sets[k][i + 1], &err));
    walk_and_compare(&o);
  }
  assert_true(star_edges > 0);
}

/* A star edge is skipped if an earlier round assigned both ends to the same document; a full pair
 * is not. */
static void star_edge_is_skipped_after_an_earlier_round(void **state) {
  (void)state;
  enum { DOCUMENTS = (1 << 16) + 100 };
  nd_options o;
  nd_stage *s;
  nd_options_init(&o);
  ok(nd_stage_new(&s, &o, 1, secret, &err));
  uint32_t *same = calloc(DOCUMENTS, sizeof *same);
  uint64_t *pairs = calloc(DOCUMENTS, 8), *values = calloc(DOCUMENTS, 8);
  uint64_t *kinds = calloc(DOCUMENTS, 8);
  for (uint32_t d = 0; d < DOCUMENTS; d++) {
    same[d] = d;
    pairs[d] = d + 1; /* the first with all others … */
    values[d] = UINT64_C(1) << 32 | 1;
    kinds[d] = ND_STAGE_STAR;
  }
  pairs[DOCUMENTS - 1] = UINT64_C(1) << 32 | 2; /* … and two of those */
  for (int star = 0; star < 2; star++) {
    nd_settle *t;
    nd_summary counts = {0};
    kinds[DOCUMENTS - 1] = star ? ND_STAGE_STAR : ND_STAGE_FULL;
    ok(nd_settle_new(
        &t, s, &(nd_settle_request){.same = same, .rank = NULL, .documents = DOCUMENTS, .tmp = dir},
        &err));
    ok(nd_settle_verify(t, &(nd_candidates){pairs, kinds, values, DOCUMENTS}, &err));
    nd_settle_counts(&counts, t);
    assert_int_equal(counts.skipped, star);
    assert_int_equal(counts.candidates, DOCUMENTS - star);
    nd_settle_free(t);
  }
  void *all[] = {same, pairs, values, kinds};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  nd_stage_free(s);
}

/* A folder's files, one after another. */
static void same_folder(const char *a, const char *b) {
  const char *const names[] = {"a.jsonl", "b.jsonl"};
  for (int i = 0; i < 2; i++) {
    char x[200], y[200];
    snprintf(x, sizeof x, "%s/%s", a, names[i]);
    snprintf(y, sizeof y, "%s/%s", b, names[i]);
    same_file(x, y);
  }
}

/* Every method and order that stages know: the lists and the kept documents of nd_dedup. */
static void test_whole_walk(void **state) {
  (void)state;
  static const char *const sets[][6] = {
      {"threshold", "0.5", "keep", "first", "verify", "exact"},
      {"threshold", "0.4", "cluster", "components", "keep", "longest"},
      {"method", "exact", "threshold", "0.4", "keep", "first"},
      {"method", "exact", "threshold", "0.4", "keep", "longest"},
      {"method", "exact", "threshold", "0.3", "sample", "sct:6"},
      {"method", "exact", "threshold", "0.3", "sample", "mod:2"},
      {"method", "exact", "sample", "sct:6", "sample", "mod:2"},
      {"method", "exact", "cluster", "components", "keep", "centre"},
      {"tokens", "codepoints", "shingle", "chars:8", "keep", "url"},
      {"method", "exact", "similarity", "containment", "keep", "newest"},
  };
  char whole[120], apart[120], x[160], y[160];
  snprintf(whole, sizeof whole, "%s/whole", dir);
  snprintf(apart, sizeof apart, "%s/apart", dir);
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    for (int varied = 0; varied < 2; varied++) {
      make_varied_corpus(50 + (size_t)nd_rng_below(&rng, 60), varied);
      nd_options o;
      nd_options_init(&o);
      for (int i = 0; i < 6; i += 2) ok(nd_options_set(&o, sets[k][i], sets[k][i + 1], &err));
      nd_summary summary;
      ok(nd_remove_tree(whole, &err));
      ok(nd_remove_tree(apart, &err));
      ok(nd_dedup(&summary, &(nd_dedup_request){.inputs = inputs, .input_n = 2, .directory = whole},
                  &o, NULL, &err));
      assert_int_equal(mkdir(apart, 0777), 0);
      ok(stage_walk(&summary, inputs, 2, apart, &o, &err));
      static const char *const lists[] = {"pairs.tsv", "clusters.tsv"};
      for (int i = 0; i < 2; i++) {
        snprintf(x, sizeof x, "%s/%s", whole, lists[i]);
        snprintf(y, sizeof y, "%s/%s", apart, lists[i]);
        same_file(x, y);
      }
      snprintf(x, sizeof x, "%s/kept", whole);
      snprintf(y, sizeof y, "%s/kept", apart);
      same_folder(x, y);
    }
  }
}

static int set_up(void **state) {
  (void)state;
  seed_rng(&rng);
  if (!mkdtemp(dir)) return -1;
  corpus_in(dir);
  for (size_t i = 0; i < sizeof secret; i++) secret[i] = (char)(i * 7 + 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (size_t i = 0; i < MOST_BLOCKS; i++) {
    nd_buf_clear(&blocks[i].image);
    nd_buf_clear(&blocks[i].texts);
  }
  corpus_clear();
  return nd_remove_tree(dir, NULL) == ND_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_lists),
                                     cmocka_unit_test(star_edge_is_skipped_after_an_earlier_round),
                                     cmocka_unit_test(test_whole_walk)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
