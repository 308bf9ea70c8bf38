/* Any bytes under any label become valid UTF-8. */
#include "fuzz.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const labels[] = {"",          "utf-8",     "windows-1252", "shift_jis",
                                       "gb18030",   "euc-kr",    "iso-2022-jp",  "utf-16le",
                                       "utf-16be",  "koi8-r",    "big5",         "x-user-defined",
                                       "macintosh", "iso-8859-7"};
  fuzz_bytes in = {data, size};
  unsigned how = fuzz_byte(&in);
  nd_str declared = nd_str_of(labels[how % (sizeof labels / sizeof *labels)]);
  nd_buf scratch = {0};
  nd_str text = {0};
  fuzz_check(nd_charset_to_utf8(&text, &scratch, fuzz_rest(&in), declared, how >= 128, NULL) ==
             ND_OK);
  fuzz_check(nd_utf8_valid_prefix(text) == text.n);
  fuzz_note(text.p, text.n);
  nd_buf_clear(&scratch);
  return 0;
}
