/* The mount table, as Linux writes it; see mounts.h. */
#include "outdir/mounts.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"

static const char table_name[] = "/proc/self/mountinfo";
enum { STEP = 1 << 14 };

nd_status nd_mounts_read(nd_buf *out, nd_error *err) {
  int fd;
  out->n = 0;
  if (nd_io_open(&fd, table_name, O_RDONLY, 0, NULL) != ND_OK) return ND_OK;
  nd_status status;
  for (size_t got = 1; got > 0; out->n += got) {
    ND_TRY_GOTO(nd_buf_reserve(out, STEP, err), done);
    ND_TRY_GOTO(nd_io_read(&got, fd, out->p + out->n, STEP, table_name, err), done);
  }
done:
  close(fd);
  return status;
}

/* Reads the next field of a line and decodes its octal escapes (\040). */
static nd_status next_field(nd_buf *out, nd_str *line, nd_error *err) {
  size_t n = 0;
  out->n = 0;
  ND_TRY(nd_buf_reserve(out, line->n + 1, err));
  while (n < line->n && line->p[n] != ' ') {
    const char *p = line->p + n;
    if (p[0] == '\\' && line->n - n >= 4) {
      out->p[out->n++] = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
      n += 4;
    } else {
      out->p[out->n++] = p[0];
      n++;
    }
  }
  out->p[out->n] = '\0';
  n += n < line->n;
  *line = (nd_str){line->p + n, line->n - n};
  return ND_OK;
}

/* Returns the length of the path's prefix that is the mount point; SIZE_MAX if it is not one. */
static size_t covers(const nd_buf *point, const char *real) {
  const size_t n = point->n == 1 ? 0 : point->n; /* "/" */
  if (strncmp(real, point->p, n) != 0) return SIZE_MAX;
  return real[n] == '/' || real[n] == '\0' ? n : SIZE_MAX;
}

static nd_status look(nd_buf *out, nd_buf field[5], nd_str table, const char *real, nd_error *err) {
  size_t best = 0;
  while (table.n > 0) {
    const char *end = memchr(table.p, '\n', table.n);
    nd_str line = {table.p, end ? (size_t)(end - table.p) : table.n};
    const size_t skip = line.n + (end != NULL);
    table = (nd_str){table.p + skip, table.n - skip};
    /* number, parent, device, root, mount point */
    for (int i = 0; i < 5; i++) ND_TRY(next_field(&field[i], &line, err));
    const size_t n = covers(&field[4], real);
    /* A later mount at the same mount point hides an earlier one. */
    if (n == SIZE_MAX || field[4].n < best) continue;
    best = field[4].n;
    const char *root = field[3].n == 1 ? "" : field[3].p;
    out->n = 0;
    ND_TRY(nd_buf_printf(out, err, "%s %s%s", field[2].p, root, strcmp(real, "/") ? real + n : ""));
  }
  return ND_OK;
}

nd_status nd_mounts_home(nd_buf *out, nd_str table, const char *real, nd_error *err) {
  nd_buf field[5] = {{0}};
  out->n = 0;
  const nd_status status = look(out, field, table, real, err);
  for (int i = 0; i < 5; i++) nd_buf_clear(&field[i]);
  return status;
}
