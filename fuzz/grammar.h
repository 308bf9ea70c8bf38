/* What the targets by structure share.  The bytes of such an input are choices: each picks a
 * rule of a grammar or a number.  When they are used up every choice is 0, so rule 0 is always
 * the plainest, and ends what can be repeated. */
#ifndef FUZZ_GRAMMAR_H
#define FUZZ_GRAMMAR_H

#include <stdarg.h>
#include <zlib.h>
#include <zstd.h>

#include "fuzz.h"

/* 0 … n - 1, for n up to 65,536. */
static inline unsigned fuzz_pick(fuzz_bytes *in, unsigned n) {
  unsigned x = fuzz_byte(in);
  if (n > 256) x |= (unsigned)fuzz_byte(in) << 8;
  return x % n;
}

static inline bool fuzz_chance(fuzz_bytes *in, unsigned one_in) {
  return fuzz_pick(in, one_in) == one_in - 1;
}

/* --- putting bytes together -------------------------------------------------- */
static inline void fuzz_put(nd_buf *b, const void *p, size_t n) {
  if (n && nd_buf_append(b, p, n, NULL) != ND_OK) abort();
}

static inline void fuzz_puts(nd_buf *b, const char *s) {
  fuzz_put(b, s, strlen(s));
}

static inline void fuzz_put_str(nd_buf *b, nd_str s) {
  fuzz_put(b, s.p, s.n);
}

ND_PRINTF(2, 3) static inline void fuzz_putf(nd_buf *b, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof text) abort();
  fuzz_put(b, text, (size_t)n);
}

static inline void fuzz_put_code(nd_buf *b, uint32_t c) {
  unsigned char u[4] = {(unsigned char)c};
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n; n > 1 && i-- > 0; c >>= 6) u[i] = (unsigned char)(0x80 | (c & 63));
  if (n > 1) u[0] |= (unsigned char)(0xf00 >> n);
  fuzz_put(b, u, n);
}

/* One of the words of a NULL-terminated list. */
static inline const char *fuzz_word(fuzz_bytes *in, const char *const *words) {
  unsigned n = 0;
  while (words[n]) n++;
  return words[fuzz_pick(in, n)];
}

/* A word with the case of its letters chosen. */
static inline void fuzz_put_cased(nd_buf *b, const char *word, fuzz_bytes *in) {
  unsigned how = fuzz_pick(in, 4);
  for (size_t i = 0; word[i]; i++) {
    bool letter = (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z');
    char c = word[i];
    if (letter && how == 1) c = (char)(c & ~32);
    if (letter && how == 2) c = (char)(c | 32);
    if (letter && how == 3) c = (char)(i % 2 ? c | 32 : c & ~32);
    fuzz_put(b, &c, 1);
  }
}

/* --- packing ------------------------------------------------------------------ */
/* Deflated: window bits as zlib has them (31: gzip, 15: zlib, -15: raw). */
static inline void fuzz_deflate(nd_buf *out, nd_str in, int window, int level) {
  z_stream z = {.next_in = (Bytef *)(uintptr_t)in.p, .avail_in = (uInt)in.n};
  fuzz_check(deflateInit2(&z, level, Z_DEFLATED, window, 4, Z_DEFAULT_STRATEGY) == Z_OK);
  uLong most = deflateBound(&z, (uLong)in.n);
  fuzz_check(nd_buf_reserve(out, most, NULL) == ND_OK);
  z.next_out = (Bytef *)out->p + out->n;
  z.avail_out = (uInt)most;
  fuzz_check(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out->n += z.total_out;
  deflateEnd(&z);
}

static inline void fuzz_zstd(nd_buf *out, nd_str in, bool checksum) {
  static ZSTD_CCtx *z;
  if (!z) z = ZSTD_createCCtx();
  fuzz_check(z && !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, checksum)));
  size_t most = ZSTD_compressBound(in.n);
  fuzz_check(nd_buf_reserve(out, most, NULL) == ND_OK);
  size_t n = ZSTD_compress2(z, out->p + out->n, most, in.p, in.n);
  fuzz_check(!ZSTD_isError(n));
  out->n += n;
}

typedef enum fuzz_packing {
  FUZZ_PLAIN,
  FUZZ_ONE_GZIP,     /* one member */
  FUZZ_GZIP_MEMBERS, /* a member for each part */
  FUZZ_GZIP_CUT,     /* members that end anywhere */
  FUZZ_ONE_ZSTD,
  FUZZ_ZSTD_FRAMES,
  FUZZ_PACKINGS
} fuzz_packing;

/* Packs a file; part i of it ends at end[i].  What is made unpacks to `file`. */
static inline void fuzz_pack(nd_buf *out, nd_str file, const size_t *end, size_t parts,
                             fuzz_packing how, fuzz_bytes *in) {
  if (how == FUZZ_PLAIN) {
    fuzz_put_str(out, file);
    return;
  }
  bool gzip = how <= FUZZ_GZIP_CUT, flag = fuzz_chance(in, 2);
  bool by_part = how == FUZZ_GZIP_MEMBERS || how == FUZZ_ZSTD_FRAMES;
  size_t at = 0, part = 0;
  do {
    size_t n = file.n - at;
    if (by_part && part < parts) n = end[part++] - at;
    if (how == FUZZ_GZIP_CUT && n > 1) n = 1 + fuzz_pick(in, (unsigned)(n < 60000 ? n : 60000));
    nd_str piece = {file.p + at, n};
    if (gzip)
      fuzz_deflate(out, piece, 31, flag ? 1 : 0);
    else
      fuzz_zstd(out, piece, flag);
    at += n;
  } while (at < file.n);
}

#endif
