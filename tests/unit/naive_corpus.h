/* A random corpus in two JSONL files, and what is true of it, counted naively:
 * word numbers for tokens, exact 64-bit keys for 5-word shingles, integers for
 * resemblance. */
#ifndef NAIVE_CORPUS_H
#define NAIVE_CORPUS_H

#include "base/mem.h"
#include "base/rng.h"
#include "neardup.h"
#include "settings/option_fields.h"
#include "tools.h"

enum { MOST_DOCS = 400, MOST_TOKENS = 160, SHINGLE = 5 };

extern char corpus_path[240], second_path[240];
extern nd_rng rng;

typedef struct doc {
  char id[24];
  uint16_t token[MOST_TOKENS]; /* numbers of words */
  size_t tokens;
  uint64_t shingle[MOST_TOKENS]; /* sorted, each once */
  size_t shingles;
  size_t text_bytes;  /* of the tokens joined by spaces */
  size_t file, at, n; /* its line in its file */
} doc;

extern doc docs[MOST_DOCS];
extern size_t doc_n, reject_n;
extern nd_buf text_of[2]; /* the files */

/* The two files lie in a folder. */
void corpus_in(const char *folder);

void corpus_clear(void);

void overlap(uint64_t *common, uint64_t *joint, const doc *a, const doc *b);

bool reaches(uint64_t common, uint64_t joint, const nd_options *o);

bool same_tokens(const doc *a, const doc *b);

void put(nd_buf *b, const char *text);

void write_file(const char *path, const nd_buf *b);

/* With `varied` the second file is packed, ids repeat, documents have sites, and the last is a
 * copy of the first, so that there is a pair. */
void make_varied_corpus(size_t n, bool varied);

void make_corpus(size_t n);

#endif
