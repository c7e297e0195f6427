/* SPDX-License-Identifier: MIT */
/*
 * The values that an expression over a table has for the rows of its sample.
 * Texts are computed as the host computes them, the rest by the machine.
 */
#ifndef VDBQ_PLAN_SAMPLE_SAMPLED_H
#define VDBQ_PLAN_SAMPLE_SAMPLED_H

#include "data/catalogue/catalogue.h"
#include "plan/tree/binder.h"

struct expression;

/* Values of one expression. */
struct sampled {
    struct vdbq_vector values; /* of its type; nulls: never NULL           */
    uint64_t unknown; /* bit i: row i's value is not known: it was made of a
                         text that the sample has not whole                */
};

/* What values are made with. */
struct sampling {
    struct binder binder; /* with an arena and an error of its own         */
    const struct table *table; /* that has a sample                        */
};

/* False: they cannot be told, be it that one fails, that the expression reads
 * what the sample has not, or that there is no memory. */
bool sampled_values(struct sampling *sampling, const struct expression *e,
                    struct sampled *sampled);

#endif
