/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device where values count once in a group (DISTINCT) and have no
 * bit each: rows are grouped by keys and value first, and those groups, the
 * pairs, by keys. The first row of a group is that of its first pair, so that
 * their order is the same. What does not count once is grouped beside them, of the
 * same rows, and its groups are those of the pairs, in the same order.
 */
#ifndef VDBQ_EXEC_DEVICE_PAIRS_H
#define VDBQ_EXEC_DEVICE_PAIRS_H

#include "exec/device_group/device_group.h"
#include "exec/stream/stream.h"

enum { DEVICE_PAIRS_COLUMNS = DEVICE_GROUP_KEYS_MAX + 1 };

struct device_pairs {
    struct sink sink;              /* first: of the stream's rows          */
    const struct step_group *step; /* whose groups are wanted              */
    struct step_group by_value;    /* the keys, and the value as one more     */
    struct step_group by_keys;     /* of the pairs: no value comes twice. What
                                   counts once, in the order of the step   */
    struct step_group beside; /* of the rows: all else; what counts once has
                                   the place of a number of rows           */
    unsigned value;           /* the stream's column of the values       */
    /* the pairs' columns: the keys and the value, as the stream has them */
    struct device_column columns[DEVICE_PAIRS_COLUMNS];
    struct step_column inputs[DEVICE_PAIRS_COLUMNS];
    struct device_group *group;  /* makes the pairs, while rows come        */
    struct device_group *others; /* of `beside`; NULL: all count once       */
    bool *reads;                 /* of the stream's columns                 */
    struct device_rows rows;     /* the pairs                               */
    struct device_group_params params; /* of grouping them; points here     */
    struct device_times times; /* of making them                          */
};

/* Whether groups can be made so: one column has all values that count once, and
 * where there are other aggregates, these are counted. `rows_most`: how many rows
 * come at most. */
bool device_pairs_can(const struct device_group_params *params,
                      uint64_t rows_most);
/* Takes all rows of the stream that `params` are of. device_pairs_finish() is
 * due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status device_pairs_take(struct device_pairs *pairs,
                                   const struct device_group_params *params,
                                   struct stream *stream, struct error *error);
/* Writes the groups on the host, where there are others than those that count
 * once: `counts` are of the pairs, and all were taken. `results`: the columns as the
 * plan has them. */
enum vdbq_status device_pairs_write(struct device_pairs *pairs,
                                    struct device_group *counts,
                                    const struct step_column *results,
                                    struct row_set *row_set,
                                    struct error *error);
void device_pairs_finish(struct device_pairs *pairs);

#endif
