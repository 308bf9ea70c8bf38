/* The allocator wrapper and the byte buffer. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

static _Atomic uint64_t fail_at;
static _Atomic uint64_t allocations;
static _Atomic(nd_watch) watch;
static _Atomic bool strict;

/* Relaxed: an ordering here would hide races from the thread sanitizer. */
static bool refused(void) {
  uint64_t nth = atomic_load_explicit(&fail_at, memory_order_relaxed);
  if (nth == 0) return false;
  uint64_t call = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
  nd_watch watching = atomic_load_explicit(&watch, memory_order_relaxed);
  if (watching) watching(call);
  return call == nth;
}

void nd_mem_watch(nd_watch watching) {
  atomic_store(&watch, watching);
}

void nd_mem_fail_at(uint64_t nth) {
  atomic_store(&allocations, 0);
  atomic_store(&fail_at, nth);
}

uint64_t nd_mem_count(void) {
  return atomic_load(&allocations);
}

void nd_mem_strict(bool on) {
  atomic_store(&strict, on);
}

bool nd_mem_is_strict(void) {
  return atomic_load_explicit(&strict, memory_order_relaxed);
}

/* Enough capacity exists; a strict test may still make this fail. */
static nd_status has_room(size_t bytes, nd_error *err) {
  if (!nd_mem_is_strict() || !refused()) return ND_OK;
  return nd_fail_memory(err, bytes);
}

void *nd_malloc(size_t bytes) {
  return refused() ? NULL : malloc(bytes ? bytes : 1);
}

void *nd_calloc(size_t count, size_t bytes) {
  return refused() ? NULL : calloc(count ? count : 1, bytes ? bytes : 1);
}

void *nd_realloc(void *p, size_t bytes) {
  return refused() ? NULL : realloc(p, bytes ? bytes : 1);
}

void nd_free(void *p) {
  free(p);
}

void *nd_malloc_large(size_t bytes) {
  char *p = nd_malloc(bytes + ND_SLACK);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) / page * page;
  const uintptr_t to = ((uintptr_t)p + bytes) / page * page;
  if (p && bytes > (4u << 20)) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
  return p;
}

nd_status nd_buf_reserve(nd_buf *b, size_t more, nd_error *err) {
  if (more <= b->cap - b->n && b->p) return has_room(more, err);
  /* untaken: more bytes than can be addressed */
  if (more > SIZE_MAX / 4 || b->n > SIZE_MAX / 4) return nd_fail_memory(err, more);
  size_t cap = b->cap + b->cap / 2;
  if (cap < b->n + more) cap = b->n + more;
  if (cap < 256) cap = 256;
  char *p = nd_realloc(b->p, cap + ND_SLACK);
  if (!p) return nd_fail_memory(err, cap);
  memset(p + cap, 0, ND_SLACK);
  b->p = p;
  b->cap = cap;
  return ND_OK;
}

nd_status nd_buf_append(nd_buf *b, const void *p, size_t n, nd_error *err) {
  ND_TRY(nd_buf_reserve(b, n, err));
  if (n) memcpy(b->p + b->n, p, n);
  b->n += n;
  return ND_OK;
}

nd_status nd_buf_printf(nd_buf *b, nd_error *err, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int need = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (need < 0) return nd_fail(err, ND_ERR_IO, "a number or name could not be formatted");
  ND_TRY(nd_buf_reserve(b, (size_t)need + 1, err));
  va_start(args, format);
  vsnprintf(b->p + b->n, (size_t)need + 1, format, args);
  va_end(args);
  b->n += (size_t)need;
  return ND_OK;
}

void nd_buf_clear(nd_buf *b) {
  nd_free(b->p);
  *b = (nd_buf){0};
}

nd_status nd_array_grow(void *p, size_t *cap, size_t want, size_t size, nd_error *err) {
  if (want <= *cap) return has_room(want, err);
  size_t grown = *cap + *cap / 2;
  if (grown < want) grown = want;
  if (grown < 16) grown = 16;
  if (grown > (SIZE_MAX - ND_SLACK) / size) return nd_fail_memory(err, SIZE_MAX);
  void *old;
  memcpy(&old, p, sizeof old);
  void *fresh = nd_realloc(old, grown * size + ND_SLACK);
  if (!fresh) return nd_fail_memory(err, grown * size);
  memcpy(p, &fresh, sizeof fresh);
  *cap = grown;
  return ND_OK;
}
