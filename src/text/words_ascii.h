/* The ASCII kernels of the tokeniser, one per SIMD level, all with the same result; internal
 * to words.c. */
#ifndef ND_TEXT_WORDS_ASCII_H
#define ND_TEXT_WORDS_ASCII_H

#include "base/cpu.h"
#include "base/mem.h"
#include "text/text.h"

/* State of the tokeniser.  out[0 .. p) is final.  If `open`, the last token has no end yet;
 * otherwise out is empty or ends with a space, and every token has its end. */
typedef struct nd_words_run {
  const char *in;
  size_t i, n; /* next byte, number of bytes */
  char *out;
  size_t p;
  uint32_t *end;
  size_t count;
  unsigned open; /* 0 or 1 */
} nd_words_run;

enum {
  /* A kernel may exceed `stop` by less than this. */
  ND_WORDS_STEP = 64,
  /* A kernel may write this many bytes and ends after the last valid ones. */
  ND_WORDS_SLACK = 128
};

typedef struct nd_words_kernel {
  const char *name;
  /* Splits ASCII bytes from r->i until a byte >= 0x80, the end, or `stop` or a
   * little later.  out has room for one byte more than the bytes read, end for
   * half as many, plus the slack. */
  void (*ascii)(nd_words_run *r, size_t stop);
  /* Writes base + the position of every space in p[0 .. n); returns their number. */
  size_t (*spaces)(uint32_t *end, const char *p, size_t n, uint32_t base);
} nd_words_kernel;

/* Returns the *n kernels that this machine can run, slowest first. */
const nd_words_kernel *nd_words_kernels(size_t *n);

/* Returns the kernel for nd_cpu(). */
const nd_words_kernel *nd_words_kernel_best(void);

/* nd_words_split with a given kernel. */
nd_status nd_words_split_with(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                              const nd_words_kernel *kernel, nd_error *err) ND_MUST_CHECK;

#endif
