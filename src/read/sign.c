/* Computing sketches of batches; see sign.h. */
#include "read/sign.h"

#include <xxhash.h>

#include "candidate/bands.h"
#include "cluster/keep.h"
#include "feature/boilerplate.h"
#include "read/sketches.h"
#include "text/plain.h"
#include "text/site.h"
#include "text/web.h"

enum {
  BIG_BUFFER = 16 << 20, /* after a huge document, buffers that hold more are given back */
  URL_MOST = 400,        /* bytes of a URL that are stored */
};

struct nd_signer {
  const nd_settings *settings;
  nd_decoder decoder;
  nd_plain plain;
  nd_tokens tokens;
  nd_shingles shingles;
  nd_sampler sampler;
  nd_boilerplate boilerplate;
  size_t stripped; /* boilerplate tokens removed from the last document */
  bool whole;      /* it was all boilerplate, so nothing was removed */
  uint64_t site;   /* its site; 0: unknown */
  nd_sketches sketches;
  nd_str secret;   /* key of the digests; empty: they depend on the seed only */
  bool keep_texts; /* also stores the texts of ranges */
  nd_signer_watch watch;
  void *watch_context;
};

nd_status nd_signer_new(nd_signer **out, const nd_settings *settings, nd_error *err) {
  nd_signer *s = nd_calloc(1, sizeof *s);
  if (!s) return nd_fail_memory(err, sizeof *s);
  *out = s;
  s->settings = settings;
  s->sampler.sample = &settings->sample;
  return nd_sketches_init(&s->sketches, settings, err);
}

void nd_signer_free(nd_signer *s) {
  if (!s) return;
  nd_decoder_clear(&s->decoder);
  nd_plain_clear(&s->plain);
  nd_tokens_clear(&s->tokens);
  nd_shingles_clear(&s->shingles);
  nd_sampler_clear(&s->sampler);
  nd_boilerplate_clear(&s->boilerplate);
  nd_sketches_clear(&s->sketches);
  nd_free(s);
}

void nd_signer_for_stage(nd_signer *s, nd_str secret, bool keep_texts) {
  s->secret = secret;
  s->keep_texts = keep_texts;
}

void nd_signer_watched(nd_signer *s, nd_signer_watch watch, void *context) {
  s->watch = watch;
  s->watch_context = context;
}

/* Returns buffers that a giant document has enlarged to the system. */
static void shrink_grown(nd_signer *s) {
  if (s->tokens.text.cap + s->plain.text.cap + s->decoder.body.cap < BIG_BUFFER) return;
  nd_decoder_clear(&s->decoder);
  nd_plain_clear(&s->plain);
  nd_tokens_clear(&s->tokens);
  nd_shingles_clear(&s->shingles);
  nd_shingles_clear(&s->sketches.features);
}

/* --ignore-boilerplate: removes the tokens of passages that recur on the document's site. */
static nd_status strip(nd_signer *s, const nd_document *d, nd_error *err) {
  const nd_settings *set = s->settings;
  size_t before = s->tokens.count;
  s->stripped = 0;
  s->whole = false;
  if (!set->options->ignore_boilerplate || set->counting_passages) return ND_OK;
  s->site = nd_site_key(d->url); /* 0 for --format sets */
  if (!set->passages)
    return nd_fail(err, ND_ERR_USAGE, "--ignore-boilerplate needs the entire corpus at once");
  if (!s->site) return ND_OK;
  ND_TRY(nd_boilerplate_strip(&s->stripped, &s->boilerplate, &s->tokens, s->site,
                              nd_boilerplate_window(set->tokens), set->passages, err));
  s->whole = before && s->stripped == before;
  return ND_OK;
}

/* Splits a document: body → text → tokens. */
static nd_status split(nd_str *text, nd_signer *s, const nd_document *d, nd_error *err) {
  if (d->kind == ND_KIND_SETS) {
    *text = d->body;
    ND_TRY(nd_plain_sets(&s->tokens, &s->plain, d->body, err));
    return strip(s, d, err);
  }
  nd_plain_request request = {.bytes = d->body,
                              .charset = d->charset,
                              .html = d->kind == ND_KIND_HTML,
                              .sniff = d->kind == ND_KIND_SNIFF,
                              .images = s->settings->tokens == ND_TOKENS_WEB};
  ND_TRY(nd_plain_text(text, &s->plain, &request, err));
  if (s->settings->tokens == ND_TOKENS_WEB)
    ND_TRY(nd_web_split(&s->tokens, *text, s->plain.images, d->url, err));
  else
    ND_TRY(nd_words_split(&s->tokens, *text, s->settings->tokens, err));
  return strip(s, d, err);
}

nd_status nd_signer_read(nd_read *out, nd_signer *s, const nd_format *format, nd_str raw,
                         nd_error *err) {
  nd_document *d = &out->document;
  *d = (nd_document){0};
  out->text = (nd_str){"", 0};
  out->tokens = &s->tokens;
  ND_TRY(format->decode(d, &s->decoder, raw, &s->settings->input, err));
  if (d->kind == ND_KIND_OTHER) {
    s->tokens.text.n = 0;
    s->tokens.count = 0;
    return ND_OK;
  }
  return split(&out->text, s, d, err);
}

/* Computes the document's shingles; with --sample, only those that are kept. */
static nd_status make_shingles(nd_block *b, nd_signer *s, size_t row, nd_error *err) {
  const nd_settings *set = s->settings;
  nd_str text = nd_buf_str(&s->tokens.text);
  ND_TRY(nd_shingle_make(&s->shingles, text, s->tokens.end, s->tokens.count, set->shingle,
                         set->options->seed, false, err));
  if (!set->sample.on) return ND_OK;
  bool emptied;
  uint64_t seen = s->shingles.n;
  ND_TRY(nd_sampler_run(&s->sampler, &emptied, &s->shingles, s->tokens.count, b->digest[row].low,
                        err));
  b->head.sample_seen += seen;
  b->head.sample_kept += emptied ? 0 : s->shingles.n;
  b->head.sample_emptied += emptied;
  return ND_OK;
}

static nd_status add_sketches(nd_block *b, nd_signer *s, size_t row, nd_str url, nd_error *err) {
  const nd_settings *set = s->settings;
  b->shingles[row] = s->tokens.count ? 1 : 0;
  if (nd_sketches_use_shingles(set) || set->sample.on) ND_TRY(make_shingles(b, s, row, err));
  uint64_t *words = set->row.total ? b->sketch + row * set->row.total : NULL;
  ND_TRY(nd_sketches_make(words, &s->sketches, &s->shingles, &s->tokens, url, err));
  if (s->sketches.value_n) {
    /* untaken: more than 2^31 things */
    b->shingles[row] = s->shingles.n < UINT32_MAX ? (uint32_t)s->shingles.n : UINT32_MAX;
  }
  if (set->bands)
    nd_bands_keys(b->bands + row * set->bands, (nd_bands){set->bands, set->rows}, s->sketches.bands,
                  set->options->seed);
  return ND_OK;
}

static nd_status add_document(nd_block *b, nd_signer *s, const nd_document *d, const nd_raw *raw,
                              nd_error *err) {
  ND_TRY(nd_block_reserve(b, err));
  size_t row = b->head.docs;
  nd_str text = nd_buf_str(&s->tokens.text);
  XXH128_hash_t digest = s->secret.n
                             ? XXH3_128bits_withSecret(text.p, text.n, s->secret.p, s->secret.n)
                             : XXH3_128bits_withSeed(text.p, text.n, s->settings->options->seed);
  b->digest[row] = (nd_digest){digest.low64, digest.high64};
  nd_keep_facts facts = {text.n, d->time, d->url, d->field};
  b->rank[row] = nd_keep_rank(s->settings->keep, &facts);
  b->id_hash[row] = d->id.n ? XXH3_64bits(d->id.p, d->id.n) : 0;
  b->offset[row] = raw->offset;
  b->length[row] = raw->length;
  b->file[row] = raw->file;
  b->line[row] = raw->line;
  ND_TRY(add_sketches(b, s, row, d->url, err));
  ND_TRY(nd_buf_append(&b->ids, d->id.p, d->id.n, err));
  if (!b->head.raw) ND_TRY(nd_buf_append(&b->texts, text.p, text.n, err));
  if (b->texts.n >= UINT32_MAX || b->ids.n >= UINT32_MAX) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "the documents of one batch exceed 4 GiB");
  b->id_end[row] = (uint32_t)b->ids.n;
  b->text_end[row] = (uint32_t)b->texts.n;
  ND_TRY(nd_buf_append(&b->urls, d->url.p, d->url.n < URL_MOST ? d->url.n : URL_MOST, err));
  b->url_end[row] = (uint32_t)b->urls.n;
  b->head.empties += s->tokens.count == 0;
  b->head.tokens += s->tokens.count;
  if (s->settings->passages) {
    b->head.no_site += s->site == 0;
    b->head.boilerplate_whole += s->whole;
    b->head.boilerplate_documents += s->stripped && !s->whole;
    b->head.boilerplate_tokens += s->whole ? 0 : s->stripped;
  }
  b->head.docs++;
  return ND_OK;
}

nd_status nd_signer_add(nd_block *b, nd_signer *s, const nd_document *d, const nd_raw *raw,
                        nd_error *err) {
  nd_str text;
  ND_TRY(split(&text, s, d, err));
  nd_status status = add_document(b, s, d, raw, err);
  shrink_grown(s);
  return status;
}

static nd_status sign_record(nd_block *b, nd_signer *s, const nd_batch *batch, const nd_raw *raw,
                             nd_error *err) {
  if (raw->rejected) {
    nd_str reason = {batch->reasons.p + raw->at, raw->n};
    return nd_block_reject(b, raw->offset, raw->length, raw->file, raw->line, reason, err);
  }
  nd_str bytes = {raw->p ? raw->p : batch->bytes.p + raw->at, raw->n};
  nd_read read;
  nd_error local;
  if (s->watch) s->watch(s->watch_context, raw->file, raw->offset, bytes);
  nd_status status = nd_signer_read(&read, s, raw->format, bytes, &local);
  if (status == ND_ERR_DATA || status == ND_ERR_LIMIT) {
    return nd_block_reject(b, raw->offset, raw->length, raw->file, raw->line,
                           nd_str_of(local.message), err);
  }
  if (status != ND_OK) {
    nd_error_pass(err, &local);
    return status;
  }
  if (read.document.kind == ND_KIND_OTHER) {
    b->head.others++;
    return ND_OK;
  }
  if (batch->facts.n) {
    nd_str fact = {batch->facts.p + raw->fact_at, raw->fact_n};
    read.document.time = read.document.url = read.document.field = fact;
  }
  status = add_document(b, s, &read.document, raw, err);
  shrink_grown(s);
  return status;
}

void nd_signer_start(nd_block *block, const nd_signer *s, uint32_t task, uint32_t part) {
  const nd_settings *set = s->settings;
  nd_block_start(block, task, part, set->bands, set->row.total);
}

nd_status nd_signer_batch(nd_block *block, nd_signer *s, const nd_batch *batch, nd_error *err) {
  ND_TRY(nd_signer_fill(block, s, batch, err));
  return nd_block_finish(block, err);
}

nd_status nd_signer_fill(nd_block *block, nd_signer *s, const nd_batch *batch, nd_error *err) {
  nd_signer_start(block, s, batch->task, batch->part);
  block->head.last = batch->last;
  block->head.lines_relative = batch->lines_relative;
  block->head.range_file = batch->range_file;
  block->head.lines = batch->lines;
  /* Texts of a plain range or of a column in memory can be read again. */
  block->head.raw = (batch->lines_relative || batch->stays) && !s->keep_texts;
  block->head.others = batch->others;
  block->head.raw_bytes = batch->raw_bytes;
  for (size_t i = 0; i < batch->n; i++) {
    ND_TRY(sign_record(block, s, batch, &batch->raws[i], err));
  }
  return nd_buf_append(&block->starts, batch->starts.p, batch->starts.n, err);
}
