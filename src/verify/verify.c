/* Parallel verification of candidate pairs, in rounds.
 *
 * Candidates are positions in the keep order, sorted by the first one, so a worker builds the first
 * document's shingle table once and reuses it.  Groups of pairs that share documents are compared
 * together (pair_groups.h).
 *
 * The star clustering is followed meanwhile: if a pair's first document is not yet assigned, the
 * second is assigned to it.  A star edge (a, b) of an oversized bucket is skipped if an earlier
 * round assigned both ends to the same kept document: neither stars (a is not kept) nor components
 * (both are connected already) need it.  Rounds depend only on the sorted candidates, so thread
 * timing cannot change the result. */
#include "verify/verify.h"

#include "base/threads.h"
#include "settings/method.h"
#include "similarity/edit_distance.h"
#include "similarity/group.h"
#include "verify/pair_groups.h"
#include "verify/sampled.h"

enum { ROUND = 1 << 16, PREPARED = 512 };
static const uint64_t not_similar = ND_NOT_SIMILAR;

typedef struct checker {
  const nd_text_source *source;
  const nd_settings *settings;
  nd_item *items; /* of the plan */
  struct worker {
    nd_comparer *comparer;
    nd_sampled *sampled; /* --verify sample */
    nd_edit_scratch edit;
    nd_texts *texts;
    nd_buf left, right; /* texts that are not prepared */
    struct {
      nd_prepared document;
      uint32_t number;
    } * prepared;          /* by number modulo PREPARED */
    size_t bytes;          /* of all prepared documents */
    size_t oldest;         /* the next one to evict */
    uint64_t *row;         /* two rows of sketches */
    uint32_t row_document; /* the document of the first row */
    bool have_left;
    uint32_t left_document;
    nd_group *group;
    uint32_t group_number; /* its number in the plan; ND_ALONE: none */
    size_t group_pairs;    /* pairs compared since it was empty */
    bool thrashing;        /* the group does not fit: compare pair by pair */
  } * workers;             /* one per thread */
  nd_pair_groups plan;
  const nd_method *judge; /* compares rows; NULL: none does */
  bool texts;             /* compare the documents */
  bool all;               /* ignore the threshold */
  bool whole;             /* ignore --sample */
  size_t prepared_bytes;  /* budget of one thread */
  const nd_order *order;
} checker;

static void clear_workers(checker *c) {
  for (unsigned i = 0; c->workers && i < c->settings->threads; i++) {
    nd_comparer_free(c->workers[i].comparer);
    nd_sampled_free(c->workers[i].sampled);
    nd_group_free(c->workers[i].group);
    nd_edit_scratch_clear(&c->workers[i].edit);
    nd_texts_free(c->workers[i].texts);
    for (size_t k = 0; c->workers[i].prepared && k < PREPARED; k++)
      nd_prepared_clear(&c->workers[i].prepared[k].document);
    nd_free(c->workers[i].prepared);
    nd_buf_clear(&c->workers[i].left);
    nd_buf_clear(&c->workers[i].right);
    nd_free(c->workers[i].row);
  }
  nd_free(c->workers);
  c->workers = NULL;
  nd_pair_groups_clear(&c->plan);
}

static nd_status make_workers(checker *c, nd_error *err) {
  const nd_settings *s = c->settings;
  const uint64_t most = UINT64_C(256) << 20;
  uint64_t share = nd_budget(s->memory, ND_SHARE_PREPARED) / s->threads;
  c->prepared_bytes = (size_t)(share < most ? share : most);
  c->workers = nd_calloc(s->threads, sizeof *c->workers);
  if (!c->workers) return nd_fail_memory(err, s->threads * sizeof *c->workers);
  for (unsigned i = 0; i < s->threads; i++) {
    ND_TRY(nd_comparer_new(&c->workers[i].comparer, s->shingle, s->options->seed, err));
    ND_TRY(nd_group_new(&c->workers[i].group, s->shingle, s->options->seed, err));
    ND_TRY(nd_texts_new(&c->workers[i].texts, c->source, err));
    c->workers[i].prepared = nd_calloc(PREPARED, sizeof *c->workers[i].prepared);
    if (!c->workers[i].prepared)
      return nd_fail_memory(err, PREPARED * sizeof *c->workers[i].prepared);
    for (size_t k = 0; k < PREPARED; k++) c->workers[i].prepared[k].number = UINT32_MAX;
    if (s->verify == ND_VERIFY_SAMPLE && !c->whole)
      ND_TRY(nd_sampled_new(&c->workers[i].sampled, s, c->prepared_bytes, err));
    c->workers[i].row_document = UINT32_MAX;
    c->workers[i].row = nd_calloc(2, s->row.total * sizeof(uint64_t) + 1);
    if (!c->workers[i].row) return nd_fail_memory(err, 2 * s->row.total * sizeof(uint64_t));
  }
  return ND_OK;
}

/* Evicts prepared documents until at most `most` bytes are in use, but not `but` and the left
 * one. */
static void make_room(struct worker *w, size_t most, uint32_t but) {
  for (size_t tries = 0; w->bytes > most && tries < PREPARED; tries++) {
    size_t k = w->oldest++ % PREPARED;
    if (w->prepared[k].number == UINT32_MAX || w->prepared[k].number == but ||
        (w->have_left && w->prepared[k].number == w->left_document))
      continue;
    w->bytes -= nd_prepared_bytes(&w->prepared[k].document);
    nd_prepared_clear(&w->prepared[k].document);
    w->prepared[k].number = UINT32_MAX;
  }
}

static nd_status prepare(nd_prepared **out, struct worker *w, const checker *c, uint32_t document,
                         nd_error *err) {
  size_t k = document % PREPARED;
  nd_prepared *p = &w->prepared[k].document;
  *out = p;
  if (w->prepared[k].number == document) return ND_OK;
  w->bytes -= w->prepared[k].number == UINT32_MAX ? 0 : nd_prepared_bytes(p);
  w->prepared[k].number = UINT32_MAX;
  ND_TRY(nd_texts_get(&p->text, w->texts, document, err));
  ND_TRY(nd_prepared_set(p, err));
  w->prepared[k].number = document;
  w->bytes += nd_prepared_bytes(p);
  make_room(w, c->prepared_bytes, document);
  return ND_OK;
}

static nd_status set_left(struct worker *w, const checker *c, uint32_t a, nd_error *err) {
  nd_prepared *left;
  w->have_left = false;
  ND_TRY(prepare(&left, w, c, a, err));
  size_t before = nd_prepared_bytes(left);
  ND_TRY(nd_comparer_set(w->comparer, left, err));
  w->bytes += nd_prepared_bytes(left) - before;
  w->left_document = a;
  w->have_left = true;
  return ND_OK;
}

static nd_status compare_texts(nd_overlap *out, struct worker *w, const checker *c, uint32_t a,
                               uint32_t b, nd_error *err) {
  if (!w->have_left || w->left_document != a) ND_TRY(set_left(w, c, a, err));
  if (a % PREPARED == b % PREPARED) { /* one slot cannot hold both */
    ND_TRY(nd_texts_get(&w->right, w->texts, b, err));
    return nd_comparer_right(out, w->comparer, nd_buf_str(&w->right), err);
  }
  nd_prepared *right;
  ND_TRY(prepare(&right, w, c, b, err));
  size_t before = nd_prepared_bytes(right);
  ND_TRY(nd_comparer_run(out, w->comparer, right, err));
  w->bytes += nd_prepared_bytes(right) - before;
  return ND_OK;
}

/* Starts an empty group.  Prepared documents are evicted when the group needs their memory.  A
 * group that outgrows the memory is started again; if it held only a few pairs, the rest of it is
 * compared pair by pair. */
static void begin_group(struct worker *w, uint32_t number) {
  nd_group_empty(w->group);
  w->have_left = false;
  w->thrashing = false;
  w->group_number = number;
  w->group_pairs = 0;
}

static nd_status member_of(uint32_t *member, struct worker *w, uint32_t document, nd_error *err) {
  *member = nd_group_find(w->group, document);
  if (*member != UINT32_MAX) return ND_OK;
  nd_buf *text = nd_group_next(w->group, err);
  if (!text) return ND_ERR_MEMORY;
  ND_TRY(nd_texts_get(text, w->texts, document, err));
  return nd_group_add(member, w->group, document, err);
}

static nd_status compare_in_group(nd_overlap *out, struct worker *w, const checker *c, uint32_t a,
                                  uint32_t b, nd_error *err) {
  size_t bytes = nd_group_bytes(w->group);
  if (bytes + w->bytes > c->prepared_bytes)
    make_room(w, bytes < c->prepared_bytes ? c->prepared_bytes - bytes : 0, UINT32_MAX);
  if (bytes > c->prepared_bytes) {
    bool few = w->group_pairs < 2 * (size_t)nd_group_count(w->group);
    begin_group(w, w->group_number);
    w->thrashing = few;
  }
  if (w->thrashing) return compare_texts(out, w, c, a, b, err);
  uint32_t left, right;
  w->group_pairs++;
  ND_TRY(member_of(&left, w, a, err));
  ND_TRY(member_of(&right, w, b, err));
  *out = nd_group_compare(w->group, left, right);
  return ND_OK;
}

static nd_status get_row(uint64_t *out, const nd_text_source *s, uint32_t document, nd_error *err) {
  return s->fetch_row ? s->fetch_row(out, s->fetch_context, document, err)
                      : nd_store_row(out, s->store, document, err);
}

static nd_status compare_rows(uint64_t *value, bool *similar, struct worker *w, const checker *c,
                              uint32_t a, uint32_t b, nd_error *err) {
  uint64_t *other = w->row + c->settings->row.total;
  if (w->row_document != a) {
    w->row_document = UINT32_MAX;
    ND_TRY(get_row(w->row, c->source, a, err));
    w->row_document = a;
  }
  ND_TRY(get_row(other, c->source, b, err));
  *similar = c->judge->judge(value, c->settings, w->row, other);
  return ND_OK;
}

/* Chooses whether sketches, documents or both decide. */
static void choose_judge(checker *c) {
  const nd_method *m = c->settings->verifier;
  c->texts = c->settings->verify == ND_VERIFY_EXACT || c->settings->verify == ND_VERIFY_SAMPLE;
  c->judge = m->judge && (m->defined || !c->texts) ? m : NULL;
}

/* Sets the value of a pair, or not_similar below the threshold. */
static nd_status compare(uint64_t *value, struct worker *w, const checker *c, uint32_t a,
                         uint32_t b, nd_error *err) {
  const nd_settings *s = c->settings;
  if (c->judge) {
    bool similar = false;
    ND_TRY(compare_rows(value, &similar, w, c, a, b, err));
    if (!similar && !c->all) *value = not_similar;
    if (*value == not_similar || !c->texts) return ND_OK;
  }
  if (s->similarity->of_texts) {
    uint32_t tau = (uint32_t)s->threshold.num, distance;
    ND_TRY(nd_texts_get(&w->left, w->texts, a, err));
    ND_TRY(nd_texts_get(&w->right, w->texts, b, err));
    ND_TRY(s->similarity->of_texts(&distance, &w->edit, nd_buf_str(&w->left), nd_buf_str(&w->right),
                                   c->all ? (uint32_t)(w->left.n + w->right.n) : tau, err));
    *value = c->all || distance <= tau ? nd_fraction_pack(distance, 1) : not_similar;
    return ND_OK;
  }
  nd_overlap o;
  if (w->sampled)
    ND_TRY(nd_sampled_compare(&o, w->sampled, w->texts, a, b, err));
  else if (w->group_number != ND_ALONE)
    ND_TRY(compare_in_group(&o, w, c, a, b, err));
  else
    ND_TRY(compare_texts(&o, w, c, a, b, err));
  bool similar = c->all || nd_similarity_reaches(s->similarity, o, s->threshold);
  *value = similar ? s->similarity->value(o) : not_similar;
  return ND_OK;
}

static nd_status check_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  checker *c = context;
  struct worker *w = &c->workers[member];
  const nd_pair_groups_job *range = &c->plan.jobs[job];
  for (size_t i = range->begin; i < range->end; i++) {
    nd_item *item = &c->items[c->plan.item[i]];
    uint32_t a = nd_order_document(c->order, nd_pair_of(item->key).a);
    uint32_t b = nd_order_document(c->order, nd_pair_of(item->key).b);
    if (w->group_number != c->plan.group[i]) begin_group(w, c->plan.group[i]);
    ND_TRY(compare(&item->value, w, c, a, b, err));
  }
  return ND_OK;
}

static nd_status check_items(checker *c, nd_item *items, size_t n, nd_error *err) {
  const nd_settings *s = c->settings;
  bool groups = (c->texts || !c->judge) && !s->similarity->of_texts && !c->workers[0].sampled;
  while (n) {
    size_t most = n < ND_PAIR_GROUPS_MOST ? n : ND_PAIR_GROUPS_MOST;
    ND_TRY(nd_pair_groups_plan(&c->plan, items, most, groups, err));
    for (unsigned i = 0; i < s->threads; i++) begin_group(&c->workers[i], ND_ALONE);
    c->items = items;
    ND_TRY(nd_threads_run(s->threads, c->plan.job_n, check_job, c, err));
    items += most;
    n -= most;
  }
  return ND_OK;
}

static nd_status fill_list(nd_item *items, size_t n, const nd_text_source *source, bool documents,
                           bool all, nd_error *err) {
  const nd_order by_number = {0};
  checker c = {.source = source, .settings = source->settings, .order = &by_number, .all = all};
  choose_judge(&c);
  if (documents) {
    c.judge = NULL;
    c.whole = true;
  }
  nd_status status = make_workers(&c, err);
  if (status == ND_OK) status = check_items(&c, items, n, err);
  clear_workers(&c);
  return status;
}

nd_status nd_verify_list(nd_item *items, size_t n, const nd_text_source *source, bool all,
                         nd_error *err) {
  return fill_list(items, n, source, false, all, err);
}

nd_status nd_verify_documents(nd_item *items, size_t n, const nd_text_source *source,
                              nd_error *err) {
  return fill_list(items, n, source, true, true, err);
}

void nd_verified_clear(nd_verified *c) {
  nd_sorter_free(c->sorted);
  *c = (nd_verified){0};
}

static nd_status judge_texts(void *context, nd_item *items, size_t n, nd_error *err) {
  return check_items(context, items, n, err);
}

/* State between rounds. */
typedef struct rounds {
  nd_verified *out;
  const nd_found *found;
  nd_item *items;
  uint32_t *assigned; /* per position: the kept position it is assigned to; UINT32_MAX: none */
  nd_verify_judge judge;
  void *context;
} rounds;

/* Reads, compares and keeps one round of pairs. */
static nd_status verify_round(bool *more, rounds *r, nd_error *err) {
  const nd_found *found = r->found;
  nd_verified *out = r->out;
  nd_item *items = r->items;
  uint32_t *assigned = r->assigned;
  size_t got, n = 0, kept = 0;
  ND_TRY(nd_sorter_next(&got, items, ROUND, found->pairs, err));
  *more = got > 0;
  for (size_t i = 0; i < got; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    bool skip = items[i].value == ND_PAIR_STAR && assigned[p.a] != UINT32_MAX &&
                assigned[p.a] == assigned[p.b];
    if (skip)
      out->skipped++;
    else
      items[n++] = items[i];
  }
  ND_TRY(r->judge(r->context, items, n, err));
  out->candidates += n;
  for (size_t i = 0; i < n; i++) {
    if (items[i].value == not_similar) continue;
    const nd_pair p = nd_pair_of(items[i].key);
    if (assigned[p.a] == UINT32_MAX && assigned[p.b] == UINT32_MAX) assigned[p.b] = p.a;
    const uint32_t a = found->same[nd_order_document(&found->order, p.a)];
    const uint32_t b = found->same[nd_order_document(&found->order, p.b)];
    items[kept++] = (nd_item){nd_pair_ascending(a, b), items[i].value};
  }
  out->pairs += kept;
  return nd_sorter_add(out->sorted, items, kept, err);
}

nd_status nd_verify_by(nd_verified *out, const nd_found *found, const nd_verify_request *request,
                       nd_error *err) {
  *out = (nd_verified){0};
  uint64_t documents = request->documents;
  ND_TRY(nd_sorter_new(&out->sorted, request->memory, request->tmp, true, err));
  rounds r = {
      .out = out, .found = found, .judge = request->judge, .context = request->judge_context};
  r.items = nd_malloc(ROUND * sizeof *r.items);
  r.assigned = nd_malloc(documents * sizeof *r.assigned);
  nd_status status = r.items && r.assigned ? ND_OK : nd_fail_memory(err, documents * 4);
  for (uint64_t d = 0; status == ND_OK && d < documents; d++) r.assigned[d] = UINT32_MAX;
  bool more = true;
  while (status == ND_OK && more) {
    status = verify_round(&more, &r, err);
    if (status == ND_OK && request->tick && request->tick(request->tick_context, out->candidates))
      status = nd_fail(err, ND_ERR_CANCELLED, "interrupted");
  }
  nd_free(r.assigned);
  nd_free(r.items);
  if (status == ND_OK) status = nd_sorter_finish(out->sorted, err);
  return status;
}

nd_status nd_verify_pairs(nd_verified *out, const nd_found *found, const nd_text_source *source,
                          const char *tmp, nd_verify_tick tick, void *tick_context, nd_error *err) {
  const nd_settings *settings = source->settings;
  checker c = {.source = source,
               .settings = settings,
               .order = &found->order,
               .all = settings->verify == ND_VERIFY_NONE};
  *out = (nd_verified){0};
  choose_judge(&c);
  nd_status status = make_workers(&c, err);
  nd_verify_request request = {.documents = source->store->documents,
                               .memory = nd_budget(settings->memory, ND_SHARE_PAIRS),
                               .tmp = tmp,
                               .judge = judge_texts,
                               .judge_context = &c,
                               .tick = tick,
                               .tick_context = tick_context};
  if (status == ND_OK) status = nd_verify_by(out, found, &request, err);
  clear_workers(&c);
  return status;
}
