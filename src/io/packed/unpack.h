/* SPDX-License-Identifier: MIT */
/*
 * A packed file as a stream of the bytes that were packed, in memory that does
 * not grow with the file. Several members of gzip, or frames of zstd, are one
 * text. Nothing that the file says is trusted: what does not fit its checksums,
 * ends too early, or has other bytes behind it, is a failure.
 */
#ifndef VDBQ_IO_UNPACK_H
#define VDBQ_IO_UNPACK_H

#include "api/vdbq.h"
#include "io/packed/packing.h"

struct unpack;

/* Reads `fd`, which stays the caller's, from its first byte, wherever it
 * stands. NULL: no memory. */
struct unpack *unpack_open(int fd, enum packing packing);
void unpack_close(struct unpack *unpack); /* accepts NULL */

/* The next bytes, at most `size`; `*length` is 0 at the end alone. Fails with
 * IO, CORRUPT, LIMIT, NO_MEMORY, after which there is nothing more to read. */
enum vdbq_status unpack_read(struct unpack *unpack, char *room, size_t size,
                             size_t *length);
/* Behind "x.gz: ", what is wrong with the file; and what to do about it. */
const char *unpack_message(const struct unpack *unpack);
const char *unpack_hint(const struct unpack *unpack);

/* Bytes of the file that were read. */
uint64_t unpack_taken(const struct unpack *unpack);

#endif
