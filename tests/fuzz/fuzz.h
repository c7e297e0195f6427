/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share: connections to databases that are bounded in
 * memory and time, statements that are run and read, files made of bytes,
 * and mutations of text by its tokens. Any answer is right but a crash, a
 * sanitizer's report, an assert, or a failure without a message.
 */
#ifndef VDBQ_TESTS_FUZZ_H
#define VDBQ_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "api/vdbq.h"

/* What libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed);
/* Its own mutations. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* A number of bytes that were made at random, taken one after another. */
struct fuzz_bytes {
    const uint8_t *at, *end;
};
/* A number below `limit`; 0 where no bytes are left. */
unsigned fuzz_take(struct fuzz_bytes *bytes, unsigned limit);

/* A sequence of random numbers below `limit`. */
unsigned fuzz_random(uint64_t *state, unsigned limit);

/* Opens a database on the host device (NULL: in memory); NULL: refused. */
vdbq *fuzz_open(const char *path, unsigned flags);
/* The same in memory, with tables t, u, e (empty) and a view v. */
vdbq *fuzz_open_filled(void);

/* Runs every statement of a text, with values for its parameters, and reads
 * what they give. */
void fuzz_run(vdbq *db, const char *sql, size_t length);
/* Reads all rows of a query, and closes it; `status` is that of its making. */
void fuzz_read(vdbq *db, vdbq_query *query, enum vdbq_status status);
/* Crashes where a failure is not told. */
void fuzz_check_told(vdbq *db, enum vdbq_status status);

/* The path of a file of this process that has these bytes, until the next
 * call. */
const char *fuzz_file(const void *bytes, size_t size);

/* Mutates SQL by its tokens. */
size_t fuzz_mutate_sql(uint8_t *data, size_t size, size_t most, unsigned seed);

#endif
