/* Memory: the only wrapper for the allocator, so that tests can make it fail, and a growable byte
 * buffer.
 *
 * Every allocation of the library goes through nd_malloc, nd_realloc and nd_free.  A buffer always
 * has ND_SLACK readable bytes after its end, so that SIMD code may read (but not use) a full vector
 * past the last byte. */
#ifndef ND_BASE_MEM_H
#define ND_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "neardup/status.h"

enum { ND_SLACK = 64 };

void *nd_malloc(size_t bytes);
void *nd_calloc(size_t count, size_t bytes);
void *nd_realloc(void *p, size_t bytes);
void nd_free(void *p);

/* For large arrays that are filled sequentially: uses huge pages where the system has them.
 * ND_SLACK more bytes are readable; free with nd_free. */
void *nd_malloc_large(size_t bytes);

/* Tests: the allocation number `nth` from now (1 = the next) fails; 0 = never. */
void nd_mem_fail_at(uint64_t nth);
uint64_t nd_mem_count(void);
/* Tests: called with the number of each allocation as it is made; NULL: none. */
typedef void (*nd_watch)(uint64_t nth);
void nd_mem_watch(nd_watch watching);
/* Tests: buffers and arrays that are already large enough count as allocations too. */
void nd_mem_strict(bool on);
bool nd_mem_is_strict(void);

/* A growable byte buffer; {0} is empty. */
typedef struct nd_buf {
  char *p;
  size_t n;   /* bytes used */
  size_t cap; /* capacity, without the slack */
} nd_buf;

/* Makes room for `more` bytes after the used ones. */
nd_status nd_buf_reserve(nd_buf *b, size_t more, nd_error *err) ND_MUST_CHECK;
nd_status nd_buf_append(nd_buf *b, const void *p, size_t n, nd_error *err) ND_MUST_CHECK;
nd_status nd_buf_printf(nd_buf *b, nd_error *err, const char *format, ...)
    ND_PRINTF(3, 4) ND_MUST_CHECK;
void nd_buf_clear(nd_buf *b); /* frees; the buffer is empty and usable */

static inline nd_str nd_buf_str(const nd_buf *b) {
  return (nd_str){b->p, b->n};
}
static inline nd_str nd_str_of(const char *s) {
  return (nd_str){s, strlen(s)};
}
static inline bool nd_str_eq(nd_str a, nd_str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Grows the array `*p` of `size`-byte elements to hold at least `want`, at least doubling it. */
nd_status nd_array_grow(void *p, size_t *cap, size_t want, size_t size,
                        nd_error *err) ND_MUST_CHECK;

#define ND_TRY(expr)                              \
  do {                                            \
    nd_status try_status_ = (expr);               \
    if (try_status_ != ND_OK) return try_status_; \
  } while (0)

#define ND_TRY_GOTO(expr, label)     \
  do {                               \
    status = (expr);                 \
    if (status != ND_OK) goto label; \
  } while (0)

#endif
