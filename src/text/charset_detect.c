/* Detection of charset and HTML from labels and first bytes. */
#include "text/charset.h"
#include "text/html_scan.h"
#include "text/text.h"

/* The labels of the Encoding Standard. */
static const nd_charset charsets[] = {
    {ND_CHARSET_UTF8, "UTF-8", NULL,
     "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
    {ND_CHARSET_1252, "windows-1252", NULL,
     "iso-8859-1 windows-1252 latin1 us-ascii ascii ansi_x3.4-1968 cp1252 cp819 csisolatin1 ibm819 "
     "iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 x-cp1252"},
    {ND_CHARSET_UTF16LE, "UTF-16LE", NULL,
     "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"},
    {ND_CHARSET_UTF16BE, "UTF-16BE", NULL, "utf-16be unicodefffe"},
    {ND_CHARSET_USER, "x-user-defined", NULL, "x-user-defined"},
    {ND_CHARSET_BYTES, "windows-1251", "CP1251", "windows-1251 cp1251 x-cp1251"},
    {ND_CHARSET_BYTES, "windows-1250", "CP1250", "windows-1250 cp1250 x-cp1250"},
    {ND_CHARSET_BYTES, "windows-1253", "CP1253", "windows-1253 cp1253 x-cp1253"},
    {ND_CHARSET_BYTES, "windows-1254", "CP1254",
     "windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
     "iso_8859-9:1989 l5 latin5 x-cp1254"},
    {ND_CHARSET_BYTES, "windows-1255", "CP1255", "windows-1255 cp1255 x-cp1255"},
    {ND_CHARSET_BYTES, "windows-1256", "CP1256", "windows-1256 cp1256 x-cp1256"},
    {ND_CHARSET_BYTES, "windows-1257", "CP1257", "windows-1257 cp1257 x-cp1257"},
    {ND_CHARSET_BYTES, "windows-1258", "CP1258", "windows-1258 cp1258 x-cp1258"},
    {ND_CHARSET_BYTES, "windows-874", "CP874",
     "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"},
    {ND_CHARSET_BYTES, "KOI8-R", "KOI8-R", "koi8-r cskoi8r koi koi8 koi8_r"},
    {ND_CHARSET_BYTES, "KOI8-U", "KOI8-U", "koi8-u koi8-ru"},
    {ND_CHARSET_BYTES, "IBM866", "IBM866", "ibm866 866 cp866 csibm866"},
    {ND_CHARSET_BYTES, "macintosh", "MACINTOSH", "macintosh csmacintosh mac x-mac-roman"},
    {ND_CHARSET_BYTES, "x-mac-cyrillic", "MAC-UK", "x-mac-cyrillic x-mac-ukrainian"},
    {ND_CHARSET_BYTES, "ISO-8859-2", "ISO-8859-2",
     "iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"},
    {ND_CHARSET_BYTES, "ISO-8859-3", "ISO-8859-3",
     "iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"},
    {ND_CHARSET_BYTES, "ISO-8859-4", "ISO-8859-4",
     "iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"},
    {ND_CHARSET_BYTES, "ISO-8859-5", "ISO-8859-5",
     "iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
     "iso_8859-5:1988"},
    {ND_CHARSET_BYTES, "ISO-8859-6", "ISO-8859-6",
     "iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e "
     "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"},
    {ND_CHARSET_BYTES, "ISO-8859-7", "ISO-8859-7",
     "iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 "
     "iso_8859-7 iso_8859-7:1987 sun_eu_greek"},
    {ND_CHARSET_BYTES, "ISO-8859-8", "ISO-8859-8",
     "iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
     "iso_8859-8 iso_8859-8:1988 visual"},
    {ND_CHARSET_BYTES, "ISO-8859-8-I", "ISO-8859-8", "iso-8859-8-i csiso88598i logical"},
    {ND_CHARSET_BYTES, "ISO-8859-10", "ISO-8859-10",
     "iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"},
    {ND_CHARSET_BYTES, "ISO-8859-13", "ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"},
    {ND_CHARSET_BYTES, "ISO-8859-14", "ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"},
    {ND_CHARSET_BYTES, "ISO-8859-15", "ISO-8859-15",
     "iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"},
    {ND_CHARSET_BYTES, "ISO-8859-16", "ISO-8859-16", "iso-8859-16"},
    {ND_CHARSET_MULTI, "GBK", "GB18030",
     "gbk gb2312 chinese csgb2312 csiso58gb231280 gb_2312 gb_2312-80 iso-ir-58 x-gbk"},
    {ND_CHARSET_MULTI, "gb18030", "GB18030", "gb18030"},
    {ND_CHARSET_MULTI, "Big5", "BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
    {ND_CHARSET_MULTI, "EUC-JP", "EUC-JP-MS", "euc-jp cseucpkdfmtjapanese x-euc-jp"},
    {ND_CHARSET_MULTI, "Shift_JIS", "CP932",
     "shift_jis shift-jis sjis csshiftjis ms932 ms_kanji windows-31j x-sjis"},
    {ND_CHARSET_MULTI, "EUC-KR", "UHC",
     "euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
     "ksc_5601 windows-949"},
    {ND_CHARSET_SHIFT, "ISO-2022-JP", "ISO-2022-JP", "iso-2022-jp csiso2022jp"},
    {ND_CHARSET_SHIFT, "ISO-2022-KR", "ISO-2022-KR", "iso-2022-kr csiso2022kr"},
    {ND_CHARSET_SHIFT, "ISO-2022-CN", "ISO-2022-CN-EXT", "iso-2022-cn iso-2022-cn-ext"},
};

static bool same_word(nd_str s, const char *word, size_t n) {
  if (s.n != n) return false;
  for (size_t i = 0; i < n; i++) {
    if (nd_html_lower(s.p[i]) != word[i]) return false;
  }
  return true;
}

const nd_charset *nd_charset_find(nd_str label) {
  while (label.n && nd_html_is_space(label.p[0])) label.p++, label.n--;
  while (label.n && nd_html_is_space(label.p[label.n - 1])) label.n--;
  if (label.n == 0 || label.n > 30) return NULL;
  for (size_t i = 0; i < sizeof charsets / sizeof *charsets; i++) {
    for (const char *p = charsets[i].labels; *p;) {
      size_t n = strcspn(p, " ");
      if (same_word(label, p, n)) return &charsets[i];
      p += n + (p[n] == ' ');
    }
  }
  return NULL;
}

/* --- the prescan ----------------------------------------------------------- */
static bool is_word(nd_str s, const char *word) {
  return same_word(s, word, strlen(word));
}

/* Returns the label in content="text/html; charset=…". */
static const nd_charset *charset_in_content(nd_str content) {
  const char *p = content.p, *end = p + content.n;
  for (; end - p >= 7; p++) {
    if (!same_word((nd_str){p, 7}, "charset", 7)) continue;
    const char *q = p + 7;
    while (q < end && nd_html_is_space(*q)) q++;
    if (q == end || *q != '=') {
      p = q - 1;
      continue;
    }
    q++;
    while (q < end && nd_html_is_space(*q)) q++;
    if (q == end) return NULL;
    const char *close;
    if (*q == '"' || *q == '\'') {
      close = memchr(q + 1, *q, (size_t)(end - q - 1));
      return close ? nd_charset_find((nd_str){q + 1, (size_t)(close - q - 1)}) : NULL;
    }
    for (close = q; close < end && *close != ';' && !nd_html_is_space(*close);) close++;
    return nd_charset_find((nd_str){q, (size_t)(close - q)});
  }
  return NULL;
}

/* The declaration was read as ASCII, so the bytes are not UTF-16. */
static const nd_charset *as_ascii(const nd_charset *c) {
  if (c && (c->kind == ND_CHARSET_UTF16LE || c->kind == ND_CHARSET_UTF16BE)) return &charsets[0];
  return c;
}

/* Parses the attributes of a meta at *p; returns false if the bytes end first. */
static bool read_meta(const char **p, const char *end, const nd_charset **found) {
  bool is_content_type = false, seen_pragma = false, seen_content = false, seen_charset = false;
  bool need_pragma = false;
  const nd_charset *charset = NULL;
  nd_html_attribute a;
  int step;
  for (bool closed; (step = nd_html_attribute_step(p, end, &a, &closed)) > 0;) {
    if (is_word(a.name, "http-equiv") && !seen_pragma) {
      seen_pragma = true;
      is_content_type = is_word(a.value, "content-type");
    } else if (is_word(a.name, "content") && !seen_content) {
      seen_content = true;
      const nd_charset *c = charset_in_content(a.value);
      if (c && !charset && !seen_charset) {
        charset = c;
        need_pragma = true;
      }
    } else if (is_word(a.name, "charset") && !seen_charset) {
      seen_charset = true;
      charset = nd_charset_find(a.value);
      need_pragma = false;
    }
  }
  if (step < 0) return false;
  if (charset && (!need_pragma || is_content_type)) {
    *found = charset->kind == ND_CHARSET_USER ? &charsets[1] : as_ascii(charset);
  }
  return true;
}

/* <?xml version="1.0" encoding="…"?> */
static const nd_charset *xml_encoding(nd_str html) {
  if (html.n < 5 || memcmp(html.p, "<?xml", 5) != 0) return NULL;
  const char *end = memchr(html.p, '>', html.n);
  const char *p = end ? memmem(html.p, (size_t)(end - html.p), "encoding", 8) : NULL;
  if (!p) return NULL;
  p += 8;
  while (p < end && (unsigned char)*p <= ' ') p++;
  if (p == end || *p++ != '=') return NULL;
  while (p < end && (unsigned char)*p <= ' ') p++;
  if (p == end || (*p != '"' && *p != '\'')) return NULL;
  const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
  return close ? as_ascii(nd_charset_find((nd_str){p + 1, (size_t)(close - p - 1)})) : NULL;
}

const nd_charset *nd_charset_prescan(nd_str html) {
  if (html.n > 1024) html.n = 1024;
  const char *p = html.p, *end = p + html.n;
  if (html.n >= 6 && memcmp(p, "<\0?\0x\0", 6) == 0) return &charsets[2];
  if (html.n >= 6 && memcmp(p, "\0<\0?\0x", 6) == 0) return &charsets[3];
  const nd_charset *found = NULL;
  while (p < end && (p = memchr(p, '<', (size_t)(end - p))) != NULL) {
    size_t left = (size_t)(end - p);
    if (left >= 4 && memcmp(p, "<!--", 4) == 0) {
      p = memmem(p + 2, left - 2, "-->", 3);
      if (!p) break;
      p += 3;
    } else if (left >= 6 && same_word((nd_str){p, 5}, "<meta", 5) &&
               (nd_html_is_space(p[5]) || p[5] == '/')) {
      p += 6;
      if (!read_meta(&p, end, &found)) break;
      if (found) return found;
    } else if (left >= 2 &&
               (nd_html_is_alpha(p[1]) || (p[1] == '/' && left >= 3 && nd_html_is_alpha(p[2])))) {
      while (p < end && *p != '>' && !nd_html_is_space(*p)) p++;
      nd_html_attribute a;
      int step;
      do {
        bool closed;
        step = nd_html_attribute_step(&p, end, &a, &closed);
      } while (step > 0);
      if (step < 0) break;
    } else if (left >= 2 && (p[1] == '!' || p[1] == '/' || p[1] == '?')) {
      p = memchr(p, '>', left);
      if (!p) break;
    } else {
      p++;
    }
  }
  return xml_encoding(html);
}

const nd_charset *nd_charset_late_meta(nd_str html) {
  nd_html_scan s;
  nd_html_token t;
  const nd_charset *found = NULL;
  nd_html_scan_init(&s, html);
  while (!found && nd_html_scan_next(&s, &t)) {
    nd_html_scan_enter(&s, &t);
    if (t.kind != ND_HTML_START_TAG) continue;
    if (is_word(t.raw, "body")) break;
    const char *p = t.attributes.p;
    if (is_word(t.raw, "meta")) (void)read_meta(&p, p + t.attributes.n + 1, &found);
  }
  return found;
}

/* --- detection of HTML ------------------------------------------------------- */
static bool begins_like_html(const char *p, const char *end) {
  for (;;) {
    while (p < end && nd_html_is_space(*p)) p++;
    if (end - p < 3 || *p != '<') return false;
    size_t left = (size_t)(end - p);
    const char *inside_end;
    if (left >= 4 && memcmp(p, "<!--", 4) == 0) {
      p = nd_html_comment_end(p + 4, end, &inside_end);
    } else if (left >= 6 && same_word((nd_str){p, 5}, "<?xml", 5)) {
      p = memchr(p, '>', left);
      if (!p) return false;
      p++;
    } else {
      break;
    }
  }
  if (end - p >= 9 && same_word((nd_str){p, 9}, "<!doctype", 9)) {
    p += 9;
    while (p < end && nd_html_is_space(*p)) p++;
    return end - p >= 4 && same_word((nd_str){p, 4}, "html", 4) &&
           (end - p == 4 || p[4] == '>' || nd_html_is_space(p[4]));
  }
  static const char *const names[] = {
      "html",     "head",    "body",    "title", "meta",   "link", "base",    "script",
      "style",    "div",     "p",       "a",     "table",  "br",   "b",       "i",
      "font",     "center",  "iframe",  "img",   "h1",     "h2",   "h3",      "h4",
      "h5",       "h6",      "span",    "ul",    "ol",     "form", "hr",      "pre",
      "frameset", "article", "section", "main",  "header", "nav",  "noscript"};
  const char *name = ++p;
  while (p < end && p - name < 16 && *p != '>' && *p != '/' && !nd_html_is_space(*p)) p++;
  if (p == end) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (is_word((nd_str){name, (size_t)(p - name)}, names[i])) return true;
  }
  return false;
}

bool nd_html_looks_like(nd_str bytes) {
  const unsigned char *u = (const unsigned char *)bytes.p;
  if (bytes.n < 3) return false;
  if (u[0] == 0xEF && u[1] == 0xBB && u[2] == 0xBF)
    return begins_like_html(bytes.p + 3, bytes.p + bytes.n);
  bool little = u[0] == 0xFF && u[1] == 0xFE, big = u[0] == 0xFE && u[1] == 0xFF;
  if (!little && !big) return begins_like_html(bytes.p, bytes.p + bytes.n);
  /* UTF-16: the relevant characters are ASCII and at the start. */
  char head[1024];
  size_t n = 0;
  for (size_t i = 2; i + 1 < bytes.n && n < sizeof head; i += 2) {
    head[n++] = u[i + big] < 0x80 && u[i + little] == 0 ? (char)u[i + big] : '?';
  }
  return begins_like_html(head, head + n);
}
