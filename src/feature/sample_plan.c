/* Plans of adaptive sampling: reading, checking, writing; see sample_plan.h. */
#include "feature/sample_plan.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/decimal.h"
#include "base/io.h"

enum { MOST_BYTES = 1 << 16 };

static nd_str next_word(nd_str *line) {
  while (line->n && (*line->p == ' ' || *line->p == '\t' || *line->p == '\r')) {
    line->p++;
    line->n--;
  }
  nd_str word = {line->p, 0};
  while (line->n && *line->p != ' ' && *line->p != '\t' && *line->p != '\r') {
    line->p++;
    line->n--;
    word.n++;
  }
  return word;
}

static bool is_word(nd_str w, const char *text) {
  return nd_str_eq(w, nd_str_of(text));
}

static bool parse_number(uint64_t *out, nd_str w) {
  *out = 0;
  for (size_t i = 0; i < w.n; i++) {
    if (w.p[i] < '0' || w.p[i] > '9' || *out > UINT64_MAX / 10 - 1) return false;
    *out = *out * 10 + (uint64_t)(w.p[i] - '0');
  }
  return w.n > 0;
}

bool nd_sample_share(nd_decimal *out, nd_str w) {
  return nd_decimal_parse(out, w) && out->num > 0 && out->num <= out->den;
}

static bool take_text(char *out, size_t room, nd_str w) {
  if (w.n == 0 || w.n >= room) return false;
  memcpy(out, w.p, w.n);
  out[w.n] = '\0';
  return true;
}

static bool take_group(nd_sample_plan *plan, nd_str size, nd_str modulus) {
  uint64_t below = UINT64_MAX, n;
  if (plan->n == ND_PLAN_GROUPS || !parse_number(&n, modulus)) return false;
  if (!is_word(size, "-") && (!parse_number(&below, size) || below == 0)) return false;
  if (n == 0 || n > ND_PLAN_MOST_MODULUS || (n & (n - 1))) return false;
  if (plan->n && below <= plan->group[plan->n - 1].below) return false;
  plan->group[plan->n].below = below;
  plan->group[plan->n++].modulus = n;
  return true;
}

/* Parses a line; returns false if it is invalid. */
static bool take_line(nd_sample_plan *plan, bool *ended, nd_str line) {
  nd_str name = next_word(&line), a = next_word(&line), b = next_word(&line);
  uint64_t n;
  if (next_word(&line).n) return false;
  if (is_word(name, "group")) return take_group(plan, a, b);
  if (b.n) return false;
  if (is_word(name, "threshold")) return nd_sample_share(&plan->threshold, a);
  if (is_word(name, "precision")) return nd_sample_share(&plan->precision, a);
  if (is_word(name, "shingle")) return take_text(plan->shingle, sizeof plan->shingle, a);
  if (is_word(name, "tokens")) return take_text(plan->tokens, sizeof plan->tokens, a);
  if (!is_word(name, "end") || !parse_number(&n, a)) return false;
  *ended = true;
  return n == plan->n && n > 0 && plan->group[n - 1].below == UINT64_MAX;
}

nd_status nd_sample_plan_parse(nd_sample_plan *out, nd_str text, const char *name, nd_error *err) {
  *out = (nd_sample_plan){0};
  unsigned number = 0;
  bool begun = false, ended = false;
  while (text.n) {
    const char *end = memchr(text.p, '\n', text.n);
    nd_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
    text.p += line.n + (end != NULL);
    text.n -= line.n + (end != NULL);
    number++;
    nd_str rest = line, first = next_word(&rest);
    if (!begun) {
      nd_str version = next_word(&rest);
      if (!is_word(first, "neardup-plan"))
        return nd_fail(err, ND_ERR_DATA, "%s is not a plan; create one with `neardup plan`", name);
      if (!is_word(version, "1"))
        return nd_fail(
            err, ND_ERR_DATA,
            "%s is a plan of version %.*s, this program reads version %d; create it again", name,
            (int)(version.n < 20 ? version.n : 20), version.p, ND_PLAN_VERSION);
      begun = true;
      continue;
    }
    if (first.n == 0 || first.p[0] == '#') continue;
    if (ended || !take_line(out, &ended, line))
      return nd_fail(err, ND_ERR_DATA,
                     "%s: line %u is invalid [%.*s]; create the plan again with `neardup plan`",
                     name, number, (int)(line.n < 80 ? line.n : 80), line.p);
  }
  if (!begun) return nd_fail(err, ND_ERR_DATA, "%s is empty; create it with `neardup plan`", name);
  if (!ended || !out->threshold.den || !out->precision.den || !out->shingle[0] || !out->tokens[0])
    return nd_fail(err, ND_ERR_DATA, "%s is truncated; create the plan again with `neardup plan`",
                   name);
  nd_sample_plan_seal(out);
  return ND_OK;
}

nd_status nd_sample_plan_read(nd_sample_plan *out, const char *path, nd_error *err) {
  int fd;
  nd_file_info info;
  nd_buf text = {0};
  *out = (nd_sample_plan){0};
  ND_TRY(nd_io_open(&fd, path, O_RDONLY, 0, err));
  nd_status status = nd_io_fstat(&info, fd, path, err);
  if (status == ND_OK && (!info.regular || info.size > MOST_BYTES))
    status = nd_fail(err, ND_ERR_DATA, "%s is not a plan; create one with `neardup plan`", path);
  if (status == ND_OK) status = nd_buf_reserve(&text, (size_t)info.size, err);
  if (status == ND_OK) status = nd_io_read_full(fd, text.p, (size_t)info.size, path, err);
  close(fd);
  if (status == ND_OK)
    status = nd_sample_plan_parse(out, (nd_str){text.p, (size_t)info.size}, path, err);
  nd_buf_clear(&text);
  return status;
}

static nd_status append_share(nd_buf *out, const char *name, nd_decimal d, nd_error *err) {
  int digits = 0;
  for (uint64_t x = d.den; x > 1; x /= 10) digits++;
  return nd_buf_printf(out, err, "%s %.*f\n", name, digits, (double)d.num / (double)d.den);
}

nd_status nd_sample_plan_append(nd_buf *out, const nd_sample_plan *plan, nd_error *err) {
  ND_TRY(nd_buf_printf(out, err, "neardup-plan %d\n", ND_PLAN_VERSION));
  ND_TRY(append_share(out, "threshold", plan->threshold, err));
  ND_TRY(append_share(out, "precision", plan->precision, err));
  ND_TRY(nd_buf_printf(out, err, "shingle %s\ntokens %s\n", plan->shingle, plan->tokens));
  for (unsigned i = 0; i < plan->n; i++) {
    if (plan->group[i].below == UINT64_MAX)
      ND_TRY(nd_buf_printf(out, err, "group - %" PRIu64 "\n", plan->group[i].modulus));
    else
      ND_TRY(nd_buf_printf(out, err, "group %" PRIu64 " %" PRIu64 "\n", plan->group[i].below,
                           plan->group[i].modulus));
  }
  return nd_buf_printf(out, err, "end %u\n", plan->n);
}

unsigned nd_sample_plan_group(const nd_sample_plan *plan, uint64_t tokens) {
  unsigned g = 0;
  while (g + 1 < plan->n && tokens >= plan->group[g].below) g++;
  return g;
}

void nd_sample_plan_seal(nd_sample_plan *plan) {
  plan->digest = 0;
  uint64_t h = 0;
  for (unsigned i = 0; i < plan->n; i++) {
    uint64_t pair[3] = {plan->group[i].below, plan->group[i].modulus, h};
    h = XXH3_64bits(pair, sizeof pair);
  }
  plan->digest = h;
}
