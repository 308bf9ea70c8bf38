/* Stages: options, block images and their contents; see neardup/stage.h. */
#include <xxhash.h>

#include "output/tsv.h"
#include "settings/method.h"
#include "stage/stage_work.h"
#include "store/ids.h"

/* Refuses options that need the entire corpus on one machine, and names alternatives. */
static nd_status check_distributed(const nd_settings *s, nd_error *err) {
  const nd_options *o = s->options;
  const nd_method *find = s->candidates;
  const char *verifier = s->verifier->name;
  if (o->against[0])
    return nd_fail(err, ND_ERR_USAGE,
                   "--against works on one machine only; give both collections as input, the "
                   "reference collection first, and use what is kept of the other");
  if (s->similarity->of_texts)
    return nd_fail(err, ND_ERR_USAGE, "--similarity %s works on one machine only",
                   s->similarity->name);
  if (find->find && !find->keys && !nd_method_counts(find))
    return nd_fail(
        err, ND_ERR_USAGE,
        "--method %s works on one machine only; use --method exact, which finds the same "
        "pairs, or --method minhash, which is faster and misses few",
        find->name);
  if (nd_method_counts(find) && !nd_method_counts(s->verifier))
    return nd_fail(
        err, ND_ERR_USAGE,
        "--candidates %s with --confirm %s works on one machine only; use --candidates %s "
        "or --confirm %s",
        find->name, verifier, verifier, find->name);
  if (s->permutations && s->family == ND_FAMILY_LINEAR)
    return nd_fail(err, ND_ERR_USAGE,
                   "--family linear works on one machine only; use --family fast");
  if (nd_row_deferred(s))
    return nd_fail(err, ND_ERR_USAGE,
                   "--weights tfidf works on one machine only; use --weights tf or one");
  if (!nd_settings_usual_columns(s))
    return nd_fail(err, ND_ERR_USAGE,
                   "--columns %s works on one machine only; the similarity is listed", o->columns);
  if (s->sample.sct && !nd_method_counts(find))
    return nd_fail(err, ND_ERR_USAGE,
                   "--sample sct works on one machine only, except with --method exact");
  if (s->sample.goal.num)
    return nd_fail(err, ND_ERR_USAGE,
                   "--sample adaptive:P works on one machine only; let `neardup plan` write a plan "
                   "for a sample of the corpus, and use --sample adaptive:FILE");
  if (o->ignore_boilerplate)
    return nd_fail(err, ND_ERR_USAGE, "--ignore-boilerplate works on one machine only");
  if (o->csv) return nd_fail(err, ND_ERR_USAGE, "--csv works on one machine only; lists are TSV");
  if (o->top) return nd_fail(err, ND_ERR_USAGE, "--top works on one machine only");
  if (o->shard[0])
    return nd_fail(err, ND_ERR_USAGE,
                   "--shard works on one machine only; the engine distributes the work");
  return ND_OK;
}

nd_status nd_stage_new(nd_stage **out, const nd_options *options, int dedup, const char *secret,
                       nd_error *err) {
  *out = NULL;
  nd_stage *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  s->options = *options;
  memcpy(s->secret, secret, sizeof s->secret);
  nd_status status = nd_options_check(&s->options, err);
  if (status == ND_OK) status = nd_settings_resolve(&s->settings, &s->options, err);
  if (status == ND_OK) status = check_distributed(&s->settings, err);
  s->settings.threads = 1;
  if (status == ND_OK && dedup && s->settings.every_pair) {
    s->settings.every_pair = false;
    s->settings.threshold = s->options.threshold;
    if (s->settings.threshold.num == 0)
      status = nd_fail(err, ND_ERR_USAGE, "--threshold 0 is out of range: above 0, at most 1");
  }
  if (status == ND_OK) status = nd_signer_new(&s->signer, &s->settings, err);
  /* Shingles that too many documents have are known only after all blocks are signed. */
  if (status == ND_OK && s->settings.sample.sct) status = nd_stage_leave_out(s, NULL, 0, err);
  if (status != ND_OK) {
    nd_stage_free(s);
    return status;
  }
  nd_signer_for_stage(s->signer, (nd_str){s->secret, sizeof s->secret}, false);
  *out = s;
  return ND_OK;
}

void nd_stage_free(nd_stage *s) {
  if (!s) return;
  nd_signer_free(s->signer);
  nd_shingle_set_free(s->common);
  nd_block_clear(&s->block);
  nd_buf_clear(&s->texts);
  nd_buf_clear(&s->aligned);
  nd_buf_clear(&s->out);
  nd_buf_clear(&s->evidence);
  nd_free(s->items);
  nd_free(s->scratch);
  nd_free(s);
}

void nd_stage_about(nd_stage_facts *out, const nd_stage *s) {
  const nd_settings *t = &s->settings;
  const nd_stage_plan p = nd_stage_plan_of(t);
  const uint32_t words = p.vector ? p.vector->words : 0;
  *out = (nd_stage_facts){.exact = nd_method_counts(t->candidates),
                          .permutations = t->permutations,
                          .bands = t->bands,
                          .rows = t->rows,
                          .keys = p.keys.buckets + p.pieces,
                          .key_items = p.keys.buckets + p.pieces * words,
                          .key_bytes = words > 1 ? 8 : 4,
                          .predicted_recall = t->bands ? t->predicted_recall : 1,
                          .ranked = t->keep != ND_KEEP_FIRST && t->keep != ND_KEEP_CENTRE,
                          .components = t->cluster == ND_CLUSTER_COMPONENTS,
                          .direct = nd_method_counts(t->candidates) &&
                                    (t->sample.on ? t->verify == ND_VERIFY_SAMPLE : t->every_pair),
                          .open = nd_similarity_is_open(t->similarity),
                          .sct = t->sample.sct,
                          .max_document = t->input.max_document};
}

nd_status nd_image_open(nd_image *out, nd_stage *s, nd_str bytes, nd_error *err) {
  if (!nd_block_valid(bytes))
    return nd_fail(err, ND_ERR_DATA,
                   "a part of the job is damaged (a block of %zu bytes fails its checksum); remove "
                   "the job's work directory and run again",
                   bytes.n);
  if ((uintptr_t)bytes.p % ND_BLOCK_ALIGN != 0) {
    s->aligned.n = 0;
    ND_TRY(nd_buf_append(&s->aligned, bytes.p, bytes.n, err));
    bytes = nd_buf_str(&s->aligned);
  }
  out->p = bytes.p;
  memcpy(&out->head, bytes.p, sizeof out->head);
  if (out->head.bands != s->settings.bands || out->head.sketch_words != s->settings.row.total)
    return nd_fail(err, ND_ERR_STATE,
                   "a block was signed with %u bands and %u words of sketches, this job has %u and "
                   "%u",
                   out->head.bands, out->head.sketch_words, s->settings.bands,
                   s->settings.row.total);
  return ND_OK;
}

nd_status nd_image_rejects(const nd_image *i, nd_image_reject each, void *context, nd_error *err) {
  const nd_block_header *h = &i->head;
  const char *p = i->p + nd_block_column(h, ND_COLUMNS) + h->id_bytes + h->text_bytes;
  const char *end = p + h->reject_bytes;
  for (uint32_t k = 0; k < h->rejects; k++) {
    uint64_t wide[2];
    uint32_t small[3];
    if ((size_t)(end - p) < sizeof wide + sizeof small)
      return nd_fail(err, ND_ERR_DATA, "the rejects of a block are truncated");
    memcpy(wide, p, sizeof wide);
    memcpy(small, p + sizeof wide, sizeof small);
    p += sizeof wide + sizeof small;
    if ((size_t)(end - p) < small[2])
      return nd_fail(err, ND_ERR_DATA, "the rejects of a block are truncated");
    ND_TRY(each(context, wide[0], wide[1], small[0], small[1], (nd_str){p, small[2]}, err));
    p += small[2];
  }
  return ND_OK;
}

nd_status nd_stage_ranks(uint64_t *ranks, uint8_t *has_tokens, nd_stage *s, nd_str image,
                         nd_error *err) {
  nd_image i;
  ND_TRY(nd_image_open(&i, s, image, err));
  const uint64_t *rank = nd_image_wide(&i, ND_COL_RANK);
  const uint32_t *shingles = nd_image_narrow(&i, ND_COL_SHINGLES);
  for (uint32_t d = 0; d < i.head.docs; d++) {
    if (ranks) ranks[d] = rank[d];
    has_tokens[d] = shingles[d] != 0;
  }
  return ND_OK;
}

nd_status nd_stage_ids(nd_str *ids, uint64_t *ends, nd_stage *s, const nd_stored_block *block,
                       nd_error *err) {
  const char *const *paths = block->paths;
  const uint64_t lines = block->lines;
  const uint32_t *rows = block->rows;
  const size_t n = block->row_n;
  nd_image i;
  ND_TRY(nd_image_open(&i, s, block->image, err));
  const uint32_t *id_end = nd_image_narrow(&i, ND_COL_ID_END);
  const uint32_t *file = nd_image_narrow(&i, ND_COL_FILE);
  const uint32_t *line = nd_image_narrow(&i, ND_COL_LINE);
  const uint64_t *offset = nd_image_wide(&i, ND_COL_OFFSET);
  const char *bytes = i.p + nd_block_column(&i.head, ND_COLUMNS);
  s->out.n = 0;
  for (size_t k = 0; k < n; k++) {
    uint32_t r = rows[k];
    if (r >= i.head.docs) return nd_fail(err, ND_ERR_DATA, "a block has no row %u", r);
    uint32_t from = r ? id_end[r - 1] : 0;
    if (!paths)
      ND_TRY(nd_buf_append(&s->out, bytes + from, id_end[r] - from, err));
    else if (id_end[r] > from)
      ND_TRY(nd_tsv_append(&s->out, (nd_str){bytes + from, id_end[r] - from}, err));
    else
      ND_TRY(nd_ids_append_location(&s->out, paths[file[r]], line[r] ? lines + line[r] : 0,
                                    offset[r], err));
    ends[k] = s->out.n;
  }
  *ids = nd_buf_str(&s->out);
  return ND_OK;
}

typedef struct rejecting {
  nd_buf *out;
  const char *const *paths;
  uint64_t lines;
} rejecting;

static nd_status put_reject(void *context, uint64_t offset, uint64_t length, uint32_t file,
                            uint32_t line, nd_str reason, nd_error *err) {
  rejecting *r = context;
  (void)length;
  ND_TRY(nd_ids_append_location(r->out, r->paths[file], line ? r->lines + line : 0, offset, err));
  ND_TRY(nd_buf_append(r->out, "\t", 1, err));
  ND_TRY(nd_tsv_append(r->out, reason, err));
  return nd_buf_append(r->out, "\n", 1, err);
}

nd_status nd_stage_rejects(nd_str *lines_out, nd_stage *s, const nd_stored_block *block,
                           nd_error *err) {
  const char *const *paths = block->paths;
  const uint64_t lines = block->lines;
  nd_image i;
  ND_TRY(nd_image_open(&i, s, block->image, err));
  s->out.n = 0;
  rejecting r = {&s->out, paths, lines};
  ND_TRY(nd_image_rejects(&i, put_reject, &r, err));
  *lines_out = nd_buf_str(&s->out);
  return ND_OK;
}
