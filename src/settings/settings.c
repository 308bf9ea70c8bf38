/* Options → settings; refuses inconsistent options. */
#include "settings/settings.h"

#include <stdio.h>

#include "base/machine.h"
#include "base/threads.h"
#include "settings/method.h"

enum { USUAL_WORDS = 5 };
enum { LEAST_MEMORY = 16 << 20 };

/* Half of the machine's memory: buffers beyond the budget and the page cache need the rest. */
static uint64_t usual_memory(void) {
  uint64_t half = nd_machine_memory("") / 2;
  return half < LEAST_MEMORY ? LEAST_MEMORY : half;
}

static double as_double(nd_decimal d) {
  return (double)d.num / (double)d.den;
}

static nd_status resolve_keep(nd_settings *s, const nd_options *o, nd_error *err) {
  static const char *const names[] = {"first",  "longest", "shortest", "oldest",
                                      "newest", "url",     "centre"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(o->keep, names[i]) == 0) {
      s->keep = (nd_keep)i;
      return ND_OK;
    }
  }
  if (strncmp(o->keep, "field:", 6) == 0 && o->keep[6]) {
    s->keep = ND_KEEP_FIELD;
    s->input.keep_field = o->keep + 6;
    return ND_OK;
  }
  return nd_fail(
      err, ND_ERR_USAGE,
      "--keep %s is not known; use first, longest, shortest, oldest, newest, url, centre "
      "or field:NAME",
      o->keep);
}

static nd_status resolve_shard(nd_settings *s, const nd_options *o, nd_error *err) {
  s->shard = 0;
  s->shards = 1;
  if (!o->shard[0]) return ND_OK;
  unsigned i = 0, n = 0;
  char rest;
  if (sscanf(o->shard, "%u/%u%c", &i, &n, &rest) != 2 || n < 1 || i < 1 || i > n || n > 100000)
    return nd_fail(err, ND_ERR_USAGE, "--shard %s: use I/N with I from 1 to N, such as 2/8",
                   o->shard);
  s->shard = i - 1;
  s->shards = n;
  return ND_OK;
}

/* Words in the order of their enums. */
static const char *const families[] = {"fast", "linear", NULL};
static const char *const weightings[] = {"one", "tf", "tfidf", NULL};
static const char *const fingerprints[] = {"rabin", "xxh3", "md5", NULL};

/* Returns the index of a word, which the table of options has checked. */
static int index_of(const char *word, const char *const *words) {
  int i = 0;
  while (words[i + 1]) i++;
  while (i && strcmp(words[i], word) != 0) i--;
  return i;
}

/* Refuses a similarity that the methods cannot find or verify. */
static nd_status check_ways(const nd_settings *s, nd_error *err) {
  const nd_similarity *kind = s->similarity;
  const bool found = kind->ways & nd_method_way(s->candidates);
  if (found && (kind->ways & ND_WAY_SKETCHES || s->verifier->exact)) return ND_OK;
  const unsigned ways = kind->ways & ~(unsigned)ND_WAY_PREFIX_JOIN; /* slower, the same pairs */
  char names[80] = "";
  size_t n = 0;
  for (const nd_method *const *m = nd_methods; *m && n < sizeof names; m++)
    if ((*m)->exact & ways)
      n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " or " : "", (*m)->name);
  return nd_fail(err, ND_ERR_USAGE, "--similarity %s needs --method %s, not %s", kind->name, names,
                 found ? s->verifier->name : s->candidates->name);
}

/* Resolves the similarity and its threshold. */
static nd_status resolve_threshold(nd_settings *s, const nd_options *o, nd_error *err) {
  const nd_similarity *kind = s->similarity = nd_similarity_find(o->similarity);
  const nd_method *find = s->candidates, *verifier = s->verifier;
  ND_TRY(check_ways(s, err));
  if (!kind->standard.den && !o->threshold_given)
    return nd_fail(err, ND_ERR_USAGE, "--similarity %s needs --threshold N%s", kind->name,
                   kind->counts ? ", a whole number" : "");
  const nd_decimal t = s->threshold = o->threshold_given ? o->threshold : kind->standard;
  if (kind->counts && t.den != 1)
    return nd_fail(err, ND_ERR_USAGE, "--threshold is a whole number for --similarity %s",
                   kind->name);
  if (o->top && !(find->exact && verifier->exact))
    return nd_fail(err, ND_ERR_USAGE, "--top needs an exact method, such as --method exact");
  s->every_pair = nd_method_counts(find) && nd_method_counts(verifier) && !kind->counts &&
                  (!o->threshold_given || t.num == 0);
  if (s->every_pair) s->threshold = (nd_decimal){0, 1};
  if (s->every_pair || kind->distance) return ND_OK;
  if (t.num == 0 || (!kind->counts && t.num > t.den)) {
    return nd_fail(err, ND_ERR_USAGE, "--threshold %.10g is out of range: %s", as_double(t),
                   kind->counts ? "at least 1" : "above 0, at most 1");
  }
  return ND_OK;
}

/* Finds the method `word` of --`option`; "" is the usual one. */
static nd_status find_method(const nd_method **out, const char *option, const char *word,
                             const nd_method *usual, nd_error *err) {
  *out = word[0] ? nd_method_find(word) : usual;
  return *out ? ND_OK : nd_fail(err, ND_ERR_USAGE, "--%s %s is not a method", option, word);
}

/* Resolves the methods that generate and verify candidates, and --verify. */
static nd_status resolve_method(nd_settings *s, const nd_options *o, nd_error *err) {
  ND_TRY(nd_sample_parse(&s->sample, o->sample, err));
  ND_TRY(find_method(&s->method, "method", o->method, NULL, err));
  ND_TRY(find_method(&s->candidates, "candidates", o->candidates, s->method, err));
  ND_TRY(find_method(&s->verifier, "confirm", o->confirm, s->method, err));
  s->family = (nd_family)index_of(o->family, families);
  const nd_method *verifier = s->verifier;
  if (!verifier->find && s->candidates != verifier)
    return nd_fail(err, ND_ERR_USAGE,
                   "--confirm %s would leave only exact duplicates; use --method %s",
                   verifier->name, verifier->name);
  s->verify = strcmp(o->verify, "none") == 0       ? ND_VERIFY_NONE
              : strcmp(o->verify, "sketch") == 0   ? ND_VERIFY_SKETCH
              : strcmp(o->verify, "exact") == 0    ? ND_VERIFY_EXACT
              : !o->verify[0] && verifier->defined ? ND_VERIFY_SKETCH
              : s->sample.on                       ? ND_VERIFY_SAMPLE
                                                   : ND_VERIFY_EXACT;
  if (s->verify == ND_VERIFY_SKETCH && !verifier->judge)
    return nd_fail(err, ND_ERR_USAGE, "--verify sketch needs --method minhash, not %s",
                   verifier->name);
  /* Without sketches, documents decide. */
  if (!verifier->judge && s->verify != ND_VERIFY_SAMPLE) s->verify = ND_VERIFY_EXACT;
  return ND_OK;
}

/* Returns false if there is no such column. */
static bool find_column(nd_pair_column *out, const char *word) {
  const nd_sketch *k;
  *out = (nd_pair_column){.exact = strcmp(word, "exact") == 0};
  for (size_t i = 0; (k = nd_sketch_at(i)); i++)
    if (strcmp(word, k->name) == 0) out->sketch = k;
  return out->exact || out->sketch || strcmp(word, "similarity") == 0;
}

static nd_status refuse_column(const char *word, bool twice, nd_error *err) {
  char names[200] = "";
  const nd_sketch *k;
  size_t n = 0;
  for (size_t i = 0; (k = nd_sketch_at(i)) && n < sizeof names; i++)
    n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", nd_sketch_at(i + 1) ? ", " : " or ",
                          k->name);
  return nd_fail(err, ND_ERR_USAGE,
                 "--columns %s: %s; use similarity, exact%s, separated by commas", word,
                 twice ? "repeated column" : "unknown column", names);
}

/* Parses a list such as "similarity,projection,site". */
static nd_status resolve_columns(nd_settings *s, const nd_options *o, nd_error *err) {
  for (const char *p = o->columns; *p;) {
    char word[32];
    size_t n = strcspn(p, ",");
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), p);
    nd_pair_column column;
    bool known = find_column(&column, word), twice = false;
    for (unsigned i = 0; i < s->column_n; i++)
      twice |= s->columns[i].exact == column.exact && s->columns[i].sketch == column.sketch;
    if (!known || twice) return refuse_column(word, known, err);
    s->columns[s->column_n++] = column;
    p += n + (p[n] == ',');
  }
  return ND_OK;
}

static bool is_kept(const nd_settings *s, const nd_sketch *sketch) {
  const nd_method *verifier = s->verifier;
  const bool documents = s->verify == ND_VERIFY_EXACT || s->verify == ND_VERIFY_SAMPLE;
  const bool judged = verifier->judge && (verifier->defined || !documents);
  bool kept = nd_sketch_in(s->candidates->finds, sketch) ||
              (judged && nd_sketch_in(verifier->judges, sketch));
  for (unsigned i = 0; i < s->column_n; i++) kept |= s->columns[i].sketch == sketch;
  return kept;
}

/* Resolves the parameters of the sketches, and chooses those that the run keeps. */
static nd_status resolve_sketches(nd_settings *s, const nd_options *o, nd_error *err) {
  const nd_sketch *k;
  s->weights = (nd_weights)index_of(o->weights, weightings);
  s->feature_shingles = strcmp(o->features, "shingles") == 0;
  for (size_t i = 0; (k = nd_sketch_at(i)); i++) {
    if (is_kept(s, k)) nd_settings_keep(s, k);
    if (k->resolve) ND_TRY(k->resolve(s, o, err));
  }
  if (s->candidates->resolve) ND_TRY(s->candidates->resolve(s, o, err));
  if (s->verifier->resolve && s->verifier != s->candidates) ND_TRY(s->verifier->resolve(s, o, err));
  nd_settings_keep(s, NULL); /* lay out the row: all sizes are known now */
  return ND_OK;
}

bool nd_settings_usual_columns(const nd_settings *s) {
  return s->column_n == 1 && !s->columns[0].exact && !s->columns[0].sketch;
}

bool nd_settings_use_texts(const nd_settings *s) {
  bool shows = false;
  for (unsigned i = 0; i < s->column_n; i++) shows |= s->columns[i].exact;
  return shows || s->verify == ND_VERIFY_EXACT || s->verify == ND_VERIFY_SAMPLE ||
         s->candidates->exact;
}

static nd_status resolve_shingle(nd_settings *s, const nd_options *o, nd_error *err) {
  /* The tokens of a set are its features. */
  if (s->format && s->format->sets) {
    s->shingle = (nd_shingle_spec){ND_SHINGLE_WORDS, 1};
    return ND_OK;
  }
  if (strcmp(o->shingle, "auto") != 0) return nd_shingle_parse(&s->shingle, o->shingle, err);
  s->shingle = (nd_shingle_spec){ND_SHINGLE_WORDS, USUAL_WORDS};
  for (unsigned i = 0; i < s->row.n; i++)
    if (s->row.part[i].sketch->shingle_words)
      s->shingle.size = s->row.part[i].sketch->shingle_words;
  return ND_OK;
}

static nd_status resolve_sample(nd_settings *s, const nd_options *o, nd_error *err) {
  const nd_sample_plan *plan = &s->sample.plan;
  nd_decimal share = o->boilerplate_share;
  if (share.num == 0 || share.num >= share.den)
    return nd_fail(err, ND_ERR_USAGE, "--boilerplate-share is out of range: above 0, below 1");
  if (!s->sample.on) return ND_OK;
  if (!s->method->find)
    return nd_fail(err, ND_ERR_USAGE, "--sample chooses shingles, and --method %s compares none",
                   s->method->name);
  if (s->similarity->of_texts)
    return nd_fail(err, ND_ERR_USAGE,
                   "--sample chooses shingles, and --similarity %s compares none",
                   s->similarity->name);
  bool adds_up = false;
  for (unsigned i = 0; i < s->row.n; i++)
    adds_up |= s->row.part[i].sketch->from == ND_FROM_FEATURES;
  if (adds_up && (!s->feature_shingles || s->weights == ND_WEIGHTS_TFIDF))
    return nd_fail(err, ND_ERR_USAGE,
                   "--sample chooses shingles; simhash and projection take them with --features "
                   "shingles, and without --weights tfidf");
  if (!plan->n && !s->sample.goal.num) return ND_OK;
  if (!(s->similarity->ways & ND_WAY_SKETCHES)) /* a plan estimates, as sketches do */
    return nd_fail(err, ND_ERR_USAGE, "--sample adaptive needs --similarity %s",
                   nd_similarity_name(0));
  if (s->every_pair) return nd_fail(err, ND_ERR_USAGE, "--sample adaptive needs --threshold");
  if (!plan->n) return ND_OK;
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, USUAL_WORDS};
  if (strcmp(plan->shingle, "auto") != 0) ND_TRY(nd_shingle_parse(&spec, plan->shingle, err));
  if (spec.kind != s->shingle.kind || spec.size != s->shingle.size ||
      strcmp(plan->tokens, o->tokens) != 0)
    return nd_fail(
        err, ND_ERR_USAGE,
        "the plan is for --shingle %s --tokens %s, not for %s and %s; create another plan",
        plan->shingle, plan->tokens, o->shingle, o->tokens);
  if (plan->threshold.num != s->threshold.num || plan->threshold.den != s->threshold.den)
    return nd_fail(err, ND_ERR_USAGE,
                   "the plan is for --threshold %.10g; use that, or create another plan",
                   as_double(plan->threshold));
  return ND_OK;
}

nd_status nd_settings_resolve(nd_settings *out, const nd_options *o, nd_error *err) {
  *out = (nd_settings){.options = o};
  nd_settings *s = out;
  if (strcmp(o->format, "auto") != 0) s->format = nd_format_find(o->format);
  s->memory = o->memory ? o->memory : usual_memory();
  s->input = (nd_input_options){.id_field = o->id_field,
                                .text_field = o->text_field,
                                .url_field = o->url_field,
                                .time_field = o->time_field,
                                .max_document = o->max_document};
  /* A document, its text and its tokens must fit the budget together. */
  const uint64_t largest = nd_budget(s->memory, ND_SHARE_DOCUMENT);
  if (s->input.max_document > largest) s->input.max_document = largest;
  s->tokens = strcmp(o->tokens, "codepoints") == 0 ? ND_TOKENS_CODEPOINTS
              : strcmp(o->tokens, "web") == 0      ? ND_TOKENS_WEB
                                                   : ND_TOKENS_WORDS;
  ND_TRY(resolve_method(s, o, err));
  s->fingerprint = (nd_fingerprint_kind)index_of(o->fingerprint, fingerprints);
  ND_TRY(resolve_threshold(s, o, err));
  ND_TRY(resolve_columns(s, o, err));
  ND_TRY(resolve_sketches(s, o, err));
  ND_TRY(resolve_shingle(s, o, err));
  ND_TRY(resolve_sample(s, o, err));
  bool chains = strcmp(o->cluster, "components") == 0;
  s->cluster = chains ? ND_CLUSTER_COMPONENTS : ND_CLUSTER_STAR;
  if (chains && o->against[0])
    return nd_fail(err, ND_ERR_USAGE,
                   "--against compares with the reference collection only; use --cluster star");
  ND_TRY(resolve_keep(s, o, err));
  ND_TRY(resolve_shard(s, o, err));
  s->threads = o->threads ? (unsigned)o->threads : nd_threads_cores();
  if (o->memory && o->memory < LEAST_MEMORY)
    return nd_fail(err, ND_ERR_USAGE, "--memory must be at least 16M");
  return ND_OK;
}

const char *nd_verify_name(nd_verify how) {
  static const char *const names[] = {[ND_VERIFY_EXACT] = "exact",
                                      [ND_VERIFY_SKETCH] = "sketch",
                                      [ND_VERIFY_NONE] = "none",
                                      [ND_VERIFY_SAMPLE] = "sample"};
  return names[how];
}

void nd_settings_option(char value[ND_OPTION_VALUE], const nd_settings *s,
                        const nd_option_row *row) {
  nd_option_text(value, ND_OPTION_VALUE, s->options, row);
  if (strcmp(row->info.name, "cluster") == 0 && !value[0]) strcpy(value, "star");
  if (strcmp(row->info.name, "verify") == 0 && !value[0])
    strcpy(value, s->verify == ND_VERIFY_SAMPLE ? "sample" : "exact");
}
