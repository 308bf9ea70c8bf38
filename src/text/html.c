/* HTML → text, in one pass over the bytes.
 *
 * The grammar of html_scan.c without tokens: text is copied block by block while the block
 * is searched for '<' and '&'; a tag reads the block after its '<' (name, '>') and one block
 * per quoted attribute.  Plain functions here handle rare cases (raw text, SVG, template,
 * comments).  tests/unit/test_html.c compares the result with the tokenizer. */
#include "base/cpu.h"
#include "text/html_scan.h"
#include "text/text.h"

#if ND_X86
#include <immintrin.h>
#endif

/* State of the extraction between tags. */
typedef struct page {
  char *broke;        /* end of output after the last break, to avoid a second one */
  uint64_t foreign;   /* open svg and math elements */
  uint64_t templates; /* open template elements; their text is removed at the end */
  char *mark;         /* end of output before the outermost template */
  char *mark_broke;   /* its last break */
  unsigned special;   /* element flags that need special_tag */
} page;

/* NUL characters are dropped, as by a parser in a body. */
static const char *reference_or_nul(char **o, const char *p, const char *end) {
  if (*p == 0) return p + 1;
  char value[8];
  size_t n = 0, taken = nd_html_reference(p, end, false, value, &n);
  if (taken == 0) {
    *(*o)++ = '&';
    return p + 1;
  }
  memcpy(*o, value, sizeof value); /* the output has room for one more block */
  *o += n;
  return p + taken;
}

/* Appends visible raw text: title, textarea, xmp, plaintext, CDATA. */
static void copy_raw(char **o, const char *p, const char *end, bool references) {
  while (p < end) {
    if (*p == 0 || (*p == '&' && references)) {
      p = reference_or_nul(o, p, end);
    } else {
      *(*o)++ = *p++;
    }
  }
}

static const char *after_gt(const char *p, const char *end) {
  const char *gt = p < end ? memchr(p, '>', (size_t)(end - p)) : NULL;
  return gt ? gt + 1 : end;
}

/* p is at a '<' that is not followed by a letter or "/letter". */
static const char *odd_markup(const page *g, char **o, const char *p, const char *end) {
  size_t left = (size_t)(end - p);
  if (left > 2 && p[1] == '/') return p[2] == '>' ? p + 3 : after_gt(p + 2, end);
  if (left > 1 && p[1] == '?') return after_gt(p + 1, end);
  if (left > 1 && p[1] == '!') {
    const char *inside_end;
    if (left >= 4 && p[2] == '-' && p[3] == '-')
      return nd_html_comment_end(p + 4, end, &inside_end);
    if (g->foreign && left >= 9 && memcmp(p, "<![CDATA[", 9) == 0) {
      const char *close = memmem(p + 9, left - 9, "]]>", 3);
      copy_raw(o, p + 9, close ? close : end, false);
      return close ? close + 3 : end;
    }
    return after_gt(p + 2, end);
  }
  *(*o)++ = '<';
  return p + 1;
}

/* A declarative shadow tree is visible, unlike other templates. */
static bool is_shadow_root(nd_str attributes) {
  static const char wanted[] = "shadowrootmode";
  nd_html_attribute a;
  while (nd_html_next_attribute(&attributes, &a)) {
    size_t i = 0;
    while (i < a.name.n && i < sizeof wanted - 1 && nd_html_lower(a.name.p[i]) == wanted[i]) i++;
    if (i == a.name.n && i == sizeof wanted - 1) return true;
  }
  return false;
}

/* Appends the URL of an image between two NULs.  It is never longer than the tag. */
static void put_image(char **o, nd_str attributes) {
  nd_html_attribute a;
  while (nd_html_next_attribute(&attributes, &a)) {
    if (a.name.n != 3 || nd_html_lower(a.name.p[0]) != 's' || nd_html_lower(a.name.p[1]) != 'r' ||
        nd_html_lower(a.name.p[2]) != 'c')
      continue;
    char *begin = *o;
    *(*o)++ = 0;
    for (const char *p = a.value.p, *end = p + a.value.n; p < end;) {
      char value[8];
      size_t n = 0, taken = *p == '&' ? nd_html_reference(p, end, true, value, &n) : 0;
      memcpy(*o, value, n);
      *o += n;
      if (taken == 0 && *p != 0) *(*o)++ = *p;
      p += taken ? taken : 1;
    }
    if (*o == begin + 1)
      *o = begin; /* ignore an empty URL */
    else
      *(*o)++ = 0;
    return;
  }
}

/* Handles tags that affect more than adjacent words; `after` is after the '>'.  Returns the
 * position where reading continues. */
static const char *special_tag(page *g, char **o, nd_str name, bool closes, unsigned flags,
                               const char *after, const char *end) {
  const char *attributes = name.p + name.n;
  if (closes) {
    if ((flags & ND_HTML_EL_FOREIGN) && g->foreign) g->foreign--;
    if ((flags & ND_HTML_EL_TEMPLATE) && g->templates && --g->templates == 0) {
      *o = g->mark;
      g->broke = g->mark_broke;
    }
    return after;
  }
  if (g->foreign && (flags & ND_HTML_EL_BREAKOUT)) g->foreign = 0;
  if (flags & g->special & ND_HTML_EL_IMAGE) {
    put_image(o, (nd_str){attributes, (size_t)(after - 1 - attributes)});
    return after;
  }
  if ((flags & ND_HTML_EL_FOREIGN) || g->foreign) {
    bool self_closing;
    nd_html_tag_end(attributes, end, &self_closing);
    if (self_closing) return after;
    if (flags & ND_HTML_EL_FOREIGN) g->foreign++;
  }
  if (flags & ND_HTML_EL_TEMPLATE) {
    nd_str inside = {attributes, (size_t)(after - 1 - attributes)};
    if (g->templates == 0 && is_shadow_root(inside)) return after;
    if (g->templates++ == 0) {
      g->mark = *o;
      g->mark_broke = g->broke;
    }
    return after;
  }
  nd_html_state state = (nd_html_state)(flags / ND_HTML_EL_STATE);
  /* In SVG only script and style are special: their contents are not text. */
  if (state == ND_HTML_DATA || (g->foreign && (flags & ND_HTML_EL_SHOWN))) return after;
  const char *raw_end = nd_html_raw_end(after, end, name, state);
  if (flags & ND_HTML_EL_SHOWN) copy_raw(o, after, raw_end, state == ND_HTML_RCDATA);
  return raw_end;
}

/* Returns the first n (1 to 8) bytes of a name in lower case; 8 bytes must be readable. */
ND_INLINE uint64_t load_key(const char *name, size_t n) {
  uint64_t key;
  memcpy(&key, name, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  key = __builtin_bswap64(key);
#endif
  key &= ~(uint64_t)0 >> (64 - 8 * n);
  return key | (key & 0x4040404040404040u) >> 1;
}

static size_t name_length(const char *name, const char *end) {
  const char *p = name;
  while (p < end && *p != '>' && *p != '/' && !nd_html_is_space(*p)) p++;
  return (size_t)(p - name);
}

#if ND_X86
#define HTML_FN(name) name##_base
#define HTML_TARGET
#define HTML_W 16
#define VEC __m128i
#define LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define STORE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define IS_(v, c) _mm_cmpeq_epi8(v, _mm_set1_epi8(c))
#define BITS_(v) ((uint64_t)(unsigned)_mm_movemask_epi8(v))
#define EQ(v, c) BITS_(IS_(v, c))
#define EQ2(v, a, b) BITS_(_mm_or_si128(IS_(v, a), IS_(v, b)))
#define EQ3(v, a, b, c) BITS_(_mm_or_si128(_mm_or_si128(IS_(v, a), IS_(v, b)), IS_(v, c)))
#define UP_TO_SPACE(v) BITS_(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(' ')), v))
#include "text/html_text_body.h"
#undef IS_
#undef BITS_

#define HTML_FN(name) name##_avx2
#define HTML_TARGET ND_TARGET_AVX2
#define HTML_W 32
#define VEC __m256i
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define IS_(v, c) _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c))
#define BITS_(v) ((uint64_t)(unsigned)_mm256_movemask_epi8(v))
#define EQ(v, c) BITS_(IS_(v, c))
#define EQ2(v, a, b) BITS_(_mm256_or_si256(IS_(v, a), IS_(v, b)))
#define EQ3(v, a, b, c) BITS_(_mm256_or_si256(_mm256_or_si256(IS_(v, a), IS_(v, b)), IS_(v, c)))
#define UP_TO_SPACE(v) BITS_(_mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(' ')), v))
#include "text/html_text_body.h"
#undef IS_
#undef BITS_

#else
/* Eight bytes in a register. */
#define ONES_ 0x0101010101010101u
#define HIGH_ (0x80 * ONES_)
ND_INLINE uint64_t load_word(const char *p) {
  uint64_t x;
  memcpy(&x, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x;
}
ND_INLINE void store_word(char *p, uint64_t x) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  memcpy(p, &x, 8);
}
/* Returns the high bits of all bytes. */
ND_INLINE uint64_t word_bits(uint64_t high) {
  return (high & HIGH_) * 0x0002040810204081u >> 56;
}
ND_INLINE uint64_t word_is(uint64_t x, char c) {
  x ^= (unsigned char)c * ONES_;
  return ~(((x & ~HIGH_) + ~HIGH_) | x);
}
#define HTML_FN(name) name##_base
#define HTML_TARGET
#define HTML_W 8
#define VEC uint64_t
#define LOAD(p) load_word(p)
#define STORE(p, v) store_word(p, v)
#define EQ(v, c) word_bits(word_is(v, c))
#define EQ2(v, a, b) word_bits(word_is(v, a) | word_is(v, b))
#define EQ3(v, a, b, c) word_bits(word_is(v, a) | word_is(v, b) | word_is(v, c))
#define UP_TO_SPACE(v) word_bits(~((((v) & ~HIGH_) + (0x7f - ' ') * ONES_) | (v)))
#include "text/html_text_body.h"
#endif

static nd_status extract(nd_buf *out, nd_str html, unsigned special, nd_error *err) {
  /* References grow to at most 6/5, everything else shrinks; a block may be stored past the
   * end. */
  ND_TRY(nd_buf_reserve(out, html.n + html.n / 5 + 2 * ND_SLACK, err));
  if (html.n == 0) return ND_OK;
  char *o = out->p + out->n;
  const char *p = html.p, *end = html.p + html.n;
#if ND_X86
  switch (nd_cpu()) {
    case ND_CPU_AVX512: /* blocks of 64 are slower, because tags and words are short */
    case ND_CPU_AVX2: o = extract_avx2(o, p, end, special); break;
    default: o = extract_base(o, p, end, special);
  }
#else
  o = extract_base(o, p, end, special);
#endif
  out->n = (size_t)(o - out->p);
  return ND_OK;
}

/* Tags without these flags are handled in the loop. */
static const unsigned in_loop = ND_HTML_EL_BREAK | ND_HTML_EL_BREAKOUT;

nd_status nd_html_text(nd_buf *out, nd_str html, nd_error *err) {
  return extract(out, html, ~(in_loop | ND_HTML_EL_IMAGE), err);
}

nd_status nd_html_text_images(nd_buf *out, nd_str html, nd_error *err) {
  return extract(out, html, ~in_loop, err);
}
