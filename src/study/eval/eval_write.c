/* The measures of nd_eval as lines or JSON. */
#include <math.h>

#include "neardup/eval.h"
#include "output/json_out.h"

/* One row per measure: its offset in a group, and the kind of list it applies to. */
enum { FOR_PAIRS = 1, FOR_CLUSTERS = 2, FOR_BOTH = 3 };
typedef struct measure {
  const char *name;
  size_t offset;
  bool real;
  int kind;
} measure;
#define COUNT(f, kind) \
  { #f, offsetof(nd_eval_group, f), false, kind }
#define REAL(f, kind) \
  { #f, offsetof(nd_eval_group, f), true, kind }
static const measure measures[] = {
    COUNT(documents, FOR_BOTH),
    {"truth_pairs", offsetof(nd_eval_group, truth), false, FOR_BOTH},
    {"result_pairs", offsetof(nd_eval_group, result), false, FOR_BOTH},
    {"common_pairs", offsetof(nd_eval_group, common), false, FOR_BOTH},
    COUNT(unjudged, FOR_PAIRS),
    REAL(precision, FOR_BOTH),
    REAL(recall, FOR_BOTH),
    REAL(f1, FOR_BOTH),
    COUNT(compared, FOR_PAIRS),
    REAL(average_error, FOR_PAIRS),
    REAL(correlation, FOR_PAIRS),
    REAL(common_error, FOR_PAIRS),
    REAL(common_correlation, FOR_PAIRS),
    REAL(bcubed_precision, FOR_CLUSTERS),
    REAL(bcubed_recall, FOR_CLUSTERS),
    REAL(bcubed_f1, FOR_CLUSTERS),
    REAL(accuracy, FOR_BOTH),
    REAL(duplicates_accuracy, FOR_BOTH),
    {NULL, 0, false, 0}};

static double real_at(const nd_eval_group *g, size_t offset) {
  double x;
  memcpy(&x, (const char *)g + offset, sizeof x);
  return x;
}

static uint64_t count_at(const nd_eval_group *g, size_t offset) {
  uint64_t n;
  memcpy(&n, (const char *)g + offset, sizeof n);
  return n;
}

static nd_status put_real(nd_buf *out, double x, nd_error *err) {
  return isnan(x) ? nd_buf_append(out, "-", 1, err) : nd_buf_printf(out, err, "%.6f", x);
}

static nd_status put_lines(nd_buf *out, const nd_eval_result *r, nd_error *err) {
  ND_TRY(nd_buf_append(out, "measure", strlen("measure"), err));
  for (size_t g = 0; g < r->group_n; g++) ND_TRY(nd_buf_printf(out, err, "\t%s", r->group[g].name));
  ND_TRY(nd_buf_append(out, "\n", 1, err));
  for (const measure *m = measures; m->name; m++) {
    if (!(m->kind & (r->clusters ? FOR_CLUSTERS : FOR_PAIRS))) continue;
    ND_TRY(nd_buf_append(out, m->name, strlen(m->name), err));
    for (size_t g = 0; g < r->group_n; g++) {
      ND_TRY(nd_buf_append(out, "\t", 1, err));
      if (m->real)
        ND_TRY(put_real(out, real_at(&r->group[g], m->offset), err));
      else
        ND_TRY(
            nd_buf_printf(out, err, "%llu", (unsigned long long)count_at(&r->group[g], m->offset)));
    }
    ND_TRY(nd_buf_append(out, "\n", 1, err));
  }
  if (!r->clusters) return ND_OK;
  ND_TRY(nd_buf_printf(out, err, "truth_clusters\t%llu\nresult_clusters\t%llu\n",
                       (unsigned long long)r->truth_clusters,
                       (unsigned long long)r->result_clusters));
  const char *names[] = {"adjusted_rand", "homogeneity", "completeness", "v_measure"};
  double values[] = {r->ari, r->homogeneity, r->completeness, r->v_measure};
  for (int i = 0; i < 4; i++) {
    ND_TRY(nd_buf_printf(out, err, "%s\t", names[i]));
    ND_TRY(put_real(out, values[i], err));
    ND_TRY(nd_buf_append(out, "\n", 1, err));
  }
  return ND_OK;
}

static void json_list(nd_json_out *j, const char *name, const nd_eval_list *l) {
  nd_json_put_begin(j, name, '{');
  nd_json_put_string(j, "kind", nd_str_of(l->kind));
  nd_json_put_count(j, "lines", l->lines);
  nd_json_put_count(j, "selves", l->selves);
  nd_json_put_count(j, "repeated", l->repeated);
  nd_json_put_count(j, "unknown", l->unknown);
  nd_json_put_count(j, "contradicting", l->contradicting);
  nd_json_put_end(j, '}');
}

static void json_group(nd_json_out *j, const nd_eval_result *r, const nd_eval_group *g) {
  nd_json_put_begin(j, NULL, '{');
  nd_json_put_string(j, "group", nd_str_of(g->name));
  for (const measure *m = measures; m->name; m++) {
    if (!(m->kind & (r->clusters ? FOR_CLUSTERS : FOR_PAIRS))) continue;
    if (!m->real)
      nd_json_put_count(j, m->name, count_at(g, m->offset));
    else if (!isnan(real_at(g, m->offset)))
      nd_json_put_number(j, m->name, real_at(g, m->offset), 6);
  }
  nd_json_put_end(j, '}');
}

static nd_status put_json(nd_buf *out, const nd_eval_result *r, nd_error *err) {
  nd_json_out j = {.err = err};
  nd_json_put_begin(&j, NULL, '{');
  nd_json_put_string(&j, "measured", nd_str_of(r->clusters ? "clusters" : "pairs"));
  json_list(&j, "truth", &r->truth);
  json_list(&j, "result", &r->result);
  nd_json_put_count(&j, "documents", r->documents);
  if (r->clusters) {
    nd_json_put_count(&j, "truth_clusters", r->truth_clusters);
    nd_json_put_count(&j, "result_clusters", r->result_clusters);
    if (!isnan(r->ari)) {
      nd_json_put_number(&j, "adjusted_rand", r->ari, 6);
      nd_json_put_number(&j, "homogeneity", r->homogeneity, 6);
      nd_json_put_number(&j, "completeness", r->completeness, 6);
      nd_json_put_number(&j, "v_measure", r->v_measure, 6);
    }
  }
  nd_json_put_begin(&j, "groups", '[');
  for (size_t g = 0; g < r->group_n; g++) json_group(&j, r, &r->group[g]);
  nd_json_put_end(&j, ']');
  nd_json_put_end(&j, '}');
  *out = j.text;
  return j.status;
}

nd_status nd_eval_write(const nd_eval_result *r, int json, const nd_sink *sink, nd_error *err) {
  nd_buf text = {0};
  nd_status status = json ? put_json(&text, r, err) : put_lines(&text, r, err);
  if (status == ND_OK) status = sink->write(sink->context, text.p, text.n, err);
  nd_buf_clear(&text);
  return status;
}
