/* SPDX-License-Identifier: MIT */
/*
 * Where the columns of a launch are: a tablet in the pool, or on the device.
 * Part of the scan.
 */
#ifndef VDBQ_EXEC_SOURCE_H
#define VDBQ_EXEC_SOURCE_H

#include "data/pool/pool.h"
#include "exec/launch/resident.h"
#include "exec/launch/launcher.h"

/* What all launches of a scan share. */
struct source_params {
    const struct run_place *place;   /* whose pool loads tablets */
    const struct table *table;       /* of the scan */
    const struct program_pack *pack; /* the columns that are read ... */
    const unsigned *columns;         /* ... by their number in the table */
    unsigned column_count;           /* of `columns` */
    unsigned *lacking;               /* room for as many */
    struct device_times *times;      /* added to                      */
    uint64_t load_ns;                /* that the pool took, added to  */
    bool yields, reached;            /* see struct pool_want          */
};

/* One tablet, kept in place for a launch. */
struct source {
    const struct tablet_ref *ref;     /* of the tablet, in the catalogue */
    struct pool_slot *slot;           /* NULL: the device has what is read */
    struct resident_tablet *resident; /* MODE_CACHED                       */
    const struct tablet *tablet;      /* its head                          */
};

/* Whether the device must reach the pool's memory: not where each tablet is moved to
 * it once, since it has room for those of all tables, and to spare. */
bool source_reached(const struct run_place *place,
                    const struct catalogue *catalogue);

/* Brings a tablet in. `copies` (of struct device_copy) gets what must be
 * copied to the device before a launch reads the tablet there. Fails with
 * LIMIT where the budgets cannot hold it beside what is in use, and as
 * pool_pin() and resident_pin() say. */
enum vdbq_status source_open(struct source *source,
                             struct source_params *params,
                             const struct tablet_ref *ref,
                             struct vector *copies, struct error *error);
/* Whether the device has all that is read of a tablet, between queries. */
bool source_is_there(const struct source_params *params,
                     const struct tablet_ref *ref);
/* Starts to bring a tablet in that source_open() will soon be called for;
 * false: no more can be started. */
bool source_ahead(const struct source_params *params,
                  const struct tablet_ref *ref);
/* `failed`: the launch was, so that its copies may not have arrived. */
void source_close(struct source *source, const struct source_params *params,
                  bool failed);

/* Whether the columns lie in the file, and the device reads them there. */
bool source_mapped(const struct source *source);

/* Where the columns start at row `row`, for launcher_request. */
void source_inputs(const struct source *source,
                   const struct source_params *params, uint64_t row,
                   struct column_input *inputs);
/* The memory that they are in, on the device or for it; NULL: ... */
struct device_memory *source_data(const struct source *source,
                                  const struct source_params *params);
/* ... they are copied from here. */
u8 *source_host(const struct source *source,
                const struct source_params *params);

#endif
