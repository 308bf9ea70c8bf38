/* Documents → sets (or strings) in memory → join → candidates; see setjoin.h.
 *
 * The join works on 64-bit fingerprints of shingles and misses nothing; the
 * verifier, which compares bytes, follows as for every method. */
#include "pipeline/setjoin.h"

#include <time.h>
#include <xxhash.h>

#include "base/threads.h"
#include "join/edit_join.h"
#include "join/join.h"
#include "text/words.h"

enum { JOB_DOCUMENTS = 1 << 10 };

/* What a share of the documents gives: features or texts, end to end. */
typedef struct part {
  nd_buf bytes;
  uint64_t *end; /* per document, in bytes */
  size_t n, cap;
} part;

typedef struct joiner {
  nd_found *found;
  const nd_text_source *source;
  uint32_t *document; /* record → document (a first) */
  uint32_t n, split;
  part *parts;
  uint64_t parts_n;
  bool texts; /* edit distance: the texts themselves */
  double began;
  nd_item out[1024];
  size_t out_n;
} joiner;

/* Scratch of one thread. */
typedef struct reader {
  nd_texts *texts;
  nd_buf text;
  uint32_t *end;
  size_t count, cap;
  nd_shingles shingles;
  nd_sampler sampler;
} reader;

static nd_status add_document(part *p, reader *r, const joiner *j, uint32_t document,
                              nd_error *err) {
  const nd_settings *s = j->source->settings;
  ND_TRY(nd_texts_get(&r->text, r->texts, document, err));
  nd_str text = nd_buf_str(&r->text);
  if (j->texts) {
    ND_TRY(nd_buf_append(&p->bytes, text.p, text.n, err));
  } else {
    ND_TRY(nd_token_ends(&r->end, &r->count, &r->cap, text, err));
    ND_TRY(nd_shingle_make(&r->shingles, text, r->end, r->count, s->shingle, s->options->seed,
                           false, err));
    bool emptied;
    if (s->sample.on)
      ND_TRY(nd_sampler_run(&r->sampler, &emptied, &r->shingles, r->count,
                            XXH3_64bits(text.p, text.n), err));
    ND_TRY(nd_buf_append(&p->bytes, r->shingles.fingerprint, r->shingles.n * 8, err));
  }
  ND_TRY(nd_array_grow(&p->end, &p->cap, p->n + 1, sizeof *p->end, err));
  p->end[p->n++] = p->bytes.n;
  return ND_OK;
}

static nd_status read_part(void *context, unsigned member, uint64_t job, nd_error *err) {
  joiner *j = context;
  (void)member;
  ND_TRY(nd_hooks_check(j->source->hooks, err));
  uint64_t end = (job + 1) * JOB_DOCUMENTS;
  if (end > j->n) end = j->n;
  reader r = {.sampler = {.sample = &j->source->settings->sample}};
  nd_status status = nd_texts_new(&r.texts, j->source, err);
  for (uint64_t i = job * JOB_DOCUMENTS; i < end && status == ND_OK; i++)
    status = add_document(&j->parts[job], &r, j, j->document[i], err);
  nd_texts_free(r.texts);
  nd_buf_clear(&r.text);
  nd_free(r.end);
  nd_shingles_clear(&r.shingles);
  nd_sampler_clear(&r.sampler);
  return status;
}

/* The parts as one run of bytes, with where each record begins (n + 1, in units
 * of `unit` bytes). */
static nd_status gather(nd_buf *bytes, uint64_t **begin, joiner *j, size_t unit, nd_error *err) {
  size_t total = 0;
  for (uint64_t i = 0; i < j->parts_n; i++) total += j->parts[i].bytes.n;
  *begin = nd_malloc(((size_t)j->n + 1) * sizeof **begin);
  if (!*begin) return nd_fail_memory(err, ((size_t)j->n + 1) * sizeof **begin);
  ND_TRY(nd_buf_reserve(bytes, total, err));
  size_t at = 0;
  (*begin)[0] = 0;
  for (uint64_t i = 0; i < j->parts_n; i++) {
    part *p = &j->parts[i];
    for (size_t k = 0; k < p->n; k++) (*begin)[++at] = (bytes->n + p->end[k]) / unit;
    ND_TRY(nd_buf_append(bytes, p->bytes.p, p->bytes.n, err));
    nd_buf_clear(&p->bytes);
  }
  return ND_OK;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One pair of records on its way to the candidates; `last` empties the batch. */
static nd_status give(joiner *j, uint32_t x, uint32_t y, bool last, nd_error *err) {
  const nd_order *order = &j->found->order;
  uint64_t p = nd_order_position(order, j->document[x]);
  uint64_t q = nd_order_position(order, j->document[y]);
  j->out[j->out_n++] = (nd_item){p < q ? p << 32 | q : q << 32 | p, ND_PAIR_FULL};
  if (!last && j->out_n < sizeof j->out / sizeof *j->out) return ND_OK;
  size_t n = j->out_n;
  j->out_n = 0;
  return nd_sorter_add(j->found->pairs, j->out, n, err);
}

static nd_status take_sets(void *context, const nd_join_pair *pair, size_t n, nd_error *err) {
  for (size_t i = 0; i < n; i++) ND_TRY(give(context, pair[i].a, pair[i].b, i + 1 == n, err));
  return ND_OK;
}

static nd_status take_edits(void *context, const nd_edit_pair *pair, size_t n, nd_error *err) {
  for (size_t i = 0; i < n; i++) ND_TRY(give(context, pair[i].a, pair[i].b, i + 1 == n, err));
  return ND_OK;
}

static nd_status join_sets(joiner *j, nd_error *err) {
  static const nd_join_similarity kinds[] = {
      [ND_SIMILARITY_JACCARD] = ND_JOIN_JACCARD,
      [ND_SIMILARITY_COSINE] = ND_JOIN_COSINE,
      [ND_SIMILARITY_OVERLAP] = ND_JOIN_OVERLAP,
      [ND_SIMILARITY_CONTAINMENT] = ND_JOIN_CONTAINMENT,
  };
  const nd_settings *s = j->source->settings;
  nd_join_options o = {.method = (nd_join_method)(s->candidates - ND_METHOD_JOIN),
                       .similarity = kinds[s->similarity],
                       .num = s->threshold.num,
                       .den = s->threshold.den,
                       .threads = s->threads,
                       .memory = s->memory / 4,
                       .split = j->split};
  nd_buf bytes = {0};
  uint64_t *begin = NULL;
  nd_sets sets = {0};
  nd_status status = gather(&bytes, &begin, j, 8, err);
  if (status == ND_OK)
    status =
        nd_sets_build(&sets, (const uint64_t *)(const void *)bytes.p, begin, j->n, s->threads, err);
  nd_buf_clear(&bytes);
  nd_free(begin);
  nd_join_stats stats = {0};
  double prepared = seconds();
  if (status == ND_OK) status = nd_join_run(&sets, &o, take_sets, j, &stats, err);
  j->found->join = (nd_join_counts){.given = 1,
                                    .records = stats.records,
                                    .tokens = stats.tokens,
                                    .index_entries = stats.index_entries,
                                    .average = stats.average,
                                    .after_size = stats.after_size,
                                    .after_positional = stats.after_positional,
                                    .after_suffix = stats.after_suffix,
                                    .verified = stats.verified,
                                    .results = stats.results,
                                    .prepare_seconds = prepared - j->began,
                                    .join_seconds = stats.seconds};
  nd_sets_clear(&sets);
  return status;
}

static nd_status join_texts(joiner *j, nd_error *err) {
  const nd_settings *s = j->source->settings;
  nd_edit_options o = {.method = (nd_edit_method)(s->candidates - ND_METHOD_JOIN),
                       .tau = (uint32_t)s->threshold.num,
                       .q = s->shingle.kind == ND_SHINGLE_CHARS ? s->shingle.size : 0,
                       .threads = s->threads,
                       .memory = s->memory / 4,
                       .split = j->split};
  nd_buf bytes = {0};
  uint64_t *begin = NULL;
  nd_edit_stats stats = {0};
  nd_status status = gather(&bytes, &begin, j, 1, err);
  if (status == ND_OK)
    status = nd_edit_join((nd_edit_input){bytes.p, begin, j->n}, &o, take_edits, j, &stats, err);
  uint64_t average = stats.strings ? stats.points / stats.strings : 0;
  j->found->join = (nd_join_counts){.given = 1,
                                    .records = stats.strings,
                                    .tokens = stats.points,
                                    .index_entries = stats.index_entries,
                                    .average = (double)average,
                                    .after_size = stats.candidates,
                                    .after_positional = stats.after_positional,
                                    .after_suffix = stats.after_suffix,
                                    .verified = stats.verified,
                                    .results = stats.results,
                                    .prepare_seconds = seconds() - j->began - stats.join,
                                    .join_seconds = stats.join};
  nd_buf_clear(&bytes);
  nd_free(begin);
  return status;
}

static nd_status run(joiner *j, nd_error *err) {
  j->began = seconds();
  uint64_t n = j->source->store->documents;
  const uint32_t *same = j->found->same;
  j->document = nd_malloc(n * sizeof *j->document);
  if (!j->document) return nd_fail_memory(err, n * sizeof *j->document);
  for (uint32_t d = 0; d < n; d++) {
    if (nd_source_has_other(j->source) && d == j->source->split) j->split = j->n;
    if (same[d] == d) j->document[j->n++] = d;
  }
  j->parts_n = (j->n + JOB_DOCUMENTS - 1) / JOB_DOCUMENTS;
  j->parts = nd_calloc(j->parts_n, sizeof *j->parts);
  if (!j->parts) return nd_fail_memory(err, j->parts_n * sizeof *j->parts);
  ND_TRY(nd_threads_run(j->source->settings->threads, j->parts_n, read_part, j, err));
  /* One of the collections has nothing to compare. */
  if (nd_source_has_other(j->source) && (j->split == 0 || j->split == j->n)) return ND_OK;
  return j->texts ? join_texts(j, err) : join_sets(j, err);
}

nd_status nd_setjoin_pairs(nd_found *found, const nd_text_source *source, nd_error *err) {
  joiner j = {.found = found,
              .source = source,
              .texts = source->settings->similarity == ND_SIMILARITY_EDIT};
  nd_status status = run(&j, err);
  for (uint64_t i = 0; j.parts && i < j.parts_n; i++) {
    nd_buf_clear(&j.parts[i].bytes);
    nd_free(j.parts[i].end);
  }
  nd_free(j.parts);
  nd_free(j.document);
  return status;
}
