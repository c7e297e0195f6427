/* SPDX-License-Identifier: MIT */
/*
 * What the files that prove a query's steps share.
 */
#ifndef VDBQ_PROGRAM_STEPS_CHECK_H
#define VDBQ_PROGRAM_STEPS_CHECK_H

#include "program/steps/steps.h"

/* The step at hand. */
struct checking {
    const struct steps *steps;
    struct step *step;
    int number;
    const struct step *recurse; /* in whose term it is; NULL: in none */
    struct error *error;
};

/* The same as steps_check(), of the term of a recursion or what is in it. */
enum vdbq_status steps_check_in(struct steps *steps, const struct step *recurse,
                                struct error *error);

/* Says what is wrong with the step. */
enum vdbq_status steps_refuse(const struct checking *check, const char *format,
                              ...) __attribute__((format(printf, 2, 3)));

/* Input i of the step. */
const struct step *steps_input(const struct checking *check, size_t i);
/* Whether a number is that of a column of the step's input; -1 passes where
 * `none` allows for it. */
enum vdbq_status steps_check_column(const struct checking *check, int column,
                                    bool none);
/* Whether the columns of keys (struct step_key) are there. */
enum vdbq_status steps_check_keys(const struct checking *check,
                                  const struct vector *keys);
/* Whether the step has its input's columns, then `more`. */
enum vdbq_status steps_check_beside(const struct checking *check, size_t more);

/* steps_check_recurse.c: whether columns are those of the recursion's rows. */
enum vdbq_status steps_check_recurse(const struct checking *check);
enum vdbq_status steps_check_working(const struct checking *check);

/* steps_check_window.c: whether the functions fit. */
enum vdbq_status steps_check_window(const struct checking *check);

#endif
