/* Counting recurring passages by site; see boilerplate_pass.h.
 *
 *   1  per page: (site, digest of the page), and (window of the site, digest | number of the site)
 *      → two sorters
 *   2  distinct digests of a site: its number of pages
 *   3  distinct digests of a window, compared with the number of pages of its site
 *
 * Pages with the same window are distinguished by 32 bits of their digests. */
#include "read/boilerplate_pass.h"

#include <pthread.h>
#include <xxhash.h>

#include "base/id_map.h"
#include "base/sorter.h"

#include "feature/boilerplate.h"
#include "read/prepass.h"
#include "text/site.h"

typedef struct counting {
  nd_reading *reading;
  nd_sorter *pages;   /* site → digest */
  nd_sorter *windows; /* window → digest << 32 | number of the site */
  pthread_mutex_t lock;
  nd_id_map sites;          /* by the 8 bytes of their keys */
  uint32_t *pages_of;       /* pages per site number */
  struct counter *counters; /* one per thread */
} counting;

/* Working memory of one thread. */
typedef struct counter {
  nd_boilerplate windows;
  nd_item *items;
  size_t cap;
  uint64_t last; /* the most recent site, and its number */
  uint32_t last_number;
} counter;

static nd_str site_id(const uint64_t *key) {
  return (nd_str){(const char *)key, sizeof *key};
}

static nd_status number_of(uint32_t *out, counting *c, counter *t, uint64_t key, nd_error *err) {
  if (t->last != key) {
    pthread_mutex_lock(&c->lock);
    nd_status status = nd_id_map_number(&t->last_number, &c->sites, site_id(&key), err);
    pthread_mutex_unlock(&c->lock);
    ND_TRY(status);
    t->last = key;
  }
  *out = t->last_number;
  return ND_OK;
}

static nd_status count_page(void *context, unsigned member, const nd_read *read, nd_error *err) {
  counting *c = context;
  counter *t = &c->counters[member];
  uint64_t key = nd_site_key(read->document.url);
  if (key == 0 || read->tokens->count == 0) return ND_OK; /* records of --format sets have no URL */
  uint32_t number;
  uint64_t digest = XXH3_64bits(read->tokens->text.p, read->tokens->text.n);
  nd_item page = {key, digest};
  ND_TRY(number_of(&number, c, t, key, err));
  ND_TRY(nd_sorter_add(c->pages, &page, 1, err));
  ND_TRY(nd_boilerplate_keys(&t->windows, read->tokens, key,
                             nd_boilerplate_window(c->reading->settings->tokens), err));
  size_t n = t->windows.shingles.n;
  ND_TRY(nd_array_grow(&t->items, &t->cap, n, sizeof *t->items, err));
  for (size_t i = 0; i < n; i++)
    t->items[i] = (nd_item){t->windows.shingles.fingerprint[i], digest << 32 | number};
  return nd_sorter_add(c->windows, t->items, n, err);
}

static nd_status count_pages(void *context, nd_item last, uint64_t count, nd_error *err) {
  const counting *c = context;
  (void)err;
  c->pages_of[nd_id_map_find(&c->sites, site_id(&last.key))] = (uint32_t)count;
  return ND_OK;
}

/* Returns true if a window recurs often enough on its site. */
static bool recurs(const counting *c, uint64_t count, uint32_t number) {
  nd_decimal share = c->reading->settings->options->boilerplate_share;
  return count >= ND_BOILERPLATE_PAGES &&
         (unsigned __int128)count * share.den > (unsigned __int128)c->pages_of[number] * share.num;
}

static nd_status take_recurring(void *context, nd_item last, uint64_t count, nd_error *err) {
  const counting *c = context;
  if (!recurs(c, count, (uint32_t)last.value)) return ND_OK;
  return nd_shingle_set_add(c->reading->boilerplate, last.key, err);
}

static nd_status run(counting *c, const char *tmp, nd_error *err) {
  nd_reading *r = c->reading;
  nd_settings *s = r->settings;
  unsigned threads = nd_reading_threads(s);
  c->counters = nd_calloc(threads, sizeof *c->counters);
  if (!c->counters) return nd_fail_memory(err, threads * sizeof *c->counters);
  ND_TRY(nd_sorter_new(&c->pages, nd_budget(s->memory, ND_SHARE_PREPASS_PAGES), tmp, false, err));
  ND_TRY(nd_sorter_new(&c->windows, nd_budget(s->memory, ND_SHARE_PREPASS), tmp, false, err));
  nd_sorter_by_value(c->pages);
  nd_sorter_by_value(c->windows);
  ND_TRY(nd_prepass(r, count_page, c, err));
  ND_TRY(nd_sorter_finish(c->pages, err));
  ND_TRY(nd_sorter_finish(c->windows, err));
  c->pages_of = nd_calloc(c->sites.n + 1, sizeof *c->pages_of);
  if (!c->pages_of) return nd_fail_memory(err, c->sites.n * sizeof *c->pages_of);
  ND_TRY(nd_sorter_count_values(c->pages, count_pages, c, err));
  ND_TRY(nd_shingle_set_new(&r->boilerplate, nd_budget(s->memory, ND_SHARE_SHINGLE_SET), tmp, err));
  ND_TRY(nd_sorter_count_values(c->windows, take_recurring, c, err));
  return nd_shingle_set_finish(r->boilerplate, err);
}

nd_status nd_boilerplate_pass(nd_reading *r, const char *tmp, nd_error *err) {
  counting c = {.reading = r};
  pthread_mutex_init(&c.lock, NULL);
  r->settings->counting_passages = true;
  nd_status status = run(&c, tmp, err);
  r->settings->counting_passages = false;
  r->settings->passages = r->boilerplate;
  for (unsigned i = 0; c.counters && i < nd_reading_threads(r->settings); i++) {
    nd_boilerplate_clear(&c.counters[i].windows);
    nd_free(c.counters[i].items);
  }
  nd_free(c.counters);
  nd_sorter_free(c.pages);
  nd_sorter_free(c.windows);
  nd_id_map_clear(&c.sites);
  nd_free(c.pages_of);
  pthread_mutex_destroy(&c.lock);
  return status;
}
