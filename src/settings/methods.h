/* Methods: each is a row of choices, not a program of its own.
 *
 *   find      how pairs are proposed, and which sketches that reads
 *   judge     how two rows of sketches are compared, and which parts that reads
 *   defined   the sketches define what is similar: the documents themselves are
 *             compared only when asked for (--verify exact)
 *
 * --method M finds and decides by M; --candidates and --confirm take the two
 * halves from different rows.  A new method is a new row. */
#ifndef ND_SETTINGS_METHODS_H
#define ND_SETTINGS_METHODS_H

#include "settings/settings.h"

typedef struct nd_finder nd_finder; /* find/finder.h */
typedef nd_status (*nd_find_step)(nd_finder *f, nd_error *err);

/* Are the documents of these rows similar?  *value becomes what the pair shows,
 * a packed nd_fraction, either way. */
typedef bool (*nd_judge)(uint64_t *value, const nd_settings *s, const uint64_t *a,
                         const uint64_t *b);

typedef struct nd_method_row {
  const char *name;
  nd_find_step find; /* NULL: nothing but exact copies */
  unsigned find_parts;
  nd_judge judge; /* NULL: there are only the documents */
  unsigned judge_parts;
  bool defined;
  bool texts; /* finding reads the documents' texts */
} nd_method_row;

/* In the order of nd_method. */
extern const nd_method_row nd_methods[];

/* By name; the first one when there is none such. */
nd_method nd_method_find(const char *name);

/* What two rows show: equal min values, equal super-shingles, agreeing bits of
 * the projections, differing bits of the simhashes.  The row must have the part. */
uint32_t nd_shown_minhash(const nd_settings *s, const uint64_t *a, const uint64_t *b);
uint32_t nd_shown_supershingles(const nd_settings *s, const uint64_t *a, const uint64_t *b);
uint32_t nd_shown_projection(const nd_settings *s, const uint64_t *a, const uint64_t *b);
uint32_t nd_shown_simhash(const nd_settings *s, const uint64_t *a, const uint64_t *b);

#endif
