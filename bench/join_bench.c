/* Measures the exact joins: our own on one and two threads against a plain PPJoin.
 *
 *   join_bench [--rounds N] [--quick] [--cpu] [--methods | --memory] [FILE.sets | FILE.sets.zst |
 * NAME]…
 *
 * Without files: the sets of $NEARDUP_DATA and generated Zipf sets (zipf12, zipf80).
 * Runs take turns and the best of each counts.  Times are milliseconds of the join phase:
 * index and join, with the sets in memory; reading and preparing them is printed apart.
 * --cpu counts CPU time instead (for a busy machine; two threads then tell nothing);
 * --methods prints what each filter leaves, --memory the peak of the process while sets are
 * prepared and joined on two threads, per token and above what it had before it read them. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "join/join.h"
#include "join_ppjoin.h"

typedef struct input {
  char name[64];
  uint64_t *raw, *begin;
  size_t tokens, records, raw_cap, begin_cap;
} input;

static const struct {
  const char *name;
  uint64_t pairs[4];
} known[] = {
    {"debdesc", {14638, 61109, 142247, 247095}},
    {"debdirs", {2592, 7284, 27128, 82348}},
    {"retail", {0, 0, 780, 3675}},
};
static const uint64_t percent[4] = {95, 90, 80, 70};
static int rounds = 3, failures;
static const double long_enough = 0.1; /* seconds; what is shorter runs more often */

static clockid_t clock_id = CLOCK_MONOTONIC;

static double now(void) {
  struct timespec t;
  clock_gettime(clock_id, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what) {
  fprintf(stderr, "join_bench: %s\n", what);
  exit(1);
}

static void add_token(input *in, uint64_t token) {
  nd_error err;
  if (nd_array_grow(&in->raw, &in->raw_cap, in->tokens + 1, sizeof *in->raw, &err)) die("memory");
  in->raw[in->tokens++] = token;
}

static void end_record(input *in) {
  nd_error err;
  if (nd_array_grow(&in->begin, &in->begin_cap, in->records + 2, sizeof *in->begin, &err)) {
    die("memory");
  }
  in->begin[0] = 0;
  in->begin[++in->records] = in->tokens;
}

static int read_sets(input *in, const char *path) {
  char command[4096];
  size_t n = strlen(path);
  int packed = n > 4 && strcmp(path + n - 4, ".zst") == 0;
  snprintf(command, sizeof command, "zstd -dcq --long=27 '%s'", path);
  FILE *f = packed ? popen(command, "r") : fopen(path, "r");
  if (!f) return 0;
  const char *slash = strrchr(path, '/');
  snprintf(in->name, sizeof in->name, "%.40s", slash ? slash + 1 : path);
  in->name[strcspn(in->name, ".")] = 0;
  uint64_t token = 0;
  int digits = 0, any = 0;
  for (int c; (c = getc(f)) != EOF;) {
    if (c >= '0' && c <= '9') {
      token = token * 10 + (uint64_t)(c - '0');
      digits = any = 1;
      continue;
    }
    if (digits) add_token(in, token);
    token = 0;
    digits = 0;
    if (c == '\n') end_record(in);
  }
  if (packed) {
    pclose(f);
  } else {
    fclose(f);
  }
  return any;
}

/* Zipf tokens, and one record in twenty a changed copy of one before it. */
static void generate(input *in, const char *name, size_t records, unsigned length) {
  enum { VOCABULARY = 100000 };
  snprintf(in->name, sizeof in->name, "%s", name);
  double *sum = malloc(VOCABULARY * sizeof *sum), total = 0;
  if (!sum) die("memory");
  for (unsigned i = 0; i < VOCABULARY; i++) sum[i] = total += 1 / pow(i + 1.0, 0.75);
  nd_rng rng = {42};
  for (size_t r = 0; r < records; r++) {
    size_t first = in->tokens;
    unsigned n = length / 2 + (unsigned)nd_rng_below(&rng, length + 1);
    int copy = r > 100 && nd_rng_below(&rng, 20) == 0;
    size_t from = copy ? nd_rng_below(&rng, r) : 0;
    size_t at = copy ? in->begin[from] : 0, end = copy ? in->begin[from + 1] : 0;
    uint64_t change = nd_rng_below(&rng, 40);
    for (; copy ? at < end : in->tokens - first < n; at++) {
      if (copy && nd_rng_below(&rng, 100) >= change) {
        add_token(in, in->raw[at]);
        continue;
      }
      double u = nd_rng_unit(&rng) * total;
      size_t low = 0, high = VOCABULARY - 1;
      while (low < high) {
        size_t middle = (low + high) / 2;
        if (sum[middle] < u) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      add_token(in, low);
    }
    end_record(in);
  }
  free(sum);
}

/* All tokens, also those of one record. */
static plain_sets plain_of(const nd_sets *s) {
  plain_sets p = {.n = s->n};
  p.begin = malloc(((size_t)s->n + 1) * sizeof *p.begin);
  p.token = malloc(s->tokens * sizeof *p.token + 1);
  if (!p.begin || !p.token) die("memory");
  uint64_t at = 0, stored = s->begin[s->n];
  uint32_t alone = (uint32_t)(s->tokens - stored), next = 0;
  for (uint32_t r = 0; r < s->n; r++) {
    p.begin[r] = at;
    uint32_t have = (uint32_t)(s->begin[r + 1] - s->begin[r]);
    for (uint32_t k = have; k < s->size[r]; k++) p.token[at++] = next++;
    for (uint32_t k = 0; k < have; k++) p.token[at++] = alone + s->token[s->begin[r] + k];
  }
  p.begin[s->n] = at;
  p.vocabulary = alone + s->distinct;
  return p;
}

static nd_status ignore(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  (void)context;
  (void)pair;
  (void)n;
  (void)err;
  return ND_OK;
}

static nd_join_stats run_join(const nd_sets *s, nd_join_method method, uint64_t t,
                              unsigned threads) {
  nd_join_stats stats;
  nd_error err;
  const double start = now();
  nd_join_options o = {.method = method, .num = t, .den = 100, .threads = threads};
  if (nd_join_run(s, &o, ignore, NULL, &stats, &err) != ND_OK) die(err.message);
  stats.seconds = now() - start;
  return stats;
}

static double least(double a, double b) {
  return a < b ? a : b;
}

static void bench_threshold(const nd_sets *s, const plain_sets *p, const char *name, int which) {
  const uint64_t t = percent[which];
  double one = 1e9, two = 1e9, plain = 1e9, spent = 0;
  uint64_t pairs = 0, plain_pairs = 0, verified;
  for (int i = 0; i < rounds || (spent < long_enough && i < 20 * rounds); i++) {
    nd_join_stats stats = run_join(s, ND_JOIN_BLOCKS, t, 1);
    one = least(one, stats.seconds);
    spent += stats.seconds;
    pairs = stats.results;
    stats = run_join(s, ND_JOIN_BLOCKS, t, 2);
    two = least(two, stats.seconds);
    if (stats.results != pairs) failures++;
    if (i && plain > 3) continue; /* long runs vary little */
    double start = now();
    plain_pairs = plain_ppjoin(p, t, 100, &verified);
    plain = least(plain, now() - start);
  }
  const char *verdict = pairs == plain_pairs ? "same" : "DIFFERS";
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(known[k].name, name) == 0) {
      verdict = pairs == known[k].pairs[which] && pairs == plain_pairs ? "known" : "WRONG";
    }
  }
  failures += verdict[0] == 'D' || verdict[0] == 'W';
  printf("%-12s %.2f %10llu %-7s %9.2f %9.2f %9.2f %8.2f %8.2f\n", name, (double)t / 100,
         (unsigned long long)pairs, verdict, one * 1e3, two * 1e3, plain * 1e3, plain / one,
         one / two);
  fflush(stdout);
}

/* kB in a line of /proc/self/status. */
static double status_of(const char *field) {
  char line[256];
  unsigned long kib = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, field, strlen(field)) == 0) sscanf(line + strlen(field), ": %lu", &kib);
  }
  if (f) fclose(f);
  return (double)kib * 1024;
}

/* The peak counts from here on. */
static void reset_peak(void) {
  malloc_trim(0);
  FILE *f = fopen("/proc/self/clear_refs", "w");
  if (!f || fputs("5", f) < 0) die("cannot reset the peak of memory");
  fclose(f);
}

static void bench_methods(const nd_sets *s, const char *name, int which) {
  static const char *const names[] = {"join", "allpairs", "ppjoin", "ppjoin+"};
  nd_join_stats all = {0};
  for (int m = 0; m < 4; m++) {
    nd_join_stats x = run_join(s, (nd_join_method)m, percent[which], 1);
    if (m == 0) all = x;
    failures += x.results != all.results;
    printf("%-12s %.2f %-9s %9.2f %9llu %11llu %10llu %10llu %10llu %8llu\n", name,
           (double)percent[which] / 100, names[m], x.seconds * 1e3,
           (unsigned long long)x.index_entries, (unsigned long long)x.after_size,
           (unsigned long long)x.after_positional, (unsigned long long)x.after_suffix,
           (unsigned long long)x.verified, (unsigned long long)x.results);
    fflush(stdout);
  }
}

typedef enum mode { TIMES, METHODS, MEMORY } mode;

static void load(input *in, const char *name, int quick) {
  if (strcmp(name, "zipf12") == 0) {
    generate(in, name, quick ? 50000 : 500000, 12);
  } else if (strcmp(name, "zipf80") == 0) {
    generate(in, name, quick ? 20000 : 200000, 80);
  } else {
    read_sets(in, name);
  }
  uint64_t *raw = realloc(in->raw, in->tokens * sizeof *raw + 1);
  if (raw) in->raw = raw;
}

static nd_sets build(const input *in, unsigned threads) {
  nd_sets s;
  nd_error err;
  if (nd_sets_build(&s, in->raw, in->begin, in->records, threads, &err) != ND_OK) die(err.message);
  return s;
}

/* The input is given back once the sets are built, as the command does. */
static void bench_memory(const char *name, int which, int quick) {
  malloc_trim(0);
  const double before = status_of("VmRSS");
  input in = {0};
  load(&in, name, quick);
  reset_peak();
  nd_sets s = build(&in, 2);
  nd_free(in.raw);
  nd_free(in.begin);
  const double built = status_of("VmHWM");
  reset_peak();
  nd_join_stats x = run_join(&s, ND_JOIN_BLOCKS, percent[which], 2);
  const double joined = status_of("VmHWM"), tokens = (double)x.tokens;
  printf("%-12s %.2f %10.0f %8.2f %8.2f\n", in.name, (double)percent[which] / 100, tokens,
         (built - before) / tokens, (joined - before) / tokens);
  fflush(stdout);
  nd_sets_clear(&s);
}

static void bench_input(const char *name, mode mode, int quick) {
  for (int which = 0; mode == MEMORY && which < 4; which++) bench_memory(name, which, quick);
  if (mode == MEMORY) return;
  input in = {0};
  double start = now();
  load(&in, name, quick);
  const double read = now() - start;
  if (in.tokens == 0) {
    printf("# %s: not there, skipped\n", name);
    return;
  }
  double one = 1e9, two = 1e9;
  nd_sets s = {0};
  for (int i = 0; i < (mode == TIMES ? rounds : 1); i++) {
    start = now();
    s = build(&in, 1);
    one = least(one, now() - start);
    nd_sets_clear(&s);
    start = now();
    s = build(&in, 2);
    two = least(two, now() - start);
    if (mode == TIMES && i + 1 < rounds) nd_sets_clear(&s);
  }
  if (mode == TIMES) {
    printf(
        "# %s: %zu records, %llu tokens, %u shared; read in %.0f ms, prepared in %.1f ms, "
        "on two threads %.1f ms\n",
        in.name, in.records, (unsigned long long)s.tokens, s.distinct, read * 1e3, one * 1e3,
        two * 1e3);
  }
  plain_sets p = plain_of(&s);
  for (int which = 0; which < 4; which++) {
    if (mode == METHODS) {
      bench_methods(&s, in.name, which);
    } else {
      bench_threshold(&s, &p, in.name, which);
    }
  }
  free(p.begin);
  free(p.token);
  nd_sets_clear(&s);
  nd_free(in.raw);
  nd_free(in.begin);
}

int main(int argc, char **argv) {
  int quick = 0, files = 0;
  mode mode = TIMES;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--methods") == 0) mode = METHODS;
    if (strcmp(argv[i], "--memory") == 0) mode = MEMORY;
    if (strcmp(argv[i], "--quick") == 0) quick = 1;
    if (strcmp(argv[i], "--cpu") == 0) clock_id = CLOCK_PROCESS_CPUTIME_ID;
    if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) rounds = atoi(argv[++i]);
  }
  if (mode != MEMORY) {
    /* Freed memory stays with the process, for both joins: what the kernel takes to hand out a
     * page, and malloc's choice of when to give one back, are not what is measured here. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
  }
  static const char *const columns[] = {
      [TIMES] =
          "sets         t         pairs count        join   threads    ppjoin   faster   speedup",
      [METHODS] =
          "sets         t    method           ms     index        size positional     suffix"
          "   verified  results",
      [MEMORY] = "sets         t        tokens preparing  joining"};
  printf("%s\n", columns[mode]);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--rounds") == 0) i++;
    if (argv[i][0] == '-' || strcmp(argv[i - 1], "--rounds") == 0) continue;
    bench_input(argv[i], mode, quick);
    files++;
  }
  if (files == 0) {
    static const char *const names[] = {"debdesc", "debdirs", "retail", "dblp18k_q3"};
    const char *data = getenv("NEARDUP_DATA");
    for (int i = 0; data && i < 4; i++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/sets/%s.sets.zst", data, names[i]);
      bench_input(path, mode, quick);
    }
    if (!data) printf("# NEARDUP_DATA is not set: generated sets only\n");
    bench_input("zipf12", mode, quick);
    bench_input("zipf80", mode, quick);
  }
  return failures ? 1 : 0;
}
