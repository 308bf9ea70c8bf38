/* Table-driven Rabin fingerprints; see rabin.h.
 *
 * tables[256 k + b] = b * x^(64 + 8k) mod P.  Eight new bytes at once: the old value times
 * x^64 is eight independent look-ups.  A single new byte uses the first 256 entries, and each
 * step depends on the previous one, so long texts are rolled as four interleaved streams. */
#include "feature/rabin.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"

enum { STREAMS = 4, SLICES = 8 };

static uint64_t tables[SLICES * 256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* a * x mod P */
ND_INLINE uint64_t times_x(uint64_t a) {
  return a << 1 ^ (ND_RABIN_LOW & (0 - (a >> 63)));
}

/* Sets table[b] = b * factor mod P for all bytes b. */
static void multiples(uint64_t *table, uint64_t factor) {
  table[0] = 0;
  for (size_t bit = 1; bit < 256; bit *= 2) {
    for (size_t b = 0; b < bit; b++) table[bit + b] = table[b] ^ factor;
    factor = times_x(factor);
  }
}

/* Likewise for factor * x^(8k), k from 0 to 7. */
static void slices(uint64_t *table, uint64_t factor) {
  for (int k = 0; k < SLICES; k++) {
    multiples(table + 256 * k, factor);
    for (int i = 0; i < 8; i++) factor = times_x(factor);
  }
}

static void make_tables(void) {
  slices(tables, ND_RABIN_LOW); /* x^64 */
}

ND_INLINE void need_tables(void) {
  pthread_once(&once, make_tables);
}

ND_INLINE uint64_t push_byte(uint64_t h, uint8_t b) {
  return tables[h >> 56] ^ (h << 8 | b);
}

/* h * x^64 where t = tables; h * x^(64 size) where t is the table of a window. */
ND_INLINE uint64_t look_up(const uint64_t *t, uint64_t h) {
  return t[h & 255] ^ t[256 + (h >> 8 & 255)] ^ t[512 + (h >> 16 & 255)] ^
         t[768 + (h >> 24 & 255)] ^ t[1024 + (h >> 32 & 255)] ^ t[1280 + (h >> 40 & 255)] ^
         t[1536 + (h >> 48 & 255)] ^ t[1792 + (h >> 56)];
}

ND_INLINE uint64_t load_big(const uint8_t *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x;
}

ND_INLINE uint64_t extend(uint64_t h, const uint8_t *p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) h = look_up(tables, h) ^ load_big(p);
  for (; n; p++, n--) h = push_byte(h, *p);
  return h;
}

uint64_t nd_rabin_extend(uint64_t fingerprint, const void *p, size_t n) {
  need_tables();
  return extend(fingerprint, p, n);
}

uint64_t nd_rabin_bytes(const void *p, size_t n) {
  const uint8_t *b = p;
  if (n <= 8) { /* degree below 64: already reduced */
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) h = h << 8 | b[i];
    return h;
  }
  need_tables();
  return extend(load_big(b), b + 8, n - 8);
}

uint64_t nd_rabin_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (int bit = 63; bit >= 0; bit--) product = times_x(product) ^ (a & (0 - (b >> bit & 1)));
  return product;
}

uint64_t nd_rabin_power(uint64_t n) {
  uint64_t result = 1, square = 1 << 8;
  for (; n; n >>= 1, square = nd_rabin_multiply(square, square)) {
    if (n & 1) result = nd_rabin_multiply(result, square);
  }
  return result;
}

uint64_t nd_rabin_concat(uint64_t a, uint64_t b, uint64_t length_of_b) {
  return nd_rabin_multiply(a, nd_rabin_power(length_of_b)) ^ b;
}

void nd_rabin_window_init(nd_rabin_window *w, size_t size) {
  need_tables();
  w->size = size;
  multiples(w->out, nd_rabin_power(size));
}

/* Rolls `streams` windows; stream s covers the `count` windows from begin + s * count. */
ND_INLINE void roll_streams(uint64_t *restrict out, const nd_rabin_window *w, const uint8_t *p,
                            size_t begin, size_t count, int streams) {
  uint64_t h[STREAMS];
  size_t size = w->size;
  for (int s = 0; s < streams; s++) {
    size_t at = begin + (size_t)s * count;
    h[s] = extend(0, p + at, size);
    out[at] = h[s];
  }
  for (size_t i = 1; i < count; i++) {
    for (int s = 0; s < streams; s++) {
      size_t at = begin + (size_t)s * count + i;
      h[s] = push_byte(h[s], p[at + size - 1]) ^ w->out[p[at - 1]];
      out[at] = h[s];
    }
  }
}

void nd_rabin_roll(uint64_t *out, const nd_rabin_window *w, const void *p, size_t n) {
  size_t windows = n - w->size + 1, done = 0;
  /* Starting a stream costs about size / 4 steps. */
  if (windows >= 4 * w->size + 64) {
    size_t count = windows / STREAMS;
    roll_streams(out, w, p, 0, count, STREAMS);
    done = count * STREAMS;
  }
  if (done < windows) roll_streams(out, w, p, done, windows - done, 1);
}

void nd_rabin_units_init(nd_rabin_units *w, size_t size) {
  need_tables();
  w->size = size;
  slices(w->out, nd_rabin_power(8 * (uint64_t)size));
}

void nd_rabin_roll_units(uint64_t *out, const nd_rabin_units *w, const uint64_t *units, size_t n) {
  size_t size = w->size;
  uint64_t h = 0;
  for (size_t i = 0; i < size; i++) h = look_up(tables, h) ^ units[i];
  for (size_t i = size; i < n; i++) {
    uint64_t leaving = units[i - size], entering = units[i];
    out[i - size] = h;
    h = look_up(tables, h) ^ entering ^ look_up(w->out, leaving);
  }
  out[n - size] = h;
}

void nd_rabin_powers(uint64_t *power, size_t n) {
  need_tables();
  uint64_t x = 1;
  for (size_t i = 0; i < n; i++, x = push_byte(x, 0)) power[i] = x;
}

/* Returns b * a mod P for one byte b. */
ND_INLINE uint64_t times_byte(uint64_t a, uint8_t b) {
  unsigned __int128 product = 0;
  for (int bit = 0; bit < 8; bit++) {
    product ^= (unsigned __int128)(a & (0 - (uint64_t)(b >> bit & 1))) << bit;
  }
  return (uint64_t)product ^ tables[(uint64_t)(product >> 64)];
}

uint64_t nd_rabin_slide(uint64_t fingerprint, const uint64_t *power, const char *text, size_t begin,
                        size_t end, size_t new_begin, size_t new_end) {
  const uint8_t *p = (const uint8_t *)text;
  need_tables();
  if (new_begin >= end) return extend(0, p + new_begin, new_end - new_begin);
  uint64_t h = fingerprint;
  for (size_t i = begin; i < new_begin; i++) h ^= times_byte(power[end - i - 1], p[i]);
  return extend(h, p + end, new_end - end);
}
