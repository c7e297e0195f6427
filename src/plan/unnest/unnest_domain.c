/* SPDX-License-Identifier: MIT */
/*
 * The domain: the different tuples of values that a subquery is asked for. It
 * is made of a copy of the rows that ask, and of no more of these than it needs:
 * other subqueries' values beside them are left out, and so are conditions about
 * those; some tuples more than are asked for do no harm.
 */
#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/common.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_copy.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/unnest/decorrelate.h"
#include "plan/condition/join_key.h"
#include "plan/condition/split.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/unique_key.h"

struct node *unnest_refuse(struct unnesting *unnesting)
{
    unnesting->refused = unnesting->binder->error->status == VDBQ_OK;
    return NULL;
}

struct node *unnest_fail(struct unnesting *unnesting)
{
    error_no_memory(unnesting->binder->error);
    return NULL;
}

bool unnest_begin(struct unnesting *unnesting)
{
    unnesting->values =
        VECTOR_IN(unnesting->binder->arena, struct expression *);
    for (size_t i = 0; i < unnesting->parameters->count; i++) {
        const struct outer_value *value = vector_at(unnesting->parameters, i);
        if (expression_find(&unnesting->values, 0, value->value) < 0
            && !vector_append(&unnesting->values, &value->value, 1))
            return unnest_fail(unnesting) != NULL;
    }
    return true;
}

bool unnest_begin_for(const struct unnesting *unnesting,
                      const struct node *node, struct unnesting *narrow)
{
    struct arena *arena = unnesting->binder->arena;
    struct vector *asked = arena_alloc(arena, sizeof *asked);
    struct vector one = { .count = 1, .width = sizeof(struct outer_value) };

    *narrow = *unnesting;
    narrow->parameters = asked;
    if (asked == NULL)
        return unnest_fail(narrow) != NULL;
    *asked = VECTOR_IN(arena, struct outer_value);
    for (size_t i = 0; i < unnesting->parameters->count; i++) {
        one.items = vector_at(unnesting->parameters, i);
        if (decorrelate_node_is_outer(&one, node)
            && !vector_append(asked, one.items, 1))
            return unnest_fail(narrow) != NULL;
    }
    return unnest_begin(narrow);
}

unsigned unnest_width(const struct unnesting *unnesting)
{
    return (unsigned)unnesting->values.count;
}

int unnest_column(const struct unnesting *unnesting, int parameter)
{
    for (size_t i = 0; i < unnesting->parameters->count; i++) {
        const struct outer_value *value = vector_at(unnesting->parameters, i);
        if (value->parameter == parameter)
            return expression_find(&unnesting->values, 0, value->value);
    }
    return -1;
}

bool unnest_asks(const struct unnesting *unnesting, const struct expression *e)
{
    return decorrelate_is_outer(unnesting->parameters, e);
}

bool unnest_node_asks(const struct unnesting *unnesting,
                      const struct node *node)
{
    return decorrelate_node_is_outer(unnesting->parameters, node);
}

/* --------------------------------------------------------------- source -- */

/* A side of a join is taken for the join that has so many times fewer rows. */
static const double SIDE_ROWS_MOST = 4;

/* Rows that ask, and what of them is asked for. */
struct source {
    struct binder *binder;
    struct node *node;
    struct expression **values; /* over the node */
    unsigned count;
    struct expression *where; /* likewise; NULL: all rows */
};

static bool is_below(void *context, struct expression **operand)
{
    const unsigned *width = context;

    return (*operand)->kind == EXPRESSION_COLUMN
               ? (unsigned)(*operand)->column.number < *width
               : expression_each(*operand, is_below, context);
}

/* Whether an expression needs the first `width` columns alone. */
static bool needs_first(struct expression *e, unsigned width)
{
    return is_below(&width, &e);
}

/* Whether a node has the rows of its left one, or not much fewer of them, once
 * each, columns in front: then those are enough where no other column is
 * needed. */
static bool adds_columns(const struct node *node)
{
    switch (node->kind) {
    case NODE_JOIN:
        if (node->join.kind == JOIN_SEMI || node->join.kind == JOIN_ANTI)
            return node->unnested
                   && node->left->rows <= SIDE_ROWS_MOST * node->rows;
        return node->join.kind == JOIN_MARK || node->unnested;
    case NODE_APPLY:
    case NODE_MAP:
    case NODE_WINDOW:
        return true;
    default:
        return false;
    }
}

static bool is_plain_join(const struct node *node)
{
    return node->kind == NODE_JOIN && node->join.kind <= JOIN_RIGHT
           && !node->unnested;
}

static struct expression *result_of(void *context, struct expression *e,
                                    bool *failed)
{
    const struct node *node = context;

    (void)failed;
    return e->kind == EXPRESSION_COLUMN ? node->results[e->column.number]
                                        : NULL;
}

/* The parts of a condition that need the first `width` columns alone. */
static bool keep_first(const struct source *source, struct expression *where,
                       unsigned width, struct expression **kept)
{
    struct vector parts = VECTOR_IN(source->binder->arena, struct expression *);
    struct ast_expression place = { 0 };
    bool done = split_condition(source->binder, where, &parts) == VDBQ_OK;

    *kept = NULL;
    for (size_t i = 0; i < parts.count && done; i++) {
        struct expression *e = VECTOR_ITEMS(&parts, struct expression *)[i];
        if (!needs_first(e, width))
            continue;
        *kept = *kept != NULL ? expression_operator(source->binder, AST_AND,
                                                    *kept, e, &place)
                              : e;
        done = *kept != NULL;
    }
    return done;
}

/* Values over a SELECT as values over the node below it; false: a failure. */
static bool values_below(const struct source *source,
                         struct expression **values)
{
    for (unsigned i = 0; i < source->count; i++) {
        values[i] =
            expression_replace(source->binder, source->values[i], result_of,
                               (void *)(uintptr_t)source->node);
        if (values[i] == NULL)
            return false;
    }
    return true;
}

/* Through a SELECT without a condition, or through one and the node below it
 * that adds columns. False: a failure. */
static bool through_select(struct source *source, bool *through)
{
    const struct node *node = source->node;
    struct node *left = node->left;
    bool adds = adds_columns(left);
    struct expression **values = arena_alloc(
        source->binder->arena, (source->count + 1) * sizeof(*values));
    struct expression *where = NULL;

    if (values == NULL)
        return error_no_memory(source->binder->error) == VDBQ_OK;
    if (!values_below(source, values))
        return false;
    *through = adds || (node->where == NULL && is_plain_join(left));
    for (unsigned i = 0; i < source->count && adds && *through; i++)
        *through = needs_first(values[i], left->left->column_count);
    if (!*through)
        return true;
    if (adds && node->where != NULL
        && !keep_first(source, node->where, left->left->column_count, &where))
        return false;
    source->values = values;
    source->node = adds ? left->left : left;
    source->where = where;
    return true;
}

/* The side of a join that has all the values: the one whose rows it keeps, or, of
 * an inner join, one that is not so much larger that the join is worth its
 * while; NULL: there is none. */
static struct node *enough_side(const struct source *source)
{
    const struct node *join = source->node;
    unsigned middle = join->left->column_count;
    int sides = 0;
    struct node *side;

    for (unsigned i = 0; i < source->count; i++)
        sides |= expression_sides(source->values[i], middle);
    if (sides != SIDE_LEFT && sides != SIDE_RIGHT)
        return NULL;
    side = sides == SIDE_LEFT ? join->left : join->right;
    if (join->join.kind != JOIN_INNER)
        return (join->join.kind == JOIN_LEFT) == (sides == SIDE_LEFT) ? side
                                                                      : NULL;
    return side->rows <= SIDE_ROWS_MOST * join->rows ? side : NULL;
}

static bool through_join(struct source *source, bool *through)
{
    const struct node *join = source->node;
    struct node *side = enough_side(source);
    unsigned first = side == join->right ? join->left->column_count : 0;

    *through = side != NULL;
    for (unsigned i = 0; i < source->count && *through; i++) {
        source->values[i] = expression_over(source->binder, source->values[i],
                                            side, NULL, first);
        if (source->values[i] == NULL)
            return false;
    }
    if (*through)
        source->node = side;
    return true;
}

static bool through_added(struct source *source)
{
    for (unsigned i = 0; i < source->count; i++)
        if (!needs_first(source->values[i], source->node->left->column_count))
            return false;
    source->node = source->node->left;
    return true;
}

/* Goes down to the rows that are enough. */
static bool find_source(struct source *source)
{
    bool through = true;

    while (through && source->where == NULL) {
        const struct node *node = source->node;
        through = false;
        if (node->kind == NODE_SELECT) {
            if (!through_select(source, &through))
                return false;
        } else if (is_plain_join(node)) {
            if (!through_join(source, &through))
                return false;
        } else if (adds_columns(node)) {
            through = through_added(source);
        }
    }
    return true;
}

/* ------------------------------------------------------------- relaxing -- */

static bool asks_around(void *binder, struct expression **operand)
{
    const struct expression *e = *operand;

    return (e->kind != EXPRESSION_PARAMETER
            || e->parameter.number < ((struct binder *)binder)->value_count)
           && expression_each(*operand, asks_around, binder);
}

/* Whether an expression asks queries further around for something. */
static bool is_free(struct binder *binder, struct expression *e)
{
    return !asks_around(binder, &e);
}

/* A condition without the parts that ask queries further around. */
static bool relax_where(struct binder *binder, struct expression **where)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    struct ast_expression place = { 0 };
    struct expression *kept = NULL;
    bool done = true;

    if (*where == NULL || !is_free(binder, *where))
        return true;
    done = split_condition(binder, *where, &parts) == VDBQ_OK;
    for (size_t i = 0; i < parts.count && done; i++) {
        struct expression *e = VECTOR_ITEMS(&parts, struct expression *)[i];
        if (is_free(binder, e))
            continue;
        kept = kept != NULL
                   ? expression_operator(binder, AST_AND, kept, e, &place)
                   : e;
        done = kept != NULL;
    }
    *where = kept;
    return done;
}

/* Whether a node, or one below it, does. */
static bool node_is_free(struct binder *binder, struct node *node)
{
    bool is = stack_is_short()
              || (node->kind == NODE_COMMON && node->common->asks)
              || (node->where != NULL && is_free(binder, node->where));

    for (unsigned i = 0; node->results != NULL && i < node->column_count && !is;
         i++)
        is = is_free(binder, node->results[i]);
    for (size_t i = 0; i < node->parts.count && !is; i++)
        is = node_is_free(binder, VECTOR_ITEMS(&node->parts, struct node *)[i]);
    return is || (node->left != NULL && node_is_free(binder, node->left))
           || (node->right != NULL && node_is_free(binder, node->right));
}

static bool relax(struct binder *binder, struct node **place);

/* What a join keeps of its sides' rows: of an inner one, and of what only
 * leaves rows out, more of them. */
static bool relax_join(struct binder *binder, struct node **place)
{
    struct node *join = *place;

    switch (join->join.kind) {
    case JOIN_SEMI:
    case JOIN_ANTI:
        if (join->unnested && node_is_free(binder, join->right)) {
            *place = join->left;
            return relax(binder, place);
        }
        return relax(binder, &join->left);
    case JOIN_INNER:
        return relax_where(binder, &join->where) && relax(binder, &join->left)
               && relax(binder, &join->right);
    case JOIN_LEFT:
    case JOIN_MARK:
        return relax(binder, &join->left);
    default:
        return true;
    }
}

/* Makes a tree give more rows than it does, so that it asks queries further
 * around for less: then it is the same for all their rows. */
static bool relax(struct binder *binder, struct node **place)
{
    struct node *node = *place;

    switch (node->kind) {
    case NODE_SELECT:
        return relax_where(binder, &node->where) && relax(binder, &node->left);
    case NODE_JOIN:
        return relax_join(binder, place);
    case NODE_MAP:
    case NODE_APPLY:
        return relax(binder, &node->left);
    default:
        return true;
    }
}

/* --------------------------------------------------------------- domain -- */

/* What values an expression of parameters alone has for a row of the source. */
struct valuing {
    const struct unnesting *unnesting;
    const struct source *source;
};

static struct expression *source_value(void *context, struct expression *e,
                                       bool *failed)
{
    const struct valuing *valuing = context;
    int column = e->kind == EXPRESSION_PARAMETER
                     ? unnest_column(valuing->unnesting, e->parameter.number)
                     : -1;

    (void)failed;
    return column >= 0 ? valuing->source->values[column] : NULL;
}

static bool add_conditions(struct unnesting *unnesting, struct source *source,
                           const struct vector *conditions)
{
    struct valuing valuing = { unnesting, source };

    for (size_t i = 0; conditions != NULL && i < conditions->count; i++) {
        struct expression *e = expression_replace(
            source->binder, VECTOR_ITEMS(conditions, struct expression *)[i],
            source_value, &valuing);
        if (e != NULL && unnest_fails(unnesting, e))
            return false;
        source->where =
            e != NULL ? unnest_and(unnesting, source->where, e) : NULL;
        if (source->where == NULL)
            return false;
    }
    return true;
}

/* Values that are to be known are: rows where one is NULL go. */
static bool know(struct unnesting *unnesting, struct source *source,
                 const bool *known)
{
    struct binder *binder = source->binder;
    struct ast_expression place = { 0 };

    for (unsigned i = 0; known != NULL && i < source->count; i++) {
        struct expression *value = source->values[i], *is;
        if (!known[i] || !value->nullable)
            continue;
        is = expression_null_test(binder, AST_IS_NOT, value, &place);
        source->where = is ? unnest_and(unnesting, source->where, is) : NULL;
        if (source->where == NULL)
            return false;
    }
    return true;
}

/* The columns of a node that are known to be there say so. */
static struct node *mark_known(struct node *node, const bool *known)
{
    for (unsigned i = 0; known != NULL && i < node->column_count; i++)
        node->columns[i].nullable &= !known[i];
    return node;
}

/* Each tuple once, where they are not already. */
static struct node *each_once(struct unnesting *unnesting, struct node *node)
{
    unsigned count = node->column_count;
    int *columns = unnest_numbers(unnesting, count);
    bool nullable = false;

    if (columns == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        nullable |= node->columns[i].nullable;
    return !nullable && node_is_unique(node, columns, count)
               ? node
               : node_distinct(unnesting->binder, node);
}

struct node *unnest_domain(struct unnesting *unnesting,
                           const struct vector *conditions, const bool *known)
{
    struct binder *binder = unnesting->binder;
    unsigned count = unnest_width(unnesting);
    struct source source = { .binder = binder,
                             .node = unnesting->below,
                             .count = count };
    struct node *node;

    source.values =
        arena_alloc(binder->arena, (count + 1) * sizeof(*source.values));
    if (source.values == NULL)
        return unnest_fail(unnesting);
    for (unsigned i = 0; i < count; i++)
        source.values[i] =
            VECTOR_ITEMS(&unnesting->values, struct expression *)[i];
    if (!find_source(&source) || !add_conditions(unnesting, &source, conditions)
        || !know(unnesting, &source, known))
        return NULL;
    if (decorrelate_fails(unnesting->binder, node_tree_fails(source.node)))
        return unnest_refuse(unnesting);
    if (!common_part(binder, source.node))
        return NULL;
    node = node_copy(binder, source.node);
    if (node != NULL && !relax(binder, &node))
        return NULL;
    node = node ? node_select(binder, node, source.where, source.values, NULL,
                              count)
                : NULL;
    return node ? each_once(unnesting, mark_known(node, known)) : NULL;
}

struct node *unnest_times(struct unnesting *unnesting, struct node *node)
{
    struct node *domain =
        decorrelate_fails(unnesting->binder, node_tree_fails(node))
            ? unnest_refuse(unnesting)
            : unnest_domain(unnesting, NULL, NULL);

    return domain ? node_join(unnesting->binder, JOIN_INNER, node, domain)
                  : NULL;
}
