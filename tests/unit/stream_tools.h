/* Tools of the stream tests: making packed bytes, and reading them from memory, a file and a
 * pipe alike. */
#ifndef STREAM_TOOLS_H
#define STREAM_TOOLS_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>
#include <zdict.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"
#include "codec/stream.h"
#include "tools.h"

extern char stream_dir[];

void says(const char *words);

const char *at(const char *name);

int setup(void **state);

int teardown(void **state);

int clear_hooks(void **state);

uint64_t draw(uint64_t below);

void new_seed(void);

void add(nd_buf *b, const void *p, size_t n);

nd_buf words(size_t n);

nd_buf noise(size_t n);

void add_gzip(nd_buf *out, const void *p, size_t n, int level, int strategy, gz_header *head);

void add_zstd(nd_buf *out, const void *p, size_t n, int window_log, const nd_buf *dict);

void add_skippable(nd_buf *out, int type, const void *p, size_t n);

typedef enum way { MEMORY, A_FILE, PIPE, WAYS } way;

void write_bytes(const char *path, const void *p, size_t n);

nd_stream *open_way(way how, const nd_buf *b);

/* All bytes, in steps of `want`; checks the promises about failures on the way. */
nd_status drain(nd_buf *out, nd_stream *s, size_t want);

nd_status unpack(nd_buf *out, way how, const nd_buf *packed, size_t want);

void unpacks_to(const nd_buf *packed, const nd_buf *plain);

const char *without_name(const char *message);

/* The same result and the same good bytes from memory, a file and a pipe, in large and
 * single-byte reads; a prefix of `plain` unless that is NULL.  Returns how many good bytes.
 * (In single-byte reads of a file the faster engine may have given bytes of a block that
 * zlib refuses as a whole, so with damage only a pipe is compared there.) */
size_t alike(nd_status *result, const nd_buf *packed, const nd_buf *plain);

size_t fails_alike(const nd_buf *packed, const nd_buf *plain);

#endif
