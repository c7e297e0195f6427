/* SPDX-License-Identifier: MIT */
/*
 * Keys of indexes for rows in memory: they are planned and run like a query.
 */
#ifndef VDBQ_API_INDEX_KEYS_H
#define VDBQ_API_INDEX_KEYS_H

#include "data/database/rows.h"
#include "exec/stream/stream.h"
#include "plan/plan.h"

/* Adds to `keys` what an index_computer gives. `params` say where steps run. Fails
 * as that does. */
enum vdbq_status index_keys_run(const struct index_request *request,
                                const struct plan_limits *limits,
                                const struct stream_params *params,
                                struct rows *keys, struct error *error);

#endif
