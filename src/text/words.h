/* Tokens after tokens, and tokens from a text that is already normalised: tokens
 * joined by single spaces, as nd_words_split leaves them. */
#ifndef ND_TEXT_WORDS_H
#define ND_TEXT_WORDS_H

#include "text/text.h"

/* Like nd_words_split, but the tokens come after those that *out holds. */
nd_status nd_words_append(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                          nd_error *err) ND_MUST_CHECK;

/* The ends of the tokens in `text`, which stays where it is; *end is an array of
 * *cap places that grows.  Every space separates, so two of them enclose an
 * empty token; an empty text has no tokens.  ND_ERR_LIMIT above 4 GiB. */
nd_status nd_token_ends(uint32_t **end, size_t *count, size_t *cap, nd_str text,
                        nd_error *err) ND_MUST_CHECK;

/* The same with a copy of the text: replaces *out. */
nd_status nd_tokens_from_text(nd_tokens *out, nd_str token_text, nd_error *err) ND_MUST_CHECK;

#endif
