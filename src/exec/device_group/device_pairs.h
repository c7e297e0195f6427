/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device where values count once in a group (DISTINCT) and have no
 * bit each: rows are grouped by keys and value first, and those groups, the
 * pairs, by keys. The first row of a group is that of its first pair, so that
 * their order is the same.
 */
#ifndef VDBQ_EXEC_DEVICE_PAIRS_H
#define VDBQ_EXEC_DEVICE_PAIRS_H

#include "exec/device_group/device_group.h"
#include "exec/stream/stream.h"

struct device_pairs {
    struct step_group by_value; /* the keys, and the value as one more     */
    struct step_group by_keys;  /* of the pairs: no value comes twice      */
    struct device_rows rows;    /* the pairs                               */
    struct device_group_params params; /* of grouping them; points here     */
    struct device_times times; /* of making them                          */
};

/* Whether groups can be made so: all aggregates count the values of one column,
 * the one behind the keys, once. `rows_most`: how many rows come at most. */
bool device_pairs_can(const struct device_group_params *params,
                      uint64_t rows_most);
/* Takes all rows of the stream that `params` are of. device_pairs_finish() is
 * due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status device_pairs_take(struct device_pairs *pairs,
                                   const struct device_group_params *params,
                                   struct stream *stream, struct error *error);
void device_pairs_finish(struct device_pairs *pairs);

#endif
