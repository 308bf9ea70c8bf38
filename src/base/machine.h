/* The memory that this process may use: the machine's, or less where a control
 * group (a container, a batch system, systemd) limits it. */
#ifndef ND_BASE_MACHINE_H
#define ND_BASE_MACHINE_H

#include <stdint.h>

/* The smaller of the machine's memory and the lowest limit of the control groups, version 1 or 2,
 * that this process is in.  A limit that cannot be read counts as none.  `root` is put in front
 * of /proc and /sys, which tests replace; "" otherwise. */
uint64_t nd_machine_memory(const char *root);

#endif
