/* SPDX-License-Identifier: MIT */
/*
 * Joins whose left rows have one partner at most, which a probe finds
 * (opcodes Probe and ColumnAt): what is sought, and in which column.
 */
#ifndef VDBQ_PLAN_LOWER_PROBE_H
#define VDBQ_PLAN_LOWER_PROBE_H

#include "plan/tree/node.h"

struct binder;

struct probe {
    const struct node *join;
    int single; /* the key that is sought, by its number, and the others are
                   compared; -1: all of them, packed into one number, which
                   is 0 where there is none                                  */
};

/* Whether the partners of a join's left rows can be found by a probe. */
bool probe_fits(const struct node *join, struct probe *probe);
/* Bytes that the right side's rows take where they are probed, with so many
 * columns of them. */
struct probe_room {
    uint64_t likely; /* as their number is estimated */
    uint64_t most;   /* at least `likely` */
};
struct probe_room probe_room(const struct probe *probe, unsigned columns);
/* Both together. */
struct probe_room probe_room_sum(struct probe_room a, struct probe_room b);

/* The right side with the column that is probed, `*key`: of several keys it is
 * one that is added. NULL: a failure. */
struct node *probe_build(struct binder *binder, const struct probe *probe,
                         int *key);
/* What must hold of a pair that was found, over the columns of both sides: the
 * other keys are equal, the range has it, and the join's condition is true.
 * `*rest` stays NULL where that is nothing. False: a failure. */
bool probe_rest(struct binder *binder, const struct probe *probe,
                struct expression **rest);

/* The keys of one number. */
struct probe_part {
    struct expression *left; /* an integer, over the left side */
    struct interval range;   /* of the right side's            */
};
unsigned probe_parts(const struct probe *probe);
bool probe_part(struct binder *binder, const struct probe *probe,
                unsigned number, struct probe_part *part);

#endif
