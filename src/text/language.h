/* Estimates the language of a text, for statistics only.
 *
 * The script decides if it is specific (kana: Japanese, Hangul: Korean …), otherwise the most
 * frequent function words of the languages with that script.  Short texts and lists of names
 * are unknown rather than wrong. */
#ifndef ND_TEXT_LANGUAGE_H
#define ND_TEXT_LANGUAGE_H

#include "base/mem.h"

/* Returns an English name ("German", "Chinese", "Cyrillic script") or "unknown", from the first
 * 1500 bytes of a token text. */
const char *nd_language_guess(nd_str tokens);
enum { ND_LANGUAGES = 40 }; /* upper bound on the number of results */

#endif
