/* Gathering the data of a report; see report_data.h. */
#include "report/report_data.h"

#include <math.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/writer.h"
#include "output/tsv.h"
#include "store/workdir.h"
#include "text/language.h"
#include "text/site.h"

enum { SAMPLE = 500, FEW_FILES = 200 };

/* --- similarities -------------------------------------------------------------- */

static double threshold_of(const nd_settings *s) {
  return (double)s->threshold.num / (double)s->threshold.den;
}

double nd_report_closeness(const nd_settings *s, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value);
  double num = f.num, den = f.den, t = threshold_of(s), c;
  if (s->similarity->distance)
    c = t > 0 ? 1 - num / t : 1;
  else if (s->similarity->counts)
    c = num > 0 ? 1 - t / num : 0;
  else
    c = t < 1 && den > 0 ? (num / den - t) / (1 - t) : 1;
  return c < 0 ? 0 : c > 1 ? 1 : c;
}

/* --- parts of the corpus --------------------------------------------------------- */

/* Counts documents by part: items with the hash of the part are sorted, then added up.  Adjacent
 * documents of one file share an item. */
typedef struct counting {
  const nd_report_source *s;
  nd_sorter *sites, *files;
  nd_item *items; /* of one block */
  size_t n, cap;
  nd_report_row sizes[ND_REPORT_LARGEST + 1];
  nd_buf column;
  nd_report *r;
} counting;

static bool is_dropped(const nd_report_source *s, uint32_t document) {
  return s->clusters->centre[document] != document;
}

static nd_str folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (nd_str){path, (size_t)(slash - path)} : (nd_str){".", 1};
}

static nd_str part_of_file(const counting *c, uint32_t file) {
  const char *path = c->s->job->walk.files[file].path;
  return c->r->by_folder ? folder_of(path) : nd_str_of(path);
}

/* Adds `count` documents from `document` on, all of them dropped or all kept. */
static void add(counting *c, uint64_t key, uint32_t document, uint32_t count, bool dropped) {
  c->items[c->n++] = (nd_item){key, nd_pair_key(document, count << 1 | dropped)};
}

/* Makes room for the items of a block: at most one per document. */
static nd_status begin_items(counting *c, const nd_block_ref *b, nd_error *err) {
  c->n = 0;
  return nd_array_grow(&c->items, &c->cap, b->head.docs, sizeof *c->items, err);
}

static nd_status count_files(counting *c, size_t block, nd_error *err) {
  const nd_block_ref *b = &c->s->job->store.blocks[block];
  ND_TRY(begin_items(c, b, err));
  ND_TRY(nd_buf_reserve(&c->column, 4 * (size_t)b->head.docs, err));
  uint32_t *file = (uint32_t *)(void *)c->column.p, last = UINT32_MAX;
  ND_TRY(nd_store_column(&c->s->job->store, block, ND_COL_FILE, 4, file, err));
  uint64_t key = 0;
  uint32_t counts[2] = {0}, n = 0; /* kept and dropped documents of the file so far */
  while (n < b->head.docs && b->first + n < c->s->job->source.split) n++;
  for (uint32_t i = 0, begin = 0; i < n; i++) {
    if (file[i] != last) {
      nd_str part = part_of_file(c, file[i]);
      key = XXH3_64bits(part.p, part.n);
      last = file[i];
      begin = i;
    }
    counts[is_dropped(c->s, b->first + i)]++;
    if (i + 1 < n && file[i + 1] == last) continue;
    for (int dropped = 0; dropped < 2; dropped++) {
      if (counts[dropped]) add(c, key, b->first + begin, counts[dropped], dropped);
      counts[dropped] = 0;
    }
  }
  return nd_sorter_add(c->files, c->items, c->n, err);
}

static nd_status count_sites(counting *c, size_t block, nd_error *err) {
  const nd_block_ref *b = &c->s->job->store.blocks[block];
  if (b->head.url_bytes == 0) return ND_OK;
  size_t ends = 4 * (size_t)b->head.docs;
  ND_TRY(begin_items(c, b, err));
  ND_TRY(nd_buf_reserve(&c->column, ends + b->head.url_bytes, err));
  uint32_t *end = (uint32_t *)(void *)c->column.p;
  char *urls = c->column.p + ends;
  ND_TRY(nd_store_column(&c->s->job->store, block, ND_COL_URL_END, 4, end, err));
  ND_TRY(nd_store_read(&c->s->job->store, block, nd_block_urls(&b->head), urls, b->head.url_bytes,
                       err));
  for (uint32_t i = 0; i < b->head.docs && b->first + i < c->s->job->source.split; i++) {
    uint32_t begin = i ? end[i - 1] : 0;
    uint64_t key = nd_site_key((nd_str){urls + begin, end[i] - begin});
    if (!key) continue;
    c->r->with_site++;
    add(c, key, b->first + i, 1, is_dropped(c->s, b->first + i));
  }
  return nd_sorter_add(c->sites, c->items, c->n, err);
}

unsigned nd_report_size(uint64_t bytes) {
  unsigned group = 0;
  while (group < ND_REPORT_LARGEST && bytes >= UINT64_C(256) << (2 * group)) group++;
  return group;
}

static nd_status count_sizes(counting *c, size_t block, nd_error *err) {
  const nd_block_ref *b = &c->s->job->store.blocks[block];
  ND_TRY(nd_buf_reserve(&c->column, 8 * (size_t)b->head.docs, err));
  uint64_t *length = (uint64_t *)(void *)c->column.p;
  ND_TRY(nd_store_column(&c->s->job->store, block, ND_COL_LENGTH, 8, length, err));
  for (uint32_t i = 0; i < b->head.docs && b->first + i < c->s->job->source.split; i++) {
    unsigned group = nd_report_size(length[i]);
    c->sizes[group].documents++;
    c->sizes[group].dropped += is_dropped(c->s, b->first + i);
  }
  return ND_OK;
}

static void put_size(char *out, size_t room, uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB"}; /* ND_REPORT_LARGEST: 4 GiB */
  int unit = 0;
  while (bytes >= 1024) bytes /= 1024, unit++;
  snprintf(out, room, "%u %s", (unsigned)bytes, units[unit]);
}

void nd_report_take_sizes(nd_report_group *g, const nd_report_row *sizes) {
  for (unsigned i = 0; i <= ND_REPORT_LARGEST; i++) {
    if (!sizes[i].documents) continue;
    nd_report_row *row = &g->rows[g->n++];
    *row = sizes[i];
    char low[16], high[16];
    put_size(low, sizeof low, i ? UINT64_C(256) << (2 * (i - 1)) : 0);
    put_size(high, sizeof high, UINT64_C(256) << (2 * i));
    if (i == 0)
      snprintf(row->name, sizeof row->name, "below %s", high);
    else if (i == ND_REPORT_LARGEST)
      snprintf(row->name, sizeof row->name, "%s and more", low);
    else
      snprintf(row->name, sizeof row->name, "%s to %s", low, high);
  }
  g->distinct = g->n;
}

/* Ranks a part; its first document names it later, if it is in the group. */
static void rank_part(nd_report_group *g, uint64_t documents, uint64_t dropped, uint32_t first) {
  nd_report_row *row = nd_report_rank(g, documents, dropped);
  if (row) memcpy(row->name, &first, sizeof first);
  g->distinct++;
}

/* Adds up the items of one part after another. */
typedef struct adding {
  nd_report_group *group;
  uint64_t key, documents, dropped;
  uint32_t first;
} adding;

static nd_status add_items(void *context, nd_item *items, size_t n, nd_error *err) {
  adding *a = context;
  (void)err;
  for (size_t i = 0; i < n; i++) {
    if (a->documents && items[i].key != a->key) {
      rank_part(a->group, a->documents, a->dropped, a->first);
      a->documents = a->dropped = 0;
    }
    uint32_t count = (uint32_t)items[i].value >> 1;
    if (!a->documents) a->first = nd_pair_of(items[i].value).a;
    a->key = items[i].key;
    a->documents += count;
    a->dropped += items[i].value & 1 ? count : 0;
  }
  return ND_OK;
}

/* Adds up items with equal keys. */
static nd_status add_up(nd_report_group *g, uint32_t *first, nd_sorter *sorted, nd_error *err) {
  adding a = {.group = g};
  ND_TRY(nd_sorter_finish(sorted, err));
  ND_TRY(nd_sorter_each(sorted, add_items, &a, err));
  if (a.documents) rank_part(g, a.documents, a.dropped, a.first);
  for (size_t i = 0; i < g->n; i++) memcpy(&first[i], g->rows[i].name, sizeof *first);
  return ND_OK;
}

nd_status nd_report_url(nd_buf *out, const nd_store *s, uint32_t document, nd_error *err) {
  out->n = 0;
  if (s->block_n == 0) return ND_OK; /* the documents are elsewhere */
  size_t block = nd_store_find(s, document);
  const nd_block_ref *b = &s->blocks[block];
  uint32_t row = document - b->first, ends[2] = {0, 0};
  if (b->head.url_bytes == 0) return ND_OK;
  uint64_t at = nd_block_column(&b->head, ND_COL_URL_END) + 4 * (uint64_t)row;
  if (row)
    ND_TRY(nd_store_read(s, block, at - 4, ends, 8, err));
  else
    ND_TRY(nd_store_read(s, block, at, ends + 1, 4, err));
  ND_TRY(nd_buf_reserve(out, ends[1] - ends[0] + 1, err));
  ND_TRY(
      nd_store_read(s, block, nd_block_urls(&b->head) + ends[0], out->p, ends[1] - ends[0], err));
  out->n = ends[1] - ends[0];
  return ND_OK;
}

static nd_status name_sites(counting *c, nd_error *err) {
  uint32_t first[ND_REPORT_ROWS] = {0};
  ND_TRY(add_up(&c->r->sites, first, c->sites, err));
  for (size_t i = 0; i < c->r->sites.n; i++) {
    ND_TRY(nd_report_url(&c->column, &c->s->job->store, first[i], err));
    nd_str site = nd_host_site(nd_url_host(nd_buf_str(&c->column)));
    nd_report_name(c->r->sites.rows[i].name, site);
    for (char *p = c->r->sites.rows[i].name; *p; p++)
      if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
  }
  return ND_OK;
}

static nd_status name_files(counting *c, nd_error *err) {
  uint32_t first[ND_REPORT_ROWS] = {0};
  ND_TRY(add_up(&c->r->files, first, c->files, err));
  for (size_t i = 0; i < c->r->files.n; i++) {
    const nd_store *s = &c->s->job->store;
    size_t block = nd_store_find(s, first[i]);
    uint64_t at = nd_block_column(&s->blocks[block].head, ND_COL_FILE) +
                  4 * (uint64_t)(first[i] - s->blocks[block].first);
    uint32_t file;
    ND_TRY(nd_store_read(s, block, at, &file, sizeof file, err));
    nd_report_name(c->r->files.rows[i].name, part_of_file(c, file));
  }
  return ND_OK;
}

static nd_status count_parts(counting *c, nd_error *err) {
  const nd_run *j = c->s->job;
  ND_TRY(nd_sorter_new(&c->sites, nd_budget(j->settings.memory, ND_SHARE_REPORT), c->s->tmp, false,
                       err));
  ND_TRY(nd_sorter_new(&c->files, nd_budget(j->settings.memory, ND_SHARE_REPORT), c->s->tmp, false,
                       err));
  c->r->by_folder = j->walk.inputs > FEW_FILES;
  for (size_t i = 0; i < j->store.block_n; i++) {
    if (j->store.blocks[i].head.docs == 0) continue;
    ND_TRY(count_files(c, i, err));
    ND_TRY(count_sites(c, i, err));
    ND_TRY(count_sizes(c, i, err));
  }
  nd_report_take_sizes(&c->r->sizes, c->sizes);
  ND_TRY(name_files(c, err));
  return name_sites(c, err);
}

static nd_status gather_parts(nd_report *r, const nd_report_source *s, nd_error *err) {
  counting *c = nd_calloc(1, sizeof *c);
  if (!c) return nd_fail_memory(err, sizeof *c);
  c->s = s;
  c->r = r;
  nd_status status = count_parts(c, err);
  nd_sorter_free(c->sites);
  nd_sorter_free(c->files);
  nd_free(c->items);
  nd_buf_clear(&c->column);
  nd_free(c);
  return status;
}

/* Guesses the languages of a sample, one document in every N. */
static nd_status gather_languages(nd_report *r, const nd_report_source *s, nd_error *err) {
  nd_texts *texts = NULL;
  nd_buf text = {0};
  nd_report_row rows[ND_LANGUAGES];
  const char *names[ND_LANGUAGES];
  memset(rows, 0, sizeof rows);
  size_t n = 0;
  uint32_t all = s->job->source.split, sample = all < SAMPLE ? all : SAMPLE;
  nd_status status = nd_texts_new(&texts, &s->job->source, err);
  for (uint32_t i = 0; status == ND_OK && i < sample; i++) {
    uint32_t d = (uint32_t)((uint64_t)i * all / sample);
    status = nd_texts_get(&text, texts, d, err);
    if (status != ND_OK) break;
    const char *name = nd_language_guess(nd_buf_str(&text));
    size_t k = 0;
    while (k < n && strcmp(names[k], name) != 0) k++;
    if (k == n) names[n++] = name;
    rows[k].documents++;
    rows[k].dropped += is_dropped(s, d);
  }
  r->language_sample = sample;
  for (size_t k = 0; status == ND_OK && k < n && k < ND_REPORT_ROWS; k++) {
    /* Languages are sorted by documents, not by dropped ones: they describe the corpus. */
    size_t best = k;
    for (size_t i = k + 1; i < n; i++)
      if (rows[i].documents > rows[best].documents ||
          (rows[i].documents == rows[best].documents && strcmp(names[i], names[best]) < 0))
        best = i;
    nd_report_row row = rows[best];
    const char *name = names[best];
    rows[best] = rows[k];
    names[best] = names[k];
    nd_report_name(row.name, nd_str_of(name));
    r->languages.rows[r->languages.n++] = row;
  }
  r->languages.distinct = n;
  nd_buf_clear(&text);
  nd_texts_free(texts);
  return status;
}

/* --- rejected records ---------------------------------------------------------- */

typedef struct rejecting {
  nd_report *r;
  const nd_report_source *s;
  nd_buf place;
} rejecting;

/* Replaces numbers, so that reasons that differ only in them are counted as one. */
static void general_reason(char out[ND_REPORT_NAME + 8], nd_str reason) {
  char text[ND_REPORT_NAME + 1];
  size_t n = 0;
  for (size_t i = 0; i < reason.n && n < sizeof text - 1; i++) {
    char c = reason.p[i];
    bool digit = c >= '0' && c <= '9';
    if (digit && n && text[n - 1] == '#') continue;
    text[n++] = digit ? '#' : c;
  }
  nd_report_name(out, (nd_str){text, n});
}

bool nd_report_reject_known(nd_report_reject **row, nd_report *r, nd_str full) {
  char reason[ND_REPORT_NAME + 8];
  general_reason(reason, full);
  for (size_t i = 0; i < r->reject_n; i++) {
    if (strcmp(r->rejects[i].reason, reason) != 0) continue;
    r->rejects[i].count++;
    return true;
  }
  if (r->reject_n == ND_REPORT_ROWS) {
    r->other_rejects++;
    return true;
  }
  *row = &r->rejects[r->reject_n++];
  memcpy((*row)->reason, reason, sizeof reason);
  (*row)->count = 1;
  return false;
}

static nd_status take_reject(void *context, const nd_reject *x, nd_error *err) {
  rejecting *c = context;
  nd_report_reject *row = NULL;
  if (nd_report_reject_known(&row, c->r, x->reason)) return ND_OK;
  c->place.n = 0;
  if (x->block == SIZE_MAX)
    ND_TRY(nd_tsv_append(&c->place, nd_str_of(x->path), err));
  else
    ND_TRY(nd_ids_location(&c->place, c->s->job->ids, x->block, x->file, x->line, x->offset, err));
  nd_report_name(row->example, nd_buf_str(&c->place));
  return ND_OK;
}

static nd_status gather_rejects(nd_report *r, const nd_report_source *s, nd_error *err) {
  rejecting c = {r, s, {0}};
  nd_status status = nd_run_rejects(s->job, take_reject, &c, err);
  nd_buf_clear(&c.place);
  return status;
}

/* --- clusters -------------------------------------------------------------------- */

/* Sizes are counted individually up to a bound, then in steps of 1/8 of an octave. */
enum { LARGE = 8 * 32 };

/* Inserts a cluster if it is among the largest. */
static void take_largest(nd_report *r, uint32_t *centres, uint32_t centre, uint64_t size) {
  size_t at = r->largest_n;
  while (at > 0 && r->largest[at - 1].size < size) at--;
  size_t last = r->largest_n < ND_REPORT_ROWS ? r->largest_n++ : ND_REPORT_ROWS - 1;
  for (size_t i = last; i > at; i--) {
    r->largest[i] = r->largest[i - 1];
    centres[i] = centres[i - 1];
  }
  r->largest[at] = (nd_report_cluster){.size = size, .lowest = INFINITY};
  centres[at] = centre;
}

static double value_of(const nd_settings *s, uint64_t value) {
  const nd_fraction f = nd_fraction_of(value);
  return s->similarity->counts ? f.num : nd_fraction_real(f, 0);
}

static nd_status gather_clusters(nd_report *r, const nd_report_source *s, uint64_t *counts,
                                 nd_error *err) {
  const nd_clusters *c = s->clusters;
  const nd_settings *set = &s->job->settings;
  uint32_t centres[ND_REPORT_ROWS] = {0};
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->centre[d] != d) r->dropped_bins[nd_run_bin(set, c->value[d])]++;
    if (s->size[d] < 2) continue;
    uint32_t size = s->size[d];
    if (size < ND_REPORT_SIZES)
      counts[size]++;
    else
      counts[ND_REPORT_SIZES + (size_t)(8 * log2(size))]++;
    if (r->largest_n < ND_REPORT_ROWS || size > r->largest[r->largest_n - 1].size)
      take_largest(r, centres, d, size);
  }
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->centre[d] == d) continue;
    for (size_t i = 0; i < r->largest_n; i++) {
      if (centres[i] != c->centre[d]) continue;
      double v = value_of(set, c->value[d]), *lowest = &r->largest[i].lowest;
      bool first = isinf(*lowest);
      if (first || (set->similarity->distance ? v > *lowest : v < *lowest)) *lowest = v;
    }
  }
  nd_buf id = {0};
  nd_status status = ND_OK;
  for (size_t i = 0; status == ND_OK && i < r->largest_n; i++) {
    id.n = 0;
    status = nd_ids_append(&id, s->job->ids, centres[i], err);
    if (status == ND_OK) nd_report_name(r->largest[i].id, nd_buf_str(&id));
  }
  nd_buf_clear(&id);
  return status;
}

static nd_status gather_sizes(nd_report *r, const nd_report_source *s, nd_error *err) {
  enum { ALL = ND_REPORT_SIZES + LARGE };
  uint64_t *counts = nd_calloc(ALL, sizeof *counts);
  r->size_x = nd_malloc(ALL * sizeof *r->size_x);
  r->size_y = nd_malloc(ALL * sizeof *r->size_y);
  nd_status status = counts && r->size_x && r->size_y ? ND_OK : nd_fail_memory(err, ALL * 8);
  if (status == ND_OK) status = gather_clusters(r, s, counts, err);
  for (size_t i = 0; status == ND_OK && i < ALL; i++) {
    if (!counts[i]) continue;
    r->size_x[r->size_n] =
        i < ND_REPORT_SIZES ? (double)i : exp2(((double)(i - ND_REPORT_SIZES) + 0.5) / 8);
    r->size_y[r->size_n++] = (double)counts[i];
  }
  nd_free(counts);
  return status;
}

/* --- the command line ------------------------------------------------------------ */

static nd_status put_word(nd_buf *out, const char *word, nd_error *err) {
  bool plain = word[0] != '\0' && word[0] != '~';
  for (const char *p = word; *p; p++) {
    char c = *p;
    plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      strchr("._/:-+=,@%~", c));
  }
  ND_TRY(nd_buf_append(out, " '", plain ? 1 : 2, err));
  if (plain) return nd_buf_append(out, word, strlen(word), err);
  for (const char *p = word; *p; p++)
    ND_TRY(nd_buf_append(out, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1, err));
  return nd_buf_append(out, "'", 1, err);
}

static nd_status put_command(nd_buf *out, const nd_report_source *s, nd_error *err) {
  enum { SHOWN = 20 };
  ND_TRY(nd_buf_printf(out, err, "neardup dedup"));
  for (size_t i = 0; i < s->input_n && i < SHOWN; i++) ND_TRY(put_word(out, s->inputs[i], err));
  ND_TRY(nd_buf_printf(out, err, "%s -o", s->input_n > SHOWN ? " …" : ""));
  ND_TRY(put_word(out, s->directory, err));
  nd_options standard;
  nd_options_init(&standard);
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++) {
    const nd_option_info *info = &row->info;
    char value[1200], usual[1200];
    if (!(info->commands & ND_FOR_DEDUP) || strcmp(info->name, "progress") == 0) continue;
    nd_option_text(value, sizeof value, s->job->options, row);
    nd_option_text(usual, sizeof usual, &standard, row);
    if (strcmp(value, usual) == 0) continue;
    ND_TRY(nd_buf_printf(out, err, " --%s", info->name));
    if (info->type != ND_OPTION_FLAG) ND_TRY(put_word(out, value, err));
  }
  return ND_OK;
}

/* Counts the documents kept at higher thresholds.  With a reference collection, a dropped document
 * was assigned to its nearest, so its own similarity decides; otherwise it may be assigned to
 * another one, and the count is an estimate. */
static void gather_stays(nd_report *r, const nd_report_source *s) {
  const nd_run *j = s->job;
  const size_t low = (size_t)ceil(r->threshold * 100 - 1e-9);
  r->stays_known = r->other || (low < ND_REPORT_BINS && j->stays[low]);
  uint64_t stay = j->summary->kept;
  for (size_t t = 0; t < ND_REPORT_BINS; t++) {
    r->stays[t] = !r->other && j->stays[t] ? j->stays[t] : stay;
    stay += r->dropped_bins[t];
  }
}

/* --- all of it -------------------------------------------------------------------- */

nd_status nd_report_gather(nd_report *r, const nd_report_source *s, nd_error *err) {
  const nd_run *j = s->job;
  const nd_settings *set = &j->settings;
  *r = (nd_report){.summary = j->summary, .options = j->options};
  r->whole = set->similarity->counts;
  r->falling = set->similarity->distance;
  r->verified = set->verify == ND_VERIFY_EXACT;
  r->other = nd_source_has_other(&j->source);
  r->threshold = threshold_of(set);
  r->bin = r->whole ? (double)nd_run_step(set) : 0.01;
  memcpy(r->pair_bins, j->pair_bins, sizeof r->pair_bins);
  ND_TRY(gather_sizes(r, s, err));
  gather_stays(r, s);
  ND_TRY(gather_languages(r, s, err));
  if (s->told) {
    ND_TRY(nd_report_take_told(r, s->told, err));
  } else {
    ND_TRY(gather_parts(r, s, err));
    ND_TRY(gather_rejects(r, s, err));
  }
  ND_TRY(put_command(&r->command, s, err));
  return nd_report_clusters(r, s, err);
}

nd_status nd_report_finish(nd_report *r, const nd_report_source *s, const char *dir,
                           nd_error *err) {
  const nd_summary *m = s->job->summary;
  const uint64_t *peak = s->job->stage_peak;
  r->stages[0] =
      (nd_report_stage){"read", "read, decode, tokens, sketches", m->read_seconds, peak[0]};
  r->stages[1] =
      (nd_report_stage){"find", "exact duplicates and candidate pairs", m->find_seconds, peak[1]};
  r->stages[2] = (nd_report_stage){"verify", "true similarities", m->verify_seconds, peak[2]};
  r->stages[3] =
      (nd_report_stage){"write", "clusters, lists, kept files", m->write_seconds, peak[3]};
  nd_buf html = {0};
  char *path = NULL;
  nd_status status = nd_report_html(&html, r, err);
  if (status == ND_OK) status = nd_path_join(&path, dir, "report.html", err);
  if (status == ND_OK) status = nd_writer_file(path, nd_buf_str(&html), false, err);
  nd_buf_clear(&html);
  nd_free(path);
  return status;
}
