/* Texts in Arrow's layouts: a job over them reads what the layout says, and refuses numbers that
 * contradict each other.
 *
 * Two chunks are cut out of the input: each has arrays of exactly the sizes that it needs, so
 * that a read past one is seen.  Offsets are kept inside the bytes, whose size a chunk does not
 * tell; everything else is as it comes. */
#include "fuzz.h"
#include "job_calls.h"
#include "neardup/memory.h"
#include "settings/option_fields.h"

enum { MOST = 24, CHUNKS = 2 };

typedef struct made {
  void *index;
  uint8_t *valid;
  char *bytes, *buffer[2];
  int64_t sizes[2];
} made;

static uint64_t number(fuzz_bytes *in, int bytes) {
  uint64_t x = 0;
  for (int i = 0; i < bytes; i++) x |= (uint64_t)fuzz_byte(in) << 8 * i;
  return x;
}

/* A block of exactly n bytes of the input. */
static void *block(fuzz_bytes *in, size_t n) {
  char *p = malloc(n ? n : 1);
  if (!p) abort();
  for (size_t i = 0; i < n; i++) p[i] = (char)fuzz_byte(in);
  return p;
}

static void make_chunk(nd_chunk *c, made *m, fuzz_bytes *in) {
  *m = (made){0};
  c->layout = (nd_layout)(fuzz_byte(in) % 4);
  c->n = fuzz_byte(in) % MOST;
  c->first = fuzz_byte(in) % 4;
  size_t all = (size_t)(c->first + c->n);
  if (fuzz_byte(in) & 1) c->valid = m->valid = block(in, (all + 7) / 8);
  size_t n = fuzz_byte(in) * 2;
  m->bytes = block(in, n);
  c->bytes = m->bytes;
  if (c->layout == ND_LAYOUT_STR) {
    nd_str *s = m->index = calloc(all + 1, sizeof *s);
    for (size_t i = 0; i < all; i++) {
      size_t from = n ? number(in, 2) % n : 0;
      s[i] = (nd_str){from % 7 == 3 ? NULL : m->bytes + from, 0};
      if (s[i].p) s[i].n = number(in, 1) % (n - from + 1);
    }
  } else if (c->layout == ND_LAYOUT_OFFSET32) {
    int32_t *o = m->index = calloc(all + 1, sizeof *o);
    for (size_t i = 0; i <= all; i++) {
      o[i] = (int32_t)number(in, fuzz_byte(in) % 16 ? 1 : 4);
      if (o[i] > (int32_t)n) o[i] = (int32_t)n;
    }
  } else if (c->layout == ND_LAYOUT_OFFSET64) {
    int64_t *o = m->index = calloc(all + 1, sizeof *o);
    for (size_t i = 0; i <= all; i++) {
      o[i] = (int64_t)number(in, fuzz_byte(in) % 16 ? 1 : 8);
      if (o[i] > (int64_t)n) o[i] = (int64_t)n;
    }
  } else {
    c->buffer_n = fuzz_byte(in) % 3;
    for (uint64_t i = 0; i < c->buffer_n; i++) {
      m->sizes[i] = fuzz_byte(in);
      m->buffer[i] = block(in, (size_t)m->sizes[i]);
    }
    c->buffers = (const char *const *)m->buffer;
    c->sizes = m->sizes;
    m->index = block(in, 16 * all);
  }
  c->index = m->index;
}

static void clear_chunk(made *m) {
  free(m->index);
  free(m->valid);
  free(m->bytes);
  free(m->buffer[0]);
  free(m->buffer[1]);
}

typedef struct streaming {
  const nd_chunk *chunk;
  size_t at;
} streaming;

static nd_status next_chunk(void *context, nd_chunk *texts, nd_chunk *facts, nd_error *err) {
  (void)facts;
  (void)err;
  streaming *s = context;
  while (s->at < CHUNKS && s->chunk[s->at].n == 0) s->at++;
  if (s->at < CHUNKS) *texts = s->chunk[s->at++];
  return ND_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes in = {data, size};
  uint8_t how = fuzz_byte(&in);
  nd_chunk chunk[CHUNKS] = {0};
  made m[CHUNKS];
  uint64_t n = 0;
  bool bad = false;
  for (size_t i = 0; i < CHUNKS; i++) {
    make_chunk(&chunk[i], &m[i], &in);
    n += chunk[i].n;
    for (uint64_t k = 0; k < chunk[i].n; k++) {
      nd_str text = {0};
      int null = 0;
      bool wrong = nd_chunk_text(&text, &null, &chunk[i], k, NULL) != ND_OK;
      bad |= wrong;
      if (!wrong && !null) fuzz_note(text.p, text.n); /* every byte is read */
    }
  }
  nd_options o;
  nd_error err = {0};
  nd_options_init(&o);
  o.threads = 1;
  fuzz_check(nd_options_set(&o, "threshold", how & 1 ? "0.5" : "0.9", &err) == ND_OK);
  fuzz_check(nd_options_set(&o, "shingle", how & 2 ? "words:1" : "words:3", &err) == ND_OK);
  streaming s = {chunk, 0};
  nd_text_stream stream = {.chunks = chunk, .n = CHUNKS};
  if (how & 4) stream = (nd_text_stream){.context = &s, .next = next_chunk};
  nd_corpus corpus = {.texts = &stream};
  nd_result r = {0};
  nd_summary summary;
  nd_status status = how & 8 ? job_pairs_memory(&r, &summary, &corpus, &o, NULL, &err)
                             : job_dedup_memory(&r, &summary, &corpus, &o, NULL, &err);
  if (status != ND_OK) {
    fuzz_check(err.message[0]);
    fuzz_check(bad && status == ND_ERR_DATA);
  } else {
    fuzz_check(!bad && r.n == n);
    for (uint64_t i = 0; i < r.pair_n; i++) fuzz_check(r.a[i] < r.b[i] && r.b[i] < n);
    for (uint64_t i = 0; r.cluster && i < n; i++) fuzz_check(r.cluster[i] < n);
    fuzz_note(r.a, r.pair_n * sizeof *r.a);
    fuzz_note(r.b, r.pair_n * sizeof *r.b);
  }
  nd_result_clear(&r);
  for (size_t i = 0; i < CHUNKS; i++) clear_chunk(&m[i]);
  return 0;
}
