/* Types and functions shared by the stages; see neardup/stage.h. */
#ifndef ND_STAGE_STAGE_WORK_H
#define ND_STAGE_STAGE_WORK_H

#include "base/radix.h"
#include "neardup/stage.h"
#include "read/feed.h"
#include "read/sign.h"
#include "settings/method.h"

struct nd_stage {
  nd_options options;
  nd_settings settings;
  char secret[ND_STAGE_SECRET];
  nd_signer *signer;
  nd_shingle_set *common; /* --sample sct */
  nd_block block;         /* under construction */
  nd_buf texts;           /* texts of the block */
  nd_buf aligned;         /* an aligned copy of an image */
  nd_buf out;             /* data returned to the caller */
  nd_buf evidence;        /* data for comparing documents */
  nd_item *items, *scratch;
  size_t item_cap, scratch_cap;
};

struct nd_intake {
  nd_walk walk;
  nd_feed *feed;
  bool borrowed; /* the files of the walk are borrowed */
};

/* A block received as bytes: its header and columns. */
typedef struct nd_image {
  nd_block_header head;
  const char *p;
} nd_image;

/* Opens an image, valid until the next call.  Returns ND_ERR_DATA if it is damaged. */
nd_status nd_image_open(nd_image *out, nd_stage *s, nd_str bytes, nd_error *err) ND_MUST_CHECK;

static inline const uint64_t *nd_image_wide(const nd_image *i, nd_column column) {
  return (const uint64_t *)(const void *)(i->p + nd_block_column(&i->head, column));
}
static inline const uint32_t *nd_image_narrow(const nd_image *i, nd_column column) {
  return (const uint32_t *)(const void *)(i->p + nd_block_column(&i->head, column));
}

/* The kinds of keys of the run's method: buckets first, then pieces of bit vectors. */
typedef struct nd_stage_plan {
  nd_keys keys;
  const nd_row_part *vector; /* NULL: no pieces */
  uint32_t pieces;
} nd_stage_plan;
nd_stage_plan nd_stage_plan_of(const nd_settings *s);

/* Calls `each` for every rejected record. */
typedef nd_status (*nd_image_reject)(void *context, uint64_t offset, uint64_t length, uint32_t file,
                                     uint32_t line, nd_str reason, nd_error *err);
nd_status nd_image_rejects(const nd_image *i, nd_image_reject each, void *context,
                           nd_error *err) ND_MUST_CHECK;

/* Appends an item to a partition. */
nd_status nd_spread_add(nd_spread *s, uint32_t partition, uint64_t key, uint64_t value,
                        nd_error *err) ND_MUST_CHECK;
uint32_t nd_spread_partitions(const nd_spread *s);

/* Loads all items of some runs into s->items, one run after another. */
nd_status nd_runs_load(size_t *n, nd_stage *s, const nd_str *runs, size_t run_n,
                       nd_error *err) ND_MUST_CHECK;
/* Sorts s->items by key, then by value. */
void nd_group_items(nd_stage *s, size_t n);
/* Packs sorted items as a run. */
nd_status nd_run_pack(nd_buf *out, const nd_item *items, size_t n, unsigned value_bytes,
                      nd_error *err) ND_MUST_CHECK;

/* A source of texts: those of some documents, ascending. */
typedef struct nd_shelf {
  const uint32_t *document;
  const nd_str *text;
  size_t n;
  size_t row_bytes; /* bytes of sketches before a text */
} nd_shelf;
nd_status nd_shelf_fetch(nd_buf *out, void *context, uint32_t document,
                         nd_error *err) ND_MUST_CHECK;

/* Returns the partition of a key: one of `partitions` equal ranges of 0 … 2^64. */
static inline uint32_t nd_share_of(uint64_t key, uint32_t partitions) {
  return (uint32_t)((unsigned __int128)key * partitions >> 64);
}

#endif
