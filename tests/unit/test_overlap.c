/* Outputs that are, hold or lie in an input: found by what a path leads to, not
 * by its name, and before the output exists. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "every_place.h"
#include "outdir/overlap.h"

static char top[] = "/tmp/nd_test_overlap_XXXXXX";

static void make_file(const char *name) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, name, strlen(name)), strlen(name));
  close(fd);
}

/*   corpus/a.txt   corpus/sub/b.txt   corpus/to_kept -> ../out/kept/a.txt
 *   out/kept/a.txt   list.tsv   hard.tsv = list.tsv
 *   soft -> list.tsv   folder -> corpus   loose -> nothing */
static int setup(void **state) {
  (void)state;
  if (!mkdtemp(top) || chdir(top) != 0) return -1;
  ok(nd_io_mkdirs("corpus/sub", &err));
  ok(nd_io_mkdirs("out/kept", &err));
  ok(nd_io_mkdirs("linked", &err));
  make_file("corpus/a.txt");
  make_file("corpus/sub/b.txt");
  make_file("out/kept/a.txt");
  make_file("list.tsv");
  make_file("linked/hard.txt");
  if (link("list.tsv", "hard.tsv") != 0 || symlink("list.tsv", "soft") != 0 ||
      symlink("corpus", "folder") != 0 || symlink("nothing", "loose") != 0 ||
      symlink("../out/kept/a.txt", "linked/to_kept") != 0 ||
      link("linked/hard.txt", "page.html") != 0)
    return -1;
  return 0;
}

static int teardown(void **state) {
  (void)state;
  char command[200];
  snprintf(command, sizeof command, "rm -rf '%s'", top);
  return chdir("/") == 0 ? system(command) : -1;
}

typedef struct overlap_case {
  const char *output;
  int directory;
  const char *input;
  const char *message; /* a part of it; NULL: no overlap */
} overlap_case;

static const overlap_case cases[] = {
    /* apart */
    {"new", 1, "corpus", NULL},
    {"new.tsv", 0, "corpus", NULL},
    {"out", 1, "corpus", NULL},
    {"corpus2", 1, "corpus", NULL},
    {"corpus/a.txt.nds", 0, "corpus/a.txt", NULL},
    {"corpus/sub/new", 1, "corpus/a.txt", NULL},
    {"out/kept/new", 1, "out/kept/a.txt", NULL},
    {"missing/../new", 1, "corpus", NULL},
    {"new", 1, "not there", NULL},
    {"new", 1, "not there/new", NULL},
    {"-", 0, "-", NULL},
    {"/dev/null", 0, "/dev/null", NULL},
    {"/dev/null", 0, "/dev", NULL},
    /* the same */
    {"list.tsv", 0, "list.tsv", "is the same file as the input list.tsv"},
    {"list.tsv", 0, "./corpus/../list.tsv", "is the same file"},
    {"soft", 0, "list.tsv", "is the same file"},
    {"list.tsv", 0, "soft", "is the same file"},
    {"list.tsv/", 0, "list.tsv", "is the same file"},
    {"list.tsv/out", 1, "list.tsv", "lies inside the input"},
    {"hard.tsv", 0, "list.tsv", "is the same file"},
    {"folder/a.txt", 0, "corpus/a.txt", "is the same file"},
    {"corpus", 1, "corpus", "is the same directory"},
    {"corpus/", 1, "folder", "is the same directory"},
    {"corpus//./", 1, "corpus", "is the same directory"},
    {"missing/../corpus", 1, "corpus", "is the same directory"},
    {"missing/more/../../corpus/sub/..", 1, "corpus", "is the same directory"},
    {"corpus/missing/../../corpus", 1, "corpus", "is the same directory"},
    /* the output in the input */
    {"corpus/out", 1, "corpus", "-o corpus/out lies inside the input corpus"},
    {"corpus/out/deep/er", 1, "corpus/", "lies inside the input"},
    {"corpus/a.txt", 0, "corpus", "lies inside the input"},
    {"corpus/new.html", 0, ".", "lies inside the input"},
    {"corpus/sub", 1, "corpus", "lies inside the input"},
    {"folder/out", 1, "corpus", "lies inside the input"},
    {"corpus/out", 1, "folder", "lies inside the input"},
    {"missing/../folder/out", 1, "corpus", "lies inside the input"},
    {"missing/../../new", 1, "..", "lies inside the input"},
    {"new", 1, "/", "lies inside the input"},
    /* the input in the output */
    {"out", 1, "out/kept", "the input out/kept lies inside -o out"},
    {"out", 1, "out/kept/a.txt", "lies inside -o out"},
    {"out/", 1, "linked/to_kept", "lies inside -o out"},
    {".", 1, "corpus", "lies inside -o ."},
    {"/", 1, "corpus", "lies inside -o /"},
    /* files of an input directory that lead to the output */
    {"out", 1, "linked", "linked/to_kept, of the input, leads to -o out"},
    {"out/kept/a.txt", 0, "linked", "leads to -o"},
    {"page.html", 0, "linked", "linked/hard.txt, of the input, leads to"},
    {"hard.tsv", 0, "linked", NULL},
    /* links to nowhere */
    {"loose", 0, "corpus", "loose is a dangling symbolic link"},
    {"loose/out", 1, "corpus", "dangling"},
    {"", 0, "corpus", "has no name"}};

static void outputs_in_inputs_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const overlap_case *c = &cases[i];
    const nd_output_path output = {"-o", c->output, c->directory};
    const nd_output_path input = {"the input", c->input, 0};
    nd_error e = {0};
    nd_status status = nd_output_check(&output, 1, &input, 1, &e);
    if (status != (c->message ? ND_ERR_USAGE : ND_OK) ||
        (c->message && !strstr(e.message, c->message)))
      fail_msg("%s on %s: %s: %s", c->output, c->input, nd_status_name(status), e.message);
    if (!c->message || !strstr(e.message, " in")) continue;
    if (!strstr(e.message, c->output) || !strstr(e.message, c->input))
      fail_msg("both names are missing: %s", e.message);
  }
}

static void outputs_in_one_another_are_refused(void **state) {
  (void)state;
  const nd_output_path pairs[][2] = {{{"-o", "new", 1}, {"--filter-runs", "new", 1}},
                                     {{"-o", "new/a", 1}, {"--filter-runs", "new", 1}},
                                     {{"-o", "new", 1}, {"--filter-runs", "./new/a/b", 1}},
                                     {{"-o", "out/../new/a", 1}, {"--filter-runs", "new", 1}},
                                     {{"-o", "corpus", 1}, {"--filter-runs", "folder", 1}},
                                     {{"-o", "corpus/x/y", 1}, {"--filter-runs", "folder", 1}}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    assert_int_equal(nd_output_check(pairs[i], 2, NULL, 0, &err), ND_ERR_USAGE);
    assert_non_null(strstr(err.message, pairs[i][0].path));
    assert_non_null(strstr(err.message, pairs[i][1].path));
  }
  const nd_output_path apart[] = {{"-o", "new", 1}, {"--filter-runs", "new2", 1}, {"-p", "-", 0}};
  const nd_output_path inputs[] = {
      {"the input", "corpus", 0}, {"--against", "new2/../corpus", 0}, {"--truth", "list.tsv", 0}};
  ok(nd_output_check(apart, 3, inputs, 3, &err));
  const nd_output_path last[] = {{"-o", "new", 1}, {"--filter-runs", "hard.tsv", 0}};
  assert_int_equal(nd_output_check(last, 2, inputs, 3, &err), ND_ERR_USAGE);
  assert_non_null(
      strstr(err.message, "--filter-runs hard.tsv is the same file as --truth list.tsv"));
  ok(nd_output_check(NULL, 0, inputs, 3, &err));
}

static void standard_input(void **state) {
  (void)state;
  const nd_output_path output = {"-o", "list.tsv", 0}, other = {"-o", "new.tsv", 0};
  const nd_output_path input = {"the input", "-", 0};
  int saved = dup(STDIN_FILENO), fd = open("list.tsv", O_RDONLY);
  assert_true(saved >= 0 && fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
  nd_status same = nd_output_check(&output, 1, &input, 1, &err);
  nd_status apart = nd_output_check(&other, 1, &input, 1, &err);
  assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
  close(saved);
  close(fd);
  assert_int_equal(same, ND_ERR_USAGE);
  ok(apart);
}

/* Only the administrator can mount. */
static void bind_mounts(void **state) {
  (void)state;
  ok(nd_io_mkdirs("mounted", &err));
  if (mount("corpus/sub", "mounted", NULL, MS_BIND, NULL) != 0) skip();
  const nd_output_path into = {"-o", "mounted/out", 1}, around = {"-o", "corpus", 1};
  const nd_output_path corpus = {"the input", "corpus", 0}, sub = {"the input", "mounted", 0};
  nd_status first = nd_output_check(&into, 1, &corpus, 1, &err);
  nd_status second = nd_output_check(&around, 1, &sub, 1, &err);
  assert_int_equal(umount("mounted"), 0);
  assert_int_equal(first, ND_ERR_USAGE);
  assert_int_equal(second, ND_ERR_USAGE);
}

static nd_status check_all(void *context) {
  (void)context;
  const nd_output_path output = {"-o", "out/missing/../kept/new", 1};
  const nd_output_path inputs[] = {{"the input", "folder", 0}, {"--against", "list.tsv", 0}};
  return nd_output_check(&output, 1, inputs, 2, &err);
}

static void failures_of_the_check_are_errors(void **state) {
  (void)state;
  size_t n = every_place_fails(check_all, NULL);
  assert_true(n > 20);
}

static void long_names(void **state) {
  (void)state;
  char name[300], path[PATH_MAX * 2] = "";
  memset(name, 'x', 250);
  name[250] = '\0';
  for (int i = 0; i < 24; i++)
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s/", name);
  const nd_output_path output = {"-o", path, 1}, input = {"the input", "corpus", 0};
  assert_int_equal(nd_output_check(&output, 1, &input, 1, &err), ND_ERR_IO);
  path[10 * 251] = '\0'; /* does not exist, but could */
  ok(nd_output_check(&output, 1, &input, 1, &err));
  const nd_output_path here = {"the input", ".", 0};
  assert_int_equal(nd_output_check(&output, 1, &here, 1, &err), ND_ERR_USAGE);
  assert_non_null(strstr(err.message, "lies inside the input .;"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_in_inputs_are_refused),
      cmocka_unit_test(outputs_in_one_another_are_refused),
      cmocka_unit_test(standard_input),
      cmocka_unit_test(bind_mounts),
      cmocka_unit_test(long_names),
      cmocka_unit_test(failures_of_the_check_are_errors),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
