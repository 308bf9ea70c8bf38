/* Plan files: taken or refused with a reason; what is taken is in order, and is taken again as
 * the same plan when it is written. */
#include "feature/sample_plan.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd_sample_plan plan, again;
  nd_error err = {0};
  nd_buf text = {0};
  if (nd_sample_plan_parse(&plan, (nd_str){(const char *)data, size}, "x", &err) != ND_OK) {
    fuzz_check(err.message[0]);
    return 0;
  }
  fuzz_check(plan.n >= 1 && plan.n <= ND_PLAN_GROUPS);
  fuzz_check(plan.group[plan.n - 1].below == UINT64_MAX);
  for (unsigned i = 0; i < plan.n; i++) {
    uint64_t m = plan.group[i].modulus;
    fuzz_check(m >= 1 && m <= ND_PLAN_MOST_MODULUS && (m & (m - 1)) == 0);
    fuzz_check(i == 0 || plan.group[i].below > plan.group[i - 1].below);
    fuzz_check(nd_sample_plan_group(&plan, plan.group[i].below - 1) == i);
  }
  fuzz_check(nd_sample_plan_append(&text, &plan, &err) == ND_OK);
  fuzz_check(nd_sample_plan_parse(&again, nd_buf_str(&text), "x", &err) == ND_OK);
  fuzz_check(again.n == plan.n && again.digest == plan.digest);
  fuzz_note(text.p, text.n);
  nd_buf_clear(&text);
  return 0;
}
