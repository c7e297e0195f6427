/* SPDX-License-Identifier: MIT */
/*
 * The folder in which POCL works: of this process alone, empty at first, gone
 * at its end.
 *
 * POCL has no device where it finds no cache folder, fails builds where it
 * cannot write there, runs whatever shared object it finds in it, and ends the
 * process where a file in it is damaged. So nothing is in it that this process
 * did not put there; what is worth keeping is kept elsewhere (keep.h).
 */
#ifndef VDBQ_DEVICE_SCRATCH_H
#define VDBQ_DEVICE_SCRATCH_H

#include <stdbool.h>

#include "base/error.h"

/* Makes it in the folder "pocl" of our cache, or, where there is none, among
 * temporary files; those of processes that were killed are removed. Fails with
 * DEVICE where there is no room in either. Called once. */
enum vdbq_status scratch_create(struct error *error);

/* Its path, or NULL where none was made. */
const char *scratch_path(void);

/* Whether there is room left for a build; DEVICE if not. */
enum vdbq_status scratch_check_room(struct error *error);

/* Whether a path names such a folder, be it of another process: one that was
 * started from here has our environment. */
bool scratch_is_one(const char *path);

#endif
