#include "tiny_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static nd_status tiny_peek(nd_str *out, nd_stream *s, size_t want, nd_error *err) {
  tiny *t = (tiny *)s;
  size_t end = t->fail_from && t->fail_from < t->bytes.n ? t->fail_from : t->bytes.n;
  size_t left = end - t->at;
  size_t n = t->generous || want > left ? left : want;
  if (want > t->most) t->most = want;
  t->shown = n;
  if (t->generous) {
    *out = (nd_str){t->bytes.p + t->at, n};
  } else {
    free(t->window);
    t->window = malloc(n ? n : 1);
    memcpy(t->window, t->bytes.p + t->at, n);
    *out = (nd_str){t->window, n};
  }
  if (want > left && end < t->bytes.n) return nd_fail(err, ND_ERR_DATA, "damaged on purpose");
  return ND_OK;
}

static void tiny_skip(nd_stream *s, size_t n) {
  tiny *t = (tiny *)s;
  if (n > t->shown) abort();
  t->at += n;
  t->shown -= n;
}

static uint64_t tiny_offset(const nd_stream *s) {
  return ((const tiny *)s)->at;
}

/* As in a packed file: there is no looking ahead. */
static bool tiny_glimpse(size_t *got, nd_stream *s, uint64_t distance, char *to, size_t room) {
  (void)s, (void)distance, (void)to, (void)room;
  *got = 0;
  return false;
}

#define nd_stream_glimpse tiny_glimpse
#define nd_stream_peek tiny_peek
#define nd_stream_skip tiny_skip
#define nd_stream_offset tiny_offset
#define nd_archive_frame tiny_archive_frame
#define nd_archive_block tiny_archive_block
#define nd_archive_length tiny_archive_length
#define nd_archive_trim tiny_archive_trim
#define nd_archive_is tiny_archive_is
#define nd_archive_begins tiny_archive_begins
#define UNUSED __attribute__((unused))
static nd_status tiny_archive_frame(nd_frame *, nd_stream *, const nd_archive *,
                                    const nd_input_options *, nd_error *);
UNUSED static nd_str tiny_archive_block(nd_str, const nd_archive_head *);
UNUSED static const char *tiny_archive_length(uint64_t *, nd_str, const char *const[4]);
UNUSED static nd_str tiny_archive_trim(nd_str);
UNUSED static bool tiny_archive_is(nd_str, const char *);
UNUSED static bool tiny_archive_begins(nd_str, const char *);
#include "input/archive.c"
#undef nd_stream_peek
#undef nd_stream_skip
#undef nd_stream_offset
#undef nd_archive_frame
#undef nd_archive_block
#undef nd_archive_length
#undef nd_archive_trim
#undef nd_archive_is
#undef nd_archive_begins

void frames_clear(frames *f) {
  for (size_t i = 0; i < f->n; i++) free((char *)(uintptr_t)f->bodies[i].p);
  free(f->list);
  free(f->bodies);
  free(f->why);
  *f = (frames){0};
}

frames read_all(const nd_archive *a, const nd_format *format, tiny t, uint64_t max) {
  frames f = {0};
  nd_decoder d = {0};
  nd_input_options o = {.max_document = max};
  uint64_t at = 0;
  for (;;) {
    nd_frame frame;
    nd_error err = {0};
    nd_status status = tiny_archive_frame(&frame, (nd_stream *)&t, a, &o, &err);
    assert_int_equal(frame.offset, at);
    at += frame.length;
    assert_int_equal(at, t.at);
    f.end = status;
    if (status != ND_OK || frame.kind == ND_FRAME_END) break;
    assert_true(frame.length > 0);
    if (f.n == f.cap) {
      f.cap = f.cap ? 2 * f.cap : 16;
      f.list = realloc(f.list, f.cap * sizeof *f.list);
      f.bodies = realloc(f.bodies, f.cap * sizeof *f.bodies);
      f.why = realloc(f.why, f.cap * sizeof *f.why);
    }
    f.list[f.n] = frame;
    f.bodies[f.n] = (nd_str){0};
    f.why[f.n][0] = 0;
    if (frame.kind == ND_FRAME_REJECT) {
      f.rejects++;
      assert_true(err.message[0] != 0);
      snprintf(f.why[f.n], sizeof f.why[f.n], "%.79s", err.message);
    } else if (frame.kind == ND_FRAME_OTHER) {
      f.others++;
    } else {
      nd_document doc;
      f.documents++;
      assert_true(frame.raw.n <= frame.length);
      status = format->decode(&doc, &d, frame.raw, &o, &err);
      if (status == ND_OK) {
        char *copy = malloc(doc.body.n + 1);
        if (doc.body.n) memcpy(copy, doc.body.p, doc.body.n);
        f.bodies[f.n] = (nd_str){copy, doc.body.n};
        assert_true((doc.kind == ND_KIND_OTHER) == (doc.why != NULL));
      } else {
        assert_true(status == ND_ERR_DATA || status == ND_ERR_LIMIT);
        snprintf(f.why[f.n], sizeof f.why[f.n], "%.79s", err.message);
      }
    }
    f.n++;
  }
  size_t all = t.fail_from && t.fail_from < t.bytes.n ? t.fail_from : t.bytes.n;
  assert_int_equal(at, all);
  f.most = t.most;
  free(t.window);
  nd_decoder_clear(&d);
  return f;
}

void assert_same_frames(const frames *a, const frames *b) {
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->end, b->end);
  for (size_t i = 0; i < a->n; i++) {
    assert_int_equal(a->list[i].kind, b->list[i].kind);
    assert_int_equal(a->list[i].length, b->list[i].length);
    assert_string_equal(a->why[i], b->why[i]);
    assert_true(nd_str_eq(a->bodies[i], b->bodies[i]));
  }
}

/* Changes a few bytes or cuts, doubles, moves a stretch. */
static uint64_t tiny_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

nd_buf mutate(nd_str from, uint64_t *seed) {
  nd_buf b = {0};
  nd_error err;
  assert_int_equal(nd_buf_append(&b, from.p, from.n, &err), ND_OK);
  static const char *const words[] = {"WARC/1.0\r\n",
                                      "\r\n\r\n",
                                      "\n",
                                      "Content-Length: ",
                                      "99999999999",
                                      "-1",
                                      ":",
                                      "http://x/ 1.2.3.4 ",
                                      "20200101000000 t/h 7\n",
                                      "HTTP/1.1 200\n",
                                      " ",
                                      "\0"};
  for (uint64_t changes = 1 + tiny_random(seed) % 6; changes && b.n; changes--) {
    size_t at = tiny_random(seed) % b.n;
    size_t len = 1 + tiny_random(seed) % 64;
    if (len > b.n - at) len = b.n - at;
    switch (tiny_random(seed) % 4) {
      case 0: b.p[at] = (char)tiny_random(seed); break;
      case 1:
        memmove(b.p + at, b.p + at + len, b.n - at - len);
        b.n -= len;
        break;
      case 2: {
        const char *word = words[tiny_random(seed) % (sizeof words / sizeof *words)];
        size_t n = strlen(word) ? strlen(word) : 1;
        assert_int_equal(nd_buf_reserve(&b, n, &err), ND_OK);
        memmove(b.p + at + n, b.p + at, b.n - at);
        memcpy(b.p + at, word, n);
        b.n += n;
        break;
      }
      default: b.p[at] = "0123456789\r\n -"[tiny_random(seed) % 14];
    }
  }
  return b;
}

uint64_t tiny_seed(void) {
  const char *given = getenv("NEARDUP_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  print_message("NEARDUP_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

void check_any(const nd_archive *a, const nd_format *format, nd_str bytes, uint64_t max) {
  frames wide = read_all(a, format, (tiny){.bytes = bytes, .generous = true}, max);
  frames narrow = read_all(a, format, (tiny){.bytes = bytes}, max);
  assert_same_frames(&wide, &narrow);
  frames_clear(&wide);
  frames_clear(&narrow);
}

static void read_fixture(const nd_format *format, const char *path, const fixture *known,
                         size_t known_n, size_t *checked) {
  nd_error err = {0};
  nd_stream *s;
  assert_int_equal(nd_stream_open(&s, path, &err), ND_OK);
  nd_str head;
  nd_status status = nd_stream_peek(&head, s, 1 << 16, &err);
  if (head.n > 1 << 16) head.n = 1 << 16;
  if (format->sniff(head) == 0) {
    nd_stream_close(s);
    return;
  }
  nd_decoder d = {0};
  nd_input_options o = {.max_document = 64 << 20};
  uint64_t at = 0;
  int documents = 0, rejects = 0, others = 0, bad = 0, kinds[5] = {0};
  for (;;) {
    nd_frame frame;
    status = format->frame(&frame, s, &o, &err);
    assert_int_equal(frame.offset, at);
    at += frame.length;
    assert_int_equal(at, nd_stream_offset(s));
    if (status != ND_OK || frame.kind == ND_FRAME_END) break;
    rejects += frame.kind == ND_FRAME_REJECT;
    others += frame.kind == ND_FRAME_OTHER;
    if (frame.kind != ND_FRAME_DOCUMENT) continue;
    documents++;
    nd_document doc;
    if (format->decode(&doc, &d, frame.raw, &o, &err) == ND_OK) {
      kinds[doc.kind]++;
    } else {
      bad++;
    }
  }
  const char *name = strrchr(path, '/') + 1;
  print_message(
      "%-62s %4d documents (%d text %d html %d sniff %d other %d bad) %d other %d "
      "rejected%s\n",
      name, documents, kinds[ND_KIND_TEXT], kinds[ND_KIND_HTML], kinds[ND_KIND_SNIFF],
      kinds[ND_KIND_OTHER], bad, others, rejects, status == ND_OK ? "" : ", the stream is damaged");
  for (size_t i = 0; i < known_n; i++) {
    if (strcmp(known[i].name, name) != 0) continue;
    ++*checked;
    assert_int_equal(documents, known[i].documents);
    assert_int_equal(rejects, known[i].rejects);
    assert_int_equal(bad, 0);
    assert_int_equal(status, ND_OK);
  }
  nd_decoder_clear(&d);
  nd_stream_close(s);
}

void read_fixtures(const nd_format *format, const fixture *known, size_t known_n) {
  const char *data = getenv("NEARDUP_DATA");
  if (!data) {
    print_message("skipped, no data\n");
    skip();
  }
  static const char *const folders[] = {"warc-fixtures", "trec-samples/clueweb09",
                                        "trec-samples/clueweb-12-sample"};
  size_t checked = 0;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    char root[4096];
    snprintf(root, sizeof root, "%s/%s", data, folders[i]);
    char *roots[] = {root, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL, NULL);
    assert_non_null(walk);
    for (FTSENT *e; (e = fts_read(walk)) != NULL;) {
      if (e->fts_info == FTS_F) read_fixture(format, e->fts_path, known, known_n, &checked);
    }
    fts_close(walk);
  }
  assert_true(checked >= known_n);
}
