/* The fast text extractor against the slow one. */
#include "fuzz.h"
#include "slow_html.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd_str html = {(const char *)data, size};
  nd_buf fast = {0}, slow = {0}, images = {0};
  fuzz_check(nd_html_text(&fast, html, NULL) == ND_OK);
  slow_html_text(&slow, html);
  fuzz_check(nd_str_eq(nd_buf_str(&fast), nd_buf_str(&slow)));
  fuzz_check(nd_html_text_images(&images, html, NULL) == ND_OK);
  fuzz_note(fast.p, fast.n);
  fuzz_note(images.p, images.n);
  bool looks = nd_html_looks_like(html);
  fuzz_note(&looks, sizeof looks);
  nd_buf_clear(&fast);
  nd_buf_clear(&slow);
  nd_buf_clear(&images);
  return 0;
}
