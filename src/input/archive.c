/* Framing of archives, for WARC and ARC (archive.h).
 *
 * A frame is blank bytes (OTHER), bytes where no record starts (REJECT), or one
 * record.  A record includes the line ends after it, so frames tile the stream and
 * a copied frame is a valid part of an archive. */
#include "input/archive.h"

#include <ctype.h>

enum {
  FIRST_PEEK = 4096,
  STRIDE = 1 << 16, /* of skipping */
  NEAR = 4096,      /* how far a stated length may be wrong */
  SHORT = 64,       /* and how far for the last record */
  BACK = 1 << 20    /* how far back a truncated large record in a compressed file is noticed */
};
/* A length above this is damage, not a large record. */
#define ABSURD_LENGTH ((uint64_t)1 << 40)

/* Peeks at most `want` bytes, so that frames do not depend on the buffering of a stream.  Sets
 * *whole if no bytes follow. */
static nd_status look(nd_str *v, bool *whole, nd_stream *s, size_t want, nd_error *err) {
  *v = (nd_str){"", 0};
  nd_status status = nd_stream_peek(v, s, want, err);
  *whole = v->n < want;
  if (v->n > want) v->n = want;
  if (v->n == 0) v->p = "";
  return *whole ? status : ND_OK;
}

static bool is_blank(char c) {
  return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

nd_str nd_archive_trim(nd_str s) {
  while (s.n && is_blank(s.p[0])) s.p++, s.n--;
  while (s.n && is_blank(s.p[s.n - 1])) s.n--;
  return s;
}

bool nd_archive_begins(nd_str s, const char *lower) {
  size_t n = strlen(lower);
  if (s.n < n) return false;
  for (size_t i = 0; i < n; i++) {
    if (tolower((unsigned char)s.p[i]) != lower[i]) return false;
  }
  return true;
}

bool nd_archive_is(nd_str s, const char *lower) {
  return s.n == strlen(lower) && nd_archive_begins(s, lower);
}

const char *nd_archive_length(uint64_t *out, nd_str digits, const char *const names[4]) {
  if (digits.n == 0) return names[0];
  bool negative = digits.p[0] == '-';
  uint64_t value = 0;
  bool large = false;
  if (negative && digits.n == 1) return names[2];
  for (size_t i = negative; i < digits.n; i++) {
    if (digits.p[i] < '0' || digits.p[i] > '9') return names[2];
    value = value * 10 + (uint64_t)(digits.p[i] - '0');
    if (value > ABSURD_LENGTH) large = true, value = ABSURD_LENGTH;
  }
  if (negative) return names[1];
  if (large) return names[3];
  *out = value;
  return NULL;
}

nd_str nd_archive_block(nd_str raw, const nd_archive_head *head) {
  nd_str block = {raw.p + head->size, raw.n - head->size};
  if (head->length <= block.n) {
    size_t i = (size_t)head->length;
    while (i < block.n && is_blank(block.p[i])) i++;
    if (i == block.n) return (nd_str){block.p, (size_t)head->length};
  }
  while (block.n && (block.p[block.n - 1] == '\n' || block.p[block.n - 1] == '\r')) block.n--;
  return block;
}

/* The first record that starts at a line in [from, to); `to` if there is none. */
static size_t find_start(const nd_archive *a, nd_str v, size_t from, size_t to, bool whole) {
  while (from < to) {
    if (a->starts((nd_str){v.p + from, v.n - from}, whole) == ND_SEEN_YES) return from;
    const char *end = memchr(v.p + from, '\n', to - from);
    if (!end) break;
    from = (size_t)(end - v.p) + 1;
  }
  return to;
}

/* Moves past `n` bytes; *moved < n only where the stream ends or fails. */
static nd_status skip_bytes(uint64_t *moved, nd_stream *s, uint64_t n, nd_error *err) {
  *moved = 0;
  while (*moved < n) {
    nd_str v;
    bool whole;
    uint64_t left = n - *moved;
    nd_status status = look(&v, &whole, s, left < STRIDE ? (size_t)left : STRIDE, err);
    nd_stream_skip(s, v.n);
    *moved += v.n;
    if (status != ND_OK || whole) return status;
  }
  return ND_OK;
}

/* Tests whether the line ends that must follow a block come directly before v.p + at. */
static bool after_separators(const nd_archive *a, nd_str v, size_t at) {
  for (unsigned k = 0; k < a->separators; k++) {
    if (at == 0 || v.p[at - 1] != '\n') return false;
    at -= at > 1 && v.p[at - 2] == '\r' ? 2 : 1;
  }
  return true;
}

/* Returns the first offset in [from, to) of a record with a valid head after the end of another
 * record, or `to`. */
static size_t find_record(const nd_archive *a, nd_str v, size_t from, size_t to) {
  for (; from < to; from++) {
    const char *end = memchr(v.p + from, '\n', to - from);
    if (!end) break;
    from = (size_t)(end - v.p);
    const nd_str line = {end + 1, v.n - from - 1};
    nd_archive_head head;
    const char *bad;
    if (from + 1 < to && after_separators(a, v, from + 1) &&
        a->starts(line, false) == ND_SEEN_YES && a->head(&head, &bad, line, false) == ND_SEEN_YES)
      return from + 1;
  }
  return to;
}

/* Skips `n` bytes of a record of uncertain length, but stops at the start of another record and
 * sets *found.  Windows overlap, so that line ends across two of them are seen. */
static nd_status skip_unsure(uint64_t *moved, bool *found, const nd_archive *a, nd_stream *s,
                             uint64_t n, nd_error *err) {
  enum { AGAIN = 4 };
  *moved = 0;
  *found = false;
  while (*moved < n) {
    nd_str v;
    bool whole;
    const size_t left = n - *moved < STRIDE ? (size_t)(n - *moved) : STRIDE;
    nd_status status = look(&v, &whole, s, left + FIRST_PEEK, err);
    const size_t room = v.n < left ? v.n : left, at = find_record(a, v, 0, room);
    *found = at < room;
    const bool last = *found || room < left || *moved + left == n;
    const size_t step = last ? at : room - AGAIN;
    nd_stream_skip(s, step);
    *moved += step;
    if (*found) return ND_OK;
    if (room < left) return status;
  }
  return ND_OK;
}

/* Skips to the next line where a record starts, at least one line, or to the end.  If the stream
 * fails, the next frame reports it. */
static void resync(const nd_archive *a, nd_stream *s) {
  size_t want = STRIDE + 2 * a->first_line;
  for (;;) {
    nd_str v;
    bool whole, more = false;
    size_t at = 0;
    if (look(&v, &whole, s, want, NULL) != ND_OK) whole = true;
    while (!more) {
      const char *end = memchr(v.p + at, '\n', v.n - at);
      if (!end) break;
      size_t line = (size_t)(end - v.p) + 1;
      nd_seen seen = a->starts((nd_str){v.p + line, v.n - line}, whole);
      if (seen == ND_SEEN_YES) {
        nd_stream_skip(s, line);
        return;
      }
      /* If undecided, stay at the line end and try again with more bytes. */
      more = seen == ND_SEEN_MORE;
      at = more ? line - 1 : line;
    }
    nd_stream_skip(s, more ? at : v.n);
    if (whole) return;
  }
}

static nd_status reject(nd_frame *out, const nd_archive *a, nd_stream *s) {
  resync(a, s);
  out->kind = ND_FRAME_REJECT;
  out->length = nd_stream_offset(s) - out->offset;
  return ND_OK;
}

/* Ends a frame when the stream fails inside a record, whose rest is lost. */
static nd_status lost(nd_frame *out, nd_stream *s, nd_str v, nd_status status) {
  nd_stream_skip(s, v.n);
  out->kind = ND_FRAME_REJECT;
  out->length = nd_stream_offset(s) - out->offset;
  return status;
}

/* Tests whether the last record is complete and only its length slightly too large: then the blank
 * line after it is present.  (No head is shorter than four bytes.) */
static bool ends_well(nd_str v, size_t stated) {
  if (stated - v.n > SHORT) return false;
  return memcmp(v.p + v.n - 2, "\n\n", 2) == 0 || memcmp(v.p + v.n - 4, "\r\n\r\n", 4) == 0;
}

/* Returns the end of a record, including the line ends after it.  Its stated end is v.p + stated;
 * it cannot end before `least`. */
static size_t settle(const nd_archive *a, nd_str v, size_t stated, size_t least, bool whole) {
  size_t next = stated;
  unsigned lines = 0;
  while (next < v.n && is_blank(v.p[next])) lines += v.p[next++] == '\n';
  if (next == v.n) return next;
  bool here = a->starts((nd_str){v.p + next, v.n - next}, whole) == ND_SEEN_YES;
  if (here && v.p[next - 1] == '\n') return next;
  /* The stated length may be too large: search before the stated end. */
  size_t found = find_start(a, v, least, stated, whole);
  if (found < stated) return found;
  if (here || lines >= a->separators) return next; /* correct, and garbage follows */
  /* Or it is too small: search after the stated end. */
  size_t to = v.n - stated > NEAR ? stated + NEAR : v.n;
  const char *line = memchr(v.p + stated, '\n', to - stated);
  if (line) {
    size_t first = (size_t)(line - v.p) + 1;
    found = find_start(a, v, first, to, whole);
    if (found < to) return found;
  }
  return next;
}

/* Tests the stated length of a record that is too large for memory: it is wrong if neither the end
 * of the file nor a record is there.  Only an uncompressed file can answer this without reading the
 * record. */
static nd_seen right_length(const nd_archive *a, nd_stream *s, uint64_t total) {
  char bytes[NEAR];
  size_t got, at = 1;
  if (!nd_stream_glimpse(&got, s, total - 1, bytes, sizeof bytes)) return ND_SEEN_MORE;
  if (got == 0) return ND_SEEN_NO; /* the file ends before */
  while (at < got && is_blank(bytes[at])) at++;
  if (at == got) return ND_SEEN_YES;
  const nd_str next = {bytes + at, got - at};
  return a->starts(next, got < sizeof bytes) == ND_SEEN_NO ? ND_SEEN_NO : ND_SEEN_YES;
}

nd_status nd_archive_frame(nd_frame *out, nd_stream *s, const nd_archive *a,
                           const nd_input_options *o, nd_error *err) {
  *out = (nd_frame){.kind = ND_FRAME_END, .offset = nd_stream_offset(s)};
  nd_str v;
  bool whole;
  size_t want = FIRST_PEEK;
  nd_status status = look(&v, &whole, s, want, err);
  if (v.n == 0) return status;

  size_t blank = out->offset == 0 && v.n >= 3 && !memcmp(v.p, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (blank < v.n && is_blank(v.p[blank])) blank++;
  if (blank) {
    nd_stream_skip(s, blank);
    out->kind = ND_FRAME_OTHER;
    out->length = blank;
    return ND_OK;
  }

  nd_archive_head head = {0};
  const char *bad = NULL;
  for (;;) {
    nd_seen seen = a->starts(v, whole);
    if (seen == ND_SEEN_NO) {
      nd_fail(err, ND_ERR_DATA, "here begins no %s", a->noun);
      return reject(out, a, s);
    }
    if (seen == ND_SEEN_YES) seen = a->head(&head, &bad, v, whole);
    if (seen == ND_SEEN_YES) break;
    if (seen == ND_SEEN_NO) {
      nd_fail(err, ND_ERR_DATA, "the %s %s", a->noun, bad);
      return reject(out, a, s);
    }
    if (whole && status != ND_OK) return lost(out, s, v, status);
    if (whole) {
      nd_fail(err, ND_ERR_DATA, "the %s is truncated", a->noun);
      return reject(out, a, s);
    }
    if (want >= a->max_head) {
      nd_fail(err, ND_ERR_DATA, "the head of the %s does not end within %zu bytes", a->noun,
              a->max_head);
      return reject(out, a, s);
    }
    want *= 4; /* max_head is FIRST_PEEK times a power of four */
    status = look(&v, &whole, s, want, err);
  }

  uint64_t total = head.size + head.length; /* no overflow: lengths are not absurd */
  uint64_t moved = 0;
  /* untaken: more bytes than can be addressed */
  bool large = total > o->max_document || total > SIZE_MAX / 4;
  const nd_seen right = large ? right_length(a, s, total) : ND_SEEN_MORE;
  if (right == ND_SEEN_NO) {
    nd_fail(err, ND_ERR_DATA, "the %s is truncated, or its length is wrong", a->noun);
    return reject(out, a, s);
  }
  if (large && total > BACK) {
    bool found = false;
    status = right == ND_SEEN_YES ? skip_bytes(&moved, s, total - BACK, err)
                                  : skip_unsure(&moved, &found, a, s, total - BACK, err);
    if (found) {
      nd_fail(err, ND_ERR_DATA, "the %s is truncated, or its length is wrong", a->noun);
      out->kind = ND_FRAME_REJECT;
      out->length = moved;
      return ND_OK;
    }
    if (status != ND_OK) return lost(out, s, (nd_str){NULL, 0}, status);
    if (moved < total - BACK) {
      nd_fail(err, ND_ERR_DATA, "the %s is truncated", a->noun);
      out->kind = ND_FRAME_REJECT;
      out->length = moved;
      return ND_OK;
    }
  }
  size_t rest = (size_t)(total - moved);
  status = look(&v, &whole, s, rest + NEAR + a->first_line, err);
  size_t least = moved < head.size ? (size_t)(head.size - moved) : 0;
  if (v.n < rest && status != ND_OK) {
    /* The stream is damaged before the stated end.  If the length is wrong, complete records may
     * come before the damage. */
    const size_t next = find_record(a, v, least, v.n);
    if (next == v.n) return lost(out, s, v, status);
    nd_stream_skip(s, next);
    out->length = nd_stream_offset(s) - out->offset;
    out->kind = ND_FRAME_REJECT;
    nd_fail(err, ND_ERR_DATA, "the %s is truncated, or its length is wrong", a->noun);
    return ND_OK;
  }
  if (v.n < rest &&
      !(v.n > least && ends_well(v, rest) && find_start(a, v, least, v.n, true) == v.n)) {
    nd_fail(err, ND_ERR_DATA, "the %s is truncated", a->noun);
    return reject(out, a, s);
  }
  size_t end = v.n < rest ? v.n : settle(a, v, rest, least, whole);
  nd_stream_skip(s, end);
  out->length = nd_stream_offset(s) - out->offset;
  out->kind = ND_FRAME_REJECT;
  if (end < rest && rest - end > NEAR) {
    nd_fail(err, ND_ERR_DATA, "the %s is truncated: another one begins inside it", a->noun);
  } else if (!head.document) {
    out->kind = ND_FRAME_OTHER;
  } else if (large) {
    nd_fail(err, ND_ERR_LIMIT, "the %s is longer than --max-document", a->noun);
  } else {
    out->kind = ND_FRAME_DOCUMENT;
    out->raw = (nd_str){v.p, end};
  }
  return ND_OK;
}
