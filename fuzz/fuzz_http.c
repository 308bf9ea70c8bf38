/* HTTP responses: head, chunks, content encodings. */
#include "fuzz_format.h"
#include "input/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes in = {data, size};
  uint8_t how = fuzz_byte(&in);
  nd_http_message m = {.bytes = fuzz_rest(&in), .truncated = how & 1, .max_body = FUZZ_MOST};
  if (how & 2) m.type = nd_str_of("text/html; charset=koi8-r");
  nd_decoder decoder = {0};
  nd_document d = {0};
  nd_error err = {0};
  nd_status status = nd_http_decode(&d, &decoder, &m, &err);
  if (status == ND_OK) {
    /* A body that is a view of the message may be as long as that. */
    if (d.body.n <= FUZZ_MOST) fuzz_note_document(&d);
    fuzz_check(d.body.n <= FUZZ_MOST || d.body.n <= m.bytes.n);
  } else {
    fuzz_check((status == ND_ERR_DATA || status == ND_ERR_LIMIT) && err.message[0]);
  }
  nd_decoder_clear(&decoder);
  return 0;
}
