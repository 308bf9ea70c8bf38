/* The loops of the text extractor, included by html.c once per SIMD level with
 *   HTML_FN(name)  the name of a function at this level
 *   HTML_TARGET    the attribute that switches the level on
 *   HTML_W         bytes of a block, and the vector type and operations:
 *   VEC, LOAD(p), STORE(p, v), EQ(v, c), EQ2(v, a, b), EQ3(v, a, b, c),
 *   UP_TO_SPACE(v): bit i of the result is set where byte i is equal (<= ' ').
 * Only complete blocks are read; the functions of the tokenizer handle the rest of
 * the input. */

/* Returns the position after the '>' of a tag, or NULL at the end of input; `s` is after the
 * name or an attribute.  A '>' without a quote before it ends the tag in every state.  A quote
 * opens a value if the first '=' is just before it and ends a name; the slow step handles
 * anything else. */
static HTML_TARGET const char *HTML_FN(after_tag)(const char *s, const char *end) {
  bool self_closing;
  nd_html_attribute ignored;
  while (end - s >= HTML_W) {
    VEC v = LOAD(s);
    uint64_t marks = EQ3(v, '>', '"', '\'');
    if (ND_LIKELY(marks)) {
      unsigned k = (unsigned)__builtin_ctzll(marks);
      if (s[k] == '>') return s + k + 1;
      uint64_t equals = EQ(v, '='), quote = marks & -marks;
      if (ND_LIKELY(k >= 2 && (equals & -equals) << 1 == quote && !nd_html_is_space(s[k - 2]) &&
                    s[k - 2] != '/')) {
        char c = s[k];
        uint64_t closing = EQ(v, c) & ~(quote | (quote - 1));
        s += HTML_W;
        while (!closing) {
          if (end - s < HTML_W) {
            const char *close = memchr(s, c, (size_t)(end - s));
            if (!close) return NULL;
            s = close + 1;
            break;
          }
          closing = EQ(LOAD(s), c);
          s += HTML_W;
        }
        if (closing) s += __builtin_ctzll(closing) + 1 - HTML_W;
        continue;
      }
    }
    int step = nd_html_attribute_step(&s, end, &ignored, &self_closing);
    if (step <= 0) return step == 0 ? s + 1 : NULL;
  }
  const char *close = nd_html_tag_end(s, end, &self_closing);
  return close ? close + 1 : NULL;
}

static HTML_TARGET char *HTML_FN(extract)(char *o, const char *p, const char *const end,
                                          unsigned special) {
  page g = {.broke = o, .special = special};
  for (;;) {
    /* Text: copy it and search for its end at the same time. */
    for (;;) {
      if (ND_UNLIKELY(end - p < HTML_W)) {
        while (p < end && *p != '<' && *p != '&' && *p != 0) *o++ = *p++;
        if (p == end) goto done;
        break;
      }
      VEC v = LOAD(p);
      STORE(o, v);
      uint64_t stop = EQ3(v, '<', '&', 0);
      if (stop) {
        p += __builtin_ctzll(stop);
        o += __builtin_ctzll(stop);
        break;
      }
      p += HTML_W;
      o += HTML_W;
    }
    if (*p != '<') {
      p = reference_or_nul(&o, p, end);
      continue;
    }

    const char *name = p + 1;
    bool closes = name < end && *name == '/';
    name += closes;
    if (ND_UNLIKELY(name >= end || !nd_html_is_alpha(*name))) {
      p = odd_markup(&g, &o, p, end);
      continue;
    }
    size_t n = SIZE_MAX; /* longer than the block */
    if (ND_LIKELY(end - name >= HTML_W)) {
      VEC v = LOAD(name);
      uint64_t stop = UP_TO_SPACE(v) | EQ2(v, '/', '>');
      if (stop) n = (size_t)__builtin_ctzll(stop);
    }
    unsigned flags;
    const char *after;
    if (ND_LIKELY(n <= 8 && (name[n] == '>' || name[n] == '/' || nd_html_is_space(name[n])))) {
      uint64_t key = load_key(name, n);
      const nd_html_element_slot *slot = &nd_html_elements[ND_HTML_ELEMENT_HASH(key)];
      flags = slot->key == key ? slot->flags : 0;
      after = name[n] == '>' ? name + n + 1 : HTML_FN(after_tag)(name + n, end);
    } else {
      n = name_length(name, end);
      flags = nd_html_element((nd_str){name, n});
      after = HTML_FN(after_tag)(name + n, end);
    }
    if (!after) goto done; /* a truncated tag is ignored */
    p = after;
    /* Adjacent tags give a single break. */
    *o = '\n';
    o += (flags & ND_HTML_EL_BREAK) && o != g.broke;
    g.broke = flags & ND_HTML_EL_BREAK ? o : g.broke;
    if (ND_UNLIKELY((flags & special) || g.foreign)) {
      p = special_tag(&g, &o, (nd_str){name, n}, closes, flags, after, end);
    }
  }
done:
  return g.templates ? g.mark : o;
}

#undef HTML_FN
#undef HTML_TARGET
#undef HTML_W
#undef VEC
#undef LOAD
#undef STORE
#undef EQ
#undef EQ2
#undef EQ3
#undef UP_TO_SPACE
