/* SPDX-License-Identifier: MIT */
#include "plan/index/index_computed.h"

#include <assert.h>

#include "plan/make/known.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/plan.h"
#include "plan/tree/binder.h"

bool index_computed_takes(const struct binder *binder,
                          const struct expression *e)
{
    struct expression *all = (struct expression *)(uintptr_t)e;

    return e->kind > EXPRESSION_PARAMETER && expression_is_of_run(NULL, &all)
           && (!e->faults || index_may_hope(binder));
}

/* The place of a term's value in a seek: that with which the first so many keys are
 * equal, or the bound that it is. */
static struct seek_value *value_in(struct step_seek *seek, unsigned i,
                                   const struct index_term *term)
{
    if (i < seek->equal_count)
        return &seek->equals[i];
    return term->op == AST_GT || term->op == AST_GE ? &seek->low.value
                                                    : &seek->high.value;
}

/* The row of the values; NULL: a failure. */
static struct node *make_row(struct binder *binder,
                             struct expression *const *values, unsigned count)
{
    bool merges = binder->merges;
    struct node *once = node_once(binder), *row = NULL;

    binder->merges = false;
    if (once != NULL)
        row = node_select(binder, once, NULL, values, NULL, count);
    binder->merges = merges;
    if (row != NULL)
        row->rows = once->rows = 1;
    return row;
}

bool index_computed_put(struct binder *binder, const struct index_terms *terms,
                        const struct index_use *use, struct node *node)
{
    struct expression *values[SEEK_FROM_MAX];
    struct step_seek *seek = &node->seek;
    unsigned count = 0;

    assert(use->term_count <= SEEK_FROM_MAX);
    for (unsigned i = 0; i < use->term_count; i++) {
        const struct index_term *term = &terms->terms[use->terms[i]];
        if (term->computed == NULL)
            continue;
        *value_in(seek, i, term) =
            (struct seek_value){ .parameter = -1, .fed = true, .input = count };
        seek->from[count] = (int)count;
        values[count++] = term->computed;
        binder->hoped |= term->computed->faults;
    }
    seek->from_count = count;
    if (count == 0)
        return true;
    node->left = make_row(binder, values, count);
    return node->left != NULL;
}
