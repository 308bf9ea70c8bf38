/* Shared by the files that implement base/io.h; not for other users. */
#ifndef ND_BASE_IO_HOOK_H
#define ND_BASE_IO_HOOK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/io.h"

/* Counts a system call.  Returns true, with errno set, if a test makes it fail. */
bool nd_io_refused(void);

void nd_io_fill_info(nd_file_info *out, const struct stat *st);

#endif
