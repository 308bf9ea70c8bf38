/* The body of the ASCII kernels; words_ascii.c includes it once per SIMD level.
 * The level defines KERNEL(name), TARGET and on a `block` of 64 bytes:
 *   load, high (bytes >= 0x80), classify (token bytes; makes the block lower
 *   case with a space for every other byte), equal_space, store,
 *   compact (the bytes under `keep` moved together; `from` is where the block
 *   was loaded, 64 bytes after it are readable),
 *   ends (base + the position of each bit of e after removing the bits of drop; returns the
 *   end of the output).
 *
 * There is no loop over tokens.  With the token bytes w and after = w << 1, the bytes to keep
 * are w | after (a token and the separator after it), and a token ends at each bit of
 * after & ~w.  In prose nearly all bytes are kept, so the text is one copy per 64 bytes. */

/* Processes a block; only the bytes in `limit` (low bits) are valid. */
TARGET ND_INLINE void KERNEL(step)(nd_words_run *r, KERNEL(block) b, const char *from, uint64_t w,
                                   uint64_t limit) {
  w &= limit;
  uint64_t after = (w << 1 | r->open) & limit;
  uint64_t keep = w | after;
  uint64_t e = after & ~w;
  uint32_t *end = r->end + r->count;
#if KERNEL_COMPRESS
  KERNEL(compact)(r->out + r->p, b, from, keep);
  end = KERNEL(ends)(end, e, limit & ~keep, (uint32_t)r->p);
#else
  if (ND_LIKELY(keep == limit)) {
    KERNEL(store)(r->out + r->p, b);
    end = KERNEL(ends)(end, e, 0, (uint32_t)r->p);
  } else {
    KERNEL(compact)(r->out + r->p, b, from, keep);
    end = KERNEL(ends)(end, e, limit & ~keep, (uint32_t)r->p);
  }
#endif
  r->count = (size_t)(end - r->end);
  r->p += (unsigned)__builtin_popcountll(keep);
  /* Tests whether the last valid byte is a token byte; limit + 1 is the bit after it. */
  if (limit) r->open = (w & ~(limit >> 1)) != 0;
}

TARGET static void KERNEL(ascii)(nd_words_run *shared, size_t stop) {
  nd_words_run r = *shared; /* a copy stays in registers */
  while (r.n - r.i >= 2 * ND_WORDS_STEP && r.i < stop) {
    KERNEL(block) b = KERNEL(load)(r.in + r.i);
    uint64_t high = KERNEL(high)(b);
    uint64_t w = KERNEL(classify)(&b);
    if (ND_UNLIKELY(high != 0)) {
      KERNEL(step)(&r, b, r.in + r.i, w, (high - 1) & ~high);
      r.i += (unsigned)__builtin_ctzll(high);
      goto done;
    }
    KERNEL(step)(&r, b, r.in + r.i, w, ~(uint64_t)0);
    r.i += ND_WORDS_STEP;
  }
  /* Copy the last bytes, so that no byte after the input is read. */
  char pad[3 * ND_WORDS_STEP];
  size_t rest = r.n - r.i, at = 0;
  if (r.i >= stop) goto done; /* stop <= n */
  memset(pad + (rest & ~(size_t)15), 0, sizeof pad - (rest & ~(size_t)15));
  memcpy(pad, r.in + r.i, rest);
  while (at < rest) {
    uint64_t limit = rest - at >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (rest - at)) - 1;
    KERNEL(block) b = KERNEL(load)(pad + at);
    uint64_t high = KERNEL(high)(b);
    uint64_t w = KERNEL(classify)(&b);
    KERNEL(step)(&r, b, pad + at, w, limit & (high - 1) & ~high);
    at += high ? (unsigned)__builtin_ctzll(high) : ND_WORDS_STEP;
    if (high) break;
  }
  r.i += at < rest ? at : rest;
done:
  *shared = r;
}

TARGET static size_t KERNEL(spaces)(uint32_t *end, const char *p, size_t n, uint32_t base) {
  uint32_t *first = end;
  size_t i = 0;
  for (; n - i >= 64; i += 64) {
    end = KERNEL(ends)(end, KERNEL(equal_space)(KERNEL(load)(p + i)), 0, base + (uint32_t)i);
  }
  if (i < n) {
    char pad[64] = {0};
    memcpy(pad, p + i, n - i);
    end = KERNEL(ends)(end, KERNEL(equal_space)(KERNEL(load)(pad)), 0, base + (uint32_t)i);
  }
  return (size_t)(end - first);
}

#undef KERNEL
#undef TARGET
#undef KERNEL_COMPRESS
