/* Ye, Wen, Ma 2008: precision and recall of mod-n sampling by size, threshold
 * and ratio (Figures 2 and 3), and adaptive sampling (Figure 4). */
#include <math.h>
#include <stdio.h>

#include "study/ye/study_sampling.h"

nd_ye_point nd_ye_measure(const nd_sampling_study *s, unsigned group, unsigned threshold,
                          unsigned ratio) {
  unsigned modulus = 2u << ratio, precisions = 0;
  double precision = 0, recall = 0, found_sum = 0;
  nd_ye_point out = {NAN, NAN, 0, 0};
  for (unsigned r = 0; r < modulus; r++) {
    const uint64_t(*t)[ND_YE_STEPS] = s->sum.reached[group][modulus - 1 + r];
    uint64_t truth = 0, found = 0, both = 0;
    for (unsigned a = 0; a < ND_YE_STEPS; a++) {
      for (unsigned b = 0; b < ND_YE_STEPS; b++) {
        truth += a > threshold ? t[a][b] : 0;
        found += b > threshold ? t[a][b] : 0;
        both += a > threshold && b > threshold ? t[a][b] : 0;
      }
    }
    if (found) {
      precision += (double)both / (double)found;
      precisions++;
    }
    if (truth) recall += (double)both / (double)truth;
    found_sum += (double)found;
    out.truth = truth;
  }
  out.found = found_sum / modulus;
  if (precisions) out.precision = precision / precisions;
  if (out.truth) out.recall = recall / modulus;
  return out;
}

static nd_status write_trials(nd_sampling_study *s, nd_error *err) {
  nd_table t;
  ND_TRY(nd_table_start(
      &t, "precision", "Mod-n sampling, mean over all residues (Ye et al. 2008, Figures 2 and 3)",
      "group\tthreshold\tratio\tprecision\trecall\ttrue_pairs\tfound_pairs", err));
  nd_status status = ND_OK;
  for (unsigned i = 0; i < ND_YE_GROUPS * ND_YE_THRESHOLDS * ND_YE_RATIOS && status == ND_OK; i++) {
    unsigned ratio = i % ND_YE_RATIOS, threshold = i / ND_YE_RATIOS % ND_YE_THRESHOLDS;
    unsigned group = i / ND_YE_RATIOS / ND_YE_THRESHOLDS;
    char name[24], share[16];
    snprintf(name, sizeof name, "%u", group);
    snprintf(share, sizeof share, "1/%u", 2u << ratio);
    nd_ye_point p = nd_ye_measure(s, group, threshold, ratio);
    if (p.truth == 0 && p.found == 0) continue;
    status = nd_table_text(&t, group == ND_SIZE_GROUPS ? "all" : name, err);
    if (status == ND_OK) status = nd_table_real(&t, nd_ye_percent[threshold] / 100.0, 2, err);
    if (status == ND_OK) status = nd_table_text(&t, share, err);
    if (status == ND_OK) status = nd_table_real(&t, p.precision, 4, err);
    if (status == ND_OK) status = nd_table_real(&t, p.recall, 4, err);
    if (status == ND_OK) status = nd_table_count(&t, p.truth, err);
    if (status == ND_OK) status = nd_table_real(&t, p.found, 1, err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

double nd_ye_adapt(unsigned modulus[ND_SIZE_GROUPS], const nd_sampling_study *s, unsigned threshold,
                   double goal, unsigned coarsest) {
  double kept = 0;
  for (unsigned g = 0; g < ND_SIZE_GROUPS; g++) {
    modulus[g] = 1;
    for (unsigned r = coarsest; r-- && modulus[g] == 1;) {
      nd_ye_point p = nd_ye_measure(s, g, threshold, r);
      /* NaN: no pair is found, so none is wrong. */
      if (isnan(p.precision) || p.precision >= goal) modulus[g] = 2u << r;
    }
    kept += (double)s->group_shingles[g] / modulus[g];
  }
  return s->shingles ? kept / (double)s->shingles : NAN;
}

static nd_status write_adaptive(nd_sampling_study *s, nd_error *err) {
  nd_table t;
  ND_TRY(
      nd_table_start(&t, "adaptive",
                     "Adaptive sampling: shingles left for a precision in every group (Ye et al. "
                     "2008, Figure 4)",
                     "threshold\tprecision\tcoarsest\tshare_of_shingles\tratios_of_groups", err));
  nd_status status = ND_OK;
  for (unsigned i = 0; i < ND_YE_THRESHOLDS * ND_YE_THRESHOLDS * 2 && status == ND_OK; i++) {
    unsigned coarsest = 4 + i % 2, goal = i / 2 % ND_YE_THRESHOLDS,
             threshold = i / 2 / ND_YE_THRESHOLDS;
    unsigned modulus[ND_SIZE_GROUPS];
    char ratios[160], coarse[16];
    double share = nd_ye_adapt(modulus, s, threshold, nd_ye_percent[goal] / 100.0, coarsest);
    size_t n = 0;
    for (unsigned g = 0; g < ND_SIZE_GROUPS; g++) {
      if (s->group_documents[g])
        n += (size_t)snprintf(ratios + n, sizeof ratios - n, "%s1/%u", g ? " " : "", modulus[g]);
      else
        n += (size_t)snprintf(ratios + n, sizeof ratios - n, "%s-", g ? " " : "");
    }
    snprintf(coarse, sizeof coarse, "1/%u", 1u << coarsest);
    status = nd_table_real(&t, nd_ye_percent[threshold] / 100.0, 2, err);
    if (status == ND_OK) status = nd_table_real(&t, nd_ye_percent[goal] / 100.0, 2, err);
    if (status == ND_OK) status = nd_table_text(&t, coarse, err);
    if (status == ND_OK) status = nd_table_real(&t, share, 4, err);
    if (status == ND_OK) status = nd_table_text(&t, ratios, err);
  }
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

/* Writes the numbers in the text of the paper next to ours. */
static nd_status write_published(nd_sampling_study *s, nd_page *page, nd_error *err) {
  unsigned modulus[ND_SIZE_GROUPS];
  double small = s->trials.n ? (double)s->group_documents[0] / s->trials.n : NAN;
  double lowest = NAN;
  for (unsigned t = 0; t < ND_YE_THRESHOLDS; t++) {
    for (unsigned g = 0; g < ND_SIZE_GROUPS; g++) {
      double recall = nd_ye_measure(s, g, t, 3).recall;
      if (!isnan(recall) && !(lowest <= recall)) lowest = recall;
    }
  }
  const struct {
    const char *what;
    const char *published;
    double ours;
  } row[] = {{"share of documents below 500 words", "0.68", small},
             {"share of shingles below 500 words", "0.17",
              s->shingles ? (double)s->group_shingles[0] / (double)s->shingles : NAN},
             {"precision below 500 words, 1/16, threshold 0.85", "0.57",
              nd_ye_measure(s, 0, 7, 3).precision},
             {"precision of all, 1/16, threshold 0.85", "0.70",
              nd_ye_measure(s, ND_SIZE_GROUPS, 7, 3).precision},
             {"precision below 500 words, 1/16, threshold 0.99", "below 0.1",
              nd_ye_measure(s, 0, 10, 3).precision},
             {"lowest recall of a group and threshold, 1/16", "above 0.6", lowest},
             {"adaptive, precision 0.85, threshold 0.85: share of shingles", "0.0555",
              nd_ye_adapt(modulus, s, 7, 0.85, 4)},
             {"adaptive, precision 0.8, threshold 0.6: share of shingles", "0.08",
              nd_ye_adapt(modulus, s, 2, 0.8, 4)},
             {"the same with ratios down to 1/32", "0.0472", nd_ye_adapt(modulus, s, 2, 0.8, 5)}};
  static const char *const columns[] = {"what", "published#", "here#"};
  nd_table t;
  ND_TRY(nd_table_start(&t, "published", "The numbers of Ye et al. 2008 (.GOV) beside ours",
                        "what\tpublished\there", err));
  nd_page_table(page, "The numbers of Ye et al. 2008, of 958,725 pages of .GOV, beside ours",
                columns, 3);
  nd_status status = ND_OK;
  for (size_t i = 0; i < sizeof row / sizeof *row && status == ND_OK; i++) {
    nd_page_cell(page, row[i].what);
    nd_page_cell(page, row[i].published);
    nd_page_cell_number(page, row[i].ours, 4);
    status = nd_table_text(&t, row[i].what, err);
    if (status == ND_OK) status = nd_table_text(&t, row[i].published, err);
    if (status == ND_OK) status = nd_table_real(&t, row[i].ours, 4, err);
  }
  nd_page_table_end(page);
  if (status == ND_OK) status = nd_study_table(s->run, &t, err);
  nd_table_clear(&t);
  return status;
}

/* Draws precision or recall over the threshold, a line per group with pairs, and all. */
static void draw(const nd_sampling_study *s, nd_page *page, unsigned ratio, bool recall) {
  char names[ND_YE_GROUPS][60];
  static const double unit[] = {0, 1};
  double x[ND_YE_THRESHOLDS], y[ND_YE_GROUPS][ND_YE_THRESHOLDS];
  nd_series series[ND_YE_GROUPS + 2];
  size_t n = 0;
  for (unsigned t = 0; t < ND_YE_THRESHOLDS; t++) x[t] = nd_ye_percent[t] / 100.0;
  /* As many lines as can be distinguished. */
  static const bool drawn[ND_YE_GROUPS] = {
      [0] = true, [1] = true, [2] = true, [3] = true, [10] = true, [ND_SIZE_GROUPS] = true};
  for (unsigned g = 0; g < ND_YE_GROUPS; g++) {
    bool any = false;
    if (!drawn[g]) continue;
    for (unsigned t = 0; t < ND_YE_THRESHOLDS; t++) {
      nd_ye_point p = nd_ye_measure(s, g, t, ratio);
      y[g][t] = recall ? p.recall : p.precision;
      any |= !isnan(y[g][t]);
    }
    char words[40];
    nd_size_group_name(words, sizeof words, g < ND_SIZE_GROUPS ? g : 0);
    if (g == ND_SIZE_GROUPS)
      snprintf(names[g], sizeof names[g], "all pairs");
    else
      snprintf(names[g], sizeof names[g], "%s words", words);
    if (any) series[n++] = (nd_series){.name = names[g], .x = x, .y = y[g], .n = ND_YE_THRESHOLDS};
  }
  static const char figure[] = "Ye et al. 2008, Figure 2b";
  static const double at = 0.85, small = 0.57, all = 0.70;
  if (ratio == 3 && !recall) {
    series[n++] = (nd_series){"0-499 words", &at, &small, 1, true, figure};
    series[n++] = (nd_series){"all pairs", &at, &all, 1, true, figure};
  }
  char name[32], title[120];
  snprintf(name, sizeof name, "%s-%u", recall ? "recall" : "precision", 2u << ratio);
  snprintf(title, sizeof title, "%s when 1 shingle in %u is kept", recall ? "Recall" : "Precision",
           2u << ratio);
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = name,
                    .title = title,
                    .x_label = "similarity threshold",
                    .y_label = recall ? "recall" : "precision",
                    .y_range = unit,
                    .series = series,
                    .series_n = n};
  nd_page_chart(page, &chart);
}

static void draw_adaptive(const nd_sampling_study *s, nd_page *page) {
  static const unsigned wanted[] = {2, 4, 6, 7, 8, 9}; /* 0.6, 0.7, 0.8, 0.85, 0.9, 0.95 */
  char names[6][40];
  double x[ND_YE_THRESHOLDS], y[6][ND_YE_THRESHOLDS];
  nd_series series[8];
  unsigned modulus[ND_SIZE_GROUPS];
  for (unsigned k = 0; k < 6; k++) {
    snprintf(names[k], sizeof names[k], "threshold %.2f", nd_ye_percent[wanted[k]] / 100.0);
    for (unsigned t = 0; t < ND_YE_THRESHOLDS; t++) {
      x[t] = nd_ye_percent[t] / 100.0;
      y[k][t] = nd_ye_adapt(modulus, s, wanted[k], x[t], 4);
    }
    series[k] = (nd_series){.name = names[k], .x = x, .y = y[k], .n = ND_YE_THRESHOLDS};
  }
  static const double at[] = {0.85, 0.8}, share[] = {0.0555, 0.08};
  series[6] = (nd_series){"threshold 0.85", at, share, 1, true, "Ye et al. 2008, Figure 4"};
  series[7] = (nd_series){"threshold 0.60", at + 1, share + 1, 1, true, "Ye et al. 2008, Figure 4"};
  nd_chart chart = {.kind = ND_CHART_LINES,
                    .name = "adaptive",
                    .title = "Shingles that adaptive sampling keeps",
                    .x_label = "wanted precision, in every size group",
                    .y_label = "share of shingles",
                    .series = series,
                    .series_n = 8};
  nd_page_chart(page, &chart);
}

nd_status nd_sampling_ye(nd_sampling_study *s, nd_page *page, nd_error *err) {
  ND_TRY(write_trials(s, err));
  ND_TRY(write_adaptive(s, err));
  nd_page_heading(page, "Precision and recall by size, threshold and ratio");
  nd_page_paragraph(page,
                    "For each ratio 1/n all n residues are tried and averaged. A pair belongs to a "
                    "size group when both of its documents do. Small documents and high thresholds "
                    "lose precision first.");
  ND_TRY(write_published(s, page, err));
  if (!s->run->request->directory) return ND_OK;
  for (unsigned ratio = 0; ratio < 4; ratio++) draw(s, page, ratio, false);
  draw(s, page, 3, true);
  nd_page_heading(page, "Adaptive sampling");
  nd_page_paragraph(
      page,
      "In every size group the smallest ratio of 1/2, 1/4, 1/8 and 1/16 whose measured "
      "precision meets the goal; all shingles of a group where none does.");
  draw_adaptive(s, page);
  return ND_OK;
}
