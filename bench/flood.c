/* flood N: a list of pairs whose ids all have the same low 15 bits of XXH3, so that a table of
 * up to 2^15 slots that trusts that hash puts them into one run. */
#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

int main(int argc, char **argv) {
  unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, found = 0;
  char last[24] = "";
  for (unsigned long i = 0; found < wanted; i++) {
    char id[24];
    int n = sprintf(id, "%lx", i);
    if (XXH3_64bits(id, (size_t)n) & 0x7fff) continue;
    if (found++ % 2) printf("%s\t%s\t0.9\n", last, id);
    memcpy(last, id, sizeof last);
  }
  return 0;
}
