/* SPDX-License-Identifier: MIT */
/*
 * A failure that waits until it is its turn to be told: behind the rows before it,
 * or when somebody asks. Its text is apart, so that what may fail and has not is
 * small: a struct error has kilobytes, which would be cleared for each statement.
 */
#ifndef VDBQ_BASE_HELD_ERROR_H
#define VDBQ_BASE_HELD_ERROR_H

#include "base/error.h"

/* Zeroed: nothing has failed. */
struct held_error {
    enum vdbq_status status; /* VDBQ_OK: nothing has failed                  */
    struct error *error;     /* what is told; NULL: that there was no memory */
};

/* Holds a failure in place of the one that is held, on whatever thread. Where there
 * is no memory for its text that is the failure. */
void held_error_set(struct held_error *held, const struct error *error);
/* Tells of it, and holds it still; VDBQ_OK: nothing has failed, `error` stays. */
enum vdbq_status held_error_tell(const struct held_error *held,
                                 struct error *error);
/* Forgets it, and frees what it has. */
void held_error_finish(struct held_error *held);

#endif
