/* SPDX-License-Identifier: MIT */
/*
 * A flight: one launch of a program on its way, with the memory that it needs
 * on both sides. It is started, lands, gives out its rows, and may start
 * again. Part of the runner.
 */
#ifndef VDBQ_EXEC_FLIGHT_H
#define VDBQ_EXEC_FLIGHT_H

#include "exec/launch/control.h"
#include "exec/launch/result.h"
#include "exec/launch/runner.h"

/* What all flights of a runner share. */
struct flight_params {
    struct device *device;
    const struct program *program;
    const struct program_pack *pack;
    const struct control *control;
    struct device_memory *inner; /* NULL: none */
    struct device_times *times;  /* added to */
    bool mapped; /* the machine writes result rows into the host's memory */
    uint64_t narrow_rows_max; /* of a launch whose rows may leave narrow: the
                                 host widens them while others run; 0: none */
    double share; /* of the last launch whose rows are known: what part of
                     its rows became rows; -1: of none                     */
};

enum flight_state {
    FLIGHT_IDLE,
    FLIGHT_STARTED, /* copies in, machine; foreseen rows set out */
    FLIGHT_LEAVING, /* the rows are known and on their way out   */
    FLIGHT_LANDED   /* the rows are there                        */
};

struct flight {
    const struct flight_params *params;
    enum flight_state state;
    struct device_job *job;
    struct device_memory *control; /* the block, then progress, with room for
                                      what `steps_room` steps say          */
    struct device_memory *data;    /* feeds that were copied in; or NULL     */
    struct device_memory *staging; /* pinned: see flight_in.c                */
    unsigned steps_room;
    bool control_sent; /* the device has staging's control block */
    const struct run_ranks *ranks[LAUNCH_PIECES]; /* ... with these in it,
                                      one a piece, or NULL                  */
    u64 ranks_end;                  /* where they end                         */
    u8 *head;                       /* control block's head for this start    */
    struct vector copies;           /* of struct device_copy, in              */
    uint64_t rows;                  /* of this start                          */
    struct device_machine *machine; /* that runs it                          */
    struct runner_input input;      /* of this start: what feeds and copies
                                      point to is gone                       */
    struct error failure;           /* of the row behind its rows; status OK:
                                      none failed                            */
    struct result result;
};

/* Makes an idle flight; flight_finish() is due whatever it returns. */
enum vdbq_status flight_init(struct flight *flight,
                             const struct flight_params *params,
                             struct arena *arena, struct error *error);
/* Waits for what is on its way; accepts a zeroed struct. */
void flight_finish(struct flight *flight);

enum vdbq_status flight_start(struct flight *flight,
                              struct device_machine *machine,
                              const struct runner_input *input,
                              struct error *error);

/* Sends the rows on their way if the machine has run, or once it has, without
 * telling of a fault. */
enum vdbq_status flight_hurry(struct flight *flight, bool wait,
                              struct error *error);
/* Has about as many rows set out as soon as the machine has run as there will
 * be if the share of them is as before; where the host knows how many there
 * are, or foresaw it before, it does nothing. */
enum vdbq_status flight_foresee(struct flight *flight, struct error *error);
/* Whether flight_foresee() can be of use: rows lie next to one another, and
 * leave. */
bool flight_foresees(const struct flight *flight);
/* The share of the launch's rows that became rows, which are on their way. */
double flight_share(const struct flight *flight);
/* Waits until the rows are there; of rows that fail, those before the first one,
 * and `failure` tells of that one. */
enum vdbq_status flight_land(struct flight *flight, struct error *error);

#endif
