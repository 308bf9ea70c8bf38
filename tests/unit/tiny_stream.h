/* A stream for tests of framing: archive.c compiled once more over a window
 * that shows exactly what was asked for (in fresh memory, so that a stale view
 * is found), or everything, and that can fail at a chosen byte. */
#ifndef TINY_STREAM_H
#define TINY_STREAM_H

#include "input/archive.h"

typedef struct tiny {
  nd_str bytes;
  size_t at;
  size_t shown;
  bool generous;    /* show everything that is left, without a copy */
  size_t fail_from; /* bytes from here on cannot be read; 0: all can */
  size_t most;      /* the largest peek */
  char *window;
} tiny;

/* All frames of some bytes, decoded too; tiling and progress are checked. */
typedef struct frames {
  nd_frame *list;
  nd_str *bodies; /* copies, of documents that decode */
  char (*why)[80];
  size_t n, cap;
  size_t documents, others, rejects;
  nd_status end; /* how the stream ended */
  size_t most;
} frames;

/* Every fixture file of this format through the real stream. */
typedef struct fixture {
  const char *name; /* last part of the path */
  int documents;    /* of response, resource and conversion records; -1: any */
  int rejects;
} fixture;

void frames_clear(frames *f);

frames read_all(const nd_archive *a, const nd_format *format, tiny t, uint64_t max);

void assert_same_frames(const frames *a, const frames *b);

nd_buf mutate(nd_str from, uint64_t *seed);

uint64_t tiny_seed(void);

/* Everything that must hold for any bytes: frames tile (read_all checks),
 * and windows of any size give the same ones. */
void check_any(const nd_archive *a, const nd_format *format, nd_str bytes, uint64_t max);

void read_fixtures(const nd_format *format, const fixture *known, size_t known_n);

#endif
