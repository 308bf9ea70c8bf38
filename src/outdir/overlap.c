/* Detects outputs that overlap with inputs; see overlap.h and neardup/output.h. */
#include "outdir/overlap.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* --- locations ---------------------------------------------------------------------- */

void nd_location_clear(nd_location *p) {
  nd_free(p->real);
  nd_free(p->rest);
  nd_free(p->chain);
  nd_buf_clear(&p->home);
  *p = (nd_location){0};
}

static nd_status keep(char **out, const char *text, size_t n, nd_error *err) {
  *out = nd_malloc(n + 1);
  if (!*out) return nd_fail_memory(err, n + 1);
  memcpy(*out, text, n);
  (*out)[n] = '\0';
  return ND_OK;
}

/* Returns the offset of the last name of path[0, n). */
static size_t last_name(const char *path, size_t n) {
  while (n > 0 && path[n - 1] == '/') n--;
  while (n > 0 && path[n - 1] != '/') n--;
  return n;
}

static nd_status refuse_dangling(const char *path, nd_error *err) {
  nd_file_info self;
  ND_TRY(nd_io_probe_link(&self, path, err));
  if (!self.link) return ND_OK;
  return nd_fail(err, ND_ERR_USAGE,
                 "%s is a dangling symbolic link; remove it or create its target", path);
}

/* Gets the length of the longest part of the path that exists; 0 if none does, and the path is
 * relative to the current directory. */
static nd_status existing_part(size_t *out, nd_file_info *info, char *path, nd_error *err) {
  size_t n = strlen(path);
  for (bool whole = true; n > 0; whole = false) {
    size_t end = n; /* a trailing slash would follow a link */
    while (end > 1 && path[end - 1] == '/') end--;
    const char cut = path[end];
    nd_file_info part;
    path[end] = '\0';
    nd_status status = nd_io_probe(&part, path, err);
    if (status == ND_OK && !part.exists) status = refuse_dangling(path, err);
    path[end] = cut;
    ND_TRY(status);
    if (whole) *info = part;
    if (part.exists) break;
    n = last_name(path, n);
  }
  *out = n;
  return ND_OK;
}

/* Removes the dots from the names after the existing part, as if the directories were created one
 * by one: "a/../b" is "b".  If they lead back into the existing part, sets *changed and shortens
 * `path` to one of the same location. */
static void tidy_rest(bool *changed, char *path, size_t existing) {
  char *rest = path + existing, *to = rest;
  *changed = false;
  for (char *p = rest; *p;) {
    size_t n = strcspn(p, "/");
    if (n == 2 && p[0] == '.' && p[1] == '.') {
      *changed = true; /* the rest may exist */
      if (to == rest) {
        /* Leaves the existing part, which must end in a directory name. */
        memmove(to, p, strlen(p) + 1);
        return;
      }
      to = rest + last_name(rest, (size_t)(to - rest));
    } else if (n > 0 && !(n == 1 && p[0] == '.')) {
      memmove(to, p, n);
      to += n;
      if (p[n]) *to++ = '/';
    }
    p += n + (p[n] == '/');
  }
  if (to > rest && to[-1] == '/') to--;
  *to = '\0';
}

static nd_status add_to_chain(nd_location *p, const char *path, nd_error *err) {
  nd_file_info info;
  ND_TRY(nd_io_stat(&info, path, err));
  ND_TRY(nd_array_grow(&p->chain, &p->cap, p->n + 1, sizeof *p->chain, err));
  p->chain[p->n++] = (nd_location_id){info.device, info.inode};
  return ND_OK;
}

static nd_status fill_chain(nd_location *p, nd_error *err) {
  ND_TRY(add_to_chain(p, "/", err));
  for (size_t i = 1; p->real[0] && p->real[1] && i <= strlen(p->real); i++) {
    if (p->real[i] != '/' && p->real[i] != '\0') continue;
    const char cut = p->real[i];
    p->real[i] = '\0';
    const nd_status status = add_to_chain(p, p->real, err);
    p->real[i] = cut;
    ND_TRY(status);
  }
  return ND_OK;
}

static nd_status find(nd_location *out, char *path, nd_str mounts, nd_error *err) {
  size_t existing = 0;
  for (bool changed = true; changed;) {
    ND_TRY(existing_part(&existing, &out->info, path, err));
    tidy_rest(&changed, path, existing);
  }
  char real[PATH_MAX];
  ND_TRY(keep(&out->rest, path + existing, strlen(path + existing), err));
  while (existing > 1 && path[existing - 1] == '/') existing--;
  path[existing] = '\0';
  ND_TRY(nd_io_real_path(real, existing ? path : ".", err));
  ND_TRY(keep(&out->real, real, strlen(real), err));
  ND_TRY(fill_chain(out, err));
  return nd_mounts_home(&out->home, mounts, real, err);
}

nd_status nd_location_find(nd_location *out, const char *path, nd_str mounts, nd_error *err) {
  *out = (nd_location){0};
  if (!path[0])
    return nd_fail(err, ND_ERR_USAGE, "the output has no name; name a file or directory");
  char *copy = NULL;
  ND_TRY(keep(&copy, path, strlen(path), err));
  const nd_status status = find(out, copy, mounts, err);
  nd_free(copy);
  if (status != ND_OK) nd_location_clear(out);
  return status;
}

static bool same_id(nd_location_id a, nd_location_id b) {
  return a.device == b.device && a.inode == b.inode;
}

nd_overlap nd_location_compare(const nd_location *a, const nd_location *b) {
  const nd_location_id last = b->chain[b->n - 1];
  if (b->rest[0] == '\0') {
    if (a->rest[0] == '\0' && same_id(a->chain[a->n - 1], last)) return ND_SAME;
    for (size_t i = 0; i < a->n; i++)
      if (same_id(a->chain[i], last)) return ND_INSIDE;
    if (a->home.n <= b->home.n || b->home.n == 0) return ND_APART;
    if (memcmp(a->home.p, b->home.p, b->home.n) != 0) return ND_APART;
    return a->home.p[b->home.n] == '/' ? ND_INSIDE : ND_APART;
  }
  /* Paths that do not exist are not mount points, so both locations have the same directory. */
  const size_t n = strlen(b->rest);
  if (!same_id(a->chain[a->n - 1], last) || strncmp(a->rest, b->rest, n) != 0) return ND_APART;
  return a->rest[n] == '\0' ? ND_SAME : a->rest[n] == '/' ? ND_INSIDE : ND_APART;
}

/* --- checking ------------------------------------------------------------------------ */

typedef struct checker {
  const nd_output_path *outputs, *input; /* the input being checked */
  nd_location *location;                 /* of each output; n == 0: a device or a pipe */
  size_t n;
  bool exists;   /* at least one output exists */
  nd_buf mounts; /* the mount table */
  char **folders;
  size_t folder_n, folder_cap;
} checker;

/* Shortens long names, so that two fit into a message. */
static const char *clip(char out[400], const char *text) {
  snprintf(out, 400, "%.390s%s", text, strlen(text) > 390 ? "..." : "");
  return out;
}

static nd_status refuse(const nd_output_path *a, const char *relation, const nd_output_path *b,
                        const char *advice, nd_error *err) {
  char one[400], other[400];
  return nd_fail(err, ND_ERR_USAGE, "%s %s %s %s %s; %s", a->role, clip(one, a->path), relation,
                 b->role, clip(other, b->path), advice);
}

static const char never[] = "name another output: inputs are never overwritten";

static nd_status compare_input(const checker *c, const nd_location *p, nd_error *err) {
  for (size_t i = 0; i < c->n; i++) {
    const nd_location *o = &c->location[i];
    if (o->n == 0) continue;
    switch (nd_location_compare(p, o)) {
      case ND_SAME:
        return refuse(&c->outputs[i],
                      p->info.directory ? "is the same directory as" : "is the same file as",
                      c->input, never, err);
      case ND_INSIDE: return refuse(c->input, "lies inside", &c->outputs[i], never, err);
      default: break;
    }
    if (nd_location_compare(o, p) != ND_APART)
      return refuse(&c->outputs[i], "lies inside", c->input,
                    "name an output outside of it: everything in it is read as input", err);
  }
  return ND_OK;
}

/* --- links below an input directory --------------------------------------------------- */

static nd_status push_folder(checker *c, const char *folder, const char *name, nd_error *err) {
  const size_t n = strlen(folder), more = strlen(name);
  ND_TRY(nd_array_grow(&c->folders, &c->folder_cap, c->folder_n + 1, sizeof *c->folders, err));
  char *path = nd_malloc(n + more + 2);
  if (!path) return nd_fail_memory(err, n + more + 2);
  snprintf(path, n + more + 2, "%s%s%s", folder, name[0] ? "/" : "", name);
  c->folders[c->folder_n++] = path;
  return ND_OK;
}

static bool is_output(const checker *c, nd_location_id id, size_t *which) {
  for (size_t i = 0; i < c->n; i++) {
    const nd_location *o = &c->location[i];
    *which = i;
    if (o->n && o->info.exists && same_id(o->chain[o->n - 1], id)) return true;
  }
  return false;
}

/* Checks an entry that may be an existing output, or a link into one. */
static nd_status check_entry(const checker *c, const char *path, bool link, nd_error *err) {
  nd_file_info info;
  nd_location p;
  size_t which;
  char name[400], output[400];
  if (nd_io_probe(&info, path, NULL) != ND_OK || !info.regular) return ND_OK; /* not an input */
  bool leads = is_output(c, (nd_location_id){info.device, info.inode}, &which);
  if (!leads && link) {
    ND_TRY(nd_location_find(&p, path, nd_buf_str(&c->mounts), err));
    for (which = 0; which < c->n && !leads; which += !leads)
      leads = c->location[which].n && nd_location_compare(&p, &c->location[which]) != ND_APART;
    nd_location_clear(&p);
  }
  if (!leads) return ND_OK;
  return nd_fail(err, ND_ERR_USAGE, "%s, of %s, leads to %s %s; %s", clip(name, path),
                 c->input->role, c->outputs[which].role, clip(output, c->outputs[which].path),
                 never);
}

static nd_status scan_entry(checker *c, const char *folder, const struct dirent *e, nd_error *err) {
  size_t which;
  bool directory = e->d_type == DT_DIR, link = e->d_type == DT_LNK;
  bool suspect = link || e->d_type == DT_UNKNOWN;
  for (which = 0; which < c->n && !suspect && !directory; which++)
    suspect = c->location[which].info.inode == e->d_ino; /* a hard link */
  if (!suspect && !directory) return ND_OK;
  ND_TRY(push_folder(c, folder, e->d_name, err));
  if (directory) return ND_OK;
  const char *path = c->folders[c->folder_n - 1];
  nd_file_info self;
  nd_status status = ND_OK;
  if (e->d_type == DT_UNKNOWN) {
    status = nd_io_probe_link(&self, path, err);
    if (status == ND_OK && self.directory) return ND_OK;
    link = status == ND_OK && self.link;
  }
  if (status == ND_OK) status = check_entry(c, path, link, err);
  nd_free(c->folders[--c->folder_n]);
  return status;
}

/* A directory that cannot be read is not part of the input: the job reports it. */
static nd_status scan_folder(checker *c, const char *folder, nd_error *err) {
  nd_file_info info;
  size_t which;
  DIR *dir;
  if (nd_io_probe(&info, folder, NULL) != ND_OK) return ND_OK;
  if (is_output(c, (nd_location_id){info.device, info.inode}, &which))
    return refuse(&c->outputs[which], "is mounted inside", c->input, never, err);
  if (nd_io_open_dir(&dir, folder, NULL) != ND_OK) return ND_OK;
  nd_status status;
  const struct dirent *e;
  while ((status = nd_io_read_dir(&e, dir, folder, err)) == ND_OK && e)
    ND_TRY_GOTO(scan_entry(c, folder, e, err), done);
done:
  closedir(dir);
  return status;
}

static nd_status scan(checker *c, const char *top, nd_error *err) {
  nd_status status = push_folder(c, top, "", err);
  while (c->folder_n && status == ND_OK) {
    char *folder = c->folders[--c->folder_n];
    status = scan_folder(c, folder, err);
    nd_free(folder);
  }
  while (c->folder_n) nd_free(c->folders[--c->folder_n]);
  return status;
}

/* --- the check --------------------------------------------------------------------------- */

/* Standard input is checked if it is a file that has a name. */
static const char *name_of(const char *path) {
  nd_file_info info, named;
  static const char stdin_name[] = "/dev/stdin";
  if (strcmp(path, "-") != 0) return path;
  /* untaken: the system never refuses this */
  if (nd_io_fstat(&info, STDIN_FILENO, "standard input", NULL) != ND_OK || !info.regular)
    return NULL;
  if (nd_io_probe(&named, stdin_name, NULL) != ND_OK || named.inode != info.inode) return NULL;
  char real[PATH_MAX]; /* fails if the file was deleted */
  return nd_io_real_path(real, stdin_name, NULL) == ND_OK ? stdin_name : NULL;
}

static nd_status check_input(checker *c, nd_error *err) {
  nd_location p;
  nd_file_info info;
  const char *path = name_of(c->input->path);
  if (!path || !path[0]) return ND_OK;
  ND_TRY(nd_io_probe(&info, path, err));
  if (!info.regular && !info.directory) return ND_OK;
  ND_TRY(nd_location_find(&p, path, nd_buf_str(&c->mounts), err));
  nd_status status = compare_input(c, &p, err);
  nd_location_clear(&p);
  if (status == ND_OK && info.directory && c->exists) status = scan(c, path, err);
  return status;
}

static nd_status find_outputs(checker *c, nd_error *err) {
  for (size_t i = 0; i < c->n; i++) {
    const char *path = c->outputs[i].path;
    nd_location *p = &c->location[i];
    if (strcmp(path, "-") == 0) continue;
    ND_TRY(nd_location_find(p, path, nd_buf_str(&c->mounts), err));
    if (p->info.exists && !p->info.regular && !p->info.directory) nd_location_clear(p);
    c->exists |= p->n && p->info.exists;
    for (size_t k = 0; k < i && p->n; k++) {
      const nd_location *other = &c->location[k];
      if (other->n == 0) continue;
      const nd_overlap how = nd_location_compare(p, other);
      const bool first = how != ND_APART;
      if (first || nd_location_compare(other, p) != ND_APART)
        return refuse(&c->outputs[first ? i : k], how == ND_SAME ? "is the same as" : "lies inside",
                      &c->outputs[first ? k : i], "name two separate outputs", err);
    }
  }
  return ND_OK;
}

nd_status nd_output_check(const nd_output_path *outputs, size_t n, const nd_output_path *inputs,
                          size_t m, nd_error *err) {
  if (n == 0) return ND_OK;
  checker c = {.outputs = outputs, .n = n, .location = nd_calloc(n, sizeof *c.location)};
  if (!c.location) return nd_fail_memory(err, n * sizeof *c.location);
  nd_status status = nd_mounts_read(&c.mounts, err);
  if (status == ND_OK) status = find_outputs(&c, err);
  for (size_t i = 0; i < m && status == ND_OK; i++) {
    c.input = &inputs[i];
    status = check_input(&c, err);
  }
  for (size_t i = 0; i < n; i++) nd_location_clear(&c.location[i]);
  nd_free(c.location);
  nd_free(c.folders);
  nd_buf_clear(&c.mounts);
  return status;
}
