/* SPDX-License-Identifier: MIT */
/*
 * Compiled kernels on disk, for drivers that keep none of their own (see
 * quirks.h), in $XDG_CACHE_HOME/vdbq/kernels or ~/.cache/vdbq/kernels. One
 * entry is one file, named by the hash of its key:
 *
 *   offset  size  field
 *        0     8  magic        "VDBQKERN"
 *        8     4  format       CACHE_FORMAT
 *       12     4  reserved     0
 *       16     8  key_size     in bytes
 *       24     8  binary_size  in bytes
 *       32     8  checksum     XXH3 of what follows
 *       40     .  the key, then the binary
 *
 * The key is all that the binary depends on, in full, each part ended by a
 * NUL: the names and versions of platform, device and driver, the build
 * options, the source with every include. Entries are written under a
 * temporary name, then renamed. Whatever is wrong with one, or with the
 * folder, means "build from source"; nothing here is an error.
 */
#ifndef VDBQ_DEVICE_CACHE_H
#define VDBQ_DEVICE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { CACHE_FORMAT = 1 };

/* Adds the binary of `key` to `binary`; false: there is none. */
bool cache_load(const struct text *key, struct text *binary);
void cache_save(const struct text *key, const void *bytes, size_t size);

/* Adds the bytes of a file of this user's, which is no link; false: there is none. */
bool cache_read_file(const char *path, struct text *bytes);
/* Writes a temporary file beside `path`, then renames it; false: neither is there. */
bool cache_write_file(const char *path, const struct text *bytes);

/* Locks for those who build what others may be building, by their numbers: waits until
 * no other process has it, and takes it. -1: there is no cache; CACHE_TAKEN: it does not
 * wait, and another process has it. */
enum { CACHE_TAKEN = -2 };
int cache_lock(unsigned number, bool waits);
void cache_unlock(int lock);

/* Whether it holds nothing at all. */
bool cache_is_empty(void);

#endif
