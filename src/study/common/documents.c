/* Sizes and sites of documents; see documents.h. */
#include "study/common/documents.h"

#include <inttypes.h>
#include <stdio.h>

#include "input/line_list.h"
#include "output/tsv.h"
#include "study/common/corpus.h"
#include "text/site.h"

/* Lower bounds of the groups.  The paper gives the first group (fewer than 500 words) and
 * their number; the others ascend by a thousand. */
static const unsigned begins[ND_SIZE_GROUPS + 1] = {0,    500,  1000, 2000, 3000, 4000,
                                                    5000, 6000, 7000, 8000, 9000, 0};

unsigned nd_size_group(uint64_t tokens) {
  unsigned g = ND_SIZE_GROUPS - 1;
  while (g && tokens < begins[g]) g--;
  return g;
}

void nd_size_group_name(char *out, size_t room, unsigned group) {
  if (group + 1 < ND_SIZE_GROUPS)
    snprintf(out, room, "%u-%u", begins[group], begins[group + 1] - 1);
  else
    snprintf(out, room, "%u+", begins[group]);
}

void nd_documents_clear(nd_documents *d) {
  nd_free(d->tokens);
  nd_free(d->site);
  d->tokens = NULL;
  d->site = NULL;
}

static nd_status add(nd_documents *d, nd_str id, uint64_t tokens, nd_str url, nd_error *err) {
  uint32_t number;
  size_t before = d->ids->n;
  ND_TRY(nd_id_map_number(&number, d->ids, id, err));
  if (d->ids->n == before) {
    d->repeated++;
    return ND_OK;
  }
  ND_TRY(nd_array_grow(&d->tokens, &d->cap, (size_t)number + 1, sizeof *d->tokens, err));
  ND_TRY(nd_array_grow(&d->site, &d->site_cap, (size_t)number + 1, sizeof *d->site, err));
  /* untaken: more than 2^31 things */
  d->tokens[number] = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
  d->site[number] = nd_site_key(url);
  return ND_OK;
}

typedef struct lister {
  nd_documents *documents;
  const char *name;
  nd_buf room;
} lister;

static nd_status take_line(void *context, nd_str line, uint64_t number, nd_error *err) {
  lister *l = context;
  nd_str id = {0}, size, url = {0};
  int64_t tokens = 0;
  (void)nd_line_field(&id, &line, '\t'); /* a line has at least one field */
  if (nd_line_field(&size, &line, '\t')) {
    if (!nd_line_number(&tokens, size) || tokens < 0)
      return nd_fail(err, ND_ERR_DATA,
                     "%s:%" PRIu64 " has no number of tokens; a line is id TAB tokens TAB URL",
                     l->name, number);
    if (!nd_line_field(&url, &line, '\t')) url.n = 0;
  }
  ND_TRY(nd_tsv_canonical(&id, &l->room, id, err));
  return add(l->documents, id, (uint64_t)(tokens / ND_LINE_UNIT), url, err);
}

nd_status nd_documents_list(nd_documents *d, const char *path, const nd_hooks *hooks,
                            nd_error *err) {
  lister l = {.documents = d, .name = nd_line_list_name(path)};
  nd_status status = nd_line_list_read(path, hooks, take_line, &l, err);
  nd_buf_clear(&l.room);
  return status;
}

static nd_status take_document(void *context, const nd_corpus_document *c, nd_error *err) {
  return add(context, c->id, c->tokens->count, c->url, err);
}

nd_status nd_documents_corpus(nd_documents *d, const char *const *inputs, size_t n,
                              const nd_options *options, const nd_hooks *hooks, nd_error *err) {
  nd_summary summary;
  ND_TRY(nd_corpus_each(&summary, inputs, n, options, hooks, take_document, d, err));
  d->rejected += summary.rejected;
  return ND_OK;
}
