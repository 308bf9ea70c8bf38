/* Options, set and read by name, with the texts of the command line.
 *
 * The library's table names every option with its type, default, bounds and
 * help.  The command line, its help, the manual pages and the bindings read it.
 *
 *   nd_options *options;
 *   nd_status status = nd_options_new(&options, &err);
 *   if (status == ND_OK) status = nd_options_set(options, "threshold", "0.9", &err);
 *   …
 *   nd_options_free(options); */
#ifndef NEARDUP_OPTIONS_H
#define NEARDUP_OPTIONS_H

#include "neardup/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nd_option_type {
  ND_OPTION_FLAG,    /* no value */
  ND_OPTION_WORD,    /* one of `values` */
  ND_OPTION_TEXT,    /* any text that fits */
  ND_OPTION_LIST,    /* texts, separated by commas; setting it again adds, "none" empties it */
  ND_OPTION_COUNT,   /* a whole number */
  ND_OPTION_SIZE,    /* bytes, with K, M, G, T (powers of 1024) */
  ND_OPTION_DECIMAL, /* 0.8: digits, a point, at most 10 digits */
  ND_OPTION_SEED     /* a whole number, or "random" */
} nd_option_type;

/* Commands that take an option: bits of nd_option_info.commands. */
enum {
  ND_FOR_DEDUP = 1,
  ND_FOR_PAIRS = 2,
  ND_FOR_CLUSTER = 4,
  ND_FOR_INSPECT = 8,
  ND_FOR_STUDY = 16,
  ND_FOR_PLAN = 32,
  ND_FOR_EVAL = 64,
  ND_FOR_PREVALENCE = 128,
  ND_FOR_EXPLAIN = 256,
  ND_FOR_SKETCH = 512,
  ND_FOR_MERGE = 1024,
  ND_FOR_INFO = 2048
};

/* One option.  The library makes these; later versions add fields at the end. */
typedef struct nd_option_info {
  const char *name; /* without the dashes */
  nd_option_type type;
  const char *standard; /* the default, as the user would type it */
  const char *metavar;  /* "N", "SIZE", "words:K" …; NULL for a flag */
  const char *values; /* WORD: allowed words, TEXT: parts of a list, separated by spaces; or NULL */
  uint64_t min, max;  /* COUNT, SIZE */
  unsigned commands;  /* ND_FOR_… */
  const char *topic;  /* the heading of help that it stands below */
  int basic;          /* not 0: the short help shows it */
  const char *help;
} nd_option_info;

/* Returns option number `i`, from 0 on, or NULL after the last one.  It is valid
 * for the life of the program. */
ND_API const nd_option_info *nd_option_at(size_t i);

/* Returns what one of an option's `values` means, in a few words, or NULL if its
 * help says it.  It is valid for the life of the program. */
ND_API const char *nd_option_value_help(const nd_option_info *info, const char *value);

/* The options of one call or of many.  Jobs only read them, so several jobs may
 * share one object as long as nobody sets or gets a value meanwhile. */
typedef struct nd_options nd_options;

/* Makes options with every value at its default; free them by nd_options_free.
 * ND_ERR_MEMORY: no memory, and *out is NULL. */
ND_API nd_status nd_options_new(nd_options **out, nd_error *err) ND_MUST_CHECK;

/* Frees options; NULL is allowed. */
ND_API void nd_options_free(nd_options *options);

/* Sets one option by name, without the dashes; `value` is copied.  ND_ERR_USAGE:
 * the name is unknown (the message suggests the nearest one) or the value is not
 * allowed (the message says what is); the options are unchanged. */
ND_API nd_status nd_options_set(nd_options *options, const char *name, const char *value,
                                nd_error *err) ND_MUST_CHECK;

/* Returns the value of an option as the user would type it, or NULL if the name
 * is unknown.  The text is borrowed until the next call on `options`. */
ND_API const char *nd_options_get(nd_options *options, const char *name);

/* Returns the edit distance of a mistyped word from a name, for "did you mean"; 99
 * if either is longer than 62 bytes. */
ND_API unsigned nd_name_distance(const char *word, const char *name);

/* Checks that the options are consistent, as every job does first.  ND_ERR_USAGE
 * says which options exclude each other. */
ND_API nd_status nd_options_check(const nd_options *options, nd_error *err) ND_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
