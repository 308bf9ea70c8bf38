/* Samplers; see sample.h. */
#include "feature/sample.h"

#include <stdlib.h>

static const uint64_t most_number = UINT64_C(1) << 32;

/* Parses "N" or "N:R" after the name; returns false for anything else. */
static bool take_numbers(uint64_t *n, uint64_t *r, nd_str text) {
  uint64_t *to = n;
  bool digits = false;
  *n = 0;
  if (r) *r = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] == ':' && to == n && r && digits) {
      to = r;
      digits = false;
      continue;
    }
    if (text.p[i] < '0' || text.p[i] > '9' || *to > most_number) return false;
    *to = *to * 10 + (uint64_t)(text.p[i] - '0');
    digits = true;
  }
  return digits && *n >= 1 && *n <= most_number;
}

static nd_status wrong(nd_str word, nd_error *err) {
  return nd_fail(err, ND_ERR_USAGE,
                 "--sample %.*s is not known; use mod:N, mod:N:R, min:N, sct:N, cap:N, adaptive:P "
                 "(a precision) or adaptive:FILE (a plan)",
                 (int)(word.n < 100 ? word.n : 100), word.p);
}

static nd_status take_adaptive(nd_sample *out, nd_str word, nd_str value, nd_error *err) {
  char path[1024];
  if (out->goal.num || out->plan.n)
    return nd_fail(err, ND_ERR_USAGE, "--sample adaptive is given twice");
  if (nd_sample_share(&out->goal, value)) return ND_OK;
  out->goal = (nd_decimal){0, 1};
  if (value.n == 0 || value.n >= sizeof path) return wrong(word, err);
  memcpy(path, value.p, value.n);
  path[value.n] = '\0';
  return nd_sample_plan_read(&out->plan, path, err);
}

static nd_status take_sampler(nd_sample *out, nd_str word, nd_error *err) {
  const char *colon = memchr(word.p, ':', word.n);
  if (!colon) return wrong(word, err);
  nd_str name = {word.p, (size_t)(colon - word.p)};
  nd_str value = {colon + 1, word.n - name.n - 1};
  if (nd_str_eq(name, nd_str_of("adaptive"))) return take_adaptive(out, word, value, err);
  bool mod = nd_str_eq(name, nd_str_of("mod"));
  uint64_t *field = mod                                 ? &out->mod
                    : nd_str_eq(name, nd_str_of("min")) ? &out->min
                    : nd_str_eq(name, nd_str_of("sct")) ? &out->sct
                    : nd_str_eq(name, nd_str_of("cap")) ? &out->cap
                                                        : NULL;
  uint64_t n, residue = 0;
  if (!field || !take_numbers(&n, mod ? &residue : NULL, value)) return wrong(word, err);
  if (*field != (mod ? 1 : 0))
    return nd_fail(err, ND_ERR_USAGE, "--sample %.*s is given twice", (int)name.n, name.p);
  if (mod && residue >= n)
    return nd_fail(err, ND_ERR_USAGE, "--sample %.*s: the remainder must be below %llu",
                   (int)word.n, word.p, (unsigned long long)n);
  *field = n;
  if (mod) out->residue = residue;
  return ND_OK;
}

nd_status nd_sample_parse(nd_sample *out, const char *text, nd_error *err) {
  *out = (nd_sample){.mod = 1, .goal = {0, 1}};
  while (*text) {
    nd_str word = {text, strcspn(text, ",")};
    text += word.n + (text[word.n] == ',');
    if (nd_str_eq(word, nd_str_of("none"))) continue;
    ND_TRY(take_sampler(out, word, err));
    out->on = true;
  }
  if (out->mod > 1 && (out->goal.num || out->plan.n))
    return nd_fail(err, ND_ERR_USAGE, "--sample mod and adaptive both choose a ratio: give one");
  return ND_OK;
}

uint64_t nd_sample_modulus(const nd_sample *s, uint64_t tokens) {
  return s->plan.n ? s->plan.group[nd_sample_plan_group(&s->plan, tokens)].modulus : s->mod;
}

/* Keeps the positions of shingles that are not too common and have the remainder. */
static nd_status choose(nd_sampler *s, size_t *n, const nd_shingles *shingles, uint64_t tokens,
                        nd_error *err) {
  const nd_sample *o = s->sample;
  uint64_t modulus = nd_sample_modulus(o, tokens), residue = o->plan.n ? 0 : o->residue;
  bool power = (modulus & (modulus - 1)) == 0;
  size_t kept = 0;
  for (size_t i = 0; i < shingles->n; i++) {
    uint64_t key = nd_sample_key(shingles->fingerprint[i]);
    bool take = (power ? key & (modulus - 1) : key % modulus) == residue;
    s->kept[kept] = (uint32_t)i;
    kept += take;
  }
  *n = kept;
  if (!o->common) return ND_OK;
  kept = 0;
  for (size_t i = 0; i < *n; i++) {
    bool common;
    uint32_t at = s->kept[i];
    ND_TRY(nd_shingle_set_has(&common, o->common, &s->probe, shingles->fingerprint[at], err));
    s->kept[kept] = at;
    kept += !common;
  }
  *n = kept;
  return ND_OK;
}

/* Sorts by key; radix sort is faster for long lists only. */
static void sort_items(nd_item *items, nd_item *spare, size_t n) {
  if (n > 96) {
    nd_radix_items(items, spare, n);
    return;
  }
  for (size_t i = 1; i < n; i++) {
    nd_item x = items[i];
    size_t j = i;
    for (; j && items[j - 1].key > x.key; j--) items[j] = items[j - 1];
    items[j] = x;
  }
}

/* Selects each shingle once, at its first position; of these the smallest, then the first. */
static nd_status limit(nd_sampler *s, size_t *n, const nd_shingles *shingles, nd_error *err) {
  const nd_sample *o = s->sample;
  ND_TRY(nd_array_grow(&s->items, &s->items_cap, *n, sizeof *s->items, err));
  ND_TRY(nd_array_grow(&s->spare, &s->spare_cap, *n, sizeof *s->spare, err));
  for (size_t i = 0; i < *n; i++)
    s->items[i] = (nd_item){nd_sample_key(shingles->fingerprint[s->kept[i]]), s->kept[i]};
  sort_items(s->items, s->spare, *n);
  size_t kept = 0;
  for (size_t i = 0; i < *n; i++) {
    if (i && s->items[i].key == s->items[i - 1].key) continue;
    if (o->min && kept == o->min) break;
    s->spare[kept++] = (nd_item){s->items[i].value, 0};
  }
  sort_items(s->spare, s->items, kept); /* back to text order */
  if (o->cap && kept > o->cap) kept = (size_t)o->cap;
  for (size_t i = 0; i < kept; i++) s->kept[i] = (uint32_t)s->spare[i].key;
  *n = kept;
  return ND_OK;
}

nd_status nd_sampler_run(nd_sampler *s, bool *emptied, nd_shingles *shingles, uint64_t tokens,
                         uint64_t digest, nd_error *err) {
  *emptied = false;
  size_t n = shingles->n;
  if (n == 0) return ND_OK;
  if ((s->sample->sct && !s->sample->common) || (s->sample->goal.num && !s->sample->plan.n))
    return nd_fail(err, ND_ERR_USAGE, "--sample sct and adaptive:P need the whole corpus at once");
  ND_TRY(nd_array_grow(&s->kept, &s->kept_cap, n, sizeof *s->kept, err));
  s->seen += n;
  ND_TRY(choose(s, &n, shingles, tokens, err));
  const nd_sample *o = s->sample;
  if (o->min || o->cap || o->plan.n) ND_TRY(limit(s, &n, shingles, err));
  for (size_t i = 0; i < n; i++) shingles->fingerprint[i] = shingles->fingerprint[s->kept[i]];
  s->taken += n;
  *emptied = n == 0;
  s->emptied += n == 0;
  if (n == 0) { /* a private shingle */
    shingles->fingerprint[0] = nd_mix(digest ^ 0x5bd1e9955bd1e995u);
    s->kept[0] = 0;
    n = 1;
  }
  shingles->n = n;
  return ND_OK;
}

void nd_sampler_clear(nd_sampler *s) {
  nd_free(s->kept);
  nd_free(s->items);
  nd_free(s->spare);
  nd_shingle_probe_clear(&s->probe);
  *s = (nd_sampler){.sample = s->sample};
}
