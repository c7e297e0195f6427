/* SPDX-License-Identifier: MIT */
/*
 * In which collation SQL compares a value, and what says so. Which of two counts
 * hangs on that: plan/operator/collate.h.
 */
#ifndef VDBQ_PLAN_TREE_COLLATING_H
#define VDBQ_PLAN_TREE_COLLATING_H

#include "base/collation.h"

/* The higher ones before the lower. */
enum collated {
    COLLATED_NOT,       /* nothing; then it is BINARY        */
    COLLATED_BY_COLUMN, /* that it is a column's value       */
    COLLATED_EXPLICITLY /* a COLLATE, of it or a part of it  */
};

struct collating {
    enum collation collation;
    enum collated by;
};

#endif
