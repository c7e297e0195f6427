/* SPDX-License-Identifier: MIT */
/*
 * A launch of a program on its way, with the memory that it needs on both
 * sides. It is started, its rows arrive and are given out, and it may start
 * again. Part of the launcher.
 */
#ifndef VDBQ_EXEC_LAUNCH_H
#define VDBQ_EXEC_LAUNCH_H

#include "base/held_error.h"
#include "exec/launch/control.h"
#include "exec/launch/launch_tables.h"
#include "exec/launch/result.h"
#include "exec/launch/launcher.h"

/* What all launches of a launcher share. */
struct launch_params {
    struct device *device;           /* runs the launch */
    const struct program *program;   /* checked; outlives the launch */
    const struct program_pack *pack; /* of the program */
    const struct control *control; /* the block that every launch starts from */
    struct device_memory *build_side; /* NULL: none */
    struct device_times *times;       /* added to */
    bool mapped; /* the machine writes result rows into the host's memory */
    uint64_t narrow_rows_max; /* of a launch whose rows may leave narrow: the
                                 host widens them while others run; 0: none */
    bool close_up; /* the reader's threads share a batch: result_close_up()  */
    const struct launch_bound *bound; /* of the sort that takes the rows; NULL:
                                         there is none */
    struct launch_tables *tables; /* of groups, to which items add; or NULL   */
    struct device_memory *tables_memory; /* ... where they are              */
    double share; /* of the last launch whose rows are known: what part of
                     its rows became rows; -1: of none                     */
};

enum launch_state {
    LAUNCH_IDLE,
    LAUNCH_STARTED, /* copies in, machine; prefetched rows set out */
    LAUNCH_LEAVING, /* the rows are known and on their way out   */
    LAUNCH_ARRIVED  /* the rows are there                        */
};

struct launch {
    const struct launch_params *params;
    enum launch_state state; /* where the launch stands */
    struct device_job *job;  /* its copies and its kernel, for the device */
    struct device_memory *control; /* the block, then progress, with room for
                                      what `steps_room` steps say          */
    struct device_memory *data;    /* inputs that were copied in; or NULL    */
    struct device_memory *staging; /* pinned: see launch_in.c                */
    uint64_t held_bytes; /* of `control` and `staging`, for the account       */
    unsigned steps_room; /* steps that control and staging hold progress of */
    u64 order_codes_room; /* bytes of order codes that they hold, likewise */
    bool control_sent;    /* the device has staging's control block */
    /* ... with these in it, one a morsel, or NULL */
    const struct order_codes *order_codes[LAUNCH_MORSELS];
    u64 order_codes_end;            /* where they end                         */
    u8 *head;                       /* control block's head for this start    */
    struct vector copies;           /* of struct device_copy, in              */
    uint64_t rows;                  /* of this start                          */
    struct device_machine *machine; /* that runs it ...                      */
    const struct sink_groups *groups; /* ... and adds its rows to these, or
                                         NULL                                */
    struct launcher_request request;  /* of this start: what inputs and copies
                                      point to is gone                       */
    struct held_error failure; /* of the row behind its rows             */
    struct result result;      /* the rows that come out */
};

/* Makes an idle launch; launch_finish() is due whatever it returns. */
enum vdbq_status launch_init(struct launch *launch,
                             const struct launch_params *params,
                             struct arena *arena, struct error *error);
/* Waits for what is on its way; accepts a zeroed struct. */
void launch_finish(struct launch *launch);

enum vdbq_status launch_start(struct launch *launch,
                              struct device_machine *machine,
                              const struct launcher_request *request,
                              struct error *error);

/* Starts to copy the rows to the host if the machine has run (`wait`: once it
 * has), without telling of a fault. */
enum vdbq_status launch_output_start(struct launch *launch, bool wait,
                                     struct error *error);
/* Has rows copied to the host as soon as the machine has run: as many as the
 * last launch's share predicts. Does nothing where the host knows how many
 * there are, or has called it before. */
enum vdbq_status launch_prefetch_output(struct launch *launch,
                                        struct error *error);
/* Whether prefetching can be of use: rows lie next to one another, and
 * leave. */
bool launch_can_prefetch(const struct launch *launch);
/* The share of the launch's rows that became rows, which are on their way. */
double launch_share(const struct launch *launch);
/* Waits until the rows are there; of rows that fail, those before the first
 * one, and `failure` tells of that one. */
enum vdbq_status launch_arrive(struct launch *launch, struct error *error);

#endif
