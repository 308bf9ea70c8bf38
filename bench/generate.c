/* Makes a corpus of any size with near-duplicates of known resemblance.
 *
 * Words are pronounceable nonsense drawn by Zipf's law (exponent 1).  Document i depends
 * only on the seed and on i, so any part of a corpus can be made alone (--first) and a
 * corpus of N documents is the beginning of a longer one.
 *
 * A share of the documents (--near) are edited copies of an earlier original: words replaced
 * here and there, one passage rewritten, the end cut off, or nothing changed at all.  The size
 * of the edit aims at a wanted resemblance; what is written to --truth is the exact one: the
 * Jaccard value of the two sets of 5-word shingles, counted with a hash table. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOT = 16, ZIPF_BINS = 4096, SHINGLE = 5, MAX_LEVELS = 64, BLOCK = 4 << 20 };

typedef enum { JSONL, LINES, HTML, TEXT } format_kind;
typedef enum { PLANTED, UNRELATED, IDENTICAL, ONEWORD } mode_kind;

typedef struct {
  uint64_t docs, first, seed;
  uint32_t bytes, words;
  double near, spread, accents;
  double levels[MAX_LEVELS];
  size_t level_count;
  format_kind format;
  mode_kind mode;
  const char *truth;
} options;

typedef struct {
  options o;
  char (*word)[SLOT];            /* the word and a space; its length is in the last byte */
  uint32_t bound[ZIPF_BINS + 1]; /* bin b of the unit interval is ranks bound[b] … bound[b+1]-1 */
  double mean_word;              /* bytes of a word and what stands around it */
  uint32_t *copy, *original;     /* word ids of the document and of its source */
  uint32_t max_words;
  uint64_t *key; /* the hash table of exact_resemblance */
  uint8_t *mark;
  char *out; /* BLOCK bytes and room for one document */
  size_t used;
} generator;

static _Noreturn void die(const char *what, const char *detail) {
  fprintf(stderr, "generate: %s%s%s\n", what, *detail ? ": " : "", detail);
  exit(1);
}

static void *allocate(size_t n) {
  void *p = calloc(n, 1);
  if (!p) die("out of memory", "");
  return p;
}

/* --- random numbers: a counter through a 128-bit multiplication ------------------ */
typedef struct {
  uint64_t s;
} rng;

static inline uint64_t fold(uint64_t a, uint64_t b) {
  unsigned __int128 m = (unsigned __int128)a * b;
  return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t next(rng *r) {
  r->s += 0xa0761d6478bd642fU;
  return fold(r->s, r->s ^ 0xe7037ed1a0b428dbU);
}

static inline uint32_t below(rng *r, uint32_t n) {
  return (uint32_t)((next(r) >> 32) * n >> 32);
}
static inline double unit(rng *r) {
  return (double)(next(r) >> 11) * 0x1p-53;
}

/* Streams with different purposes for the same document are independent. */
enum { FOR_WORDS = 1, FOR_LAYOUT, FOR_KIND, FOR_EDIT, FOR_VOCABULARY };
static inline rng rng_for(uint64_t seed, uint64_t purpose, uint64_t i) {
  rng r = {fold(seed * 8 + purpose + 0x8ebc6af09c88c6e3U, 0x589965cc75374cc3U) ^
           fold(i + 0x1d8e4e27c47d124fU, 0xeb44accab455d165U)};
  next(&r);
  return r;
}

/* --- vocabulary ------------------------------------------------------------------ */
static size_t make_word(char *w, rng *r, uint32_t rank, double accents) {
  static const char *const onset[] = {"b",  "c",  "d",  "f",  "g",  "h",  "l",  "m",  "n",
                                      "p",  "r",  "s",  "t",  "v",  "w",  "st", "tr", "pl",
                                      "ch", "sh", "th", "br", "gr", "cl", "",   ""};
  static const char *const vowel[] = {"a", "e", "i", "o", "u", "e", "a", "ea", "ou", "y"};
  static const char *const coda[] = {"", "", "", "n", "r", "s", "t", "l", "nd", "ck", "m"};
  static const char *const accented[] = {"é", "ö", "á", "ø", "ç"};
  uint32_t syllables = rank < 60 ? 1 : rank < 3000 ? 1 + below(r, 2) : 2 + below(r, 2);
  bool accent = rank >= 1000 && unit(r) < accents;
  size_t n = 0;
  for (uint32_t s = 0; s < syllables && n < 10; s++) {
    const char *first = onset[below(r, 26)], *second = vowel[below(r, 10)];
    n += (size_t)sprintf(w + n, "%s%s", first, second);
    if (accent && s == 0) n += (size_t)sprintf(w + n, "%s", accented[below(r, 5)]);
    if (s + 1 == syllables && n < 12) n += (size_t)sprintf(w + n, "%s", coda[below(r, 11)]);
  }
  return n;
}

/* Distinct words, shorter ones first, and the bins of Zipf's law over them. */
static void make_vocabulary(generator *g) {
  uint32_t count = g->o.words;
  size_t slots = 1;
  while (slots < (size_t)count * 2) slots *= 2;
  uint32_t *seen = allocate(slots * sizeof *seen);
  g->word = allocate(((size_t)count + 1) * SLOT); /* the last one is oneword's own */
  rng r = rng_for(g->o.seed, FOR_VOCABULARY, 0);
  uint32_t tries = 0;
  for (uint32_t rank = 0; rank < count;) {
    char w[SLOT * 2] = {0};
    /* Where short words run out, go on with longer ones. */
    size_t n = make_word(w, &r, rank + tries, g->o.accents);
    tries += 4;
    if (n > SLOT - 2) continue;
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) h = fold(h ^ (unsigned char)w[i], 0xa0761d6478bd642fU) + i;
    size_t s = h & (slots - 1);
    bool known = false;
    for (; seen[s]; s = (s + 1) & (slots - 1)) {
      const char *other = g->word[seen[s] - 1];
      if ((size_t)other[SLOT - 1] == n && memcmp(other, w, n) == 0) {
        known = true;
        break;
      }
    }
    if (known) continue;
    w[n] = ' ';
    memcpy(g->word[rank], w, SLOT);
    g->word[rank][SLOT - 1] = (char)n;
    seen[s] = ++rank;
    tries = 0;
  }
  free(seen);

  double total = 0, sum = 0, length = 0;
  for (uint32_t k = 0; k < count; k++) total += 1.0 / (k + 1);
  uint32_t b = 0;
  for (uint32_t k = 0; k < count; k++) {
    sum += 1.0 / (k + 1) / total;
    length += g->word[k][SLOT - 1] / (double)(k + 1) / total;
    while (b < ZIPF_BINS && sum * ZIPF_BINS > b) g->bound[b++] = k;
  }
  while (b < ZIPF_BINS) g->bound[b++] = count - 1;
  g->bound[ZIPF_BINS] = count;
  g->mean_word = length + 1.15;
}

static inline uint32_t draw_word(const generator *g, rng *r) {
  uint64_t x = next(r);
  uint32_t b = (uint32_t)(x >> 52), lo = g->bound[b], width = g->bound[b + 1] - lo;
  return lo + (uint32_t)(((x >> 20 & 0xffffffffU) * width) >> 32);
}

/* --- the words of a document ----------------------------------------------------- */
static bool is_near(const generator *g, uint64_t i) {
  if (i == 0 || g->o.mode != PLANTED) return false;
  rng r = rng_for(g->o.seed, FOR_KIND, i);
  return unit(&r) < g->o.near;
}

static uint64_t source_of(const generator *g, uint64_t i) {
  if (g->o.mode == IDENTICAL || g->o.mode == ONEWORD) return 0;
  if (!is_near(g, i)) return i;
  rng r = rng_for(g->o.seed, FOR_KIND, i);
  next(&r);
  uint64_t j = next(&r) % i;
  while (is_near(g, j)) j--;
  return j;
}

static uint32_t draw_words(const generator *g, uint32_t *ids, uint64_t i) {
  rng r = rng_for(g->o.seed, FOR_WORDS, i);
  double bytes = g->o.bytes;
  if (g->o.spread > 0) { /* log-normal with the same mean, within 1/4 … 4 of it */
    double s = g->o.spread, u = unit(&r), v = unit(&r);
    double z = sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v);
    bytes *= fmin(4, fmax(0.25, exp(s * z - s * s / 2)));
  } else {
    bytes *= 0.9 + 0.2 * unit(&r);
  }
  uint32_t n = (uint32_t)(bytes / g->mean_word);
  if (n < 1) n = 1;
  if (n > g->max_words) n = g->max_words;
  for (uint32_t k = 0; k < n; k++) ids[k] = draw_word(g, &r);
  return n;
}

static double draw_level(const generator *g, rng *r) {
  double u = unit(r);
  if (u < 0.04) return 1;
  if (u < 0.6) {
    double level = g->o.levels[below(r, (uint32_t)g->o.level_count)] + 0.04 * (unit(r) - 0.5);
    return fmin(level, 0.999);
  }
  return 0.3 + 0.7 * unit(r);
}

static void replace(const generator *g, uint32_t *id, rng *r) {
  uint32_t old = *id;
  while (*id == old) *id = draw_word(g, r);
}

/* Edits n words so that the resemblance comes near a drawn level; gives the new n.
 * With N shingles of which d are lost and d new ones come in, it is (N - d) / (N + d). */
static uint32_t edit_words(const generator *g, uint32_t *ids, uint32_t n, uint64_t i) {
  rng r = rng_for(g->o.seed, FOR_EDIT, i);
  double level = draw_level(g, &r), kind = unit(&r);
  if (level >= 1 || n < 2 * SHINGLE) return n;
  double lost = n * (1 - level) / (1 + level);
  if (kind < 0.2 && n * level >= SHINGLE) return (uint32_t)lround(n * level); /* the end is cut */
  if (kind < 0.4 && lost >= SHINGLE) { /* one passage is rewritten */
    uint32_t length = (uint32_t)lround(lost) - (SHINGLE - 1);
    uint32_t at = below(&r, n - length + 1);
    for (uint32_t k = 0; k < length; k++) replace(g, &ids[at + k], &r);
    return n;
  }
  uint32_t edits = (uint32_t)lround(lost / SHINGLE); /* single words, at least SHINGLE apart */
  if (edits == 0) edits = 1;
  double gap = (double)n / edits, loose = gap > SHINGLE ? gap - SHINGLE : 0;
  for (uint32_t k = 0; k < edits; k++) {
    uint32_t at = (uint32_t)(gap * k + SHINGLE / 2 + loose * unit(&r));
    replace(g, &ids[at < n ? at : n - 1], &r);
  }
  return n;
}

/* Jaccard value of the two shingle sets, as its two counts. */
static void exact_resemblance(const generator *g, const uint32_t *a, uint32_t na, const uint32_t *b,
                              uint32_t nb, uint32_t *common, uint32_t *all) {
  size_t slots = 64;
  while (slots < ((size_t)na + nb) * 2) slots *= 2;
  memset(g->key, 0, slots * sizeof *g->key);
  *common = *all = 0;
  for (int side = 0; side < 2; side++) {
    const uint32_t *w = side ? b : a;
    uint32_t n = side ? nb : na, width = n < SHINGLE ? n : SHINGLE;
    for (uint32_t k = 0; k + width <= n; k++) {
      uint64_t h = width;
      for (uint32_t j = 0; j < width; j++) {
        h = fold(h ^ 0x8ebc6af09c88c6e3U, w[k + j] ^ 0x589965cc75374cc3U) + h;
      }
      h |= 1;
      size_t s = (h >> 20) & (slots - 1);
      while (g->key[s] && g->key[s] != h) s = (s + 1) & (slots - 1);
      if (!g->key[s]) {
        g->key[s] = h;
        g->mark[s] = (uint8_t)side;
        ++*all;
      } else if (side && g->mark[s] == 0) {
        g->mark[s] = 1;
        ++*common;
      }
    }
  }
}

/* --- writing --------------------------------------------------------------------- */
static void flush(generator *g) {
  for (size_t at = 0; at < g->used;) {
    ssize_t n = write(1, g->out + at, g->used - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) die("cannot write", strerror(errno));
    at += (size_t)n;
  }
  g->used = 0;
}

static inline char *put(char *p, const char *s) {
  size_t n = strlen(s);
  memcpy(p, s, n);
  return p + n;
}

static inline char *put_word(const generator *g, char *p, uint32_t id) {
  const char *w = g->word[id];
  memcpy(p, w, SLOT);
  return p + w[SLOT - 1];
}

/* Opens a page: as much markup as a real one carries before its first sentence. */
static char *put_page_head(const generator *g, char *p, const uint32_t *ids, uint32_t n, rng *r) {
  uint32_t a = ids[below(r, n)], b = ids[below(r, n)];
  p = put(p,
          "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  p = put_word(g, p, a);
  p = put(p, " &amp; ");
  p = put_word(g, p, b);
  p = put(p,
          "</title>\n<link rel=\"stylesheet\" href=\"/static/main.css?v=3\" media=\"all\">\n"
          "<style>\n.nav > li { display: inline; margin: 0 4px }\n"
          "p.lead:first-letter { font-size: 120% }\n</style>\n"
          "<script>\n(function (d) { if (1 < 2 && d) { window.q = window.q || []; "
          "q.push([\"page\", \"<b>\" + d.title + \"<\\/b>\"]); } })(document);\n</script>\n"
          "</head>\n<body class=\"page page-article\" id=\"top\">\n"
          "<!-- header: logo, menu -->\n<ul class=\"nav\">\n");
  for (int k = 0; k < 4; k++) {
    uint32_t w = ids[below(r, n)];
    p = put(p, "<li><a class='nav-link' href=\"/topics/");
    p = put_word(g, p, w);
    p = put(p, "?a=1&amp;b=2\">");
    p = put_word(g, p, w);
    p = put(p, "</a></li>\n");
  }
  return put(p, "</ul>\n<div class=\"content\" data-kind=\"x > y\">\n<p class=\"lead\">");
}

static char *put_page_foot(char *p) {
  return put(p,
             "</p>\n</div>\n<div class=\"footer\"><a href=\"/terms\">Terms</a>&nbsp;|&nbsp;"
             "<a href=\"/privacy\">Privacy</a> &copy; 2009</div>\n"
             "<script src=\"/static/app.js\" async></script>\n</body>\n</html>\n");
}

/* Sentences of 6 to 25 words with commas, quotes and paragraphs.  The layout
 * comes from the source, so copies keep it. */
static char *put_text(const generator *g, char *p, const uint32_t *ids, uint32_t n,
                      uint64_t source) {
  static const char *const paragraph[] = {
      [JSONL] = "\\n", [LINES] = " ", [TEXT] = "\n", [HTML] = "</p>\n<p class=\"body\">"};
  static const char *const quote[] = {
      [JSONL] = "\\\"", [LINES] = "\"", [TEXT] = "\"", [HTML] = "&quot;"};
  static const char *const dash[] = {
      [JSONL] = " - ", [LINES] = " - ", [TEXT] = " - ", [HTML] = " &mdash; "};
  format_kind f = g->o.format;
  rng r = rng_for(g->o.seed, FOR_LAYOUT, source);
  for (uint32_t k = 0; k < n;) {
    uint64_t x = next(&r);
    uint32_t length = 6 + (uint32_t)(x & 15) + (uint32_t)(x >> 4 & 3);
    uint32_t comma = (uint32_t)(x >> 8 & 31), special = (uint32_t)(x >> 16 & 15);
    if (length > n - k) length = n - k;
    if (special == 0) p = put(p, quote[f]);
    char *start = p;
    for (uint32_t j = 0; j < length; j++) {
      if (f == HTML && j == 3) { /* a linked word in every sentence */
        p = put(p, (x >> 24 & 1) ? "<a class=\"ext\" href=\"https://www.example.org/wiki/"
                                 : "<a title=\"see also\" href=\"/wiki/");
        p = put_word(g, p, ids[k + j]);
        p = put(p, ".html\">");
        p = put_word(g, p, ids[k + j]);
        p = put(p, "</a> ");
        continue;
      }
      p = put_word(g, p, ids[k + j]) + 1; /* the slot brings the space */
      if (j == comma && j + 1 < length) {
        p = special == 1 ? put(p - 1, dash[f]) : put(p - 1, ", ");
      }
    }
    if (*start >= 'a' && *start <= 'z') *start = (char)(*start - 'a' + 'A');
    *(p - 1) = special == 2 ? '?' : '.';
    if (special == 0) p = put(p, quote[f]);
    k += length;
    if (k < n) p = (x >> 20 & 7) == 0 ? put(p, paragraph[f]) : put(p, " ");
  }
  return p;
}

static void write_document(generator *g, const uint32_t *ids, uint32_t n, uint64_t source,
                           uint64_t i) {
  char *p = g->out + g->used;
  rng r = rng_for(g->o.seed, FOR_LAYOUT, i ^ 0x5bf0363db7a8e1a5U);
  if (g->o.format == JSONL) {
    p += sprintf(p, "{\"id\":\"doc-%07llu\",\"url\":\"https://www.", (unsigned long long)i + 1);
    p = put_word(g, p, below(&r, g->o.words));
    p = put(p, ".example/");
    p = put_word(g, p, below(&r, 1000 < g->o.words ? 1000 : g->o.words));
    p = put(p, ".html\",\"text\":\"");
    p = put_text(g, p, ids, n, source);
    p = put(p, "\"}\n");
  } else if (g->o.format == HTML) {
    p = put_page_head(g, p, ids, n, &r);
    p = put_text(g, p, ids, n, source);
    p = put_page_foot(p);
  } else {
    p = put_text(g, p, ids, n, source);
    p = put(p, g->o.format == TEXT ? "\n\n" : "\n");
  }
  g->used = (size_t)(p - g->out);
  if (g->used >= BLOCK) flush(g);
}

/* --- the corpus ------------------------------------------------------------------ */
static void set_own_word(generator *g, uint64_t i) {
  char *w = g->word[g->o.words]; /* no vocabulary word has a q */
  memset(w, ' ', SLOT - 1);
  w[0] = 'q';
  for (int k = 7; k >= 1; k--, i /= 26) w[k] = (char)('a' + i % 26);
  w[SLOT - 1] = 8;
}

static void make_corpus(generator *g) {
  FILE *truth = NULL;
  if (g->o.truth && !(truth = fopen(g->o.truth, "w"))) die(g->o.truth, strerror(errno));
  uint64_t drawn = UINT64_MAX; /* whose words are in g->original */
  uint32_t n = 0;
  for (uint64_t i = g->o.first; i < g->o.first + g->o.docs; i++) {
    uint64_t source = source_of(g, i);
    if (source != drawn) n = draw_words(g, g->original, source);
    drawn = source;
    const uint32_t *ids = g->original;
    uint32_t length = n;
    if (g->o.mode == ONEWORD) {
      set_own_word(g, i);
      g->original[n / 2] = g->o.words;
    } else if (source != i && g->o.mode == PLANTED) {
      memcpy(g->copy, g->original, n * sizeof *g->copy);
      length = edit_words(g, g->copy, n, i);
      ids = g->copy;
      uint32_t common, all;
      exact_resemblance(g, g->original, n, ids, length, &common, &all);
      if (truth) {
        fprintf(truth, "doc-%07llu\tdoc-%07llu\t%.6f\n", (unsigned long long)source + 1,
                (unsigned long long)i + 1, (double)common / all);
      }
    }
    write_document(g, ids, length, source, i);
  }
  flush(g);
  if (truth && (ferror(truth) | fclose(truth))) die(g->o.truth, "cannot write");
}

/* --- command line ---------------------------------------------------------------- */
static const char usage[] =
    "usage: generate [options] > corpus\n"
    "  --docs N         documents (1000)\n"
    "  --first I        begin with document I, counted from 0 (0)\n"
    "  --bytes B        mean bytes of text in a document (2000)\n"
    "  --spread S       log-normal lengths with this sigma; 0: within 10 % (0)\n"
    "  --seed S         (1)\n"
    "  --near P         share of planted near-duplicates (0.1)\n"
    "  --levels A,B,…   resemblances that are planted most (0.5,0.6,0.7,0.8,0.9,0.95)\n"
    "  --words V        size of the vocabulary (200000)\n"
    "  --accents P      share of its rarer words with a letter beyond ASCII (0)\n"
    "  --format F       jsonl, lines, html or text (jsonl)\n"
    "  --mode M         planted, unrelated, identical or oneword (planted)\n"
    "  --truth FILE     planted pairs: earlier id, later id, exact resemblance of the\n"
    "                   texts on 5-word shingles (html: without menu and footer)\n";

static int choice(const char *value, const char *const *names) {
  for (int k = 0; names[k]; k++) {
    if (strcmp(value, names[k]) == 0) return k;
  }
  die("unknown value", value);
}

static double number(const char *value, double lo, double hi) {
  char *end;
  double x = strtod(value, &end);
  if (end == value || *end || !(x >= lo && x <= hi)) die("not a number in range", value);
  return x;
}

static void read_levels(options *o, char *value) {
  o->level_count = 0;
  for (char *s = strtok(value, ","); s; s = strtok(NULL, ",")) {
    if (o->level_count == MAX_LEVELS) die("too many levels", s);
    o->levels[o->level_count++] = number(s, 0.1, 1);
  }
  if (!o->level_count) die("--levels is empty", "");
}

static void read_options(options *o, int argc, char **argv) {
  static const char *const formats[] = {"jsonl", "lines", "html", "text", NULL};
  static const char *const modes[] = {"planted", "unrelated", "identical", "oneword", NULL};
  for (int k = 1; k < argc; k += 2) {
    const char *name = argv[k];
    if (strcmp(name, "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    if (k + 1 == argc) die("option without a value", name);
    char *v = argv[k + 1];
    if (strcmp(name, "--docs") == 0)
      o->docs = (uint64_t)number(v, 0, 1e12);
    else if (strcmp(name, "--first") == 0)
      o->first = (uint64_t)number(v, 0, 1e12);
    else if (strcmp(name, "--bytes") == 0)
      o->bytes = (uint32_t)number(v, 1, 1e8);
    else if (strcmp(name, "--spread") == 0)
      o->spread = number(v, 0, 3);
    else if (strcmp(name, "--seed") == 0)
      o->seed = (uint64_t)number(v, 0, 1e15);
    else if (strcmp(name, "--near") == 0)
      o->near = number(v, 0, 1);
    else if (strcmp(name, "--words") == 0)
      o->words = (uint32_t)number(v, 100, 1e6);
    else if (strcmp(name, "--accents") == 0)
      o->accents = number(v, 0, 1);
    else if (strcmp(name, "--levels") == 0)
      read_levels(o, v);
    else if (strcmp(name, "--format") == 0)
      o->format = (format_kind)choice(v, formats);
    else if (strcmp(name, "--mode") == 0)
      o->mode = (mode_kind)choice(v, modes);
    else if (strcmp(name, "--truth") == 0)
      o->truth = v;
    else
      die("unknown option", name);
  }
}

int main(int argc, char **argv) {
  generator g = {.o = {.docs = 1000,
                       .bytes = 2000,
                       .seed = 1,
                       .near = 0.1,
                       .words = 200000,
                       .levels = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95},
                       .level_count = 6}};
  read_options(&g.o, argc, argv);
  make_vocabulary(&g);
  g.max_words = (uint32_t)(g.o.bytes * 4.0 / g.mean_word) + 16;
  size_t slots = 64;
  while (slots < (size_t)g.max_words * 4) slots *= 2;
  g.copy = allocate(g.max_words * sizeof *g.copy);
  g.original = allocate(g.max_words * sizeof *g.original);
  g.key = allocate(slots * sizeof *g.key);
  g.mark = allocate(slots);
  /* HTML repeats a linked word in about 60 bytes of markup per sentence. */
  g.out = allocate(BLOCK + 8192 + (size_t)g.max_words * (SLOT + 48));
  make_corpus(&g);
  free(g.copy);
  free(g.original);
  free(g.key);
  free(g.mark);
  free(g.out);
  free(g.word);
  return 0;
}
