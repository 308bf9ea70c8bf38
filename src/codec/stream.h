/* Bytes of a file, decompressed.
 *
 * The container (plain, gzip, zstd; several members one after another; one
 * inside another is not unpacked twice) is recognised by its first bytes, never by the name.
 * A stream is a window that slides forward: peek makes bytes visible, skip
 * moves past them.  Views stay valid until the next peek or close.
 *
 * Damage is part of the interface: bytes decoded before a damaged place are
 * delivered first; the peek that needs bytes beyond it returns ND_ERR_DATA
 * (damaged, truncated) or ND_ERR_IO with a message that names the file and the
 * compressed offset, and keeps returning it.  `out` then still shows what is
 * left of the good bytes.  How many good bytes there are before a damaged place
 * of a regular file does not depend on how it is read, so two readings that
 * recover from damage see the same bytes at the same offsets.
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

/* `path` "-" is standard input.  A directory, a missing or an unreadable file is
 * ND_ERR_IO; an empty file is an empty plain stream. */
nd_status nd_stream_open(nd_stream **out, const char *path, nd_error *err) ND_MUST_CHECK;
/* Likewise, but reads poll the hooks (NULL: none), also while they wait for a pipe's writer. */
nd_status nd_stream_open_polled(nd_stream **out, const char *path, const nd_hooks *hooks,
                                nd_error *err) ND_MUST_CHECK;

/* A stream over plain or packed bytes in memory (tests, fuzzing, HTTP bodies).
 * The bytes are borrowed. */
nd_status nd_stream_open_memory(nd_stream **out, nd_str bytes, const char *name,
                                nd_error *err) ND_MUST_CHECK;

/* Makes at least `want` bytes visible at the current position, fewer only at
 * the end of the stream.  Shows everything that is buffered, which may be more. */
nd_status nd_stream_peek(nd_str *out, nd_stream *s, size_t want, nd_error *err) ND_MUST_CHECK;

/* Moves past n visible bytes, at most what the last peek showed. */
void nd_stream_skip(nd_stream *s, size_t n);

/* Moves n bytes forward, visible or not, with flat memory; at once in a plain
 * file.  ND_ERR_DATA when the stream ends earlier (it is then at its end), the
 * stream's own failure when damage comes first (it is then at the damage). */
nd_status nd_stream_advance(nd_stream *s, uint64_t n, nd_error *err) ND_MUST_CHECK;

/* Goes on behind damage: after a peek has failed with ND_ERR_DATA, looks for the next gzip member
 * or zstd frame that can be unpacked.  With *found its bytes come next, at the position where the
 * good ones ended (what was still visible of those is passed over); a gap in the data is no gap
 * in the positions.  Else nothing that can be read follows, and the failure stays.  Linear time
 * over all calls, flat memory.  A pipe is searched from where the damage was noticed, a file
 * from the beginning of the damaged member. */
nd_status nd_stream_recover(bool *found, nd_stream *s, nd_error *err) ND_MUST_CHECK;

/* Looks at bytes further on, without moving: *got of the `room` bytes that lie
 * `distance` bytes ahead, fewer only at the end of the file.  False, with *got
 * = 0, where that would mean to read all the bytes between: in a packed file or
 * a pipe. */
bool nd_stream_glimpse(size_t *got, nd_stream *s, uint64_t distance, char *to, size_t room);

/* Position in the decompressed bytes. */
uint64_t nd_stream_offset(const nd_stream *s);

/* Bytes consumed of the file itself (for progress). */
uint64_t nd_stream_packed_offset(const nd_stream *s);

/* gzip members or zstd frames begun so far; 0 for a plain stream.  It runs
 * ahead of the position by what is buffered. */
uint64_t nd_stream_members(const nd_stream *s);

nd_packing nd_stream_packing(const nd_stream *s);
const char *nd_stream_name(const nd_stream *s);
void nd_stream_close(nd_stream *s); /* NULL is allowed */

#endif
