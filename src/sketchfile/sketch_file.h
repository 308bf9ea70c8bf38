/* Files of sketches: rows (row.h) with ids and digests, to be computed once.
 *
 * The layout is described in docs/formats.md; numbers are little-endian on every
 * machine.
 *
 *   head    "neardupS", byte order, version, sizes, checksum
 *   parameters    lines "name value": what the sketches were made with
 *   chunks  some documents each: digests, rows, sizes, ids, with a checksum
 *
 * Opening checks the head, the size of the file and the parameters' checksum;
 * every chunk is checked when it is read. */
#ifndef ND_SKETCHFILE_SKETCH_FILE_H
#define ND_SKETCHFILE_SKETCH_FILE_H

#include "base/io.h"
#include "outdir/output_file.h"
#include "settings/settings.h"
#include "store/block.h"

enum { ND_SKETCH_HEAD = 64, ND_SKETCH_VERSION = 1 };

typedef struct nd_sketch_head {
  uint64_t parameter_bytes;
  uint64_t documents, chunks;
  uint64_t bytes; /* of the whole file */
  uint32_t words; /* of a row */
} nd_sketch_head;

/* One chunk, in memory order.  {0} is an empty one. */
typedef struct nd_sketch_chunk {
  uint32_t docs;
  nd_digest *digest;
  uint64_t *rows;
  uint32_t *shingles; /* 0: a document without tokens */
  uint32_t *id_end;
  size_t digest_cap, row_cap, shingle_cap, id_cap;
  nd_buf ids; /* as they are, not escaped */
  nd_buf bytes;
} nd_sketch_chunk;
nd_status nd_sketch_chunk_reserve(nd_sketch_chunk *c, uint32_t docs, uint32_t words,
                                  nd_error *err) ND_MUST_CHECK;
void nd_sketch_chunk_clear(nd_sketch_chunk *c);

/* --- parameters ------------------------------------------------------------------ */

/* The lines that settings make: name, space, value, newline.  `collection` tells
 * the weights of one collection from another's (0: they depend on none). */
nd_status nd_sketch_parameters(nd_buf *out, const nd_settings *s, uint64_t collection,
                               nd_error *err) ND_MUST_CHECK;

/* The value of a name; empty (p NULL): there is none. */
nd_str nd_sketch_parameter(nd_str parameters, const char *name);

/* --- writing ----------------------------------------------------------------------- */

typedef struct nd_sketch_writer nd_sketch_writer;
/* Writes to an output file, which the caller closes behind nd_sketch_finish. */
nd_status nd_sketch_create(nd_sketch_writer **out, nd_output *file, nd_str parameters,
                           uint32_t words, nd_error *err) ND_MUST_CHECK;
nd_status nd_sketch_put(nd_sketch_writer *w, nd_sketch_chunk *c, nd_error *err) ND_MUST_CHECK;
nd_status nd_sketch_finish(nd_sketch_writer *w, nd_error *err) ND_MUST_CHECK; /* and frees */
void nd_sketch_abandon(nd_sketch_writer *w);

/* --- reading ------------------------------------------------------------------------- */

typedef struct nd_sketch_reader {
  int fd;
  const char *name; /* borrowed, for messages */
  nd_sketch_head head;
  nd_buf parameters;
  uint64_t at, chunk; /* the next chunk */
} nd_sketch_reader;

/* Does the file begin like one? */
nd_status nd_sketch_probe(bool *is, const char *path, nd_error *err) ND_MUST_CHECK;

nd_status nd_sketch_open(nd_sketch_reader *r, const char *path, const char *name,
                         nd_error *err) ND_MUST_CHECK;
void nd_sketch_close(nd_sketch_reader *r);
/* *more = false at the end.  ND_ERR_DATA: the file is damaged. */
nd_status nd_sketch_next(bool *more, nd_sketch_chunk *c, nd_sketch_reader *r,
                         nd_error *err) ND_MUST_CHECK;

/* Fails, with the difference named, when the two files were made differently. */
nd_status nd_sketch_same(const nd_sketch_reader *a, const nd_sketch_reader *b,
                         nd_error *err) ND_MUST_CHECK;

#endif
