/* Times the hot rooms alone, on one core, over the bytes of a file.
 *
 *   kernels read FILE       reads and cuts into documents, nothing else
 *   kernels tokens FILE     … and splits them into words
 *   kernels shingles FILE   … and makes 5-word shingles
 *   kernels sketch FILE     … and a MinHash sketch of 128 values
 *   kernels html FILE       pages: charset, HTML to text, words
 *   kernels web FILE        … with the URLs in the text and of images as tokens
 *
 * and from the tokens the sketches of the web:
 *
 *   kernels super FILE        8-word shingles, 84 min values, 6 super-shingles
 *   kernels linear FILE       the same with 84 linear functions
 *   kernels projection FILE   384 bits, of all tokens
 *   kernels simhash FILE      64 bits, every different token once
 *   kernels simhash-tf FILE   64 bits, of all tokens
 *   kernels simhash-idf FILE  64 bits, tf-idf (two passes; the second is timed alone too)
 *
 * Reading is inside the measured time, as it is for wc.  Plain text is cut at
 * the first line end after 1500 bytes, pages at each "<!DOCTYPE" that begins a
 * line.  The checksum proves that the work was done; it depends on the file
 * only, not on the CPU level. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "feature/shingle.h"
#include "sketch/minhash.h"
#include "sketch/projection.h"
#include "sketch/simhash.h"
#include "sketch/supershingle.h"
#include "text/text.h"
#include "text/web.h"

enum { CHUNK = 1 << 20, CUT = 1500, SKETCH_SIZE = 128 };

typedef enum {
  READ,
  TOKENS,
  SHINGLES,
  SKETCH,
  HTML,
  WEB,
  SUPER,
  LINEAR,
  PROJECTION,
  SIMHASH,
  SIMHASH_TF,
  SIMHASH_IDF,
  STEPS
} step;

typedef struct {
  step last;
  nd_buf converted, text;
  nd_tokens tokens;
  nd_shingles shingles;
  nd_minhash minhash;
  nd_projection projection;
  nd_simhash simhash;
  nd_frequencies frequencies;
  bool counting; /* the first of two passes */
  uint64_t sketch[SKETCH_SIZE];
  uint64_t documents, bytes, words, checksum;
} kernel;

/* The sketches of the web, from the tokens. */
static nd_status run_sketch(kernel *k, nd_error *err) {
  bool shingles = k->last == SUPER || k->last == LINEAR;
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, shingles ? 8 : 1};
  ND_TRY(nd_shingle_make(&k->shingles, nd_buf_str(&k->tokens.text), k->tokens.end, k->tokens.count,
                         spec, 1, false, err));
  const uint64_t *fp = k->shingles.fingerprint;
  size_t n = k->shingles.n, words = 1;
  if (k->counting) return nd_simhash_count(&k->frequencies, &k->simhash, fp, n, err);
  if (shingles) {
    uint64_t min[84];
    words = 6;
    ND_TRY(nd_minhash_sketch(min, &k->minhash, fp, n, err));
    nd_super_make(k->sketch, min, 84, 6, 1);
  } else if (k->last == PROJECTION) {
    words = k->projection.words;
    nd_projection_sketch(k->sketch, &k->projection, fp, n);
  } else {
    ND_TRY(nd_simhash_sketch(k->sketch, &k->simhash, fp, n, err));
  }
  for (size_t i = 0; i < words; i++) k->checksum += k->sketch[i] ^ i;
  return ND_OK;
}

static nd_status start_sketch(kernel *k, nd_error *err) {
  bool shingles = k->last == SUPER || k->last == LINEAR;
  ND_TRY(nd_minhash_init_family(&k->minhash, k->last == LINEAR ? ND_FAMILY_LINEAR : ND_FAMILY_FAST,
                                shingles ? 84 : SKETCH_SIZE, 1, err));
  ND_TRY(nd_projection_init(&k->projection, 384, 1, err));
  if (k->last == SIMHASH_IDF) ND_TRY(nd_frequencies_init(&k->frequencies, err));
  nd_weights weights = k->last == SIMHASH_IDF  ? ND_WEIGHTS_TFIDF
                       : k->last == SIMHASH_TF ? ND_WEIGHTS_TF
                                               : ND_WEIGHTS_ONE;
  return nd_simhash_init(&k->simhash, weights, 1, &k->frequencies, err);
}

static nd_status run_document(kernel *k, nd_str doc, nd_error *err) {
  k->documents++;
  if (k->last == READ) return ND_OK;
  nd_str text = doc;
  if (k->last == HTML || k->last == WEB) {
    nd_str utf8;
    ND_TRY(nd_charset_to_utf8(&utf8, &k->converted, doc, (nd_str){NULL, 0}, true, err));
    k->text.n = 0;
    if (k->last == WEB)
      ND_TRY(nd_html_text_images(&k->text, utf8, err));
    else
      ND_TRY(nd_html_text(&k->text, utf8, err));
    text = nd_buf_str(&k->text);
  }
  if (k->last == WEB)
    ND_TRY(nd_web_split(&k->tokens, text, true, nd_str_of("http://www.example.org/"), err));
  else
    ND_TRY(nd_words_split(&k->tokens, text, ND_TOKENS_WORDS, err));
  k->words += k->tokens.count;
  k->checksum += k->tokens.text.n;
  if (k->last >= SUPER) return run_sketch(k, err);
  if (k->last != SHINGLES && k->last != SKETCH) return ND_OK;
  nd_shingle_spec spec = {ND_SHINGLE_WORDS, 5};
  ND_TRY(nd_shingle_make(&k->shingles, nd_buf_str(&k->tokens.text), k->tokens.end, k->tokens.count,
                         spec, 1, false, err));
  for (size_t i = 0; i < k->shingles.n; i++) k->checksum += k->shingles.fingerprint[i];
  if (k->last == SHINGLES) return ND_OK;
  ND_TRY(nd_minhash_sketch(k->sketch, &k->minhash, k->shingles.fingerprint, k->shingles.n, err));
  for (size_t i = 0; i < SKETCH_SIZE; i++) k->checksum += k->sketch[i] ^ i;
  return ND_OK;
}

/* Where the first document of `s` ends; 0: not within these bytes. */
static size_t find_cut(const kernel *k, nd_str s) {
  if (k->last == HTML || k->last == WEB) {
    static const char mark[] = "\n<!DOCTYPE";
    const char *p = s.n ? memmem(s.p + 1, s.n - 1, mark, sizeof mark - 1) : NULL;
    return p ? (size_t)(p + 1 - s.p) : 0;
  }
  const char *p = s.n > CUT ? memchr(s.p + CUT, '\n', s.n - CUT) : NULL;
  return p ? (size_t)(p + 1 - s.p) : 0;
}

static nd_status run_file(kernel *k, int fd, nd_error *err) {
  nd_buf in = {0};
  nd_status status = ND_OK;
  for (;;) {
    ND_TRY_GOTO(nd_buf_reserve(&in, CHUNK, err), done);
    ssize_t got = read(fd, in.p + in.n, CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      status = nd_fail(err, ND_ERR_IO, "cannot read: %s", strerror(errno));
      goto done;
    }
    in.n += (size_t)got;
    k->bytes += (uint64_t)got;
    size_t at = 0, cut;
    while ((cut = find_cut(k, (nd_str){in.p + at, in.n - at})) > 0) {
      ND_TRY_GOTO(run_document(k, (nd_str){in.p + at, cut}, err), done);
      at += cut;
    }
    if (got == 0) {
      if (at < in.n) status = run_document(k, (nd_str){in.p + at, in.n - at}, err);
      goto done;
    }
    memmove(in.p, in.p + at, in.n - at);
    in.n -= at;
  }
done:
  nd_buf_clear(&in);
  return status;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  static const char *const names[] = {"read",       "tokens",  "shingles",   "sketch",
                                      "html",       "web",     "super",      "linear",
                                      "projection", "simhash", "simhash-tf", "simhash-idf"};
  kernel k = {0};
  int which = -1;
  for (int i = 0; argc == 3 && i < STEPS; i++) {
    if (strcmp(argv[1], names[i]) == 0) which = i;
  }
  if (which < 0) {
    fprintf(stderr, "usage: kernels NAME FILE, with NAME one of");
    for (int i = 0; i < STEPS; i++) fprintf(stderr, " %s", names[i]);
    fputc('\n', stderr);
    return 2;
  }
  k.last = (step)which;
  nd_error err = {0};
  double begin = now();
  int fd = open(argv[2], O_RDONLY);
  if (fd < 0) {
    fprintf(stderr, "kernels: %s: %s\n", argv[2], strerror(errno));
    return 1;
  }
  nd_status status = start_sketch(&k, &err);
  if (status == ND_OK && k.last == SIMHASH_IDF) {
    k.counting = true;
    status = run_file(&k, fd, &err);
    k.counting = false;
    k.documents = k.bytes = k.words = k.checksum = 0;
    if (lseek(fd, 0, SEEK_SET) != 0) {
      fprintf(stderr, "kernels: %s: cannot be read twice\n", argv[2]);
      return 1;
    }
    printf("first pass: %.3f s\n", now() - begin);
    begin = now();
  }
  if (status == ND_OK) status = run_file(&k, fd, &err);
  double seconds = now() - begin;
  close(fd);
  if (status == ND_OK) {
    printf("%s: %.1f MB/s, %llu bytes, %llu documents, %llu words, checksum %016llx\n", argv[1],
           (double)k.bytes / 1e6 / seconds, (unsigned long long)k.bytes,
           (unsigned long long)k.documents, (unsigned long long)k.words,
           (unsigned long long)k.checksum);
  } else {
    fprintf(stderr, "kernels: %s: %s\n", argv[2], err.message);
  }
  nd_buf_clear(&k.converted);
  nd_buf_clear(&k.text);
  nd_tokens_clear(&k.tokens);
  nd_shingles_clear(&k.shingles);
  nd_minhash_clear(&k.minhash);
  nd_simhash_clear(&k.simhash);
  nd_frequencies_clear(&k.frequencies);
  return status == ND_OK ? 0 : 1;
}
