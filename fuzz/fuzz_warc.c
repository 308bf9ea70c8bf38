/* The warc reader. */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_format(&nd_format_warc, (nd_str){(const char *)data, size});
  return 0;
}
