/* Version, compiler and CPU level of the library. */
#include "base/cpu.h"
#include "neardup/run.h"

const char *nd_version(void) {
  return ND_VERSION;
}
const char *nd_cpu_level_name(void) {
  return nd_cpu_name(nd_cpu());
}

const char *nd_compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown compiler";
#endif
}
