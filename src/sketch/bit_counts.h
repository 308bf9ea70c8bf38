/* For each bit position, tests whether more than half of n words have it set, so that the sum
 * of +1 and -1 is positive.  Included by the sketches once per type of word:
 *   COUNTS(name)  the name of a function
 *   WORD          an unsigned integer or a vector of them
 *
 * Counters are stored in bit planes: plane p has bit p of the counters of all positions, so
 * adding a word is a few logic operations for all of them.  Sixteen words go through a tree of
 * full adders (Harley and Seal) before a carry reaches the upper planes, and the final
 * comparison proceeds plane by plane:
 *
 *   16 words → ones, twos, fours, eights (kept) → sixteens → upper[0 …] */

typedef struct COUNTS(counter) {
  WORD ones, twos, fours, eights;
  WORD upper[28]; /* counters below 2^32 */
  unsigned planes;
  uint64_t calls;
} COUNTS(counter);

/* Adds a and b to *sum, with a carry.  (Pointers, because passing vectors by value depends on
 * the CPU level, even in a function that is never called.) */
ND_INLINE void COUNTS(add)(WORD *sum, WORD *carry, const WORD *a, const WORD *b) {
  WORD c = *sum, u = *a ^ *b;
  *carry = (*a & *b) | (u & c);
  *sum = u ^ c;
}

ND_INLINE void COUNTS(start)(COUNTS(counter) * c) {
  c->ones = c->twos = c->fours = c->eights = (WORD){0};
  c->planes = 0;
  c->calls = 0;
}

/* Counts sixteen words. */
ND_INLINE void COUNTS(sixteen)(COUNTS(counter) * c, const WORD *w) {
  WORD two[2], four[2], eight[2], carry;
  for (int e = 0; e < 2; e++) {
    for (int f = 0; f < 2; f++) {
      for (int t = 0; t < 2; t++, w += 2) COUNTS(add)(&c->ones, &two[t], w, w + 1);
      COUNTS(add)(&c->twos, &four[f], two, two + 1);
    }
    COUNTS(add)(&c->fours, &eight[e], four, four + 1);
  }
  COUNTS(add)(&c->eights, &carry, eight, eight + 1);
  /* After 2^p calls the counters may need one bit more. */
  if ((c->calls & (c->calls + 1)) == 0) c->upper[c->planes++] = (WORD){0};
  c->calls++;
  for (unsigned p = 0; p < c->planes; p++) {
    WORD next = c->upper[p] & carry;
    c->upper[p] ^= carry;
    carry = next;
  }
}

ND_INLINE void COUNTS(compare)(WORD *above, WORD *equal, const WORD *plane, uint64_t bit) {
  if (bit) {
    *equal &= *plane;
  } else {
    *above |= *equal & *plane;
    *equal &= ~*plane;
  }
}

/* Returns the counters that are at least `bound`, which is at most the number of words. */
ND_INLINE void COUNTS(at_least)(WORD *out, const COUNTS(counter) * c, uint64_t bound) {
  WORD above = {0}, equal = ~above;
  for (unsigned p = c->planes; p-- > 0;)
    COUNTS(compare)(&above, &equal, &c->upper[p], bound >> (4 + p) & 1);
  COUNTS(compare)(&above, &equal, &c->eights, bound & 8);
  COUNTS(compare)(&above, &equal, &c->fours, bound & 4);
  COUNTS(compare)(&above, &equal, &c->twos, bound & 2);
  COUNTS(compare)(&above, &equal, &c->ones, bound & 1);
  *out = above | equal;
}
