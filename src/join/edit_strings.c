/* Distinct strings as symbols, by ascending length; see edit_work.h.
 *
 * An edit distance only depends on the equality of code points, so they may be
 * renumbered: up to 256 distinct ones become bytes. */
#include "base/hash.h"
#include "base/radix.h"
#include "base/threads.h"
#include "join/edit_work.h"

enum { CODES = 0x110000 + 256, CHUNK = 4096 };

void nd_edit_strings_clear(nd_edit_strings *s) {
  nd_free(s->length);
  nd_free(s->at);
  nd_free(s->member_begin);
  nd_free(s->member);
  nd_free(s->side);
  nd_free(s->sketch);
  nd_free(s->symbols);
  *s = (nd_edit_strings){0};
}

static nd_status make(void *p, size_t n, size_t size, nd_error *err) {
  /* untaken: more bytes than can be addressed */
  void *fresh = n < SIZE_MAX / 2 / size ? nd_malloc(n * size + ND_SLACK) : NULL;
  if (!fresh) return nd_fail_memory(err, n * size);
  memcpy(p, &fresh, sizeof fresh);
  return ND_OK;
}

static nd_str string_of(nd_edit_input in, uint64_t i) {
  return (nd_str){in.bytes + in.begin[i], in.begin[i + 1] - in.begin[i]};
}

static bool is_ascii(nd_edit_input in) {
  unsigned char seen = 0;
  for (uint64_t i = in.begin[0]; i < in.begin[in.n]; i++) seen |= (unsigned char)in.bytes[i];
  return seen < 0x80;
}

/* Decodes all strings; at[i] is the offset of the symbols of string i, at[n] their number. */
static nd_status decode(nd_edit_strings *out, uint64_t *at, nd_edit_input in, nd_error *err) {
  uint64_t total = in.begin[in.n] - in.begin[0], longest = 0;
  size_t slack = 2 * ND_EDIT_SLACK;
  if (is_ascii(in)) {
    ND_TRY(make(&out->symbols, total + slack, 1, err));
    memset(out->symbols, 0, ND_EDIT_SLACK);
    if (total) memcpy(out->symbols + ND_EDIT_SLACK, in.bytes + in.begin[0], total);
    memset(out->symbols + ND_EDIT_SLACK + total, 0, ND_EDIT_SLACK);
    for (uint64_t i = 0; i <= in.n; i++) at[i] = in.begin[i] - in.begin[0];
    return ND_OK;
  }
  for (uint64_t i = 0; i < in.n; i++) {
    if (in.begin[i + 1] - in.begin[i] > longest) longest = in.begin[i + 1] - in.begin[i];
  }
  uint32_t *one = NULL, *code = NULL, codes = 0;
  nd_status status;
  ND_TRY_GOTO(make(&one, longest, sizeof *one, err), done);
  code = nd_calloc(CODES, sizeof *code); /* 0: not seen */
  if (!code) {
    status = nd_fail_memory(err, CODES * sizeof *code);
    goto done;
  }
  at[0] = 0;
  for (uint64_t i = 0; i < in.n; i++) {
    size_t n = nd_edit_decode(one, string_of(in, i));
    at[i + 1] = at[i] + n;
    for (size_t k = 0; k < n; k++) {
      if (!code[one[k]]) code[one[k]] = ++codes;
    }
  }
  out->wide = codes > 256;
  unsigned shift = out->wide ? 2 : 0;
  size_t room = (at[in.n] + slack) << shift;
  ND_TRY_GOTO(make(&out->symbols, room, 1, err), done);
  memset(out->symbols, 0, (size_t)ND_EDIT_SLACK << shift);
  memset(out->symbols + room - ((size_t)ND_EDIT_SLACK << shift), 0, (size_t)ND_EDIT_SLACK << shift);
  for (uint64_t i = 0; i < in.n; i++) {
    size_t n = nd_edit_decode(one, string_of(in, i));
    char *to = out->symbols + ((at[i] + ND_EDIT_SLACK) << shift);
    if (out->wide) {
      if (n) memcpy(to, one, n * sizeof *one);
    } else {
      for (size_t k = 0; k < n; k++) to[k] = (char)(code[one[k]] - 1);
    }
  }
done:
  nd_free(one);
  nd_free(code);
  return status;
}

ND_INLINE nd_edit_sketch sketch_of(const void *text, uint32_t n, bool wide) {
  nd_edit_sketch out = {0, 0};
  for (uint32_t i = 1; i < n; i++) {
    uint32_t a = wide ? ((const uint32_t *)text)[i - 1] : ((const uint8_t *)text)[i - 1];
    uint32_t b = wide ? ((const uint32_t *)text)[i] : ((const uint8_t *)text)[i];
    uint32_t h = a * 0x9e3779b1u + b * 0x85ebca6bu;
    uint64_t bit = (uint64_t)1 << (h >> 26), high = 0 - (uint64_t)(h >> 25 & 1);
    out.high ^= bit & high;
    out.low ^= bit & ~high;
  }
  return out;
}

typedef struct hashing {
  const nd_edit_strings *strings;
  const uint64_t *at;
  nd_item *item;
  uint64_t n;
} hashing;

static nd_status hash_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  hashing *w = context;
  nd_hash_key key = nd_hash_key_of(1);
  unsigned shift = w->strings->wide ? 2 : 0;
  uint64_t last = (job + 1) * CHUNK < w->n ? (job + 1) * CHUNK : w->n;
  for (uint64_t i = job * CHUNK; i < last; i++) {
    const char *p = w->strings->symbols + ((w->at[i] + ND_EDIT_SLACK) << shift);
    w->item[i] = (nd_item){nd_hash_bytes(p, (w->at[i + 1] - w->at[i]) << shift, key), i};
  }
  return ND_OK;
}

static nd_status sketch_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  nd_edit_strings *s = context;
  uint64_t last = (job + 1) * CHUNK < s->n ? (job + 1) * CHUNK : s->n;
  for (uint64_t k = job * CHUNK; k < last; k++) {
    uint32_t u = (uint32_t)k;
    const void *text = nd_edit_text(s, u);
    s->sketch[u] =
        s->wide ? sketch_of(text, s->length[u], true) : sketch_of(text, s->length[u], false);
  }
  return ND_OK;
}

/* Sorts strings by length and hash, so that equal strings are adjacent, in input order.  If hashes
 * collide, equal strings may count as distinct; they are then found like any other pair. */
static nd_status sort_strings(nd_item *item, const nd_edit_strings *s, const uint64_t *at,
                              uint64_t n, unsigned threads, nd_error *err) {
  hashing work = {s, at, item, n};
  ND_TRY(nd_threads_run(threads, (n + CHUNK - 1) / CHUNK, hash_job, &work, err));
  nd_item *spare = NULL;
  ND_TRY(make(&spare, n, sizeof *spare, err));
  nd_radix_items(item, spare, n);
  for (uint64_t i = 0; i < n; i++) item[i].key = at[item[i].value + 1] - at[item[i].value];
  nd_radix_items(item, spare, n);
  nd_free(spare);
  return ND_OK;
}

static nd_status collapse(nd_edit_strings *s, const nd_item *item, const uint64_t *at, uint64_t n,
                          uint32_t split, nd_error *err) {
  ND_TRY(make(&s->length, n, sizeof *s->length, err));
  ND_TRY(make(&s->at, n, sizeof *s->at, err));
  ND_TRY(make(&s->member, n, sizeof *s->member, err));
  ND_TRY(make(&s->member_begin, n + 1, sizeof *s->member_begin, err));
  ND_TRY(make(&s->side, n, sizeof *s->side, err));
  unsigned shift = s->wide ? 2 : 0;
  for (uint64_t k = 0; k < n; k++) {
    uint32_t i = (uint32_t)item[k].value, length = (uint32_t)item[k].key, u = s->n;
    const char *p = s->symbols + ((at[i] + ND_EDIT_SLACK) << shift);
    if (u == 0 || s->length[u - 1] != length ||
        memcmp(nd_edit_text(s, u - 1), p, (size_t)length << shift) != 0) {
      s->length[u] = length;
      s->at[u] = at[i];
      s->member_begin[u] = (uint32_t)k;
      s->side[u] = 0;
      s->points += length;
      s->n++;
    }
    s->side[s->n - 1] |= !split ? 3 : i < split ? 1 : 2;
    s->member[k] = i;
  }
  s->member_begin[s->n] = (uint32_t)n;
  return ND_OK;
}

nd_status nd_edit_strings_build(nd_edit_strings *out, nd_edit_input input, uint32_t split,
                                unsigned threads, nd_error *err) {
  *out = (nd_edit_strings){0};
  if (input.n >= UINT32_MAX) /* untaken: more than 2^31 things */
    return nd_fail(err, ND_ERR_LIMIT, "more than %u strings cannot be joined at once",
                   UINT32_MAX - 1);
  for (uint64_t i = 0; i < input.n; i++) {
    if (input.begin[i + 1] - input.begin[i] >= UINT32_MAX) /* untaken: more than 2^31 things */
      return nd_fail(err, ND_ERR_LIMIT, "a string of 4 GiB or more has no edit distance here");
  }
  uint64_t *at = NULL;
  nd_item *item = NULL;
  nd_status status;
  static const uint64_t none[1] = {0};
  if (input.n == 0) input.begin = none;
  ND_TRY_GOTO(make(&at, input.n + 1, sizeof *at, err), done);
  ND_TRY_GOTO(make(&item, input.n, sizeof *item, err), done);
  ND_TRY_GOTO(decode(out, at, input, err), done);
  ND_TRY_GOTO(sort_strings(item, out, at, input.n, threads, err), done);
  ND_TRY_GOTO(collapse(out, item, at, input.n, split, err), done);
  ND_TRY_GOTO(make(&out->sketch, out->n, sizeof *out->sketch, err), done);
  status = nd_threads_run(threads, ((uint64_t)out->n + CHUNK - 1) / CHUNK, sketch_job, out, err);
done:
  nd_free(at);
  nd_free(item);
  return status;
}

uint32_t nd_edit_first_of_length(const nd_edit_strings *s, uint64_t length) {
  uint32_t low = 0, high = s->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->length[middle] < length)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
