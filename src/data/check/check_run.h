/* SPDX-License-Identifier: MIT */
/*
 * Proof of a run: check.h.
 */
#ifndef VDBQ_DATA_CHECK_RUN_H
#define VDBQ_DATA_CHECK_RUN_H

#include "data/index/index_values.h"

/* A tablet as it was written, and what its runs are of. */
struct check_tablet {
    struct index_of of; /* `index` NULL: of its columns */
    const struct tablet_ref *tablet;
    const void *block; /* checked */
};

/* Whether a run of the file has the rows of its tablet in the order of their values,
 * or of the keys that an index has of them. Fails with CANCELLED, NO_MEMORY, and as
 * keys that are computed. */
enum vdbq_status check_run(const struct check_tablet *tablet,
                           const struct run_ref *ref, bool *sound,
                           struct error *error);

#endif
