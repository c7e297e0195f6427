/* SPDX-License-Identifier: MIT */
/*
 * Tables of part files that lie by the hash of columns (struct table_parts): a rank's
 * part has all rows of the keys that it has any of. So a join by these columns of
 * tables that lie alike is co-located: each rank joins its parts, and no row goes
 * anywhere. A group by them is whole on one rank.
 *
 * Rows of a part ascend by their numbers, which bring those of all ranks into the order
 * of one process (divide_numbers.h). Where that cannot be, nothing is read by parts: a
 * scan is shared out by runs of the table, as that of any.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_LOCAL_H
#define VDBQ_CLUSTER_DIVIDE_LOCAL_H

#include "cluster/divide/divide.h"

/* Whether a table lies whole in each part, so that nobody has to be sent its rows. */
bool divide_is_everywhere(const struct table *table);
/* How many rows the tables have that are scanned in parts beside that of a way, whose
 * joins with them are co-located. */
uint64_t divide_local_rows(const struct steps *steps,
                           const struct divide_params *params, int scan,
                           int top);
/* Has these tables, and the way's, scanned in parts, if there are any (`*local`).
 * False: no memory. */
bool divide_local_joins(struct steps *steps, const struct divide_params *params,
                        int scan, int top, bool *local);
/* Whether all rows of any group are on one rank, where the scan whose rows come to
 * step `top` is of parts, and a group reads that step. */
bool divide_local_group(const struct steps *steps,
                        const struct divide_params *params, int top);
/* Whether a scan can be of parts, and nobody asks for the order of the rows that come
 * to step `top` of it: they are counted, summed up and the like. */
bool divide_local_counts(const struct steps *steps,
                         const struct divide_params *params, int scan, int top);
/* Has a table scanned in parts. False: no memory. */
bool divide_local_scan(struct steps *steps, const struct divide_params *params,
                       int scan);
/* Has such a scan, and the steps from there up to `*top`, bring the numbers of rows
 * along: divide_number_rows(). */
bool divide_local_number(struct steps *steps,
                         const struct divide_params *params, int scan,
                         int *top);

#endif
