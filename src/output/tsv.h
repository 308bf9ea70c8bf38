/* Fields of tab-separated lines. */
#ifndef ND_OUTPUT_TSV_H
#define ND_OUTPUT_TSV_H

#include "base/mem.h"

/* Appends text with tab, newline, carriage return and backslash as \t \n \r \\. */
nd_status nd_tsv_append(nd_buf *out, nd_str text, nd_error *err) ND_MUST_CHECK;

/* The inverse: appends the bytes that nd_tsv_append was given. */
nd_status nd_tsv_unescape(nd_buf *out, nd_str text, nd_error *err) ND_MUST_CHECK;

/* Appends common / joint with 6 decimals, as printf("%.6f") rounds it. */
nd_status nd_tsv_ratio(nd_buf *out, uint32_t common, uint32_t joint, nd_error *err) ND_MUST_CHECK;

#endif
