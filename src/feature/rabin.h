/* Rabin fingerprints (Rabin 1981; Broder 1993): the residue of a bit string,
 * read as a polynomial over GF(2), modulo an irreducible polynomial P of degree
 * 64.
 *
 *   P = x^64 + ND_RABIN_LOW   the first irreducible polynomial whose lower 64 bits are at
 *                             least the first 64 fraction bits of pi
 *
 * Bytes are in order, the high bit of a byte first:
 *
 *   f(A ^ B) = f(A) ^ f(B)               A and B of equal length
 *   f(AB)    = f(A) * x^(8|B|) + f(B)
 *
 * Two distinct strings of at most n bytes, neither of which starts with a zero
 * byte, collide for at most n/8 of the 2^58 or so irreducible polynomials of this
 * degree.  A string of up to 8 bytes is its own fingerprint: mix one (nd_mix)
 * before drawing a sample from its low bits.
 *
 * The implementation uses tables only, so the result is the same on every machine. */
#ifndef ND_FEATURE_RABIN_H
#define ND_FEATURE_RABIN_H

#include <stddef.h>
#include <stdint.h>

#define ND_RABIN_LOW 0x243f6a8885a30907u

/* Returns f of n bytes. */
uint64_t nd_rabin_bytes(const void *p, size_t n);

/* Returns f(AB) from f(A) and the n bytes of B. */
uint64_t nd_rabin_extend(uint64_t fingerprint, const void *p, size_t n);

/* Return a * b mod P; x^(8n) mod P; f(AB) from f(A), f(B) and |B|. */
uint64_t nd_rabin_multiply(uint64_t a, uint64_t b);
uint64_t nd_rabin_power(uint64_t n);
uint64_t nd_rabin_concat(uint64_t a, uint64_t b, uint64_t length_of_b);

/* A window of `size` >= 1 bytes that rolls along a text: out[b] removes the byte b that leaves
 * the window. */
typedef struct nd_rabin_window {
  size_t size;
  uint64_t out[256];
} nd_rabin_window;

void nd_rabin_window_init(nd_rabin_window *w, size_t size);

/* Computes the fingerprints of all n - size + 1 windows of the n bytes at p, n >= size. */
void nd_rabin_roll(uint64_t *out, const nd_rabin_window *w, const void *p, size_t n);

/* Likewise over n >= size units of 64 bits: f of `size` units, each as 8 bytes, high byte
 * first.  `out` may be `units`: every unit is read before it is overwritten. */
typedef struct nd_rabin_units {
  size_t size;
  uint64_t out[8 * 256];
} nd_rabin_units;

void nd_rabin_units_init(nd_rabin_units *w, size_t size);
void nd_rabin_roll_units(uint64_t *out, const nd_rabin_units *w, const uint64_t *units, size_t n);

/* A window of changing size, for texts whose code points differ in length.
 * power[i] = x^(8i) for all i below the largest size that will occur. */
void nd_rabin_powers(uint64_t *power, size_t n);

/* Returns f of the bytes [new_begin, new_end) of `text`, given the fingerprint of [begin, end);
 * begin <= new_begin, end <= new_end. */
uint64_t nd_rabin_slide(uint64_t fingerprint, const uint64_t *power, const char *text, size_t begin,
                        size_t end, size_t new_begin, size_t new_end);

#endif
