/* Files of sketches: refused with a reason, or read, copied and searched.
 *
 * The first byte says whether checksums and the size are put right first, so that what lies
 * behind them is reached, and which method takes the file. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/hash.h"
#include "fuzz.h"
#include "neardup/run.h"
#include "neardup/sketchfile.h"
#include "settings/option_fields.h"
#include "sketchfile/sketch_file.h"

static uint32_t get32(const char *p) {
  return (uint32_t)(nd_load64(p) & UINT32_MAX);
}

static void put64(char *p, uint64_t x) {
  for (int i = 0; i < 8; i++) p[i] = (char)(x >> 8 * i);
}

/* As docs/formats.md says. */
static void put_right(char *p, size_t n) {
  enum { CHUNK_HEAD = 16 };
  if (n < ND_SKETCH_HEAD + 8) return;
  uint64_t parameters = get32(p + 16), words = get32(p + 20);
  if (parameters > n - ND_SKETCH_HEAD - 8 || words > 1 << 16) return;
  put64(p + 40, n);
  put64(p + 56,
        XXH3_64bits_withSeed(p, ND_SKETCH_HEAD - 8, XXH3_64bits(p + ND_SKETCH_HEAD, parameters)));
  uint64_t at = ND_SKETCH_HEAD + (parameters + 7) / 8 * 8;
  for (uint64_t number = 0; at + CHUNK_HEAD <= n; number++) {
    uint64_t docs = get32(p + at), ids = get32(p + at + 4);
    uint64_t bytes = CHUNK_HEAD + docs * (24 + 8 * words) + (ids + 7) / 8 * 8;
    if (bytes > n - at) return;
    put64(p + at + 8, XXH3_64bits_withSeed(p + at + CHUNK_HEAD, bytes - CHUNK_HEAD,
                                           nd_load64(p + at) ^ number << 1));
    at += bytes;
  }
}

static nd_status note_text(void *context, const char *p, size_t n, nd_error *err) {
  (void)context;
  (void)err;
  fuzz_note(p, n);
  return ND_OK;
}

static void search(const char *path, unsigned which) {
  static const char *const methods[] = {"simhash", "projection",    "supershingle",
                                        "minhash", "combined-site", "combined"};
  nd_options o;
  nd_error err = {0};
  nd_summary summary;
  nd_options_init(&o);
  o.threads = 1;
  fuzz_check(nd_options_set(&o, "method", methods[which % 6], &err) == ND_OK);
  if (which % 6 == 3 && which & 8)
    fuzz_check(nd_options_set(&o, "family", "linear", &err) == ND_OK &&
               nd_options_set(&o, "verify", "none", &err) == ND_OK);
  nd_sink sink = {.write = note_text};
  if (nd_pairs(&summary, &(nd_pairs_request){.inputs = &path, .input_n = 1, .sink = &sink}, &o,
               NULL, &err) != ND_OK)
    fuzz_check(err.message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  unsigned how = data[0];
  size_t n = size - 1;
  char *bytes = malloc(n);
  if (!bytes) abort();
  memcpy(bytes, data + 1, n);
  if (how & 1) put_right(bytes, n);
  int fd = memfd_create("sketches", MFD_CLOEXEC);
  fuzz_check(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  nd_error err = {0};
  nd_sketch_reader r = {.fd = -1};
  nd_sketch_chunk c = {0};
  uint64_t documents = 0;
  bool more = true;
  nd_status status = nd_sketch_open(&r, path, "x", &err);
  while (status == ND_OK && more) {
    status = nd_sketch_next(&more, &c, &r, &err);
    if (status != ND_OK || !more) continue;
    documents += c.docs;
    for (uint32_t i = 0; i < c.docs; i++) fuzz_check(c.id_end[i] <= c.ids.n);
    fuzz_note(c.rows, (size_t)c.docs * r.head.words * sizeof *c.rows);
  }
  nd_sink sink = {.write = note_text};
  nd_status info = nd_sketch_info(path, &sink, NULL, &err);
  fuzz_check((info == ND_OK) == (status == ND_OK && documents == r.head.documents));
  if (status != ND_OK) fuzz_check(err.message[0]);
  nd_sketch_close(&r);
  nd_sketch_chunk_clear(&c);
  if (how & 2) search(path, how >> 2);
  close(fd);
  free(bytes);
  return 0;
}
