/* What the fuzz targets share.
 *
 * A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput.  Beside not
 * crashing it checks what must hold (fuzz_check) and notes what came out
 * (fuzz_note), so that a replay at another CPU level can be compared. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A digest of everything that was noted. */
extern uint64_t fuzz_digest;
void fuzz_note(const void *p, size_t n);

#define fuzz_check(what)                                                        \
  do {                                                                          \
    if (!(what)) {                                                              \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what); \
      abort();                                                                  \
    }                                                                           \
  } while (0)

/* Takes numbers off the front of the input, zero when it is used up. */
typedef struct fuzz_bytes {
  const uint8_t *p;
  size_t n;
} fuzz_bytes;

static inline uint8_t fuzz_byte(fuzz_bytes *b) {
  if (!b->n) return 0;
  b->n--;
  return *b->p++;
}

static inline nd_str fuzz_rest(const fuzz_bytes *b) {
  return (nd_str){(const char *)b->p, b->n};
}

#endif
