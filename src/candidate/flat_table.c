/* Tables in two flat arrays; see flat_table.h. */
#include "candidate/flat_table.h"

#include "base/threads.h"

enum {
  BUCKET_ROWS = 4096,    /* rows per bucket that fit the cache */
  MOST_BITS = 14,        /* with more buckets, filling them thrashes the cache */
  CHUNKS_PER_THREAD = 4, /* threads that finish early take another */
  SMALL = 24             /* rows that insertion sorts faster than a partition */
};

nd_status nd_flat_init(nd_flat *t, uint64_t rows, bool keys, nd_error *err) {
  *t = (nd_flat){.room = rows};
  if (keys) t->key = nd_malloc((rows + 8) * sizeof *t->key);
  t->row = nd_malloc((rows + 8) * sizeof *t->row);
  if ((t->key || !keys) && t->row) return ND_OK;
  nd_flat_clear(t);
  return nd_fail_memory(err, (rows + 8) * (sizeof *t->key + sizeof *t->row));
}

void nd_flat_clear(nd_flat *t) {
  nd_free(t->key);
  nd_free(t->row);
  nd_free(t->start);
  nd_free(t->count);
  *t = (nd_flat){0};
}

typedef struct filling {
  nd_flat *t;
  nd_flat_source source;
  const void *context;
  nd_flat_hash hash;
  uint64_t rows, chunk;
} filling;

/* Counts the rows of a chunk by bucket, or moves them to their buckets. */
ND_INLINE void walk_chunk(const filling *f, uint64_t job, bool put) {
  nd_flat *t = f->t;
  uint64_t *count = t->count + (job << t->bits);
  uint64_t end = (job + 1) * f->chunk < f->rows ? (job + 1) * f->chunk : f->rows;
  uint64_t key[ND_FLAT_BATCH];
  uint32_t row[ND_FLAT_BATCH];
  for (uint64_t at = job * f->chunk; at < end; at += ND_FLAT_BATCH) {
    size_t n = end - at < ND_FLAT_BATCH ? (size_t)(end - at) : ND_FLAT_BATCH;
    n = f->source(key, row, f->context, at, n);
    for (size_t i = 0; i < n; i++) {
      size_t slot = nd_flat_slot(nd_flat_hash_of(f->hash, key[i]), t->bits);
      uint64_t to = count[slot]++;
      if (!put) continue;
      if (t->key) t->key[to] = key[i];
      t->row[to] = row[i];
    }
  }
}

static nd_status count_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  walk_chunk(context, job, false);
  return ND_OK;
}

static nd_status put_job(void *context, unsigned member, uint64_t job, nd_error *err) {
  (void)member;
  (void)err;
  walk_chunk(context, job, true);
  return ND_OK;
}

nd_status nd_flat_fill(nd_flat *t, uint64_t rows, nd_flat_source source, const void *context,
                       nd_flat_hash hash, unsigned threads, nd_error *err) {
  t->bits = 0;
  /* untaken: more than 2^26 rows */
  while (t->bits < MOST_BITS && rows >> t->bits > BUCKET_ROWS) t->bits++;
  uint64_t chunks = threads > 1 ? CHUNKS_PER_THREAD * (uint64_t)threads : 1;
  filling f = {t, source, context, hash, rows, rows / chunks + 1};
  size_t slots = (size_t)1 << t->bits;
  ND_TRY(nd_array_grow(&t->start, &t->start_cap, slots + 1, sizeof *t->start, err));
  ND_TRY(nd_array_grow(&t->count, &t->count_cap, chunks * slots, sizeof *t->count, err));
  memset(t->count, 0, chunks * slots * sizeof *t->count);
  ND_TRY(nd_threads_run(threads, chunks, count_job, &f, err));
  uint64_t sum = 0;
  for (size_t s = 0; s < slots; s++) {
    t->start[s] = sum;
    for (uint64_t c = 0; c < chunks; c++) {
      uint64_t n = t->count[(c << t->bits) + s];
      t->count[(c << t->bits) + s] = sum;
      sum += n;
    }
  }
  t->start[slots] = t->n = sum;
  return nd_threads_run(threads, chunks, put_job, &f, err);
}

void nd_flat_split(uint64_t *key, uint32_t *row, size_t n, nd_flat_hash hash, unsigned skip,
                   unsigned bits, uint32_t *start) {
  uint32_t at[1 << ND_FLAT_SPLIT_BITS];
  size_t slots = (size_t)1 << bits;
  memset(at, 0, slots * sizeof *at);
  for (size_t i = 0; i < n; i++) at[nd_flat_slot(nd_flat_hash_of(hash, key[i]) << skip, bits)]++;
  uint32_t sum = 0;
  for (size_t s = 0; s < slots; s++) {
    start[s] = sum;
    sum += at[s];
    at[s] = start[s];
  }
  start[slots] = sum;
  /* Move each row to its position, and continue with the row found there. */
  for (size_t s = 0; s < slots; s++) {
    while (at[s] < start[s + 1]) {
      uint64_t k = key[at[s]];
      uint32_t r = row[at[s]];
      for (;;) {
        size_t slot = nd_flat_slot(nd_flat_hash_of(hash, k) << skip, bits);
        if (slot == s) break;
        uint32_t to = at[slot]++;
        uint64_t next = key[to];
        uint32_t next_row = row[to];
        key[to] = k;
        row[to] = r;
        k = next;
        r = next_row;
      }
      key[at[s]] = k;
      row[at[s]++] = r;
    }
  }
}

/* --- sorting in place ----------------------------------------------------------- */

ND_INLINE bool before(uint64_t key_a, uint32_t row_a, uint64_t key_b, uint32_t row_b) {
  return key_a < key_b || (key_a == key_b && row_a < row_b);
}

ND_INLINE void swap(uint64_t *key, uint32_t *row, size_t a, size_t b) {
  uint64_t k = key[a];
  uint32_t r = row[a];
  key[a] = key[b];
  row[a] = row[b];
  key[b] = k;
  row[b] = r;
}

static void insertion(uint64_t *key, uint32_t *row, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint64_t k = key[i];
    uint32_t r = row[i];
    size_t j = i;
    for (; j && before(k, r, key[j - 1], row[j - 1]); j--) {
      key[j] = key[j - 1];
      row[j] = row[j - 1];
    }
    key[j] = k;
    row[j] = r;
  }
}

static void sift(uint64_t *key, uint32_t *row, size_t i, size_t n) {
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && before(key[child], row[child], key[child + 1], row[child + 1])) child++;
    if (!before(key[i], row[i], key[child], row[child])) return;
    swap(key, row, i, child);
  }
}

static void heap_sort(uint64_t *key, uint32_t *row, size_t n) {
  for (size_t i = n / 2; i-- > 0;) sift(key, row, i, n);
  for (size_t i = n; i-- > 1;) {
    swap(key, row, 0, i);
    sift(key, row, 0, i);
  }
}

static void quick_sort(uint64_t *key, uint32_t *row, size_t n, unsigned depth) {
  while (n > SMALL) {
    if (depth-- == 0) { /* a bad order: switch to an algorithm in n log n */
      heap_sort(key, row, n);
      return;
    }
    size_t mid = n / 2;
    if (before(key[mid], row[mid], key[0], row[0])) swap(key, row, mid, 0);
    if (before(key[n - 1], row[n - 1], key[0], row[0])) swap(key, row, n - 1, 0);
    if (before(key[n - 1], row[n - 1], key[mid], row[mid])) swap(key, row, n - 1, mid);
    uint64_t k = key[mid];
    uint32_t r = row[mid];
    size_t i = 0, j = n - 1;
    for (;;) {
      do i++;
      while (before(key[i], row[i], k, r));
      do j--;
      while (before(k, r, key[j], row[j]));
      if (i >= j) break;
      swap(key, row, i, j);
    }
    /* Recurse into the smaller part and loop over the larger one, to bound the stack. */
    if (i <= n - i) {
      quick_sort(key, row, i, depth);
      key += i;
      row += i;
      n -= i;
    } else {
      quick_sort(key + i, row + i, n - i, depth);
      n = i;
    }
  }
  insertion(key, row, n);
}

void nd_flat_sort(uint64_t *key, uint32_t *row, size_t n) {
  unsigned depth = 2;
  for (size_t k = n; k; k >>= 1) depth += 2;
  quick_sort(key, row, n, depth);
}
