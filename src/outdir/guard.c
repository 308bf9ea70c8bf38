/* Collects the inputs of a job by role; see guard.h. */
#include "outdir/guard.h"

#include "base/mem.h"

/* Returns the plan file of --sample adaptive:FILE, owned; NULL if there is none. */
static nd_status plan_of(char **out, const nd_options *options, nd_error *err) {
  static const char name[] = "adaptive:";
  *out = NULL;
  for (const char *p = options->sample; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
    const size_t n = strcspn(p, ",");
    if (n < sizeof name || strncmp(p, name, sizeof name - 1) != 0) continue;
    const size_t length = n - (sizeof name - 1);
    *out = nd_malloc(length + 1);
    if (!*out) return nd_fail_memory(err, length + 1);
    memcpy(*out, p + sizeof name - 1, length);
    (*out)[length] = '\0';
    break; /* a second one is rejected elsewhere */
  }
  return ND_OK;
}

static size_t take(nd_output_path *to, size_t at, const nd_output_path *from, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (from[i].path) to[at++] = from[i];
  return at;
}

nd_status nd_guard_check(const nd_guard *g, nd_error *err) {
  const size_t room = g->output_n + g->input_n + g->more_n + 2;
  char *plan = NULL;
  nd_output_path *list = nd_calloc(room, sizeof *list);
  if (!list) return nd_fail_memory(err, room * sizeof *list);
  nd_status status = g->options ? plan_of(&plan, g->options, err) : ND_OK;
  const size_t outputs = take(list, 0, g->outputs, g->output_n);
  size_t n = outputs;
  for (size_t i = 0; i < g->input_n; i++)
    list[n++] = (nd_output_path){g->role ? g->role : "the input", g->inputs[i], 0};
  n = take(list, n, g->more, g->more_n);
  if (g->options && g->options->against[0])
    list[n++] = (nd_output_path){"--against", g->options->against, 0};
  if (plan) list[n++] = (nd_output_path){"the plan", plan, 0};
  if (status == ND_OK) status = nd_output_check(list, outputs, list + outputs, n - outputs, err);
  nd_free(plan);
  nd_free(list);
  return status;
}
