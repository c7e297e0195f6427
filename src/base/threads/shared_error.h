/* SPDX-License-Identifier: MIT */
/*
 * What threads of one loop fail with: one of them tells it, and the others see that
 * they may end.
 */
#ifndef VDBQ_BASE_SHARED_ERROR_H
#define VDBQ_BASE_SHARED_ERROR_H

#include <stdatomic.h>

#include "base/error.h"

/* Zeroed but for `error` nothing has failed. */
struct shared_error {
    struct error *error; /* of who waits for the threads: told by one of them */
    atomic_uint failed;  /* threads that did                                  */
};

/* A thread has failed. */
static inline void shared_error_tell(struct shared_error *shared,
                                     const struct error *error)
{
    if (atomic_fetch_add(&shared->failed, 1) == 0)
        *shared->error = *error;
}

/* Whether one has. */
static inline bool shared_error_is_told(struct shared_error *shared)
{
    return atomic_load_explicit(&shared->failed, memory_order_relaxed) > 0;
}

/* When the threads have ended. */
static inline enum vdbq_status shared_error_status(struct shared_error *shared)
{
    return shared_error_is_told(shared) ? shared->error->status : VDBQ_OK;
}

#endif
