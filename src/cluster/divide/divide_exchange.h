/* SPDX-License-Identifier: MIT */
/*
 * Joins whose sides are both large: each rank scans its share of both, rows go to
 * the rank that their keys hash to, and are joined there, so that nobody builds
 * all of a side. Rows are on another rank then than those before and behind them:
 * where somebody could tell, the left ones are numbered (divide_numbers.h).
 */
#ifndef VDBQ_CLUSTER_DIVIDE_EXCHANGE_H
#define VDBQ_CLUSTER_DIVIDE_EXCHANGE_H

#include "cluster/divide/divide.h"

struct divide_exchanged {
    bool local;      /* nothing is: a join of the way is co-located */
    const char *why; /* what came of it, in words that stay; NULL: there is no
                        join on the way                                      */
    int left;        /* the exchange of the left side; -1: there is none     */
    bool numbered;   /* its rows are to be numbered                          */
};
/* Puts an exchange before each side of a join on the way from a scan that is
 * shared out then, to step `*top`, where that can be and costs less, or must be; `*top`
 * moves with it. False: no memory. */
bool divide_exchange(struct steps *steps, const struct divide_params *params,
                     int scan, int *top, struct divide_exchanged *exchanged);

/* What grouping, and parts, ask of steps, too. How many instructions of a step fail
 * for some rows; DIVIDE_FAULTS_MANY: nobody knows. Without any it does the same with
 * rows in any order. */
enum { DIVIDE_FAULTS_MANY = 1 << 16 };
unsigned divide_faults(const struct step *step);
bool divide_is_free(const struct step *step);
/* The group that reads the rows of step `top`; NULL: there is none. */
const struct step_group *divide_group_of(const struct steps *steps, int top);
/* Whether a step groups rows, and what reads the groups sorts them by all of their
 * keys, so that nobody sees in which order they come. */
bool divide_is_sorted_group(const struct steps *steps, int number);
/* Whether rows of step `top` that come in another order need numbers. */
bool divide_needs_numbers(const struct steps *steps, int top);
/* Whether what reads step `top` gives none of its rows when one fails. */
bool divide_sees_all(const struct steps *steps, int top);
/* Whether the steps above one, it among them, have room for numbers. */
bool divide_can_carry(const struct steps *steps, int number, int top);
/* Whether groups of the rows of step `top` are the same for rows in any order, if
 * the first row of each is known. */
bool divide_is_free_group(const struct steps *steps, int top,
                          const struct step_group *group);

#endif
