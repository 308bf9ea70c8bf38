/* A grammar of small corpora with planted overlaps: copies, edited copies, parts of others, in
 * several formats. */
#ifndef FUZZ_CORPUS_GRAMMAR_H
#define FUZZ_CORPUS_GRAMMAR_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar.h"

enum { CORPUS_DOCS = 20, CORPUS_WORDS = 64, CORPUS_FILES = 3 };

typedef enum corpus_format {
  CORPUS_JSONL,
  CORPUS_LINES,
  CORPUS_TEXT, /* a file each */
  CORPUS_WARC,
  CORPUS_TREC,
  CORPUS_SETS,
  CORPUS_FORMATS
} corpus_format;

typedef struct corpus_doc {
  uint16_t word[CORPUS_WORDS];
  unsigned n;
  uint8_t style;    /* how words are set apart, and their case */
  uint8_t file;     /* where it lies */
  uint8_t url, age; /* facts */
  bool null;        /* JSON: no text */
} corpus_doc;

typedef struct corpus {
  corpus_doc doc[CORPUS_DOCS];
  unsigned n, files;
  bool repeated_ids;
} corpus;

/* --- what the documents are ------------------------------------------------------ */
static void corpus_new_words(corpus_doc *d, fuzz_bytes *in) {
  static const unsigned vocabularies[] = {4000, 300, 12, 2};
  uint32_t x = fuzz_pick(in, 16) * 77777u + 1;
  unsigned words = vocabularies[fuzz_pick(in, 4)];
  d->n = fuzz_pick(in, CORPUS_WORDS + 1);
  for (unsigned i = 0; i < d->n; i++) {
    x = x * 1664525u + 1013904223u;
    d->word[i] = (uint16_t)((x >> 8) % words);
  }
}

static void corpus_edit(corpus_doc *d, fuzz_bytes *in) {
  for (unsigned edits = fuzz_pick(in, 5); edits && d->n; edits--) {
    unsigned at = fuzz_pick(in, d->n), kind = fuzz_pick(in, 3);
    if (kind == 0) {
      d->word[at] = (uint16_t)fuzz_pick(in, 4000);
    } else if (kind == 1) {
      d->n--;
      memmove(d->word + at, d->word + at + 1, (d->n - at) * sizeof *d->word);
    } else if (d->n < CORPUS_WORDS) {
      memmove(d->word + at + 1, d->word + at, (d->n - at) * sizeof *d->word);
      d->word[at] = (uint16_t)fuzz_pick(in, 4000);
      d->n++;
    }
  }
}

/* A part of one document, then another one as far as it fits. */
static void corpus_splice(corpus_doc *d, const corpus_doc *a, const corpus_doc *b, unsigned from) {
  d->n = 0;
  for (unsigned i = from < a->n ? from : a->n; i < a->n; i++) d->word[d->n++] = a->word[i];
  for (unsigned i = 0; i < b->n && d->n < CORPUS_WORDS; i++) d->word[d->n++] = b->word[i];
}

static void corpus_make(corpus *c, fuzz_bytes *in) {
  unsigned n = 2 + fuzz_pick(in, CORPUS_DOCS - 1);
  c->files = 1 + fuzz_pick(in, CORPUS_FILES);
  c->repeated_ids = fuzz_chance(in, 4);
  for (c->n = 0; c->n < n; c->n++) {
    corpus_doc *d = &c->doc[c->n];
    unsigned rule = c->n ? fuzz_pick(in, 6) : 5;
    const corpus_doc *a = &c->doc[c->n ? fuzz_pick(in, c->n) : 0];
    if (rule < 4) {
      memcpy(d->word, a->word, sizeof d->word);
      d->n = a->n;
      if (rule > 0) corpus_edit(d, in);
    } else if (rule == 4) {
      corpus_splice(d, a, &c->doc[fuzz_pick(in, c->n)], fuzz_pick(in, CORPUS_WORDS));
    } else {
      corpus_new_words(d, in);
    }
    uint8_t facts = fuzz_byte(in);
    d->style = facts % 4;
    d->file = (uint8_t)(c->n * c->files / n);
    d->url = facts / 4 % 8;
    d->age = facts / 32;
    d->null = facts == 255;
  }
}

/* --- how they are written ----------------------------------------------------------- */
static void corpus_word(nd_buf *out, unsigned word, unsigned style) {
  static const char *const odd[] = {"\xc3\xa9t\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac",
                                    "\xd0\xb4\xd0\xb0", "na\xc3\xafve", "\xef\xac\x81ne"};
  if (word % 13 == 5)
    fuzz_puts(out, odd[word % 5]);
  else
    fuzz_putf(out, word % 7 ? style & 1 ? "W%XQ" : "w%xq" : "%u", word);
}

static void corpus_text(nd_buf *out, const corpus_doc *d, bool one_line) {
  static const char *const between[] = {" ", ", ", " - ", "\n"};
  for (unsigned i = 0; i < d->n; i++) {
    if (i) fuzz_puts(out, d->style == 3 && one_line ? ".  " : between[d->style]);
    corpus_word(out, d->word[i], d->style);
  }
}

static unsigned corpus_id(const corpus *c, unsigned i) {
  return c->repeated_ids ? i / 2 : i;
}

static void corpus_url(char out[64], const corpus_doc *d) {
  static const char *const hosts[] = {"a.example", "A.Example", "www.b.example", "c.example"};
  snprintf(out, 64, "http://%s/%s%u", hosts[d->url % 4], d->url / 4 ? "long/path?q=" : "", d->age);
}

static void corpus_put(nd_buf *out, const corpus *c, unsigned i, corpus_format format) {
  static nd_buf text;
  const corpus_doc *d = &c->doc[i];
  char url[64];
  corpus_url(url, d);
  text.n = 0;
  corpus_text(&text, d, format == CORPUS_JSONL || format == CORPUS_LINES);
  switch (format) {
    case CORPUS_JSONL:
      fuzz_putf(out,
                "{\"id\":\"d%u\",\"url\":\"%s\",\"time\":\"20%02u-01-01\",\"score\":%u,\"text\":",
                corpus_id(c, i), url, d->age, d->url);
      fuzz_puts(out, d->null ? "null" : "\"");
      if (!d->null) fuzz_put_str(out, nd_buf_str(&text)), fuzz_puts(out, "\"");
      fuzz_puts(out, d->url == 7 ? "}\r\n \n" : "}\n");
      break;
    case CORPUS_WARC:
      fuzz_putf(out,
                "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <r%u>\r\nWARC-Target-URI: "
                "%s\r\nWARC-Date: 20%02u-01-01T00:00:00Z\r\nContent-Type: text/%s\r\n"
                "Content-Length: %zu\r\n\r\n",
                corpus_id(c, i), url, d->age, d->age % 2 ? "html" : "plain", text.n);
      fuzz_put_str(out, nd_buf_str(&text));
      fuzz_puts(out, "\r\n\r\n");
      break;
    case CORPUS_TREC:
      fuzz_putf(out, "<DOC>\n<DOCNO>T-%u</DOCNO>\n<TEXT>\n", corpus_id(c, i));
      fuzz_put_str(out, nd_buf_str(&text));
      fuzz_puts(out, "\n</TEXT>\n</DOC>\n");
      break;
    case CORPUS_SETS:
      for (unsigned k = 0; k < d->n; k++) fuzz_putf(out, k ? " %u" : "%u", d->word[k]);
      fuzz_puts(out, "\n");
      break;
    default: fuzz_put_str(out, nd_buf_str(&text)); fuzz_puts(out, "\n");
  }
}

static void corpus_write(const char *path, nd_str bytes) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  fuzz_check(fd >= 0);
  fuzz_check(bytes.n == 0 || write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
  close(fd);
}

/* Writes the corpus below `folder`, which is made; packed as it says. */
static void corpus_save(const corpus *c, const char *folder, corpus_format format, fuzz_packing how,
                        fuzz_bytes *in) {
  static nd_buf file, packed;
  size_t end[CORPUS_DOCS], parts = 0;
  char path[128];
  fuzz_check(mkdir(folder, 0700) == 0);
  file.n = 0;
  for (unsigned i = 0; i < c->n; i++) {
    corpus_put(&file, c, i, format);
    end[parts++] = file.n;
    bool ends = i + 1 == c->n || c->doc[i + 1].file != c->doc[i].file || format == CORPUS_TEXT;
    if (!ends) continue;
    packed.n = 0;
    fuzz_bytes choices = *in;
    fuzz_pack(&packed, nd_buf_str(&file), end, parts, how, &choices);
    snprintf(path, sizeof path, "%s/%c%02u", folder, 'a' + c->doc[i].file,
             format == CORPUS_TEXT ? i : 0);
    corpus_write(path, nd_buf_str(&packed));
    file.n = parts = 0;
  }
}

#endif
