/* Inside of the tokeniser: the ASCII kernels, one per SIMD level, all with the
 * same result.  words.c picks one; the tests call each. */
#ifndef ND_TEXT_WORDS_ASCII_H
#define ND_TEXT_WORDS_ASCII_H

#include "base/cpu.h"
#include "base/mem.h"
#include "text/text.h"

/* A tokeniser at work.  out[0 .. p) is final but for this: `open` says that the
 * last token has no end yet; else out is empty or ends with a space, and every
 * token in it has its end. */
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
  /* A kernel may step over `stop` by less than this … */
  ND_WORDS_STEP = 64,
  /* … and write this many bytes and ends after the last that count. */
  ND_WORDS_SLACK = 128
};

typedef struct nd_words_kernel {
  const char *name;
  /* Splits ASCII bytes from r->i until a byte >= 0x80, the end, or `stop` or a
   * little later.  out has room for one byte more than the bytes read, end for
   * half as many, plus the slack. */
  void (*ascii)(nd_words_run *r, size_t stop);
  /* Writes base + the place of every space in p[0 .. n); returns how many. */
  size_t (*spaces)(uint32_t *end, const char *p, size_t n, uint32_t base);
} nd_words_kernel;

/* The kernels that this machine can run, slowest first; *n of them. */
const nd_words_kernel *nd_words_kernels(size_t *n);

/* The one that nd_cpu() asks for. */
const nd_words_kernel *nd_words_kernel_best(void);

/* nd_words_split with a given kernel. */
nd_status nd_words_split_with(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                              const nd_words_kernel *kernel, nd_error *err) ND_MUST_CHECK;

#endif
