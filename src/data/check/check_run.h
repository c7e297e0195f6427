/* SPDX-License-Identifier: MIT */
/*
 * Proof of a run: check.h.
 */
#ifndef VDBQ_DATA_CHECK_RUN_H
#define VDBQ_DATA_CHECK_RUN_H

#include "data/database/database.h"

/* Whether a run of the file has the rows of its tablet of `rows` rows, a checked
 * block, in the order of their values. Fails with CANCELLED, NO_MEMORY. */
enum vdbq_status check_run(struct database *database, const struct run_ref *ref,
                           uint32_t rows, const void *tablet, bool *sound,
                           struct error *error);

#endif
