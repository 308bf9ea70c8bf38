/* Kinds of difference between two near-duplicates (Nikkhoo 2010, section 4.4;
 * Henzinger 2006, section 4: URL only, time stamps, counters, passages …). */
#ifndef ND_STUDY_COMMON_DIFFERENCE_H
#define ND_STUDY_COMMON_DIFFERENCE_H

#include "similarity/word_diff.h"
#include "text/text.h"

typedef enum nd_difference {
  ND_DIFFERENCE_EXACT,       /* the same words */
  ND_DIFFERENCE_URL,         /* the same words under two URLs */
  ND_DIFFERENCE_TIME,        /* only dates and times differ */
  ND_DIFFERENCE_COUNTER,     /* only numbers and generated names */
  ND_DIFFERENCE_PASSAGE,     /* one passage inserted or deleted */
  ND_DIFFERENCE_CONTAINED,   /* nearly all words of one are in the other */
  ND_DIFFERENCE_BOILERPLATE, /* the same boilerplate around different content */
  ND_DIFFERENCE_EDITORIAL,   /* changes in several places */
  ND_DIFFERENCE_OTHER,       /* little in common */
  ND_DIFFERENCES
} nd_difference;

/* Return a name for lists ("url", "time" …) and a sentence. */
const char *nd_difference_name(nd_difference kind);
const char *nd_difference_text(nd_difference kind);

/* Parts in which the URLs of two equal pages differ, least significant first. */
typedef enum nd_url_difference {
  ND_URL_SAME,    /* or one is unknown */
  ND_URL_SCHEME,  /* http, https */
  ND_URL_WWW,     /* the host's www */
  ND_URL_INDEX,   /* a final slash, /index.html … */
  ND_URL_SESSION, /* the id of a session or campaign */
  ND_URL_QUERY,   /* the query */
  ND_URL_PATH,    /* the path, on the same host */
  ND_URL_HOST,    /* the host */
  ND_URL_DIFFERENCES
} nd_url_difference;

nd_status nd_url_compare(nd_url_difference *out, nd_str a, nd_str b, nd_error *err) ND_MUST_CHECK;
const char *nd_url_difference_name(nd_url_difference d);

/* Returns the kind of difference between the words.  Changes `d`: joins its islands. */
nd_difference nd_difference_kind(nd_diff *d, const nd_tokens *a, const nd_tokens *b,
                                 nd_url_difference url);

#endif
