/* SPDX-License-Identifier: MIT */
/*
 * Rows that are kept in one memory of a device, column by column: those
 * that a sink takes, or those of a row set.
 */
#ifndef VDBQ_EXEC_DEVICE_STORE_H
#define VDBQ_EXEC_DEVICE_STORE_H

#include "exec/rows/row_set.h"
#include "exec/launch/sink.h"

/* Where a column is in a memory of some rows. */
struct device_place {
    uint64_t values; /* byte offset of the first value */
    uint64_t nulls;  /* bytes; UINT64_MAX: none is NULL */
    unsigned width;  /* of a value                      */
};

/* Places the columns that are read (`reads` NULL: all are) for `rows` rows, one
 * behind the other; the bytes of all, not 0. `places` may be NULL. */
uint64_t device_places(const struct device_column *columns, const bool *reads,
                       unsigned count, uint64_t rows,
                       struct device_place *places);
/* The same place, as who takes rows is told of it. */
struct output device_place_output(const struct device_place *place);

struct device_store {
    struct sink sink;      /* first: takes rows behind those that are there */
    struct device *device; /* owns the memory */
    struct device_times *times; /* added to                  */
    /* of the sender; they outlive the store. Those that the sink does not read
     * take no room */
    const struct device_column *columns;
    unsigned column_count;
    unsigned made_count; /* of the columns, the last ones: no sender has them,
                            and there is room for what is made of the others */
    struct device_memory *memory; /* owned; NULL: no row came yet */
    uint64_t rows, rows_room; /* that are there, and that there is room for */
    struct device_place *places; /* of the columns in it      */
};

/* Makes an empty store; `columns` outlive it. device_store_finish() is due
 * whatever it returns, and accepts a zeroed struct; nothing may be in
 * flight. */
enum vdbq_status
device_store_init(struct device_store *store, struct device *device,
                  const struct device_column *columns, unsigned column_count,
                  struct device_times *times, struct error *error);
void device_store_finish(struct device_store *store);

/* Makes room for so many rows in all, however many there are. Waits for what
 * is in flight where they are moved. */
enum vdbq_status device_store_room(struct device_store *store, uint64_t rows,
                                   struct error *error);
/* Copies rows [first, first + count) of a column that is read to another
 * memory of the device: the values, and, unless `nulls_at` is UINT64_MAX, the
 * NULL flags, which the column has. */
enum vdbq_status device_store_copy(struct device_store *store, unsigned column,
                                   uint64_t first, uint64_t count,
                                   struct device_memory *to, uint64_t values_at,
                                   uint64_t nulls_at, struct error *error);
/* Copies the rows of a row set, whose columns are the store's, into an empty
 * one. */
enum vdbq_status device_store_fill(struct device_store *store,
                                   const struct row_set *row_set,
                                   struct error *error);

#endif
