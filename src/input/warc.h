/* The named fields of one WARC record's head (ISO 28500; drafts 0.17, 0.18). */
#ifndef ND_INPUT_WARC_H
#define ND_INPUT_WARC_H

#include "input/archive.h"

/* Values are trimmed; a folded value contains its line ends.  The first of several
 * fields with the same name counts.  Absent: n = 0. */
typedef struct nd_warc_fields {
  nd_str type;
  nd_str record_id;
  nd_str trec_id;
  nd_str target;
  nd_str date;
  nd_str content_type;
  nd_str content_length;
  nd_str payload_type; /* WARC-Identified-Payload-Type */
  nd_str truncated;
} nd_warc_fields;

/* Reads the head at the start of `bytes`.  YES: *size is its length with the
 * blank line.  NO: another record begins before the head ends.  MORE: it does
 * not end in these bytes (`whole`: and nothing comes after them). */
nd_seen nd_warc_read_head(nd_warc_fields *out, size_t *size, nd_str bytes, bool whole);

#endif
