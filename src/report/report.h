/* DIR/report.html: the result of a run, for people.
 *
 * The job fills in an nd_report; nd_report_html turns it into a page.  All its parts are bounded
 * (ND_REPORT_…), so that the page stays below 2 MB for any corpus. */
#ifndef ND_REPORT_REPORT_H
#define ND_REPORT_REPORT_H

#include "base/mem.h"
#include "neardup/run.h"

enum {
  ND_REPORT_BINS = 101,       /* similarities 0.00, 0.01 … and 1 alone */
  ND_REPORT_ROWS = 15,        /* rows of a group or list */
  ND_REPORT_NAME = 160,       /* bytes shown of a name */
  ND_REPORT_SIZES = 4096,     /* cluster sizes counted individually */
  ND_REPORT_BROWSER = 1400000 /* bytes of the embedded clusters */
};

/* A part of the corpus: a file, a site, a language, a size. */
typedef struct nd_report_row {
  char name[ND_REPORT_NAME + 8];
  uint64_t documents, dropped;
} nd_report_row;

typedef struct nd_report_group {
  nd_report_row rows[ND_REPORT_ROWS]; /* the rows with most dropped documents */
  size_t n;
  uint64_t distinct; /* number of rows before the selection */
} nd_report_group;

typedef struct nd_report_reject {
  char reason[ND_REPORT_NAME + 8];
  char example[ND_REPORT_NAME + 8];
  uint64_t count;
} nd_report_reject;

typedef struct nd_report_cluster {
  char id[ND_REPORT_NAME + 8];
  uint64_t size;
  double lowest; /* lowest similarity of a member to the kept one */
} nd_report_cluster;

typedef struct nd_report_stage {
  const char *name, *what;
  double seconds;
  uint64_t peak; /* peak resident bytes up to the end of the stage */
} nd_report_stage;

typedef struct nd_report {
  const nd_summary *summary;
  const nd_options *options;
  bool whole;    /* similarities are integers */
  bool falling;  /* a smaller value is closer (edit) */
  bool verified; /* pairs were compared exactly */
  bool other;    /* --against */
  double bin;    /* width of a similarity bin */
  double threshold;
  uint64_t pair_bins[ND_REPORT_BINS];    /* verified pairs */
  uint64_t dropped_bins[ND_REPORT_BINS]; /* dropped documents, by similarity to the kept one */
  uint64_t stays[ND_REPORT_BINS];        /* documents kept at higher thresholds */
  bool stays_known;                      /* `stays` is counted, not estimated */
  double *size_x, *size_y;               /* cluster sizes, and the number of clusters of each */
  size_t size_n;
  nd_report_cluster largest[ND_REPORT_ROWS];
  size_t largest_n;
  nd_report_group files, sites, languages, sizes;
  bool by_folder;           /* `files` has directories */
  uint64_t with_site;       /* documents with a URL */
  uint64_t language_sample; /* documents whose language was guessed */
  nd_report_reject rejects[ND_REPORT_ROWS];
  size_t reject_n;
  uint64_t other_rejects;
  nd_report_stage stages[4];
  nd_buf command; /* the command line */
  nd_buf browser; /* JSON: {"clusters": [...], …} */
  uint64_t browser_clusters, browser_texts;
} nd_report;

nd_status nd_report_html(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
void nd_report_clear(nd_report *r);

/* Adds a row to the group if it is among the ND_REPORT_ROWS with most dropped documents.  Returns
 * the row, whose name the caller sets, or NULL. */
nd_report_row *nd_report_rank(nd_report_group *g, uint64_t documents, uint64_t dropped);

/* Truncates a name to the length shown, at a code point. */
void nd_report_name(char out[ND_REPORT_NAME + 8], nd_str name);

#endif
