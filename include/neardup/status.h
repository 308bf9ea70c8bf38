/* Status codes and the error a caller passes in.
 *
 * A function that can fail returns an nd_status and takes an nd_error as its
 * last parameter (NULL is allowed).  On failure the error holds one message
 * for people: what went wrong, where, and what to do about it. */
#ifndef NEARDUP_STATUS_H
#define NEARDUP_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ND_API __attribute__((visibility("default")))
#define ND_MUST_CHECK __attribute__((warn_unused_result))
#define ND_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define ND_API
#define ND_MUST_CHECK
#define ND_PRINTF(f, a)
#endif

typedef enum nd_status {
  ND_OK = 0,
  ND_ERR_USAGE,     /* a wrong option or argument */
  ND_ERR_MEMORY,    /* an allocation failed */
  ND_ERR_IO,        /* the system refused a read, write, open … */
  ND_ERR_DATA,      /* the input is damaged or not what it claims to be */
  ND_ERR_LIMIT,     /* a stated limit was exceeded (document size, count …) */
  ND_ERR_STATE,     /* the output directory cannot be used as it is */
  ND_ERR_CANCELLED, /* the caller asked to stop */
} nd_status;

/* An error message for people.  The size of this struct never changes. */
typedef struct nd_error {
  nd_status status;
  char message[1000];
} nd_error;

/* A borrowed run of bytes; not NUL-terminated. */
typedef struct nd_str {
  const char *p;
  size_t n;
} nd_str;

/* nd_fail(err, status, format, ...) writes a message and is `status`, so that
 * `return nd_fail(...)` reads well.  `err` may be NULL.  Control characters in
 * the message are replaced.  (A macro, so that compilers and checkers see which
 * status comes back.) */
#define nd_fail(err, status, ...) \
  nd_status_after((status), nd_error_write((err), (status), __VA_ARGS__))

/* Writes a message; nd_fail calls it. */
ND_API int nd_error_write(nd_error *err, nd_status status, const char *format, ...) ND_PRINTF(3, 4);

static inline nd_status nd_status_after(nd_status status, int written) {
  (void)written;
  return status;
}

/* Reports that an allocation of `bytes` failed. */
static inline nd_status nd_fail_memory(nd_error *err, size_t bytes) {
  return nd_fail(err, ND_ERR_MEMORY, "out of memory: %zu bytes were refused", bytes);
}

/* Copies a saved error; `err` may be NULL. */
static inline void nd_error_pass(nd_error *err, const nd_error *from) {
  if (err) *err = *from;
}

/* Returns a short English name of a status: "usage", "memory" … */
ND_API const char *nd_status_name(nd_status status);

#ifdef __cplusplus
}
#endif

#endif
