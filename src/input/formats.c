/* The choice among the formats of the table (format_table.c). */
#include "input/format.h"

const char *nd_format_name(size_t i) {
  return nd_formats[i] ? nd_formats[i]->name : NULL;
}

const nd_format *nd_format_find(const char *name) {
  for (const nd_format *const *f = nd_formats; name && *f; f++) {
    if (strcmp((*f)->name, name) == 0) return *f;
  }
  return NULL;
}

const char *nd_format_help(const char *name) {
  const nd_format *f = nd_format_find(name);
  return f ? f->help : NULL;
}

const nd_format *nd_format_sniff(nd_str head) {
  const nd_format *best = nd_formats[0];
  int sure = 0;
  for (const nd_format *const *f = nd_formats; *f; f++) {
    int score = (*f)->sniff(head);
    if (score > sure) {
      sure = score;
      best = *f;
    }
  }
  return best;
}

void nd_decoder_clear(nd_decoder *d) {
  nd_buf_clear(&d->body);
  nd_buf_clear(&d->head);
  nd_buf_clear(&d->spare);
}
