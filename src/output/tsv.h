/* Fields of tab-separated lines, and their conversion to CSV. */
#ifndef ND_OUTPUT_TSV_H
#define ND_OUTPUT_TSV_H

#include "base/mem.h"
#include "neardup/field.h"

/* Appends `text` as a field (neardup/field.h). */
nd_status nd_tsv_append(nd_buf *out, nd_str text, nd_error *err) ND_MUST_CHECK;

/* Appends the text that a field encodes. */
nd_status nd_tsv_unescape(nd_buf *out, nd_str field, nd_error *err) ND_MUST_CHECK;

/* Normalizes a field from elsewhere to the form of nd_tsv_append, so that equal ids are equal
 * bytes. *out is the field itself, or a copy in `room`, which is overwritten. */
nd_status nd_tsv_canonical(nd_str *out, nd_buf *room, nd_str field, nd_error *err) ND_MUST_CHECK;

/* Appends lines of fields, each ended by LF, as lines of CSV (RFC 4180, ended by CR LF) that are
 * safe in a spreadsheet: a field that begins with = + - @ or ' (also full-width, also after spaces)
 * gets a ' in front, which a reader removes.  "-" alone is unchanged. */
nd_status nd_tsv_to_csv(nd_buf *out, nd_str lines, nd_error *err) ND_MUST_CHECK;

/* Appends common / joint with 6 decimals, as printf("%.6f") rounds it. */
nd_status nd_tsv_ratio(nd_buf *out, uint32_t common, uint32_t joint, nd_error *err) ND_MUST_CHECK;

#endif
