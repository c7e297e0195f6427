/* SPDX-License-Identifier: MIT */
/*
 * Tables of part files that lie by the hash of columns (struct table_parts): a rank's
 * part has all rows of the keys that it has any of. So a join by these columns of
 * tables that lie alike is co-located: each rank joins its parts, and no row goes
 * anywhere. A group by them is whole on one rank, and groups of all ranks come one
 * after another, as rows of the table do.
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
/* Has these tables scanned in parts; whether there are any. */
bool divide_local_joins(struct steps *steps, const struct divide_params *params,
                        int scan, int top);
/* Whether all rows of any group are on one rank, where the scan whose rows come to
 * step `top` is shared out, and a group reads that step. */
bool divide_local_group(const struct steps *steps,
                        const struct divide_params *params, int top,
                        const struct step_group *group);

#endif
