/* The summary on standard error that several commands end with. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli.h"

void cli_report_join(const nd_join_counts *j, nd_options *options) {
  if (!j->given || strcmp(nd_options_get(options, "stats"), "yes") != 0) return;
  const struct {
    const char *name;
    uint64_t number;
  } rows[] = {{"records", j->records},
              {"tokens", j->tokens},
              {"index-entries", j->index_entries},
              {"candidates-after-size", j->after_size},
              {"candidates-after-positional", j->after_positional},
              {"candidates-after-suffix", j->after_suffix},
              {"verified", j->verified},
              {"results", j->results},
              {"joins", j->joins}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    fprintf(stderr, "%s\t%" PRIu64 "\n", rows[i].name, rows[i].number);
  fprintf(stderr, "average-length\t%.2f\nprepare-seconds\t%.3f\njoin-seconds\t%.3f\n", j->average,
          j->prepare_seconds, j->join_seconds);
}

static void report_boilerplate(const nd_summary *s) {
  if (!s->boilerplate_documents && !s->boilerplate_whole && !s->no_site) return;
  cli_note("boiler    %s tokens of boilerplate left out of %s document%s",
           cli_count(s->boilerplate_tokens), cli_count(s->boilerplate_documents),
           cli_plural(s->boilerplate_documents));
  if (s->boilerplate_whole)
    cli_note("; all boilerplate, compared in full: %s", cli_count(s->boilerplate_whole));
  if (s->no_site) cli_note("; without a URL, compared in full: %s", cli_count(s->no_site));
  cli_note("\n");
}

void cli_report_sample(const nd_summary *s) {
  report_boilerplate(s);
  if (!s->sampled) return;
  double share = s->sample_seen ? 100.0 * (double)s->sample_kept / (double)s->sample_seen : 100;
  cli_note("sample    %.2f%% of %s shingles kept", share, cli_count(s->sample_seen));
  if (s->sample_emptied)
    cli_note("; %s document%s none left and match%s only exact duplicates",
             cli_count(s->sample_emptied), s->sample_emptied == 1 ? " has" : "s have",
             s->sample_emptied == 1 ? "es" : "");
  cli_note("; similarities are those of %s\n",
           strcmp(s->verify, "exact") == 0 ? "entire documents" : "the kept shingles");
}

void cli_report_finding(const nd_summary *s, nd_options *o) {
  if (s->decision[0]) cli_note("decided   %s\n", s->decision);
  if (s->bands)
    cli_note("recall    %.4f predicted at similarity %s (%u bands x %u rows)\n",
             s->predicted_recall, nd_options_get(o, "threshold"), s->bands, s->rows);
  if (s->coverage[0]) cli_note("found     %s\n", s->coverage);
  if (s->hot_buckets)
    cli_note(
        "capped    %s bucket%s larger than --bucket-cap, compared with the preferred document "
        "only\n",
        cli_count(s->hot_buckets), cli_plural(s->hot_buckets));
}

void cli_report_cost(const nd_summary *s) {
  double rate = (double)s->raw_bytes / fmax(s->seconds, 1e-9);
  cli_note("time      %.2f s (%.2f s CPU, %u thread%s), %s/s, peak memory %s\n", s->seconds,
           s->cpu_seconds, s->threads, cli_plural(s->threads), cli_bytes(rate),
           cli_bytes((double)s->peak_memory));
}
