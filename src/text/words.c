/* Text → tokens, in one pass and without a copy of the normalised text.
 *
 * Tokens are the runs of L, M, N in casefold(NFKC(text)).  A vector kernel processes ASCII, 64
 * bytes per step.  Other code points are looked up in the table of unicode.h, which nearly
 * always has the result.  Only if a code point may combine with the ones before it (a Hangul
 * jamo, a separate accent), the output returns to the last normalisation boundary and ICU
 * normalises from there to the next one.  Folding maps single code points, so it can follow.
 *
 * Two rules make this exact for any bytes:
 * - every maximal invalid part of UTF-8 counts as U+FFFD, which separates tokens
 *   and combines with nothing;
 * - at most ND_UNICODE_SPAN code points without a boundary between them are normalised
 *   together; the next ones start a new span.  No language has such clusters, and a million
 *   accents on one letter take linear time (UAX #15 limits them to 30 for this reason).
 *
 * Marks whose Script is Inherited are ordinary token characters: a voiced mark
 * that has not combined with its kana is a WORD, not a SINGLE. */
#include "text/words.h"

#include "text/unicode.h"
#include "text/words_ascii.h"

enum {
  SEGMENT = 1 << 16, /* bytes of input for which room is reserved at once */
  AHEAD = 4          /* consecutive ASCII bytes that are passed to the kernel */
};

/* Progress over a document.  `span` is the state before the last boundary. */
typedef struct walker {
  nd_words_run r;
  const nd_words_kernel *kernel;
  nd_tokens *tokens;
  size_t stop;
  size_t span_i, span_p, span_count;
  unsigned span_length; /* code points since then, at most ND_UNICODE_SPAN */
  unsigned span_class;  /* combining class of the last one, 255 if unknown */
  unsigned per_byte;    /* reserved text per byte of input; half as much for ends */
} walker;

ND_INLINE uint32_t load32(const char *p) {
  uint32_t w;
  memcpy(&w, p, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  w = __builtin_bswap32(w);
#endif
  return w;
}

ND_INLINE void store32(char *p, uint32_t w) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  w = __builtin_bswap32(w);
#endif
  memcpy(p, &w, 4);
}

/* Makes room for `bytes` of text and as many ends, and for the rest of the segment. */
static nd_status make_room(walker *s, size_t bytes, nd_error *err) {
  size_t left = s->stop > s->r.i ? s->stop - s->r.i : 0;
  size_t text = bytes + s->per_byte * left + ND_WORDS_SLACK;
  size_t ends = s->r.count + bytes + s->per_byte * left / 2 + ND_WORDS_SLACK;
  nd_tokens *t = s->tokens;
  t->text.n = s->r.p;
  if (s->r.p > UINT32_MAX - text) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "a document has more than 4 GiB of tokens");
  ND_TRY(nd_buf_reserve(&t->text, text, err));
  ND_TRY(nd_array_grow(&t->end, &t->cap, ends, sizeof *t->end, err));
  s->r.out = t->text.p;
  s->r.end = t->end;
  return ND_OK;
}

ND_INLINE void close_token(nd_words_run *r) {
  r->end[r->count] = (uint32_t)r->p;
  r->out[r->p] = ' ';
  r->count += r->open;
  r->p += r->open;
  r->open = 0;
}

/* Appends a code point of the result, in UTF-8. */
ND_INLINE void put(nd_words_run *r, nd_unicode_kind kind, const void *bytes, unsigned n,
                   bool each) {
  if (kind == ND_UNICODE_WORD && !each) {
    memcpy(r->out + r->p, bytes, n);
    r->p += n;
    r->open = 1;
    return;
  }
  close_token(r);
  if (kind == ND_UNICODE_SEP) return;
  memcpy(r->out + r->p, bytes, n);
  r->p += n;
  r->open = 1;
  close_token(r);
}

/* Appends the bytes of a WORD entry, possibly several code points. */
static void put_each(nd_words_run *r, uint32_t payload, unsigned n) {
  char bytes[4];
  store32(bytes, payload);
  for (unsigned i = 0; i < n;) {
    uint32_t cp;
    unsigned length = nd_utf8_decode(&cp, bytes + i, n - i);
    put(r, ND_UNICODE_WORD, bytes + i, length, true);
    i += length;
  }
}

/* Appends the code points of a MORE entry; keeps room for `also` bytes after them. */
static nd_status put_list(walker *s, const uint8_t *list, size_t also, bool each, nd_error *err) {
  size_t bytes = 0;
  while (list[bytes]) bytes += 1 + (list[bytes] & 15u);
  ND_TRY(make_room(s, 2 * bytes + also, err));
  for (; *list; list += 1 + (*list & 15u))
    put(&s->r, (nd_unicode_kind)(*list >> 4), list + 1, *list & 15u, each);
  return ND_OK;
}

/* Appends a code point of normalised text. */
static nd_status put_normal(walker *s, uint32_t cp, size_t also, bool each, nd_error *err) {
  const nd_unicode_block *block;
  ND_TRY(nd_unicode_block_of(&block, cp, err));
  uint32_t e = block->entry[cp & 255];
  nd_unicode_kind kind = nd_unicode_kind_of(e);
  char bytes[4];
  if (kind == ND_UNICODE_MORE)
    return put_list(s, block->more + (e & ND_UNICODE_PAYLOAD), also, each, err);
  if (e & ND_UNICODE_ID) {
    put(&s->r, kind, bytes, nd_utf8_encode(bytes, cp), each);
    return ND_OK;
  }
  unsigned n = e >> ND_UNICODE_LEN_SHIFT & 3;
  if (each && kind == ND_UNICODE_WORD) {
    put_each(&s->r, e, n);
  } else {
    store32(bytes, e);
    put(&s->r, kind, bytes, n, each);
  }
  return ND_OK;
}

/* Returns the output to the last boundary, and normalises with ICU from there to the next
 * boundary, at most ND_UNICODE_SPAN code points. */
static nd_status put_span(walker *s, bool each, nd_error *err) {
  nd_words_run *r = &s->r;
  uint32_t from[ND_UNICODE_SPAN], to[ND_UNICODE_SPAN_ROOM];
  size_t count = 0, made = 0;
  r->i = s->span_i;
  r->p = s->span_p;
  r->count = s->span_count;
  r->open = r->p > 0 && r->out[r->p - 1] != ' ';
  while (count < ND_UNICODE_SPAN && r->i < r->n) {
    uint32_t cp;
    unsigned length = nd_utf8_decode(&cp, r->in + r->i, r->n - r->i);
    if (length == 0) {
      if (count > 0) break;
      cp = 0xFFFD;
      length = 1;
    } else if (count > 0) {
      const nd_unicode_block *block;
      ND_TRY(nd_unicode_block_of(&block, cp, err));
      if (!(block->entry[cp & 255] & (ND_UNICODE_SLOW | ND_UNICODE_MARK))) break;
    }
    from[count++] = cp;
    r->i += length;
  }
  /* untaken: ICU fails only without memory */
  ND_TRY(nd_unicode_nfkc(to, &made, from, count, err));
  ND_TRY(make_room(s, 8 * made, err)); /* 8 bytes suffice for any entry except MORE */
  for (size_t k = 0; k < made; k++) ND_TRY(put_normal(s, to[k], 8 * (made - k), each, err));
  s->span_length = ND_UNICODE_SPAN;
  return ND_OK;
}

#define KIND_BITS (3u << ND_UNICODE_KIND_SHIFT)
#define PLAIN_BITS (KIND_BITS | ND_UNICODE_TAIL | ND_UNICODE_SLOW | ND_UNICODE_MARK)
#define PLAIN_WORD ((uint32_t)ND_UNICODE_WORD << ND_UNICODE_KIND_SHIFT)
#define PLAIN_SINGLE ((uint32_t)ND_UNICODE_SINGLE << ND_UNICODE_KIND_SHIFT | ND_UNICODE_ID)

/* Returns the entry of a code point below 0x10000, or 0 if there is none yet. */
ND_INLINE uint32_t entry_if_loaded(uint32_t cp) {
  const nd_unicode_block *block =
      atomic_load_explicit(&nd_unicode_blocks[cp >> 8], memory_order_acquire);
  return ND_LIKELY(block != NULL) ? block->entry[cp & 255] : 0;
}

/* Appends a run of letters of `length` bytes each that need no further work; returns the start
 * of the last one in the output, or p if there is none. */
ND_INLINE size_t letters(nd_words_run *r, size_t limit, const unsigned length) {
  size_t last = r->p;
  while (r->i < limit) {
    uint32_t w = load32(r->in + r->i), cp;
    if (length == 2) {
      if ((w & 0xC0E0) != 0x80C0 || !(w & 0x1E)) break;
      cp = (w & 31) << 6 | (w >> 8 & 63);
    } else {
      if ((w & 0xC0C0F0) != 0x8080E0) break;
      cp = (w & 15) << 12 | (w >> 8 & 63) << 6 | (w >> 16 & 63);
      if (cp < 0x800) break; /* surrogates are not letters in the table */
    }
    uint32_t e = entry_if_loaded(cp);
    if ((e & PLAIN_BITS) != PLAIN_WORD) break;
    last = r->p;
    store32(r->out + r->p, e & ND_UNICODE_ID ? w : e);
    r->p += e & ND_UNICODE_ID ? length : e >> ND_UNICODE_LEN_SHIFT & 3;
    r->i += length;
  }
  return last;
}

/* Appends a run of ideographs and kana that map to themselves. */
ND_INLINE void ideographs(nd_words_run *r, size_t limit) {
  while (r->i < limit) {
    uint32_t w = load32(r->in + r->i);
    if ((w & 0xC0C0F0) != 0x8080E0) break;
    uint32_t cp = (w & 15) << 12 | (w >> 8 & 63) << 6 | (w >> 16 & 63);
    if (cp < 0x800) break;
    if ((entry_if_loaded(cp) & (PLAIN_BITS | ND_UNICODE_ID)) != PLAIN_SINGLE) break;
    close_token(r);
    store32(r->out + r->p, (w & 0xFFFFFF) | (uint32_t)' ' << 24);
    r->p += 4;
    r->end[r->count++] = (uint32_t)r->p - 1;
    r->i += 3;
  }
}

/* Processes single code points until the kernel can continue. */
ND_INLINE nd_status walk(walker *s, const bool each, nd_error *err) {
  nd_words_run r = s->r;
  size_t span_i = s->span_i, span_p = s->span_p, span_count = s->span_count;
  unsigned span_length = s->span_length, span_class = s->span_class;
  const size_t stop = s->stop;
  const size_t limit = each || r.n < AHEAD ? 0 : stop < r.n - AHEAD ? stop : r.n - AHEAD;
  nd_status status = ND_OK;

  while (r.i < stop) {
    uint32_t w, cp, length;
    if (ND_LIKELY(r.n - r.i >= AHEAD)) {
      w = load32(r.in + r.i);
      if (!each && (w & 0x80808080) == 0) break;
    } else {
      char pad[4] = {0}; /* zeros are not continuation bytes, so a truncated sequence is invalid */
      memcpy(pad, r.in + r.i, r.n - r.i < 4 ? r.n - r.i : 4);
      w = load32(pad);
    }
    /* Two letters or ideographs in a row: more are likely, so use a separate loop. */
    bool two = (w & 0xC000E0) == 0xC000C0, three = (w & 0xF00000F0) == 0xE00000E0;
    if ((two || three) && r.i < limit) {
      size_t before = r.i, last = two ? letters(&r, limit, 2) : letters(&r, limit, 3);
      if (r.i != before) {
        r.open = 1;
      } else if (three) {
        ideographs(&r, limit);
        last = r.p - 4;
      }
      if (r.i != before) {
        span_i = r.i - (two ? 2 : 3);
        span_p = last;
        span_count = r.count - !r.open;
        span_length = 1;
        span_class = 0;
        continue;
      }
    }
    if (!(w & 0x80)) {
      cp = w & 0x7F;
      length = 1;
    } else if ((w & 0xC0E0) == 0x80C0 && (w & 0x1E)) {
      cp = (w & 31) << 6 | (w >> 8 & 63);
      length = 2;
    } else if ((w & 0xC0C0F0) == 0x8080E0) {
      cp = (w & 15) << 12 | (w >> 8 & 63) << 6 | (w >> 16 & 63);
      length = 3;
      if (ND_UNLIKELY(cp < 0x800 || cp - 0xD800 < 0x800)) goto invalid;
    } else if ((w & 0xC0C0C0F8) == 0x808080F0) {
      cp = (w & 7) << 18 | (w >> 8 & 63) << 12 | (w >> 16 & 63) << 6 | (w >> 24 & 63);
      length = 4;
      if (ND_UNLIKELY(cp - 0x10000 >= 0x100000)) goto invalid;
    } else {
    invalid: /* one byte: the rest of the same part is invalid too */
      cp = 0xFFFD;
      length = 1;
    }
    const nd_unicode_block *block =
        atomic_load_explicit(&nd_unicode_blocks[cp >> 8], memory_order_acquire);
    if (ND_UNLIKELY(!block)) ND_TRY_GOTO(nd_unicode_load(&block, cp >> 8, err), done);
    uint32_t e = block->entry[cp & 255];

    if (ND_UNLIKELY(e & (ND_UNICODE_SLOW | ND_UNICODE_MARK))) {
      if (span_length >= ND_UNICODE_SPAN) {
        span_i = r.i;
        span_p = r.p;
        span_count = r.count;
        span_length = span_class = 0;
      }
      if ((e & ND_UNICODE_MARK) && (e & 255) >= span_class) {
        span_class = e & 255;
        span_length++;
      } else {
        s->r = r;
        s->span_i = span_i;
        s->span_p = span_p;
        s->span_count = span_count;
        ND_TRY_GOTO(put_span(s, each, err), done);
        r = s->r;
        span_length = ND_UNICODE_SPAN;
        continue;
      }
    } else {
      span_i = r.i;
      span_p = r.p;
      span_count = r.count;
      span_length = 1;
      span_class = e & ND_UNICODE_TAIL ? 255 : 0;
    }

    r.i += length;
    uint32_t bytes = e & ND_UNICODE_ID ? w : e;
    unsigned n = e & ND_UNICODE_ID ? length : e >> ND_UNICODE_LEN_SHIFT & 3;
    nd_unicode_kind kind = nd_unicode_kind_of(e);
    if (kind == ND_UNICODE_WORD && !each) {
      store32(r.out + r.p, bytes);
      r.p += n;
      r.open = 1;
    } else if (kind == ND_UNICODE_SEP) {
      close_token(&r);
    } else if (ND_UNLIKELY(kind == ND_UNICODE_MORE)) {
      s->r = r;
      ND_TRY_GOTO(put_list(s, block->more + (e & ND_UNICODE_PAYLOAD), 0, each, err), done);
      r = s->r;
    } else if (each && !(e & ND_UNICODE_ID)) {
      put_each(&r, bytes, n);
    } else {
      close_token(&r);
      store32(r.out + r.p, bytes);
      r.p += n;
      r.open = 1;
      close_token(&r);
    }
  }
done:
  s->r = r;
  s->span_i = span_i;
  s->span_p = span_p;
  s->span_count = span_count;
  s->span_length = span_length;
  s->span_class = span_class;
  return status;
}

static nd_status walk_words(walker *s, nd_error *err) {
  return walk(s, false, err);
}
static nd_status walk_each(walker *s, nd_error *err) {
  return walk(s, true, err);
}

/* Processes ASCII by the kernel; the boundary is then before its last byte. */
static void run_ascii(walker *s) {
  nd_words_run *r = &s->r;
  s->kernel->ascii(r, s->stop); /* at least one byte, as it is at ASCII */
  s->span_i = r->i - 1;
  s->span_p = r->p - r->open; /* an open token ends in that byte */
  s->span_count = r->count;
  s->span_length = 1;
  s->span_class = 0;
}

static nd_status split(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                       const nd_words_kernel *kernel, nd_error *err) {
  size_t begin = out->text.n;
  if (out->count) { /* append to the tokens */
    ND_TRY(nd_buf_append(&out->text, " ", 1, err));
    begin++;
  }
  /* A token takes its bytes and a space.  WORDS: at most two bytes per byte of input, and a
   * token per two.  CODEPOINTS: the two bytes of İ give five. */
  walker s = {.r = {.in = utf8.p, .n = utf8.n, .p = begin, .count = out->count},
              .kernel = kernel,
              .tokens = out,
              .span_length = ND_UNICODE_SPAN,
              .per_byte = kind == ND_TOKENS_CODEPOINTS ? 3 : 2};
  do {
    s.stop = utf8.n - s.r.i > SEGMENT ? s.r.i + SEGMENT : utf8.n;
    ND_TRY(make_room(&s, ND_WORDS_SLACK, err));
    while (s.r.i < s.stop) {
      if (kind != ND_TOKENS_CODEPOINTS) {
        if ((unsigned char)s.r.in[s.r.i] < 0x80) run_ascii(&s);
        if (s.r.i < s.stop) ND_TRY(walk_words(&s, err));
      } else {
        ND_TRY(walk_each(&s, err));
      }
    }
  } while (s.r.i < utf8.n);
  if (s.r.open) {
    s.r.end[s.r.count++] = (uint32_t)s.r.p;
  } else if (s.r.p > 0) {
    s.r.p--;
  }
  out->text.n = s.r.p;
  out->count = s.r.count;
  return ND_OK;
}

nd_status nd_words_split_with(nd_tokens *out, nd_str utf8, nd_token_kind kind,
                              const nd_words_kernel *kernel, nd_error *err) {
  out->text.n = 0;
  out->count = 0;
  return split(out, utf8, kind, kernel, err);
}

nd_status nd_words_split(nd_tokens *out, nd_str utf8, nd_token_kind kind, nd_error *err) {
  out->text.n = 0;
  out->count = 0;
  return split(out, utf8, kind, nd_words_kernel_best(), err);
}

nd_status nd_words_append(nd_tokens *out, nd_str utf8, nd_token_kind kind, nd_error *err) {
  return split(out, utf8, kind, nd_words_kernel_best(), err);
}

void nd_tokens_clear(nd_tokens *t) {
  nd_buf_clear(&t->text);
  nd_free(t->end);
  *t = (nd_tokens){0};
}

nd_status nd_token_ends(uint32_t **end, size_t *count, size_t *cap, nd_str text, nd_error *err) {
  const nd_words_kernel *kernel = nd_words_kernel_best();
  *count = 0;
  if (text.n > UINT32_MAX) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "a document has more than 4 GiB of tokens");
  if (text.n == 0) return ND_OK;
  for (size_t i = 0; i < text.n;) {
    size_t n = text.n - i > SEGMENT ? SEGMENT : text.n - i;
    ND_TRY(nd_array_grow(end, cap, *count + n + ND_WORDS_SLACK, sizeof **end, err));
    *count += kernel->spaces(*end + *count, text.p + i, n, (uint32_t)i);
    i += n;
  }
  (*end)[(*count)++] = (uint32_t)text.n;
  return ND_OK;
}

nd_status nd_tokens_from_text(nd_tokens *out, nd_str token_text, nd_error *err) {
  out->text.n = 0;
  out->count = 0;
  ND_TRY(nd_buf_append(&out->text, token_text.p, token_text.n, err));
  return nd_token_ends(&out->end, &out->count, &out->cap, token_text, err);
}
