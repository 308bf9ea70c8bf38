/* Fields of tab-separated lines. */
#ifndef ND_OUTPUT_TSV_H
#define ND_OUTPUT_TSV_H

#include "base/mem.h"
#include "neardup/field.h"

/* Appends `text` as a field; see neardup/field.h. */
nd_status nd_tsv_append(nd_buf *out, nd_str text, nd_error *err) ND_MUST_CHECK;

/* Appends the text of a field. */
nd_status nd_tsv_unescape(nd_buf *out, nd_str field, nd_error *err) ND_MUST_CHECK;

/* A field of somebody's list as nd_tsv_append would have written it, so that
 * equal ids are equal bytes: the field itself, or a copy in `room`, which is
 * written over. */
nd_status nd_tsv_canonical(nd_str *out, nd_buf *room, nd_str field, nd_error *err) ND_MUST_CHECK;

/* Appends lines of fields (each ended by a line feed) as lines of CSV (RFC 4180,
 * ended by CR LF), safe in a spreadsheet: a field that begins with = + - @ or ',
 * also full-width, also after spaces, gets a ' in front; a reader takes one away.
 * "-" alone stays as it is. */
nd_status nd_tsv_to_csv(nd_buf *out, nd_str lines, nd_error *err) ND_MUST_CHECK;

/* Appends common / joint with 6 decimals, as printf("%.6f") rounds it. */
nd_status nd_tsv_ratio(nd_buf *out, uint32_t common, uint32_t joint, nd_error *err) ND_MUST_CHECK;

#endif
