/* Packed streams: the good bytes do not depend on how they are read, and what is
 * whole is what zlib makes of it. */
#include <zlib.h>

#include "codec/stream.h"
#include "fuzz.h"

enum { FUZZ_OUTPUT = 1 << 20 };

/* Reads everything in steps of `step` bytes, going on behind damage. */
static bool read_all(nd_buf *out, nd_str bytes, size_t step) {
  nd_stream *s = NULL;
  nd_error err = {0};
  bool whole = true;
  fuzz_check(nd_stream_open_memory(&s, bytes, "fuzz", &err) == ND_OK);
  while (out->n < FUZZ_OUTPUT) {
    nd_str seen = {0};
    nd_status status = nd_stream_peek(&seen, s, step, &err);
    size_t n = seen.n < step ? seen.n : step;
    fuzz_check(nd_stream_offset(s) == out->n);
    if (n) fuzz_check(nd_buf_append(out, seen.p, n, NULL) == ND_OK);
    nd_stream_skip(s, n);
    if (status == ND_OK && n == 0) break;
    if (status != ND_OK) {
      bool found = false;
      fuzz_check(status == ND_ERR_DATA && err.message[0]);
      whole = false;
      if (n) continue; /* the rest of the good bytes first */
      if (nd_stream_recover(&found, s, &err) != ND_OK || !found) break;
    }
  }
  nd_stream_close(s);
  if (out->n > FUZZ_OUTPUT) out->n = FUZZ_OUTPUT;
  return whole;
}

/* One gzip member that is all of the input, by zlib alone. */
static bool zlib_whole(nd_buf *out, nd_str bytes) {
  z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes.p, .avail_in = (uInt)bytes.n};
  if (inflateInit2(&z, 15 + 16) != Z_OK) return false;
  fuzz_check(nd_buf_reserve(out, FUZZ_OUTPUT, NULL) == ND_OK);
  z.next_out = (Bytef *)out->p;
  z.avail_out = FUZZ_OUTPUT;
  int result = inflate(&z, Z_FINISH);
  out->n = z.total_out;
  bool whole = result == Z_STREAM_END && z.avail_in == 0;
  inflateEnd(&z);
  return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t steps[] = {1, 7, 100, 4096, 70000};
  nd_str bytes = {(const char *)data, size};
  nd_buf first = {0}, again = {0}, known = {0};
  bool whole = read_all(&first, bytes, steps[size % 5]);
  bool whole_again = read_all(&again, bytes, 1 << 16);
  fuzz_check(whole == whole_again || first.n == FUZZ_OUTPUT);
  fuzz_check(nd_str_eq(nd_buf_str(&first), nd_buf_str(&again)));
  if (size > 18 && data[0] == 0x1f && data[1] == 0x8b && zlib_whole(&known, bytes)) {
    fuzz_check(whole_again);
    fuzz_check(nd_str_eq(nd_buf_str(&again), nd_buf_str(&known)));
  }
  fuzz_note(first.p, first.n);
  nd_buf_clear(&first);
  nd_buf_clear(&again);
  nd_buf_clear(&known);
  return 0;
}
