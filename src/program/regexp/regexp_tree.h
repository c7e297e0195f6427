/* SPDX-License-Identifier: MIT */
/*
 * What a pattern says, as a tree: from regexp_tree.c to regexp_write.c.
 */
#ifndef VDBQ_PROGRAM_REGEXP_TREE_H
#define VDBQ_PROGRAM_REGEXP_TREE_H

#include "base/vector.h"
#include "program/regexp/regexp.h"

enum regexp_node_kind {
    NODE_EMPTY,
    NODE_ONE,    /* one instruction: `code` */
    NODE_THEN,   /* left, then right, which may be one of these again */
    NODE_OR,     /* left, or right, which may be one of these again */
    NODE_REPEAT, /* left, `least` to `most` times */
    NODE_GROUP   /* left, whose place is kept: number `least` */
};

struct regexp_node {
    enum regexp_node_kind kind;
    struct regexp_code code;
    struct regexp_node *left, *right;
    int least, most; /* most: REGEXP_UNBOUNDED */
    bool lazy;       /* as few as will do */
};
enum { REGEXP_UNBOUNDED = -1, REGEXP_REPEAT_MAX = 1000 };

struct regexp_tree {
    struct regexp_node *root;
    struct vector sets; /* of struct regexp_set; to be finished */
    unsigned groups;
};
/* Reads a pattern; nodes and ranges live in `arena`. Fails as regexp_read(). */
enum vdbq_status regexp_tree_read(struct vdbq_text pattern,
                                  struct regexp_options options,
                                  struct arena *arena, struct regexp_tree *tree,
                                  struct error *error);

#endif
