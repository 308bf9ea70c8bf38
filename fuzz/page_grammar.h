/* A grammar of HTML pages whose visible words are known.
 *
 * Words are "q", four hexadecimal digits, "z"; those that nobody is to see (in scripts,
 * comments, attributes …) begin with "h".  Whatever surrounds them, exactly the visible ones must
 * come out, in order.  PAGE_MARK stands for the one character that is not ASCII, which the page's
 * charset decides. */
#ifndef FUZZ_PAGE_GRAMMAR_H
#define FUZZ_PAGE_GRAMMAR_H

#include "grammar.h"

#define PAGE_MARK "\x01"
enum { PAGE_MOST = 8 << 10, PAGE_DEEPEST = 9 };

typedef struct page {
  nd_buf html;
  nd_buf seen; /* the words to see, a space behind each */
  unsigned next;
  bool nuls;       /* may hold NUL characters */
  unsigned hidden; /* open templates */
  bool foreign;    /* inside SVG or MathML, which a <b> would end */
  fuzz_bytes *in;
} page;

typedef enum page_as { PAGE_DATA, PAGE_RCDATA, PAGE_RAW } page_as;

static void page_put(page *g, const char *s) {
  fuzz_puts(&g->html, s);
}

static void page_hide(page *g) {
  fuzz_putf(&g->html, "h%04xz", g->next++ & 0xffff);
}

/* A word to see, spelled as it may be where it stands. */
static void page_show(page *g, page_as as) {
  unsigned n = g->next++ & 0xffff, how = fuzz_pick(g->in, 10);
  if (!g->hidden) fuzz_putf(&g->seen, "q%04xz ", n);
  if (how == 8 && g->nuls) {
    fuzz_put(&g->html, "q\0", 2);
    fuzz_putf(&g->html, "%04xz", n);
    return;
  }
  if (as == PAGE_RAW) how %= 2;
  if (as == PAGE_RCDATA || (g->foreign && how == 5)) how %= 5;
  switch (how) {
    default: fuzz_putf(&g->html, "q%04xz", n); break;
    case 1: fuzz_putf(&g->html, "Q%04XZ", n); break;
    case 2: fuzz_putf(&g->html, "&#113;%04xz", n); break;
    case 3: fuzz_putf(&g->html, "&#X0071;%04x&#122", n); break;
    case 4: fuzz_putf(&g->html, "q%04x&#x7A;", n); break;
    case 5: fuzz_putf(&g->html, "q%02x<b>%02x</b>z", n >> 8, n & 255); break;
    case 6:
      fuzz_putf(&g->html, "q%02x<!-- ", n >> 8);
      page_hide(g);
      fuzz_putf(&g->html, "-->%02xz", n & 255);
      break;
    case 7: fuzz_putf(&g->html, "q%02x<wbr/>%02x</Span\t>z</>", n >> 8, n & 255); break;
  }
}

static void page_space(page *g) {
  static const char *const spaces[] = {" ", "\n", "\t", "\r\n", "\f", " \n\n ", NULL};
  page_put(g, fuzz_word(g->in, spaces));
}

static void page_words(page *g, page_as as) {
  for (unsigned n = 1 + fuzz_pick(g->in, 4); n; n--) {
    page_space(g);
    page_show(g, as);
  }
  page_space(g);
}

/* --- tags ----------------------------------------------------------------------- */
static void page_attributes(page *g) {
  static const char *const names[] = {"class", "title",  "DATA-x", "href", "onclick", "alt",
                                      "src",   "=value", "a\"b",   "x:y",  "x<y",     NULL};
  bool bare = false; /* the last one: a '=' would give it a value */
  for (unsigned n = fuzz_pick(g->in, 4); n; n--) {
    const char *name = fuzz_word(g->in, names);
    unsigned how = fuzz_pick(g->in, 6);
    page_put(g, fuzz_chance(g->in, 4) ? "\n/ " : " ");
    page_put(g, name + (bare && *name == '='));
    bare = how == 0;
    if (bare) continue;
    page_put(g, fuzz_chance(g->in, 4) ? " = " : "=");
    page_put(g, how == 1 ? "" : how % 2 ? "\"" : "'");
    page_hide(g);
    if (how == 1) continue;
    page_put(g, how % 2 ? " > '<p>' &quot; " : " > \"<p>\" <!-- ");
    if (how == 4) page_put(g, "</script></title></template>");
    page_hide(g);
    page_put(g, how % 2 ? "\"" : "'");
  }
}

static void page_open(page *g, const char *name) {
  page_put(g, "<");
  fuzz_put_cased(&g->html, name, g->in);
  page_attributes(g);
  page_put(g, fuzz_chance(g->in, 4) ? " >" : ">");
}

static void page_close(page *g, const char *name) {
  page_put(g, "</");
  fuzz_put_cased(&g->html, name, g->in);
  if (fuzz_chance(g->in, 4)) page_attributes(g);
  page_put(g, fuzz_chance(g->in, 4) ? "\n>" : ">");
}

/* --- what is not text ------------------------------------------------------------- */
static void page_comment(page *g) {
  static const char *const begins[] = {"<!-- ", "<!--", "<!---", "<!--<!--", "<!-- --", NULL};
  static const char *const ends[] = {" -->", "-->", "--->", "--!>", "<!-->", NULL};
  static const char *const whole[] = {"<!-->", "<!--->", "<!---->", "<!>", "<?>", "</>", NULL};
  static const char *const bogus[] = {"<!",         "<?php ",     "</ ", "</1",
                                      "<![CDATA[ ", "<!doctype ", "<!-", NULL};
  unsigned how = fuzz_pick(g->in, 4);
  if (how == 3) {
    page_put(g, fuzz_word(g->in, whole));
    return;
  }
  page_put(g, fuzz_word(g->in, how == 2 ? bogus : begins));
  page_hide(g);
  if (how == 1) page_put(g, " <p> -- > - > </script> ");
  page_hide(g);
  page_put(g, how == 2 ? " -- ]]>" : fuzz_word(g->in, ends));
}

static void page_script(page *g) {
  page_open(g, "script");
  for (unsigned n = fuzz_pick(g->in, 4); n; n--) {
    page_hide(g);
    switch (fuzz_pick(g->in, 6)) {
      case 0: page_put(g, " if (a<b && c>d) '</scrip' + '</scriptx>' "); break;
      case 1: page_put(g, " <!-- "); break;
      case 2:
        page_put(g, " <!-- <script> ");
        page_hide(g);
        page_put(g, " </script> ");
        page_hide(g);
        page_put(g, " --> ");
        break;
      case 3: page_put(g, " <!--> <script> "); break;
      case 4: page_put(g, " --> "); break;
      case 5: page_put(g, " <!-- <scriptx> <b> &lt;/script> "); break;
    }
  }
  page_put(g, "<!-- -->"); /* whatever was open */
  page_close(g, "script");
}

static void page_raw(page *g) {
  static const char *const names[] = {"style", "iframe", "noembed", "noframes", NULL};
  const char *name = fuzz_word(g->in, names);
  page_open(g, name);
  page_hide(g);
  page_put(g, " <p> <!-- <script> </p> </ </styl </stylex> &lt; ");
  page_hide(g);
  page_close(g, name);
}

/* --- what is shown as it is --------------------------------------------------------- */
static void page_shown(page *g) {
  static const char *const names[] = {"title", "textarea", "xmp", NULL};
  const char *name = fuzz_word(g->in, names);
  page_as as = name[0] == 'x' ? PAGE_RAW : PAGE_RCDATA;
  page_open(g, name);
  page_words(g, as);
  page_put(g, "<b> <!-- ");
  page_words(g, as);
  page_put(g, " --> </b> </titl </ <script> &amp; ");
  page_words(g, as);
  page_close(g, name);
}

static void page_children(page *g, unsigned depth);

/* SVG and MathML: CDATA is text here, titles are not raw, and tags may close themselves. */
static void page_foreign(page *g) {
  static const char *const roots[] = {"svg", "math", NULL};
  static const char *const names[] = {"g", "path", "mi", "desc", "title", "a", "textPath", NULL};
  const char *root = fuzz_word(g->in, roots);
  if (fuzz_chance(g->in, 8)) { /* an empty one */
    page_put(g, "<");
    page_put(g, root);
    page_put(g, " />");
    return;
  }
  page_open(g, root);
  g->foreign = true;
  bool left = false;
  for (unsigned n = 1 + fuzz_pick(g->in, 4); n && !left; n--) {
    const char *name = fuzz_word(g->in, names);
    switch (fuzz_pick(g->in, 8)) {
      case 0: page_words(g, PAGE_DATA); break;
      case 1:
        page_put(g, "<![CDATA[ ");
        page_words(g, PAGE_RAW);
        page_put(g, " <b> ]] > <!-- ");
        page_words(g, PAGE_RAW);
        page_put(g, "]]>");
        break;
      case 2:
        page_open(g, name);
        page_words(g, PAGE_DATA);
        page_close(g, name);
        break;
      case 3:
        page_put(g, "<");
        page_put(g, name);
        page_attributes(g);
        page_put(g, " />");
        break;
      case 4: page_put(g, "<script/> "); break;
      case 5: page_script(g); break;
      case 6:
        page_put(g, "<!-- ");
        page_hide(g);
        page_put(g, " -->");
        break;
      case 7: /* a page's own tag ends it */
        page_put(g, "<p>");
        g->foreign = false;
        page_words(g, PAGE_DATA);
        page_comment(g);
        left = true;
    }
  }
  g->foreign = false;
  if (!left || fuzz_chance(g->in, 2)) page_close(g, root);
}

static void page_template(page *g, unsigned depth) {
  bool shown = g->hidden == 0 && fuzz_chance(g->in, 4);
  if (shown) {
    page_put(g, "<template\nclass=a shadowrootmode='open'>");
  } else {
    page_open(g, "template");
    g->hidden++;
  }
  page_children(g, depth + 1);
  page_close(g, "template");
  if (!shown) g->hidden--;
}

static void page_odd(page *g) {
  static const char *const odd[] = {" < ",
                                    " <3 ",
                                    " <",
                                    " & ",
                                    " &; ",
                                    " &# ",
                                    " &#x; ",
                                    " &#0; ",
                                    " &amp; ",
                                    " &lt;b&gt; ",
                                    " &copy ",
                                    " &notit; ",
                                    " &nbsp;",
                                    " &#x80; ",
                                    " &#xD800; ",
                                    " ]]> ",
                                    " --> ",
                                    "</p>",
                                    "</b\n>",
                                    "</br/>",
                                    "</title>",
                                    "</script>",
                                    "</none>",
                                    " = \" ' ",
                                    " &hellip;",
                                    " &#99999999999; ",
                                    "</script/a='>'>",
                                    NULL};
  page_put(g, fuzz_word(g->in, odd));
  page_put(g, " ");
}

/* --- the page ------------------------------------------------------------------------ */
static void page_children(page *g, unsigned depth) {
  static const char *const inlines[] = {"b",        "i",    "em", "span",   "a",  "code", "x-y",
                                        "noscript", "font", "p1", "titles", "bb", NULL};
  static const char *const blocks[] = {"p",          "div",    "h1",     "li",  "td",
                                       "tr",         "table",  "ul",     "pre", "body",
                                       "blockquote", "select", "option", NULL};
  static const char *const voids[] = {"br", "hr", "img", "input", "meta", "link", "wbr", NULL};
  for (unsigned rule; g->html.n < PAGE_MOST && (rule = fuzz_pick(g->in, 16));) {
    const char *name = fuzz_word(g->in, rule == 3 || rule == 4 ? inlines : blocks);
    switch (rule) {
      default: page_words(g, PAGE_DATA); break;
      case 3:
      case 4:
      case 5:
        page_open(g, name);
        if (depth < PAGE_DEEPEST) page_children(g, depth + 1);
        if (!fuzz_chance(g->in, 4)) page_close(g, name);
        break;
      case 6: page_comment(g); break;
      case 7: page_open(g, fuzz_word(g->in, voids)); break;
      case 8: page_script(g); break;
      case 9: page_raw(g); break;
      case 10: page_shown(g); break;
      case 11: page_foreign(g); break;
      case 12:
        if (depth < PAGE_DEEPEST) page_template(g, depth);
        break;
      case 13: page_odd(g); break;
      case 14:
        page_put(g, " " PAGE_MARK " ");
        if (!g->hidden) fuzz_puts(&g->seen, PAGE_MARK " ");
        break;
      case 15: page_put(g, "<script/>"), page_hide(g), page_put(g, "</script>"); break;
    }
  }
}

/* How a page may end in the middle of something. */
static void page_tail(page *g) {
  static const char *const cuts[] = {"<",  "</",  "<!", "<!-",  "<!--",      "<?",    "&",
                                     "&#", "&#x", "<a", "</a ", "<!doctype", "<a b=", NULL};
  switch (fuzz_pick(g->in, 16)) {
    case 1:
      page_open(g, "plaintext");
      page_words(g, PAGE_RAW);
      page_put(g, "</plaintext> <b class=x> <!-- ");
      page_words(g, PAGE_RAW);
      page_put(g, " --> <script> &amp; </script> ");
      page_words(g, PAGE_RAW);
      break;
    case 2: page_put(g, "<!-- -- > <p> "), page_hide(g); break;
    case 3: page_put(g, "<div class=x "), page_hide(g); break;
    case 4: page_put(g, "<a href=\"> <p> "), page_hide(g), page_put(g, " </p>"); break;
    case 5: page_open(g, "script"), page_hide(g), page_put(g, " </scrip"); break;
    case 6: page_open(g, "style"), page_hide(g), page_put(g, " <p>"); break;
    case 7: page_open(g, "title"), page_words(g, PAGE_RCDATA), page_put(g, " <b> "); break;
    case 8: page_open(g, "xmp"), page_words(g, PAGE_RAW), page_put(g, " </xm"); break;
    case 9:
      page_put(g, "<template>");
      g->hidden++;
      page_children(g, 1);
      g->hidden--;
      break;
    case 10: page_put(g, "<svg><![CDATA[ "), page_words(g, PAGE_RAW), page_put(g, "<b>"); break;
    case 11:
      page_put(g, "<script> <!-- <script> ");
      page_hide(g);
      page_put(g, " </script> ");
      page_hide(g);
      break;
    case 12:
    case 13: page_put(g, fuzz_word(g->in, cuts)); break;
    default: break;
  }
}

/* A page behind what g->html holds. */
static void page_make(page *g) {
  page_children(g, 0);
  page_tail(g);
}

#endif
