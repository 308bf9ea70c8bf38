/* Writes a file in a container: plain, gzip or zstd.
 *
 * The output depends only on the bytes, on where members end, and on the
 * version of the packing library: not on how the bytes were cut into puts, nor
 * on time, name or machine.  After a failure every later call returns it again. */
#ifndef ND_CODEC_PACKER_H
#define ND_CODEC_PACKER_H

#include "base/mem.h"
#include "codec/stream.h" /* nd_packing */

typedef struct nd_packer nd_packer;

/* Makes or empties the file.  gzip packs at level 1, with `records` in members
 * that end where they are asked to, else in members of 256 KiB (see
 * gzip_team.h); zstd at level 3 with a checksum. */
nd_status nd_packer_open(nd_packer **out, const char *path, nd_packing packing, bool records,
                         nd_error *err) ND_MUST_CHECK;

/* gzip may use several threads (1 at first); the bytes stay the same. */
void nd_packer_threads(nd_packer *p, unsigned threads);

nd_status nd_packer_put(nd_packer *p, const void *bytes, size_t n, nd_error *err) ND_MUST_CHECK;

/* Appends `length` bytes at `offset` of another file, packed like put ones. */
nd_status nd_packer_copy(nd_packer *p, int in, uint64_t offset, uint64_t length,
                         const char *in_name, nd_error *err) ND_MUST_CHECK;

/* Ends a gzip member or a zstd frame, so that what follows can be read without
 * what came before (each WARC record is a member of its own).  No empty member
 * is made; nothing happens in a plain file. */
nd_status nd_packer_member_end(nd_packer *p, nd_error *err) ND_MUST_CHECK;

/* Bytes put, before packing. */
uint64_t nd_packer_offset(const nd_packer *p);

/* Ends the last member, writes everything, syncs when `sync`, closes and frees;
 * also on failure.  A packed file without bytes gets one empty member, as an
 * empty file is no valid gzip or zstd file. */
nd_status nd_packer_close(nd_packer *p, bool sync, nd_error *err) ND_MUST_CHECK;

/* For failure paths: frees and removes the unfinished file.  NULL is allowed. */
void nd_packer_abandon(nd_packer *p);

#endif
