/* A guess at the language of a text, for statistics only.
 *
 * The script decides where it can (kana: Japanese, Hangul: Korean …); among
 * languages that share a script, the little words that each uses most.  Short
 * texts and lists of names give no answer rather than a wrong one. */
#ifndef ND_TEXT_LANGUAGE_H
#define ND_TEXT_LANGUAGE_H

#include "base/mem.h"

/* An English name ("German", "Chinese", "Cyrillic script"), or "unknown".
 * `tokens`: a token text; its first 1500 bytes are looked at. */
const char *nd_language_guess(nd_str tokens);
enum { ND_LANGUAGES = 40 }; /* at most so many different answers */

#endif
