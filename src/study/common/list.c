/* Lists of pairs and clusters; see list.h. */
#include "study/common/list.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/radix.h"
#include "input/line_list.h"
#include "output/tsv.h"

enum { THIRD_NONE, THIRD_NUMBER, THIRD_STATE, THIRD_WORD };

/* A line of the list; ids are numbers in the map of the list. */
typedef struct entry {
  uint32_t a, b;
  int64_t value;
  uint64_t line;
  int third;
} entry;

typedef struct reader {
  const char *name;
  nd_id_map words; /* all first and second fields */
  entry *entries;
  size_t n, cap;
  nd_buf room, twice;
} reader;

void nd_list_clear(nd_list *l) {
  nd_free(l->key);
  nd_free(l->value);
  nd_free(l->judged);
  nd_free(l->cluster);
  *l = (nd_list){0};
}

nd_status nd_list_kind_of(nd_list_kind *out, const char *word, const char *option, nd_error *err) {
  *out = ND_LIST_AUTO;
  if (!word || strcmp(word, "auto") == 0) return ND_OK;
  *out = strcmp(word, "pairs") == 0 ? ND_LIST_PAIRS : ND_LIST_CLUSTERS;
  if (*out == ND_LIST_PAIRS || strcmp(word, "clusters") == 0) return ND_OK;
  return nd_fail(err, ND_ERR_USAGE, "%s must be auto, pairs or clusters, not %s", option, word);
}

/* Looks up a listed id in the common map, whose ids are escaped.  If all documents are
 * known, ids without escapes, in this list or in that of the documents, are found too. */
static nd_status find_id(uint32_t *out, reader *r, nd_str id, bool closed, nd_id_map *ids,
                         nd_error *err) {
  nd_str field;
  ND_TRY(nd_tsv_canonical(&field, &r->room, id, err));
  if (!closed) return nd_id_map_number(out, ids, field, err);
  *out = nd_id_map_find(ids, field);
  if (*out != ND_NO_ID || field.p == id.p) return ND_OK; /* no escapes either way */
  r->twice.n = 0;
  ND_TRY(nd_tsv_append(&r->twice, id, err));
  *out = nd_id_map_find(ids, nd_buf_str(&r->twice));
  if (*out != ND_NO_ID) return ND_OK;
  r->twice.n = 0;
  ND_TRY(nd_tsv_unescape(&r->twice, id, err));
  ND_TRY(nd_tsv_canonical(&field, &r->room, nd_buf_str(&r->twice), err));
  *out = nd_id_map_find(ids, field);
  return ND_OK;
}

static nd_status bad_line(const reader *r, uint64_t line, const char *why, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA,
                 "%s:%" PRIu64
                 " %s; a line is id TAB id TAB number (pairs) or id TAB cluster (clusters)",
                 r->name, line, why);
}

static int third_of(int64_t *value, nd_str field) {
  if (field.n == 0) return THIRD_NONE;
  if (nd_line_number(value, field)) return THIRD_NUMBER;
  if (nd_str_eq(field, nd_str_of("kept")) || nd_str_eq(field, nd_str_of("dropped")))
    return THIRD_STATE;
  return THIRD_WORD;
}

static nd_status take_line(void *context, nd_str line, uint64_t number, nd_error *err) {
  reader *r = context;
  nd_str a = {0}, b, c;
  entry e = {.line = number};
  (void)nd_line_field(&a, &line, '\t'); /* a line has at least one field */
  if (!nd_line_field(&b, &line, '\t')) return bad_line(r, number, "has no tab", err);
  if (a.n == 0 || b.n == 0) return bad_line(r, number, "has an empty field", err);
  if (nd_line_field(&c, &line, '\t')) e.third = third_of(&e.value, c);
  ND_TRY(nd_id_map_number(&e.a, &r->words, a, err));
  ND_TRY(nd_id_map_number(&e.b, &r->words, b, err));
  ND_TRY(nd_array_grow(&r->entries, &r->cap, r->n + 1, sizeof *r->entries, err));
  r->entries[r->n++] = e;
  return ND_OK;
}

/* Detects pairs or clusters, from the third field if there is one.  Two columns are clusters
 * if every first field occurs once and either some line names itself, or no cluster is also
 * a document and one has two members. */
static nd_status guess(nd_list_kind *out, const reader *r, nd_error *err) {
  *out = ND_LIST_PAIRS;
  for (size_t i = 0; i < r->n; i++) {
    if (r->entries[i].third == THIRD_NUMBER) return ND_OK;
    if (r->entries[i].third == THIRD_STATE) {
      *out = ND_LIST_CLUSTERS;
      return ND_OK;
    }
  }
  uint8_t *seen =
      nd_calloc(r->words.n + 1, 1); /* bits: first field, second field, second field twice */
  if (!seen) return nd_fail_memory(err, r->words.n + 1);
  bool first_twice = false, own = false, shared = false, twice = false;
  for (size_t i = 0; i < r->n; i++) {
    const entry *e = &r->entries[i];
    first_twice |= seen[e->a] & 1;
    twice |= (seen[e->b] & 2) != 0;
    own |= e->a == e->b;
    seen[e->a] |= 1;
    seen[e->b] |= 2;
  }
  for (size_t w = 0; w < r->words.n; w++) shared |= seen[w] == 3;
  nd_free(seen);
  if (r->n && !first_twice && (own || (!shared && twice))) *out = ND_LIST_CLUSTERS;
  return ND_OK;
}

static void note(char *out, size_t room, uint64_t line, uint64_t other, const char *what,
                 nd_str id) {
  if (out[0]) return;
  if (other)
    snprintf(out, room, "lines %" PRIu64 " and %" PRIu64 ": %s %.*s", other, line, what,
             (int)(id.n < 100 ? id.n : 100), id.p); /* untaken: short names only */
  else
    /* untaken: short names only */
    snprintf(out, room, "line %" PRIu64 ": %s %.*s", line, what, (int)(id.n < 100 ? id.n : 100),
             id.p);
}

/* Numbers of the words of the list in the common map, ND_NO_ID if unknown. */
static nd_status translate(uint32_t **out, reader *r, const nd_list_rule *rule, nd_list_kind kind,
                           nd_id_map *ids, nd_error *err) {
  uint32_t *to = nd_malloc((r->words.n + 1) * sizeof *to);
  if (!to) return nd_fail_memory(err, (r->words.n + 1) * sizeof *to);
  memset(to, 0xff, (r->words.n + 1) * sizeof *to);
  *out = to;
  for (size_t i = 0; i < r->n; i++) {
    uint32_t word[2] = {r->entries[i].a, r->entries[i].b};
    for (int k = 0; k < (kind == ND_LIST_PAIRS ? 2 : 1); k++) {
      if (to[word[k]] != ND_NO_ID) continue;
      nd_str id = nd_id_map_id(&r->words, word[k]);
      ND_TRY(find_id(&to[word[k]], r, id, rule->closed, ids, err));
    }
  }
  return ND_OK;
}

static bool means_yes(const entry *e, const nd_list_rule *rule) {
  if (e->third != THIRD_NUMBER) return true;
  if (rule->has_threshold) return e->value >= rule->threshold;
  return !rule->above_zero || e->value > 0;
}

static void unknown_id(nd_list *l, const reader *r, const entry *e, uint32_t word) {
  l->notes.unknown++;
  note(l->notes.first_unknown, sizeof l->notes.first_unknown, e->line, 0, "no document",
       nd_id_map_id(&r->words, word));
}

/* Builds the list from sorted items, merging equal pairs. */
static void unite(nd_list *l, const reader *r, const nd_list_rule *rule, const nd_item *items,
                  size_t n) {
  for (size_t i = 0; i < n; i++) {
    const entry *e = &r->entries[items[i].value];
    nd_judgement judged = means_yes(e, rule) ? ND_JUDGED_YES : ND_JUDGED_NO;
    if (i && items[i].key == items[i - 1].key) {
      uint8_t *before = &l->judged[l->n - 1];
      l->notes.repeated++;
      if (*before == judged || *before == ND_JUDGED_BOTH) continue;
      *before = ND_JUDGED_BOTH;
      l->notes.contradicting++;
      nd_str a = nd_id_map_id(&r->words, e->a), b = nd_id_map_id(&r->words, e->b);
      char pair[140];
      /* untaken: short names only */
      snprintf(pair, sizeof pair, "the pair of %.*s and", (int)(a.n < 100 ? a.n : 100), a.p);
      note(l->notes.first_contradicting, sizeof l->notes.first_contradicting, e->line,
           r->entries[items[i - 1].value].line, pair, b);
      continue;
    }
    l->key[l->n] = items[i].key;
    l->value[l->n] = e->value;
    l->judged[l->n++] = (uint8_t)judged;
  }
}

static nd_status take_pairs(nd_list *l, const reader *r, const nd_list_rule *rule,
                            const uint32_t *to, nd_error *err) {
  size_t n = 0, room = r->n + 1;
  nd_item *items = nd_malloc(room * sizeof *items), *spare = nd_malloc(room * sizeof *spare);
  l->key = nd_malloc(room * sizeof *l->key);
  l->value = nd_malloc(room * sizeof *l->value);
  l->judged = nd_malloc(room);
  nd_status status = ND_OK;
  if (!items || !spare || !l->key || !l->value || !l->judged)
    status = nd_fail_memory(err, room * sizeof *items);
  l->notes.valued = true;
  for (size_t i = 0; i < r->n && status == ND_OK; i++) {
    const entry *e = &r->entries[i];
    uint32_t a = to[e->a], b = to[e->b];
    if (e->third == THIRD_STATE || e->third == THIRD_WORD)
      status = bad_line(r, e->line, "has no number in its third field", err);
    l->notes.valued &= e->third == THIRD_NUMBER;
    if (a == ND_NO_ID || b == ND_NO_ID)
      unknown_id(l, r, e, a == ND_NO_ID ? e->a : e->b);
    else if (a == b)
      l->notes.selves++;
    else
      items[n++] = (nd_item){nd_pair_ascending(a, b), i};
  }
  if (status == ND_OK) {
    nd_radix_items(items, spare, n);
    unite(l, r, rule, items, n);
  }
  nd_free(items);
  nd_free(spare);
  return status;
}

static nd_status take_clusters(nd_list *l, const reader *r, const uint32_t *to, size_t documents,
                               nd_error *err) {
  ND_TRY(nd_list_widen(l, (uint32_t)documents, err));
  uint64_t *line = nd_malloc((documents + 1) * sizeof *line);
  if (!line) return nd_fail_memory(err, (documents + 1) * sizeof *line);
  l->cluster_n = (uint32_t)r->words.n; /* an upper bound: the numbers of clusters have gaps */
  for (size_t i = 0; i < r->n; i++) {
    const entry *e = &r->entries[i];
    uint32_t d = to[e->a];
    if (d == ND_NO_ID) {
      unknown_id(l, r, e, e->a);
    } else if (l->cluster[d] == ND_NO_ID) {
      l->cluster[d] = e->b;
      line[d] = e->line;
    } else if (l->cluster[d] == e->b || l->cluster[d] == ND_CONTRADICTED) {
      l->notes.repeated++;
    } else {
      l->cluster[d] = ND_CONTRADICTED;
      l->notes.repeated++;
      l->notes.contradicting++;
      note(l->notes.first_contradicting, sizeof l->notes.first_contradicting, e->line, line[d],
           "the clusters of", nd_id_map_id(&r->words, e->a));
    }
  }
  nd_free(line);
  return ND_OK;
}

static nd_status take_list(nd_list *l, reader *r, const nd_list_rule *rule, nd_id_map *ids,
                           nd_error *err) {
  l->kind = rule->kind;
  if (l->kind == ND_LIST_AUTO) ND_TRY(guess(&l->kind, r, err));
  l->notes.kind = l->kind == ND_LIST_PAIRS ? "pairs" : "clusters";
  l->notes.lines = r->n;
  uint32_t *to = NULL;
  nd_status status = translate(&to, r, rule, l->kind, ids, err);
  if (status == ND_OK)
    status = l->kind == ND_LIST_PAIRS ? take_pairs(l, r, rule, to, err)
                                      : take_clusters(l, r, to, ids->n, err);
  nd_free(to);
  return status;
}

nd_status nd_list_read(nd_list *out, const char *path, const nd_list_rule *rule, nd_id_map *ids,
                       nd_error *err) {
  reader r = {.name = nd_line_list_name(path)};
  *out = (nd_list){0};
  nd_status status = nd_line_list_read(path, rule->hooks, take_line, &r, err);
  if (status == ND_OK) status = take_list(out, &r, rule, ids, err);
  nd_id_map_clear(&r.words);
  nd_free(r.entries);
  nd_buf_clear(&r.room);
  nd_buf_clear(&r.twice);
  return status;
}

nd_status nd_list_widen(nd_list *l, uint32_t documents, nd_error *err) {
  if (l->cluster && documents <= l->document_n) return ND_OK;
  size_t bytes = ((size_t)documents + 1) * sizeof *l->cluster;
  uint32_t *wide = nd_realloc(l->cluster, bytes);
  if (!wide) return nd_fail_memory(err, bytes);
  l->cluster = wide;
  for (uint32_t d = l->document_n; d < documents; d++) wide[d] = ND_NO_ID;
  l->document_n = documents;
  return ND_OK;
}

nd_judgement nd_list_judge(bool *listed, const nd_list *l, uint64_t key) {
  *listed = true;
  if (l->kind == ND_LIST_CLUSTERS) {
    uint32_t a = l->cluster[nd_pair_of(key).a], b = l->cluster[nd_pair_of(key).b];
    if (a == ND_CONTRADICTED || b == ND_CONTRADICTED) return ND_JUDGED_BOTH;
    return a == b && a != ND_NO_ID ? ND_JUDGED_YES : ND_JUDGED_NO;
  }
  size_t low = 0, high = l->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (l->key[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < l->n && l->key[low] == key) return (nd_judgement)l->judged[low];
  *listed = false;
  return ND_JUDGED_NO;
}
