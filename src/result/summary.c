/* Writing summary.json; the fields are described in docs/formats.md. */
#include "result/summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/writer.h"
#include "output/json_out.h"
#include "settings/method.h"

static void put_options(nd_json_out *out, const nd_run *j) {
  nd_json_put_begin(out, "options", '{');
  for (const nd_option_row *row = nd_option_rows(); row->info.name; row++) {
    if (!(row->info.commands & ND_FOR_DEDUP)) continue;
    char value[ND_OPTION_VALUE];
    nd_settings_option(value, &j->settings, row);
    nd_json_put_string(out, row->info.name, nd_str_of(value));
  }
  nd_json_put_end(out, '}');
}

static void put_counts(nd_json_out *out, const nd_summary *s) {
  nd_json_put_begin(out, "counts", '{');
  nd_json_put_count(out, "files", s->files);
  nd_json_put_count(out, "bytes", s->bytes);
  nd_json_put_count(out, "record_bytes", s->raw_bytes);
  nd_json_put_count(out, "documents", s->documents);
  nd_json_put_count(out, "kept", s->kept);
  nd_json_put_count(out, "dropped", s->dropped);
  nd_json_put_count(out, "rejected", s->rejected);
  nd_json_put_count(out, "against_documents", s->against_documents);
  nd_json_put_count(out, "other_records", s->others);
  nd_json_put_count(out, "empty_documents", s->empty);
  nd_json_put_count(out, "tokens", s->tokens);
  nd_json_put_count(out, "exact_copies", s->copies);
  nd_json_put_count(out, "repeated_ids", s->repeated_ids);
  nd_json_put_count(out, "candidate_pairs", s->candidates);
  nd_json_put_count(out, "pairs", s->pairs);
  nd_json_put_count(out, "clusters", s->clusters);
  nd_json_put_count(out, "largest_cluster", s->largest_cluster);
  nd_json_put_end(out, '}');
}

static void put_method(nd_json_out *out, const nd_run *j) {
  const nd_summary *s = j->summary;
  nd_json_put_begin(out, "method", '{');
  const nd_settings *set = &j->settings;
  nd_json_put_string(out, "name", nd_str_of(j->options->method));
  nd_json_put_string(out, "candidates", nd_str_of(set->candidates->name));
  nd_json_put_string(out, "confirm", nd_str_of(set->verifier->name));
  static const char *const kinds[] = {"words", "chars", "aligned"};
  char shingle[48];
  snprintf(shingle, sizeof shingle, "%s:%" PRIu32, kinds[set->shingle.kind], set->shingle.size);
  nd_json_put_string(out, "shingle", nd_str_of(shingle));
  nd_json_put_string(out, "decided", nd_str_of(s->decision[0] ? s->decision : "by documents"));
  nd_json_put_string(out, "found",
                     nd_str_of(s->coverage[0] ? s->coverage
                               : s->bands     ? "as predicted"
                                              : "every pair"));
  if (j->settings.bands) {
    nd_json_put_count(out, "permutations", s->permutations);
    nd_json_put_count(out, "bands", s->bands);
    nd_json_put_count(out, "rows", s->rows);
    nd_json_put_number(out, "predicted_recall_at_threshold", s->predicted_recall, 6);
  }
  if (set->candidates->find && !set->candidates->exact) {
    nd_json_put_count(out, "buckets", s->buckets);
    nd_json_put_count(out, "hot_buckets", s->hot_buckets);
    nd_json_put_count(out, "documents_in_hot_buckets", s->hot_documents);
    nd_json_put_count(out, "largest_bucket", s->largest_bucket);
    nd_json_put_count(out, "spared_star_edges", s->skipped);
  }
  nd_json_put_count(out, "max_document_in_force", s->max_document);
  nd_json_put_end(out, '}');
}

/* Writes the member "sample": what was left out, and what the similarities refer to. */
static void put_sample(nd_json_out *out, const nd_run *j) {
  const nd_summary *s = j->summary;
  nd_json_put_begin(out, "sample", '{');
  nd_json_put_string(out, "how", nd_str_of(s->sampled ? j->options->sample : "none"));
  char plan[ND_PLAN_GROUPS * 48] = "";
  size_t n = 0;
  for (unsigned i = 0; i < j->settings.sample.plan.n; i++) {
    uint64_t below = j->settings.sample.plan.group[i].below;
    char size[24] = "";
    if (below != UINT64_MAX) snprintf(size, sizeof size, "%" PRIu64, below);
    n += (size_t)snprintf(plan + n, sizeof plan - n, "%s%s:%" PRIu64, i ? " " : "", size,
                          j->settings.sample.plan.group[i].modulus);
  }
  nd_json_put_string(out, "plan", nd_str_of(plan));
  nd_json_put_count(out, "shingles_seen", s->sample_seen);
  nd_json_put_count(out, "shingles_kept", s->sample_kept);
  nd_json_put_count(out, "common_shingles_dropped", s->common_shingles);
  nd_json_put_count(out, "documents_left_without_shingles", s->sample_emptied);
  const char *what = j->settings.verify == ND_VERIFY_SAMPLE  ? "what is kept"
                     : j->settings.verify == ND_VERIFY_EXACT ? "whole documents"
                                                             : "sketches";
  nd_json_put_string(out, "similarities_are_of", nd_str_of(what));
  nd_json_put_end(out, '}');
}

static void put_boilerplate(nd_json_out *out, const nd_run *j) {
  const nd_summary *s = j->summary;
  nd_json_put_begin(out, "boilerplate", '{');
  nd_json_put_count(out, "passage_windows",
                    j->settings.passages ? nd_shingle_set_size(j->settings.passages) : 0);
  nd_json_put_count(out, "tokens_left_out", s->boilerplate_tokens);
  nd_json_put_count(out, "documents_cut", s->boilerplate_documents);
  nd_json_put_count(out, "documents_of_nothing_else", s->boilerplate_whole);
  nd_json_put_count(out, "documents_without_site", s->no_site);
  nd_json_put_end(out, '}');
}

static void put_cost(nd_json_out *out, const nd_summary *s) {
  nd_json_put_begin(out, "cost", '{');
  nd_json_put_count(out, "threads", s->threads);
  nd_json_put_count(out, "memory_budget", s->memory);
  nd_json_put_count(out, "peak_memory", s->peak_memory);
  nd_json_put_count(out, "temporary_bytes", s->temporary_bytes);
  nd_json_put_count(out, "resumed_documents", s->resumed_documents);
  nd_json_put_number(out, "seconds", s->seconds, 3);
  nd_json_put_number(out, "cpu_seconds", s->cpu_seconds, 3);
  nd_json_put_number(out, "read_seconds", s->read_seconds, 3);
  nd_json_put_number(out, "find_seconds", s->find_seconds, 3);
  nd_json_put_number(out, "verify_seconds", s->verify_seconds, 3);
  nd_json_put_number(out, "write_seconds", s->write_seconds, 3);
  nd_json_put_end(out, '}');
}

static nd_status put_kept(nd_json_out *out, const nd_run *j, const nd_summary_files *files,
                          nd_writer *to, nd_error *err) {
  for (size_t f = 0; f < j->walk.inputs; f++) {
    if (!files->written[f]) continue;
    nd_sums_put(out, "kept", j->walk.files[f].name, files->kept[f]);
    ND_TRY(nd_sums_flush(out, to, false, err));
  }
  return out->status;
}

static nd_status put_all(nd_json_out *out, const nd_run *j, const nd_summary_files *files,
                         uint64_t fingerprint, nd_writer *to, nd_error *err) {
  char run[32];
  snprintf(run, sizeof run, "%016" PRIx64, fingerprint);
  nd_json_put_begin(out, NULL, '{');
  nd_json_put_string(out, "neardup", nd_str_of(ND_VERSION));
  nd_json_put_string(out, "run", nd_str_of(run));
  nd_json_put_string(out, "cpu_level", nd_str_of(nd_cpu_name(nd_cpu())));
  put_counts(out, j->summary);
  put_method(out, j);
  put_sample(out, j);
  put_boilerplate(out, j);
  put_options(out, j);
  put_cost(out, j->summary);
  if (files) {
    nd_sums_put_origin(out, strcmp(j->options->sync, "no") != 0);
    nd_json_put_begin(out, "files", '[');
    ND_TRY(put_kept(out, j, files, to, err));
    ND_TRY(nd_sums_put_tree(out, files->out, "kept", err));
    nd_json_put_end(out, ']');
  }
  nd_json_put_end(out, '}');
  return nd_sums_flush(out, to, true, err);
}

nd_status nd_summary_write(const nd_run *j, const char *path, const nd_summary_files *files,
                           uint64_t fingerprint, nd_error *err) {
  nd_json_out out = {.err = err};
  nd_writer *to = NULL;
  nd_status status = nd_writer_open(&to, path, err);
  if (status == ND_OK) status = put_all(&out, j, files, fingerprint, to, err);
  if (status == ND_OK)
    status = nd_writer_close(to, false, err);
  else
    nd_writer_abandon(to);
  nd_buf_clear(&out.text);
  return status;
}
