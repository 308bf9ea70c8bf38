/* Progress and rejected records of a run; see run_state.h. */
#include "result/run_state.h"

#include "base/clock.h"
#include "similarity/similarity.h"

uint64_t nd_run_step(const nd_settings *s) {
  const uint64_t threshold = s->threshold.num / s->threshold.den;
  if (nd_similarity_is_open(s->similarity)) return threshold / 10 + 1;
  return threshold / (ND_RUN_BINS - 1) + 1;
}

size_t nd_run_bin(const nd_settings *s, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value);
  uint64_t bin = s->similarity->counts ? f.num / nd_run_step(s)
                 : f.den               ? (uint64_t)f.num * 100 / f.den
                                       : 0;
  return bin < ND_RUN_BINS ? (size_t)bin : ND_RUN_BINS - 1;
}

void nd_run_elsewhere(nd_run *r, const nd_settings *settings, const nd_options *options,
                      nd_summary *summary, uint64_t documents) {
  *r = (nd_run){.options = options, .summary = summary, .settings = *settings};
  r->settings.options = options;
  r->store.documents = documents;
  r->source =
      (nd_text_source){.store = &r->store, .settings = &r->settings, .split = (uint32_t)documents};
}

void nd_run_clear(nd_run *r) {
  nd_ids_free(r->ids);
  nd_verified_clear(&r->verified);
  nd_found_clear(&r->found);
  if (r->store_open) nd_store_close(&r->store);
  nd_feed_free(r->feed);
  nd_walk_clear(&r->walk);
  nd_reading_clear(&r->reading);
}

nd_status nd_run_report(nd_run *r, const char *stage, uint64_t done, uint64_t total,
                        nd_error *err) {
  const nd_hooks *h = r->hooks;
  if (!h) return ND_OK;
  if (h->progress) {
    nd_progress p = {stage, done, total, r->summary->documents, nd_clock_now() - r->began};
    h->progress(h->context, &p);
  }
  return nd_hooks_check(h, err);
}

nd_status nd_run_block_rejects(const nd_run *r, size_t block, nd_buf *scratch, nd_reject_each each,
                               void *context, nd_error *err) {
  const nd_block_header *h = &r->store.blocks[block].head;
  if (!h->rejects) return ND_OK;
  scratch->n = 0;
  ND_TRY(nd_buf_reserve(scratch, h->reject_bytes, err));
  uint64_t at = nd_block_column(h, ND_COLUMNS) + h->id_bytes + h->text_bytes;
  ND_TRY(nd_store_read(&r->store, block, at, scratch->p, h->reject_bytes, err));
  const char *p = scratch->p;
  for (uint32_t i = 0; i < h->rejects; i++) {
    nd_reject reject = {.block = block};
    uint32_t small[3];
    memcpy(&reject.offset, p, 8);
    memcpy(&reject.length, p + 8, 8);
    memcpy(small, p + 16, sizeof small);
    reject.file = small[0];
    reject.line = small[1];
    reject.reason = (nd_str){p + 16 + sizeof small, small[2]};
    p += 16 + sizeof small + small[2];
    ND_TRY(each(context, &reject, err));
  }
  return ND_OK;
}

nd_status nd_run_rejects(nd_run *r, nd_reject_each each, void *context, nd_error *err) {
  nd_buf scratch = {0};
  nd_status status = ND_OK;
  for (size_t i = 0; i < r->store.block_n && status == ND_OK; i++)
    status = nd_run_block_rejects(r, i, &scratch, each, context, err);
  nd_buf_clear(&scratch);
  ND_TRY(status);
  for (size_t i = 0; i < r->walk.problem_n; i++) {
    nd_reject reject = {.block = SIZE_MAX,
                        .path = r->walk.problems[i].path,
                        .reason = nd_str_of(r->walk.problems[i].reason)};
    ND_TRY(each(context, &reject, err));
  }
  return ND_OK;
}
