/* The report as an HTML page; see report.h.  Its script only rearranges what is there: without
 * scripts, a reader loses the slider and the cluster browser. */
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "output/escape.h"
#include "output/page.h"
#include "output/page_assets.h"
#include "report/report_draw.h"
#include "settings/option_fields.h"

void nd_report_clear(nd_report *r) {
  nd_free(r->size_x);
  nd_free(r->size_y);
  nd_buf_clear(&r->command);
  nd_buf_clear(&r->browser);
  *r = (nd_report){0};
}

nd_report_row *nd_report_rank(nd_report_group *g, uint64_t documents, uint64_t dropped) {
  size_t at = g->n;
  while (at > 0 && (g->rows[at - 1].dropped < dropped ||
                    (g->rows[at - 1].dropped == dropped && g->rows[at - 1].documents < documents)))
    at--;
  if (at == ND_REPORT_ROWS) return NULL;
  size_t last = g->n < ND_REPORT_ROWS ? g->n++ : ND_REPORT_ROWS - 1;
  memmove(g->rows + at + 1, g->rows + at, (last - at) * sizeof *g->rows);
  g->rows[at] = (nd_report_row){.documents = documents, .dropped = dropped};
  return &g->rows[at];
}

void nd_report_name(char out[ND_REPORT_NAME + 8], nd_str name) {
  size_t n = name.n < ND_REPORT_NAME ? name.n : ND_REPORT_NAME;
  if (n < name.n)
    while (n > 0 && ((unsigned char)name.p[n] & 0xc0) == 0x80) n--;
  for (size_t i = 0; i < n; i++) out[i] = name.p[i] ? name.p[i] : ' ';
  memcpy(out + n, n < name.n ? "\xe2\x80\xa6" : "", n < name.n ? 4 : 1);
}

static void put_count(nd_pen *p, uint64_t v) {
  char text[32];
  nd_page_count(text, v);
  nd_pen_put(p, "%s", text);
}

/* The value of <data> is the plain number, for programs. */
static void put_data(nd_pen *p, const char *name, uint64_t v) {
  nd_pen_put(p, "<data id=\"n-%s\" value=\"%" PRIu64 "\">", name, v);
  put_count(p, v);
  nd_pen_put(p, "</data>");
}

static void put_bytes(nd_pen *p, double v) {
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (v >= 999.5 && unit < 5) v /= 1000, unit++; /* untaken: more than 999 PB */
  nd_pen_put(p, unit && v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

typedef struct flow_part {
  const char *name, *label, *why;
  uint64_t n;
  unsigned colour;
} flow_part;

static void put_flow(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  uint64_t copies = s->copies < s->dropped ? s->copies : s->dropped;
  const flow_part parts[] = {
      {"kept", "kept", "in kept/, byte for byte", s->kept, 1},
      {"near", "near-duplicates dropped",
       r->verified ? "each verified against the kept one" : "not verified exactly, as requested",
       s->dropped - copies, 2},
      {"copies", "exact duplicates dropped", "the same words in the same order", copies, 5},
      {"rejected", "rejected", "could not be read: see below", s->rejected, 4}};
  enum { PARTS = 4 };
  nd_pen_put(p,
             "<svg class=\"flow\" viewBox=\"0 0 1000 40\" preserveAspectRatio=\"none\" "
             "role=\"img\" aria-label=\"Of %" PRIu64 " documents",
             s->documents);
  for (int i = 0; i < PARTS; i++)
    nd_pen_put(p, "%s %" PRIu64 " %s", i ? "," : "", parts[i].n, parts[i].label);
  nd_pen_put(p, "\">");
  double at = 0;
  for (int i = 0; i < PARTS; i++) {
    double width = percent(parts[i].n, s->documents) * 10;
    if (parts[i].n && width < 2) width = 2;
    nd_pen_put(p,
               "<rect class=\"f%u\" id=\"flow-%s\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"40\">"
               "<title>%" PRIu64 " %s</title></rect>",
               parts[i].colour, parts[i].name, at, width, parts[i].n, parts[i].label);
    at += width;
  }
  nd_pen_put(p, "</svg>\n<dl class=\"cards\">\n");
  for (int i = 0; i < PARTS; i++) {
    nd_pen_put(p, "<div class=\"card b%u\"><dt>%s</dt><dd><b>", parts[i].colour, parts[i].label);
    put_data(p, parts[i].name, parts[i].n);
    nd_pen_put(
        p,
        "</b> <span class=\"quiet\">%.1f %%</span><br><span class=\"quiet\">%s</span></dd></div>\n",
        percent(parts[i].n, s->documents), parts[i].why);
  }
  nd_pen_put(p, "</dl>\n");
}

static void put_lead(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  nd_pen_put(p, "<p class=\"lead\"><b>");
  put_data(p, "documents", s->documents);
  nd_pen_put(p, "</b> document%s in ", s->documents == 1 ? "" : "s");
  put_count(p, s->files);
  nd_pen_put(p, " file%s (", s->files == 1 ? "" : "s");
  put_bytes(p, (double)s->bytes);
  nd_pen_put(p, ") read; <b>");
  put_count(p, s->kept);
  nd_pen_put(p, "</b> stayed, <b>");
  put_data(p, "dropped", s->dropped);
  nd_pen_put(p, "</b> dropped as duplicates from ");
  put_data(p, "clusters", s->clusters);
  nd_pen_put(p, " cluster%s", s->clusters == 1 ? "" : "s");
  if (s->rejected) {
    nd_pen_put(p, ", ");
    put_count(p, s->rejected);
    nd_pen_put(p, " could not be read");
  }
  nd_pen_put(p, ".</p>\n");
  if (r->other) {
    nd_pen_put(p, "<p>They were compared with ");
    put_count(p, s->against_documents);
    nd_pen_put(p, " documents of the reference collection, which are not counted here.</p>\n");
  }
}

static void put_what_if(nd_pen *p, const nd_report *r) {
  if (r->whole || r->summary->documents == 0) return;
  int low = (int)ceil(r->threshold * 100 - 1e-9);
  nd_pen_put(
      p,
      "<section class=\"panel\" id=\"what-if\" aria-labelledby=\"what-if-h\">\n"
      "<h3 id=\"what-if-h\">What if the threshold were higher?</h3>\n"
      "<p><label for=\"threshold\">Threshold</label> "
      "<input type=\"range\" id=\"threshold\" min=\"%d\" max=\"100\" step=\"1\" value=\"%d\" "
      "aria-describedby=\"what-if-note\"> "
      "<output for=\"threshold\" id=\"what-if-t\">%.2f</output></p>\n"
      "<p aria-live=\"polite\">%s<b id=\"what-if-kept\">",
      low, low, low / 100.0, r->stays_known ? "" : "About ");
  put_count(p, r->summary->kept);
  nd_pen_put(p, "</b> documents would be kept and <b id=\"what-if-dropped\">");
  put_count(p, r->summary->dropped);
  nd_pen_put(p,
             "</b> dropped.</p>\n<p class=\"quiet\" id=\"what-if-note\">%s A lower "
             "threshold than %.10g needs another run: pairs below it were not recorded.</p>\n"
             "</section>\n",
             !r->stays_known
                 ? "Estimated from the similarity of each dropped document to the one it was "
                   "assigned to: fewer would be kept, assigned to another one."
             : r->summary->bands
                 ? "Counted from the pairs of this run. A run at that threshold chooses its own "
                   "bands, and may find a few more or fewer."
                 : "Counted from the pairs of this run.",
             r->threshold);
}

static void put_figure(nd_pen *p, nd_status (*draw)(nd_buf *, const nd_report *, nd_error *),
                       const nd_report *r) {
  if (p->status == ND_OK) p->status = draw(p->out, r, p->err);
}

static void put_similarity(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  nd_pen_put(p, "<h2 id=\"similarity\">Similarity and recall</h2>\n<p>");
  put_data(p, "pairs", s->pairs);
  nd_pen_put(p, " pair%s reach%s the threshold of %.10g", s->pairs == 1 ? "" : "s",
             s->pairs == 1 ? "es" : "", r->threshold);
  uint64_t copies = s->copies < s->pairs && !r->other ? s->copies : 0;
  if (s->candidates) {
    nd_pen_put(p, ": ");
    if (copies) {
      put_count(p, copies);
      nd_pen_put(p, " of exact duplicates, and ");
    }
    put_count(p, s->pairs - copies);
    nd_pen_put(p, " of the ");
    put_data(p, "candidates", s->candidates);
    nd_pen_put(p, " candidates that were compared");
  }
  nd_pen_put(p, ". ");
  double missed = nd_report_missed(r);
  if (missed >= 0) {
    nd_pen_put(p,
               "With %u bands of %u rows a pair exactly at the threshold is found with "
               "probability <data id=\"n-recall\" value=\"%.6f\">%.1f %%</data>. "
               "Estimated from the pairs that were found, about <data id=\"n-missed\" "
               "value=\"%.6f\">%.2g %%</data> of all pairs above it may have been missed.",
               s->bands, s->rows, s->predicted_recall, s->predicted_recall * 100, missed,
               missed * 100);
  } else if (!s->bands) {
    nd_pen_put(p, "The method <code>");
    nd_pen_text(p, r->options->method);
    nd_pen_put(p, "</code> has no bands, so there is no detection curve.");
  }
  nd_pen_put(p, "</p>\n<div class=\"pair\">\n");
  put_figure(p, nd_report_similarities, r);
  if (s->bands && !r->whole) put_figure(p, nd_report_detection, r);
  nd_pen_put(p, "</div>\n");
  put_what_if(p, r);
}

static void put_clusters(nd_pen *p, const nd_report *r) {
  nd_pen_put(p, "<h2 id=\"clusters\">Clusters</h2>\n");
  if (r->summary->clusters == 0) {
    nd_pen_put(p, "<p>None: no document is a near-duplicate of another.</p>\n");
    return;
  }
  nd_pen_put(p, "<div class=\"pair\">\n");
  put_figure(p, nd_report_sizes, r);
  nd_pen_put(
      p,
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Largest clusters\">"
      "<table id=\"largest\"><caption>Largest clusters, by their kept member</caption>"
      "<thead><tr><th scope=\"col\">kept member</th><th scope=\"col\" class=\"num\">documents"
      "</th><th scope=\"col\" class=\"num\">%s</th></tr></thead><tbody>\n",
      r->falling ? "farthest" : "least similar");
  for (size_t i = 0; i < r->largest_n && i < 10; i++) {
    nd_pen_put(p, "<tr><td><bdi>");
    nd_pen_text(p, r->largest[i].id);
    nd_pen_put(p, "</bdi></td><td class=\"num\">");
    put_count(p, r->largest[i].size);
    if (isinf(r->largest[i].lowest))
      nd_pen_put(p, "</td><td class=\"num\">\xe2\x80\x93</td></tr>\n");
    else
      nd_pen_put(p,
                 r->whole ? "</td><td class=\"num\">%.0f</td></tr>\n"
                          : "</td><td class=\"num\">%.3f</td></tr>\n",
                 r->largest[i].lowest);
  }
  nd_pen_put(p, "</tbody></table></div>\n</div>\n");
}

static void put_part(nd_pen *p, const nd_report_group *g, const char *name, const char *title,
                     const char *note) {
  if (g->n == 0 || p->status != ND_OK) return;
  nd_pen_put(p, "<div>");
  if (p->status == ND_OK) p->status = nd_report_parts(p->out, g, name, title, p->err);
  if (note || g->distinct > g->n) {
    nd_pen_put(p, "<p class=\"quiet\">");
    nd_pen_text(p, note);
    if (g->distinct > g->n) {
      nd_pen_put(p, "%sThe %zu with most duplicates, of ", note ? " " : "", g->n);
      put_count(p, g->distinct);
      nd_pen_put(p, ".");
    }
    nd_pen_put(p, "</p>");
  }
  nd_pen_put(p, "</div>\n");
}

static void put_parts(nd_pen *p, const nd_report *r) {
  char note[200];
  nd_pen_put(p, "<h2 id=\"where\">Where the duplicates are</h2>\n<div class=\"pair\">\n");
  put_part(p, &r->files, "by-file", r->by_folder ? "By folder" : "By source file", NULL);
  if (r->sites.n)
    put_part(p, &r->sites, "by-site", "By site",
             "The host of the URL, without its first label if it has more than two.");
  snprintf(note, sizeof note,
           "Guessed from script and common short words, in a sample of %" PRIu64 " document%s.",
           r->language_sample, r->language_sample == 1 ? "" : "s");
  put_part(p, &r->languages, "by-language", "By language (guessed)", note);
  put_part(p, &r->sizes, "by-size", "By size of the record", "Bytes in the input.");
  nd_pen_put(p, "</div>\n");
  if (!r->sites.n)
    nd_pen_put(p, "<p class=\"quiet\">No document has a URL, so sites are unknown.</p>\n");
}

static void put_unusual(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  nd_pen_put(p, "<h2 id=\"unusual\">Left out or cut short</h2>\n<ul>\n<li>");
  put_data(p, "rejected-again", s->rejected);
  nd_pen_put(p, " record%s rejected (a record above ", s->rejected == 1 ? "" : "s");
  put_bytes(p, (double)s->max_document);
  nd_pen_put(p, " is).</li>\n<li>");
  put_data(p, "empty", s->empty);
  nd_pen_put(p, " document%s without words: kept, similar to no other.</li>\n<li>",
             s->empty == 1 ? "" : "s");
  put_data(p, "others", s->others);
  nd_pen_put(p, " record%s that %s no document%s (blank lines, images, headers).</li>\n",
             s->others == 1 ? "" : "s", s->others == 1 ? "is" : "are", s->others == 1 ? "" : "s");
  if (s->bands) {
    nd_pen_put(p, "<li>");
    put_data(p, "hot", s->hot_buckets);
    nd_pen_put(p, " oversized bucket%s above <code>--bucket-cap</code> %" PRIu64 ", with ",
               s->hot_buckets == 1 ? "" : "s", r->options->bucket_cap);
    put_count(p, s->hot_documents);
    nd_pen_put(p, " documents: compared with one member only. The largest bucket has ");
    put_count(p, s->largest_bucket);
    nd_pen_put(p, ".</li>\n");
  }
  if (s->sampled) {
    nd_pen_put(p, "<li>Sampled by <code>");
    nd_pen_text(p, r->options->sample);
    nd_pen_put(p, "</code>: ");
    put_data(p, "sample-kept", s->sample_kept);
    nd_pen_put(p, " of ");
    put_data(p, "sample-seen", s->sample_seen);
    nd_pen_put(p, " shingles were kept, and ");
    put_data(p, "sample-emptied", s->sample_emptied);
    nd_pen_put(p, " documents lost all of theirs.</li>\n");
  }
  if (s->repeated_ids) {
    nd_pen_put(p, "<li>");
    put_count(p, s->repeated_ids);
    nd_pen_put(p, " repeated ids, e.g. <bdi>");
    nd_pen_text(p, s->repeated_id);
    nd_pen_put(p, "</bdi>.</li>\n");
  }
  nd_pen_put(p, "</ul>\n");
  if (!r->reject_n) return;
  nd_pen_put(p,
             "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Rejected records\">"
             "<table id=\"rejects\"><caption>Reasons for rejection (all records: ");
  nd_pen_put(p, r->options->csv ? "rejected.csv" : "rejected.tsv");
  nd_pen_put(p,
             "; # stands for a number)</caption><thead><tr><th scope=\"col\">reason</th>"
             "<th scope=\"col\" class=\"num\">records</th><th scope=\"col\">for example</th></tr>"
             "</thead><tbody>\n");
  for (size_t i = 0; i < r->reject_n; i++) {
    nd_pen_put(p, "<tr><td><bdi>");
    nd_pen_text(p, r->rejects[i].reason);
    nd_pen_put(p, "</bdi></td><td class=\"num\">");
    put_count(p, r->rejects[i].count);
    nd_pen_put(p, "</td><td><bdi>");
    nd_pen_text(p, r->rejects[i].example);
    nd_pen_put(p, "</bdi></td></tr>\n");
  }
  if (r->other_rejects) {
    nd_pen_put(p, "<tr><td>other reasons</td><td class=\"num\">");
    put_count(p, r->other_rejects);
    nd_pen_put(p, "</td><td></td></tr>\n");
  }
  nd_pen_put(p, "</tbody></table></div>\n");
}

static void put_cost(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  nd_pen_put(p, "<section id=\"cost\">\n<h2>What it cost</h2>\n<p>%.3f seconds on %u thread%s",
             s->seconds, s->threads, s->threads == 1 ? "" : "s");
  if (s->peak_memory) { /* unknown if other machines did the work */
    nd_pen_put(p, " (%.3f CPU seconds); at most ", s->cpu_seconds);
    put_bytes(p, (double)s->peak_memory);
    nd_pen_put(p, " of memory (allowed: ");
    put_bytes(p, (double)s->memory);
    nd_pen_put(p, ")");
  }
  nd_pen_put(p, ", ");
  put_bytes(p, (double)s->temporary_bytes);
  nd_pen_put(
      p,
      " of temporary files.</p>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Stages\"><table><caption>By stage</caption><thead><tr>"
      "<th scope=\"col\">stage</th><th scope=\"col\" class=\"num\">seconds</th>"
      "<th scope=\"col\" class=\"num\">documents/s</th><th scope=\"col\" class=\"num\">input/s"
      "</th><th scope=\"col\" class=\"num\">peak memory so far</th></tr></thead><tbody>\n");
  for (int i = 0; i < 4; i++) {
    const nd_report_stage *stage = &r->stages[i];
    nd_pen_put(p,
               "<tr><td>%s<br><span class=\"quiet\">%s</span></td><td class=\"num\">%.3f</td>"
               "<td class=\"num\">",
               stage->name, stage->what, stage->seconds);
    if (stage->seconds >= 0.001) {
      put_count(p, (uint64_t)((double)s->documents / stage->seconds));
      nd_pen_put(p, "</td><td class=\"num\">");
      put_bytes(p, (double)s->raw_bytes / stage->seconds);
    } else {
      nd_pen_put(p, "\xe2\x80\x93</td><td class=\"num\">\xe2\x80\x93");
    }
    nd_pen_put(p, "</td><td class=\"num\">");
    if (stage->peak)
      put_bytes(p, (double)stage->peak);
    else
      nd_pen_put(p, "\xe2\x80\x93");
    nd_pen_put(p, "</td></tr>\n");
  }
  nd_pen_put(p, "</tbody></table></div>\n</section>\n");
}

static void put_again(nd_pen *p, const nd_report *r) {
  nd_pen_put(p,
             "<section id=\"again\">\n<h2>Repeat this run</h2>\n"
             "<pre tabindex=\"0\"><code id=\"command\">");
  if (p->status == ND_OK) p->status = nd_escape_html(p->out, nd_buf_str(&r->command), true, p->err);
  nd_pen_put(p,
             "</code></pre>\n<p><button type=\"button\" id=\"copy\" hidden>Copy</button> "
             "<span class=\"quiet\">Options that are not shown have their defaults; "
             "summary.json lists all of them.</span></p>\n</section>\n");
}

static void put_browser(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  if (s->clusters == 0) return;
  nd_pen_put(p, "<section id=\"browse\">\n<h2>Browse clusters</h2>\n<p>");
  put_data(p, "embedded", r->browser_clusters);
  nd_pen_put(p, " of ");
  put_count(p, s->clusters);
  nd_pen_put(p, " cluster%s %s in this page, ", s->clusters == 1 ? "" : "s",
             r->browser_clusters == 1 ? "is" : "are");
  put_data(p, "texts", r->browser_texts);
  nd_pen_put(p,
             " with texts: a sample over all similarities, borderline ones first. "
             "<code>neardup explain A B INPUT</code> compares any two documents.</p>\n"
             "<noscript><p>This part needs the page's own script.</p></noscript>\n"
             "<div class=\"browser\" id=\"browser\" hidden>\n"
             "<div class=\"finder\"><label for=\"search\">Search by id or URL</label>\n"
             "<input type=\"search\" id=\"search\" autocomplete=\"off\" spellcheck=\"false\">\n"
             "<p class=\"quiet\" id=\"found\" role=\"status\"></p>\n"
             "<ul id=\"list\" class=\"list\"></ul>\n"
             "<p><button type=\"button\" id=\"more\" hidden>Show more</button></p></div>\n"
             "<div id=\"cluster\" class=\"cluster\" tabindex=\"-1\"></div>\n</div>\n</section>\n");
}

static void put_json(nd_pen *p, const nd_report *r) {
  const nd_summary *s = r->summary;
  nd_pen_put(p,
             "<script type=\"application/json\" id=\"data\">{\"documents\":%" PRIu64
             ",\"kept\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"whole\":%s,\"stays\":[",
             s->documents, s->kept, s->dropped, r->whole ? "true" : "false");
  for (size_t i = 0; i < ND_REPORT_BINS; i++)
    nd_pen_put(p, "%s%" PRIu64, i ? "," : "", r->stays[i]);
  nd_pen_put(p, "],\"clusters\":");
  if (p->status == ND_OK) p->status = nd_buf_append(p->out, r->browser.p, r->browser.n, p->err);
  nd_pen_put(p, "}</script>\n");
}

nd_status nd_report_html(nd_buf *out, const nd_report *r, nd_error *err) {
  nd_pen pen = {out, ND_OK, err};
  nd_pen *p = &pen;
  p->status = nd_page_head(out, "neardup: what was kept, and why", nd_asset_report_css,
                           nd_asset_report_js, err);
  nd_pen_put(p,
             "<a class=\"skip\" href=\"#browse\">To the clusters</a>\n<main>\n<header>\n"
             "<h1>What was kept, and why</h1>\n");
  put_lead(p, r);
  put_flow(p, r);
  nd_pen_put(p, "</header>\n");
  put_similarity(p, r);
  put_clusters(p, r);
  put_browser(p, r);
  put_parts(p, r);
  put_unusual(p, r);
  put_cost(p, r);
  put_again(p, r);
  nd_pen_put(p,
             "<footer class=\"quiet\"><p>Made by neardup %s. The numbers are those of "
             "summary.json beside this page.</p></footer>\n</main>\n",
             ND_VERSION);
  put_json(p, r);
  if (p->status == ND_OK) p->status = nd_page_foot(out, nd_asset_report_js, err);
  return p->status;
}
