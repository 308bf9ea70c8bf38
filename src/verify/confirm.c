/* Verifying in parallel, in rounds.
 *
 * Candidates come as positions in the wanted order, sorted by the first one, so
 * a thread builds that document's table once for the pairs that follow.  Groups of
 * pairs that share their documents are compared together (together.h).
 *
 * Meanwhile the star clustering is followed: when a pair's first document has
 * been claimed by nobody, it claims the second.  A star edge (a, b) of a hot
 * bucket is spared when a and b have been claimed by one and the same document
 * in an earlier round: neither stars (a is not kept) nor components (both hang
 * together) depend on it.  Rounds are cut by the sorted candidates alone, so
 * this depends on no thread. */
#include "verify/confirm.h"

#include "base/threads.h"
#include "settings/methods.h"
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
  struct hand {
    nd_comparer *comparer;
    nd_sampled *sampled; /* --verify sample */
    nd_edit_scratch edit;
    nd_texts *texts;
    nd_buf left, right; /* texts that are not prepared */
    struct {
      nd_prepared document;
      uint32_t number;
    } * prepared;            /* by number modulo PREPARED */
    size_t bytes, hand_over; /* of them all; the next one to give up */
    uint64_t *row;           /* two rows of sketches */
    uint32_t row_document;   /* whose the first of them is */
    bool have_left;
    uint32_t left_document;
    nd_group *group;
    uint32_t group_number; /* which one of the plan it holds; ND_ALONE: none */
    size_t group_pairs;    /* compared since it was empty */
    bool thrashing;        /* the group does not fit: two at a time */
  } * hands;               /* one per thread */
  nd_pair_groups plan;
  nd_judge judge;        /* of rows; NULL: none */
  bool texts;            /* the documents are compared */
  bool all;              /* no threshold */
  bool whole;            /* no sample either */
  size_t prepared_bytes; /* of one thread */
  const nd_order *order;
} checker;

static void clear_hands(checker *c) {
  for (unsigned i = 0; c->hands && i < c->settings->threads; i++) {
    nd_comparer_free(c->hands[i].comparer);
    nd_sampled_free(c->hands[i].sampled);
    nd_group_free(c->hands[i].group);
    nd_edit_scratch_clear(&c->hands[i].edit);
    nd_texts_free(c->hands[i].texts);
    for (size_t k = 0; c->hands[i].prepared && k < PREPARED; k++)
      nd_prepared_clear(&c->hands[i].prepared[k].document);
    nd_free(c->hands[i].prepared);
    nd_buf_clear(&c->hands[i].left);
    nd_buf_clear(&c->hands[i].right);
    nd_free(c->hands[i].row);
  }
  nd_free(c->hands);
  c->hands = NULL;
  nd_pair_groups_clear(&c->plan);
}

static nd_status make_hands(checker *c, nd_error *err) {
  const nd_settings *s = c->settings;
  const uint64_t most = UINT64_C(256) << 20;
  uint64_t share = s->memory / 8 / s->threads;
  c->prepared_bytes = (size_t)(share < most ? share : most);
  c->hands = nd_calloc(s->threads, sizeof *c->hands);
  if (!c->hands) return nd_fail_memory(err, s->threads * sizeof *c->hands);
  for (unsigned i = 0; i < s->threads; i++) {
    ND_TRY(nd_comparer_new(&c->hands[i].comparer, s->shingle, s->options->seed, err));
    ND_TRY(nd_group_new(&c->hands[i].group, s->shingle, s->options->seed, err));
    ND_TRY(nd_texts_new(&c->hands[i].texts, c->source, err));
    c->hands[i].prepared = nd_calloc(PREPARED, sizeof *c->hands[i].prepared);
    if (!c->hands[i].prepared) return nd_fail_memory(err, PREPARED * sizeof *c->hands[i].prepared);
    for (size_t k = 0; k < PREPARED; k++) c->hands[i].prepared[k].number = UINT32_MAX;
    if (s->verify == ND_VERIFY_SAMPLE && !c->whole)
      ND_TRY(nd_sampled_new(&c->hands[i].sampled, s, c->prepared_bytes, err));
    c->hands[i].row_document = UINT32_MAX;
    c->hands[i].row = nd_calloc(2, s->row.total * sizeof(uint64_t) + 1);
    if (!c->hands[i].row) return nd_fail_memory(err, 2 * s->row.total * sizeof(uint64_t));
  }
  return ND_OK;
}

/* Documents of one cluster come again and again: they stay prepared, within a
 * share of the memory. */
static void make_room(struct hand *h, size_t most, uint32_t but) {
  for (size_t tries = 0; h->bytes > most && tries < PREPARED; tries++) {
    size_t k = h->hand_over++ % PREPARED;
    if (h->prepared[k].number == UINT32_MAX || h->prepared[k].number == but ||
        (h->have_left && h->prepared[k].number == h->left_document))
      continue;
    h->bytes -= nd_prepared_bytes(&h->prepared[k].document);
    nd_prepared_clear(&h->prepared[k].document);
    h->prepared[k].number = UINT32_MAX;
  }
}

static nd_status prepare(nd_prepared **out, struct hand *h, const checker *c, uint32_t document,
                         nd_error *err) {
  size_t k = document % PREPARED;
  nd_prepared *p = &h->prepared[k].document;
  *out = p;
  if (h->prepared[k].number == document) return ND_OK;
  h->bytes -= h->prepared[k].number == UINT32_MAX ? 0 : nd_prepared_bytes(p);
  h->prepared[k].number = UINT32_MAX;
  ND_TRY(nd_texts_get(&p->text, h->texts, document, err));
  ND_TRY(nd_prepared_set(p, err));
  h->prepared[k].number = document;
  h->bytes += nd_prepared_bytes(p);
  make_room(h, c->prepared_bytes, document);
  return ND_OK;
}

static nd_status set_left(struct hand *h, const checker *c, uint32_t a, nd_error *err) {
  nd_prepared *left;
  h->have_left = false;
  ND_TRY(prepare(&left, h, c, a, err));
  size_t before = nd_prepared_bytes(left);
  ND_TRY(nd_comparer_set(h->comparer, left, err));
  h->bytes += nd_prepared_bytes(left) - before;
  h->left_document = a;
  h->have_left = true;
  return ND_OK;
}

static nd_status compare_texts(nd_overlap *out, struct hand *h, const checker *c, uint32_t a,
                               uint32_t b, nd_error *err) {
  if (!h->have_left || h->left_document != a) ND_TRY(set_left(h, c, a, err));
  if (a % PREPARED == b % PREPARED) { /* they cannot both be prepared in one place */
    ND_TRY(nd_texts_get(&h->right, h->texts, b, err));
    return nd_comparer_right(out, h->comparer, nd_buf_str(&h->right), err);
  }
  nd_prepared *right;
  ND_TRY(prepare(&right, h, c, b, err));
  size_t before = nd_prepared_bytes(right);
  ND_TRY(nd_comparer_run(out, h->comparer, right, err));
  h->bytes += nd_prepared_bytes(right) - before;
  return ND_OK;
}

/* A group shares its memory with the prepared documents, which give way.  One
 * that outgrows it is begun again; when that happens after few pairs, the rest
 * of it is compared two at a time. */
static void begin_group(struct hand *h, uint32_t number) {
  nd_group_empty(h->group);
  h->have_left = false;
  h->thrashing = false;
  h->group_number = number;
  h->group_pairs = 0;
}

static nd_status member_of(uint32_t *member, struct hand *h, uint32_t document, nd_error *err) {
  *member = nd_group_find(h->group, document);
  if (*member != UINT32_MAX) return ND_OK;
  nd_buf *text = nd_group_next(h->group, err);
  if (!text) return ND_ERR_MEMORY;
  ND_TRY(nd_texts_get(text, h->texts, document, err));
  return nd_group_add(member, h->group, document, err);
}

static nd_status compare_together(nd_overlap *out, struct hand *h, const checker *c, uint32_t a,
                                  uint32_t b, nd_error *err) {
  size_t bytes = nd_group_bytes(h->group);
  if (bytes + h->bytes > c->prepared_bytes)
    make_room(h, bytes < c->prepared_bytes ? c->prepared_bytes - bytes : 0, UINT32_MAX);
  if (bytes > c->prepared_bytes) {
    bool few = h->group_pairs < 2 * (size_t)nd_group_count(h->group);
    begin_group(h, h->group_number);
    h->thrashing = few;
  }
  if (h->thrashing) return compare_texts(out, h, c, a, b, err);
  uint32_t left, right;
  h->group_pairs++;
  ND_TRY(member_of(&left, h, a, err));
  ND_TRY(member_of(&right, h, b, err));
  *out = nd_group_compare(h->group, left, right);
  return ND_OK;
}

static nd_status get_row(uint64_t *out, const nd_text_source *s, uint32_t document, nd_error *err) {
  return s->fetch_row ? s->fetch_row(out, s->fetch_context, document, err)
                      : nd_store_row(out, s->store, document, err);
}

static nd_status compare_rows(uint64_t *value, bool *similar, struct hand *h, const checker *c,
                              uint32_t a, uint32_t b, nd_error *err) {
  uint64_t *other = h->row + c->settings->row.total;
  if (h->row_document != a) {
    h->row_document = UINT32_MAX;
    ND_TRY(get_row(h->row, c->source, a, err));
    h->row_document = a;
  }
  ND_TRY(get_row(other, c->source, b, err));
  *similar = c->judge(value, c->settings, h->row, other);
  return ND_OK;
}

/* By sketches, by the documents, or by both. */
static void choose_judge(checker *c) {
  const nd_method_row *m = &nd_methods[c->settings->confirm];
  c->texts = c->settings->verify == ND_VERIFY_EXACT || c->settings->verify == ND_VERIFY_SAMPLE;
  c->judge = m->defined || !c->texts ? m->judge : NULL;
}

/* The pair's value, or not_similar when it misses the threshold. */
static nd_status compare(uint64_t *value, struct hand *h, const checker *c, uint32_t a, uint32_t b,
                         nd_error *err) {
  const nd_settings *s = c->settings;
  if (c->judge) {
    bool similar = false;
    ND_TRY(compare_rows(value, &similar, h, c, a, b, err));
    if (!similar && !c->all) *value = not_similar;
    if (*value == not_similar || !c->texts) return ND_OK;
  }
  if (s->similarity == ND_SIMILARITY_EDIT) {
    uint32_t tau = (uint32_t)s->threshold.num, distance;
    ND_TRY(nd_texts_get(&h->left, h->texts, a, err));
    ND_TRY(nd_texts_get(&h->right, h->texts, b, err));
    ND_TRY(nd_edit_distance(&distance, &h->edit, nd_buf_str(&h->left), nd_buf_str(&h->right),
                            c->all ? (uint32_t)(h->left.n + h->right.n) : tau, err));
    *value = c->all || distance <= tau ? nd_fraction_pack(distance, 1) : not_similar;
    return ND_OK;
  }
  nd_overlap o;
  if (h->sampled)
    ND_TRY(nd_sampled_compare(&o, h->sampled, h->texts, a, b, err));
  else if (h->group_number != ND_ALONE)
    ND_TRY(compare_together(&o, h, c, a, b, err));
  else
    ND_TRY(compare_texts(&o, h, c, a, b, err));
  bool similar = c->all || nd_similarity_reaches(s->similarity, o, s->threshold);
  *value = similar ? nd_similarity_pack(s->similarity, o) : not_similar;
  return ND_OK;
}

static nd_status check_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  checker *c = context;
  struct hand *h = &c->hands[member];
  const nd_pair_groups_job *range = &c->plan.jobs[job];
  for (size_t i = range->begin; i < range->end; i++) {
    nd_item *item = &c->items[c->plan.item[i]];
    uint32_t a = nd_order_document(c->order, nd_pair_of(item->key).a);
    uint32_t b = nd_order_document(c->order, nd_pair_of(item->key).b);
    if (h->group_number != c->plan.group[i]) begin_group(h, c->plan.group[i]);
    ND_TRY(compare(&item->value, h, c, a, b, err));
  }
  return ND_OK;
}

static nd_status check_items(checker *c, nd_item *items, size_t n, nd_error *err) {
  const nd_settings *s = c->settings;
  bool groups =
      (c->texts || !c->judge) && s->similarity != ND_SIMILARITY_EDIT && !c->hands[0].sampled;
  while (n) {
    size_t most = n < ND_PAIR_GROUPS_MOST ? n : ND_PAIR_GROUPS_MOST;
    ND_TRY(nd_pair_groups_plan(&c->plan, items, most, groups, err));
    for (unsigned i = 0; i < s->threads; i++) begin_group(&c->hands[i], ND_ALONE);
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
  nd_status status = make_hands(&c, err);
  if (status == ND_OK) status = check_items(&c, items, n, err);
  clear_hands(&c);
  return status;
}

nd_status nd_confirm_list(nd_item *items, size_t n, const nd_text_source *source, bool all,
                          nd_error *err) {
  return fill_list(items, n, source, false, all, err);
}

nd_status nd_confirm_documents(nd_item *items, size_t n, const nd_text_source *source,
                               nd_error *err) {
  return fill_list(items, n, source, true, true, err);
}

void nd_confirmed_clear(nd_confirmed *c) {
  nd_sorter_free(c->sorted);
  *c = (nd_confirmed){0};
}

static nd_status judge_texts(void *context, nd_item *items, size_t n, nd_error *err) {
  return check_items(context, items, n, err);
}

/* The rounds: what has been read, and who has claimed whom so far. */
typedef struct rounds {
  nd_confirmed *out;
  const nd_found *found;
  nd_item *items;
  uint32_t *claimed; /* per position: by which other one; UINT32_MAX: nobody */
  nd_confirm_judge judge;
  void *context;
} rounds;

/* One round: read, compare, keep those that reach the threshold. */
static nd_status confirm_round(bool *more, rounds *r, nd_error *err) {
  const nd_found *found = r->found;
  nd_confirmed *out = r->out;
  nd_item *items = r->items;
  uint32_t *claimed = r->claimed;
  size_t got, n = 0, kept = 0;
  ND_TRY(nd_sorter_next(&got, items, ROUND, found->pairs, err));
  *more = got > 0;
  for (size_t i = 0; i < got; i++) {
    const nd_pair p = nd_pair_of(items[i].key);
    bool spared = items[i].value == ND_PAIR_STAR && claimed[p.a] != UINT32_MAX &&
                  claimed[p.a] == claimed[p.b];
    if (spared)
      out->spared++;
    else
      items[n++] = items[i];
  }
  ND_TRY(r->judge(r->context, items, n, err));
  out->candidates += n;
  for (size_t i = 0; i < n; i++) {
    if (items[i].value == not_similar) continue;
    const nd_pair p = nd_pair_of(items[i].key);
    if (claimed[p.a] == UINT32_MAX && claimed[p.b] == UINT32_MAX) claimed[p.b] = p.a;
    const uint32_t a = found->same[nd_order_document(&found->order, p.a)];
    const uint32_t b = found->same[nd_order_document(&found->order, p.b)];
    items[kept++] = (nd_item){nd_pair_ascending(a, b), items[i].value};
  }
  out->pairs += kept;
  return nd_sorter_add(out->sorted, items, kept, err);
}

nd_status nd_confirm_by(nd_confirmed *out, const nd_found *found, const nd_confirm_request *request,
                        nd_error *err) {
  *out = (nd_confirmed){0};
  uint64_t documents = request->documents;
  ND_TRY(nd_sorter_new(&out->sorted, request->memory, request->tmp, true, err));
  rounds r = {
      .out = out, .found = found, .judge = request->judge, .context = request->judge_context};
  r.items = nd_malloc(ROUND * sizeof *r.items);
  r.claimed = nd_malloc(documents * sizeof *r.claimed);
  nd_status status = r.items && r.claimed ? ND_OK : nd_fail_memory(err, documents * 4);
  for (uint64_t d = 0; status == ND_OK && d < documents; d++) r.claimed[d] = UINT32_MAX;
  bool more = true;
  while (status == ND_OK && more) {
    status = confirm_round(&more, &r, err);
    if (status == ND_OK && request->tick && request->tick(request->tick_context, out->candidates))
      status = nd_fail(err, ND_ERR_CANCELLED, "interrupted");
  }
  nd_free(r.claimed);
  nd_free(r.items);
  if (status == ND_OK) status = nd_sorter_finish(out->sorted, err);
  return status;
}

nd_status nd_confirm(nd_confirmed *out, const nd_found *found, const nd_text_source *source,
                     const char *tmp, nd_confirm_tick tick, void *tick_context, nd_error *err) {
  const nd_settings *settings = source->settings;
  checker c = {.source = source,
               .settings = settings,
               .order = &found->order,
               .all = settings->verify == ND_VERIFY_NONE};
  *out = (nd_confirmed){0};
  choose_judge(&c);
  nd_status status = make_hands(&c, err);
  nd_confirm_request request = {.documents = source->store->documents,
                                .memory = settings->memory / 8,
                                .tmp = tmp,
                                .judge = judge_texts,
                                .judge_context = &c,
                                .tick = tick,
                                .tick_context = tick_context};
  if (status == ND_OK) status = nd_confirm_by(out, found, &request, err);
  clear_hands(&c);
  return status;
}
