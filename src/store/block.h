/* A block: the data that the first pass stores for about two megabytes of input.
 *
 * Columns, not rows: a later step reads one column of all documents in long
 * sequential reads.  Blocks are appended to log files; each has its own
 * checksum, so a killed run loses at most the block it was writing.
 *
 *   header   struct nd_block_header (fixed size)
 *   columns  digest   16 × docs     bands  8 × docs × bands (band by band)
 *            sketch   8 × docs × sketch_words (document by document)
 *            rank     8 × docs      id_hash 8 × docs
 *            offset   8 × docs      length  8 × docs
 *            file     4 × docs      line    4 × docs
 *            shingles 4 × docs      text_end 4 × docs   id_end 4 × docs
 *            url_end  4 × docs
 *   bytes    ids | token texts | rejects | starts | urls
 *
 * A reject: u64 offset, u64 length, u32 file, u32 line, u32 n, n bytes of reason.
 * starts: the offsets (u64) at which the records of a compressed archive begin, whether documents
 * or not, so that it can be rewritten with one member per record.  The offsets of a file follow
 * its number, which has ND_START_FILE set.
 * Numbers are in native byte order: a log never leaves its machine type, and the header's magic
 * number identifies it. */
#ifndef ND_STORE_BLOCK_H
#define ND_STORE_BLOCK_H

#include "base/mem.h"

typedef struct nd_digest {
  uint64_t low, high;
} nd_digest;

typedef struct nd_block_header {
  uint64_t magic;
  uint64_t checksum; /* XXH3 of everything after this field */
  uint64_t payload;  /* bytes after the header */
  uint32_t task, part;
  uint32_t docs, rejects;
  uint32_t bands, sketch_words;
  uint32_t last;           /* 1: the last part of the task */
  uint32_t lines_relative; /* 1: line numbers count from the start of this block */
  uint32_t range_file;     /* the file of a range task */
  uint32_t raw;            /* 1: no texts are stored; they are read again from the input */
  uint64_t lines;          /* lines of a range task */
  uint64_t id_bytes, text_bytes, reject_bytes;
  uint64_t starts; /* number of starts */
  uint64_t url_bytes;
  uint64_t raw_bytes; /* input bytes read (decompressed) */
  uint64_t others;    /* records that are not documents */
  uint64_t empties;   /* documents without tokens */
  uint64_t tokens;
  uint64_t boilerplate_tokens, boilerplate_documents; /* removed by --ignore-boilerplate */
  uint64_t boilerplate_whole;                         /* documents of nothing but boilerplate */
  uint64_t no_site;                                   /* documents without a site */
  uint64_t sample_seen, sample_kept;                  /* --sample: shingles before and after */
  uint64_t sample_emptied;                            /* documents that lost all shingles */
} nd_block_header;

typedef enum nd_column {
  ND_COL_DIGEST,
  ND_COL_BANDS,
  ND_COL_SKETCH,
  ND_COL_RANK,
  ND_COL_ID_HASH,
  ND_COL_OFFSET,
  ND_COL_LENGTH,
  ND_COL_FILE,
  ND_COL_LINE,
  ND_COL_SHINGLES,
  ND_COL_TEXT_END,
  ND_COL_ID_END,
  ND_COL_URL_END,
  ND_COLUMNS
} nd_column;

/* Returns the offset of a column from the start of the block; ND_COLUMNS gives that of the ids. */
uint64_t nd_block_column(const nd_block_header *h, nd_column column);
/* Returns the offset of the URLs from the start of the block. */
uint64_t nd_block_urls(const nd_block_header *h);

/* A block under construction: {0}, then nd_block_start. */
typedef struct nd_block {
  nd_block_header head;
  nd_digest *digest;
  uint64_t *bands; /* one document after another; transposed by nd_block_finish */
  uint64_t *sketch;
  uint64_t *rank, *id_hash, *offset, *length;
  uint32_t *file, *line, *shingles, *text_end, *id_end, *url_end;
  size_t cap;
  nd_buf ids, texts, rejects, starts, urls;
  nd_buf image; /* the finished block, as written */
} nd_block;

void nd_block_start(nd_block *b, uint32_t task, uint32_t part, uint32_t bands,
                    uint32_t sketch_words);
/* Makes room for one more document in every column. */
nd_status nd_block_reserve(nd_block *b, nd_error *err) ND_MUST_CHECK;
nd_status nd_block_reject(nd_block *b, uint64_t offset, uint64_t length, uint32_t file,
                          uint32_t line, nd_str reason, nd_error *err) ND_MUST_CHECK;
/* Builds b->image, including the checksum. */
nd_status nd_block_finish(nd_block *b, nd_error *err) ND_MUST_CHECK;
void nd_block_clear(nd_block *b);

/* Returns true if `bytes`, which starts with a header, is a complete and undamaged block. */
bool nd_block_valid(nd_str bytes);

enum { ND_BLOCK_ALIGN = 8 };

#endif
