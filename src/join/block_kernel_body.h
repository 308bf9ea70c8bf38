/* One kernel of the block join: included by block_kernel_levels.h with TARGET, SIDES (its
 * name), SCAN and WORDS. */
/* The calls that the thread sanitizer inserts between vector instructions break this code in gcc
 * 12; the kernels write nothing that threads share. */
TARGET ND_NO_THREAD_SANITIZER static nd_status SIDES(nd_block_worker *w, const nd_block_list *list,
                                                     uint32_t from, uint32_t to, unsigned probing,
                                                     unsigned indexed, nd_error *err) {
  const nd_join_task *t = w->block->task;
  if (from == 0 && to <= ND_BLOCK_SHORT) {
    scan_short(w, list, to, probing, indexed, WORDS);
    return w->candidates >= ND_BLOCK_CANDIDATES ? nd_block_verify(w, err) : ND_OK;
  }
  const uint32_t start = first_met(t, list, from, WORDS);
  ND_TRY(nd_block_reserve_side(w, to - start, err));
  const uint32_t n = make_side(w, list, start, to, indexed, WORDS);
  uint32_t low = 0, high = 0;
  if (n == 0) return ND_OK;
  /* The index side begins with those before `from`. */
  const uint32_t first_record = nd_list_at(list, from, WORDS)->record;
  while (high < n && w->record[high] < first_record) high++;
  prober group[GROUP];
  for (uint32_t i = from; i < to;) {
    uint32_t filled = 0, first = UINT32_MAX, last = 0;
    for (; i < to && filled < GROUP; i++) {
      const nd_posting *p = nd_list_at(list, i, WORDS);
      const uint32_t before = high;
      high += (p->packed & 3) == (indexed << 1 | 1);
      if (nd_posting_side(p) != probing) continue;
      const nd_join_class *c = &t->class_[p->class_];
      while (low < before && w->record[low] < c->lowest) low++;
      uint32_t end = before;
      if (end > low + SEEK_FROM && !nd_posting_indexed(p)) {
        /* A token far back in x leaves fewer to share, so only smaller records can be similar. */
        uint64_t most = nd_set_max_size(&t->bounds, c->size, c->size - nd_posting_position(p));
        if (most < c->size) {
          end = low + seek(w->record + low, end - low, nd_join_first_above(t, most));
        }
      }
      if (low >= end) continue;
      prober x = {p, low, end, nd_posting_limit(c->limit_x, p)};
      if (n > ND_BLOCK_TILE) {
        group[filled++] = x;
        first = low < first ? low : first;
        last = end > last ? end : last;
        continue;
      }
      w->join->after_size += end - low;
      w->join->after_positional += SCAN(w, &x, low, end, WORDS);
      if (w->candidates >= ND_BLOCK_CANDIDATES) ND_TRY(nd_block_verify(w, err));
    }
    for (uint32_t y = first; y < last; y += ND_BLOCK_TILE) {
      const uint32_t tile_end = last - y > ND_BLOCK_TILE ? y + ND_BLOCK_TILE : last;
      for (uint32_t k = 0; k < filled; k++) {
        const uint32_t a = group[k].from > y ? group[k].from : y;
        const uint32_t b = group[k].to < tile_end ? group[k].to : tile_end;
        if (a >= b) continue;
        w->join->after_size += b - a;
        w->join->after_positional += SCAN(w, &group[k], a, b, WORDS);
        if (w->candidates >= ND_BLOCK_CANDIDATES) ND_TRY(nd_block_verify(w, err));
      }
    }
  }
  return ND_OK;
}
#undef TARGET
#undef SIDES
#undef SCAN
