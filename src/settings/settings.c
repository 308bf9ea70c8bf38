/* Options → settings; the place where choices that do not fit are refused. */
#include "settings/settings.h"

#include <stdio.h>

#include "base/machine.h"
#include "base/threads.h"
#include "candidate/bands.h"
#include "settings/methods.h"
#include "sketch/supershingle.h"

enum { USUAL_PERMUTATIONS = 128, USUAL_MIN_VALUES = 84, USUAL_WORDS = 5 };
enum { LEAST_MEMORY = 16 << 20 };

/* Buffers beyond the budget need room, and so do the pages that the system caches. */
static uint64_t usual_memory(void) {
  uint64_t half = nd_machine_memory("") / 2;
  return half < LEAST_MEMORY ? LEAST_MEMORY : half;
}

static double as_double(nd_decimal d) {
  return (double)d.num / (double)d.den;
}

static nd_status resolve_bands(nd_settings *s, const nd_options *o, nd_error *err) {
  double t = as_double(s->threshold), recall = as_double(o->recall);
  if (recall <= 0 || recall > 1)
    return nd_fail(err, ND_ERR_USAGE, "--recall %.10g is out of range: above 0, at most 1", recall);
  if (recall >= 1) {
    return nd_fail(err, ND_ERR_USAGE,
                   "--recall 1 needs an exact method; minhash can promise any recall below 1");
  }
  uint64_t k = o->permutations, b = o->bands, r = o->rows;
  nd_bands cut;
  if (b && r) {
    if (k && b * r > k)
      return nd_fail(err, ND_ERR_USAGE,
                     "--bands %llu x --rows %llu is more than --permutations %llu",
                     (unsigned long long)b, (unsigned long long)r, (unsigned long long)k);
    cut = (nd_bands){(uint32_t)b, (uint32_t)r};
  } else if (b || r) {
    return nd_fail(err, ND_ERR_USAGE, "--bands and --rows are given together or not at all");
  } else if (k) {
    cut = nd_bands_cut(t, recall, (uint32_t)k);
  } else {
    cut = nd_bands_choose(t, recall, USUAL_PERMUTATIONS, ND_MINHASH_MAX);
    if (cut.bands == 0)
      return nd_fail(
          err, ND_ERR_USAGE,
          "recall %g at threshold %g needs more than %d permutations; the best they give is %.6f",
          recall, t, ND_MINHASH_MAX, nd_bands_recall(nd_bands_cut(t, recall, ND_MINHASH_MAX), t));
  }
  if ((uint64_t)cut.bands * cut.rows > ND_MINHASH_MAX)
    return nd_fail(err, ND_ERR_USAGE, "bands x rows is more than %d", ND_MINHASH_MAX);
  s->bands = cut.bands;
  s->rows = cut.rows;
  s->permutations = k ? (uint32_t)k : cut.bands * cut.rows;
  s->predicted_recall = nd_bands_recall(cut, t);
  return ND_OK;
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

/* In the order of the enums. */
static const char *const families[] = {"fast", "linear", NULL};
static const char *const weightings[] = {"one", "tf", "tfidf", NULL};
static const char *const shown[] = {"similarity", "exact",   "minhash", "supershingle",
                                    "projection", "simhash", "site",    NULL};
static const char *const fingerprints[] = {"rabin", "xxh3", "md5", NULL};

/* The word is one of them: the table of options takes no other. */
static int place_of(const char *word, const char *const *words) {
  int i = 0;
  while (words[i + 1]) i++;
  while (i && strcmp(words[i], word) != 0) i--;
  return i;
}

static bool is_exact(nd_method m) {
  return m >= ND_METHOD_EXACT && m <= ND_METHOD_PPJOIN_PLUS;
}

static bool is_join(nd_method m) {
  return is_exact(m) && m != ND_METHOD_EXACT;
}

static unsigned way_of(nd_method m) {
  return m == ND_METHOD_EXACT  ? ND_WAY_MERGE
         : m == ND_METHOD_JOIN ? ND_WAY_JOIN
         : is_join(m)          ? ND_WAY_PREFIX_JOIN
                               : ND_WAY_SKETCHES;
}

/* Refuses a similarity that the methods cannot find or decide. */
static nd_status check_ways(const nd_settings *s, nd_error *err) {
  const nd_similarity *kind = s->similarity;
  const bool found = kind->ways & way_of(s->candidates);
  if (found && (kind->ways & ND_WAY_SKETCHES || is_exact(s->confirm))) return ND_OK;
  const unsigned ways = kind->ways & (ND_WAY_MERGE | ND_WAY_JOIN);
  return nd_fail(err, ND_ERR_USAGE, "--similarity %s needs --method %s, not %s", kind->name,
                 ways == ND_WAY_MERGE  ? "exact"
                 : ways == ND_WAY_JOIN ? "join"
                                       : "exact or join",
                 nd_methods[found ? s->confirm : s->candidates].name);
}

/* The similarity and its threshold. */
static nd_status resolve_threshold(nd_settings *s, const nd_options *o, nd_error *err) {
  const nd_similarity *kind = s->similarity = nd_similarity_find(o->similarity);
  ND_TRY(check_ways(s, err));
  if (!kind->standard.den && !o->threshold_given)
    return nd_fail(err, ND_ERR_USAGE, "--similarity %s needs --threshold N%s", kind->name,
                   kind->counts ? ", a whole number" : "");
  const nd_decimal t = s->threshold = o->threshold_given ? o->threshold : kind->standard;
  if (kind->counts && t.den != 1)
    return nd_fail(err, ND_ERR_USAGE, "--threshold is a whole number for --similarity %s",
                   kind->name);
  if (o->top && !(is_exact(s->candidates) && is_exact(s->confirm)))
    return nd_fail(err, ND_ERR_USAGE, "--top needs an exact method, such as --method exact");
  s->every_pair = s->candidates == ND_METHOD_EXACT && s->confirm == ND_METHOD_EXACT &&
                  !kind->counts && (!o->threshold_given || t.num == 0);
  if (s->every_pair) s->threshold = (nd_decimal){0, 1};
  if (s->every_pair || kind->distance) return ND_OK;
  if (t.num == 0 || (!kind->counts && t.num > t.den)) {
    return nd_fail(err, ND_ERR_USAGE, "--threshold %.10g is out of range: %s", as_double(t),
                   kind->counts ? "at least 1" : "above 0, at most 1");
  }
  return ND_OK;
}

/* Who proposes, who decides, and by what. */
static nd_status resolve_method(nd_settings *s, const nd_options *o, nd_error *err) {
  ND_TRY(nd_sample_parse(&s->sample, o->sample, err));
  s->method = nd_method_find(o->method);
  s->candidates = o->candidates[0] ? nd_method_find(o->candidates) : s->method;
  s->confirm = o->confirm[0] ? nd_method_find(o->confirm) : s->method;
  s->family = (nd_family)place_of(o->family, families);
  const nd_method_row *confirm = &nd_methods[s->confirm];
  if (s->confirm == ND_METHOD_DIGEST && s->candidates != ND_METHOD_DIGEST)
    return nd_fail(err, ND_ERR_USAGE,
                   "--confirm digest would leave nothing but exact copies: use --method digest");
  s->verify = strcmp(o->verify, "none") == 0      ? ND_VERIFY_NONE
              : strcmp(o->verify, "sketch") == 0  ? ND_VERIFY_SKETCH
              : strcmp(o->verify, "exact") == 0   ? ND_VERIFY_EXACT
              : !o->verify[0] && confirm->defined ? ND_VERIFY_SKETCH
              : s->sample.on                      ? ND_VERIFY_SAMPLE
                                                  : ND_VERIFY_EXACT;
  if (s->verify == ND_VERIFY_SKETCH && !confirm->judge)
    return nd_fail(err, ND_ERR_USAGE, "--verify sketch needs --method minhash, not %s",
                   confirm->name);
  /* Without sketches nothing but exact counts is known. */
  if (!confirm->judge && s->verify != ND_VERIFY_SAMPLE) s->verify = ND_VERIFY_EXACT;
  return ND_OK;
}

/* "similarity,projection,site" */
static nd_status resolve_columns(nd_settings *s, const nd_options *o, nd_error *err) {
  for (const char *p = o->columns; *p;) {
    char word[32];
    size_t n = strcspn(p, ",");
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), p);
    int place = 0;
    while (shown[place] && strcmp(shown[place], word) != 0) place++;
    bool twice = false;
    for (unsigned i = 0; i < s->column_n; i++) twice |= (int)s->columns[i] == place;
    if (!shown[place] || twice)
      return nd_fail(err, ND_ERR_USAGE,
                     "--columns %s: %s; use similarity, exact, minhash, supershingle, projection, "
                     "simhash or site, separated by commas",
                     word, twice ? "it is there already" : "there is no such column");
    s->columns[s->column_n++] = (nd_pair_column)place;
    p += n + (p[n] == ',');
  }
  return ND_OK;
}

static unsigned column_parts(const nd_settings *s) {
  static const unsigned parts[ND_SHOW_COLUMNS] = {[ND_SHOW_MINHASH] = ND_HAS_MINHASH,
                                                  [ND_SHOW_SUPERSHINGLE] = ND_HAS_SUPERSHINGLE,
                                                  [ND_SHOW_PROJECTION] = ND_HAS_PROJECTION,
                                                  [ND_SHOW_SIMHASH] = ND_HAS_SIMHASH,
                                                  [ND_SHOW_SITE] = ND_HAS_SITE};
  unsigned all = 0;
  for (unsigned i = 0; i < s->column_n; i++) all |= parts[s->columns[i]];
  return all;
}

/* The numbers of the sketches, and which of them are kept. */
static nd_status resolve_sketches(nd_settings *s, const nd_options *o, nd_error *err) {
  const nd_method_row *find = &nd_methods[s->candidates], *confirm = &nd_methods[s->confirm];
  unsigned parts = find->find_parts | column_parts(s);
  bool documents = s->verify == ND_VERIFY_EXACT || s->verify == ND_VERIFY_SAMPLE;
  bool judged = confirm->judge && (confirm->defined || !documents);
  if (judged) parts |= confirm->judge_parts;
  bool minhash = s->candidates == ND_METHOD_MINHASH || (parts & ND_HAS_MINHASH);
  if (s->candidates == ND_METHOD_MINHASH && s->family == ND_FAMILY_LINEAR) parts |= ND_HAS_MINHASH;
  bool linear = s->family == ND_FAMILY_LINEAR;
  if (minhash && linear && (o->bands || o->rows))
    return nd_fail(err, ND_ERR_USAGE, "--family linear counts single values: it has no bands");
  if (s->candidates == ND_METHOD_MINHASH && !linear)
    ND_TRY(resolve_bands(s, o, err));
  else if (minhash)
    s->permutations = o->permutations ? (uint32_t)o->permutations
                      : linear        ? USUAL_MIN_VALUES
                                      : USUAL_PERMUTATIONS;
  s->min_values = o->permutations ? (uint32_t)o->permutations : USUAL_MIN_VALUES;
  s->supershingles = (uint32_t)o->supershingles;
  s->agree = (uint32_t)o->agree;
  if (parts & ND_HAS_SUPERSHINGLE) {
    if (s->supershingles > s->min_values)
      return nd_fail(err, ND_ERR_USAGE, "--supershingles %u is more than the %u min values",
                     s->supershingles, s->min_values);
    ND_TRY(nd_super_check(s->min_values, s->supershingles, 1, err));
    if (s->agree > s->supershingles)
      return nd_fail(err, ND_ERR_USAGE, "--agree %u is more than --supershingles %u", s->agree,
                     s->supershingles);
  }
  s->bits = (uint32_t)o->bits;
  s->agree_bits = o->agree_bits ? (uint32_t)o->agree_bits : s->bits - s->bits / 32;
  s->combined_bits =
      o->combined_bits ? (uint32_t)o->combined_bits : (s->bits * 355 + 384 / 2) / 384;
  if (s->bits % 64) return nd_fail(err, ND_ERR_USAGE, "--bits %u is not a multiple of 64", s->bits);
  if (s->agree_bits > s->bits || s->combined_bits > s->bits)
    return nd_fail(err, ND_ERR_USAGE, "--%s %u is more than --bits %u",
                   s->agree_bits > s->bits ? "agree-bits" : "combined-bits",
                   s->agree_bits > s->bits ? s->agree_bits : s->combined_bits, s->bits);
  s->distance = s->bits - (s->confirm == ND_METHOD_COMBINED ? s->combined_bits : s->agree_bits);
  /* Pieces of 32 bits, 12 of 384 as published; where they miss nothing anyway, or
   * nothing may be missed, the tables see to it. */
  s->pieces = o->complete || s->distance < s->bits / 32 ? 0 : s->bits / 32;
  s->hamming = (uint32_t)o->hamming;
  s->weights = (nd_weights)place_of(o->weights, weightings);
  s->feature_shingles = strcmp(o->features, "shingles") == 0;
  nd_settings_keep(s, parts);
  return ND_OK;
}

void nd_settings_keep(nd_settings *s, unsigned parts) {
  const uint32_t words[ND_PARTS] = {[ND_PART_MINHASH] = s->permutations,
                                    [ND_PART_SUPERSHINGLE] = s->supershingles,
                                    [ND_PART_PROJECTION] = s->bits / 64,
                                    [ND_PART_SIMHASH] = 1,
                                    [ND_PART_SITE] = 1};
  s->row = (nd_row){0};
  for (unsigned i = 0; i < ND_PARTS; i++) {
    s->row.at[i] = s->row.total;
    s->row.words[i] = parts >> i & 1 ? words[i] : 0;
    s->row.total += s->row.words[i];
  }
}

bool nd_settings_use_texts(const nd_settings *s) {
  bool shows = false;
  for (unsigned i = 0; i < s->column_n; i++) shows |= s->columns[i] == ND_SHOW_EXACT;
  return shows || s->verify == ND_VERIFY_EXACT || s->verify == ND_VERIFY_SAMPLE ||
         nd_methods[s->candidates].texts;
}

static nd_status resolve_shingle(nd_settings *s, const nd_options *o, nd_error *err) {
  /* The tokens of a set are its features. */
  if (s->format && s->format->sets) {
    s->shingle = (nd_shingle_spec){ND_SHINGLE_WORDS, 1};
    return ND_OK;
  }
  if (strcmp(o->shingle, "auto") != 0) return nd_shingle_parse(&s->shingle, o->shingle, err);
  s->shingle =
      (nd_shingle_spec){ND_SHINGLE_WORDS, s->row.words[ND_PART_SUPERSHINGLE] ? 8 : USUAL_WORDS};
  return ND_OK;
}

static nd_status resolve_sample(nd_settings *s, const nd_options *o, nd_error *err) {
  const nd_sample_plan *plan = &s->sample.plan;
  nd_decimal share = o->boilerplate_share;
  if (share.num == 0 || share.num >= share.den)
    return nd_fail(err, ND_ERR_USAGE, "--boilerplate-share is out of range: above 0, below 1");
  if (!s->sample.on) return ND_OK;
  if (s->method == ND_METHOD_DIGEST)
    return nd_fail(err, ND_ERR_USAGE,
                   "--sample chooses shingles, and --method digest compares none");
  if (s->similarity->of_texts)
    return nd_fail(err, ND_ERR_USAGE,
                   "--sample chooses shingles, and --similarity %s compares none",
                   s->similarity->name);
  bool adds_up = s->row.words[ND_PART_PROJECTION] || s->row.words[ND_PART_SIMHASH];
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
    return nd_fail(err, ND_ERR_USAGE,
                   "the plan is for --shingle %s --tokens %s, not for %s and %s; make another plan",
                   plan->shingle, plan->tokens, o->shingle, o->tokens);
  if (plan->threshold.num != s->threshold.num || plan->threshold.den != s->threshold.den)
    return nd_fail(err, ND_ERR_USAGE,
                   "the plan is for --threshold %.10g: use that, or make another plan",
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
  s->fingerprint = (nd_fingerprint_kind)place_of(o->fingerprint, fingerprints);
  ND_TRY(resolve_threshold(s, o, err));
  ND_TRY(resolve_columns(s, o, err));
  ND_TRY(resolve_sketches(s, o, err));
  ND_TRY(resolve_shingle(s, o, err));
  ND_TRY(resolve_sample(s, o, err));
  bool chains = strcmp(o->cluster, "components") == 0;
  s->cluster = chains ? ND_CLUSTER_COMPONENTS : ND_CLUSTER_STAR;
  if (chains && o->against[0])
    return nd_fail(err, ND_ERR_USAGE,
                   "--against compares with the other collection only: use --cluster star");
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
