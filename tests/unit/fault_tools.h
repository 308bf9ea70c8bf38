/* What the tests of failures share: results, descriptors, time, the order of
 * trying, and what a failed clean-up leaves behind. */
#ifndef FAULT_TOOLS_H
#define FAULT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "every_place.h"
#include "naive_corpus.h"

/* All files below a folder but those with times in them, by name. */
void gather(nd_buf *out, const char *folder);

/* Prints the seed, and makes a folder below TMPDIR: a file system in memory makes tests of
 * failures much faster. */
bool begin_folder(char *out, size_t room, const char *name);

size_t open_files(void);

double now(void);

/* Numbers 1 … n in random order. */
uint64_t *shuffled(uint64_t n, nd_rng *random);

/* Only a clean-up that failed itself leaves a temporary folder. */
nd_status remove_left_behind(const char *folder, nd_error *error);

/* The names in a folder but those of the list (which ends with NULL), for a message; "" if
 * there are none. */
const char *left_behind(const char *folder, const char *const *known);

/* A test's folder is empty at its end: says in TAP what is not so, for a group's teardown has no
 * other voice. */
int remove_folder(const char *folder);

#endif
