/* Charsets: labels, the prescan against html5lib's tests, decoders, UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "seed.h"
#include "text/charset.h"
#include "text/text.h"

static uint64_t next_random(uint64_t *x) {
  *x += 0x9E3779B97F4A7C15u;
  uint64_t z = *x;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static void check(nd_str bytes, const char *declared, bool html, const char *expected) {
  nd_buf scratch = {0};
  nd_str out, want = nd_str_of(expected);
  char *copy = malloc(bytes.n ? bytes.n : 1);
  if (bytes.n) memcpy(copy, bytes.p, bytes.n);
  assert_int_equal(
      nd_charset_to_utf8(&out, &scratch, (nd_str){copy, bytes.n}, nd_str_of(declared), html, NULL),
      ND_OK);
  if (!nd_str_eq(out, want))
    fail_msg("%s: \"%.*s\" is not \"%s\"", declared, (int)out.n, out.p, expected);
  free(copy);
  nd_buf_clear(&scratch);
}
#define CHECK(bytes, declared, html, expected) \
  check((nd_str){bytes, sizeof bytes - 1}, declared, html, expected)

static void labels_find_their_charset(void **unused) {
  (void)unused;
  assert_string_equal(nd_charset_find(nd_str_of("latin1"))->name, "windows-1252");
  assert_string_equal(nd_charset_find(nd_str_of(" \tUTF8\n"))->name, "UTF-8");
  assert_string_equal(nd_charset_find(nd_str_of("GB2312"))->name, "GBK");
  assert_string_equal(nd_charset_find(nd_str_of("x-sjis"))->name, "Shift_JIS");
  assert_string_equal(nd_charset_find(nd_str_of("L9"))->name, "ISO-8859-15");
  assert_string_equal(nd_charset_find(nd_str_of("unicodeFFFE"))->name, "UTF-16BE");
  assert_null(nd_charset_find(nd_str_of("")));
  assert_null(nd_charset_find(nd_str_of("utf")));
  assert_null(nd_charset_find(nd_str_of("utf-8 utf8")));
  assert_null(nd_charset_find(nd_str_of("a label that is far longer than any of them")));
}

static void decodes_declared_and_undeclared_charsets(void **unused) {
  (void)unused;
  CHECK("", "", true, "");
  CHECK("plain", "", false, "plain");
  CHECK("\xEF\xBB\xBFhi", "latin1", false, "hi");
  CHECK("\xEF\xBB\xBFh\xFFi", "", false, "h\uFFFDi");
  CHECK("caf\xE9", "", false, "café");
  CHECK("caf\xC3\xA9", "", false, "café");
  CHECK("caf\xC3\xA9", "us-ascii", false, "cafÃ©");
  CHECK("caf\xC3\xA9", "\"iso-8859-1\"", false, "cafÃ©");
  CHECK("caf\xC3\xA9", "no-such-charset", false, "café");
  CHECK("\x80\x81\x99\xA0\xFF", "iso-8859-1", false, "€\xC2\x81™\u00A0ÿ");
  CHECK("caf\xE9", "utf-8", false, "caf\uFFFD");
  CHECK("\xFF\xFEh\0i\0\x3D\xD8\x00\xDE", "", false, "hi😀");
  CHECK("\xFE\xFF\0h\0i\xD8\x3D\xDE\x00", "utf-8", false, "hi😀");
  CHECK("h\0\x3D\xD8i\0\x00\xDEx", "utf-16", false, "h\uFFFDi\uFFFD\uFFFD");
  CHECK("\0h\x4E\x2D", "utf-16be", false, "h中");
  CHECK("\xCF\xF0\xE8\xE2\xE5\xF2", "windows-1251", false, "Привет");
  CHECK("\xF0\xD2\xC9\xD7\xC5\xD4", "koi8-r", false, "Привет");
  CHECK("\xB1\xE6\xEA\xB3", "iso-8859-2", false, "ąćęł");
  CHECK("A\xCC \xE2\xD2", "windows-1258", false, "A\u0300 â\u0309");
  CHECK("\x81\xD2", "windows-1253", false, "\xC2\x81\uFFFD");
  CHECK("a\x80z", "x-user-defined", false, "a\uF780z");
  CHECK("\xD6\xD0\xCE\xC4 a", "gb2312", false, "中文 a");
  CHECK("\x80 \xD6\xD0\x81\x30\x81\x30", "gbk", false, "€ 中\xC2\x80");
  CHECK("\xA4\xA4\xA4\xE5", "big5", false, "中文");
  CHECK("\xC6\xFC\xCB\xDC\xB8\xEC", "euc-jp", false, "日本語");
  CHECK("\x93\xFA\x96\x7B\x8C\xEA\\~", "shift_jis", false, "日本語\\~");
  CHECK("\xC7\xD1\xB1\xDB", "euc-kr", false, "한글");
  CHECK("\x1B$BF|K\\8l\x1B(B!", "iso-2022-jp", false, "日本語!");
  /* A lead byte must not swallow the ASCII that follows it. */
  CHECK("\xD6<b>", "gbk", false, "\uFFFD<b>");
  CHECK("\xD6\xD0\xD6", "gbk", false, "中\uFFFD");
  CHECK("\xFF\xFF", "euc-kr", false, "\uFFFD\uFFFD");
  CHECK("<meta charset=windows-1251>\xCF", "", true, "<meta charset=windows-1251>П");
  CHECK("<meta charset=windows-1251>\xCF", "", false, "<meta charset=windows-1251>Ï");
  CHECK("<meta charset=windows-1251>\xCF", "koi8-r", true, "<meta charset=windows-1251>о");
  CHECK("<meta charset=utf-16>\xC3\xA9", "", true, "<meta charset=utf-16>é");
  CHECK("<?xml version='1.0' encoding='iso-8859-5'?>\xB0", "", true,
        "<?xml version='1.0' encoding='iso-8859-5'?>А");
}

static void one_replacement_for_each_maximal_subpart(void **unused) {
  (void)unused;
  /* One U+FFFD for each maximal subpart, as browsers do. */
  CHECK("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", "utf-8", false,
        "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  CHECK("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "utf-8", false,
        "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  CHECK("\xED\xA0\x80\xF4\x91\x92\x93\xFF\x41", "utf-8", false,
        "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  CHECK("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "utf-8", false, "\uFFFD\uFFFD\uFFFD\uFFFDA");
}

/* Room that does not suffice at once, a label in half a pair of quotes, and a charset that the
 * system cannot load. */
static void decodes_with_little_room_odd_labels_and_no_descriptors(void **unused) {
  (void)unused;
  char half[1001], full[3001] = "";
  for (size_t i = 0; i < 1000; i++) half[i] = '\xB1', memcpy(full + 3 * i, "\uFF71", 4);
  half[1000] = '\0';
  check(nd_str_of(half), "shift_jis", false, full);
  CHECK("\xE9", "\"koi8-r\"", false, "\u0418");
  CHECK("\xE9", "\"koi8-r", false, "\u00E9"); /* no label: windows-1252 */
  struct rlimit old, none = {.rlim_cur = 0};
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  none.rlim_max = old.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  nd_buf scratch = {0};
  nd_str out;
  nd_status status =
      nd_charset_to_utf8(&out, &scratch, nd_str_of("\xE9"), nd_str_of("ibm866"), false, NULL);
  setrlimit(RLIMIT_NOFILE, &old);
  assert_int_equal(status, ND_OK);
  assert_true(nd_str_eq(out, nd_str_of("\u00E9"))); /* as without a label; else \u0449 */
  nd_buf_clear(&scratch);
}

/* Decodes code point by code point. */
static size_t naive_valid_prefix(nd_str s) {
  size_t i = 0;
  while (i < s.n) {
    unsigned char c = (unsigned char)s.p[i];
    size_t n = c < 0x80 ? 1 : c >= 0xF0 && c < 0xF8 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 0;
    if (c >= 0xF8 || n == 0 || s.n - i < n) return i;
    uint32_t code = n == 1 ? c : c & (0x7F >> n);
    for (size_t k = 1; k < n; k++) {
      unsigned char d = (unsigned char)s.p[i + k];
      if (d >> 6 != 2) return i;
      code = code << 6 | (d & 63);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return i;
    i += n;
  }
  return i;
}

static void test_valid_prefix(void **unused) {
  (void)unused;
  uint64_t seed = test_seed(), x = seed;
  static const char *const pieces[] = {"a",
                                       "text of thirty-two bytes or more, all of them ASCII",
                                       "é",
                                       "ж",
                                       "中",
                                       "文字",
                                       "😀",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF4\x8F\xBF\xBF",
                                       "\xED\xA0\x80",
                                       "\xE0\x9F\x80",
                                       "\xC1\x80",
                                       "\xF4\x90\x80\x80",
                                       "\xF0\x8F\x80\x80",
                                       "\x80",
                                       "\xFF",
                                       "\xE4\xB8",
                                       "\xF0\x9F"};
  enum { PIECES = sizeof pieces / sizeof *pieces, GOOD = 10 };
  for (int round = 0; round < 50000; round++) {
    char text[1024];
    size_t n = 0;
    for (uint64_t k = next_random(&x) % 20; k > 0; k--) {
      uint64_t r = next_random(&x);
      const char *piece = pieces[r % 16 == 0 ? (r >> 8) % PIECES : (r >> 8) % GOOD];
      memcpy(text + n, piece, strlen(piece));
      n += strlen(piece);
    }
    for (uint64_t k = next_random(&x) % 3; k > 0 && n; k--) {
      text[next_random(&x) % n] = (char)next_random(&x);
    }
    char *copy = malloc(n ? n : 1);
    memcpy(copy, text, n);
    size_t fast = nd_utf8_valid_prefix((nd_str){copy, n}),
           slow = naive_valid_prefix((nd_str){text, n});
    free(copy);
    if (fast != slow)
      fail_msg("seed %llu, round %d: %zu, not %zu", (unsigned long long)seed, round, fast, slow);
  }
}

/* A block of ASCII after one that ends inside a character. */
static void test_cut_character(void **unused) {
  (void)unused;
  static const char *const cut[] = {"\xC3", "\xE4", "\xE4\xB8", "\xF0", "\xF0\x9F", "\xF0\x9F\x98"};
  for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
    char text[96];
    const size_t end = 32 - strlen(cut[i]);
    memset(text, 'a', sizeof text);
    memcpy(text + end, cut[i], strlen(cut[i]));
    assert_int_equal(nd_utf8_valid_prefix((nd_str){text, sizeof text}), end);
  }
}

/* Whatever the bytes and the label, what comes out is UTF-8. */
static void test_random_bytes(void **unused) {
  (void)unused;
  static const char *const labels[] = {"utf-8",
                                       "windows-1252",
                                       "utf-16",
                                       "utf-16be",
                                       "windows-1251",
                                       "windows-1255",
                                       "windows-1258",
                                       "gbk",
                                       "gb18030",
                                       "big5",
                                       "euc-jp",
                                       "shift_jis",
                                       "euc-kr",
                                       "iso-2022-jp",
                                       "iso-2022-kr",
                                       "iso-2022-cn",
                                       "x-user-defined",
                                       "windows-874",
                                       ""};
  uint64_t seed = test_seed(), x = seed;
  nd_buf scratch = {0};
  for (size_t l = 0; l < sizeof labels / sizeof *labels; l++) {
    for (int round = 0; round < 300; round++) {
      size_t n = next_random(&x) % 300;
      unsigned char *bytes = malloc(n ? n : 1);
      for (size_t i = 0; i < n; i++) {
        uint64_t r = next_random(&x);
        bytes[i] = r % 4 == 0    ? (unsigned char)(r >> 8 & 127)
                   : r % 32 == 1 ? 27
                                 : (unsigned char)(r >> 8);
      }
      nd_str out;
      assert_int_equal(nd_charset_to_utf8(&out, &scratch, (nd_str){(char *)bytes, n},
                                          nd_str_of(labels[l]), round % 2, NULL),
                       ND_OK);
      if (nd_utf8_valid_prefix(out) != out.n)
        fail_msg("%s, seed %llu: not UTF-8", labels[l], (unsigned long long)seed);
      free(bytes);
    }
  }
  nd_buf_clear(&scratch);
}

static char *read_file(const char *folder, const char *name, size_t *n) {
  char path[4000];
  snprintf(path, sizeof path, "%s/html5lib-tests/encoding/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = malloc(1 << 20);
  *n = fread(text, 1, (1 << 20) - 1, f);
  text[*n] = 0;
  fclose(f);
  return text;
}

static void prescan_agrees_with_html5lib(void **unused) {
  (void)unused;
  const char *data = getenv("NEARDUP_DATA");
  static const char *const names[] = {"tests1.dat", "tests2.dat", "test-yahoo-jp.dat"};
  int passed = 0, failed = 0;
  for (int i = 0; i < 3; i++) {
    size_t n = 0;
    char *text = data ? read_file(data, names[i], &n) : NULL;
    if (!text) {
      print_message("skipped, no data\n");
      skip();
    }
    char *p = text, *end = text + n;
    while ((p = memmem(p, (size_t)(end - p), "#data\n", 6)) != NULL) {
      p += 6;
      char *stop = memmem(p, (size_t)(end - p), "\n#encoding\n", 11);
      char *name = stop + 11;
      size_t name_n = strcspn(name, "\n");
      nd_str page = {p, (size_t)(stop - p)};
      const nd_charset *c = nd_charset_prescan(page);
      if (!c) c = nd_charset_late_meta(page);
      const char *got = c ? c->name : "windows-1252";
      if (memcmp(p, "\xEF\xBB\xBF", 3) == 0) got = "UTF-8"; /* before any look inside */
      bool same = strlen(got) == name_n && strncasecmp(got, name, name_n) == 0;
      same ? passed++ : failed++;
      if (!same)
        print_message("%s, not %.*s, in:\n%.*s\n", got, (int)name_n, name, (int)(stop - p), p);
      p = name;
    }
    free(text);
  }
  print_message("html5lib encoding: %d passed, %d failed\n", passed, failed);
  assert_true(passed > 50);
  assert_int_equal(failed, 0);
}

static void test_looks_like(void **unused) {
  (void)unused;
  static const char *const yes[] = {"<!DOCTYPE html>",
                                    "  \n<html>",
                                    "<!-- c --> <HTML lang=en>",
                                    "<!doctype HTML PUBLIC \"x\">x",
                                    "<head>",
                                    "<body\nclass=x>",
                                    "<?xml version='1.0'?><!DOCTYPE html><html>",
                                    "<p>a",
                                    "\xEF\xBB\xBF<html>",
                                    "<h1>x</h1>",
                                    "<!-->\n<title>x",
                                    "<br/>",
                                    "<!doctype html"};
  static const char *const no[] = {"",
                                   "<",
                                   "<p",
                                   "text <p>",
                                   "<rss>",
                                   "<?xml version='1.0'?><feed>",
                                   "<!-- never closed",
                                   "<pq>",
                                   "{\"a\": \"<html>\"}",
                                   "<!doctype svg>",
                                   "<!doctype htmlx>",
                                   "<?xml",
                                   "<?xml version='1.0'"};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
    if (!nd_html_looks_like(nd_str_of(yes[i]))) fail_msg("%s", yes[i]);
  }
  for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
    if (nd_html_looks_like(nd_str_of(no[i]))) fail_msg("%s", no[i]);
  }
  assert_true(nd_html_looks_like((nd_str){"\xFF\xFE<\0p\0>\0", 8}));
  assert_true(nd_html_looks_like((nd_str){"\xFE\xFF\0<\0p\0>", 8}));
  assert_false(nd_html_looks_like((nd_str){"\xFE\xFF<\0p\0>\0", 8}));
  char wide[4000] = "\xFF\xFE"; /* only the first thousand characters count */
  for (size_t i = 2; i < sizeof wide; i += 2) wide[i] = ' ';
  memcpy(wide + 2000, "<\0p\0>", 5);
  assert_true(nd_html_looks_like((nd_str){wide, sizeof wide}));
  wide[2000] = wide[2002] = wide[2004] = ' ';
  memcpy(wide + 3000, "<\0p\0>", 5);
  assert_false(nd_html_looks_like((nd_str){wide, sizeof wide}));
}

/* Heads of pages and what they declare; "" is nothing. */
static void prescan_finds_what_heads_declare(void **unused) {
  (void)unused;
  static const char *const rows[][2] = {
      {"<meta charset=koi8-r>", "KOI8-R"},
      {"<meta charset='koi8-r' charset=big5>", "KOI8-R"},
      {"<META/CHARSET = \"koi8-r\">", "KOI8-R"},
      {"<meta charset=nonsense>", ""},
      {"<meta charset=utf-16>", "UTF-8"},
      {"<meta charset=utf-16be>", "UTF-8"},
      {"<meta charset=x-user-defined>", "windows-1252"},
      {"<meta charset=koi8-r", ""},
      {"<metacharset=koi8-r>", ""},
      {"<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "KOI8-R"},
      {"<meta content='text/html; charset = koi8-r; x' http-equiv=Content-Type>", "KOI8-R"},
      {"<meta http-equiv=content-type content='charset charset charset=koi8-r'>", "KOI8-R"},
      {"<meta http-equiv=content-type content='charset=koi8-r and more'>", "KOI8-R"},
      {"<meta http-equiv=content-type content='charset=\"koi8-r\"'>", "KOI8-R"},
      {"<meta http-equiv=content-type content='charset=\"koi8-r'>", ""},
      {"<meta http-equiv=content-type content=\"charset='koi8-r'\">", "KOI8-R"},
      {"<meta http-equiv=content-type content='charset='>", ""},
      {"<meta http-equiv=content-type content='charset=  '>", ""},
      {"<meta http-equiv=content-type content='charset'>", ""},
      {"<meta http-equiv=content-type content='text/html'>", ""},
      {"<meta http-equiv=refresh content='charset=koi8-r'>", ""},
      {"<meta http-equiv=refresh http-equiv=content-type content='charset=koi8-r'>", ""},
      {"<meta content='charset=koi8-r' content='charset=big5' http-equiv=content-type>", "KOI8-R"},
      {"<meta charset=koi8-r http-equiv=refresh content='charset=big5'>", "KOI8-R"},
      {"<meta content='charset=big5' charset=koi8-r>", "KOI8-R"},
      {"<meta charset=nonsense http-equiv=content-type content='charset=big5'>", ""},
      {"<?xml encoding='nonsense'?><p>", ""},
      {"<!-- <meta charset=big5> --><meta charset=koi8-r>", "KOI8-R"},
      {"<!--><meta charset=koi8-r>", "KOI8-R"},
      {"<!-- <meta charset=koi8-r>", ""},
      {"<a title='<meta charset=big5>'></a ><meta charset=koi8-r>", "KOI8-R"},
      {"<a title='<meta charset=koi8-r>", ""},
      {"</a title='<meta charset=big5>'><meta charset=koi8-r>", "KOI8-R"},
      {"<!doctype html><?x <meta charset=big5>></1><meta charset=koi8-r>", "KOI8-R"},
      {"<!doctype html", ""},
      {"< <<meta charset=koi8-r>", "KOI8-R"},
      {"<", ""},
      {"</", ""},
      {"<meta", ""},
      {"<?xml version='1.0' encoding='koi8-r'?><p>", "KOI8-R"},
      {"<?xml encoding = \"utf-16\" ?>", "UTF-8"},
      {"<?xml encoding='koi8-r?>", ""},
      {"<?xml encoding koi8-r?>", ""},
      {"<?xml encoding=koi8-r?>", ""},
      {"<?xml encoding=>", ""},
      {"<?xml encoding>", ""},
      {"<?xml version='1.0'?>", ""},
      {"<?xml encoding='koi8-r'", ""},
      {"<?xml encoding='big5'?><meta charset=koi8-r>", "KOI8-R"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd_str head = nd_str_of(rows[i][0]);
    char *copy = malloc(head.n); /* exact, for the sanitizer */
    memcpy(copy, head.p, head.n);
    const nd_charset *c = nd_charset_prescan((nd_str){copy, head.n});
    if (strcmp(c ? c->name : "", rows[i][1]) != 0)
      fail_msg("%s: %s, not %s", rows[i][0], c ? c->name : "nothing", rows[i][1]);
    free(copy);
  }
  assert_string_equal(nd_charset_prescan((nd_str){"<\0?\0x\0m\0", 8})->name, "UTF-16LE");
  assert_string_equal(nd_charset_prescan((nd_str){"\0<\0?\0x\0m", 8})->name, "UTF-16BE");
  /* Beyond the first 1024 bytes, in the head only. */
  static const char *const late[][2] = {
      {"<title><meta charset=big5></title><!-- <meta charset=big5> --><meta charset=koi8-r>",
       "KOI8-R"},
      {"<body><meta charset=koi8-r>", ""},
      {"<p>no meta</p><meta name=x>", ""},
  };
  for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
    const nd_charset *c = nd_charset_late_meta(nd_str_of(late[i][0]));
    assert_string_equal(c ? c->name : "", late[i][1]);
  }
}

static void test_no_memory(void **unused) {
  (void)unused;
  static const char *const labels[] = {"utf-8", "utf-16", "latin1", "koi8-r", "big5"};
  for (size_t i = 0; i < 5; i++) {
    nd_buf scratch = {0};
    nd_str out;
    nd_mem_fail_at(1);
    assert_int_equal(nd_charset_to_utf8(&out, &scratch, nd_str_of("a\xA4\xA4z"),
                                        nd_str_of(labels[i]), false, NULL),
                     ND_ERR_MEMORY);
    nd_mem_fail_at(0);
    nd_buf_clear(&scratch);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          decodes_with_little_room_odd_labels_and_no_descriptors), /* first: nothing is loaded */
      cmocka_unit_test(labels_find_their_charset),
      cmocka_unit_test(decodes_declared_and_undeclared_charsets),
      cmocka_unit_test(one_replacement_for_each_maximal_subpart),
      cmocka_unit_test(test_valid_prefix),
      cmocka_unit_test(test_cut_character),
      cmocka_unit_test(test_random_bytes),
      cmocka_unit_test(prescan_agrees_with_html5lib),
      cmocka_unit_test(test_looks_like),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(prescan_finds_what_heads_declare),
  };
  /* The level is chosen once a process: the base level runs in a child. */
  int status = 0;
  pid_t child = getenv("NEARDUP_CPU") ? -1 : fork();
  if (child == 0) {
    setenv("NEARDUP_CPU", "base", 1);
    return cmocka_run_group_tests_name("charset, base level", tests, NULL, NULL);
  }
  if (child > 0) waitpid(child, &status, 0);
  return cmocka_run_group_tests_name("charset", tests, NULL, NULL) || status != 0;
}
