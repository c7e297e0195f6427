/* SPDX-License-Identifier: MIT */
/*
 * Makes columns of build rows ready, and finds out what is in them.
 */
#ifndef VDBQ_EXEC_BUILD_FACTS_H
#define VDBQ_EXEC_BUILD_FACTS_H

#include "exec/launch/control.h"
#include "exec/rows/row_set.h"

/* Gives texts the numbers that their codes stand for (`order_codes` NULL, or
 * without any: the codes themselves) and NULLs the value 0. The range of the
 * values that are not NULL, and whether there are such and others. */
struct input_range build_facts(struct row_set_column *column, uint64_t rows,
                               const struct order_codes *order_codes,
                               unsigned threads);

#endif
