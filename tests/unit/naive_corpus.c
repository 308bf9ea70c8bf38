#include "naive_corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

char corpus_path[240], second_path[240];
nd_rng rng;
doc docs[MOST_DOCS];
size_t doc_n, reject_n;
nd_buf text_of[2];

void corpus_in(const char *folder) {
  snprintf(corpus_path, sizeof corpus_path, "%s/a.jsonl", folder);
  snprintf(second_path, sizeof second_path, "%s/b.jsonl", folder);
}

void corpus_clear(void) {
  nd_buf_clear(&text_of[0]);
  nd_buf_clear(&text_of[1]);
}

static size_t spell(char *out, uint16_t word) {
  return (size_t)sprintf(out, word % 7 ? "w%xq" : "%u", word);
}

static int by_value(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

/* Five word numbers fit a 64-bit key (12 bits each), so keys are exact. */
static void make_shingles(doc *d) {
  size_t k = d->tokens < SHINGLE ? d->tokens : SHINGLE;
  size_t n = d->tokens ? d->tokens - k + 1 : 0;
  d->text_bytes = 0;
  for (size_t i = 0; i < d->tokens; i++) {
    char word[16];
    d->text_bytes += spell(word, d->token[i]) + (i > 0);
  }
  for (size_t i = 0; i < n; i++) {
    d->shingle[i] = k;
    for (size_t j = 0; j < k; j++) d->shingle[i] = d->shingle[i] << 12 | d->token[i + j];
  }
  qsort(d->shingle, n, sizeof *d->shingle, by_value);
  d->shingles = 0;
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || d->shingle[i] != d->shingle[i - 1]) d->shingle[d->shingles++] = d->shingle[i];
  }
}

void overlap(uint64_t *common, uint64_t *joint, const doc *a, const doc *b) {
  size_t i = 0, j = 0;
  for (*common = 0; i < a->shingles && j < b->shingles;) {
    if (a->shingle[i] == b->shingle[j])
      ++*common, i++, j++;
    else if (a->shingle[i] < b->shingle[j])
      i++;
    else
      j++;
  }
  *joint = a->shingles + b->shingles - *common;
}

bool reaches(uint64_t common, uint64_t joint, const nd_options *o) {
  return joint && common * o->threshold.den >= o->threshold.num * joint;
}

bool same_tokens(const doc *a, const doc *b) {
  return a->tokens == b->tokens && a->tokens &&
         memcmp(a->token, b->token, a->tokens * sizeof *a->token) == 0;
}

void put(nd_buf *b, const char *text) {
  ok(nd_buf_append(b, text, strlen(text), &err));
}

static void random_tokens(doc *d) {
  uint64_t kind = nd_rng_below(&rng, 20);
  d->tokens = kind == 0  ? (size_t)nd_rng_below(&rng, 3)
              : kind < 4 ? 1 + (size_t)nd_rng_below(&rng, 6)
                         : 10 + (size_t)nd_rng_below(&rng, MOST_TOKENS - 20);
  size_t words = kind == 5 ? 2 : 3000;
  for (size_t i = 0; i < d->tokens; i++) d->token[i] = (uint16_t)nd_rng_below(&rng, words);
}

/* An earlier document with a few words changed, left out or put in. */
static void edited_tokens(doc *d, const doc *from) {
  memcpy(d->token, from->token, sizeof d->token);
  d->tokens = from->tokens;
  size_t edits = (size_t)nd_rng_below(&rng, 4);
  for (size_t e = 0; e < edits && d->tokens > 8; e++) {
    size_t at = (size_t)nd_rng_below(&rng, d->tokens);
    uint64_t kind = nd_rng_below(&rng, 3);
    if (kind == 0) {
      memmove(d->token + at, d->token + at + 1, (--d->tokens - at) * sizeof *d->token);
    } else if (kind == 1 && d->tokens < MOST_TOKENS) {
      memmove(d->token + at + 1, d->token + at, (d->tokens++ - at) * sizeof *d->token);
      d->token[at] = (uint16_t)nd_rng_below(&rng, 3000);
    } else {
      d->token[at] = (uint16_t)nd_rng_below(&rng, 3000);
    }
  }
}

/* The text with changing case and punctuation, which tokens do not have; of some site, if any. */
static void put_document(nd_buf *b, const doc *d, bool sited) {
  static const char *const between[] = {" ", ", ", "\\n", " - ", ".  ", "\\t"};
  static const char *const hosts[] = {"one.example.org", "Two.Example.ORG", "example.net", ""};
  const char *host = sited ? hosts[nd_rng_below(&rng, 4)] : "";
  ok(nd_buf_printf(b, &err, "{\"id\": \"%s\", ", d->id));
  if (host[0]) ok(nd_buf_printf(b, &err, "\"url\": \"http://%s/%zu\", ", host, d->tokens));
  ok(nd_buf_printf(b, &err, "\"text\": \"%s", nd_rng_below(&rng, 2) ? "" : "("));
  for (size_t i = 0; i < d->tokens; i++) {
    char word[16];
    spell(word, d->token[i]);
    if (nd_rng_below(&rng, 9) == 0 && word[0] == 'w') word[0] = 'W';
    if (i) put(b, between[nd_rng_below(&rng, 6)]);
    put(b, word);
  }
  put(b, nd_rng_below(&rng, 2) ? "!\"}" : "\"}");
}

void write_file(const char *path, const nd_buf *b) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(b->p, 1, b->n, f), b->n);
  fclose(f);
}

void make_varied_corpus(size_t n, bool varied) {
  doc_n = n;
  reject_n = 0;
  text_of[0].n = text_of[1].n = 0;
  for (size_t i = 0; i < n; i++) {
    doc *d = &docs[i];
    snprintf(d->id, sizeof d->id, "d%zu", varied ? i / 2 : i);
    if (varied && i + 1 == n)
      *d = docs[0], snprintf(d->id, sizeof d->id, "d%zu", i / 2);
    else if (i && nd_rng_below(&rng, 5) < 3)
      edited_tokens(d, &docs[nd_rng_below(&rng, i)]);
    else
      do random_tokens(d);
      while (varied && i == 0 && d->tokens < 20);
    make_shingles(d);
    d->file = i >= n / 2;
    nd_buf *b = &text_of[d->file];
    if (nd_rng_below(&rng, 15) == 0) put(b, "  \n");
    if (nd_rng_below(&rng, 15) == 0) put(b, "{\"id\": broken\n"), reject_n++;
    d->at = b->n;
    put_document(b, d, varied);
    put(b, "\n");
    d->n = b->n - d->at;
  }
  write_file(corpus_path, &text_of[0]);
  write_file(second_path, &text_of[1]);
  if (!varied) return;
  gzFile f = gzopen(second_path, "wb");
  assert_int_equal(gzwrite(f, text_of[1].p, (unsigned)text_of[1].n), text_of[1].n);
  assert_int_equal(gzclose(f), Z_OK);
}

void make_corpus(size_t n) {
  make_varied_corpus(n, false);
}
