/* SPDX-License-Identifier: MIT */
/*
 * A spine: nodes that become one program, from a SELECT down the left sides
 * of joins that are probed. The program walks the rows of the node below the
 * lowest one, its base.
 */
#ifndef VDBQ_PLAN_LOWER_FUSE_H
#define VDBQ_PLAN_LOWER_FUSE_H

#include "plan/lower/lowering.h"
#include "plan/lower/probe.h"

/* A NODE_SELECT, or a NODE_JOIN and what is sought on its right side. */
struct level {
    struct node *node;
    bool *needed; /* of its columns, those that are read */
    struct probe probe;
    struct expression *rest; /* that must hold of a pair; NULL: nothing */
    struct node *build;      /* the right side                      */
    bool *build_needed;
    int *build_map; /* its columns, in its step            */
    int build_step;
    int key; /* its column that is probed           */
    int cursor;
};

struct spine {
    struct vector levels; /* of struct level; the top is first      */
    struct node *base;
    bool *base_needed;
    int *base_map;
    int base_step; /* -1: it is a table                      */
};

/* The program of a spine whose steps are there, with these results of its top,
 * which is a NODE_SELECT. */
enum vdbq_status fuse_code(struct lowering *lowering, const struct spine *spine,
                           const struct codegen_result *results,
                           unsigned result_count, struct program *program);

#endif
