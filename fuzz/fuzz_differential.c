/* Jobs over small corpora, each run under two settings that must agree: threads, memory, where
 * temporary files go, packing, shards, an interruption, the exact methods, sketch files, texts in
 * memory, another collection.  What a job writes is compared byte by byte. */
#include <stdatomic.h>

#include "corpus_grammar.h"
#include "job_calls.h"
#include "job_results.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "stage_walk.h"

static corpus docs;
static corpus_format format;
static nd_buf first, second;

/* --- jobs --------------------------------------------------------------------------------- */
static const char *const whole[] = {"in"};

static void set(nd_options *o, const char *name, const char *value) {
  nd_error err = {0};
  fuzz_check(nd_options_set(o, name, value, &err) == ND_OK);
}

/* The lines of pairs, into `out`; refused: the message. */
static nd_status pairs(nd_buf *out, const char *const *inputs, size_t n, const nd_options *o) {
  nd_error err = {0};
  nd_summary s;
  nd_sink sink = {.context = out, .write = take};
  out->n = 0;
  nd_status status = nd_pairs(
      &s, &(nd_pairs_request){.inputs = inputs, .input_n = n, .sink = &sink}, o, NULL, &err);
  fuzz_check(status == ND_OK || (err.message[0] && out->n == 0));
  if (status != ND_OK) fuzz_puts(out, err.message);
  return status;
}

static nd_status dedup(nd_buf *out, const char *dir, const nd_options *o, const nd_hooks *hooks) {
  nd_error err = {0};
  nd_summary s;
  out->n = 0;
  nd_status status = nd_dedup(
      &s, &(nd_dedup_request){.inputs = whole, .input_n = 1, .directory = dir}, o, hooks, &err);
  fuzz_check(status == ND_OK || err.message[0]);
  if (status != ND_OK) {
    fuzz_puts(out, err.message);
    return status;
  }
  if (s.shard_only) return status;
  fuzz_check(s.documents == s.kept + s.dropped + s.rejected);
  append_counts(out, &s);
  append_result(out, dir);
  return status;
}

static void check_same(void) {
  fuzz_check(nd_str_eq(nd_buf_str(&first), nd_buf_str(&second)));
  fuzz_note(first.p, first.n);
}

/* Settings that may not change a byte. */
static void vary(nd_options *o, fuzz_bytes *in) {
  static const char *const memory[] = {"16M", "17M", "40M", "256M", NULL};
  o->threads = 1 + fuzz_pick(in, 4);
  set(o, "memory", fuzz_word(in, memory));
  set(o, "max-stdin", fuzz_chance(in, 2) ? "1G" : "1");
  set(o, "sync", fuzz_chance(in, 2) ? "no" : "yes");
  if (fuzz_chance(in, 4)) {
    set(o, "tmp", "tmp");
    (void)mkdir("tmp", 0700);
  }
}

static void choose_options(nd_options *o, fuzz_bytes *in) {
  static const char *const methods[] = {
      "minhash",      "exact",   "join",       "allpairs", "ppjoin",        "ppjoin+", "digest",
      "supershingle", "simhash", "projection", "combined", "combined-site", NULL};
  static const char *const shingles[] = {"words:1",   "words:2", "words:5", "chars:3", "chars:9",
                                         "aligned:8", "words:3", "auto",    NULL};
  static const char *const thresholds[] = {"0.5", "0.8", "0.3", "0.65", "0.95", "1", "0.1", NULL};
  static const char *const tokens[] = {"words", "codepoints", "web", "words", NULL};
  static const char *const names[] = {"auto", "lines", "text", "warc", "trec", "sets"};
  nd_options_init(o);
  set(o, "sync", "no");
  set(o, "format", names[format]);
  set(o, "method", fuzz_word(in, methods));
  set(o, "shingle", fuzz_word(in, shingles));
  set(o, "threshold", fuzz_word(in, thresholds));
  set(o, "tokens", fuzz_word(in, tokens));
  o->threads = 1;
  set(o, "memory", "16M");
  for (unsigned n = fuzz_pick(in, 4); n; n--) {
    static const char *const more[][2] = {{"keep", "longest"},
                                          {"keep", "shortest"},
                                          {"keep", "oldest"},
                                          {"keep", "newest"},
                                          {"keep", "url"},
                                          {"keep", "centre"},
                                          {"keep", "field:score"},
                                          {"cluster", "components"},
                                          {"bucket-cap", "2"},
                                          {"bucket-cap", "3"},
                                          {"seed", "7"},
                                          {"sample", "mod:2"},
                                          {"sample", "min:8"},
                                          {"sample", "sct:3"},
                                          {"sample", "cap:9"},
                                          {"family", "linear"},
                                          {"permutations", "24"},
                                          {"verify", "sketch"},
                                          {"verify", "none"},
                                          {"verify", "exact"},
                                          {"hamming", "9"},
                                          {"weights", "tfidf"},
                                          {"weights", "tf"},
                                          {"features", "shingles"},
                                          {"agree-bits", "300"},
                                          {"complete", "yes"},
                                          {"agree", "1"},
                                          {"ignore-boilerplate", "yes"},
                                          {"candidates", "join"},
                                          {"confirm", "exact"},
                                          {"candidates", "minhash"},
                                          {"similarity", "cosine"},
                                          {"similarity", "containment"},
                                          {"fingerprint", "md5"},
                                          {"confirm", "simhash"},
                                          {"recall", "0.5"},
                                          {"collapse", "yes"},
                                          {"columns", "similarity,exact"},
                                          {"bits", "64"},
                                          {"csv", "yes"}};
    unsigned which = fuzz_pick(in, sizeof more / sizeof *more);
    set(o, more[which][0], more[which][1]);
  }
}

/* --- relations ------------------------------------------------------------------------- */
static void same_pairs(const nd_options *o, fuzz_bytes *in) {
  nd_options other = *o;
  vary(&other, in);
  nd_status status = pairs(&first, whole, 1, o);
  fuzz_check(pairs(&second, whole, 1, &other) == status);
  check_same();
}

static void same_dedup(const nd_options *o, fuzz_bytes *in) {
  nd_options other = *o;
  vary(&other, in);
  nd_status status = dedup(&first, "out1", o, NULL);
  fuzz_check(dedup(&second, "out2", &other, NULL) == status);
  if (status == ND_OK) check_same();
}

/* Records packed and plain; kept files are packed as their inputs, so they are unpacked. */
static void same_packed(const nd_options *o, fuzz_bytes *in) {
  nd_options other = *o;
  fuzz_packing how = 1 + (fuzz_packing)fuzz_pick(in, FUZZ_PACKINGS - 1);
  vary(&other, in);
  nd_status status = dedup(&first, "out1", o, NULL);
  remove_below("in");
  fuzz_check(rmdir("in") == 0);
  corpus_save(&docs, "in", format, how, in);
  fuzz_check(dedup(&second, "out2", &other, NULL) == status);
  if (status == ND_OK) check_same();
}

static void same_shards(const nd_options *o, fuzz_bytes *in) {
  nd_options other = *o;
  unsigned n = 2 + fuzz_pick(in, 3), from = fuzz_pick(in, n);
  nd_status status = dedup(&first, "out1", o, NULL);
  for (unsigned i = 0; i < n; i++) {
    vary(&other, in);
    set(&other, "tmp", "");
    set(&other, "memory", "16M"); /* less or more may change what is too long */
    snprintf(other.shard, sizeof other.shard, "%u/%u", 1 + (i + from) % n, n);
    nd_status part = dedup(&second, "out2", &other, NULL);
    fuzz_check(part == ND_OK || part == status);
    if (part != ND_OK) return;
  }
  other.shard[0] = '\0';
  fuzz_check(dedup(&second, "out2", &other, NULL) == status);
  if (status == ND_OK) check_same();
}

static int countdown(void *context) {
  return atomic_fetch_sub((atomic_int *)context, 1) <= 0;
}

/* Stopped once or twice, and resumed under other settings. */
static void same_resumed(const nd_options *o, fuzz_bytes *in) {
  nd_options other = *o;
  nd_status status = dedup(&first, "out1", o, NULL);
  for (unsigned n = 1 + fuzz_pick(in, 2); n; n--) {
    atomic_int left = (int)fuzz_pick(in, 48);
    nd_hooks hooks = {.context = &left, .cancelled = countdown};
    vary(&other, in);
    set(&other, "tmp", "");
    set(&other, "memory", "16M");
    nd_status stopped = dedup(&second, "out2", &other, &hooks);
    fuzz_check(stopped == status || stopped == ND_ERR_CANCELLED);
    if (stopped == ND_OK) { /* done before it was stopped */
      check_same();
      return;
    }
  }
  fuzz_check(dedup(&second, "out2", &other, NULL) == status);
  if (status == ND_OK) check_same();
}

/* The exact methods find the same pairs. */
static void same_methods(const nd_options *o, fuzz_bytes *in) {
  static const char *const exact[] = {"exact", "join", "allpairs", "ppjoin", "ppjoin+", NULL};
  static const char *const prints[] = {"rabin", "xxh3", "md5", NULL};
  nd_options a = *o, b;
  if (fuzz_chance(in, 4)) {
    set(&a, "similarity", "overlap");
    set(&a, "threshold", fuzz_chance(in, 2) ? "1" : "9");
  }
  set(&a, "candidates", "");
  set(&a, "confirm", "");
  b = a;
  set(&a, "method", fuzz_word(in, exact));
  set(&b, "method", fuzz_word(in, exact));
  set(&a, "fingerprint", fuzz_word(in, prints));
  nd_status status = pairs(&first, whole, 1, &a), again = pairs(&second, whole, 1, &b);
  if (status == ND_OK && again == ND_OK) check_same();
  fuzz_check(status == ND_OK || status == ND_ERR_USAGE);
  fuzz_check(again == ND_OK || again == ND_ERR_USAGE);
}

/* Every line of `some` is one of `all`, in the same order. */
static void check_subset(nd_str some, nd_str all) {
  while (some.n) {
    const char *end = memchr(some.p, '\n', some.n);
    fuzz_check(end);
    size_t n = (size_t)(end - some.p) + 1;
    for (;;) {
      const char *stop = all.n ? memchr(all.p, '\n', all.n) : NULL;
      fuzz_check(stop);
      size_t m = (size_t)(stop - all.p) + 1;
      bool same = m == n && memcmp(some.p, all.p, n) == 0;
      all.p += m;
      all.n -= m;
      if (same) break;
    }
    some.p += n;
    some.n -= n;
  }
}

/* What an approximate method finds and the documents confirm, an exact one finds too. */
static void subset_of_exact(const nd_options *o, fuzz_bytes *in) {
  static const char *const proposers[] = {"minhash",    "supershingle", "simhash",
                                          "projection", "combined",     NULL};
  nd_options some = *o, all;
  set(&some, "verify", "");
  set(&some, "confirm", "");
  set(&some, "candidates", "");
  set(&some, "weights", "one");
  set(&some, "similarity", "jaccard");
  set(&some, "sample", "none");
  set(&some, "columns", "similarity");
  if (strcmp(some.shingle, "auto") == 0)
    set(&some, "shingle", "words:4"); /* methods differ in it */
  all = some;
  set(&some, "method", "minhash");
  set(&some, "candidates", fuzz_word(in, proposers));
  set(&all, "method", "exact");
  nd_status status = pairs(&first, whole, 1, &some);
  if (status != ND_OK) return;
  fuzz_check(pairs(&second, whole, 1, &all) == ND_OK);
  check_subset(nd_buf_str(&first), nd_buf_str(&second));
  fuzz_note(first.p, first.n);
}

/* The pairs with another collection are those of both together that lie across. */
static void same_against(const nd_options *o, fuzz_bytes *in) {
  static const char *const exact[] = {"exact",   "join",    "allpairs", "ppjoin",
                                      "ppjoin+", "minhash", NULL};
  static const char *const one[] = {"in/a00"}, *const both[] = {"in/a00", "in/b00"};
  nd_options a = *o, b;
  if (docs.files != 2) return;
  set(&a, "method", fuzz_word(in, exact));
  set(&a, "candidates", "");
  set(&a, "confirm", "");
  set(&a, "sample", "none");
  set(&a, "bucket-cap", "128");
  a.ignore_boilerplate = a.collapse = a.csv = 0;
  docs.repeated_ids = false;
  remove_below("in");
  fuzz_check(rmdir("in") == 0);
  corpus_save(&docs, "in", CORPUS_JSONL, FUZZ_PLAIN, in);
  set(&a, "format", "jsonl");
  b = a;
  set(&b, "against", "in/b00");
  nd_status status = pairs(&first, both, 2, &a);
  if (pairs(&second, one, 1, &b) != ND_OK || status != ND_OK) return;
  unsigned split = 0;
  while (split < docs.n && docs.doc[split].file == 0) split++;
  size_t kept = 0;
  for (size_t at = 0; at < first.n;) {
    const char *line = first.p + at, *end = memchr(line, '\n', first.n - at);
    unsigned x, y;
    fuzz_check(end && sscanf(line, "d%u\td%u\t", &x, &y) == 2);
    size_t n = (size_t)(end - line) + 1;
    if (x < split && y >= split) {
      memmove(first.p + kept, line, n);
      kept += n;
    }
    at += n;
  }
  first.n = kept;
  check_same();
}

/* Sketch files stand for their documents, and merged ones for those of all. */
static void same_sketches(const nd_options *o, fuzz_bytes *in) {
  static const char *const file[] = {"sketches"}, *const merged[] = {"merged"};
  static const char *const parts[] = {"s0", "s1", "s2"};
  nd_error err = {0};
  nd_summary s;
  nd_options decided = *o, other, again;
  if (!decided.verify[0]) set(&decided, "verify", "sketch"); /* there are no documents */
  o = &decided;
  other = again = decided;
  set(&again, "resume", "never");
  vary(&other, in);
  set(&other, "resume", "never");
  if (nd_sketch_documents(&s, &(nd_sketch_request){.inputs = whole, .input_n = 1, .file = file[0]},
                          &other, NULL, &err) != ND_OK) {
    fuzz_check(err.message[0]);
    return;
  }
  nd_status status = pairs(&first, file, 1, &other);
  if (status == ND_OK && pairs(&second, whole, 1, o) == ND_OK) check_same();
  bool whole_corpus = strcmp(o->weights, "tfidf") == 0; /* files of parts do not go together */
  if (format == CORPUS_TEXT || docs.files == 1 || whole_corpus) return;
  for (unsigned i = 0; i < docs.files; i++) {
    char path[16];
    const char *const one = path;
    snprintf(path, sizeof path, "in/%c00", 'a' + i);
    if (access(path, R_OK) != 0) return;
    fuzz_check(nd_sketch_documents(
                   &s, &(nd_sketch_request){.inputs = &one, .input_n = 1, .file = parts[i]}, &again,
                   NULL, &err) == ND_OK);
  }
  fuzz_check(nd_sketch_merge(
                 &s,
                 &(nd_sketch_request){.inputs = parts, .input_n = docs.files, .file = merged[0]},
                 &again, NULL, &err) == ND_OK);
  fuzz_check(pairs(&second, merged, 1, o) == status);
  if (status == ND_OK) check_same();
}

/* Texts in memory, in a layout of Arrow's, and the same texts in a JSONL file. */
static void same_memory(const nd_options *o, fuzz_bytes *in) {
  static nd_buf texts, facts;
  nd_str text[CORPUS_DOCS], fact[CORPUS_DOCS];
  int64_t end[CORPUS_DOCS + 1] = {0};
  nd_options a = *o;
  nd_error err = {0};
  nd_summary s;
  nd_result r = {0};
  docs.repeated_ids = false;
  a.ignore_boilerplate = a.csv = 0;
  set(&a, "format", "jsonl");
  set(&a, "columns", "similarity");
  remove_below("in");
  fuzz_check(rmdir("in") == 0);
  corpus_save(&docs, "in", CORPUS_JSONL, FUZZ_PLAIN, in);
  texts.n = facts.n = 0;
  fuzz_puts(&texts, " "); /* an empty text is no null */
  fuzz_puts(&facts, " ");
  size_t at[CORPUS_DOCS], fact_at[CORPUS_DOCS];
  for (unsigned i = 0; i < docs.n; i++) {
    const corpus_doc *d = &docs.doc[i];
    char url[64];
    if (d->null) return; /* rejected in one, kept in the other */
    at[i] = texts.n;
    corpus_text(&texts, d, true);
    text[i].n = texts.n - at[i];
    fact_at[i] = facts.n;
    corpus_url(url, d);
    if (strcmp(a.keep, "url") == 0)
      fuzz_puts(&facts, url);
    else if (strncmp(a.keep, "field:", 6) == 0)
      fuzz_putf(&facts, "%u", d->url);
    else
      fuzz_putf(&facts, "20%02u-01-01", d->age);
    fact[i].n = facts.n - fact_at[i];
  }
  for (unsigned i = 0; i < docs.n; i++) {
    text[i].p = texts.p + at[i];
    fact[i].p = facts.p + fact_at[i];
    end[i + 1] = end[i] + (int64_t)text[i].n;
  }
  unsigned cut = fuzz_pick(in, docs.n);
  nd_chunk chunk[2] = {{.layout = ND_LAYOUT_STR, .n = cut, .index = text},
                       {.layout = ND_LAYOUT_OFFSET64,
                        .n = docs.n - cut,
                        .first = cut,
                        .index = end,
                        .bytes = texts.p + 1}};
  nd_chunk known[2] = {{.layout = ND_LAYOUT_STR, .n = cut, .index = fact},
                       {.layout = ND_LAYOUT_STR, .n = docs.n - cut, .index = fact + cut}};
  nd_text_stream stream = {.chunks = chunk, .n = 2, .facts = known};
  nd_corpus both = {.texts = &stream};
  nd_options other = a;
  set(&other, "format", "auto");
  vary(&other, in);
  nd_status status = job_dedup_memory(&r, &s, &both, &other, NULL, &err);
  nd_status again = dedup(&second, "out2", &a, NULL);
  if (status != ND_OK || again != ND_OK) { /* sites are for files only */
    nd_result_clear(&r);
    return;
  }
  first.n = 0;
  for (uint64_t i = 0; i < r.pair_n; i++)
    fuzz_putf(&first, "d%u\td%u\t%.6f\n", r.a[i], r.b[i], r.value[i]);
  second.n = 0;
  append_file(&second, "out2/pairs.tsv");
  check_same();
  second.n = 0;
  append_file(&second, "out2/clusters.tsv");
  fuzz_put(&second, "", 1);
  unsigned dropped = 0;
  for (const char *line = second.p; line[0]; line = strchr(line, '\n') + 1) {
    unsigned x, y;
    char kept[16];
    fuzz_check(sscanf(line, "d%u\td%u\t%15s", &x, &y, kept) == 3 && x < docs.n && y < docs.n);
    bool keeps = r.keep[x >> 3] >> (x & 7) & 1;
    fuzz_check(keeps == (strcmp(kept, "kept") == 0) && r.cluster[x] == y);
    dropped += !keeps;
  }
  for (unsigned i = 0; i < docs.n; i++) dropped -= !(r.keep[i >> 3] >> (i & 7) & 1);
  fuzz_check(dropped == 0);
  nd_result_clear(&r);
}

/* The same job in stages, as an engine such as Spark runs them. */
static void same_stages(const nd_options *o, fuzz_bytes *in) {
  static const char *const lists[] = {"pairs.tsv", "clusters.tsv"};
  nd_options other = *o;
  nd_stage *stage = NULL;
  nd_stage_facts facts = {0};
  nd_summary s;
  nd_error err = {0};
  char path[32];
  if (format == CORPUS_TEXT) return; /* more blocks than a walk has room for */
  set(&other, "method", fuzz_chance(in, 2) ? "exact" : "minhash");
  if (nd_stage_new(&stage, &other, 1, (char[ND_STAGE_SECRET]){0}, &err) == ND_OK)
    nd_stage_about(&facts, stage);
  nd_stage_free(stage);
  if (!stage || facts.keys > WALK_PLACES || dedup(&first, "out1", &other, NULL) != ND_OK) return;
  fuzz_check(stage_walk(&s, whole, 1, "out2", &other, &err) == ND_OK);
  for (int i = 0; i < 2; i++) {
    first.n = second.n = 0;
    for (int k = 1; k <= 2; k++) {
      snprintf(path, sizeof path, "out%d/%s", k, lists[i]);
      append_file(k == 1 ? &first : &second, path);
    }
    check_same();
  }
  first.n = second.n = 0;
  append_result(&first, "out1/kept");
  append_result(&second, "out2/kept");
  check_same();
}

/* --- one input ------------------------------------------------------------------------------ */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const relations[])(const nd_options *, fuzz_bytes *) = {
      same_pairs,      same_dedup,   same_packed,   same_shards, same_resumed, same_methods,
      subset_of_exact, same_against, same_sketches, same_memory, same_stages};
  fuzz_bytes in = {data, size};
  nd_options options;
  if (!folder[0]) make_folder();
  int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  fuzz_check(back >= 0 && chdir(folder) == 0);
  unsigned relation = fuzz_pick(&in, sizeof relations / sizeof *relations);
  format = (corpus_format)fuzz_pick(&in, CORPUS_FORMATS);
  choose_options(&options, &in);
  nd_error err = {0};
  if (nd_options_check(&options, &err) == ND_OK || relation >= 5) {
    corpus_make(&docs, &in);
    corpus_save(&docs, "in", format, FUZZ_PLAIN, &in);
    relations[relation](&options, &in);
  }
  remove_below(folder);
  fuzz_check(fchdir(back) == 0);
  close(back);
  return 0;
}
