/* Option names and values: taken or refused with a reason, and what is taken
 * prints as something that is taken again. */
#include "fuzz.h"
#include "neardup.h"
#include "settings/option_fields.h"

/* The next line of the input, as a string. */
static void next_line(char *out, size_t room, fuzz_bytes *in) {
  size_t n = 0;
  while (in->n) {
    char c = (char)fuzz_byte(in);
    if (c == '\n' || c == '\0') break;
    if (n + 1 < room) out[n++] = c;
  }
  out[n] = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes in = {data, size};
  nd_options options;
  nd_options_init(&options);
  while (in.n) {
    char name[64], value[2048], shown[2048];
    next_line(name, sizeof name, &in);
    next_line(value, sizeof value, &in);
    nd_error err = {0};
    if (nd_options_set(&options, name, value, &err) != ND_OK) {
      fuzz_check(err.message[0]);
      continue;
    }
    for (const nd_option_row *i = nd_option_rows(); i->info.name; i++) {
      nd_option_text(shown, sizeof shown, &options, i);
      nd_options copy = options;
      fuzz_check(nd_options_set(&copy, i->info.name, shown, &err) == ND_OK);
    }
  }
  nd_error err = {0};
  if (nd_options_check(&options, &err) != ND_OK) fuzz_check(err.message[0]);
  return 0;
}
