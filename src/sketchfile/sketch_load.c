/* Loading sketch files; see sketch_load.h. */
#include "sketchfile/sketch_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "candidate/bands.h"
#include "settings/methods.h"

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

/* Returns the first (0) or second (1) number in a parameter's value. */
static uint32_t number_in(nd_str value, int which) {
  uint64_t x = 0;
  bool in = false;
  for (size_t i = 0; i < value.n; i++) {
    char c = value.p[i];
    if (c >= '0' && c <= '9') {
      x = x * 10 + (uint64_t)(c - '0');
      if (x > UINT32_MAX) return 0;
      in = true;
    } else if (in) {
      if (which-- == 0) return (uint32_t)x;
      x = 0;
      in = false;
    }
  }
  return which == 0 ? (uint32_t)x : 0;
}

/* Finds the parts of a row in a file's parameters. */
static nd_status layout(nd_row *out, const nd_sketch_reader *r, nd_error *err) {
  nd_str p = nd_buf_str(&r->parameters);
  nd_str minhash = nd_sketch_parameter(p, "minhash");
  nd_str super = nd_sketch_parameter(p, "supershingle");
  nd_str projection = nd_sketch_parameter(p, "projection");
  const uint32_t words[ND_PARTS] = {
      [ND_PART_MINHASH] = number_in(minhash, 0),
      [ND_PART_SUPERSHINGLE] = number_in(super, 0),
      [ND_PART_PROJECTION] = number_in(projection, 0) / 64,
      [ND_PART_SIMHASH] = nd_sketch_parameter(p, "simhash").p != NULL,
      [ND_PART_SITE] = nd_sketch_parameter(p, "site").p != NULL,
  };
  *out = (nd_row){0};
  uint64_t total = 0;
  for (unsigned i = 0; i < ND_PARTS; i++) {
    out->at[i] = (uint32_t)total;
    out->words[i] = words[i];
    total += words[i];
  }
  out->total = r->head.words;
  if (total != r->head.words)
    return nd_fail(err, ND_ERR_DATA, "%s: the sketch file is damaged (parameters)", r->name);
  return ND_OK;
}

/* Fills in the options that the user has not given. */
static nd_status adopt(nd_options *o, const nd_sketch_reader *r, nd_error *err) {
  nd_str p = nd_buf_str(&r->parameters);
  nd_str shingle = nd_sketch_parameter(p, "shingle");
  nd_str minhash = nd_sketch_parameter(p, "minhash");
  nd_str super = nd_sketch_parameter(p, "supershingle");
  if (strcmp(o->shingle, "auto") == 0 && shingle.p)
    snprintf(o->shingle, sizeof o->shingle, "%.*s", (int)shingle.n, shingle.p);
  nd_method find = nd_method_find(o->candidates[0] ? o->candidates : o->method);
  nd_method confirm = nd_method_find(o->confirm[0] ? o->confirm : o->method);
  unsigned parts = nd_methods[find].find_parts | nd_methods[confirm].judge_parts;
  bool values = find == ND_METHOD_MINHASH || (parts & ND_HAS_MINHASH);
  bool groups = parts & ND_HAS_SUPERSHINGLE;
  /* A run that needs both cannot use one number for both. */
  if (!o->permutations && values != groups)
    o->permutations = values ? number_in(minhash, 0) : number_in(super, 1);
  if (!o->verify[0] && nd_methods[confirm].judge) strcpy(o->verify, "sketch");
  return nd_options_check(o, err);
}

static nd_status refuse_texts(const nd_settings *s, const char *name, nd_error *err) {
  const char *what = nd_methods[s->candidates].texts ? nd_methods[s->candidates].name
                     : !nd_methods[s->confirm].judge ? nd_methods[s->confirm].name
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
  if (status == ND_OK) status = adopt(options, &first, err);
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
  if (status == ND_OK && s->bands && !s->row.words[ND_PART_MINHASH]) {
    unsigned parts = ND_HAS_MINHASH;
    for (unsigned i = 0; i < ND_PARTS; i++) parts |= s->row.words[i] ? 1u << i : 0;
    nd_settings_keep(s, parts);
  }
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
  for (unsigned p = 0; p < ND_PARTS; p++)
    if (s->row.words[p])
      memcpy(b->sketch + row * s->row.total + s->row.at[p], words + from->at[p],
             s->row.words[p] * sizeof *words);
  if (s->bands)
    nd_bands_keys(b->bands + row * s->bands, (nd_bands){s->bands, s->rows},
                  words + from->at[ND_PART_MINHASH], s->options->seed);
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
