/* SPDX-License-Identifier: MIT */
/*
 * What a plan stands on, noted while it is made: plan_holds() compares it.
 */
#ifndef VDBQ_PLAN_MAKE_BASIS_H
#define VDBQ_PLAN_MAKE_BASIS_H

#include "base/vector.h"
#include "data/catalogue/catalogue.h"
#include "plan/tree/binder.h"

/* What a plan stands on. */
struct plan_basis {
    struct vector
        tables; /* uint32_t: ids of tables that were bound, each once */
    /* values were taken from what is known of their rows: they are others once rows
     * have changed */
    bool exact;
    bool failed; /* not all is noted: it stands on all of the catalogue */
};

/* Notes a table; nothing where nobody asks. */
static inline void basis_add(const struct binder *binder,
                             const struct table *table)
{
    struct plan_basis *basis = binder->basis;

    if (basis == NULL)
        return;
    for (size_t i = 0; i < basis->tables.count; i++)
        if (VECTOR_ITEMS(&basis->tables, uint32_t)[i] == table->id)
            return;
    basis->failed |= !vector_append(&basis->tables, &table->id, 1);
}

/* Notes that the plan is of this catalogue alone. */
static inline void basis_never(const struct binder *binder)
{
    if (binder->basis != NULL)
        binder->basis->failed = true;
}

#endif
