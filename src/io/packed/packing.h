/* SPDX-License-Identifier: MIT */
/* What files are packed by: told by a name's ending, or by a file's first bytes. */
#ifndef VDBQ_IO_PACKING_H
#define VDBQ_IO_PACKING_H

#include <stdbool.h>
#include <stddef.h>

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

enum packing packing_of_bytes(const char *bytes, size_t length);

/* x.csv.gz, x.csv.zst. `*length`: of the name without that ending. */
enum packing packing_of_name(const char *name, size_t *length);
/* Whether a name ends so, in any case, where that ending is left out. */
bool packing_name_ends(const char *name, const char *ending);

#endif
