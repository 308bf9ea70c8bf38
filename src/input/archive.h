/* Framing of archives: a file of records, each with a head that states the length
 * of its block.  WARC and ARC differ only in the format of the head.
 *
 * Stated lengths are not trusted: if no record starts after a block, a record that
 * starts nearby is used instead; if there is none, the bytes up to the next record
 * are rejected.  Time is linear in the bytes read, and memory is at most one record
 * not longer than max_document. */
#ifndef ND_INPUT_ARCHIVE_H
#define ND_INPUT_ARCHIVE_H

#include "input/format.h"

typedef enum nd_seen {
  ND_SEEN_NO,
  ND_SEEN_YES,
  ND_SEEN_MORE /* undecided: more bytes are needed */
} nd_seen;

typedef struct nd_archive_head {
  size_t size;     /* bytes of the head */
  uint64_t length; /* bytes of the block that follows it */
  bool document;   /* may hold a document */
} nd_archive_head;

typedef struct nd_archive {
  const char *noun;    /* "WARC record" */
  size_t first_line;   /* `starts` decides with this many bytes */
  size_t max_head;     /* a longer head is rejected; 4 KiB times a power of four */
  unsigned separators; /* line ends that follow every block */
  /* Tests whether a record starts here.  `whole`: these are the last bytes, so the answer is not
   * MORE. */
  nd_seen (*starts)(nd_str bytes, bool whole);
  /* Reads the head of a record that starts here.  NO: *bad is the reason, to be appended to the
   * noun
   * ("has no Content-Length"). */
  nd_seen (*head)(nd_archive_head *out, const char **bad, nd_str bytes, bool whole);
} nd_archive;

extern const nd_archive nd_archive_warc; /* format_warc.c */
extern const nd_archive nd_archive_arc;  /* format_arc.c */

nd_status nd_archive_frame(nd_frame *out, nd_stream *s, const nd_archive *a,
                           const nd_input_options *o, nd_error *err) ND_MUST_CHECK;

/* Returns the block of a framed record: the stated number of bytes if only line ends follow, else
 * the rest of the frame without trailing line ends. */
nd_str nd_archive_block(nd_str raw, const nd_archive_head *head);

/* Parses a decimal length.  Returns NULL, or the reason of the failure from `names`: empty,
 * negative, not a number, too large. */
const char *nd_archive_length(uint64_t *out, nd_str digits, const char *const names[4]);

/* Trims white space and line ends on both sides. */
nd_str nd_archive_trim(nd_str s);
bool nd_archive_is(nd_str s, const char *lower);     /* equal, without case (ASCII) */
bool nd_archive_begins(nd_str s, const char *lower); /* begins with, without case */

#endif
