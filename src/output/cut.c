/* Copying files without some of their parts; see cut.h. */
#include "output/cut.h"

#include "codec/packer.h"
#include "codec/stream.h"

enum { BLOCK = 1 << 20 };

nd_status nd_cut_plain(int in, const char *in_name, int out, const char *out_name, uint64_t begin,
                       uint64_t end, uint64_t out_at, const nd_cut *cuts, size_t n, nd_sum *sum,
                       nd_error *err) {
  nd_buf block = {0};
  nd_status status = nd_buf_reserve(&block, BLOCK, err);
  uint64_t to = out_at, at = begin;
  size_t next = 0;
  while (status == ND_OK && at < end) {
    if (next < n && cuts[next].offset + cuts[next].length <= at) {
      next++;
      continue;
    }
    if (next < n && cuts[next].offset <= at) {
      at = cuts[next].offset + cuts[next].length;
      continue;
    }
    /* Reads a large piece, closes the gaps in memory, and writes it at once. */
    size_t size = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
    status = nd_io_pread_full(in, block.p, size, at, in_name, err);
    if (status != ND_OK) break;
    size_t kept = 0, from = 0;
    while (from < size) {
      while (next < n && cuts[next].offset + cuts[next].length <= at + from) next++;
      uint64_t stop = next < n && cuts[next].offset < at + size ? cuts[next].offset : at + size;
      if (stop > at + from) {
        size_t run = (size_t)(stop - at - from);
        memmove(block.p + kept, block.p + from, run);
        kept += run;
        from += run;
      } else {
        uint64_t after = cuts[next].offset + cuts[next].length;
        from = after - at < size ? (size_t)(after - at) : size;
      }
    }
    status = nd_io_pwrite_full(out, block.p, kept, to, out_name, err);
    if (sum) nd_sum_add(sum, block.p, kept);
    to += kept;
    at += size;
  }
  nd_buf_clear(&block);
  return status;
}

struct nd_cutter {
  nd_stream *in;
  nd_packer *out;
};

nd_status nd_cutter_open(nd_cutter **out, const char *in, const char *to, bool records,
                         unsigned threads, nd_error *err) {
  nd_cutter *c = nd_calloc(1, sizeof *c);
  if (!c) return nd_fail_memory(err, sizeof *c);
  nd_status status = nd_stream_open(&c->in, in, err);
  if (status == ND_OK) status = nd_packer_open(&c->out, to, nd_stream_packing(c->in), records, err);
  if (status != ND_OK) {
    nd_cutter_abandon(c);
    return status;
  }
  nd_packer_threads(c->out, threads);
  *out = c;
  return ND_OK;
}

void nd_cutter_abandon(nd_cutter *c) {
  if (!c) return;
  nd_stream_close(c->in);
  nd_packer_abandon(c->out);
  nd_free(c);
}

/* Advances to `to`, copying or skipping; *ended if the input ends before. */
static nd_status go_on(nd_cutter *c, uint64_t to, bool copy, bool *ended, nd_error *err) {
  *ended = false;
  for (uint64_t at; (at = nd_stream_offset(c->in)) < to;) {
    nd_str seen;
    size_t want = to - at < BLOCK ? (size_t)(to - at) : BLOCK;
    nd_status status = nd_stream_peek(&seen, c->in, want, err);
    if (status != ND_OK && status != ND_ERR_DATA) return status;
    if (seen.n > to - at) seen.n = (size_t)(to - at);
    if (seen.n == 0) {
      /* Recovers like the reader of the records did, so that offsets after damage agree. */
      bool found = false;
      if (status == ND_ERR_DATA) ND_TRY(nd_stream_recover(&found, c->in, err));
      if (found) continue;
      *ended = true;
      return ND_OK;
    }
    if (copy) ND_TRY(nd_packer_put(c->out, seen.p, seen.n, err));
    nd_stream_skip(c->in, seen.n);
  }
  return ND_OK;
}

nd_status nd_cutter_apply(nd_cutter *c, const nd_cut *cuts, size_t cut_n, const uint64_t *splits,
                          size_t split_n, nd_error *err) {
  size_t i = 0, j = 0;
  bool ended = false;
  while (!ended && (i < cut_n || j < split_n)) {
    if (i == cut_n || (j < split_n && splits[j] <= cuts[i].offset)) {
      /* A split inside a part that was left out has been passed already. */
      if (splits[j] >= nd_stream_offset(c->in)) {
        ND_TRY(go_on(c, splits[j], true, &ended, err));
        ND_TRY(nd_packer_member_end(c->out, err));
      }
      j++;
      continue;
    }
    ND_TRY(go_on(c, cuts[i].offset, true, &ended, err));
    if (!ended) ND_TRY(go_on(c, cuts[i].offset + cuts[i].length, false, &ended, err));
    i++;
  }
  return ND_OK;
}

nd_status nd_cutter_close(uint64_t *bytes, nd_cutter *c, nd_error *err) {
  bool ended;
  nd_status status = go_on(c, UINT64_MAX, true, &ended, err);
  if (status != ND_OK) {
    nd_cutter_abandon(c);
    return status;
  }
  *bytes = nd_packer_offset(c->out);
  nd_stream_close(c->in);
  status = nd_packer_close(c->out, false, err);
  nd_free(c);
  return status;
}
