/* Formats: decompressed bytes → records → documents.
 *
 * A format is a row of facts and functions; a new one is a file format_NAME.c, a word in
 * ND_FORMATS and a test.  `frame` runs in stream order and only finds where records begin and
 * end; `decode` runs on any thread and turns one record's raw bytes into a document, so several
 * threads share one file.  Readers use the facts of the row and never test which format it is. */
#ifndef ND_INPUT_FORMAT_H
#define ND_INPUT_FORMAT_H

#include "base/cpu.h"
#include "base/mem.h"
#include "codec/stream.h"

/* Options of readers; strings are borrowed and may be NULL or "". */
typedef struct nd_input_options {
  const char *id_field;   /* jsonl: "id" */
  const char *text_field; /* jsonl: "text" */
  const char *url_field;  /* jsonl: "url" */
  const char *time_field; /* jsonl: "time" */
  const char *keep_field; /* jsonl: the field of --keep field:NAME, or NULL */
  uint64_t max_document;  /* bytes of one record, and of one decoded body */
} nd_input_options;

typedef enum nd_kind {
  ND_KIND_TEXT,  /* plain text */
  ND_KIND_HTML,  /* HTML or XHTML */
  ND_KIND_SNIFF, /* look at the bytes */
  ND_KIND_SETS,  /* integers separated by spaces */
  ND_KIND_OTHER  /* not a document (an image …): `why` names it */
} nd_kind;

/* Views are borrowed from the raw record or the decoder until its next use. */
typedef struct nd_document {
  nd_kind kind;
  nd_str id;       /* empty: the record has none */
  nd_str url;      /* empty: unknown */
  nd_str time;     /* as written in the record, empty: unknown */
  nd_str field;    /* value of keep_field as written, empty: absent */
  nd_str body;     /* the bytes that hold the text */
  nd_str charset;  /* declared outside the body (HTTP header); empty: none.
                      "utf-8" with kind TEXT for JSON, which is always UTF-8 */
  const char *why; /* static text for ND_KIND_OTHER */
} nd_document;

typedef enum nd_frame_kind {
  ND_FRAME_END,      /* no more records */
  ND_FRAME_DOCUMENT, /* a record to decode */
  ND_FRAME_OTHER,    /* bytes that are not a document: blank lines, warcinfo, … */
  ND_FRAME_REJECT    /* a record that cannot be read; err says why */
} nd_frame_kind;

typedef struct nd_frame {
  nd_frame_kind kind;
  uint64_t offset; /* in the decompressed stream */
  uint64_t length; /* offset + length is where the next frame begins: frames tile the stream */
  nd_str raw;      /* DOCUMENT: the record's bytes, valid until the next frame call */
} nd_frame;

/* Scratch of one thread: buffers that decode writes to. */
typedef struct nd_decoder {
  nd_buf body;  /* unescaped text, dechunked and decompressed body */
  nd_buf head;  /* unescaped id, url, time … */
  nd_buf spare; /* anything else */
} nd_decoder;
void nd_decoder_clear(nd_decoder *d);

typedef struct nd_format {
  const char *name;
  const char *help; /* what a document of it is, in a few words */
  /* A newline always ends a record, so ranges of a plain file can be read independently. */
  bool line_based;
  bool blank_lines;  /* line_based: a blank line is a record too */
  bool whole_stream; /* the stream is one record, even if it is empty */
  bool members;      /* compressed files hold a member per record, which can be copied as it is */
  bool sets;         /* a record is a set of numbers, which are its features */
  /* Returns the confidence, from 0 (no) to 100, that a file with these first bytes (at most 64 KiB,
   * decompressed) has this format. */
  int (*sniff)(nd_str head);
  /* Finds the next frame and moves the stream past it.  ND_OK with
   * frame.kind REJECT fills err with the reason and goes on at the next record
   * (a record above max_document is skipped with flat memory).  Any other
   * status is the stream's own failure: frame.offset/length span what could
   * still be seen of the record.  After ND_ERR_DATA the caller may go on behind
   * the damage (nd_stream_recover) and ask for the next frame there. */
  nd_status (*frame)(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err);
  /* Returns true if the first frame behind damage is the rest of a record whose beginning was
   * lost.  NULL: any line is (line_based), or what `frame` rejects. */
  bool (*is_rest)(const nd_frame *frame);
  /* Turns a record into a document.  ND_ERR_DATA or ND_ERR_LIMIT: rejected,
   * err says why (a short reason, without file or place: the caller adds them). */
  nd_status (*decode)(nd_document *out, nd_decoder *d, nd_str raw, const nd_input_options *o,
                      nd_error *err);
} nd_format;

/* The table.  The first format takes what no other one claims. */
#define ND_FORMATS(ROW) ROW(text) ROW(lines) ROW(jsonl) ROW(warc) ROW(arc) ROW(trec) ROW(sets)

#define ND_FORMAT_DECLARATION(name) extern const nd_format nd_format_##name;
ND_FORMATS(ND_FORMAT_DECLARATION)
extern const nd_format nd_format_memory; /* not in the table: no file has it */

/* Ends with NULL.  A weak symbol: a program that links the library's objects can bring its own. */
#define ND_FORMAT_ROW(name) &nd_format_##name,
extern const nd_format *const nd_formats[];

const nd_format *nd_format_find(const char *name); /* NULL: unknown */
const char *nd_format_name(size_t i);              /* of row i; NULL past the last */
const char *nd_format_help(const char *name);      /* NULL: unknown */
/* The surest format for these first bytes. */
const nd_format *nd_format_sniff(nd_str head);

/* Frames of formats whose records are lines.  The frame's raw bytes are the line without its
 * end; its length counts the "\n".  Blank lines (only white space) are OTHER to nd_frame_line,
 * and records to nd_frame_any_line. */
nd_status nd_frame_line(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err);
nd_status nd_frame_any_line(nd_frame *out, nd_stream *s, const nd_input_options *o, nd_error *err);

#endif
