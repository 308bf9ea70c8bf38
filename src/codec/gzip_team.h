/* Parallel gzip compression.
 *
 * The bytes are split into chunks of 256 KiB, each compressed as a member of its own.
 * With `records`, members end only where the caller ends them (a WARC record is a
 * member).  Chunks then have entire members, and a member too large to buffer is
 * streamed.  The file depends only on the bytes and on those ends, never on the number
 * of threads. */
#ifndef ND_CODEC_GZIP_TEAM_H
#define ND_CODEC_GZIP_TEAM_H

#include "base/io.h"
#include "base/mem.h"
#include "base/writer.h"

typedef struct nd_gzip_team nd_gzip_team;

nd_status nd_gzip_team_new(nd_gzip_team **out, nd_writer *to, bool records,
                           nd_error *err) ND_MUST_CHECK;
void nd_gzip_team_free(nd_gzip_team *t);
void nd_gzip_team_threads(nd_gzip_team *t, unsigned threads); /* default 1; call before any put */
nd_status nd_gzip_team_put(nd_gzip_team *t, const char *bytes, size_t n,
                           nd_error *err) ND_MUST_CHECK;
nd_status nd_gzip_team_member_end(nd_gzip_team *t, nd_error *err) ND_MUST_CHECK;
/* Call after the end of the last member: compresses and writes everything.  A file without bytes
 * gets one empty member. */
nd_status nd_gzip_team_finish(nd_gzip_team *t, nd_error *err) ND_MUST_CHECK;

#endif
