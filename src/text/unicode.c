/* The table of code points: built from ICU in blocks of 256, published with one
 * compare-and-swap each, never freed (they are constant).  Blocks with equal entries
 * (ideographs, Hangul, unassigned planes) are shared, so even a text with every code point
 * needs less than 200 KB. */
#include "text/unicode.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

_Atomic(const nd_unicode_block *) nd_unicode_blocks[ND_UNICODE_BLOCKS];

/* NFKC maps a code point to at most 18, folding each to at most 3. */
enum { CP_ROOM = 128, LIST_BYTES = CP_ROOM * 5 + 1 };

#define ENTRY(kind, flags) ((uint32_t)(kind) << ND_UNICODE_KIND_SHIFT | (flags))

static const nd_unicode_block uniform[3] = {
    {{[0 ... 255] = ENTRY(ND_UNICODE_SEP, ' ')}, NULL},
    {{[0 ... 255] = ENTRY(ND_UNICODE_WORD, ND_UNICODE_ID)}, NULL},
    {{[0 ... 255] = ENTRY(ND_UNICODE_SINGLE, ND_UNICODE_ID)}, NULL},
};

static nd_status icu_failed(nd_error *err, UErrorCode code) {
  /* untaken: ICU fails only without memory */
  if (code == U_MEMORY_ALLOCATION_ERROR) return nd_fail_memory(err, 0);
  return nd_fail(err, ND_ERR_STATE, "ICU cannot normalise text: %s", u_errorName(code));
}

nd_unicode_kind nd_unicode_classify(uint32_t cp) {
  if (!(U_GET_GC_MASK((UChar32)cp) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)))
    return ND_UNICODE_SEP;
  UErrorCode code = U_ZERO_ERROR;
  switch (uscript_getScript((UChar32)cp, &code)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR: return ND_UNICODE_SINGLE;
    default: return ND_UNICODE_WORD;
  }
}

static nd_status normalise(uint32_t *out, size_t *n, const uint32_t *cp, size_t count,
                           nd_error *err) {
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&code);
  /* untaken: ICU fails only without memory */
  if (U_FAILURE(code)) return icu_failed(err, code);
  UChar from[2 * ND_UNICODE_SPAN], to[ND_UNICODE_SPAN_ROOM]; /* at most 18 units of each */
  int32_t from_n = 0;
  for (size_t i = 0; i < count; i++) U16_APPEND_UNSAFE(from, from_n, cp[i]);
  int32_t to_n = unorm2_normalize(nfkc, from, from_n, to, ND_UNICODE_SPAN_ROOM, &code);
  if (U_FAILURE(code)) return icu_failed(err, code); /* untaken: ICU fails only without memory */
  size_t k = 0;
  for (int32_t i = 0; i < to_n; k++) U16_NEXT_UNSAFE(to, i, out[k]);
  *n = k;
  return ND_OK;
}

/* A cache of pairs: first << 42 | second << 21 | result, where the result APART means that
 * the two do not combine.  A slot has one pair and is read and written atomically, so threads
 * need no lock. */
enum { PAIRS = 2048, APART = 0x1FFFFF };
static _Atomic uint64_t pairs[PAIRS];

/* Computes NFKC of two code points: *result is one code point or APART; *known is false if it
 * is neither. */
static nd_status join_pair(bool *known, uint32_t *result, uint32_t first, uint32_t second,
                           nd_error *err) {
  uint64_t key = (uint64_t)first << 42 | (uint64_t)second << 21;
  _Atomic uint64_t *place = &pairs[(key >> 21) * 0x9E3779B97F4A7C15u >> (64 - 11)];
  uint64_t held = atomic_load_explicit(place, memory_order_relaxed);
  *known = true;
  *result = (uint32_t)(held & APART);
  if (ND_LIKELY(held != 0 && (held ^ key) <= APART)) return ND_OK;

  uint32_t pair[2] = {first, second}, made[ND_UNICODE_SPAN_ROOM];
  size_t n = 0;
  ND_TRY(normalise(made, &n, pair, 2, err)); /* untaken: ICU fails only without memory */
  if (n == 1) {
    *result = made[0];
  } else if (n == 2 && made[0] == first && made[1] == second) {
    *result = APART;
  } else {
    *known = false;
    *result = 0;
    return ND_OK;
  }
  atomic_store_explicit(place, key | *result, memory_order_relaxed);
  return ND_OK;
}

nd_status nd_unicode_nfkc(uint32_t *out, size_t *n, const uint32_t *cp, size_t count,
                          nd_error *err) {
  /* NFKC(xy) = NFKC(NFKC(x) y), so a letter combines with its marks one by one. */
  uint32_t letter = cp[0], result = 0;
  size_t k = 1;
  for (; k < count && count <= 4; k++) {
    bool known;
    /* untaken: ICU fails only without memory */
    ND_TRY(join_pair(&known, &result, letter, cp[k], err));
    if (!known || result == APART) break;
    letter = result;
  }
  if (count > 1 && k == count) {
    out[0] = letter;
    *n = 1;
    return ND_OK;
  }
  if (k + 1 == count && result == APART) {
    out[0] = letter;
    out[1] = cp[k];
    *n = 2;
    return ND_OK;
  }
  return normalise(out, n, cp, count, err);
}

/* Computes the entry of `cp`; appends a MORE list to `more`. */
static nd_status make_entry(uint32_t *entry, nd_buf *more, const UNormalizer2 *nfkc, uint32_t cp,
                            nd_error *err) {
  *entry = ENTRY(ND_UNICODE_SEP, ' '); /* UTF-8 has no lone surrogates */
  if (cp - 0xD800 < 0x800) return ND_OK;

  UErrorCode code = U_ZERO_ERROR;
  UChar self[2], normal[CP_ROOM], folded[CP_ROOM];
  int32_t self_n = 0;
  U16_APPEND_UNSAFE(self, self_n, cp);
  int32_t normal_n = unorm2_normalize(nfkc, self, self_n, normal, CP_ROOM, &code);
  int32_t folded_n = u_strFoldCase(folded, CP_ROOM, normal, normal_n, U_FOLD_CASE_DEFAULT, &code);
  if (U_FAILURE(code)) return icu_failed(err, code); /* untaken: ICU fails only without memory */

  uint32_t flags = 0, last = 0, first = 0;
  bool same = true, all_sep = true, all_word = true;
  char list[LIST_BYTES], flat[4 * CP_ROOM];
  size_t list_n = 0, flat_n = 0, count = 0;
  for (int32_t i = 0; i < normal_n;) U16_NEXT_UNSAFE(normal, i, last);
  if (u_getCombiningClass((UChar32)last) != 0) flags |= ND_UNICODE_TAIL;
  for (int32_t i = 0; i < folded_n; count++) {
    uint32_t c = 0;
    U16_NEXT_UNSAFE(folded, i, c);
    nd_unicode_kind kind = nd_unicode_classify(c);
    if (count == 0) first = c;
    all_sep &= kind == ND_UNICODE_SEP;
    all_word &= kind == ND_UNICODE_WORD;
    char *head = list + list_n++;
    unsigned bytes = nd_utf8_encode(list + list_n, c);
    *head = (char)(kind << 4 | bytes);
    memcpy(flat + flat_n, list + list_n, bytes);
    list_n += bytes;
    flat_n += bytes;
  }
  list[list_n++] = 0;
  same = count == 1 && first == cp;

  if (!unorm2_hasBoundaryBefore(nfkc, (UChar32)cp)) {
    unsigned ccc = u_getCombiningClass((UChar32)cp);
    bool never = u_getIntPropertyValue((UChar32)cp, UCHAR_NFKC_QUICK_CHECK) == UNORM_YES;
    if (never & (ccc != 0) & same) { /* in current versions `never` implies the other two */
      *entry = ENTRY(nd_unicode_classify(cp), ND_UNICODE_ID | ND_UNICODE_MARK | ccc);
      return ND_OK;
    }
    flags |= ND_UNICODE_SLOW;
  }
  if (all_sep & (count > 0)) { /* an empty mapping, should Unicode add one, is a list */
    *entry = ENTRY(ND_UNICODE_SEP, flags | ' ');
    return ND_OK;
  }
  if (same) {
    *entry = ENTRY(nd_unicode_classify(cp), ND_UNICODE_ID | flags);
    return ND_OK;
  }
  /* The tokeniser reserves two bytes per byte of input: enough for three and a space, because
   * only ASCII has one byte, and maps to one. */
  bool fits = flat_n - 1 < 3;
  if (fits && (all_word || count == 1)) {
    uint32_t payload = 0;
    for (size_t i = 0; i < flat_n; i++) payload |= (uint32_t)(uint8_t)flat[i] << (8 * i);
    *entry = ENTRY(all_word ? ND_UNICODE_WORD : ND_UNICODE_SINGLE,
                   flags | payload | (uint32_t)flat_n << ND_UNICODE_LEN_SHIFT);
    return ND_OK;
  }
  *entry = ENTRY(ND_UNICODE_MORE, flags | (uint32_t)more->n);
  return nd_buf_append(more, list, list_n, err);
}

nd_status nd_unicode_load(const nd_unicode_block **out, uint32_t index, nd_error *err) {
  nd_status status = ND_OK;
  nd_buf more = {0};
  nd_unicode_block work = {.more = NULL}, *fresh = NULL;
  UErrorCode code = U_ZERO_ERROR;
  const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&code);
  if (U_FAILURE(code)) return icu_failed(err, code); /* untaken: ICU fails only without memory */

  bool equal = true;
  for (uint32_t i = 0; i < 256; i++) {
    ND_TRY_GOTO(make_entry(&work.entry[i], &more, nfkc, index << 8 | i, err), done);
    equal &= work.entry[i] == work.entry[0];
  }
  const nd_unicode_block *made = NULL;
  for (int k = 0; equal && k < 3; k++) {
    if (work.entry[0] == uniform[k].entry[0]) made = &uniform[k];
  }
  if (!made) {
    fresh = nd_malloc(sizeof *fresh + more.n);
    if (!fresh) {
      status = nd_fail_memory(err, sizeof *fresh + more.n);
      goto done;
    }
    memcpy(fresh, &work, sizeof work);
    uint8_t *lists = (uint8_t *)(fresh + 1);
    if (more.n) memcpy(lists, more.p, more.n);
    fresh->more = lists;
    made = fresh;
  }
  const nd_unicode_block *expected = NULL;
  if (atomic_compare_exchange_strong(&nd_unicode_blocks[index], &expected, made)) {
    *out = made;
  } else { /* another thread published it first */
    nd_free(fresh);
    *out = expected;
  }
done:
  nd_buf_clear(&more);
  return status;
}
