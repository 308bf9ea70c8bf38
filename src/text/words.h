/* Appending tokens, and reading tokens from a token text: tokens joined by single spaces, as
 * nd_words_split writes them. */
#ifndef ND_TEXT_WORDS_H
#define ND_TEXT_WORDS_H

#include "text/text.h"

/* Like nd_words_split, but appends to the tokens in *out. */
nd_status nd_words_append(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                          nd_error *err) ND_MUST_CHECK;

/* Finds the ends of the tokens in `text`; *end is an array with room for *cap, which grows.
 * Every space separates, so two adjacent spaces enclose an empty token; an empty text has no
 * tokens.  ND_ERR_LIMIT above 4 GiB. */
nd_status nd_token_ends(uint32_t **end, size_t *count, size_t *cap, nd_str text,
                        nd_error *err) ND_MUST_CHECK;

/* Likewise with a copy of the text: replaces *out. */
nd_status nd_tokens_from_text(nd_tokens *out, nd_str token_text, nd_error *err) ND_MUST_CHECK;

#endif
