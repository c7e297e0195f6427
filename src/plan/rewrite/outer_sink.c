/* SPDX-License-Identifier: MIT */
/*
 * Conditions above left joins:
 *
 *   FROM a JOIN b ON a.k = b.k LEFT JOIN c ON c.k = a.k WHERE a.w = b.w
 *
 * What WHERE asks of a and b alone is a condition of their join, as if it stood in ON: it
 * may be a key there, and tells in which order they are best joined. So it goes there
 * before they are.
 */
#include "plan/rewrite/outer.h"

#include "base/vector.h"
#include "plan/condition/split.h"
#include "plan/make/replace.h"
#include "plan/rewrite/push.h"
#include "plan/tree/binder.h"

/* Whether a FROM has parts that are yet to be joined. */
static bool is_joined(const struct node *node)
{
    return node->kind == NODE_PRODUCT && node->parts.count > 1;
}

/* The FROM on the left of all left joins of a part whose columns from `first` on are all
 * that a condition asks for; NULL: there is none. */
static struct node *from_below(struct node *part, unsigned first,
                               struct expression *e)
{
    struct node *node = part;

    while (node->kind == NODE_OUTER && node->join.kind == JOIN_LEFT
           && node->rewritten == NULL
           && push_needs_only(e, first, first + node->left->column_count))
        node = node->left;
    return node != part && node->kind == NODE_PRODUCT && node->rewritten == NULL
               ? node
               : NULL;
}

static unsigned width_of(const struct node *product, size_t part)
{
    return product->widths != NULL
               ? product->widths[part]
               : VECTOR_ITEMS(&product->parts, struct node *)[part]
                     ->column_count;
}

/* Gives a condition to the FROM that it is of; `*sunk`: there is one. */
static bool sink(struct binder *binder, const struct node *product,
                 struct expression *e, bool *sunk)
{
    unsigned first = 0;

    *sunk = false;
    if (e->faults || needs_extraction(e)
        || !expression_has(e, EXPRESSION_COLUMN))
        return true;
    for (size_t i = 0; i < product->parts.count && !*sunk; i++) {
        struct node *from = from_below(
            VECTOR_ITEMS(&product->parts, struct node *)[i], first, e);
        if (from != NULL) {
            struct expression *below =
                expression_over(binder, e, from, NULL, first);
            if (below == NULL || !vector_append(&from->conditions, &below, 1))
                return error_no_memory(binder->error), false;
            *sunk = true;
        }
        first += width_of(product, i);
    }
    return true;
}

/* Whether a part is a left join of what another FROM gives. */
static bool has_from_below(const struct node *part)
{
    const struct node *node = part;

    while (node->kind == NODE_OUTER && node->join.kind == JOIN_LEFT)
        node = node->left;
    return node != part && is_joined(node);
}

/* The conditions, part by part. */
static bool split_all(struct binder *binder, struct node *product)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < product->conditions.count && status == VDBQ_OK; i++)
        status = split_condition(
            binder, VECTOR_ITEMS(&product->conditions, struct expression *)[i],
            &parts);
    product->conditions = parts;
    return status == VDBQ_OK;
}

static bool sink_all(struct binder *binder, struct node *product)
{
    struct expression **conditions = product->conditions.items;
    size_t kept = 0;

    for (size_t i = 0; i < product->conditions.count; i++) {
        bool sunk;
        if (!sink(binder, product, conditions[i], &sunk))
            return false;
        if (!sunk)
            conditions[kept++] = conditions[i];
    }
    product->conditions.count = kept;
    return true;
}

bool outer_sink(struct binder *binder, struct node *product)
{
    bool any = false;

    for (size_t i = 0; i < product->parts.count; i++)
        any |= has_from_below(VECTOR_ITEMS(&product->parts, struct node *)[i]);
    return !any || product->conditions.count == 0
           || (split_all(binder, product) && sink_all(binder, product));
}
