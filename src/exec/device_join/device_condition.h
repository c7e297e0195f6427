/* SPDX-License-Identifier: MIT */
/*
 * The condition of a join on a device: its program (exec/join/condition.h) runs
 * over pairs of rows that are there, and the numbers of those that it keeps stay.
 */
#ifndef VDBQ_EXEC_DEVICE_CONDITION_H
#define VDBQ_EXEC_DEVICE_CONDITION_H

#include "exec/launch/device_store.h"
#include "exec/scan/host_morsel.h"

struct device_condition {
    struct program program; /* gives the numbers of the pairs that it keeps */
    struct host_morsels morsels; /* pairs on their way through the program  */
    struct device_column column; /* the numbers                             */
    struct device_store kept;    /* takes them, rising: one column          */
    struct device_times times;   /* of the calls so far                     */
};

struct device_condition_params {
    const struct stream_params *stream;     /* of the join                  */
    const struct run_place *place;          /* whose device has the pairs   */
    const struct program *program;          /* of the plan                  */
    struct dictionary *const *dictionaries; /* of each column of a pair     */
    uint64_t pairs;                         /* about how many there will be */
};
/* device_condition_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status
device_condition_init(struct device_condition *condition,
                      const struct device_condition_params *params,
                      struct error *error);
void device_condition_finish(struct device_condition *condition);
/* Waits for what is in flight, so that the pairs may go; it is not asked again. */
void device_condition_stop(struct device_condition *condition);

/* Whether it reads a column of the pairs. */
bool device_condition_reads(const struct device_condition *condition,
                            unsigned column);

/* Asks it of pairs, of which there are some; `kept` has what it keeps then.
 * `*number`: that the first pair had. Where it fails for a pair, that is pair
 * `*judged`, and those before it were asked. */
enum vdbq_status device_condition_run(struct device_condition *condition,
                                      const struct sink_rows *pairs,
                                      uint64_t *number, uint64_t *judged,
                                      struct error *error);

#endif
