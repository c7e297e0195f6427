/* SPDX-License-Identifier: MIT */
/*
 * What must be right around us before an OpenCL driver is opened, and the
 * folders in which compiled kernels are kept.
 */
#ifndef VDBQ_DEVICE_ENVIRONMENT_H
#define VDBQ_DEVICE_ENVIRONMENT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* Sets the variables that drivers read. Called once, before the loader is
 * opened. Fails with VDBQ_DEVICE where the cache folder is not safe. */
enum vdbq_status environment_prepare(struct error *error);
/* Once the loader has asked the platforms: puts back what it cut of lists in
 * variables, which processes that we start read as well. */
void environment_restore(void);

/*
 * Finds or makes the folder `name` of our cache ($XDG_CACHE_HOME/vdbq, or
 * ~/.cache/vdbq) and adds its path to `path`. What lies in it is loaded as
 * code, so it must be ours alone: a folder, not a link, of our user, that
 * nobody else may write. VDBQ_DEVICE: it is there but not ours alone;
 * VDBQ_IO: there is none, and none can be made.
 */
enum vdbq_status environment_cache_folder(const char *name, struct text *path,
                                          struct error *error);

/* Writes a temporary file in that folder, then renames it to `name`; adds its
 * path. Fails as environment_cache_folder() does, or with IO. */
enum vdbq_status environment_cache_write(const char *folder, const char *name,
                                         const struct text *bytes,
                                         struct text *path,
                                         struct error *error);

/* Whether there is room for a build in that folder; IO if not. */
enum vdbq_status environment_has_room(const char *path, struct error *error);

/* Adds the path of such a folder that is there and ours alone, to be read. */
bool environment_cache_look(const char *name, struct text *path);

/* Adds the path of that folder, without making or looking at anything: for
 * reading what is no code. False where there can be none. */
bool environment_cache_path(const char *name, struct text *path);

#endif
