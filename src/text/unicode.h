/* Properties of a code point for the tokeniser, in one 32-bit entry: its mapping by NFKC and
 * full case folding, whether that belongs to a token, and whether adjacent code points may
 * change the mapping.
 *
 * The entries come from ICU, 256 code points at a time, when a text first needs them: ASCII
 * text costs nothing, and the entries always agree with the Unicode version of ICU.
 *
 *   31   30   29   28 27  26 25  24 23                    0
 *  MARK SLOW TAIL  ID  kind   len   payload
 *
 * kind   SEP: no token character, the payload is a space; WORD: part of a run; SINGLE: a token of
 * its own (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar by the Script property); MORE:
 * several code points, listed at block->more + payload. ID     the mapping is the code point
 * itself, payload and len are not used. Else WORD and SINGLE have their UTF-8 bytes in the payload,
 * first byte lowest, and WORD may hold several code points (ß: "ss"). SLOW   no normalisation
 * boundary before it: it may combine with what stands before it.  kind and payload are right for it
 * when it does not. MARK   no boundary either, but it never combines, it only sorts among other
 *        marks; always ID, its combining class is the payload.
 * TAIL   what NFKC makes of it ends in a mark, so that a following mark may have
 *        to go before that. */
#ifndef ND_TEXT_UNICODE_H
#define ND_TEXT_UNICODE_H

#include <stdatomic.h>

#include "base/cpu.h"
#include "base/mem.h"

typedef enum nd_unicode_kind {
  ND_UNICODE_SEP = 0,
  ND_UNICODE_WORD,
  ND_UNICODE_SINGLE,
  ND_UNICODE_MORE
} nd_unicode_kind;

#define ND_UNICODE_LEN_SHIFT 24
#define ND_UNICODE_KIND_SHIFT 26
#define ND_UNICODE_PAYLOAD 0xFFFFFFu
#define ND_UNICODE_ID (1u << 28)
#define ND_UNICODE_TAIL (1u << 29)
#define ND_UNICODE_SLOW (1u << 30)
#define ND_UNICODE_MARK (1u << 31)

enum {
  ND_UNICODE_BLOCKS = 0x1100,
  /* Most code points normalised together; see words.c. */
  ND_UNICODE_SPAN = 64,
  /* Room for their NFKC in UTF-16, at most 18 per code point. */
  ND_UNICODE_SPAN_ROOM = ND_UNICODE_SPAN * 18 + 2
};

/* more: for each MORE entry a list of (kind << 4 | bytes, UTF-8 bytes), ending
 * with a 0 byte. */
typedef struct nd_unicode_block {
  uint32_t entry[256];
  const uint8_t *more;
} nd_unicode_block;

extern _Atomic(const nd_unicode_block *) nd_unicode_blocks[ND_UNICODE_BLOCKS];

/* Builds block `index` if it is missing.  Thread-safe. */
nd_status nd_unicode_load(const nd_unicode_block **out, uint32_t index,
                          nd_error *err) ND_MUST_CHECK;

/* Returns the block of `cp` (<= 0x10FFFF). */
ND_INLINE nd_status nd_unicode_block_of(const nd_unicode_block **out, uint32_t cp, nd_error *err) {
  *out = atomic_load_explicit(&nd_unicode_blocks[cp >> 8], memory_order_acquire);
  if (ND_LIKELY(*out != NULL)) return ND_OK;
  return nd_unicode_load(out, cp >> 8, err);
}

ND_INLINE nd_unicode_kind nd_unicode_kind_of(uint32_t entry) {
  return (nd_unicode_kind)(entry >> ND_UNICODE_KIND_SHIFT & 3);
}

/* Returns the class of `cp` itself, unmapped: SEP, WORD or SINGLE. */
nd_unicode_kind nd_unicode_classify(uint32_t cp);

/* Normalises 1 to ND_UNICODE_SPAN code points by NFKC; writes *n to `out`, which has room for
 * ND_UNICODE_SPAN_ROOM. */
nd_status nd_unicode_nfkc(uint32_t *out, size_t *n, const uint32_t *cp, size_t count,
                          nd_error *err) ND_MUST_CHECK;

/* Encodes a code point in UTF-8; returns the number of bytes, 1 to 4. */
ND_INLINE unsigned nd_utf8_encode(char *p, uint32_t cp) {
  if (cp < 0x80) {
    p[0] = (char)cp;
    return 1;
  }
  if (cp < 0x800) {
    p[0] = (char)(0xC0 | cp >> 6);
    p[1] = (char)(0x80 | (cp & 63));
    return 2;
  }
  if (cp < 0x10000) {
    p[0] = (char)(0xE0 | cp >> 12);
    p[1] = (char)(0x80 | (cp >> 6 & 63));
    p[2] = (char)(0x80 | (cp & 63));
    return 3;
  }
  p[0] = (char)(0xF0 | cp >> 18);
  p[1] = (char)(0x80 | (cp >> 12 & 63));
  p[2] = (char)(0x80 | (cp >> 6 & 63));
  p[3] = (char)(0x80 | (cp & 63));
  return 4;
}

/* Decodes the code point at p, of at most n bytes (n >= 1); returns its length, or 0 if the
 * bytes are not UTF-8. */
ND_INLINE unsigned nd_utf8_decode(uint32_t *cp, const char *p, size_t n) {
  const unsigned char *b = (const unsigned char *)p;
  uint32_t c = b[0];
  if (c < 0x80) {
    *cp = c;
    return 1;
  }
  if (c < 0xE0) {
    if (c < 0xC2 || n < 2 || (b[1] & 0xC0) != 0x80) return 0;
    *cp = (c & 31) << 6 | (b[1] & 63);
    return 2;
  }
  if (c < 0xF0) {
    if (n < 3 || (b[1] & 0xC0) != 0x80 || (b[2] & 0xC0) != 0x80) return 0;
    c = (c & 15) << 12 | (uint32_t)(b[1] & 63) << 6 | (b[2] & 63);
    if (c < 0x800 || c - 0xD800 < 0x800) return 0;
    *cp = c;
    return 3;
  }
  if (c > 0xF4 || n < 4 || (b[1] & 0xC0) != 0x80 || (b[2] & 0xC0) != 0x80 || (b[3] & 0xC0) != 0x80)
    return 0;
  c = (c & 7) << 18 | (uint32_t)(b[1] & 63) << 12 | (uint32_t)(b[2] & 63) << 6 | (b[3] & 63);
  if (c - 0x10000 >= 0x100000) return 0;
  *cp = c;
  return 4;
}

#endif
