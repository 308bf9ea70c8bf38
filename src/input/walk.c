/* Walking the inputs; see walk.h. */
#include "input/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_DEPTH = 256, CHUNK = 64 << 10 };

typedef struct avoided {
  bool set;
  uint64_t device, inode;
} avoided;

/* The strings lie in chunks, which never move; a long string has a chunk of its own. */
struct nd_walk_chunk {
  struct nd_walk_chunk *next;
  char bytes[];
};

void nd_walk_clear(nd_walk *w) {
  while (w->chunks) {
    struct nd_walk_chunk *next = w->chunks->next;
    nd_free(w->chunks);
    w->chunks = next;
  }
  nd_free(w->files);
  nd_free(w->problems);
  *w = (nd_walk){0};
}

static nd_status add_chunk(char **out, nd_walk *w, size_t bytes, nd_error *err) {
  struct nd_walk_chunk *chunk = nd_malloc(sizeof *chunk + bytes);
  if (!chunk) return nd_fail_memory(err, sizeof *chunk + bytes);
  chunk->next = w->chunks;
  w->chunks = chunk;
  *out = chunk->bytes;
  return ND_OK;
}

/* A copy of a + b + c that lives as long as the walk. */
static nd_status keep_string(const char **out, nd_walk *w, const char *a, const char *b,
                             const char *c, nd_error *err) {
  size_t x = strlen(a), y = strlen(b), z = strlen(c), n = x + y + z + 1;
  char *copy = w->free;
  if (n > w->left) {
    bool own = n > CHUNK / 8;
    ND_TRY(add_chunk(&copy, w, own ? n : CHUNK, err));
    if (!own) {
      w->free = copy;
      w->left = CHUNK;
    }
  }
  memcpy(copy, a, x);
  memcpy(copy + x, b, y);
  memcpy(copy + x + y, c, z + 1);
  if (copy == w->free) {
    w->free += n;
    w->left -= n;
  }
  *out = copy;
  return ND_OK;
}

static nd_status add_file(nd_walk *w, const char *path, const char *name, const nd_file_info *info,
                          nd_error *err) {
  ND_TRY(nd_array_grow(&w->files, &w->cap, w->n + 1, sizeof *w->files, err));
  w->files[w->n++] = (nd_input_file){path, path, name, info->size, info->mtime_ns};
  return ND_OK;
}

static nd_status add_problem(nd_walk *w, const char *path, const char *reason, nd_error *err) {
  ND_TRY(nd_array_grow(&w->problems, &w->problem_cap, w->problem_n + 1, sizeof *w->problems, err));
  const char *copy = NULL;
  ND_TRY(keep_string(&copy, w, reason, "", "", err));
  w->problems[w->problem_n++] = (nd_walk_problem){path, copy};
  return ND_OK;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The paths of a directory's entries, sorted; the caller frees the list. */
static nd_status list_entries(const char ***out, size_t *n, nd_walk *w, DIR *dir, const char *path,
                              nd_error *err) {
  size_t cap = 0;
  const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
  for (;;) {
    const struct dirent *e;
    ND_TRY(nd_io_read_dir(&e, dir, path, err));
    if (!e) break;
    ND_TRY(nd_array_grow(out, &cap, *n + 1, sizeof **out, err));
    ND_TRY(keep_string(&(*out)[*n], w, path, slash, e->d_name, err));
    (*n)++;
  }
  if (*n) qsort(*out, *n, sizeof **out, by_bytes);
  return ND_OK;
}

static nd_status walk_directory(nd_walk *w, const char *path, size_t root, avoided avoid, int depth,
                                nd_error *err);

/* The name of an entry is its path without the first `root` bytes, the argument's. */
static nd_status walk_entry(nd_walk *w, const char *path, size_t root, avoided avoid, int depth,
                            nd_error *err) {
  nd_file_info info;
  nd_error local;
  if (nd_io_probe(&info, path, &local) != ND_OK) return add_problem(w, path, local.message, err);
  if (!info.exists) return add_problem(w, path, "cannot be opened: the link leads nowhere", err);
  if (info.regular) return add_file(w, path, path + root, &info, err);
  if (!info.directory) return add_problem(w, path, "is neither a file nor a directory", err);
  char target[2];
  if (readlink(path, target, sizeof target) >= 0) return ND_OK; /* no loops */
  if (avoid.set && info.device == avoid.device && info.inode == avoid.inode) return ND_OK;
  if (depth >= MAX_DEPTH) return add_problem(w, path, "is nested deeper than 256 directories", err);
  return walk_directory(w, path, root, avoid, depth + 1, err);
}

static nd_status walk_directory(nd_walk *w, const char *path, size_t root, avoided avoid, int depth,
                                nd_error *err) {
  DIR *dir;
  nd_error local;
  if (nd_io_open_dir(&dir, path, &local) != ND_OK) return add_problem(w, path, local.message, err);
  const char **entries = NULL;
  size_t n = 0;
  nd_status status = list_entries(&entries, &n, w, dir, path, err);
  closedir(dir);
  for (size_t i = 0; i < n && status == ND_OK; i++)
    status = walk_entry(w, entries[i], root, avoid, depth, err);
  nd_free(entries);
  return status;
}

static nd_status read_stdin(nd_walk *w, const nd_spool *spool, nd_error *err) {
  if (!spool) return nd_fail(err, ND_ERR_USAGE, "standard input (-) cannot be read here");
  nd_file_info info;
  ND_TRY(nd_spool_stdin(&info, spool, err));
  info.mtime_ns = 0; /* the pipe has no time of its own */
  ND_TRY(add_file(w, "-", "stdin", &info, err));
  return keep_string(&w->files[w->n - 1].real, w, spool->path, "", "", err);
}

/* Of a file: no slash ends its path. */
static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int by_name(const void *a, const void *b) {
  const nd_input_file *const *x = a, *const *y = b;
  const unsigned char *p = (const unsigned char *)(*x)->name;
  const unsigned char *q = (const unsigned char *)(*y)->name;
  while (*p && *p == *q) p++, q++;
  /* A slash before anything else: a folder's files come right behind its name. */
  int c = *p == '/' ? 1 : *p ? *p + 1 : 0, d = *q == '/' ? 1 : *q ? *q + 1 : 0;
  return c - d;
}

/* Is `a` the same name as `b`, or a folder of it? */
static bool in_the_way(const char *a, const char *b) {
  size_t n = strlen(a);
  return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '/');
}

/* Two arguments may hold files of one name, or a file and a folder: then every
 * name gets the number of its file in front. */
static nd_status make_names_unique(nd_walk *w, nd_error *err) {
  if (w->n < 2) return ND_OK;
  nd_input_file **order = nd_malloc(w->n * sizeof *order);
  if (!order) return nd_fail_memory(err, w->n * sizeof *order);
  for (size_t i = 0; i < w->n; i++) order[i] = &w->files[i];
  qsort(order, w->n, sizeof *order, by_name);
  nd_status status = ND_OK;
  bool clash = false;
  for (size_t i = 1; i < w->n; i++) clash |= in_the_way(order[i - 1]->name, order[i]->name);
  for (size_t i = 0; clash && i < w->n && status == ND_OK; i++) {
    char number[32];
    snprintf(number, sizeof number, "%zu", i + 1);
    status = keep_string(&w->files[i].name, w, number, "/", w->files[i].name, err);
  }
  nd_free(order);
  return status;
}

static nd_status walk_all(nd_walk *out, const char *const *inputs, size_t n, const char *avoid,
                          const nd_spool *spool, nd_error *err) {
  avoided away = {0};
  nd_file_info info;
  if (avoid && nd_io_probe(&info, avoid, NULL) == ND_OK && info.exists)
    away = (avoided){true, info.device, info.inode};
  bool stdin_read = false;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(inputs[i], "-") == 0) {
      if (stdin_read) return nd_fail(err, ND_ERR_USAGE, "standard input (-) is named twice");
      stdin_read = true;
      ND_TRY(read_stdin(out, spool, err));
      continue;
    }
    ND_TRY(nd_io_stat(&info, inputs[i], err));
    const char *path;
    ND_TRY(keep_string(&path, out, inputs[i], "", "", err));
    if (info.directory) {
      size_t bytes = strlen(path);
      size_t root = path[bytes - 1] == '/' ? bytes : bytes + 1;
      ND_TRY(walk_directory(out, path, root, away, 0, err));
    } else if (info.regular) {
      ND_TRY(add_file(out, path, last_part(path), &info, err));
    } else {
      return nd_fail(err, ND_ERR_IO,
                     "%s is neither a file nor a directory; pipe it in and name it - instead",
                     inputs[i]);
    }
  }
  return ND_OK;
}

nd_status nd_walk_inputs(nd_walk *out, const char *const *inputs, size_t n, const char *avoid,
                         const nd_spool *spool, nd_error *err) {
  *out = (nd_walk){0};
  ND_TRY(walk_all(out, inputs, n, avoid, spool, err));
  out->inputs = out->n;
  return make_names_unique(out, err);
}

nd_status nd_walk_against(nd_walk *w, const char *other, nd_error *err) {
  return walk_all(w, &other, 1, NULL, NULL, err);
}
