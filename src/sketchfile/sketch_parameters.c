/* The parameters of a sketch file, lines "name value". */
#include <inttypes.h>

#include "settings/method.h"
#include "sketchfile/sketch_file.h"

static const char *const kinds[] = {"words", "chars", "aligned"};

static bool has_from(const nd_row *r, nd_sketch_from from) {
  for (unsigned i = 0; i < r->n; i++)
    if (r->part[i].sketch->from == from) return true;
  return false;
}

static nd_status put_sketch(nd_buf *out, const nd_settings *s, const nd_sketch *k, nd_error *err) {
  ND_TRY(nd_buf_printf(out, err, "%s ", k->name));
  ND_TRY(k->parameter(out, s, err));
  return nd_buf_append(out, "\n", 1, err);
}

nd_status nd_sketch_parameters(nd_buf *out, const nd_settings *s, uint64_t collection,
                               nd_error *err) {
  const nd_row *r = &s->row;
  const nd_options *o = s->options;
  const nd_row_part *deferred = nd_row_deferred(s);
  const bool min_values = has_from(r, ND_FROM_MIN_VALUES);
  bool features = false;
  ND_TRY(nd_buf_printf(out, err, "tokens %s\n", o->tokens));
  ND_TRY(nd_buf_printf(out, err, "seed %" PRIu64 "\n", o->seed));
  if (min_values || has_from(r, ND_FROM_SHINGLES) || s->feature_shingles)
    ND_TRY(nd_buf_printf(out, err, "shingle %s:%" PRIu32 "\n", kinds[s->shingle.kind],
                         s->shingle.size));
  if (min_values) ND_TRY(nd_buf_printf(out, err, "family %s\n", o->family));
  for (unsigned i = 0; i < r->n; i++) {
    const nd_sketch *k = r->part[i].sketch;
    if (k->from == ND_FROM_FEATURES && !features) {
      ND_TRY(nd_buf_printf(out, err, "features %s\n", o->features));
      features = true;
    }
    ND_TRY(put_sketch(out, s, k, err));
    if (&r->part[i] == deferred)
      ND_TRY(nd_buf_printf(out, err, "collection %016" PRIx64 "\n", collection));
  }
  return ND_OK;
}

/* Splits off the next line: its name and value; returns false at the end. */
static bool next_line(nd_str *name, nd_str *value, nd_str *rest) {
  if (rest->n == 0) return false;
  const char *end = memchr(rest->p, '\n', rest->n);
  size_t n = end ? (size_t)(end - rest->p) : rest->n;
  const char *space = memchr(rest->p, ' ', n);
  size_t m = space ? (size_t)(space - rest->p) : n;
  *name = (nd_str){rest->p, m};
  *value = (nd_str){rest->p + (space ? m + 1 : n), n - (space ? m + 1 : n)};
  size_t used = n + (end != NULL);
  *rest = (nd_str){rest->p + used, rest->n - used};
  return true;
}

nd_str nd_sketch_parameter(nd_str parameters, const char *name) {
  nd_str key, value;
  while (next_line(&key, &value, &parameters))
    if (nd_str_eq(key, nd_str_of(name))) return value;
  return (nd_str){NULL, 0};
}

nd_status nd_sketch_same(const nd_sketch_reader *a, const nd_sketch_reader *b, nd_error *err) {
  nd_str x = nd_buf_str(&a->parameters), y = nd_buf_str(&b->parameters);
  if (nd_str_eq(x, y)) return ND_OK;
  nd_str rest[2] = {x, y}, key, value;
  for (int i = 0; i < 2; i++) {
    while (next_line(&key, &value, &rest[i])) {
      char name[64];
      size_t n = key.n < sizeof name ? key.n : sizeof name - 1;
      memcpy(name, key.p, n);
      name[n] = '\0';
      nd_str u = nd_sketch_parameter(x, name), v = nd_sketch_parameter(y, name);
      if (u.p && v.p && nd_str_eq(u, v)) continue;
      if (!u.p) u = nd_str_of("none");
      if (!v.p) v = nd_str_of("none");
      return nd_fail(err, ND_ERR_DATA,
                     "cannot combine %s with %s: %s is %.*s in the first and %.*s in the second",
                     a->name, b->name, name, (int)(u.n < 100 ? u.n : 100), u.p,
                     (int)(v.n < 100 ? v.n : 100), v.p);
    }
  }
  return nd_fail(err, ND_ERR_DATA,
                 "cannot combine %s with %s: their parameters are in different order", a->name,
                 b->name);
}
