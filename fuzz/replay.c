/* Runs a target over a corpus, without a fuzzer: replay CORPUS...
 *
 * A corpus is a text file with one input a line, in base 64.  Prints how many
 * inputs ran and the digest of what came out, which is the same at every CPU
 * level. */
#include "fuzz.h"

static size_t inputs;

static int digit(int c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The next line into `out`; false at the end of the file. */
static bool next_input(nd_buf *out, FILE *f) {
  unsigned bits = 0, held = 0;
  int c = getc(f);
  if (c == EOF) return false;
  out->n = 0;
  for (; c != EOF && c != '\n'; c = getc(f)) {
    int d = digit(c);
    if (d < 0) continue; /* padding */
    bits = bits << 6 | (unsigned)d;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    char byte = (char)(bits >> held);
    bits &= (1u << held) - 1;
    if (nd_buf_append(out, &byte, 1, NULL) != ND_OK) abort();
  }
  return true;
}

static int run_corpus(const char *path) {
  FILE *f = fopen(path, "r");
  nd_buf bytes = {0};
  if (!f) {
    perror(path);
    return 1;
  }
  while (next_input(&bytes, f)) {
    /* A block of exactly this size, so that a read past its end is seen. */
    uint8_t *copy = malloc(bytes.n ? bytes.n : 1);
    if (!copy) abort();
    if (bytes.n) memcpy(copy, bytes.p, bytes.n);
    LLVMFuzzerTestOneInput(copy, bytes.n);
    free(copy);
    inputs++;
  }
  fclose(f);
  nd_buf_clear(&bytes);
  return 0;
}

int main(int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++) failed |= run_corpus(argv[i]);
  printf("%zu inputs, digest %016llx\n", inputs, (unsigned long long)fuzz_digest);
  return failed;
}
