/* Loading sketch files; see sketch_load.h. */
#include "sketchfile/sketch_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "candidate/bands.h"
#include "settings/method.h"

bool nd_sketch_inputs(const nd_walk *walk) {
  bool are = false;
  if (walk->n == 0 || walk->files[0].size == 0) return false;
  nd_error ignored; /* a file that cannot be opened is rejected when it is read */
  nd_status status = nd_sketch_probe(&are, walk->files[0].real, &ignored);
  /* If it becomes readable meanwhile, it must not be taken for a document. */
  if (status != ND_OK) status = nd_sketch_probe(&are, walk->files[0].real, &ignored);
  (void)status;
  return are;
}

/* The first two numbers in a parameter's value; 0: there is none. */
static void numbers_in(uint32_t out[2], nd_str value) {
  size_t n = 0;
  out[0] = out[1] = 0;
  for (size_t i = 0; i < value.n && n < 2; i++) {
    uint64_t x = 0;
    size_t begin = i;
    for (; i < value.n && value.p[i] >= '0' && value.p[i] <= '9'; i++)
      if (x <= UINT32_MAX) x = x * 10 + (uint64_t)(value.p[i] - '0');
    if (i > begin) out[n++] = x > UINT32_MAX ? 0 : (uint32_t)x;
  }
}

static nd_status refuse_parameters(const nd_sketch_reader *r, nd_error *err) {
  return nd_fail(err, ND_ERR_DATA, "%s: the sketch file is damaged (parameters)", r->name);
}

/* Finds the parts of a row in a file's parameters. */
static nd_status layout(nd_row *out, const nd_sketch_reader *r, nd_error *err) {
  const nd_sketch *k;
  uint64_t total = 0;
  *out = (nd_row){.total = r->head.words};
  for (size_t i = 0; (k = nd_sketch_at(i)); i++) {
    uint32_t number[2];
    nd_str value = nd_sketch_parameter(nd_buf_str(&r->parameters), k->name);
    if (!value.p) continue;
    numbers_in(number, value);
    nd_row_part part = {k, (uint32_t)total, k->words_in(number)};
    out->part[out->n++] = part;
    total += part.words;
  }
  return total == r->head.words ? ND_OK : refuse_parameters(r, err);
}

/* Fills in the options that the user has not given. */
static nd_status adopt(nd_options *o, const nd_settings *s, const nd_sketch_reader *r,
                       nd_error *err) {
  nd_str p = nd_buf_str(&r->parameters);
  nd_str shingle = nd_sketch_parameter(p, "shingle");
  if (strcmp(o->shingle, "auto") == 0 && shingle.p)
    snprintf(o->shingle, sizeof o->shingle, "%.*s", (int)shingle.n, shingle.p);
  const nd_method *find = s->candidates, *verifier = s->verifier;
  const nd_sketch *k;
  unsigned made = 0; /* sketches of MinHash values that the run needs */
  uint32_t values = 0;
  for (size_t i = 0; (k = nd_sketch_at(i)); i++) {
    bool needed =
        k == find->sketch || nd_sketch_in(find->finds, k) || nd_sketch_in(verifier->judges, k);
    if (!needed || !k->min_values_in) continue;
    uint32_t number[2];
    numbers_in(number, nd_sketch_parameter(p, k->name));
    values = k->min_values_in(number);
    made++;
  }
  /* A run that needs several cannot use one number for all. */
  if (!o->permutations && made == 1) o->permutations = values;
  if (!o->verify[0] && verifier->judge) strcpy(o->verify, "sketch");
  return nd_options_check(o, err);
}

static nd_status refuse_texts(const nd_settings *s, const char *name, nd_error *err) {
  const char *what = s->candidates->exact  ? s->candidates->name
                     : !s->verifier->judge ? s->verifier->name
                                           : NULL;
  if (what)
    return nd_fail(err, ND_ERR_USAGE,
                   "%s holds sketches, and --method %s needs documents; name those instead", name,
                   what);
  return nd_fail(err, ND_ERR_USAGE,
                 "%s holds sketches, not documents: %s is not possible; leave it out, or name the "
                 "documents",
                 name, s->verify == ND_VERIFY_EXACT ? "--verify exact" : "--columns exact");
}

/* Checks that the parameters of the run are those of the file. */
static nd_status agree(const nd_settings *s, const nd_sketch_reader *r, nd_error *err) {
  nd_buf mine = {0};
  nd_status status = nd_sketch_parameters(&mine, s, 0, err);
  nd_str theirs = nd_buf_str(&r->parameters);
  for (size_t at = 0; status == ND_OK && at < mine.n;) {
    const char *line = mine.p + at;
    size_t n = (size_t)((const char *)memchr(line, '\n', mine.n - at) - line);
    size_t m = (size_t)((const char *)memchr(line, ' ', n) - line);
    char name[32], value[64];
    snprintf(name, sizeof name, "%.*s", (int)m, line);
    snprintf(value, sizeof value, "%.*s", (int)(n - m - 1), line + m + 1);
    at += n + 1;
    if (strcmp(name, "collection") == 0) continue;
    nd_str found = nd_sketch_parameter(theirs, name);
    if (nd_str_eq(found, nd_str_of(value))) continue;
    if (!found.p)
      status = nd_fail(err, ND_ERR_USAGE,
                       "%s has no %s sketches (`neardup info` shows what it has); create it with a "
                       "method that needs them",
                       r->name, name);
    else
      status =
          nd_fail(err, ND_ERR_USAGE, "%s does not fit this run: %s is %.*s in the file and %s here",
                  r->name, name, (int)(found.n < 100 ? found.n : 100), found.p, value);
  }
  nd_buf_clear(&mine);
  return status;
}

nd_status nd_sketch_settings(nd_settings *s, nd_options *options, const nd_walk *walk,
                             nd_error *err) {
  nd_sketch_reader first = {.fd = -1};
  *options = *s->options;
  nd_status status = nd_sketch_open(&first, walk->files[0].real, walk->files[0].path, err);
  if (status == ND_OK) status = adopt(options, s, &first, err);
  if (status == ND_OK) status = nd_settings_resolve(s, options, err);
  if (status == ND_OK && nd_settings_use_texts(s)) status = refuse_texts(s, first.name, err);
  const char *sampling = s->sample.on                  ? "--sample"
                         : options->ignore_boilerplate ? "--ignore-boilerplate"
                                                       : NULL;
  if (status == ND_OK && sampling)
    status =
        nd_fail(err, ND_ERR_USAGE, "%s holds sketches, and %s needs documents; name those instead",
                first.name, sampling);
  /* Bands are computed from the MinHash values in the file. */
  if (status == ND_OK && s->bands) nd_settings_keep(s, s->candidates->sketch);
  if (status == ND_OK) status = agree(s, &first, err);
  for (size_t i = 1; i < walk->n && status == ND_OK; i++) {
    nd_sketch_reader other = {.fd = -1};
    status = nd_sketch_open(&other, walk->files[i].real, walk->files[i].path, err);
    if (status == ND_OK) status = nd_sketch_same(&first, &other, err);
    nd_sketch_close(&other);
  }
  nd_sketch_close(&first);
  return status;
}

static nd_status add_document(nd_block *b, const nd_sketch_chunk *c, uint32_t i, uint32_t file,
                              const nd_settings *s, const nd_row *from, nd_error *err) {
  ND_TRY(nd_block_reserve(b, err));
  size_t row = b->head.docs;
  uint32_t begin = i ? c->id_end[i - 1] : 0, n = c->id_end[i] - begin;
  const uint64_t *words = c->rows + (size_t)i * from->total;
  b->digest[row] = c->digest[i];
  b->rank[row] = 0;
  b->id_hash[row] = XXH3_64bits(c->ids.p + begin, n);
  b->offset[row] = b->length[row] = 0;
  b->file[row] = file;
  b->line[row] = 0;
  b->shingles[row] = c->shingles[i];
  b->text_end[row] = 0;
  for (unsigned p = 0; p < s->row.n; p++) {
    const nd_row_part *part = &s->row.part[p];
    memcpy(b->sketch + row * s->row.total + part->at, nd_row_words(from, part->sketch, words),
           part->words * sizeof *words);
  }
  if (s->bands)
    nd_bands_keys(b->bands + row * s->bands, (nd_bands){s->bands, s->rows},
                  nd_row_words(from, s->candidates->sketch, words), s->options->seed);
  ND_TRY(nd_buf_append(&b->ids, c->ids.p + begin, n, err));
  b->id_end[row] = (uint32_t)b->ids.n;
  b->head.empties += c->shingles[i] == 0;
  b->head.docs++;
  return ND_OK;
}

/* Loads one file: a block per chunk, or an empty block. */
static nd_status load_file(nd_log *log, nd_block *block, nd_sketch_chunk *chunk,
                           nd_sketch_reader *r, uint32_t file, const nd_settings *s,
                           nd_error *err) {
  nd_row from;
  bool more;
  uint32_t part = 0;
  ND_TRY(layout(&from, r, err));
  for (unsigned i = 0; i < s->row.n; i++) { /* the file may have changed since it was checked */
    const nd_row_part *have = nd_row_find(&from, s->row.part[i].sketch);
    if (!have || have->words != s->row.part[i].words) return refuse_parameters(r, err);
  }
  do {
    ND_TRY(nd_sketch_next(&more, chunk, r, err));
    nd_block_start(block, file, part++, s->bands, s->row.total);
    for (uint32_t i = 0; i < chunk->docs; i++)
      ND_TRY(add_document(block, chunk, i, file, s, &from, err));
    block->head.last = r->chunk == r->head.chunks;
    block->head.raw_bytes = chunk->bytes.n;
    ND_TRY(nd_block_finish(block, err));
    ND_TRY(nd_log_append(log, block, err));
  } while (r->chunk < r->head.chunks);
  return nd_sketch_next(&more, chunk, r, err); /* checks that nothing follows the last chunk */
}

nd_status nd_sketch_load(nd_store *store, const nd_settings *s, const nd_walk *walk,
                         nd_error *err) {
  nd_log log = {0};
  nd_block block = {0};
  nd_sketch_chunk chunk = {0};
  nd_status status = nd_log_open(&log, store, err);
  for (uint32_t i = 0; i < walk->n && status == ND_OK; i++) {
    nd_sketch_reader r = {.fd = -1};
    status = nd_sketch_open(&r, walk->files[i].real, walk->files[i].path, err);
    if (status == ND_OK) status = load_file(&log, &block, &chunk, &r, i, s, err);
    nd_sketch_close(&r);
  }
  if (status == ND_OK)
    status = nd_log_close(&log, err);
  else
    nd_log_abandon(&log);
  nd_block_clear(&block);
  nd_sketch_chunk_clear(&chunk);
  return status;
}
