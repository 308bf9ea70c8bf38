/* Sketch files: precomputed rows (row.h) with ids and digests.
 *
 * The layout is described in docs/formats.md; numbers are little-endian on every
 * machine.
 *
 *   head        "neardupS", byte order, version, sizes, checksum
 *   parameters  lines "name value": how the sketches were computed
 *   chunks      some documents each: digests, rows, sizes, ids, with a checksum
 *
 * Opening checks the head, the size of the file and the checksum of the
 * parameters; every chunk is checked when it is read. */
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
  uint64_t bytes; /* size of the file */
  uint32_t words; /* size of a row */
} nd_sketch_head;

/* One chunk in memory.  {0} is an empty chunk. */
typedef struct nd_sketch_chunk {
  uint32_t docs;
  nd_digest *digest;
  uint64_t *rows;
  uint32_t *shingles; /* 0: a document without tokens */
  uint32_t *id_end;
  size_t digest_cap, row_cap, shingle_cap, id_cap;
  nd_buf ids; /* not escaped */
  nd_buf bytes;
} nd_sketch_chunk;
nd_status nd_sketch_chunk_reserve(nd_sketch_chunk *c, uint32_t docs, uint32_t words,
                                  nd_error *err) ND_MUST_CHECK;
void nd_sketch_chunk_clear(nd_sketch_chunk *c);

/* --- parameters ------------------------------------------------------------------ */

/* Writes the parameters of the settings as lines: name, space, value, newline.  `collection`
 * identifies the collection that the weights depend on (0: none). */
nd_status nd_sketch_parameters(nd_buf *out, const nd_settings *s, uint64_t collection,
                               nd_error *err) ND_MUST_CHECK;

/* Returns the value of a parameter; p is NULL if there is none. */
nd_str nd_sketch_parameter(nd_str parameters, const char *name);

/* --- writing ----------------------------------------------------------------------- */

typedef struct nd_sketch_writer nd_sketch_writer;
/* Starts a sketch file in an output file, which the caller closes after nd_sketch_finish. */
nd_status nd_sketch_create(nd_sketch_writer **out, nd_output *file, nd_str parameters,
                           uint32_t words, nd_error *err) ND_MUST_CHECK;
nd_status nd_sketch_put(nd_sketch_writer *w, nd_sketch_chunk *c, nd_error *err) ND_MUST_CHECK;
/* Writes the head and frees. */
nd_status nd_sketch_finish(nd_sketch_writer *w, nd_error *err) ND_MUST_CHECK;
void nd_sketch_abandon(nd_sketch_writer *w);

/* --- reading ------------------------------------------------------------------------- */

typedef struct nd_sketch_reader {
  int fd;
  const char *name; /* borrowed, for messages */
  nd_sketch_head head;
  nd_buf parameters;
  uint64_t at, chunk; /* offset and number of the next chunk */
} nd_sketch_reader;

/* Checks whether a file begins like a sketch file. */
nd_status nd_sketch_probe(bool *is, const char *path, nd_error *err) ND_MUST_CHECK;

nd_status nd_sketch_open(nd_sketch_reader *r, const char *path, const char *name,
                         nd_error *err) ND_MUST_CHECK;
void nd_sketch_close(nd_sketch_reader *r);
/* Reads the next chunk; *more is false at the end.  Returns ND_ERR_DATA if the file is damaged. */
nd_status nd_sketch_next(bool *more, nd_sketch_chunk *c, nd_sketch_reader *r,
                         nd_error *err) ND_MUST_CHECK;

/* Fails, naming the difference, if the sketches of two files were computed differently. */
nd_status nd_sketch_same(const nd_sketch_reader *a, const nd_sketch_reader *b,
                         nd_error *err) ND_MUST_CHECK;

#endif
