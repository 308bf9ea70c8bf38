/* Samplers against a naive version, their formulas against worked examples and
 * against planted resemblances, plans and sets of common shingles. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "every_place.h"
#include "feature/sample.h"
#include "tiny_budget.h"

static uint64_t seed;
static nd_rng rng_of(const char *what) {
  nd_rng r = {seed};
  print_message("%s: seed %llu\n", what, (unsigned long long)seed);
  return r;
}

static void specifications_are_parsed_or_refused(void **state) {
  (void)state;
  nd_sample s;
  ok(nd_sample_parse(&s, "", &err));
  assert_false(s.on);
  ok(nd_sample_parse(&s, "none", &err));
  assert_false(s.on);
  ok(nd_sample_parse(&s, "mod:25:24,cap:400,sct:1000,min:7", &err));
  assert_true(s.on && s.mod == 25 && s.residue == 24 && s.cap == 400 && s.sct == 1000 &&
              s.min == 7);
  static const char *const bad[] = {"mod",
                                    "mod:",
                                    "mod:0",
                                    "mod:4:4",
                                    "mod:4:",
                                    "mod:4:1:1",
                                    "mod:-1",
                                    "min:0",
                                    "min:x",
                                    "sct:1:2",
                                    "cap:1.5",
                                    "bogus:3",
                                    "mod:2,mod:2",
                                    "cap:1,cap:2",
                                    ",",
                                    "adaptive",
                                    "adaptive:",
                                    "adaptive:/nowhere",
                                    "mod:99999999999999999999",
                                    "adaptive:1.5",
                                    "mod::3",
                                    "mod:4294967297",
                                    "adaptive:0.9,adaptive:0.8",
                                    "mod:2,adaptive:0.9",
                                    "adaptive:/"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    err.message[0] = '\0';
    assert_int_not_equal(nd_sample_parse(&s, bad[i], &err), ND_OK);
    assert_true(err.message[0]);
  }
  /* Longer than any path: said, but not all of it. */
  char giant[1200] = "adaptive:";
  memset(giant + 9, 'x', sizeof giant - 10);
  giant[sizeof giant - 1] = '\0';
  assert_int_equal(nd_sample_parse(&s, giant, &err), ND_ERR_USAGE);
  assert_true(strstr(err.message, "adaptive:xxx") && strlen(err.message) < 400);
  /* A file that is too large to be a plan. */
  char path[] = "/tmp/nd_test_sample_XXXXXX", word[60];
  int fd = mkstemp(path);
  assert_true(fd >= 0 && ftruncate(fd, (1 << 16) + 1) == 0);
  snprintf(word, sizeof word, "adaptive:%s", path);
  assert_int_equal(nd_sample_parse(&s, word, &err), ND_ERR_DATA);
  assert_non_null(strstr(err.message, "is not a plan"));
  close(fd);
  nd_io_fail_at(2, EIO); /* the look at how large it is */
  assert_int_equal(nd_sample_parse(&s, word, &err), ND_ERR_IO);
  nd_io_fail_at(0, 0);
  unlink(path);
}

/* sct and mod: rule by rule, without any sorting. */
static size_t naive(uint32_t *kept, const nd_sample *o, const uint64_t *fp, size_t n,
                    const uint64_t *common, size_t common_n, bool once) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    bool take = nd_mix(fp[i]) % o->mod == o->residue;
    for (size_t j = 0; j < common_n && o->sct; j++) take = take && common[j] != fp[i];
    for (size_t j = 0; j < i && once; j++) take = take && fp[j] != fp[i];
    if (take) kept[k++] = (uint32_t)i;
  }
  return k;
}

/* The smallest `min` of them, chosen from a copy. */
static size_t naive_min(uint32_t *kept, size_t k, uint64_t min, const uint64_t *fp) {
  uint32_t *all = malloc((k + 1) * sizeof *all);
  memcpy(all, kept, k * sizeof *all);
  size_t m = 0;
  for (size_t i = 0; i < k; i++) {
    size_t smaller = 0;
    for (size_t j = 0; j < k; j++) smaller += nd_mix(fp[all[j]]) < nd_mix(fp[all[i]]);
    if (smaller < min) kept[m++] = all[i];
  }
  free(all);
  return m;
}

static void samplers_agree_with_a_naive_version(void **state) {
  (void)state;
  nd_rng r = rng_of("samplers");
  nd_shingles shingles = {0};
  for (int round = 0; round < 400; round++) {
    size_t n = nd_rng_below(&r, 200), common_n = nd_rng_below(&r, 20);
    uint64_t fp[200], common[20];
    uint32_t kept[200];
    for (size_t i = 0; i < n; i++) fp[i] = nd_mix(nd_rng_below(&r, 150)); /* some repeat */
    nd_shingle_set *set = NULL;
    ok(nd_shingle_set_new(&set, 1 << 20, ".", &err));
    for (size_t i = 0; i < common_n; i++) {
      common[i] = nd_mix(nd_rng_below(&r, 150));
      for (size_t j = i; j && common[j - 1] > common[j]; j--) {
        uint64_t x = common[j];
        common[j] = common[j - 1];
        common[j - 1] = x;
      }
    }
    for (size_t i = 0; i < common_n; i++)
      if (i == 0 || common[i] != common[i - 1]) ok(nd_shingle_set_add(set, common[i], &err));
    ok(nd_shingle_set_finish(set, &err));
    nd_sample o = {.on = true, .mod = 1 + nd_rng_below(&r, 9)};
    o.residue = nd_rng_below(&r, o.mod);
    if (nd_rng_below(&r, 2)) o.min = 1 + nd_rng_below(&r, 40);
    if (nd_rng_below(&r, 2)) o.cap = 1 + nd_rng_below(&r, 40);
    if (nd_rng_below(&r, 2)) {
      o.sct = 1;
      o.common = set;
    }
    if (o.sct == 0 && nd_rng_below(&r, 8) == 0) { /* asked for, but nobody has counted */
      nd_sample unknown = {.on = true, .mod = 1, .sct = 5};
      nd_sampler u = {.sample = &unknown};
      bool nothing;
      uint64_t one = 1;
      nd_shingles few = {.fingerprint = &one, .n = 1};
      assert_int_equal(nd_sampler_run(&u, &nothing, &few, 1, 0, &err), ND_ERR_USAGE);
      unknown = (nd_sample){.on = true, .mod = 1, .goal = {9, 10}};
      assert_int_equal(nd_sampler_run(&u, &nothing, &few, 1, 0, &err), ND_ERR_USAGE);
    }
    nd_sample without = o;
    without.min = without.cap = 0;
    size_t k = naive(kept, &without, fp, n, common, common_n, o.min || o.cap);
    if (o.min) k = naive_min(kept, k, o.min, fp);
    if (o.cap && k > o.cap) k = o.cap;
    ok(nd_array_grow(&shingles.fingerprint, &shingles.cap, n + 1, 8, &err));
    memcpy(shingles.fingerprint, fp, n * sizeof *fp);
    shingles.n = n;
    nd_sampler s = {.sample = &o};
    bool emptied;
    ok(nd_sampler_run(&s, &emptied, &shingles, 100, 77, &err));
    assert_int_equal(emptied, n && k == 0);
    if (emptied) { /* one private shingle, which is none of the document's */
      assert_int_equal(shingles.n, 1);
      for (size_t i = 0; i < n; i++) assert_true(fp[i] != shingles.fingerprint[0]);
      assert_int_equal(s.emptied, 1);
    } else {
      assert_int_equal(shingles.n, k);
      for (size_t i = 0; i < k; i++) {
        assert_int_equal(s.kept[i], kept[i]);
        assert_true(shingles.fingerprint[i] == fp[kept[i]]);
      }
      assert_int_equal(s.taken, k);
    }
    assert_int_equal(s.seen, n);
    nd_sampler_clear(&s);
    nd_shingle_set_free(set);
  }
  nd_shingles_clear(&shingles);
}

/* All residues of one modulus share a document's shingles out among them. */
static void residues_partition_the_shingles(void **state) {
  (void)state;
  nd_rng r = rng_of("residues");
  for (uint64_t modulus = 2; modulus <= 64; modulus *= 2) {
    size_t total = 0;
    uint64_t fp[500];
    for (size_t i = 0; i < 500; i++) fp[i] = nd_rng_next(&r);
    for (uint64_t residue = 0; residue < modulus; residue++) {
      nd_shingles shingles = {0};
      ok(nd_array_grow(&shingles.fingerprint, &shingles.cap, 500, 8, &err));
      memcpy(shingles.fingerprint, fp, sizeof fp);
      shingles.n = 500;
      nd_sample o = {.on = true, .mod = modulus, .residue = residue};
      nd_sampler s = {.sample = &o};
      bool emptied;
      ok(nd_sampler_run(&s, &emptied, &shingles, 500, 0, &err));
      total += s.taken;
      nd_sampler_clear(&s);
      nd_shingles_clear(&shingles);
    }
    assert_int_equal(total, 500);
  }
}

/* The definition, term by term. */
static double naive_hit(uint32_t common, uint32_t joint, double p, nd_decimal t) {
  double sum = 0;
  for (uint32_t c = 0; c <= common; c++)
    for (uint32_t d = 0; d <= joint - common; d++)
      if (c + d && (uint64_t)c * t.den >= (uint64_t)(c + d) * t.num)
        sum += exp(nd_binomial_log(c, common, p) + nd_binomial_log(d, joint - common, p));
  return sum;
}

static void predictions_agree_with_worked_examples(void **state) {
  (void)state;
  /* Two of three shingles common, each kept with 1/2, t = 0.6.  Kept (common,
   * differing): 2/2+0 (1/8) and 1+0 (2/8) resemble by 1, 2+1 (1/8) by 2/3; 1+1 and
   * 0+1 fail, 0+0 is nothing: 4/8. */
  assert_true(fabs(nd_sample_hit(2, 3, 0.5, (nd_decimal){3, 5}) - 0.5) < 1e-12);
  /* At t = 0.7 the 2+1 fails too: 3/8.  At t = 1: the same. */
  assert_true(fabs(nd_sample_hit(2, 3, 0.5, (nd_decimal){7, 10}) - 0.375) < 1e-12);
  assert_true(fabs(nd_sample_hit(2, 3, 0.5, (nd_decimal){1, 1}) - 0.375) < 1e-12);
  /* Everything kept: the threshold itself. */
  assert_true(nd_sample_hit(4, 5, 1, (nd_decimal){4, 5}) == 1);
  assert_true(nd_sample_hit(3, 5, 1, (nd_decimal){4, 5}) == 0);
  assert_true(nd_sample_hit(0, 0, 0.5, (nd_decimal){4, 5}) == 0);
  /* 3 of 5 with p = 0.4: 10 × 0.064 × 0.36 = 0.2304. */
  assert_true(fabs(exp(nd_binomial_log(3, 5, 0.4)) - 0.2304) < 1e-12);
  /* Wilson for 8 of 10 at z = 1.96: 0.4902 … 0.9433. */
  assert_true(fabs(nd_wilson_bound(8, 10, 1.96, false) - 0.4902) < 1e-4);
  assert_true(fabs(nd_wilson_bound(8, 10, 1.96, true) - 0.9433) < 1e-4);
  assert_true(nd_wilson_bound(0, 0, 1.96, false) == 0 && nd_wilson_bound(0, 0, 1.96, true) == 1);
  static const nd_decimal t[] = {{1, 2}, {17, 20}, {99, 100}, {1, 1}, {1, 100}};
  for (uint32_t joint = 1; joint < 60; joint += 7)
    for (uint32_t common = 0; common <= joint; common += 3)
      for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (double p = 0.05; p < 1; p += 0.15)
          assert_true(fabs(nd_sample_hit(common, joint, p, t[i]) -
                           naive_hit(common, joint, p, t[i])) < 1e-9);
  /* Large numbers: by symmetry about one half at r = t. */
  double half = nd_sample_hit(8500000, 10000000, 1.0 / 16, (nd_decimal){17, 20});
  assert_true(fabs(half - 0.5) < 0.01);
}

/* Pairs with planted resemblances, every residue tried, as Ye does: hits, and
 * from them precision, follow the binomial prediction. */
static void planted_pairs_hit_as_predicted(void **state) {
  (void)state;
  nd_rng r = rng_of("planted");
  enum { PAIRS = 300, MODULUS = 8, JOINT = 200 };
  const nd_decimal t = {17, 20};
  static const uint32_t commons[] = {150, 160, 165, 170, 175, 185};
  double hits[6] = {0}, predicted[6], true_hits = 0, all_hits = 0, true_p = 0, all_p = 0;
  uint64_t *fp = malloc(JOINT * sizeof *fp);
  for (size_t k = 0; k < 6; k++) {
    for (int pair = 0; pair < PAIRS; pair++) {
      for (size_t i = 0; i < JOINT; i++) fp[i] = nd_rng_next(&r);
      for (uint64_t residue = 0; residue < MODULUS; residue++) {
        uint32_t c = 0, d = 0; /* the first `common` ones are common */
        for (uint32_t i = 0; i < JOINT; i++) {
          bool kept = nd_sample_key(fp[i]) % MODULUS == residue;
          c += kept && i < commons[k];
          d += kept && i >= commons[k];
        }
        hits[k] += c + d && (uint64_t)c * t.den >= (uint64_t)(c + d) * t.num;
      }
    }
    double n = (double)PAIRS * MODULUS;
    predicted[k] = nd_sample_hit(commons[k], JOINT, 1.0 / MODULUS, t);
    double deviation = sqrt(predicted[k] * (1 - predicted[k]) / n);
    print_message("r = %.3f: measured %.4f, predicted %.4f\n", commons[k] / (double)JOINT,
                  hits[k] / n, predicted[k]);
    assert_true(fabs(hits[k] / n - predicted[k]) < 4.5 * deviation + 1e-9);
    bool is_true = (uint64_t)commons[k] * t.den >= (uint64_t)JOINT * t.num;
    true_hits += is_true ? hits[k] / n : 0;
    true_p += is_true ? predicted[k] : 0;
    all_hits += hits[k] / n;
    all_p += predicted[k];
  }
  print_message("precision: measured %.4f, predicted %.4f\n", true_hits / all_hits, true_p / all_p);
  assert_true(fabs(true_hits / all_hits - true_p / all_p) < 0.02);
  free(fp);
}

static void shingle_set(void **state) {
  (void)state;
  nd_rng r = rng_of("set");
  enum { N = 20000 };
  uint64_t *key = malloc(N * sizeof *key), *spare = malloc(N * sizeof *spare);
  for (size_t i = 0; i < N; i++) key[i] = nd_rng_next(&r) >> (i % 3 ? 0 : 40);
  nd_radix_u64(key, spare, N);
  static const uint64_t memories[] = {0, 4096, 50000, 1 << 20, UINT64_MAX};
  for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
    nd_shingle_set *set = NULL;
    nd_shingle_probe probe = {0};
    ok(nd_shingle_set_new(&set, memories[m], "/tmp", &err));
    uint64_t distinct = 0;
    for (size_t i = 0; i < N; i++) {
      if (i && key[i] == key[i - 1]) continue;
      ok(nd_shingle_set_add(set, key[i], &err));
      distinct++;
    }
    ok(nd_shingle_set_finish(set, &err));
    assert_int_equal(nd_shingle_set_size(set), distinct);
    for (size_t i = 0; i < 3 * N; i++) {
      uint64_t x = i % 3 ? key[nd_rng_below(&r, N)] + i % 3 - 1 : nd_rng_next(&r);
      size_t low = 0, high = N;
      while (low < high) {
        size_t middle = (low + high) / 2;
        if (key[middle] < x)
          low = middle + 1;
        else
          high = middle;
      }
      bool has;
      ok(nd_shingle_set_has(&has, set, &probe, x, &err));
      assert_int_equal(has, low < N && key[low] == x);
    }
    nd_shingle_probe_clear(&probe);
    nd_shingle_set_free(set);
  }
  nd_shingle_set *none = NULL;
  bool has = true;
  ok(nd_shingle_set_new(&none, 0, "/tmp", &err));
  ok(nd_shingle_set_finish(none, &err));
  ok(nd_shingle_set_has(&has, none, &(nd_shingle_probe){0}, 5, &err));
  assert_false(has);
  nd_shingle_set_free(none);
  free(key);
  free(spare);
}

static void plans_are_written_read_and_checked(void **state) {
  (void)state;
  nd_sample_plan p = {.n = 3,
                      .group = {{500, 2}, {1000, 8}, {UINT64_MAX, 16}},
                      .threshold = {17, 20},
                      .precision = {85, 100},
                      .shingle = "words:5",
                      .tokens = "words"};
  p.threshold = (nd_decimal){85, 100};
  nd_sample_plan_seal(&p);
  nd_buf text = {0};
  ok(nd_buf_printf(&text, &err, "%s", ""));
  ok(nd_sample_plan_append(&text, &p, &err));
  nd_sample_plan q;
  ok(nd_sample_plan_parse(&q, nd_buf_str(&text), "a plan", &err));
  assert_int_equal(q.n, 3);
  assert_true(q.digest == p.digest && q.threshold.num == 85 && q.precision.den == 100);
  assert_string_equal(q.shingle, "words:5");
  nd_sample s = {.on = true, .mod = 1, .plan = q};
  assert_int_equal(nd_sample_modulus(&s, 0), 2);
  assert_int_equal(nd_sample_modulus(&s, 499), 2);
  assert_int_equal(nd_sample_modulus(&s, 500), 8);
  assert_int_equal(nd_sample_modulus(&s, 1000000), 16);
  /* Cut anywhere, it is refused. */
  for (size_t n = 0; n + 2 < text.n; n++)
    assert_int_equal(nd_sample_plan_parse(&q, (nd_str){text.p, n}, "a plan", &err), ND_ERR_DATA);
  static const char head[] =
      "neardup-plan 1\nthreshold 0.8\nprecision 0.9\nshingle words:5\n"
      "tokens words\n";
  static const char *const bad[] = {"group 500 2\nend 1\n",            /* no last group */
                                    "group 500 3\ngroup - 2\nend 2\n", /* not a power of two */
                                    "group 500 2\ngroup 400 2\ngroup - 2\nend 3\n", /* sizes fall */
                                    "group - 2\ngroup - 2\nend 2\n", /* two last groups */
                                    "group 0 2\ngroup - 2\nend 2\n", /* an empty group */
                                    "group - 2\nend 2\n",            /* another number */
                                    "group - 2\nend 1\ngroup - 2\n", /* more after the end */
                                    "group - 2097152\nend 1\n",      /* too coarse */
                                    "group - 2 2\nend 1\n",
                                    "wrong 1\nend 0\n",
                                    "group - 0\nend 1\n",
                                    "threshold 2\ngroup - 2\nend 1\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char all[400];
    int n = snprintf(all, sizeof all, "%s%s", head, bad[i]);
    assert_int_equal(nd_sample_plan_parse(&q, (nd_str){all, (size_t)n}, "a plan", &err),
                     ND_ERR_DATA);
  }
  /* Nine digits, with or without the zero in front: what is written can be read again. */
  static const char fine[] =
      "neardup-plan 1\nthreshold .999999995\nprecision 0000.999999999\n"
      "shingle words:5\ntokens words\ngroup - 2\nend 1\n";
  ok(nd_sample_plan_parse(&p, nd_str_of(fine), "a plan", &err));
  text.n = 0;
  ok(nd_sample_plan_append(&text, &p, &err));
  ok(nd_sample_plan_parse(&q, nd_buf_str(&text), "a plan", &err));
  assert_true(q.digest == p.digest && q.threshold.num == 999999995 && q.precision.num == 999999999);
  static const char *const not_shares[] = {"",     ".",   "0",   "0.0",         "1.1",
                                           "0..5", "-.5", ".5x", "0.1234567891"};
  for (size_t i = 0; i < sizeof not_shares / sizeof *not_shares; i++) {
    nd_decimal d;
    assert_false(nd_sample_share(&d, nd_str_of(not_shares[i])));
  }
  char many[2000];
  int n = snprintf(many, sizeof many, "%s", head);
  for (int i = 1; i <= 40; i++) n += snprintf(many + n, sizeof many - (size_t)n, "group %d 2\n", i);
  assert_int_equal(nd_sample_plan_parse(&q, (nd_str){many, (size_t)n}, "a plan", &err),
                   ND_ERR_DATA);
  nd_buf_clear(&text);
}

/* Keys that rise, in a file of their own; asked for in any order. */
static nd_status fill_and_ask(void *context) {
  const uint64_t n = *(const uint64_t *)context;
  nd_shingle_set *set = NULL;
  nd_shingle_probe probe = {0};
  bool has;
  nd_status status = nd_shingle_set_new(&set, 4096, "/tmp", &err);
  for (uint64_t i = 1; i <= n && status == ND_OK; i++)
    status = nd_shingle_set_add(set, i * 1000, &err);
  if (status == ND_OK) status = nd_shingle_set_finish(set, &err);
  for (uint64_t i = 0; i <= n && status == ND_OK; i += 37) {
    status = nd_shingle_set_has(&has, set, &probe, i * 1000, &err);
    if (status == ND_OK) assert_int_equal(has, i > 0);
    if (status == ND_OK) status = nd_shingle_set_has(&has, set, &probe, i * 1000 + 1, &err);
    if (status == ND_OK) assert_false(has);
  }
  nd_shingle_probe_clear(&probe);
  nd_shingle_set_free(set);
  return status;
}

static void sets_fail_cleanly(void **state) {
  (void)state;
  uint64_t few = 100, many = 20000, exact = 512 * 8;
  assert_true(every_place_fails(fill_and_ask, &few) >= 2);
  assert_true(every_place_fails(fill_and_ask, &many) >= 8);
  assert_true(every_place_fails(fill_and_ask, &exact) >= 8);
  uint64_t none = 0;
  ok(fill_and_ask(&none));
}

/* A plan is written and read, and its sample is taken of shingles some of which are common. */
static nd_status plan_and_sample(void *context) {
  (void)context;
  nd_sample_plan plan = {.n = 2,
                         .group = {{50, 2}, {UINT64_MAX, 4}},
                         .threshold = {4, 5},
                         .precision = {9, 10},
                         .shingle = "words:5",
                         .tokens = "words"};
  nd_sample o = {.on = true, .mod = 1, .sct = 1, .goal = {0, 1}};
  nd_sampler s = {.sample = &o};
  nd_shingles few = {0};
  nd_shingle_set *set = NULL;
  nd_buf text = {0};
  bool emptied;
  nd_status status;
  ND_TRY_GOTO(nd_sample_plan_append(&text, &plan, &err), done);
  ND_TRY_GOTO(nd_sample_plan_parse(&o.plan, nd_buf_str(&text), "a plan", &err), done);
  ND_TRY_GOTO(nd_shingle_set_new(&set, 0, "/tmp", &err), done);
  for (uint64_t i = 0; i < 2000; i++) ND_TRY_GOTO(nd_shingle_set_add(set, 2 * i, &err), done);
  ND_TRY_GOTO(nd_shingle_set_finish(set, &err), done);
  o.common = set;
  ND_TRY_GOTO(nd_array_grow(&few.fingerprint, &few.cap, 100, 8, &err), done);
  for (few.n = 0; few.n < 100; few.n++) few.fingerprint[few.n] = 30 * few.n + few.n % 2;
  ND_TRY_GOTO(nd_sampler_run(&s, &emptied, &few, 100, 7, &err), done);
  for (size_t i = 0; i < few.n; i++) assert_int_equal(few.fingerprint[i] % 2, 1);
  assert_true(!emptied && few.n > 0 && few.n < 50);
done:
  nd_sampler_clear(&s);
  nd_shingles_clear(&few);
  nd_shingle_set_free(set);
  nd_buf_clear(&text);
  return status;
}

static void samplers_fail_cleanly(void **state) {
  (void)state;
  assert_true(every_place_fails(plan_and_sample, NULL) >= 20);
}

/* At the ends of what is possible. */
static void formulas_at_their_ends(void **state) {
  (void)state;
  assert_true(nd_binomial_log(0, 5, 0) == 0 && nd_binomial_log(5, 5, 1) == 0);
  assert_true(isinf(nd_binomial_log(1, 5, 0)) && isinf(nd_binomial_log(4, 5, 1)));
  assert_true(isinf(nd_binomial_log(6, 5, 0.5)));
  const nd_decimal half = {1, 2}, none = {1, 0};
  assert_true(nd_sample_hit(6, 5, 0.5, half) == 0);
  assert_true(nd_sample_hit(0, 0, 0.5, half) == 0);
  assert_true(nd_sample_hit(3, 5, 0.5, none) == 0);
  assert_true(nd_sample_hit(3, 5, 1, half) == 1 && nd_sample_hit(2, 5, 1, half) == 0);
  for (int hits = 0; hits <= 10; hits++) {
    double low = nd_wilson_bound(hits, 10, 1.96, false),
           high = nd_wilson_bound(hits, 10, 1.96, true);
    assert_true(0 <= low && low <= hits / 10.0 && hits / 10.0 <= high && high <= 1);
  }
  assert_true(nd_wilson_bound(0, 0, 1.96, false) == 0 && nd_wilson_bound(0, 0, 1.96, true) == 1);
}

int main(void) {
  const char *given = getenv("NEARDUP_SEED");
  seed = given ? strtoull(given, NULL, 10) : 20;
  const struct CMUnitTest tests[] = {cmocka_unit_test(specifications_are_parsed_or_refused),
                                     cmocka_unit_test(samplers_agree_with_a_naive_version),
                                     cmocka_unit_test(residues_partition_the_shingles),
                                     cmocka_unit_test(predictions_agree_with_worked_examples),
                                     cmocka_unit_test(planted_pairs_hit_as_predicted),
                                     cmocka_unit_test(shingle_set),
                                     cmocka_unit_test(plans_are_written_read_and_checked),
                                     cmocka_unit_test(sets_fail_cleanly),
                                     cmocka_unit_test(samplers_fail_cleanly),
                                     cmocka_unit_test(formulas_at_their_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
