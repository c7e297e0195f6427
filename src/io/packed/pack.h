/* SPDX-License-Identifier: MIT */
/* Bytes on their way to a file, packed. */
#ifndef VDBQ_IO_PACK_H
#define VDBQ_IO_PACK_H

#include "io/packed/packing.h"

struct pack;

/* Writes to `fd`, which stays the caller's. NULL: no memory. */
struct pack *pack_open(int fd, enum packing packing);

/* Takes some more bytes: 0, or the errno of what failed. They may stay here
 * until the end. */
int pack_write(struct pack *pack, const char *bytes, size_t length);

/* Writes what is left and the end, and frees; likewise. Accepts NULL. */
int pack_close(struct pack *pack);

#endif
