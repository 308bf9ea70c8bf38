/* DIR/report.html: what a run did, for people.
 *
 * The pipeline fills an nd_report; here it becomes a page.  Everything in it has
 * a bound (ND_REPORT_…), so that the page stays below 2 MB for any corpus. */
#ifndef ND_REPORT_REPORT_H
#define ND_REPORT_REPORT_H

#include "base/mem.h"
#include "neardup/run.h"

enum {
  ND_REPORT_BINS = 101,       /* of similarity: 0.00, 0.01 … and 1 alone */
  ND_REPORT_ROWS = 15,        /* of a group or list */
  ND_REPORT_NAME = 160,       /* bytes of a name that are shown */
  ND_REPORT_SIZES = 4096,     /* cluster sizes counted one by one */
  ND_REPORT_BROWSER = 1400000 /* bytes of the embedded clusters */
};

/* A part of the corpus: a file, a site, a language, a size. */
typedef struct nd_report_row {
  char name[ND_REPORT_NAME + 8];
  uint64_t documents, dropped;
} nd_report_row;

typedef struct nd_report_group {
  nd_report_row rows[ND_REPORT_ROWS]; /* those with most dropped documents */
  size_t n;
  uint64_t distinct; /* rows there were */
} nd_report_group;

typedef struct nd_report_reject {
  char reason[ND_REPORT_NAME + 8];
  char example[ND_REPORT_NAME + 8];
  uint64_t count;
} nd_report_reject;

typedef struct nd_report_cluster {
  char id[ND_REPORT_NAME + 8];
  uint64_t size;
  double lowest; /* similarity of a member to the kept one */
} nd_report_cluster;

typedef struct nd_report_stage {
  const char *name, *what;
  double seconds;
  uint64_t peak; /* bytes resident, up to the stage's end */
} nd_report_stage;

typedef struct nd_report {
  const nd_summary *summary;
  const nd_options *options;
  bool whole;    /* similarities are whole numbers */
  bool falling;  /* … and smaller is closer (edit) */
  bool verified; /* pairs were compared exactly */
  bool other;    /* --against */
  double bin;    /* width of a bin of similarity */
  double threshold;
  uint64_t pair_bins[ND_REPORT_BINS];    /* verified pairs */
  uint64_t dropped_bins[ND_REPORT_BINS]; /* dropped documents, by similarity to the kept one */
  uint64_t stays[ND_REPORT_BINS];        /* documents that a threshold would keep */
  bool stays_known;                      /* … counted, not estimated */
  double *size_x, *size_y;               /* cluster sizes and how many have them */
  size_t size_n;
  nd_report_cluster largest[ND_REPORT_ROWS];
  size_t largest_n;
  nd_report_group files, sites, languages, sizes;
  bool by_folder;           /* files holds folders */
  uint64_t with_site;       /* documents that have a URL */
  uint64_t language_sample; /* documents whose language was guessed */
  nd_report_reject rejects[ND_REPORT_ROWS];
  size_t reject_n;
  uint64_t other_rejects;
  nd_report_stage stages[4];
  nd_buf command; /* the command line, to copy */
  nd_buf browser; /* JSON: {"clusters": [...], …} */
  uint64_t browser_clusters, browser_texts;
} nd_report;

nd_status nd_report_html(nd_buf *out, const nd_report *r, nd_error *err) ND_MUST_CHECK;
void nd_report_clear(nd_report *r);

/* Puts a row into the group if it is among the ND_REPORT_ROWS with most dropped
 * documents; NULL: it is not; else where its name belongs. */
nd_report_row *nd_report_rank(nd_report_group *g, uint64_t documents, uint64_t dropped);

/* Cuts a name to what is shown, at a code point. */
void nd_report_name(char out[ND_REPORT_NAME + 8], nd_str name);

#endif
