/* SPDX-License-Identifier: MIT */
/*
 * How rows that were exchanged, or lie in parts by hash, come back into order: those
 * of a join's left side have numbers, which a last column brings along through all
 * that is done with them. The rows of a rank are in their order, those of a left row
 * side by side; so rank 0 has only to sort what it gathers by the numbers. A group has
 * the least number of its rows.
 */
#ifndef VDBQ_CLUSTER_DIVIDE_NUMBERS_H
#define VDBQ_CLUSTER_DIVIDE_NUMBERS_H

#include "program/steps/steps.h"

/* Whether a scan or a join has room for numbers. */
bool divide_can_number(const struct step *step);

/* Has an exchange number its rows, and the steps from there up to `*top`, which
 * are scans and joins, bring the numbers along, as the last column of step `*top`,
 * which moves where another one must do that. False: no memory. */
bool divide_number_rows(struct steps *steps, int exchange, int *top);
/* The same of a scan of rows in parts, of which column `column` to the program are
 * numbers. */
bool divide_number_part(struct steps *steps, int scan, unsigned column,
                        int *top);
/* Has the groups of such rows tell the least number, as their last column. */
bool divide_number_groups(struct steps *steps, int group);
/* The same of a group which has all rows of each of its groups, whose last column are
 * numbers: the rows of step `*top` have those of their groups. */
bool divide_number_least(struct steps *steps, int group, int *top);
/* Numbers the rows of an exchange that a group reads, which has all rows of each of
 * its groups: its rows have the numbers of their first ones as those of step `top`
 * do. */
bool divide_number_whole(struct steps *steps, int exchange, int group,
                         int *top);
/* Has those who read step `gather`, whose last column are numbers, read its rows
 * in the order of the numbers, without these: it merges rows, and groups are sorted
 * behind it. */
bool divide_order(struct steps *steps, int gather);

#endif
