/* The decompressed bytes of a file.
 *
 * The compression (none, gzip or zstd, with any number of members; never nested) is
 * detected from the first bytes, not from the name.  A stream is a window that slides
 * forward: peek makes bytes visible, skip moves past them.  Views are valid until the next
 * peek or close.
 *
 * Damage is part of the interface.  Bytes decoded before the damage are delivered first;
 * the peek that needs later bytes returns ND_ERR_DATA (damaged, truncated) or ND_ERR_IO,
 * with the file and the compressed offset in the message, and so does every later peek.
 * `out` then still shows the remaining good bytes.  The number of good bytes before damage
 * in a regular file does not depend on how it is read, so two passes that recover from
 * damage read the same bytes at the same offsets.
 *
 * gzip: every member's CRC and length are checked; zero bytes between and after
 * members are padding, any other bytes there are damage.  zstd: checksums are
 * checked where a frame has one, skippable frames are skipped, and a frame that
 * needs more than 128 MiB of window (above --long=27) is refused. */
#ifndef ND_CODEC_STREAM_H
#define ND_CODEC_STREAM_H

#include "base/mem.h"
#include "neardup/run.h"

typedef enum nd_packing { ND_PACKING_NONE = 0, ND_PACKING_GZIP, ND_PACKING_ZSTD } nd_packing;

typedef struct nd_stream nd_stream;

/* Opens a file; "-" is standard input.  A directory, a missing or an unreadable file is
 * ND_ERR_IO; an empty file is an empty uncompressed stream. */
nd_status nd_stream_open(nd_stream **out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Likewise, but polls the hooks (unless NULL) before reads and while waiting for a pipe. */
nd_status nd_stream_open_polled(nd_stream **out, const char *path, const nd_hooks *hooks,
                                nd_error *err) ND_MUST_CHECK;

/* Opens a stream over bytes in memory, compressed or not (HTTP bodies, tests).  The bytes
 * are borrowed. */
nd_status nd_stream_open_memory(nd_stream **out, nd_str bytes, const char *name,
                                nd_error *err) ND_MUST_CHECK;

/* Makes at least `want` bytes visible at the current position, fewer only at the end of
 * the stream.  *out has all buffered bytes, possibly more than `want`. */
nd_status nd_stream_peek(nd_str *out, nd_stream *s, size_t want, nd_error *err) ND_MUST_CHECK;

/* Moves past n bytes, at most those that the last peek made visible. */
void nd_stream_skip(nd_stream *s, size_t n);

/* Moves n bytes forward, visible or not, in constant memory; without reading in an
 * uncompressed file.  Returns ND_ERR_DATA if the stream ends earlier (it is then at its
 * end), or the failure of the stream at damage (it is then at the damage). */
nd_status nd_stream_advance(nd_stream *s, uint64_t n, nd_error *err) ND_MUST_CHECK;

/* Recovers from damage: after a peek has failed with ND_ERR_DATA, searches for the next gzip
 * member or zstd frame that can be decompressed.  If *found, its bytes follow at the position
 * where the good ones ended (bytes still visible are skipped); the gap in the data does not
 * count in positions.  Otherwise no readable data follows, and the failure persists.  Takes
 * linear time over all calls and constant memory.  A pipe is searched from where the damage was
 * detected, a file from the start of the damaged member. */
nd_status nd_stream_recover(bool *found, nd_stream *s, nd_error *err) ND_MUST_CHECK;

/* Reads *got of the `room` bytes that are `distance` bytes ahead, without moving; fewer only
 * at the end of the file.  Returns false and *got = 0 in a compressed file or a pipe, where
 * all bytes between would have to be read. */
bool nd_stream_glimpse(size_t *got, nd_stream *s, uint64_t distance, char *to, size_t room);

/* Returns the position in the decompressed bytes. */
uint64_t nd_stream_offset(const nd_stream *s);

/* Returns the number of bytes consumed of the file (for progress). */
uint64_t nd_stream_packed_offset(const nd_stream *s);

/* Returns the number of gzip members or zstd frames started so far, including buffered ones;
 * 0 for an uncompressed stream. */
uint64_t nd_stream_members(const nd_stream *s);

nd_packing nd_stream_packing(const nd_stream *s);
const char *nd_stream_name(const nd_stream *s);
void nd_stream_close(nd_stream *s); /* accepts NULL */

#endif
