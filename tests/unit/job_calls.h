/* Jobs whose request or result holds the sink or the summary, called with these beside it. */
#ifndef JOB_CALLS_H
#define JOB_CALLS_H

#include "neardup.h"

#define JOB_WITH_SINK(name, summary, request)                                             \
  static inline nd_status job_##name(summary *out, const request *q, const nd_sink *sink, \
                                     const nd_options *options, const nd_hooks *hooks,    \
                                     nd_error *e) {                                       \
    request with_sink = *q;                                                               \
    with_sink.sink = sink;                                                                \
    return nd_##name(out, &with_sink, options, hooks, e);                                 \
  }
JOB_WITH_SINK(study, nd_summary, nd_study_request)
JOB_WITH_SINK(explain, nd_summary, nd_explain_request)
JOB_WITH_SINK(prevalence, nd_prevalence_summary, nd_prevalence_request)

static inline nd_status job_plan(nd_plan_result *out, nd_summary *did, const nd_plan_request *q,
                                 const nd_sink *sink, const nd_options *options,
                                 const nd_hooks *hooks, nd_error *e) {
  nd_plan_request with_sink = *q;
  with_sink.sink = sink;
  nd_status status = nd_plan(out, &with_sink, options, hooks, e);
  *did = out->summary;
  return status;
}

#define JOB_IN_MEMORY(name)                                                                   \
  static inline nd_status job_##name(nd_result *out, nd_summary *did, const nd_corpus *texts, \
                                     const nd_options *options, const nd_hooks *hooks,        \
                                     nd_error *e) {                                           \
    nd_status status = nd_##name(out, texts, options, hooks, e);                              \
    *did = out->summary;                                                                      \
    return status;                                                                            \
  }
JOB_IN_MEMORY(dedup_memory)
JOB_IN_MEMORY(pairs_memory)

#endif
