/* Output into a file that the user names. */
#include <sys/stat.h>

#include "cli.h"

static nd_status write_part(void *context, const char *bytes, size_t n, nd_error *err) {
  const cli_file *f = context;
  if (fwrite(bytes, 1, n, f->file) == n) return ND_OK;
  return nd_fail(err, ND_ERR_IO, "cannot write %s: is the disk full?", f->path);
}

nd_status cli_file_open(cli_file *out, nd_sink *sink, const char *path, nd_error *err) {
  *out = (cli_file){fopen(path, "we"), path};
  if (!out->file)
    return nd_fail(err, ND_ERR_IO, "cannot open %s for writing; does its folder exist?", path);
  *sink = (nd_sink){out, write_part};
  return ND_OK;
}

nd_status cli_file_close(cli_file *f, nd_status status, nd_error *err) {
  struct stat st;
  /* Half a file must not pass for a whole one; a device is nobody's to remove. */
  int ours = fstat(fileno(f->file), &st) == 0 && S_ISREG(st.st_mode);
  int failed = fclose(f->file);
  if (status == ND_OK && failed)
    status = nd_fail(err, ND_ERR_IO, "cannot write %s: is the disk full?", f->path);
  if (status != ND_OK && ours) remove(f->path);
  return status;
}
