/* The options as fields, for the library itself; programs set them by name.
 *
 * A row of the table in options.c holds the public description of an option and the offset of its
 * field. */
#ifndef ND_SETTINGS_OPTION_FIELDS_H
#define ND_SETTINGS_OPTION_FIELDS_H

#include "base/decimal.h"
#include "neardup/options.h"

struct nd_options {
  char format[16];
  char id_field[128], text_field[128], url_field[128], time_field[128];
  char tokens[16];
  char shingle[32];
  char method[16];
  char candidates[16], confirm[16]; /* "": the method's own */
  char similarity[16];
  char fingerprint[16];
  nd_decimal threshold;
  int threshold_given;   /* 1 if the threshold was set, even to the default */
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
  char verify[16]; /* "": the default of the method and --sample */
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
  int force;             /* replace files that neardup did not make */
  char sync[16];         /* "yes": wait until a finished result is on disk */
  int csv;               /* lists as CSV instead of TSV */
  uint64_t max_stdin;    /* bytes; 0: half of the free space where it is stored */
  uint64_t max_document; /* bytes */
  uint64_t bucket_cap;
  int collapse;
  char progress[16];
  char shown[40]; /* buffer of nd_options_get for numbers */
};

typedef struct nd_option_row {
  size_t offset, size; /* of the field in nd_options */
  nd_option_info info;
} nd_option_row;

/* The table; ends with a row whose info.name is NULL. */
const nd_option_row *nd_option_rows(void);

/* Sets every option to its default. */
void nd_options_init(nd_options *options);

/* Writes the value as the user would type it; truncates a value longer than `room` - 1 bytes. */
void nd_option_text(char *out, size_t room, const nd_options *options, const nd_option_row *row);

#endif
