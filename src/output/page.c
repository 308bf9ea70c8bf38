/* HTML pages; see page.h. */
#include "output/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/io.h"
#include "base/sha256.h"
#include "base/writer.h"
#include "output/escape.h"
#include "output/page_assets.h"

static void put(nd_page *p, const char *text) {
  if (p->status == ND_OK) p->status = nd_buf_append(&p->html, text, strlen(text), p->err);
}

static void put_safe(nd_page *p, nd_str text) {
  if (p->status == ND_OK) p->status = nd_escape_html(&p->html, text, false, p->err);
}

/* Ends a group of consecutive charts, which are shown side by side. */
static void end_figures(nd_page *p) {
  if (p->figures) put(p, "</div>\n");
  p->figures = false;
}

static void put_element(nd_page *p, const char *tag, const char *text) {
  end_figures(p);
  put(p, "<");
  put(p, tag);
  put(p, ">");
  put_safe(p, nd_str_of(text));
  put(p, "</");
  put(p, tag);
  put(p, ">\n");
}

static nd_status append(nd_buf *out, const char *text, nd_error *err) {
  return nd_buf_append(out, text, strlen(text), err);
}

nd_status nd_page_head(nd_buf *out, const char *title, const char *css, const char *script,
                       nd_error *err) {
  nd_buf style = {0};
  nd_status status = append(&style, nd_chart_style(), err);
  if (status == ND_OK) status = append(&style, nd_asset_page_css, err);
  if (status == ND_OK && css) status = append(&style, css, err);
  if (status == ND_OK) {
    char style_digest[45], script_digest[45] = "";
    nd_sha256_base64(style_digest, nd_buf_str(&style));
    if (script) nd_sha256_base64(script_digest, nd_str_of(script));
    status = nd_buf_printf(
        out, err,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"generator\" content=\"neardup " ND_VERSION
        "\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'sha256-%s'; script-src %s%s%s; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
        style_digest, script ? "'sha256-" : "'none'", script_digest, script ? "'" : "");
  }
  if (status == ND_OK) status = nd_escape_html(out, nd_str_of(title), true, err);
  if (status == ND_OK) status = append(out, "</title>\n<style>", err);
  if (status == ND_OK) status = nd_buf_append(out, style.p, style.n, err);
  if (status == ND_OK) status = append(out, "</style>\n</head>\n<body>\n", err);
  nd_buf_clear(&style);
  return status;
}

nd_status nd_page_foot(nd_buf *out, const char *script, nd_error *err) {
  if (script) {
    ND_TRY(append(out, "<script>", err));
    ND_TRY(append(out, script, err));
    ND_TRY(append(out, "</script>\n", err));
  }
  return append(out, "</body>\n</html>\n", err);
}

nd_status nd_page_figure(nd_buf *out, const nd_chart *chart, nd_error *err) {
  ND_TRY(append(out, "<figure>\n", err));
  ND_TRY(nd_chart_svg(out, chart, false, err));
  ND_TRY(
      append(out, "<details><summary>Numbers of this chart</summary>\n<div class=\"wide\">", err));
  ND_TRY(nd_chart_table(out, chart, err));
  return append(out, "</div></details>\n</figure>\n", err);
}

void nd_page_count(char out[32], uint64_t v) {
  char digits[24];
  int n = snprintf(digits, sizeof digits, "%" PRIu64, v), to = 0;
  for (int i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0) out[to++] = ',';
    out[to++] = digits[i];
  }
  out[to] = '\0';
}

void nd_page_start(nd_page *p, const char *dir, const char *title, const char *lead,
                   nd_error *err) {
  *p = (nd_page){.dir = dir, .err = err};
  p->status = nd_page_head(&p->html, title, NULL, NULL, err);
  put(p, "<main>\n");
  put_element(p, "h1", title);
  if (lead) nd_page_paragraph(p, lead);
}

void nd_page_heading(nd_page *p, const char *text) {
  put_element(p, "h2", text);
}

void nd_page_paragraph(nd_page *p, const char *text) {
  put_element(p, "p", text);
}

void nd_page_code(nd_page *p, const char *text) {
  end_figures(p);
  put(p, "<pre tabindex=\"0\"><code>");
  put_safe(p, nd_str_of(text));
  put(p, "</code></pre>\n");
}

static nd_status write_file(const char *dir, const char *name, const char *ending, nd_str bytes,
                            nd_error *err) {
  nd_buf path = {0};
  nd_writer *w = NULL;
  nd_status status = nd_io_mkdirs(dir, err);
  if (status == ND_OK) status = nd_buf_printf(&path, err, "%s/%s%s", dir, name, ending);
  if (status == ND_OK) status = nd_writer_open(&w, path.p, err);
  if (status == ND_OK) {
    status = nd_writer_put(w, bytes.p, bytes.n, err);
    if (status == ND_OK)
      status = nd_writer_close(w, false, err);
    else
      nd_writer_abandon(w);
  }
  nd_buf_clear(&path);
  return status;
}

void nd_page_chart(nd_page *p, const nd_chart *chart) {
  if (!p->figures) put(p, "<div class=\"figures\">\n");
  p->figures = true;
  if (p->status != ND_OK) return;
  p->status = nd_page_figure(&p->html, chart, p->err);
  if (p->status != ND_OK || !p->dir || !chart->name) return;
  nd_buf svg = {0};
  p->status = nd_chart_svg(&svg, chart, true, p->err);
  if (p->status == ND_OK)
    p->status = write_file(p->dir, chart->name, ".svg", nd_buf_str(&svg), p->err);
  nd_buf_clear(&svg);
}

void nd_page_table(nd_page *p, const char *caption, const char *const *columns, size_t n) {
  end_figures(p);
  p->columns = n;
  p->cell = 0;
  put(p, "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"");
  put_safe(p, nd_str_of(caption));
  put(p, "\"><table><caption>");
  put_safe(p, nd_str_of(caption));
  put(p, "</caption><thead><tr>");
  for (size_t i = 0; i < n; i++) {
    nd_str name = nd_str_of(columns[i]);
    bool number = name.n && name.p[name.n - 1] == '#';
    put(p, number ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">");
    put_safe(p, (nd_str){name.p, name.n - number});
    put(p, "</th>");
  }
  put(p, "</tr></thead>\n<tbody>\n");
}

static void cell(nd_page *p, nd_str text, bool number) {
  if (p->cell % p->columns == 0) put(p, "<tr>");
  put(p, number ? "<td class=\"num\">" : "<td><bdi>");
  put_safe(p, text);
  put(p, number ? "</td>" : "</bdi></td>");
  if (++p->cell % p->columns == 0) put(p, "</tr>\n");
}

void nd_page_cell_str(nd_page *p, nd_str text) {
  cell(p, text, false);
}

void nd_page_cell(nd_page *p, const char *text) {
  cell(p, nd_str_of(text ? text : ""), false);
}

void nd_page_cell_number(nd_page *p, double v, int decimals) {
  char text[400];
  snprintf(text, sizeof text, "%.*f", decimals < 0 ? 0 : decimals > 17 ? 17 : decimals, v);
  cell(p, nd_str_of(isnan(v) ? "\xe2\x80\x93" : text), true);
}

void nd_page_cell_count(nd_page *p, uint64_t v) {
  char text[32];
  nd_page_count(text, v);
  cell(p, nd_str_of(text), true);
}

void nd_page_table_end(nd_page *p) {
  while (p->columns && p->cell % p->columns != 0) cell(p, (nd_str){"", 0}, false);
  put(p, "</tbody></table></div>\n");
}

nd_status nd_page_write(nd_page *p) {
  end_figures(p);
  put(p, "</main>\n");
  if (p->status == ND_OK) p->status = nd_page_foot(&p->html, NULL, p->err);
  if (p->status == ND_OK && p->dir)
    p->status = write_file(p->dir, "index", ".html", nd_buf_str(&p->html), p->err);
  nd_buf_clear(&p->html);
  return p->status;
}
