/* The list of a result's files with checksums; see sums.h. */
#include "outdir/sums.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/line_reader.h"
#include "base/sum.h"
#include "input/json.h"
#include "output/tsv.h"

enum { READ_BLOCK = 1 << 18, FLUSH_AT = 1 << 20, BEGINNING = 64, BOOT_ID = 64 };

/* Gets the system's boot id; "" if unknown. */
static void boot_id(char out[BOOT_ID]) {
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  out[0] = '\0';
  if (f && !fgets(out, BOOT_ID, f)) out[0] = '\0';
  if (f) fclose(f);
  out[strcspn(out, "\n")] = '\0';
}

nd_status nd_sums_is_result(bool *out, const nd_dir *d, nd_error *err) {
  nd_file_info info;
  int fd;
  *out = false;
  ND_TRY(nd_dir_probe(&info, d, ND_SUMMARY, err));
  if (!info.regular || info.size < 3) return ND_OK;
  ND_TRY(nd_dir_open_file(&fd, d, ND_SUMMARY, O_RDONLY, 0, err));
  char begin[BEGINNING + 1] = "", end[2] = "";
  const size_t n = info.size < BEGINNING ? (size_t)info.size : BEGINNING;
  nd_status status = nd_io_pread_full(fd, begin, n, 0, ND_SUMMARY, err);
  if (status == ND_OK) status = nd_io_pread_full(fd, end, 2, info.size - 2, ND_SUMMARY, err);
  close(fd);
  /* The last bytes distinguish a complete file from one truncated or zeroed by a crash. */
  *out = status == ND_OK && begin[0] == '{' && strstr(begin, "\"neardup\": ") &&
         (end[1] == '}' || (end[0] == '}' && end[1] == '\n'));
  return status;
}

/* ---- writing ---- */

static nd_status sum_open_file(nd_file_sum *out, int fd, const char *name, nd_error *err) {
  char *block = nd_malloc(READ_BLOCK);
  if (!block) return nd_fail_memory(err, READ_BLOCK);
  nd_sum sum;
  nd_sum_begin(&sum);
  nd_status status;
  size_t got = 0;
  *out = (nd_file_sum){0};
  while ((status = nd_io_pread(&got, fd, block, READ_BLOCK, out->bytes, name, err)) == ND_OK &&
         got) {
    nd_sum_add(&sum, block, got);
    out->bytes += got;
  }
  out->sum = nd_sum_value(&sum);
  nd_free(block);
  return status;
}

nd_status nd_sums_file(nd_file_sum *out, const char *path, nd_error *err) {
  int fd;
  ND_TRY(nd_io_open(&fd, path, O_RDONLY, 0, err));
  nd_status status = sum_open_file(out, fd, path, err);
  close(fd);
  return status;
}

void nd_sums_put(nd_json_out *j, const char *folder, const char *name, nd_file_sum sum) {
  nd_buf shown = {0};
  char hex[20];
  snprintf(hex, sizeof hex, "%016" PRIx64, sum.sum);
  nd_status status = ND_OK;
  if (folder[0]) {
    status = nd_tsv_append(&shown, nd_str_of(folder), j->err);
    if (status == ND_OK) status = nd_buf_append(&shown, "/", 1, j->err);
  }
  if (status == ND_OK) status = nd_tsv_append(&shown, nd_str_of(name), j->err);
  if (status != ND_OK && j->status == ND_OK) j->status = status;
  nd_json_put_begin(j, NULL, '{');
  j->line = true;
  nd_json_put_string(j, "name", nd_buf_str(&shown));
  nd_json_put_count(j, "bytes", sum.bytes);
  nd_json_put_string(j, "xxh3", nd_str_of(hex));
  nd_json_put_end(j, '}');
  j->line = false;
  nd_buf_clear(&shown);
}

typedef struct names {
  char **name;
  size_t n, cap;
} names;

static nd_status add_name(void *context, const char *name, nd_error *err) {
  names *l = context;
  ND_TRY(nd_array_grow(&l->name, &l->cap, l->n + 1, sizeof *l->name, err));
  size_t size = strlen(name) + 1;
  char *copy = nd_malloc(size);
  if (!copy) return nd_fail_memory(err, size);
  l->name[l->n++] = memcpy(copy, name, size);
  return ND_OK;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static nd_status put_tree(nd_json_out *j, const char *dir, const char *folder, const char *skip,
                          nd_error *err) {
  nd_dir d;
  names l = {0};
  ND_TRY(nd_dir_open(&d, dir, err));
  nd_status status = nd_dir_each(&d, add_name, &l, err);
  if (l.n) qsort(l.name, l.n, sizeof *l.name, by_bytes);
  for (size_t i = 0; i < l.n && status == ND_OK; i++) {
    char *path = NULL, *below = NULL;
    nd_file_info info = {0};
    const bool top = !folder[0];
    if (top && (strcmp(l.name[i], ND_SUMMARY) == 0 || (skip && strcmp(l.name[i], skip) == 0)))
      continue;
    status = nd_dir_probe(&info, &d, l.name[i], err);
    if (status == ND_OK) status = nd_path_join(&path, dir, l.name[i], err);
    if (status == ND_OK && info.directory) {
      if (!top) status = nd_path_join(&below, folder, l.name[i], err);
      if (status == ND_OK) status = put_tree(j, path, top ? l.name[i] : below, NULL, err);
    } else if (status == ND_OK) {
      nd_file_sum sum;
      status = nd_sums_file(&sum, path, err);
      if (status == ND_OK) nd_sums_put(j, folder, l.name[i], sum);
    }
    nd_free(path);
    nd_free(below);
  }
  for (size_t i = 0; i < l.n; i++) nd_free(l.name[i]);
  nd_free(l.name);
  nd_dir_close(&d);
  return status;
}

nd_status nd_sums_put_tree(nd_json_out *j, const char *dir, const char *skip, nd_error *err) {
  return put_tree(j, dir, "", skip, err);
}

nd_status nd_sums_flush(nd_json_out *j, nd_writer *to, bool all, nd_error *err) {
  ND_TRY(j->status);
  if (!all && j->text.n < FLUSH_AT) return ND_OK;
  nd_status status = nd_writer_put(to, j->text.p, j->text.n, err);
  j->text.n = 0;
  return status;
}

void nd_sums_put_origin(nd_json_out *j, bool sync) {
  char boot[BOOT_ID];
  boot_id(boot);
  nd_json_put_string(j, "sync", nd_str_of(sync ? "yes" : "no"));
  nd_json_put_string(j, "boot", nd_str_of(boot));
}

/* ---- reading ---- */

/* Finds the string value of `"key": ` in a line; returns false if there is none. */
static bool find_string(nd_str *out, nd_str line, const char *key) {
  char wanted[40];
  size_t n = (size_t)snprintf(wanted, sizeof wanted, "\"%s\": \"", key);
  const char *p = line.n >= n ? memmem(line.p, line.n, wanted, n) : NULL;
  if (!p) return false;
  p += n;
  const char *end = p;
  while (end < line.p + line.n && *end != '"')
    end += *end == '\\' && end + 1 < line.p + line.n ? 2 : 1;
  *out = (nd_str){p, (size_t)(end - p)};
  return end < line.p + line.n;
}

typedef struct entry {
  nd_buf name; /* ends with a NUL */
  nd_buf scratch;
  nd_file_sum sum;
} entry;

static nd_status parse_entry(bool *is_one, entry *e, nd_str line, nd_error *err) {
  static const char begin[] = "    {\"name\": ", bytes[] = ", \"bytes\": ";
  nd_str name, hex;
  *is_one = false;
  if (line.n < sizeof begin || memcmp(line.p, begin, sizeof begin - 1) != 0) return ND_OK;
  if (!find_string(&name, line, "name")) return ND_OK;
  const char *rest = name.p + name.n + 1;
  nd_str tail = {rest, (size_t)(line.p + line.n - rest)};
  if (tail.n < sizeof bytes || memcmp(tail.p, bytes, sizeof bytes - 1) != 0) return ND_OK;
  if (!find_string(&hex, tail, "xxh3") || hex.n != 16) return ND_OK;
  e->sum.bytes = strtoull(tail.p + sizeof bytes - 1, NULL, 10);
  e->sum.sum = strtoull(hex.p, NULL, 16);
  e->scratch.n = e->name.n = 0;
  ND_TRY(nd_buf_reserve(&e->scratch, name.n, err));
  ND_TRY(nd_json_unescape(&e->scratch, name, err));
  ND_TRY(nd_tsv_unescape(&e->name, nd_buf_str(&e->scratch), err));
  ND_TRY(nd_buf_append(&e->name, "", 1, err));
  /* A list from elsewhere must not lead out of the directory. */
  *is_one = e->name.p[0] != '/' && strncmp(e->name.p, "../", 3) != 0 &&
            !strstr(e->name.p, "/../") && strcmp(e->name.p, "..") != 0;
  return ND_OK;
}

typedef struct listing {
  const nd_dir *dir;
  nd_dir_each_fn each; /* for nd_sums_tops */
  void *context;
  nd_buf last;   /* the last name passed to `each` */
  bool contents; /* for nd_sums_check: also compare contents */
  bool listed;
} listing;

static nd_status top_of(listing *l, entry *e, nd_error *err) {
  size_t n = strcspn(e->name.p, "/");
  e->name.p[n] = '\0';
  if (l->last.n == n + 1 && memcmp(l->last.p, e->name.p, n) == 0) return ND_OK;
  l->last.n = 0;
  ND_TRY(nd_buf_append(&l->last, e->name.p, n + 1, err));
  return l->each(l->context, e->name.p, err);
}

static nd_status differs(const nd_dir *d, const char *name, const char *how, nd_error *err) {
  return nd_fail(err, ND_ERR_STATE,
                 "%s is not as the finished run left it: %s %s; use --resume never to make the "
                 "result again",
                 d->path, name, how);
}

static nd_status check_file(const listing *l, const entry *e, nd_error *err) {
  char *path = NULL;
  nd_file_info info;
  nd_file_sum sum = e->sum;
  ND_TRY(nd_path_join(&path, l->dir->path, e->name.p, err));
  nd_status status = nd_io_probe(&info, path, err);
  if (status == ND_OK && !info.exists) {
    status = differs(l->dir, e->name.p, "is missing", err);
  } else if (status == ND_OK && info.size != e->sum.bytes) {
    status = differs(l->dir, e->name.p, "has another size", err);
  } else if (status == ND_OK && l->contents) {
    status = nd_sums_file(&sum, path, err);
    if (status == ND_OK && (sum.sum != e->sum.sum || sum.bytes != e->sum.bytes))
      status = differs(l->dir, e->name.p, "has other contents", err);
  }
  nd_free(path);
  return status;
}

/* Notes whether the result was synced, and whether the system has restarted since. */
static void note_origin(listing *l, nd_str line, bool *synced, bool *same_boot) {
  char boot[BOOT_ID];
  nd_str value;
  (void)l;
  if (find_string(&value, line, "sync") && line.p[2] == '"')
    *synced = value.n == 3 && memcmp(value.p, "yes", 3) == 0;
  if (!find_string(&value, line, "boot") || line.p[2] != '"') return;
  boot_id(boot);
  *same_boot = value.n && value.n == strlen(boot) && memcmp(value.p, boot, value.n) == 0;
}

static nd_status read_list(listing *l, nd_error *err) {
  nd_line_reader r = {.name = ND_SUMMARY};
  entry e = {0};
  bool synced = false, same_boot = false, is_one;
  nd_str line;
  ND_TRY(nd_dir_open_file(&r.fd, l->dir, ND_SUMMARY, O_RDONLY, 0, err));
  nd_status status;
  while ((status = nd_line_reader_next(&line, &r, err)) == ND_OK && line.p) {
    if (line.n > 3 && line.p[2] == '"') { /* a member of the top-level object */
      l->listed |= memmem(line.p, line.n, "\"files\": [", 10) != NULL;
      note_origin(l, line, &synced, &same_boot);
      l->contents = !synced || !same_boot;
      continue;
    }
    if (!l->listed) continue;
    ND_TRY_GOTO(parse_entry(&is_one, &e, line, err), done);
    if (is_one) ND_TRY_GOTO(l->each ? top_of(l, &e, err) : check_file(l, &e, err), done);
  }
done:
  close(r.fd);
  nd_line_reader_clear(&r);
  nd_buf_clear(&e.name);
  nd_buf_clear(&e.scratch);
  return status;
}

nd_status nd_sums_tops(bool *listed, const nd_dir *d, nd_dir_each_fn each, void *context,
                       nd_error *err) {
  listing l = {.dir = d, .each = each, .context = context};
  nd_status status = read_list(&l, err);
  *listed = l.listed;
  nd_buf_clear(&l.last);
  return status;
}

nd_status nd_sums_check(const nd_dir *d, nd_error *err) {
  listing l = {.dir = d};
  nd_status status = read_list(&l, err);
  if (status == ND_OK && !l.listed) return differs(d, ND_SUMMARY, "has no list of files", err);
  return status;
}
