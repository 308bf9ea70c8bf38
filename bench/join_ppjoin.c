/* PPJoin as in the paper (Xiao et al. 2008, Algorithms 1 and 2, lemma 3), plain and
 * faithful, over flat arrays: what our own join is measured against.
 *
 * Lists of the index lie in one array (their lengths are counted before), the map A is
 * an array with a list of what is set in it, and an inverted list forgets records that
 * are too small for all that follow: each the fastest plain way to do what the paper
 * says. */
#include "join_ppjoin.h"

#include <stdlib.h>
#include <string.h>

typedef struct posting {
  uint32_t record, position;
} posting;

static uint64_t ceiling(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

static void *grab(size_t bytes) {
  void *p = calloc(1, bytes + 1);
  if (!p) abort();
  return p;
}

static uint32_t size_of(const plain_sets *s, uint32_t r) {
  return (uint32_t)(s->begin[r + 1] - s->begin[r]);
}

static uint32_t probe_prefix(uint32_t size, uint64_t num, uint64_t den) {
  return size ? (uint32_t)(size - ceiling(num * size, den) + 1) : 0;
}

static uint32_t index_prefix(uint32_t size, uint64_t num, uint64_t den) {
  return size ? (uint32_t)(size - ceiling(2 * num * size, num + den) + 1) : 0;
}

/* have + |a ∩ b| */
static uint64_t intersect(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                          const uint32_t *b_end, uint64_t have) {
  while (a < a_end && b < b_end) {
    if (*a == *b) {
      have++;
      a++;
      b++;
    } else if (*a < *b) {
      a++;
    } else {
      b++;
    }
  }
  return have;
}

uint64_t plain_ppjoin(const plain_sets *s, uint64_t num, uint64_t den, uint64_t *verified) {
  uint64_t *start = grab(((size_t)s->vocabulary + 1) * sizeof *start), entries = 0, pairs = 0;
  for (uint32_t x = 0; x < s->n; x++) {
    uint32_t prefix = index_prefix(size_of(s, x), num, den);
    for (uint32_t i = 0; i < prefix; i++) start[s->token[s->begin[x] + i] + 1]++;
    entries += prefix;
  }
  for (uint32_t w = 0; w < s->vocabulary; w++) start[w + 1] += start[w];
  posting *list = malloc(entries * sizeof *list + 1);
  uint64_t *head = grab(((size_t)s->vocabulary + 1) * sizeof *head);
  uint64_t *tail = grab(((size_t)s->vocabulary + 1) * sizeof *tail);
  memcpy(head, start, (size_t)s->vocabulary * sizeof *head);
  memcpy(tail, start, (size_t)s->vocabulary * sizeof *tail);
  int32_t *overlap = grab(((size_t)s->n + 1) * sizeof *overlap);
  uint32_t *candidate = grab(((size_t)s->n + 1) * sizeof *candidate);
  if (!list) abort();
  *verified = 0;
  for (uint32_t x = 0; x < s->n; x++) {
    const uint32_t *tx = s->token + s->begin[x], size = size_of(s, x);
    const uint32_t probe = probe_prefix(size, num, den), index = index_prefix(size, num, den);
    const uint64_t least = ceiling(num * size, den);
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < probe; i++) {
      uint32_t w = tx[i];
      while (head[w] < tail[w] && size_of(s, list[head[w]].record) < least) head[w]++;
      for (uint64_t k = head[w]; k < tail[w]; k++) {
        uint32_t y = list[k].record, j = list[k].position, size_y = size_of(s, y);
        if (overlap[y] < 0) continue;
        uint64_t alpha = ceiling(num * (size + size_y), num + den);
        uint32_t rest = size - i < size_y - j ? size - i : size_y - j;
        if (overlap[y] == 0) candidate[candidates++] = y;
        overlap[y] = (uint64_t)overlap[y] + rest >= alpha ? overlap[y] + 1 : INT32_MIN;
      }
      if (i < index) list[tail[w]++] = (posting){x, i};
    }
    for (uint32_t k = 0; k < candidates; k++) {
      uint32_t y = candidate[k], have = (uint32_t)overlap[y], size_y = size_of(s, y);
      int dropped = overlap[y] < 0;
      overlap[y] = 0;
      if (dropped) continue;
      ++*verified;
      const uint32_t *ty = s->token + s->begin[y], py = index_prefix(size_y, num, den);
      uint64_t alpha = ceiling(num * (size + size_y), num + den), common = 0;
      if (tx[probe - 1] < ty[py - 1]) {
        if (have + size - probe >= alpha) {
          common = intersect(tx + probe, tx + size, ty + have, ty + size_y, have);
        }
      } else if (have + size_y - py >= alpha) {
        common = intersect(tx + have, tx + size, ty + py, ty + size_y, have);
      }
      pairs += common >= alpha;
    }
  }
  free(start);
  free(list);
  free(head);
  free(tail);
  free(overlap);
  free(candidate);
  return pairs;
}
