/* SPDX-License-Identifier: MIT */
/*
 * What texts begin with that a condition keeps: LIKE 'ab%', GLOB 'ab*',
 * starts_with(s, 'ab').
 */
#ifndef VDBQ_PLAN_INDEX_INDEX_PREFIX_H
#define VDBQ_PLAN_INDEX_INDEX_PREFIX_H

#include "plan/tree/expression.h"

struct binder;

struct index_prefix {
    struct vdbq_vector texts; /* of VDBQ_TEXT: each text that is kept begins
                                 with one of these, which are as long as one
                                 another                                   */
    uint64_t count;           /* of them                                   */
    bool exact;               /* and what begins so is kept                */
};

/* Reads a condition on a text that is its operand `left`; `count` 0: it keeps
 * texts that begin with anything, or is none of these. False: no memory. */
bool index_prefix_read(struct binder *binder, const struct expression *e,
                       struct index_prefix *prefix);
/* The share of a table's rows of which a column begins with one of some texts, as its
 * sample has it; 0: that has none, or one, which is chance. */
double index_prefix_share(const struct table *table, unsigned column,
                          const struct vdbq_vector *texts, uint64_t count);

#endif
