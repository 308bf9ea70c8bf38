/* Memory available to this process: the machine's, or less if a control group (a container, a batch
 * system, systemd) limits it. */
#ifndef ND_BASE_MACHINE_H
#define ND_BASE_MACHINE_H

#include <stdint.h>

/* Returns the minimum of the machine's memory and the limits of the control groups, version 1 or 2,
 * that contain this process.  An unreadable limit is ignored.  `root` is prepended to /proc and
 * /sys for tests; "" otherwise. */
uint64_t nd_machine_memory(const char *root);

#endif
