/* The table of options; setting options and printing them. */
#include "settings/option_fields.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/decimal.h"
#include "feature/shingle.h"
#include "settings/method.h"

#define FIELD(f) offsetof(nd_options, f), sizeof(((nd_options *)0)->f)
/* The commands that read documents, and those that find pairs. */
#define READ (SKETCH | ND_FOR_INSPECT | ND_FOR_EVAL | ND_FOR_PLAN | ND_FOR_EXPLAIN)
#define SKETCH (FIND | ND_FOR_SKETCH)
#define FIND (ND_FOR_DEDUP | ND_FOR_PAIRS | ND_FOR_STUDY)
/* The commands that write files or directories, and those that write lists of pairs or clusters. */
#define WRITE                                                                                  \
  (ND_FOR_DEDUP | ND_FOR_STUDY | ND_FOR_PLAN | ND_FOR_EXPLAIN | ND_FOR_SKETCH | ND_FOR_MERGE | \
   ND_FOR_PREVALENCE)
#define LIST (ND_FOR_DEDUP | ND_FOR_PAIRS | ND_FOR_CLUSTER)

/* Topics of help: those of the short help, then the others. */
#define INPUT "Input"
#define SIMILAR "What counts as a near-duplicate"
#define RESULT "Result"
#define RESOURCES "Resources"
#define MINHASH "MinHash"
#define SUPERSHINGLES "Super-shingles"
#define BITS "Bit sketches"
#define SAMPLING "Sampling"
#define BOILERPLATE "Boilerplate"
#define GENERAL "General"

static nd_option_row table[] = {
    {FIELD(format),
     {"format", ND_OPTION_WORD, "auto", "NAME", NULL, 0, 0, READ, INPUT, true,
      "input format, detected unless given"}},
    {FIELD(id_field),
     {"id-field", ND_OPTION_TEXT, "id", "NAME", NULL, 0, 0, READ, INPUT, true,
      "JSONL field with the document's id"}},
    {FIELD(text_field),
     {"text-field", ND_OPTION_TEXT, "text", "NAME", NULL, 0, 0, READ, INPUT, true,
      "JSONL field with the text"}},
    {FIELD(url_field),
     {"url-field", ND_OPTION_TEXT, "url", "NAME", NULL, 0, 0, READ, INPUT, false,
      "JSONL field with the URL"}},
    {FIELD(time_field),
     {"time-field", ND_OPTION_TEXT, "time", "NAME", NULL, 0, 0, READ, INPUT, false,
      "JSONL field with the time (ISO 8601)"}},
    {FIELD(tokens),
     {"tokens", ND_OPTION_WORD, "words", "KIND", "words web codepoints", 0, 0, READ, SIMILAR, false,
      "unit of text: words; words of web pages with the parts of URLs and image addresses (web); "
      "every letter and digit by itself (codepoints)"}},
    {FIELD(shingle),
     {"shingle", ND_OPTION_TEXT, "auto", "KIND:N", NULL, 0, 0, READ, SIMILAR, true,
      "features to compare: words:K (K consecutive words), chars:Q (Q consecutive characters) or "
      "aligned:N (N characters from the start of every word); auto is words:5, or words:8 with "
      "super-shingles"}},
    {FIELD(method),
     {"method", ND_OPTION_WORD, "minhash", "NAME", NULL, 0, 0, SKETCH, SIMILAR, true,
      "how near-duplicates are found"}},
    {FIELD(candidates),
     {"candidates", ND_OPTION_WORD, "", "NAME", NULL, 0, 0, SKETCH, SIMILAR, false,
      "method that generates candidates, if not --method"}},
    {FIELD(confirm),
     {"confirm", ND_OPTION_WORD, "", "NAME", NULL, 0, 0, SKETCH, SIMILAR, false,
      "method that decides candidate pairs, if not --method"}},
    {FIELD(similarity),
     {"similarity", ND_OPTION_WORD, "jaccard", "NAME", NULL, 0, 0, FIND, SIMILAR, true,
      "similarity measure; all but jaccard need an exact method"}},
    {FIELD(fingerprint),
     {"fingerprint", ND_OPTION_WORD, "rabin", "NAME", "rabin xxh3 md5", 0, 0, FIND, SIMILAR, false,
      "method exact: hash of a shingle (md5 has 128 bits)"}},
    {FIELD(threshold),
     {"threshold", ND_OPTION_DECIMAL, "0.8", "T", NULL, 0, 0, FIND | ND_FOR_CLUSTER | ND_FOR_PLAN,
      SIMILAR, true,
      "least similarity of near-duplicates, compared exactly; a whole number where --similarity "
      "counts shingles or characters"}},
    {FIELD(recall),
     {"recall", ND_OPTION_DECIMAL, "0.95", "R", NULL, 0, 0, FIND | ND_FOR_PLAN, SIMILAR, true,
      "share of the pairs at the threshold that must be found"}},
    {FIELD(permutations),
     {"permutations", ND_OPTION_COUNT, "0", "N", NULL, 0, 2000, SKETCH, MINHASH, false,
      "number of MinHash values; 0: chosen from threshold and recall (84 for super-shingles and "
      "--family linear)"}},
    {FIELD(family),
     {"family", ND_OPTION_WORD, "fast", "NAME", "fast linear", 0, 0, SKETCH, MINHASH, false,
      "hash functions: fast similarity sketching and bands (fast), or a linear function per value "
      "and every pair that shares a value, as published (linear)"}},
    {FIELD(supershingles),
     {"supershingles", ND_OPTION_COUNT, "6", "N", NULL, 1, 2000, SKETCH, SUPERSHINGLES, false,
      "number of super-shingles into which the MinHash values are grouped"}},
    {FIELD(agree),
     {"agree", ND_OPTION_COUNT, "2", "N", NULL, 1, 2000, FIND, SUPERSHINGLES, false,
      "number of super-shingles that must be equal"}},
    {FIELD(bits),
     {"bits", ND_OPTION_COUNT, "384", "N", NULL, 64, 1024, SKETCH, BITS, false,
      "projection: bits per sketch, a multiple of 64"}},
    {FIELD(agree_bits),
     {"agree-bits", ND_OPTION_COUNT, "0", "N", NULL, 0, 1024, FIND, BITS, false,
      "projection: bits that must agree; 0: 31 of 32 (372 of 384)"}},
    {FIELD(combined_bits),
     {"combined-bits", ND_OPTION_COUNT, "0", "N", NULL, 0, 1024, FIND, BITS, false,
      "combined methods: bits that must agree if the super-shingles do; 0: 355 of 384"}},
    {FIELD(complete),
     {"complete", ND_OPTION_FLAG, "no", NULL, NULL, 0, 0, FIND, BITS, false,
      "projection: find every similar pair, at any cost"}},
    {FIELD(hamming),
     {"hamming", ND_OPTION_COUNT, "3", "K", NULL, 0, 16, FIND, BITS, false,
      "simhash: bits of 64 that may differ"}},
    {FIELD(weights),
     {"weights", ND_OPTION_WORD, "one", "HOW", "one tf tfidf", 0, 0, SKETCH, BITS, false,
      "simhash: weight of a feature: 1 (one), its count in the document (tf), or its count, less "
      "for features of many documents (tfidf)"}},
    {FIELD(features),
     {"features", ND_OPTION_WORD, "tokens", "KIND", "tokens shingles", 0, 0, SKETCH, BITS, false,
      "simhash, projection: feature kind"}},
    {FIELD(bands),
     {"bands", ND_OPTION_COUNT, "0", "N", NULL, 0, 2000, FIND, MINHASH, false,
      "number of bands; 0: chosen from threshold and recall"}},
    {FIELD(rows),
     {"rows", ND_OPTION_COUNT, "0", "N", NULL, 0, 2000, FIND, MINHASH, false,
      "MinHash values per band; 0: chosen from threshold and recall"}},
    {FIELD(seed),
     {"seed", ND_OPTION_SEED, "1", "N", NULL, 0, 0, SKETCH | ND_FOR_PLAN | ND_FOR_EXPLAIN, MINHASH,
      false, "seed of the hash functions: a number, or random"}},
    {FIELD(sample),
     {"sample", ND_OPTION_LIST, "", "HOW", NULL, 0, 0, FIND, SAMPLING, false,
      "shingles to keep: mod:N[:R], min:N, sct:N, cap:N, adaptive:P or adaptive:FILE; may be "
      "repeated"}},
    {FIELD(ignore_boilerplate),
     {"ignore-boilerplate", ND_OPTION_FLAG, "no", NULL, NULL, 0, 0, FIND, BOILERPLATE, false,
      "leave out passages that recur on the pages of a site (by URL)"}},
    {FIELD(boilerplate_share),
     {"boilerplate-share", ND_OPTION_DECIMAL, "0.3", "S", NULL, 0, 0, FIND, BOILERPLATE, false,
      "share of a site's pages above which a passage is boilerplate"}},
    {FIELD(verify),
     {"verify", ND_OPTION_WORD, "", "HOW", "exact sample sketch none", 0, 0, FIND, SIMILAR, false,
      "how candidates are verified: exact compares documents (default, except for methods that "
      "sketches define); sample compares what --sample keeps (default with --sample); sketch "
      "compares sketches; none lists all candidates"}},
    {FIELD(bucket_cap),
     {"bucket-cap", ND_OPTION_COUNT, "128", "N", NULL, 2, 1000000, FIND, MINHASH, false,
      "in a larger bucket, compare each document only with the preferred one"}},
    {FIELD(collapse),
     {"collapse", ND_OPTION_FLAG, "no", NULL, NULL, 0, 0, ND_FOR_PAIRS, RESULT, false,
      "list an exact duplicate once, with its first occurrence (dedup always does)"}},
    {FIELD(columns),
     {"columns", ND_OPTION_TEXT, "similarity", "LIST", NULL, 0, 0, SKETCH, RESULT, false,
      "columns after the two ids, separated by commas"}},
    {FIELD(cluster),
     {"cluster", ND_OPTION_WORD, "", "HOW", "star components", 0, 0, ND_FOR_DEDUP | ND_FOR_CLUSTER,
      RESULT, false,
      "star: every member is similar to the kept one (default of dedup); components: connected "
      "pairs form a cluster (default of cluster)"}},
    {FIELD(keep),
     {"keep", ND_OPTION_TEXT, "first", "WHICH", NULL, 0, 0, ND_FOR_DEDUP, RESULT, true,
      "member of a cluster to keep: first, longest, shortest, oldest, newest, url, centre or "
      "field:NAME"}},
    {FIELD(top),
     {"top", ND_OPTION_COUNT, "0", "K", NULL, 0, 1000, ND_FOR_PAIRS, RESULT, false,
      "only pairs among the K best of one of their documents, instead of a threshold (exact "
      "methods); 0: all"}},
    {FIELD(stats),
     {"stats", ND_OPTION_FLAG, "no", NULL, NULL, 0, 0, FIND, RESULT, false,
      "print counts of a join to standard error: candidates after each filter, verified pairs, "
      "results, seconds"}},
    {FIELD(against),
     {"against", ND_OPTION_TEXT, "", "OTHER", NULL, 0, 0, FIND, RESULT, true,
      "reference collection, a file or directory: list only pairs between the input and it; dedup "
      "drops input documents that it contains"}},
    {FIELD(max_document),
     {"max-document", ND_OPTION_SIZE, "64M", "SIZE", NULL, 1, UINT64_C(1) << 30, READ, INPUT, false,
      "reject longer documents; a compressed one may not grow beyond this either"}},
    {FIELD(threads),
     {"threads", ND_OPTION_COUNT, "0", "N", NULL, 0, 1024, SKETCH | ND_FOR_PLAN, RESOURCES, true,
      "number of threads; 0: all cores"}},
    {FIELD(memory),
     {"memory", ND_OPTION_SIZE, "0", "SIZE", NULL, 0, UINT64_C(1) << 50, SKETCH | ND_FOR_PLAN,
      RESOURCES, true,
      "memory budget; 0: half of the machine's memory or of its control group's limit"}},
    {FIELD(tmp),
     {"tmp", ND_OPTION_TEXT, "", "DIR", NULL, 0, 0, SKETCH | ND_FOR_PLAN, RESOURCES, false,
      "directory for temporary files; normally beside the output"}},
    {FIELD(shard),
     {"shard", ND_OPTION_TEXT, "", "I/N", NULL, 0, 0, ND_FOR_DEDUP, RESOURCES, false,
      "only read and sketch part I of N into the output directory; a last run without --shard "
      "completes it"}},
    {FIELD(resume),
     {"resume", ND_OPTION_WORD, "auto", "HOW", "auto never", 0, 0, WRITE, RESULT, false,
      "auto resumes an interrupted run; never starts over, and replaces a finished result once the "
      "new one is complete"}},
    {FIELD(force),
     {"force", ND_OPTION_FLAG, "no", NULL, NULL, 0, 0, WRITE, RESULT, false,
      "replace an output file, or write into an output directory, that neardup did not make; never "
      "an input"}},
    {FIELD(sync),
     {"sync", ND_OPTION_WORD, "yes", "HOW", "yes no", 0, 0, WRITE, RESULT, false,
      "yes: a finished result is on disk before the command ends; no: skip the wait, so a power "
      "cut "
      "soon afterwards may damage the result"}},
    {FIELD(csv),
     {"csv", ND_OPTION_FLAG, "no", NULL, NULL, 0, 0, LIST, RESULT, false,
      "write lists as CSV (RFC 4180), safe to open in a spreadsheet"}},
    {FIELD(max_stdin),
     {"max-stdin", ND_OPTION_SIZE, "0", "SIZE", NULL, 0, UINT64_C(1) << 60, READ, INPUT, false,
      "store at most this much of standard input; 0: half of the free disk space"}},
    {FIELD(progress),
     {"progress", ND_OPTION_WORD, "auto", "HOW", "auto json none", 0, 0,
      SKETCH | ND_FOR_PLAN | ND_FOR_EXPLAIN, GENERAL, false,
      "auto: a bar on a terminal, nothing in a pipe; json: a JSON object per line"}},
    {0, 0, {NULL, ND_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0, NULL, false, NULL}}};

/* Options whose words are the names of a table's rows. */
static struct {
  const char *option, *first; /* first: words that are not in the table */
  const char *first_help;
  const char *(*name)(size_t i);
  const char *(*help)(const char *name);
  char values[256];
} named[] = {
    {"format", "auto", "detected from the first bytes of every file", nd_format_name,
     nd_format_help, ""},
    {"method", "", NULL, nd_method_name, nd_method_help, ""},
    {"candidates", "", NULL, nd_method_name, NULL, ""},
    {"confirm", "", NULL, nd_method_name, NULL, ""},
    {"similarity", "", NULL, nd_similarity_name, nd_similarity_help, ""},
    {"columns", "similarity exact", NULL, nd_sketch_name, NULL, ""},
};

static void take_names(void) {
  for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
    size_t n = (size_t)snprintf(named[k].values, sizeof named[k].values, "%s", named[k].first);
    const char *name;
    for (size_t i = 0; (name = named[k].name(i)) && n < sizeof named[k].values; i++)
      n += (size_t)snprintf(named[k].values + n, sizeof named[k].values - n, "%s%s", n ? " " : "",
                            name);
    for (nd_option_row *row = table; row->info.name; row++)
      if (strcmp(row->info.name, named[k].option) == 0) row->info.values = named[k].values;
  }
}

const nd_option_row *nd_option_rows(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, take_names);
  return table;
}

const nd_option_info *nd_option_at(size_t i) {
  return i < sizeof table / sizeof *table - 1 ? &nd_option_rows()[i].info : NULL;
}

const char *nd_option_value_help(const nd_option_info *info, const char *value) {
  for (size_t k = 0; k < sizeof named / sizeof *named; k++)
    if (named[k].help && strcmp(info->name, named[k].option) == 0)
      return strcmp(value, named[k].first) == 0 ? named[k].first_help : named[k].help(value);
  return NULL;
}

nd_status nd_options_new(nd_options **out, nd_error *err) {
  *out = nd_calloc(1, sizeof **out);
  if (!*out) return nd_fail_memory(err, sizeof **out);
  nd_options_init(*out);
  return ND_OK;
}

void nd_options_free(nd_options *options) {
  nd_free(options);
}

void nd_options_init(nd_options *options) {
  memset(options, 0, sizeof *options);
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++) {
    const char *standard = row->info.standard;
    if (row->info.type == ND_OPTION_FLAG || !standard[0]) continue;
    nd_status status = nd_options_set(options, row->info.name, standard, NULL);
    (void)status; /* the defaults are right; a test checks them */
  }
  options->threshold_given = 0;
}

/* Computes the Levenshtein distance. */
unsigned nd_name_distance(const char *a, const char *b) {
  unsigned row[64];
  size_t n = strlen(b);
  if (strlen(a) > 62 || n > 62) return 99;
  for (size_t j = 0; j <= n; j++) row[j] = (unsigned)j;
  for (size_t i = 0; a[i]; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i + 1;
    for (size_t j = 0; j < n; j++) {
      unsigned best = diagonal + (a[i] != b[j]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
      diagonal = row[j + 1];
      row[j + 1] = best;
    }
  }
  return row[n];
}

static nd_status unknown(const char *name, nd_error *err) {
  const char *nearest = NULL;
  unsigned best = 4;
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++) {
    unsigned d = nd_name_distance(name, row->info.name);
    if (d < best) {
      best = d;
      nearest = row->info.name;
    }
  }
  if (nearest)
    return nd_fail(err, ND_ERR_USAGE, "unknown option --%s; did you mean --%s?", name, nearest);
  return nd_fail(err, ND_ERR_USAGE, "unknown option --%s", name);
}

static bool word_allowed(const char *values, const char *value) {
  size_t n = strlen(value);
  for (const char *p = values; *p;) {
    size_t len = strcspn(p, " ");
    if (len == n && memcmp(p, value, n) == 0) return true;
    p += len + (p[len] == ' ');
  }
  return false;
}

/* Parses a whole number; returns false if `text` is not one or is too large. */
static bool parse_count(uint64_t *out, const char *text, const char **end) {
  uint64_t x = 0;
  const char *p = text;
  for (; *p >= '0' && *p <= '9'; p++) {
    uint64_t digit = (uint64_t)(*p - '0');
    if (x > (UINT64_MAX - digit) / 10) return false;
    x = x * 10 + digit;
  }
  *end = p;
  *out = x;
  return p != text;
}

static bool parse_size(uint64_t *out, const char *text) {
  const char *end;
  if (!parse_count(out, text, &end)) return false;
  static const char units[] = "KMGT";
  const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
  if (unit) {
    unsigned shift = 10 * (unsigned)(unit - units + 1);
    if (*out > UINT64_MAX >> shift) return false;
    *out <<= shift;
    end++;
    if (end[0] == 'i' && end[1] == 'B')
      end += 2;
    else if (*end == 'B' || *end == 'b')
      end++;
  }
  return *end == '\0';
}

static nd_status add_to_list(char *field, const nd_option_row *row, const char *value,
                             nd_error *err) {
  size_t have = strlen(field), more = strlen(value);
  if (more == 0 || strcmp(value, "none") == 0) {
    field[0] = '\0';
    return ND_OK;
  }
  if (have + 1 + more >= row->size)
    return nd_fail(err, ND_ERR_USAGE, "--%s takes at most %zu bytes", row->info.name,
                   row->size - 1);
  if (have) field[have++] = ',';
  memcpy(field + have, value, more + 1);
  return ND_OK;
}

static nd_status set_value(void *field, const nd_option_row *row, const char *value,
                           nd_error *err) {
  uint64_t number = 0;
  const char *end = "";
  switch (row->info.type) { /* untaken: no further value */
    case ND_OPTION_FLAG:
      if (value[0] && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return nd_fail(err, ND_ERR_USAGE, "--%s takes yes or no, not %s", row->info.name, value);
      *(int *)field = strcmp(value, "no") != 0;
      return ND_OK;
    case ND_OPTION_WORD:
      if (!word_allowed(row->info.values, value) && (value[0] || row->info.standard[0])) {
        return nd_fail(err, ND_ERR_USAGE, "--%s %s is not known; use one of: %s", row->info.name,
                       value, row->info.values);
      }
      break;
    case ND_OPTION_TEXT:
      if (strlen(value) >= row->size)
        return nd_fail(err, ND_ERR_USAGE, "--%s takes at most %zu bytes", row->info.name,
                       row->size - 1);
      break;
    case ND_OPTION_LIST: return add_to_list(field, row, value, err);
    case ND_OPTION_SEED:
      if (strcmp(value, "random") == 0) {
        /* untaken: getrandom never fails here */
        if (getrandom(&number, sizeof number, 0) != sizeof number)
          return nd_fail(err, ND_ERR_IO, "cannot get a random number for --seed random");
        memcpy(field, &number, sizeof number);
        return ND_OK;
      }
      if (!parse_count(&number, value, &end) || *end)
        return nd_fail(err, ND_ERR_USAGE, "--%s takes a whole number or random, not %s",
                       row->info.name, value);
      memcpy(field, &number, sizeof number);
      return ND_OK;
    case ND_OPTION_COUNT:
    case ND_OPTION_SIZE:
      if (row->info.type == ND_OPTION_SIZE ? !parse_size(&number, value)
                                           : !parse_count(&number, value, &end) || *end) {
        return nd_fail(
            err, ND_ERR_USAGE, "--%s takes %s, not %s", row->info.name,
            row->info.type == ND_OPTION_SIZE ? "a size such as 512M or 4G" : "a whole number",
            value);
      }
      if (number < row->info.min || number > row->info.max)
        return nd_fail(err, ND_ERR_USAGE, "--%s %s is out of range: %" PRIu64 " to %" PRIu64,
                       row->info.name, value, row->info.min, row->info.max);
      memcpy(field, &number, sizeof number);
      return ND_OK;
    case ND_OPTION_DECIMAL: {
      nd_decimal d;
      if (!nd_decimal_parse(&d, nd_str_of(value)))
        return nd_fail(
            err, ND_ERR_USAGE,
            "--%s takes a decimal with a point and at most 9 digits, such as 0.8, not %s",
            row->info.name, value);
      memcpy(field, &d, sizeof d);
      return ND_OK;
    }
  }
  memcpy(field, value, strlen(value) + 1);
  return ND_OK;
}

/* Returns the row of an option, or NULL if the name is unknown. */
static const nd_option_row *row_of(const char *name) {
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++)
    if (strcmp(row->info.name, name) == 0) return row;
  return NULL;
}

nd_status nd_options_set(nd_options *options, const char *name, const char *value, nd_error *err) {
  const nd_option_row *row = row_of(name);
  if (!row) return unknown(name, err);
  ND_TRY(set_value((char *)options + row->offset, row, value, err));
  if (row->offset == offsetof(nd_options, threshold)) options->threshold_given = 1;
  return ND_OK;
}

void nd_option_text(char *out, size_t room, const nd_options *options, const nd_option_row *row) {
  const char *field = (const char *)options + row->offset;
  uint64_t number = 0;
  nd_decimal d;
  switch (row->info.type) { /* untaken: no further value */
    case ND_OPTION_FLAG:
      snprintf(out, room, "%s", *(const int *)(const void *)field ? "yes" : "no");
      break;
    case ND_OPTION_WORD:
    case ND_OPTION_TEXT:
    case ND_OPTION_LIST: snprintf(out, room, "%s", field); break;
    case ND_OPTION_SEED:
    case ND_OPTION_COUNT:
    case ND_OPTION_SIZE:
      memcpy(&number, field, sizeof number);
      snprintf(out, room, "%" PRIu64, number);
      break;
    case ND_OPTION_DECIMAL: {
      memcpy(&d, field, sizeof d);
      if (room == 0) break;
      size_t n = (size_t)snprintf(out, room, "%" PRIu64 "%s", d.num / d.den, d.den > 1 ? "." : "");
      for (uint64_t x = d.den / 10; x && n + 1 < room; x /= 10) {
        out[n++] = (char)('0' + d.num / x % 10);
        out[n] = '\0';
      }
      break;
    }
  }
}

const char *nd_options_get(nd_options *options, const char *name) {
  const nd_option_row *row = row_of(name);
  if (!row) return NULL;
  const nd_option_type type = row->info.type;
  if (type == ND_OPTION_WORD || type == ND_OPTION_TEXT || type == ND_OPTION_LIST)
    return (const char *)options + row->offset;
  nd_option_text(options->shown, sizeof options->shown, options, row);
  return options->shown;
}

nd_status nd_options_check(const nd_options *options, nd_error *err) {
  nd_settings settings;
  return nd_settings_resolve(&settings, options, err);
}
