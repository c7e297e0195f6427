/* SPDX-License-Identifier: MIT */
/*
 * Rows of a step that stay on a device for those who read them: steps that run
 * there take them as they are, others fetch them, some at a time.
 */
#ifndef VDBQ_EXEC_DEVICE_ROWS_H
#define VDBQ_EXEC_DEVICE_ROWS_H

#include "exec/launch/device_store.h"
#include "exec/launch/run_place.h"

struct device_rows {
    struct device_store store;     /* first: its sink takes them            */
    struct run_place place;        /* whose device has them                 */
    struct device_column *columns; /* what is known of them; owned          */
    struct output *outputs;        /* where they are, one a column; owned   */
    uint64_t reserved_bytes;       /* of the budget of the place's device   */
    struct device_times times;     /* of the calls so far                   */
};

/* Makes an empty one, which takes over `columns`. device_rows_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status device_rows_init(struct device_rows *rows,
                                  const struct run_place *place,
                                  struct device_column *columns,
                                  unsigned column_count, struct error *error);
/* Nothing that reads them may be in flight. */
void device_rows_finish(struct device_rows *rows);

/* All rows were taken: they count as what lies on the device from now on.
 * Fails with LIMIT where its budget has no room for them. */
enum vdbq_status device_rows_settle(struct device_rows *rows,
                                    struct error *error);
/* All rows, as a sink takes them. */
struct sink_rows device_rows_all(const struct device_rows *rows);
/* A copy of what is known of the columns, for the caller to free; NULL: no
 * memory. */
struct device_column *device_rows_columns(const struct device_rows *rows);

/* Brings rows to the host, into memory that the next call uses again. */
struct device_fetch {
    struct device *device;        /* that has the rows */
    unsigned column_count;        /* of them */
    struct device_memory *pinned; /* owned; NULL: none yet */
    struct device_place *places;  /* of the columns in it; owned */
    struct vdbq_vector *vectors;  /* of the batch; owned */
    struct device_times times;    /* of the calls so far */
};
/* device_fetch_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status device_fetch_init(struct device_fetch *fetch,
                                   struct device *device, unsigned column_count,
                                   struct error *error);
void device_fetch_finish(struct device_fetch *fetch);
/* Makes a batch of rows; values of columns that nobody reads (`reads` NULL:
 * all are read) are any. */
enum vdbq_status device_fetch_rows(struct device_fetch *fetch,
                                   const struct device_column *columns,
                                   const bool *reads,
                                   const struct sink_rows *rows,
                                   struct vdbq_batch *batch,
                                   struct error *error);

/* One of those who read the rows: as a sink, or batch by batch. */
struct device_reader {
    const struct device_rows *rows;
    const bool *reads;         /* columns; NULL: all; outlives it       */
    struct sink *sink;         /* takes them; NULL: none                */
    uint64_t next;             /* row to give out next                  */
    struct device_fetch fetch; /* for the host                          */
};
/* device_reader_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status device_reader_init(struct device_reader *reader,
                                    const struct device_rows *rows,
                                    const bool *reads, struct error *error);
void device_reader_finish(struct device_reader *reader);
/* The next rows; rows 0: the end. They live until the next call. */
enum vdbq_status device_reader_batch(struct device_reader *reader,
                                     struct vdbq_batch *batch,
                                     struct error *error);
/* Has the sink take all rows that are left. */
enum vdbq_status device_reader_give(struct device_reader *reader,
                                    struct error *error);

#endif
