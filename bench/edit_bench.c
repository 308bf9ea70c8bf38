/* Times the edit-distance joins: Pass-Join against PPJoin over q-grams.
 *
 *   edit_bench FILE [MOST [MOST_GRAMS [COPIES]]]
 *
 * FILE is JSONL (plain or .zst); the "text" fields are lower-cased and reduced to
 * letters and digits with single spaces.  tau goes from 1 to MOST (6), for q-grams
 * to MOST_GRAMS (MOST).  COPIES > 1 makes the collection that many times larger,
 * each copy with three random letters replaced.  PPJoin runs with q = 2 to 5 and
 * its best is printed.  Times are the best of three: everything from the bytes on
 * ("all"), and without decoding and sorting ("join"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/rng.h"
#include "join/edit_join.h"

typedef struct {
  char *bytes;
  uint64_t *begin;
  uint64_t n;
} corpus;

static char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *p = malloc(*size + 1);
  if (!p || fread(p, 1, *size, f) != *size) *size = 0;
  fclose(f);
  if (*size < 4 || memcmp(p, "\x28\xb5\x2f\xfd", 4) != 0) return p;
  size_t room = (size_t)1 << 30;
  char *out = malloc(room);
  ZSTD_DCtx *d = ZSTD_createDCtx();
  ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, 27);
  size_t got = ZSTD_decompressDCtx(d, out, room, p, *size);
  ZSTD_freeDCtx(d);
  free(p);
  *size = ZSTD_isError(got) ? 0 : got;
  return out;
}

static void load(corpus *c, const char *p, size_t n, uint64_t copies) {
  uint64_t lines = 0, at = 0;
  for (size_t i = 0; i < n; i++) lines += p[i] == '\n';
  c->bytes = malloc((n + 64) * copies);
  c->begin = malloc((lines + 2) * copies * sizeof *c->begin);
  c->n = 0;
  c->begin[0] = 0;
  for (const char *end = p + n; p < end;) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop) stop = end;
    const char *text = memmem(p, (size_t)(stop - p), "\"text\": \"", 9);
    for (const char *s = text ? text + 9 : stop; s + 2 < stop; s++) {
      char x = *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s;
      int word = (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9');
      if (word)
        c->bytes[at++] = x;
      else if (at > c->begin[c->n] && c->bytes[at - 1] != ' ')
        c->bytes[at++] = ' ';
    }
    if (at > c->begin[c->n] && c->bytes[at - 1] == ' ') at--;
    c->begin[++c->n] = at;
    p = stop + 1;
  }
  nd_rng rng = {1};
  uint64_t once = c->n;
  for (uint64_t k = 1; k < copies; k++) {
    for (uint64_t i = 0; i < once; i++) {
      uint64_t length = c->begin[i + 1] - c->begin[i];
      memcpy(c->bytes + at, c->bytes + c->begin[i], length);
      for (int e = 0; e < 3 && length; e++)
        c->bytes[at + nd_rng_below(&rng, length)] = (char)('a' + nd_rng_below(&rng, 26));
      at += length;
      c->begin[++c->n] = at;
    }
  }
}

static nd_status count(void *context, const nd_edit_pair *pair, size_t n, nd_error *err) {
  uint64_t *sum = context;
  (void)err;
  for (size_t i = 0; i < n; i++)
    *sum += (uint64_t)pair[i].a * 31 + pair[i].b * 17 + pair[i].distance;
  return ND_OK;
}

typedef struct {
  double all, join;
  uint64_t sum;
  nd_edit_stats stats;
} timing;

static timing measure(const corpus *c, nd_edit_method method, uint32_t tau, uint32_t q,
                      unsigned threads) {
  timing best = {1e9, 1e9, 0, {0}};
  for (int round = 0; round < 3; round++) {
    nd_edit_options o = {.method = method, .tau = tau, .q = q, .threads = threads};
    nd_edit_stats s;
    nd_error err;
    uint64_t sum = 0;
    if (nd_edit_join((nd_edit_input){c->bytes, c->begin, c->n}, &o, count, &sum, &s, &err) !=
        ND_OK) {
      fprintf(stderr, "edit_bench: %s\n", err.message);
      exit(1);
    }
    double join = s.index + s.join, all = join + s.prepare;
    if (all < best.all) best.all = all;
    if (join < best.join) best.join = join;
    best.sum = sum;
    best.stats = s;
    if (all > 5) break;
  }
  return best;
}

static void print(const char *name, uint32_t tau, timing one, timing two) {
  printf("%3u  %-12s %9.2f %9.2f %9.2f %9.2f  %10llu %9llu %8llu\n", tau, name, one.all * 1e3,
         two.all * 1e3, one.join * 1e3, two.join * 1e3,
         (unsigned long long)(one.stats.candidates + one.stats.direct),
         (unsigned long long)one.stats.verified, (unsigned long long)one.stats.results);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: edit_bench FILE [MOST [MOST_GRAMS [COPIES]]]\n");
    return 2;
  }
  uint32_t most = argc > 2 ? (uint32_t)atoi(argv[2]) : 6;
  uint32_t most_grams = argc > 3 ? (uint32_t)atoi(argv[3]) : most;
  uint64_t copies = argc > 4 ? (uint64_t)atoi(argv[4]) : 1;
  size_t size = 0;
  char *data = read_file(argv[1], &size);
  if (!data || size == 0) {
    fprintf(stderr, "edit_bench: cannot read %s\n", argv[1]);
    return 1;
  }
  corpus c;
  load(&c, data, size, copies);
  printf("# %llu strings, %llu bytes; milliseconds, 1 and 2 threads\n", (unsigned long long)c.n,
         (unsigned long long)c.begin[c.n]);
  printf(
      "tau  method           all 1     all 2    join 1    join 2  candidates  verified    pairs\n");
  for (uint32_t tau = 1; tau <= most; tau++) {
    timing one = measure(&c, ND_EDIT_PASS, tau, 0, 1), two = measure(&c, ND_EDIT_PASS, tau, 0, 2);
    print("pass-join", tau, one, two);
    if (tau > most_grams) continue;
    timing gram = {1e9, 1e9, 0, {0}};
    uint32_t best = 0;
    for (uint32_t q = 2; q <= 5; q++) {
      timing t = measure(&c, ND_EDIT_PPJOIN, tau, q, 1);
      if (best && t.all >= gram.all) continue;
      best = q;
      gram = t;
    }
    char name[20];
    snprintf(name, sizeof name, "ppjoin:q=%u", best);
    print(name, tau, gram, measure(&c, ND_EDIT_PPJOIN, tau, best, 2));
    printf("#    %.1f times as fast (join %.1f)\n", gram.all / one.all, gram.join / one.join);
    if (gram.sum != one.sum || two.sum != one.sum) {
      printf("the results differ\n");
      return 1;
    }
  }
  free(data);
  free(c.bytes);
  free(c.begin);
  return 0;
}
