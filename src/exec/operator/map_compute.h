/* SPDX-License-Identifier: MIT */
/*
 * One function of STEP_MAP over rows, which threads share.
 */
#ifndef VDBQ_EXEC_MAP_COMPUTE_H
#define VDBQ_EXEC_MAP_COMPUTE_H

#include "exec/operator/map_texts.h"
#include "exec/rows/row_set.h"
#include "program/functions/function.h"
#include "program/steps/steps.h"

struct map_call {
    const struct step_function *step; /* names the function and its arguments */
    const struct function_lookup
        *lookup; /* that it looks up; NULL: it does not */
    const struct function_lookup
        *then;                      /* one a call that is computed with it */
    const struct vdbq_batch *batch; /* has these */
    /* of each argument: its words; NULL: it is no text */
    const struct dictionary *words[FUNCTION_ARGUMENTS_MAX];
    struct row_set_column *column; /* gets the values, and has NULL flags ... */
    uint64_t first;                /* ... from this row of it on */
    struct map_texts *texts; /* get the texts that it gives; NULL: numbers */
    unsigned threads;        /* that share the rows at most */
};

/* Computes the function for each row of the batch; the values of texts are their
 * places (map_texts.h). Where it fails for a row, `*rows` is how many there are
 * before the first such row; these are computed. Fails with what the function says
 * of that row, NO_MEMORY, CANCELLED. */
enum vdbq_status map_compute(const struct map_call *call, uint64_t *rows,
                             struct error *error);

#endif
