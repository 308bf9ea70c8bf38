/* Methods and sketches: what a row of their table says.
 *
 * A method is a row of choices, not a program of its own.  Its file, src/method/method_NAME.c,
 * defines the row, the row's functions and the sketch that the method brings, if it brings one;
 * a word in ND_METHODS lists it, and its test is the third and last thing to write.  From the row
 * come the words of --method, --candidates, --confirm and --columns, the parts of sketch files,
 * the keys that an engine such as Spark shuffles, and what the summary says.  A run keeps pointers
 * to its rows in its settings; nobody compares them with a certain row.
 *
 * --method M finds candidates and judges them by M; --candidates and --confirm take the two halves
 * from different rows. */
#ifndef ND_SETTINGS_METHOD_H
#define ND_SETTINGS_METHOD_H

#include "base/table.h"
#include "settings/settings.h"

/* --- sketches ---------------------------------------------------------------------------- */

/* What sketches are made from. */
typedef enum nd_sketch_from {
  ND_FROM_SHINGLES,
  ND_FROM_MIN_VALUES, /* MinHash values of the shingles */
  ND_FROM_FEATURES,   /* the tokens, repeats included, or with --features shingles the shingles */
  ND_FROM_URL
} nd_sketch_from;

typedef struct nd_sketch_input {
  const nd_shingles *features; /* shingles, or tokens */
  const uint64_t *min;         /* ND_FROM_MIN_VALUES */
  nd_str url;
} nd_sketch_input;

/* A kind of sketch.  Functions get the sketch's own words, not the row's; NULL: nothing to do. */
struct nd_sketch {
  const char *name; /* of its column and of its parameter in sketch files */
  nd_sketch_from from;
  uint32_t shingle_words; /* --shingle auto is words:N in a run that keeps it; 0: as usual */

  /* Takes its parameters from the options.  Called in every run, so that wrong ones are always
   * refused; the row says whether the run keeps the sketch. */
  nd_status (*resolve)(nd_settings *s, const nd_options *o, nd_error *err);
  uint32_t (*words)(const nd_settings *s);
  uint32_t (*min_values)(const nd_settings *s); /* ND_FROM_MIN_VALUES: how many */
  /* Returns true if it depends on the entire corpus: nd_corpus_weights makes it, not `make`. */
  bool (*deferred)(const nd_settings *s);

  /* Making it: *state is per thread, NULL if there is nothing to keep. */
  nd_status (*open)(void **state, const nd_settings *s, nd_error *err);
  nd_status (*make)(uint64_t *out, void *state, const nd_settings *s, const nd_sketch_input *in,
                    nd_error *err);
  void (*close)(void *state);

  /* Appends the cell of its column, for two documents. */
  nd_status (*show)(nd_buf *out, const nd_settings *s, const uint64_t *a, const uint64_t *b,
                    nd_error *err);

  /* Sketch files: appends its parameter; from the first two numbers of a parameter (0: none) come
   * its words in that file, and (may be NULL) how many MinHash values it is made from. */
  nd_status (*parameter)(nd_buf *out, const nd_settings *s, nd_error *err);
  uint32_t (*words_in)(const uint32_t number[2]);
  uint32_t (*min_values_in)(const uint32_t number[2]);
};

/* --- methods ------------------------------------------------------------------------------- */

typedef struct nd_finder nd_finder; /* find/finder.h */

/* The keys that bring documents together, by which an engine shuffles them: first kinds of which
 * equal keys make a bucket, then the pieces of a bit vector. */
typedef struct nd_keys {
  uint32_t buckets; /* kinds */
  /* One kind's key of each of some rows; NULL: the bands, which blocks hold. */
  void (*make)(uint64_t *keys, const nd_settings *s, const uint64_t *rows, uint32_t docs,
               uint32_t kind);
  const nd_sketch *vector;   /* NULL: none; candidates differ in at most `distance` of its bits */
  uint32_t distance, pieces; /* pieces 0: enough of them to miss nothing */
} nd_keys;

struct nd_method {
  const char *name, *help;
  const nd_sketch *sketch;               /* the sketch that it brings; NULL: none, or another's */
  const nd_sketch *finds[4], *judges[4]; /* sketches that the two halves read; end with NULL */
  unsigned exact; /* finds every pair, by the documents: ND_WAY_MERGE …; 0: by sketches */
  bool defined;   /* sketches define what is similar: documents are compared only on demand */

  /* Takes its parameters from the options, after the sketches have; called for a method that
   * finds or judges in this run. */
  nd_status (*resolve)(nd_settings *s, const nd_options *o, nd_error *err);
  /* Adds candidates (find/finder.h); NULL: there are none but exact duplicates. */
  nd_status (*find)(nd_finder *f, nd_error *err);
  /* NULL: an engine cannot shuffle by it. */
  void (*keys)(nd_keys *out, const nd_settings *s);
  /* Compares two rows: are the documents similar?  Sets *value to what the pair shows, a packed
   * nd_fraction, either way.  NULL: there are only the documents. */
  bool (*judge)(uint64_t *value, const nd_settings *s, const uint64_t *a, const uint64_t *b);
  /* Returns true if `find` adds only pairs that `judge` accepts; NULL: never. */
  bool (*decides)(const nd_settings *s);
  /* What makes two documents similar by `judge`, and which pairs are found, in words; the second
   * leaves "" where the predicted recall says it. */
  void (*rule)(char *out, size_t room, const nd_settings *s);
  void (*coverage)(char *out, size_t room, const nd_settings *s);
};

/* The table, and the order of words, columns and parts of sketch files. */
#define ND_METHODS(ROW) \
  ROW(minhash)          \
  ROW(digest)           \
  ROW(exact)            \
  ROW(join)             \
  ROW(allpairs)         \
  ROW(ppjoin)           \
  ROW(ppjoin_plus) ROW(supershingle) ROW(projection) ROW(simhash) ROW(combined) ROW(combined_site)

#define ND_METHOD_DECLARATION(name) extern const nd_method nd_method_##name;
ND_METHODS(ND_METHOD_DECLARATION)
#define ND_METHOD_ROW(name) &nd_method_##name,

/* Ends with NULL.  Defined above this room, beside the functions (method/methods.c): settings
 * hands rows down to the rooms that call them, and calls none but those for settings. */
extern const nd_method *const nd_methods[];

static inline unsigned nd_method_way(const nd_method *m) {
  return m->exact ? m->exact : ND_WAY_SKETCHES;
}

/* Returns true if the method counts what every two documents share. */
static inline bool nd_method_counts(const nd_method *m) {
  return m->exact == ND_WAY_MERGE;
}

const nd_method *nd_method_find(const char *name); /* NULL: unknown */
const char *nd_method_name(size_t i);              /* of row i; NULL past the last */
const char *nd_method_help(const char *name);      /* NULL: unknown */

/* Sketch i, in the order of the methods that bring them, and its name; NULL past the last. */
const nd_sketch *nd_sketch_at(size_t i);
const char *nd_sketch_name(size_t i);

/* Returns whether a list that ends with NULL has the sketch. */
bool nd_sketch_in(const nd_sketch *const *list, const nd_sketch *sketch);

/* The part of the row that nd_corpus_weights makes; NULL: none. */
const nd_row_part *nd_row_deferred(const nd_settings *s);

/* Keeps a sketch of every document too. */
void nd_settings_keep(nd_settings *s, const nd_sketch *sketch);

#endif
