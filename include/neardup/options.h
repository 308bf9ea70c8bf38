/* Options: one struct, one table.
 *
 * The table names every option with its type, default, bounds and help; the
 * command line, its help, the man pages and the bindings all read it, so they
 * cannot drift apart.  Fields may be set directly too; nd_options_check is
 * called by every job and says what does not fit together. */
#ifndef NEARDUP_OPTIONS_H
#define NEARDUP_OPTIONS_H

#include "neardup/status.h"

/* A decimal as the user typed it: num / den, den a power of ten.  Comparisons
 * with it are made in integers, so 4/5 is not below 0.8. */
typedef struct nd_decimal {
  uint64_t num, den;
} nd_decimal;

typedef enum nd_method {
  ND_METHOD_MINHASH,
  ND_METHOD_DIGEST,
  ND_METHOD_EXACT,
  ND_METHOD_JOIN,
  ND_METHOD_ALLPAIRS,
  ND_METHOD_PPJOIN,
  ND_METHOD_PPJOIN_PLUS,
  ND_METHOD_SUPERSHINGLE,
  ND_METHOD_SIMHASH,
  ND_METHOD_PROJECTION,
  ND_METHOD_COMBINED,
  ND_METHOD_COMBINED_SITE
} nd_method;
typedef enum nd_similarity {
  ND_SIMILARITY_JACCARD,
  ND_SIMILARITY_COSINE,
  ND_SIMILARITY_OVERLAP,
  ND_SIMILARITY_EDIT,
  ND_SIMILARITY_CONTAINMENT
} nd_similarity;
typedef enum nd_verify {
  ND_VERIFY_EXACT,
  ND_VERIFY_SKETCH,
  ND_VERIFY_NONE,
  ND_VERIFY_SAMPLE
} nd_verify;
typedef enum nd_clustering { ND_CLUSTER_STAR, ND_CLUSTER_COMPONENTS } nd_clustering;
typedef enum nd_keep {
  ND_KEEP_FIRST,
  ND_KEEP_LONGEST,
  ND_KEEP_SHORTEST,
  ND_KEEP_OLDEST,
  ND_KEEP_NEWEST,
  ND_KEEP_URL,
  ND_KEEP_CENTRE,
  ND_KEEP_FIELD
} nd_keep;

typedef struct nd_options {
  char format[16];
  char id_field[128], text_field[128], url_field[128], time_field[128];
  char tokens[16];
  char shingle[32];
  char method[16];
  char candidates[16], confirm[16]; /* "": the method's own */
  char similarity[16];
  char fingerprint[16];
  nd_decimal threshold;
  int threshold_given;   /* set with the threshold: it is not just the default */
  uint64_t permutations; /* 0: chosen */
  uint64_t bands;        /* 0: chosen */
  uint64_t rows;         /* 0: chosen */
  nd_decimal recall;
  char family[16];
  uint64_t supershingles, agree;
  uint64_t bits;
  uint64_t agree_bits, combined_bits; /* 0: chosen */
  int complete;
  uint64_t hamming;
  char weights[16];
  char features[16];
  uint64_t seed;
  char sample[1024]; /* "": all shingles */
  int ignore_boilerplate;
  nd_decimal boilerplate_share;
  char verify[16]; /* "": as the method and --sample have it */
  char columns[128];
  char cluster[16]; /* "": the command's own default */
  char keep[136];
  char against[1024]; /* "": the input itself */
  uint64_t top;       /* 0: all pairs */
  int stats;
  uint64_t threads; /* 0: all cores */
  uint64_t memory;  /* bytes; 0: half of RAM */
  char tmp[1024];   /* "": beside the output */
  char shard[32];   /* "": all of the work */
  char resume[16];
  int force;             /* write over what is not a result of ours */
  char sync[16];         /* "yes": a finished result is on the disk */
  int csv;               /* lists as CSV instead of TSV */
  uint64_t max_stdin;    /* bytes; 0: half of the free space where it is stored */
  uint64_t max_document; /* bytes */
  uint64_t bucket_cap;
  int collapse;
  char progress[16];
} nd_options;

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

enum { /* commands that take an option */
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

typedef struct nd_option_info {
  const char *name; /* without the dashes */
  nd_option_type type;
  size_t offset;        /* in nd_options */
  size_t size;          /* of the field */
  const char *standard; /* the default, as the user would type it */
  const char *metavar;  /* "N", "SIZE", "words:K" … */
  const char *values;   /* WORD: allowed ones, separated by spaces */
  uint64_t min, max;    /* COUNT, SIZE */
  unsigned commands;
  const char *topic; /* heading of help that it stands below */
  int basic;         /* the short help shows it */
  const char *help;
} nd_option_info;

/* The table; ends with a row whose name is NULL. */
ND_API const nd_option_info *nd_option_table(void);

/* Every option at its default. */
ND_API void nd_options_init(nd_options *options);

/* Sets one option by name.  ND_ERR_USAGE names the nearest option or the
 * allowed values. */
ND_API nd_status nd_options_set(nd_options *options, const char *name, const char *value,
                                nd_error *err) ND_MUST_CHECK;

/* Edit distance of a mistyped word from a name, for "did you mean"; 99 if either is longer
 * than 62 bytes. */
ND_API unsigned nd_name_distance(const char *word, const char *name);

/* The value as text, as the user would type it.  `room` bytes at `out`. */
ND_API void nd_options_get(char *out, size_t room, const nd_options *options,
                           const nd_option_info *info);

/* Do the options fit together? */
ND_API nd_status nd_options_check(const nd_options *options, nd_error *err) ND_MUST_CHECK;

#endif
