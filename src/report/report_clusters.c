/* The clusters embedded in a report: a sample with texts, spread over the similarities of their
 * members, and as many others by name as there is room for.
 *
 *   {"clusters": [{"n": 7, "t": "words of the kept one", "from": 0, "words": 812,
 *                  "m": [{"i": id, "u": url, "v": "0.912345", "d": [...]}, …]}, …]}
 *
 * The first of "m" is the kept member, without "v" and "d".  The text of another member is stored
 * as its difference to the kept text: pairs of numbers copy words (from, count), strings are words
 * of its own.  Near-duplicates share most words, so this takes little more room than one text.
 * Clusters without "t" have only names. */
#include <stdlib.h>

#include "base/hash.h"
#include "output/escape.h"
#include "report/report_data.h"
#include "result/lines.h"
#include "similarity/word_diff.h"
#include "text/words.h"

enum {
  SLICES = 10,        /* of closeness, plus one for exact duplicates alone */
  PER_SLICE = 6,      /* clusters with texts */
  MEMBERS = 10,       /* members of such a cluster, besides the kept one */
  WORDS = 1500,       /* words of the kept text */
  OWN_WORDS = 600,    /* words of a member that are not in the kept text */
  TEXT_BYTES = 24000, /* bytes of a cluster with texts */
  SAMPLES = (SLICES + 1) * PER_SLICE,
  NAMED = 40, /* members of a cluster without texts */
  TEXTS_ROOM = 1000000,
  LOOK = 48 << 10, /* bytes of a text that are compared */
  READ = 64 << 20  /* bytes of texts that are read in total */
};

typedef struct member {
  uint32_t document;
  float closeness;
} member;

typedef struct sample {
  uint32_t centre;
  uint64_t order; /* a hash that selects the clusters of a slice */
  float closeness;
  size_t n;
  member members[MEMBERS]; /* the least similar ones, in ascending order of similarity */
} sample;

typedef struct embedding {
  nd_report *r;
  const nd_report_source *s;
  float *least; /* per centre: closeness of its least similar member */
  sample *samples;
  size_t n;
  nd_texts *texts;
  uint64_t read;
  nd_buf kept, other, id; /* texts; an id, a URL or a difference */
  nd_tokens kept_words, other_words;
  nd_diff diff;
} embedding;

static void find_least(embedding *e) {
  const nd_clusters *c = e->s->clusters;
  for (uint32_t d = 0; d < c->n; d++) e->least[d] = 2;
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->centre[d] == d) continue;
    float closeness = (float)nd_report_closeness(&e->s->job->settings, c->value[d]);
    if (closeness < e->least[c->centre[d]]) e->least[c->centre[d]] = closeness;
  }
}

/* Selects the PER_SLICE clusters of every slice with the smallest hashes. */
static void choose(embedding *e) {
  const nd_clusters *c = e->s->clusters;
  size_t taken[SLICES + 1] = {0};
  for (uint32_t d = 0; d < c->n; d++) {
    if (e->s->size[d] < 2) continue;
    size_t slice = (size_t)(e->least[d] * SLICES);
    uint64_t order = nd_mix(d);
    sample *of = e->samples + slice * PER_SLICE;
    size_t at = taken[slice];
    while (at > 0 && of[at - 1].order > order) at--;
    if (at == PER_SLICE) continue;
    size_t last = taken[slice] < PER_SLICE ? taken[slice]++ : PER_SLICE - 1;
    memmove(of + at + 1, of + at, (last - at) * sizeof *of);
    of[at] = (sample){.centre = d, .order = order, .closeness = e->least[d]};
  }
  for (size_t slice = 0; slice <= SLICES; slice++) {
    memmove(e->samples + e->n, e->samples + slice * PER_SLICE, taken[slice] * sizeof *e->samples);
    e->n += taken[slice];
  }
}

/* Returns the sample with this centre, which must exist. */
static sample *sample_of(embedding *e, uint32_t centre) {
  sample *s = e->samples;
  while (s->centre != centre) s++;
  return s;
}

static void collect_members(embedding *e) {
  const nd_clusters *c = e->s->clusters;
  /* least[] is reused: it marks the selected centres for fast lookup. */
  for (uint32_t d = 0; d < c->n; d++) e->least[d] = 0;
  for (size_t i = 0; i < e->n; i++) e->least[e->samples[i].centre] = 1;
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->centre[d] == d || e->least[c->centre[d]] == 0) continue;
    sample *s = sample_of(e, c->centre[d]);
    member m = {d, (float)nd_report_closeness(&e->s->job->settings, c->value[d])};
    size_t at = s->n;
    while (at > 0 && s->members[at - 1].closeness > m.closeness) at--;
    if (at == MEMBERS) continue;
    size_t last = s->n < MEMBERS ? s->n++ : MEMBERS - 1;
    memmove(s->members + at + 1, s->members + at, (last - at) * sizeof m);
    s->members[at] = m;
  }
}

/* --- JSON --------------------------------------------------------------------------- */

static nd_status put_name(nd_buf *out, embedding *e, uint32_t document, nd_error *err) {
  char name[ND_REPORT_NAME + 8];
  e->id.n = 0;
  ND_TRY(nd_ids_append(&e->id, e->s->job->ids, document, err));
  nd_report_name(name, nd_buf_str(&e->id));
  ND_TRY(nd_buf_append(out, "{\"i\":", 5, err));
  ND_TRY(nd_escape_script(out, nd_str_of(name), err));
  ND_TRY(nd_report_url(&e->id, &e->s->job->store, document, err));
  if (e->id.n == 0) return ND_OK;
  nd_report_name(name, nd_buf_str(&e->id));
  ND_TRY(nd_buf_append(out, ",\"u\":", 5, err));
  return nd_escape_script(out, nd_str_of(name), err);
}

static nd_status put_value(nd_buf *out, const embedding *e, uint32_t document, nd_error *err) {
  ND_TRY(nd_buf_append(out, ",\"v\":\"", 6, err));
  ND_TRY(nd_lines_value(out, e->s->job->settings.similarity, e->s->clusters->value[document], err));
  return nd_buf_append(out, "\"", 1, err);
}

/* Writes words first … first + n - 1 as one string. */
static nd_status put_words(nd_buf *out, const nd_tokens *t, size_t first, size_t n, nd_error *err) {
  size_t from = first ? t->end[first - 1] + 1 : 0;
  return nd_escape_script(out, (nd_str){t->text.p + from, t->end[first + n - 1] - from}, err);
}

/* Writes the difference to the kept text within its window [from, to) of words; "cut" says that
 * the member has more words of its own. */
static nd_status put_difference(nd_buf *out, const embedding *e, size_t from, size_t to,
                                nd_error *err) {
  size_t own = 0;
  bool first = true;
  ND_TRY(nd_buf_append(out, ",\"d\":[", 6, err));
  for (size_t i = 0; i < e->diff.n && own < OWN_WORDS; i++) {
    const nd_diff_run *run = &e->diff.runs[i];
    size_t begin = run->a, end = run->a + run->a_n;
    if (run->same) {
      begin = begin > from ? begin : from;
      end = end < to ? end : to;
      if (begin >= end) continue;
      ND_TRY(nd_buf_printf(out, err, "%s%zu,%zu", first ? "" : ",", begin - from, end - begin));
      first = false;
    } else if (run->b_n && begin >= from && begin <= to) {
      size_t n = run->b_n < OWN_WORDS - own ? run->b_n : OWN_WORDS - own;
      if (!first) ND_TRY(nd_buf_append(out, ",", 1, err));
      ND_TRY(put_words(out, &e->other_words, run->b, n, err));
      own += n;
      first = false;
    }
  }
  ND_TRY(nd_buf_append(out, "]", 1, err));
  return own >= OWN_WORDS ? nd_buf_append(out, ",\"cut\":1", 8, err) : ND_OK;
}

/* Splits a document, or its beginning, into words. */
static nd_status take_words(nd_tokens *out, nd_buf *text, bool *cut, embedding *e,
                            uint32_t document, nd_error *err) {
  ND_TRY(nd_texts_get(text, e->texts, document, err));
  e->read += text->n;
  *cut = text->n > LOOK;
  if (*cut) {
    text->n = LOOK;
    while (text->n > 0 && text->p[text->n] != ' ') text->n--;
  }
  return nd_tokens_from_text(out, nd_buf_str(text), err);
}

static nd_status compare(embedding *e, uint32_t document, nd_error *err) {
  bool cut;
  ND_TRY(take_words(&e->other_words, &e->other, &cut, e, document, err));
  nd_diff *d = &e->diff;
  return nd_word_diff(d, nd_buf_str(&e->kept_words.text), e->kept_words.end, e->kept_words.count,
                      nd_buf_str(&e->other_words.text), e->other_words.end, e->other_words.count,
                      err);
}

/* Returns the start of the window into a long text: a little before the first difference. */
static size_t window_from(const embedding *e) {
  size_t count = e->kept_words.count, first = 0;
  if (count <= WORDS) return 0;
  if (e->diff.runs[0].same) first = e->diff.runs[0].a_n;
  first = first > 40 ? first - 40 : 0;
  return first + WORDS < count ? first : count - WORDS;
}

static nd_status put_texts(nd_buf *out, embedding *e, const sample *x, nd_error *err) {
  bool cut;
  ND_TRY(take_words(&e->kept_words, &e->kept, &cut, e, x->centre, err));
  size_t from = 0, to = e->kept_words.count;
  for (size_t i = 0; i < x->n; i++) {
    ND_TRY(compare(e, x->members[i].document, err));
    if (i == 0) {
      from = window_from(e);
      if (to - from > WORDS) to = from + WORDS;
      /* Words of Chinese are characters; those of a hostile page may be megabytes. */
      size_t begin = from ? e->kept_words.end[from - 1] + 1 : 0;
      while (to > from && e->kept_words.end[to - 1] - begin > TEXT_BYTES / 2) to--;
      ND_TRY(nd_buf_printf(out, err, ",\"from\":%zu,\"words\":%zu%s,\"t\":", from,
                           e->kept_words.count, cut ? ",\"more\":1" : ""));
      if (to > from)
        ND_TRY(put_words(out, &e->kept_words, from, to - from, err));
      else
        ND_TRY(nd_buf_append(out, "\"\"", 2, err));
      ND_TRY(nd_buf_append(out, ",\"m\":[", 6, err));
      ND_TRY(put_name(out, e, x->centre, err));
      ND_TRY(nd_buf_append(out, "}", 1, err));
    }
    size_t before = out->n;
    ND_TRY(nd_buf_append(out, ",\n", 2, err));
    ND_TRY(put_name(out, e, x->members[i].document, err));
    ND_TRY(put_value(out, e, x->members[i].document, err));
    e->id.n = 0;
    ND_TRY(put_difference(&e->id, e, from, to, err));
    /* One giant word: only the name is shown. */
    bool giant = out->n - before + e->id.n > TEXT_BYTES;
    ND_TRY(nd_buf_append(out, giant ? ",\"d\":[],\"cut\":1" : e->id.p, giant ? 15 : e->id.n, err));
    ND_TRY(nd_buf_append(out, "}", 1, err));
  }
  return nd_buf_append(out, "]", 1, err);
}

static nd_status put_samples(embedding *e, nd_error *err) {
  nd_buf *out = &e->r->browser;
  size_t i = 0;
  for (; i < e->n && e->read < READ; i++) {
    const sample *x = &e->samples[i];
    size_t before = out->n;
    ND_TRY(nd_buf_printf(out, err, "%s{\"n\":%u", e->r->browser_clusters ? ",\n" : "",
                         (unsigned)e->s->size[x->centre]));
    ND_TRY(put_texts(out, e, x, err));
    ND_TRY(nd_buf_append(out, "}", 1, err));
    if (out->n > TEXTS_ROOM) {
      out->n = before;
      break;
    }
    e->r->browser_clusters++;
    e->r->browser_texts++;
  }
  /* Samples that did not fit are listed by name like the others. */
  for (; i < e->n; i++) e->least[e->samples[i].centre] = 0;
  return ND_OK;
}

/* Clusters by name only.  Members of a cluster may be anywhere, so the members of the first
 * clusters, as many as may fit, are sorted together. */
typedef struct named {
  uint32_t centre, document;
} named;

static int by_centre(const void *a, const void *b) {
  const named *x = a, *y = b;
  if (x->centre != y->centre) return x->centre < y->centre ? -1 : 1;
  return (x->document > y->document) - (x->document < y->document);
}

static nd_status put_named(embedding *e, const named *list, size_t n, bool *full, nd_error *err) {
  nd_buf *out = &e->r->browser;
  size_t before = out->n;
  uint32_t centre = list[0].centre;
  /* Clusters with texts come first, and there is at least one. */
  ND_TRY(nd_buf_printf(out, err, ",\n{\"n\":%u,\"m\":[", (unsigned)e->s->size[centre]));
  ND_TRY(put_name(out, e, centre, err));
  ND_TRY(nd_buf_append(out, "}", 1, err));
  for (size_t i = 0; i < n && i < NAMED; i++) {
    ND_TRY(nd_buf_append(out, ",", 1, err));
    ND_TRY(put_name(out, e, list[i].document, err));
    ND_TRY(put_value(out, e, list[i].document, err));
    ND_TRY(nd_buf_append(out, "}", 1, err));
  }
  ND_TRY(nd_buf_append(out, "]}", 2, err));
  *full = out->n > ND_REPORT_BROWSER;
  if (*full)
    out->n = before;
  else
    e->r->browser_clusters++;
  return ND_OK;
}

static nd_status put_others(embedding *e, nd_error *err) {
  enum { CLUSTERS = 6000, ROOM = 20000 };
  const nd_clusters *c = e->s->clusters;
  named *list = nd_malloc(ROOM * sizeof *list);
  if (!list) return nd_fail_memory(err, ROOM * sizeof *list);
  /* Selects the first clusters whose members fit the list. */
  uint32_t last = 0;
  size_t members = 0, clusters = 0;
  for (uint32_t d = 0; d < c->n && clusters < CLUSTERS; d++) {
    if (e->s->size[d] < 2) continue;
    if (members + e->s->size[d] > ROOM) break;
    members += e->s->size[d];
    clusters++;
    last = d + 1;
  }
  size_t n = 0;
  for (uint32_t d = 0; d < c->n; d++) {
    uint32_t centre = c->centre[d];
    if (centre == d || centre >= last || e->least[centre] != 0) continue;
    list[n++] = (named){centre, d};
  }
  qsort(list, n, sizeof *list, by_centre);
  nd_status status = ND_OK;
  bool full = false;
  for (size_t i = 0; status == ND_OK && !full && i < n;) {
    size_t end = i;
    while (end < n && list[end].centre == list[i].centre) end++;
    status = put_named(e, list + i, end - i, &full, err);
    i = end;
  }
  nd_free(list);
  return status;
}

static nd_status embed(embedding *e, nd_error *err) {
  uint32_t n = e->s->clusters->n;
  e->least = nd_malloc(n * sizeof *e->least);
  e->samples = nd_calloc(SAMPLES, sizeof *e->samples);
  if (!e->least || !e->samples) return nd_fail_memory(err, n * sizeof *e->least);
  ND_TRY(nd_texts_new(&e->texts, &e->s->job->source, err));
  find_least(e);
  choose(e);
  collect_members(e);
  nd_buf *out = &e->r->browser;
  ND_TRY(nd_buf_printf(out, err, "[\n"));
  ND_TRY(put_samples(e, err));
  ND_TRY(put_others(e, err));
  return nd_buf_append(out, "]", 1, err);
}

nd_status nd_report_clusters(nd_report *r, const nd_report_source *s, nd_error *err) {
  embedding e = {.r = r, .s = s};
  nd_status status = embed(&e, err);
  nd_free(e.least);
  nd_free(e.samples);
  nd_texts_free(e.texts);
  nd_buf_clear(&e.kept);
  nd_buf_clear(&e.other);
  nd_buf_clear(&e.id);
  nd_tokens_clear(&e.kept_words);
  nd_tokens_clear(&e.other_words);
  nd_diff_clear(&e.diff);
  return status;
}
