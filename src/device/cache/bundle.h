/* SPDX-License-Identifier: MIT */
/*
 * The files below a folder as one run of bytes, and back:
 *
 *   of each file:
 *   offset  size  field
 *        0     8  path_size  in bytes
 *        8     8  file_size  in bytes
 *       16     .  its path from the root on, then its bytes
 *
 * Files that are empty are passed over: they are notes and locks.
 */
#ifndef VDBQ_DEVICE_BUNDLE_H
#define VDBQ_DEVICE_BUNDLE_H

#include <stdbool.h>

#include "base/text.h"

/* How many files there are in root/folder, at any depth. */
unsigned bundle_count(const char *root, const char *folder);
/* Adds them to `bundle`; false: one could not be read. */
bool bundle_pack(const char *root, const char *folder, struct text *bundle);

/* Writes the files below `root`, but for those that are there; how many the
 * bundle has of them. What cannot be written is not there at all. */
unsigned bundle_unpack(const char *root, const struct text *bundle);
/* The first two folders of the first path, "AB/CDEF"; false: there are none. */
bool bundle_folder(const struct text *bundle, char *folder, size_t room);

#endif
