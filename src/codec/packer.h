/* Writes a file, uncompressed or compressed with gzip or zstd.
 *
 * The output depends only on the bytes, on the ends of members, and on the version of the
 * compression library: not on the sizes of the puts, the time, the file name or the
 * machine.  After a failure every later call returns the same error. */
#ifndef ND_CODEC_PACKER_H
#define ND_CODEC_PACKER_H

#include "base/mem.h"
#include "codec/stream.h" /* nd_packing */

typedef struct nd_packer nd_packer;

/* Creates or truncates the file.  gzip compresses at level 1, into members that end where
 * the caller ends them (with `records`) or into members of 256 KiB (see gzip_team.h); zstd
 * compresses at level 3, with a checksum. */
nd_status nd_packer_open(nd_packer **out, const char *path, nd_packing packing, bool records,
                         nd_error *err) ND_MUST_CHECK;

/* Sets the number of threads for gzip (default 1); the output is the same. */
void nd_packer_threads(nd_packer *p, unsigned threads);

nd_status nd_packer_put(nd_packer *p, const void *bytes, size_t n, nd_error *err) ND_MUST_CHECK;

/* Appends `length` bytes at `offset` of another file, like a put. */
nd_status nd_packer_copy(nd_packer *p, int in, uint64_t offset, uint64_t length,
                         const char *in_name, nd_error *err) ND_MUST_CHECK;

/* Ends a gzip member or zstd frame, so that later bytes can be decompressed independently
 * (each WARC record is a member).  Writes no empty member; does nothing in an uncompressed
 * file. */
nd_status nd_packer_member_end(nd_packer *p, nd_error *err) ND_MUST_CHECK;

/* Returns the number of bytes put, before compression. */
uint64_t nd_packer_offset(const nd_packer *p);

/* Ends the last member, writes everything, syncs if `sync`, closes and frees, also on
 * failure.  A compressed file without bytes gets one empty member, because an empty file
 * is not a valid gzip or zstd file. */
nd_status nd_packer_close(nd_packer *p, bool sync, nd_error *err) ND_MUST_CHECK;

/* Removes the unfinished file and frees, on failure paths.  Accepts NULL. */
void nd_packer_abandon(nd_packer *p);

#endif
