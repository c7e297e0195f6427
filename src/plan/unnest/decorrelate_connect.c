/* SPDX-License-Identifier: MIT */
/*
 * The rows that ask are joined with those of a subquery by what was taken out of
 * it: equalities become keys, bounds a range, and all else is the condition.
 */
#include "base/vector.h"
#include "plan/condition/join_key.h"
#include "plan/condition/range_join.h"
#include "plan/make/node.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/unnest/decorrelate.h"

/* The outer query's values take the place of parameters. */
static struct expression *outer_value(void *parameters, struct expression *e,
                                      bool *failed)
{
    const struct vector *values = parameters;

    (void)failed;
    for (size_t i = 0; e->kind == EXPRESSION_PARAMETER && i < values->count;
         i++) {
        const struct outer_value *value = vector_at(values, i);
        if (value->parameter == e->parameter.number)
            return value->value;
    }
    return NULL;
}

static struct expression *with_values(const struct decorrelating *decorrelating,
                                      struct expression *e)
{
    return expression_replace(decorrelating->binder, e, outer_value,
                              (void *)(uintptr_t)decorrelating->parameters);
}

/* The sides of a join that is being made, and what connects them. */
struct connecting {
    struct decorrelating *decorrelating;
    struct node *nodes[2];
    struct step_join keys;
    struct expression *where;
};

static enum vdbq_status connect_keys(struct connecting *to)
{
    struct decorrelating *decorrelating = to->decorrelating;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < decorrelating->parts.count && status == VDBQ_OK;
         i++) {
        struct expression *part =
            VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i];
        struct expression *inner, *outer;
        if (!decorrelate_equality(decorrelating->parameters, part, &inner,
                                  &outer))
            continue;
        outer = with_values(decorrelating, outer);
        status = outer ? join_add_key(decorrelating->binder, to->nodes, outer,
                                      inner, &to->keys)
                       : decorrelating->binder->error->status;
    }
    return status;
}

/* Where columns of both sides are when the left one has got more of them than
 * `middle`. */
static int *both_columns(const struct connecting *to, unsigned middle)
{
    struct binder *binder = to->decorrelating->binder;
    unsigned count = middle + to->nodes[1]->column_count;
    unsigned added = to->nodes[0]->column_count - middle;
    int *columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)(i < middle ? i : i + added);
    return columns;
}

/* All parts that are no keys, over the columns of both sides, where those of
 * the subquery are the columns from `middle` on. */
static enum vdbq_status other_parts(const struct decorrelating *decorrelating,
                                    unsigned middle, struct vector *parts)
{
    for (size_t i = 0; i < decorrelating->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i];
        struct expression *inner, *outer;
        if (decorrelate_equality(decorrelating->parameters, part, &inner,
                                 &outer))
            continue;
        part = expression_moved_by(decorrelating->binder, part, (int)middle);
        part = part ? with_values(decorrelating, part) : NULL;
        if (part == NULL)
            return decorrelating->binder->error->status;
        if (!vector_append(parts, &part, 1))
            return error_no_memory(decorrelating->binder->error);
    }
    return VDBQ_OK;
}

/* The condition: parts, but those that became NULL. The left node has got
 * more columns since there were `middle`. */
static enum vdbq_status connect_where(struct connecting *to, unsigned middle,
                                      const struct vector *parts)
{
    struct binder *binder = to->decorrelating->binder;
    struct node *both =
        node_join(binder, JOIN_INNER, to->nodes[0], to->nodes[1]);
    int *columns = both ? both_columns(to, middle) : NULL;

    for (size_t i = 0; columns != NULL && i < parts->count; i++) {
        struct expression *part = VECTOR_ITEMS(parts, struct expression *)[i];
        struct ast_expression place = { 0 };
        if (part == NULL)
            continue;
        place.at = part->at;
        part = expression_over(binder, part, both, columns, 0);
        if (part != NULL && to->where != NULL)
            part =
                expression_operator(binder, AST_AND, to->where, part, &place);
        if (part == NULL)
            return binder->error->status;
        to->where = part;
    }
    return columns ? VDBQ_OK : binder->error->status;
}

static enum vdbq_status connect_others(struct connecting *to)
{
    struct binder *binder = to->decorrelating->binder;
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    unsigned middle = to->nodes[0]->column_count;
    enum vdbq_status status = other_parts(to->decorrelating, middle, &parts);

    if (status == VDBQ_OK && to->keys.left_keys.count == 0)
        status =
            join_add_range(binder, to->nodes, middle, &parts, &to->keys.range);
    if (status == VDBQ_OK && parts.count > 0)
        status = connect_where(to, middle, &parts);
    return status;
}

struct node *decorrelate_connect(struct decorrelating *decorrelating,
                                 enum join_kind kind, struct node *below,
                                 struct node *inner, struct expression *operand)
{
    struct binder *binder = decorrelating->binder;
    struct connecting to = {
        .decorrelating = decorrelating,
        .nodes = { below, inner },
        .keys = { .left_keys = VECTOR_IN(binder->arena, int),
                  .right_keys = VECTOR_IN(binder->arena, int) }
    };
    struct expression *column =
        operand ? node_column(binder, inner, 0, operand->at) : NULL;
    enum vdbq_status status = VDBQ_OK;
    struct node *join = NULL;

    if (operand != NULL)
        status = column
                     ? join_add_key(binder, to.nodes, operand, column, &to.keys)
                     : binder->error->status;
    if (status == VDBQ_OK)
        status = connect_keys(&to);
    if (status == VDBQ_OK && connect_others(&to) == VDBQ_OK)
        join = node_join(binder, kind, to.nodes[0], to.nodes[1]);
    if (join == NULL)
        return NULL;
    join->join.left_keys = to.keys.left_keys;
    join->join.right_keys = to.keys.right_keys;
    join->join.range = to.keys.range;
    join->where = to.where;
    join->unnested = true;
    join->asked = decorrelating->parameters->count > 0;
    if (kind == JOIN_LEFT)
        node_keep_ranges(join);
    return join;
}

bool decorrelate_can_connect(const struct decorrelating *decorrelating,
                             unsigned middle)
{
    struct vector parts =
        VECTOR_IN(decorrelating->binder->arena, struct expression *);
    struct expression *inner, *outer;
    bool has = false;

    for (size_t i = 0; i < decorrelating->parts.count; i++)
        if (decorrelate_equality(
                decorrelating->parameters,
                VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i],
                &inner, &outer))
            return true;
    if (other_parts(decorrelating, middle, &parts) == VDBQ_OK)
        join_has_range(decorrelating->binder, middle, &parts, &has);
    return has;
}
