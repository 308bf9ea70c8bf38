/* The rows of the tables of methods and sketches.
 *
 * A method is a row of choices, not a program of its own.  Its file, src/method/method_NAME.c,
 * defines the row, the row's functions and the method's sketch, if it has one.  A word in
 * ND_METHODS lists it.  The row gives the words of --method, --candidates, --confirm and --columns,
 * the parts of sketch files, the keys that an engine such as Spark shuffles, and the lines of the
 * summary.  The settings of a run point to its rows; other rooms call a row and do not test which
 * one it is.
 *
 * --method M generates candidates by M and verifies them by M; --candidates and --confirm take the
 * two halves from different rows. */
#ifndef ND_SETTINGS_METHOD_H
#define ND_SETTINGS_METHOD_H

#include "base/cpu.h"
#include "settings/settings.h"

/* --- sketches ---------------------------------------------------------------------------- */

/* The source of a sketch. */
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

/* A kind of sketch.  Functions get the words of the sketch, not of the row; each may be NULL. */
struct nd_sketch {
  const char *name; /* of its column and of its parameter in sketch files */
  nd_sketch_from from;
  uint32_t shingle_words; /* --shingle auto is words:N in a run that keeps it; 0: as usual */

  /* Takes its parameters from the options.  Called in every run, even if the run does not keep the
   * sketch, so wrong parameters are always refused. */
  nd_status (*resolve)(nd_settings *s, const nd_options *o, nd_error *err);
  uint32_t (*words)(const nd_settings *s);
  uint32_t (*min_values)(const nd_settings *s); /* ND_FROM_MIN_VALUES: their number */
  /* Returns true if the sketch depends on the entire corpus; then nd_corpus_weights computes it,
   * not `make`. */
  bool (*deferred)(const nd_settings *s);

  /* Opens, computes and closes; *state belongs to one thread and may stay NULL. */
  nd_status (*open)(void **state, const nd_settings *s, nd_error *err);
  nd_status (*make)(uint64_t *out, void *state, const nd_settings *s, const nd_sketch_input *in,
                    nd_error *err);
  void (*close)(void *state);

  /* Appends the cell of the column --columns NAME for two documents. */
  nd_status (*show)(nd_buf *out, const nd_settings *s, const uint64_t *a, const uint64_t *b,
                    nd_error *err);

  /* Sketch files: `parameter` appends the parameter.  The others take the first two numbers of a
   * parameter (0: none) and return the words per sketch in that file and, if not NULL, the number
   * of MinHash values. */
  nd_status (*parameter)(nd_buf *out, const nd_settings *s, nd_error *err);
  uint32_t (*words_in)(const uint32_t number[2]);
  uint32_t (*min_values_in)(const uint32_t number[2]);
};

/* --- methods ------------------------------------------------------------------------------- */

typedef struct nd_finder nd_finder; /* find/finder.h */

/* The keys that group documents, by which an engine shuffles them: kinds of keys, each of which
 * forms buckets of equal keys, then the pieces of a bit vector. */
typedef struct nd_keys {
  uint32_t buckets; /* kinds */
  /* Computes the keys of one kind for some rows; NULL: the bands stored in blocks. */
  void (*make)(uint64_t *keys, const nd_settings *s, const uint64_t *rows, uint32_t docs,
               uint32_t kind);
  const nd_sketch *vector;   /* NULL: none; candidates differ in at most `distance` of its bits */
  uint32_t distance, pieces; /* pieces 0: as many as are needed to find every pair */
} nd_keys;

struct nd_method {
  const char *name, *help;
  const nd_sketch *sketch;               /* its own sketch, or NULL */
  const nd_sketch *finds[4], *judges[4]; /* sketches that the two halves read; end with NULL */
  unsigned exact; /* finds every pair by the documents: an ND_WAY_…; 0: uses sketches */
  bool defined;   /* sketches define what is similar: documents are compared only on demand */

  /* Takes its parameters from the options, after the sketches; called if the run uses the method.
   */
  nd_status (*resolve)(nd_settings *s, const nd_options *o, nd_error *err);
  /* Adds candidates (find/finder.h); NULL: finds only exact duplicates. */
  nd_status (*find)(nd_finder *f, nd_error *err);
  /* Gives the keys; NULL: an engine cannot shuffle by this method. */
  void (*keys)(nd_keys *out, const nd_settings *s);
  /* Compares two rows; returns true if the documents are similar.  Always sets *value, the
   * similarity to show, to a packed nd_fraction.  NULL: compares documents only. */
  bool (*judge)(uint64_t *value, const nd_settings *s, const uint64_t *a, const uint64_t *b);
  /* Returns true if `find` adds only pairs that `judge` accepts; NULL: never. */
  bool (*decides)(const nd_settings *s);
  /* Describe when `judge` calls two documents similar, and which pairs are found; the second leaves
   * "" if the predicted recall applies. */
  void (*rule)(char *out, size_t room, const nd_settings *s);
  void (*coverage)(char *out, size_t room, const nd_settings *s);
};

/* The table, in the order of words, columns and parts of sketch files. */
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

/* Ends with NULL.  Defined in method/methods.c, above this room: settings passes rows to the rooms
 * that call them, and itself calls only `resolve` and the like. */
extern const nd_method *const nd_methods[];

static inline unsigned nd_method_way(const nd_method *m) {
  return m->exact ? m->exact : ND_WAY_SKETCHES;
}

/* Returns true if the method counts the shingles that each pair shares. */
static inline bool nd_method_counts(const nd_method *m) {
  return m->exact == ND_WAY_MERGE;
}

const nd_method *nd_method_find(const char *name); /* NULL: unknown */
const char *nd_method_name(size_t i);              /* of row i; NULL past the last */
const char *nd_method_help(const char *name);      /* NULL: unknown */

/* Returns sketch i, in the order of the methods; NULL past the last. */
const nd_sketch *nd_sketch_at(size_t i);
const char *nd_sketch_name(size_t i);

/* Returns true if a list that ends with NULL has the sketch. */
bool nd_sketch_in(const nd_sketch *const *list, const nd_sketch *sketch);

/* Returns the part of the row that nd_corpus_weights computes, or NULL. */
const nd_row_part *nd_row_deferred(const nd_settings *s);

/* Adds a sketch to the row of every document. */
void nd_settings_keep(nd_settings *s, const nd_sketch *sketch);

#endif
