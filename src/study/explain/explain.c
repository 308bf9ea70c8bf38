/* nd_explain: finds, measures, compares and describes two documents; see
 * include/neardup/explain.h. */
#include "study/explain/explain_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/escape.h"
#include "study/common/corpus.h"

/* --- finding both ------------------------------------------------------------------ */

typedef struct finder {
  nd_explained *e;
  const nd_explain_request *request;
  nd_buf escaped[2]; /* the ids, escaped */
  nd_buf room[2];
  nd_str printed[2]; /* the ids, as read from a list */
  bool by_file;      /* without inputs: the only documents of two files */
  int file;
  bool same_id, again;
} finder;

static nd_status keep(nd_explained_side *side, const nd_corpus_document *d, nd_error *err) {
  side->id.n = side->url.n = 0;
  ND_TRY(nd_buf_append(&side->id, d->id.p, d->id.n, err));
  ND_TRY(nd_buf_append(&side->url, d->url.p, d->url.n, err));
  ND_TRY(nd_tokens_from_text(&side->words, nd_buf_str(&d->tokens->text), err));
  side->found = true;
  return ND_OK;
}

static bool wanted(const finder *f, int side, nd_str id) {
  return nd_str_eq(id, f->printed[side]) || nd_str_eq(id, nd_buf_str(&f->escaped[side]));
}

/* Stops the walk, like a cancellation, once both documents are found. */
static nd_status look_at(void *context, const nd_corpus_document *d, nd_error *err) {
  finder *f = context;
  nd_explained_side *sides = f->e->side;
  if (f->by_file) {
    if (sides[f->file].found) {
      f->again = true;
      return ND_ERR_CANCELLED;
    }
    return keep(&sides[f->file], d, err);
  }
  for (int i = 0; i < 2; i++) {
    if (sides[i].found || !wanted(f, i, d->id)) continue;
    ND_TRY(keep(&sides[i], d, err));
    if (f->same_id) break; /* the next document with this id is the other side */
  }
  return sides[0].found && sides[1].found ? ND_ERR_CANCELLED : ND_OK;
}

static nd_status walk(finder *f, nd_summary *summary, const char *const *inputs, size_t n,
                      const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  nd_error local = {0};
  nd_status status = nd_corpus_each(summary, inputs, n, options, hooks, look_at, f, &local);
  bool stopped = status == ND_ERR_CANCELLED && local.message[0] == '\0';
  if (stopped) return ND_OK;
  nd_error_pass(err, &local);
  return status;
}

static nd_status missing(const finder *f, const nd_summary *s, nd_error *err) {
  const nd_explained_side *sides = f->e->side;
  if (f->same_id && sides[0].found && !s->rejected)
    return nd_fail(err, ND_ERR_USAGE,
                   "only one document has the id %s; name another id to compare it with",
                   f->request->a);
  const char *id = sides[0].found ? f->request->b : f->request->a;
  if (s->rejected)
    return nd_fail(err, ND_ERR_DATA,
                   "no %sreadable document has the id %s: %" PRIu64 " were read, %" PRIu64
                   " rejected; `neardup inspect` lists them with reasons",
                   f->same_id && sides[0].found ? "second " : "", id, s->documents, s->rejected);
  return nd_fail(err, ND_ERR_USAGE,
                 "no document has the id %s (%" PRIu64
                 " were read); ids are those of pairs.tsv and clusters.tsv, with the same INPUT",
                 id, s->documents);
}

static nd_status find_both(finder *f, nd_summary *summary, const nd_options *options,
                           const nd_hooks *hooks, nd_error *err) {
  const nd_explain_request *r = f->request;
  f->by_file = r->input_n == 0;
  f->same_id = strcmp(r->a, r->b) == 0;
  for (int i = 0; i < 2; i++) {
    nd_str id = nd_str_of(i ? r->b : r->a);
    ND_TRY(nd_tsv_append(&f->escaped[i], id, err));
    ND_TRY(nd_tsv_canonical(&f->printed[i], &f->room[i], id, err));
  }
  if (!f->by_file) {
    ND_TRY(walk(f, summary, r->inputs, r->input_n, options, hooks, err));
    return f->e->side[0].found && f->e->side[1].found ? ND_OK : missing(f, summary, err);
  }
  for (f->file = 0; f->file < 2; f->file++) {
    const char *path = f->file ? r->b : r->a;
    ND_TRY(walk(f, summary, &path, 1, options, hooks, err));
    if (!f->e->side[f->file].found) return nd_fail(err, ND_ERR_USAGE, "%s has no document", path);
    if (f->again)
      return nd_fail(err, ND_ERR_USAGE,
                     "%s has more than one document; name their ids, then the files: "
                     "neardup explain ID ID %s",
                     path, path);
  }
  return ND_OK;
}

/* --- describing --------------------------------------------------------------------- */

/* Wraps words into lines of a given width. */
typedef struct writer {
  nd_buf *out;
  unsigned width, column;
  nd_status status;
  nd_error *err;
  nd_buf word;
} writer;

static void put(writer *w, const char *text) {
  if (w->status == ND_OK) w->status = nd_buf_append(w->out, text, strlen(text), w->err);
}

/* Estimates terminal columns: Chinese, Japanese and Korean take two.  A normalised word has only
 * letters, marks and digits, so no full-width forms or emoji. */
static unsigned columns_of(nd_str text) {
  unsigned n = 0;
  for (size_t at = 0; at < text.n;) {
    uint32_t c = nd_escape_point(text, &at);
    bool mark = (c >= 0x300 && c < 0x370) || (c >= 0xfe00 && c < 0xfe10) || c >= 0xe0000;
    bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) ||
                (c >= 0xac00 && c < 0xd7a4) || (c >= 0xf900 && c < 0xfb00) || c >= 0x20000;
    n += mark ? 0 : wide ? 2 : 1;
  }
  return n;
}

/* Puts a word with its brackets.  The colour is set and reset around it, so that it never
 * extends over a line end. */
static void put_word(writer *w, const char *before, nd_str word, const char *after,
                     const char *colour) {
  w->word.n = 0;
  if (w->status == ND_OK) w->status = nd_escape_plain(&w->word, word, true, w->err);
  unsigned n = columns_of(nd_buf_str(&w->word)) + (unsigned)(strlen(before) + strlen(after));
  if (w->column && w->column + 1 + n > w->width) {
    put(w, "\n");
    w->column = 0;
  }
  if (w->column) {
    put(w, " ");
    w->column++;
  }
  put(w, colour);
  put(w, before);
  if (w->status == ND_OK) w->status = nd_buf_append(w->out, w->word.p, w->word.n, w->err);
  put(w, after);
  if (colour[0]) put(w, "\x1b[0m");
  w->column += n;
}

static void put_words(writer *w, const nd_tokens *t, size_t first, size_t n, const char *open,
                      const char *close, const char *colour) {
  for (size_t i = 0; i < n; i++)
    put_word(w, i == 0 ? open : "", nd_token(t, first + i), i + 1 == n ? close : "", colour);
}

static void put_same(writer *w, const nd_explained *e, const nd_diff_run *r, bool whole,
                     const char *colour) {
  enum { EDGE = 12 };
  const nd_tokens *t = &e->side[0].words;
  if (whole || r->a_n <= 3 * EDGE) {
    put_words(w, t, r->a, r->a_n, "", "", colour);
    return;
  }
  char note[64];
  snprintf(note, sizeof note, "[... %u words the same ...]", (unsigned)(r->a_n - 2 * EDGE));
  put_words(w, t, r->a, EDGE, "", "", colour);
  put_word(w, "", nd_str_of(note), "", colour);
  put_words(w, t, r->a + r->a_n - EDGE, EDGE, "", "", colour);
}

static void put_difference(writer *w, const nd_explained *e, const nd_explain_request *q) {
  const char *quiet = q->colour ? "\x1b[2m" : "";
  const char *left = q->colour ? "\x1b[31m" : "", *right = q->colour ? "\x1b[32m" : "";
  for (size_t i = 0; i < e->diff.n; i++) {
    const nd_diff_run *r = &e->diff.runs[i];
    if (r->same) {
      put_same(w, e, r, q->whole, quiet);
    } else {
      put_words(w, &e->side[0].words, r->a, r->a_n, "[-", "-]", left);
      put_words(w, &e->side[1].words, r->b, r->b_n, "{+", "+}", right);
    }
  }
  if (w->column) put(w, "\n");
}

static void put_line(writer *w, const char *name, const char *colour, nd_str text,
                     const char *more) {
  char head[24];
  snprintf(head, sizeof head, "%-13s ", name);
  put(w, head);
  put(w, colour);
  if (w->status == ND_OK) w->status = nd_escape_plain(w->out, text, true, w->err);
  if (colour[0]) put(w, "\x1b[0m");
  put(w, more);
  put(w, "\n");
}

static nd_status tell(nd_buf *out, const nd_explained *e, const nd_explain_request *q,
                      nd_error *err) {
  writer w = {.out = out, .width = q->width ? q->width : 80, .err = err};
  const char *bold = q->colour ? "\x1b[1m" : "";
  char text[160];
  for (int i = 0; i < 2; i++) {
    const char *colour = !q->colour ? "" : i ? "\x1b[32m" : "\x1b[31m";
    snprintf(text, sizeof text, "  (%zu words)", e->side[i].words.count);
    put_line(&w, i ? "B" : "A", colour, nd_buf_str(&e->side[i].id), text);
    if (e->side[i].url.n) put_line(&w, "", "", nd_buf_str(&e->side[i].url), "");
  }
  snprintf(text, sizeof text, ": %s", nd_difference_text(e->kind));
  put_line(&w, "difference", bold, nd_str_of(nd_difference_name(e->kind)), text);
  if (e->url != ND_URL_SAME)
    put_line(&w, "URLs", "", nd_str_of("differ in the "), nd_url_difference_name(e->url));
  snprintf(text, sizeof text, "%" PRIu64 " the same, %" PRIu64 " only in A, %" PRIu64 " only in B",
           e->diff.same, e->diff.only_a, e->diff.only_b);
  put_line(&w, "words", "", nd_str_of(text), "");
  put(&w, "\n");
  for (size_t i = 0; i < e->measure_n; i++) {
    const nd_measure *m = &e->measures[i];
    snprintf(text, sizeof text, "%-10s  %s", m->value, m->what);
    put_line(&w, m->name, "", nd_str_of(text), "");
  }
  put(&w, "\n");
  if (e->diff.only_a + e->diff.only_b || q->whole) put_difference(&w, e, q);
  nd_buf_clear(&w.word);
  return w.status;
}

static nd_status compare(nd_explained *e, const nd_settings *s, nd_error *err) {
  const nd_tokens *a = &e->side[0].words, *b = &e->side[1].words;
  ND_TRY(nd_measures(e->measures, &e->measure_n, s, a, b, err));
  ND_TRY(nd_url_compare(&e->url, nd_buf_str(&e->side[0].url), nd_buf_str(&e->side[1].url), err));
  nd_diff judged = {0};
  nd_status status = nd_word_diff(&judged, nd_buf_str(&a->text), a->end, a->count,
                                  nd_buf_str(&b->text), b->end, b->count, err);
  if (status == ND_OK) e->kind = nd_difference_kind(&judged, a, b, e->url);
  nd_diff_clear(&judged);
  ND_TRY(status);
  ND_TRY(nd_word_diff(&e->diff, nd_buf_str(&a->text), a->end, a->count, nd_buf_str(&b->text),
                      b->end, b->count, err));
  nd_diff_join_islands(&e->diff, 2);
  return ND_OK;
}

static nd_status run(nd_explained *e, nd_summary *out, const nd_explain_request *q,
                     const nd_sink *sink, const nd_options *options, const nd_hooks *hooks,
                     nd_error *err) {
  nd_settings settings;
  ND_TRY(nd_settings_resolve(&settings, options, err));
  finder f = {.e = e, .request = q};
  nd_status status = find_both(&f, out, options, hooks, err);
  for (int i = 0; i < 2; i++) {
    nd_buf_clear(&f.escaped[i]);
    nd_buf_clear(&f.room[i]);
  }
  ND_TRY(status);
  ND_TRY(compare(e, &settings, err));
  nd_buf text = {0};
  status = q->form == ND_EXPLAIN_HTML ? nd_explained_html(&text, e, err) : tell(&text, e, q, err);
  if (status == ND_OK) status = sink->write(sink->context, text.p, text.n, err);
  nd_buf_clear(&text);
  return status;
}

nd_status nd_explain(nd_summary *out, const nd_explain_request *request, const nd_options *options,
                     const nd_hooks *hooks, nd_error *err) {
  nd_explained e = {0};
  *out = (nd_summary){0};
  nd_status status = run(&e, out, request, request->sink, options, hooks, err);
  for (int i = 0; i < 2; i++) {
    nd_buf_clear(&e.side[i].id);
    nd_buf_clear(&e.side[i].url);
    nd_tokens_clear(&e.side[i].words);
  }
  nd_diff_clear(&e.diff);
  out->rejected = 0; /* rejected records do not affect the explanation */
  return status;
}
