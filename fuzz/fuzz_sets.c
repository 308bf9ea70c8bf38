/* The sets reader. */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_format(&nd_format_sets, (nd_str){(const char *)data, size});
  return 0;
}
