/* SPDX-License-Identifier: MIT */
/*
 * What a sort that asks for the first rows tells the scan below it: launches that
 * start later pass over rows behind its bound (Behind in cl/ops.cl).
 */
#ifndef VDBQ_EXEC_LAUNCH_BOUND_H
#define VDBQ_EXEC_LAUNCH_BOUND_H

#include <stdbool.h>

#include "cl/launch.h"

struct launch_bound {
    bool set;      /* there is one */
    u64 end, flip; /* `bound` and `bound_flip` of struct launch_head */
};

#endif
