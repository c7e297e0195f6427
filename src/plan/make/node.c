/* SPDX-License-Identifier: MIT */
/*
 * The making of nodes but those that compute: node.h.
 */
#include "plan/make/node.h"

#include <assert.h>
#include <string.h>

#include "base/vector.h"
#include "plan/make/basis.h"
#include "plan/make/expression_new.h"
#include "plan/make/replace.h"
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/common.h"
#include "plan/tree/constants.h"
#include "plan/tree/range.h"
#include "plan/tree/rows_most.h"

/* A name of WITH is bound wherever it is used, so that names of names grow
 * without an end. Rows of VALUES do not count. */
enum { NODES_MAX = 1 << 16 };

struct node *node_new(struct binder *binder, enum node_kind kind,
                      struct node *below, unsigned column_count)
{
    struct node *node;

    binder->nodes += kind != NODE_ONCE && kind != NODE_SELECT;
    if (binder->nodes > NODES_MAX) {
        error_set(binder->error, VDBQ_LIMIT,
                  "the query, with its views and WITH, has more than %d parts",
                  NODES_MAX);
        return NULL;
    }
    node = arena_alloc(binder->arena, sizeof *node);
    if (node != NULL)
        node->columns = arena_alloc(binder->arena,
                                    (column_count + 1) * sizeof *node->columns);
    if (node == NULL || node->columns == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    node->kind = kind;
    node->left = below;
    node->column_count = column_count;
    node->rows = below != NULL ? below->rows : 1;
    return node;
}

struct node *node_once(struct binder *binder)
{
    return node_new(binder, NODE_ONCE, NULL, 0);
}

static bool copy_items(struct binder *binder, const struct vector *from,
                       struct vector *to)
{
    bool done = arena_vector_copy(binder->arena, from, to);

    if (!done)
        error_no_memory(binder->error);
    return done;
}

/* -------------------------------------------------------------- tables -- */

static void describe_row_id(const struct table *table,
                            struct node_column *column)
{
    *column = (struct node_column){ .name = "rowid",
                                    .type = VDBQ_BIGINT,
                                    .affine = true };
    column->range.high = (int64_t)table->rows;
}

/* A table's columns, its rows' ids, and room for `more` columns behind them. */
static struct node *make_table(struct binder *binder, const struct table *table,
                               unsigned more)
{
    unsigned count = table->column_count;
    struct node *node = node_new(binder, NODE_TABLE, NULL, count + 1 + more);

    if (node == NULL)
        return NULL;
    basis_add(binder, table);
    node->table = table;
    node->catalogue = binder->catalogue;
    node->samples = table->sample != NULL ? binder->samples : NULL;
    node->rows = (double)table->rows;
    for (unsigned i = 0; i < count; i++) {
        const struct column *column = &table->columns[i];
        struct column_facts facts = table_facts(table, i);
        node->columns[i] =
            (struct node_column){ .name = column->name,
                                  .type = (int)column->type,
                                  .precision = column->precision,
                                  .scale = column->scale,
                                  .affine = true,
                                  .collating = { column->collation,
                                                 COLLATED_BY_COLUMN } };
        range_column(&node->columns[i], &facts);
        node->columns[i].estimate = estimate_table(table, i, &facts);
    }
    if (table->key == NO_KEY) {
        describe_row_id(table, &node->columns[count]);
        node->columns[count].estimate = estimate_table(table, count, NULL);
    } else {
        node->columns[count] = node->columns[table->key];
        node->columns[count].name = "rowid";
    }
    return node;
}

struct node *node_table(struct binder *binder, const struct table *table)
{
    return make_table(binder, table, 0);
}

struct node *node_numbered(struct binder *binder, const struct table *table,
                           unsigned *number)
{
    unsigned more = table->key != NO_KEY;
    struct node *node = make_table(binder, table, more);

    *number = table->column_count + more;
    if (node == NULL || more == 0)
        return node;
    describe_row_id(table, &node->columns[*number]);
    node->columns[*number].name = "row";
    node->columns[*number].estimate = estimate_row_id((double)table->rows);
    return node;
}

/* ------------------------------------------------------------- columns -- */

struct expression *node_column(struct binder *binder, const struct node *node,
                               unsigned column, struct position at)
{
    const struct node_column *from = &node->columns[column];
    assert(column < node->column_count);
    struct expression *e =
        expression_new(binder, EXPRESSION_COLUMN, from->type, at);

    if (e == NULL)
        return NULL;
    e->column.number = (int)column;
    e->name = from->name;
    e->precision = from->precision;
    e->scale = from->scale;
    e->affine = from->affine;
    e->collating =
        (struct collating){ from->collating.collation, COLLATED_BY_COLUMN };
    e->nullable = from->nullable;
    e->range = from->range;
    return e;
}

/* Columns of one node become those of another. */
struct moving {
    struct binder *binder;
    const struct node *node;
    const int *columns;
    unsigned first;
};

static struct expression *move_column(void *context, struct expression *e,
                                      bool *failed)
{
    const struct moving *moving = context;
    struct expression *moved;
    int column;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    column = moving->columns != NULL ? moving->columns[e->column.number]
                                     : e->column.number - (int)moving->first;
    moved = node_column(moving->binder, moving->node, (unsigned)column, e->at);
    *failed = moved == NULL;
    return moved;
}

struct expression *expression_over(struct binder *binder, struct expression *e,
                                   const struct node *node, const int *columns,
                                   unsigned first)
{
    struct moving moving = { binder, node, columns, first };

    return expression_replace(binder, e, move_column, &moving);
}

/* What shift_column() is told. */
struct shifting {
    struct binder *binder;
    int by;
};

static struct expression *shift_column(void *context, struct expression *e,
                                       bool *failed)
{
    const struct shifting *shifting = context;
    struct expression *copy;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    copy = arena_alloc(shifting->binder->arena, sizeof *copy);
    *failed = copy == NULL;
    if (copy == NULL)
        return error_no_memory(shifting->binder->error), NULL;
    *copy = *e;
    copy->column.number += shifting->by;
    return copy;
}

struct expression *expression_moved_by(struct binder *binder,
                                       struct expression *e, int by)
{
    struct shifting shifting = { binder, by };

    return expression_replace(binder, e, shift_column, &shifting);
}

/* --------------------------------------------------------------- joins -- */

struct node *node_join(struct binder *binder, enum join_kind kind,
                       struct node *left, struct node *right)
{
    bool both = kind <= JOIN_FULL;
    unsigned count = left->column_count + (kind == JOIN_MARK);
    struct node *node = node_new(binder, NODE_JOIN, left,
                                 count + (both ? right->column_count : 0));

    if (node == NULL)
        return NULL;
    assert(kind <= JOIN_MARK && left != right);
    node->right = right;
    node->join =
        (struct step_join){ .kind = kind,
                            .left_keys = VECTOR_IN(binder->arena, int),
                            .right_keys = VECTOR_IN(binder->arena, int) };
    memcpy(node->columns, left->columns,
           left->column_count * sizeof *node->columns);
    if (kind == JOIN_MARK)
        node->columns[count - 1] = (struct node_column){
            .name = "", .type = VDBQ_INTEGER, .nullable = true, .range.high = 1
        };
    for (unsigned i = 0; both && i < right->column_count; i++)
        node->columns[count + i] = right->columns[i];
    for (unsigned i = 0; i < node->column_count; i++) {
        bool is_left = i < left->column_count;
        bool open = is_left ? kind == JOIN_RIGHT || kind == JOIN_FULL
                            : kind == JOIN_LEFT || kind == JOIN_FULL;
        node->columns[i].nullable |= open;
        if (open)
            node->columns[i].range = range_full(node->columns[i].type);
    }
    return node;
}

void node_keep_ranges(struct node *join)
{
    unsigned middle = join->left->column_count;

    for (unsigned i = middle; i < join->column_count; i++) {
        join->columns[i].range = join->right->columns[i - middle].range;
        range_add_zero(&join->columns[i].range);
    }
}

struct node *node_product(struct binder *binder, const struct vector *parts,
                          const struct vector *conditions)
{
    unsigned count = 0;
    struct node *node;

    for (size_t i = 0; i < parts->count; i++)
        count += VECTOR_ITEMS(parts, struct node *)[i]->column_count;
    node = node_new(binder, NODE_PRODUCT, NULL, count);
    if (node == NULL || !copy_items(binder, parts, &node->parts)
        || !copy_items(binder, conditions, &node->conditions))
        return NULL;
    count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const struct node *part = VECTOR_ITEMS(parts, struct node *)[i];
        memcpy(node->columns + count, part->columns,
               part->column_count * sizeof *node->columns);
        count += part->column_count;
    }
    return node;
}

struct node *node_outer(struct binder *binder, enum join_kind kind,
                        struct node *const sides[2],
                        const struct vector *conditions)
{
    struct node *node = node_join(binder, kind, sides[0], sides[1]);

    if (node == NULL || !copy_items(binder, conditions, &node->conditions))
        return NULL;
    node->kind = NODE_OUTER;
    return node;
}

/* -------------------------------------------------------------- groups -- */

bool aggregate_of_parts(const struct step_aggregate *aggregate, int type,
                        enum aggregate_function *function)
{
    *function = aggregate->function;
    switch (aggregate->function) {
    case AGGREGATE_COUNT:
        *function = AGGREGATE_SUM;
        return !aggregate->distinct;
    case AGGREGATE_SUM:
    case AGGREGATE_MIN:
    case AGGREGATE_MAX:
    case AGGREGATE_BIT_AND:
    case AGGREGATE_BIT_OR:
    case AGGREGATE_BIT_XOR:
        return !aggregate->distinct && !is_float(type);
    case AGGREGATE_FIRST:
        return aggregate->filter < 0;
    default:
        return false;
    }
}

void aggregate_column(enum aggregate_function function,
                      const struct node_column *argument,
                      struct node_column *column)
{
    switch (aggregate_row(function)->gives) {
    case AGGREGATE_GIVES_COUNT:
        *column = (struct node_column){ .type = VDBQ_BIGINT };
        column->range.high = INT64_MAX;
        break;
    case AGGREGATE_GIVES_SUM:
        *column = *argument;
        column->nullable = true;
        if (argument->type != VDBQ_DECIMAL)
            column->type = is_float(argument->type) ? VDBQ_DOUBLE : VDBQ_BIGINT;
        column->range = range_full(column->type);
        break;
    case AGGREGATE_GIVES_WORD:
        *column = (struct node_column){ .type = VDBQ_BIGINT, .nullable = true };
        column->range = range_full(VDBQ_BIGINT);
        break;
    case AGGREGATE_GIVES_DOUBLE:
    case AGGREGATE_GIVES_REST:
        *column = (struct node_column){ .type = VDBQ_DOUBLE, .nullable = true };
        column->range = range_full(VDBQ_DOUBLE);
        break;
    case AGGREGATE_GIVES_VALUE:
        *column = *argument;
        column->nullable = true;
        column->range = range_full(column->type);
        break;
    }
    column->name = "";
    column->affine = false;
    column->collating = (struct collating){ 0 };
}

/* A number that is known to be small stays what needs 64 bits to compute with,
 * where it has so many. */
static void keep_wide(struct node_column *column)
{
    if (type_machine((enum vdbq_type)column->type) == TYPE_I64
        && column->range.high <= INT32_MAX && column->range.low >= INT32_MIN)
        column->range.high = (int64_t)INT32_MAX + 1;
}

void node_narrow(const struct node *below, enum aggregate_function function,
                 int column, struct node_column *made)
{
    uint64_t rows = node_rows_most(below);
    struct interval range;

    if (function == AGGREGATE_COUNT) {
        made->range.low = 0;
        made->range.high = rows < INT64_MAX ? (int64_t)rows : INT64_MAX;
    } else if (function == AGGREGATE_SUM && !is_float(made->type)) {
        if (!sum_range(below, &below->columns[column], &range))
            return;
        made->range = range;
    } else if (function == AGGREGATE_MIN || function == AGGREGATE_MAX
               || function == AGGREGATE_FIRST) {
        made->range = below->columns[column].range;
        range_add_zero(&made->range);
    } else {
        return;
    }
    keep_wide(made);
}

struct node *node_group(struct binder *binder, struct node *below,
                        unsigned keys, const struct vector *aggregates)
{
    unsigned count = keys + (unsigned)aggregates->count;
    struct node *node = node_new(binder, NODE_GROUP, below, count);

    if (node == NULL
        || !copy_items(binder, aggregates, &node->group.aggregates))
        return NULL;
    assert(keys <= below->column_count);
    node->group.keys = keys;
    memcpy(node->columns, below->columns, keys * sizeof *node->columns);
    for (unsigned i = keys; i < count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(aggregates, i - keys);
        assert(aggregate->column < (int)below->column_count
               && aggregate->filter < (int)below->column_count);
        aggregate_column(
            aggregate->function,
            aggregate->column < 0 ? NULL : &below->columns[aggregate->column],
            &node->columns[i]);
        node_narrow(below, aggregate->function, aggregate->column,
                    &node->columns[i]);
    }
    return node;
}

struct node *node_group_of_parts(struct binder *binder, struct node *below,
                                 const struct node *whole)
{
    unsigned keys = whole->group.keys;
    struct vector moved = VECTOR_IN(binder->arena, struct step_aggregate);

    for (unsigned i = keys; i < whole->column_count; i++) {
        struct step_aggregate one = VECTOR_ITEMS(
            &whole->group.aggregates, struct step_aggregate)[i - keys];
        aggregate_of_parts(&one, whole->columns[i].type, &one.function);
        one.column = (int)i;
        one.filter = -1;
        if (!vector_append(&moved, &one, 1))
            return error_no_memory(binder->error), NULL;
    }
    return node_group(binder, below, keys, &moved);
}

struct node *node_distinct(struct binder *binder, struct node *below)
{
    struct vector none = VECTOR_IN(binder->arena, struct step_aggregate);

    return node_group(binder, below, below->column_count, &none);
}

/* --------------------------------------------------------------- order -- */

struct node *node_sort(struct binder *binder, struct node *below,
                       const struct vector *keys, unsigned columns)
{
    struct node *node = node_new(binder, NODE_SORT, below, columns);

    if (node == NULL || !copy_items(binder, keys, &node->sort.keys))
        return NULL;
    assert(columns <= below->column_count);
    node->sort.limit = UINT64_MAX;
    memcpy(node->columns, below->columns, columns * sizeof *node->columns);
    return node;
}

struct node *node_limit(struct binder *binder, struct node *below,
                        uint64_t offset, uint64_t limit)
{
    struct node *node = node_limit_by(binder, below, NULL);

    if (node != NULL)
        node->limit = (struct step_limit){ offset, limit };
    return node;
}

struct node *node_limit_by(struct binder *binder, struct node *below,
                           struct node *counts)
{
    struct node *node =
        node_new(binder, NODE_LIMIT, below, below->column_count);

    if (node == NULL)
        return NULL;
    node->right = counts;
    node->limit = (struct step_limit){ 0, UINT64_MAX };
    memcpy(node->columns, below->columns,
           below->column_count * sizeof *node->columns);
    return node;
}

/* What a column of one more part can hold, besides. */
static void add_part(struct node_column *column, const struct node_column *part)
{
    column->nullable |= part->nullable;
    column->range = column->type == VDBQ_TEXT
                        ? range_full(column->type)
                        : interval_join(&column->range, &part->range);
}

struct node *node_concat(struct binder *binder, struct node *const *parts,
                         unsigned count)
{
    unsigned columns = parts[0]->column_count;
    struct node *node = node_new(binder, NODE_CONCAT, NULL, columns);

    if (node == NULL)
        return NULL;
    node->parts = VECTOR_IN(binder->arena, struct node *);
    if (!copy_items(binder,
                    &(struct vector){ .items = (void *)(uintptr_t)parts,
                                      .count = count,
                                      .width = sizeof *parts },
                    &node->parts))
        return NULL;
    memcpy(node->columns, parts[0]->columns, columns * sizeof *node->columns);
    for (unsigned i = 0; i < count; i++)
        for (unsigned c = 0; c < columns; c++)
            add_part(&node->columns[c], &parts[i]->columns[c]);
    return node;
}

struct node *node_recurse(struct binder *binder, struct recursion *recursion,
                          struct node *first, struct node *term)
{
    struct node *node =
        term ? node_new(binder, NODE_RECURSE, first, first->column_count)
             : NULL;

    if (node == NULL)
        return NULL;
    node->right = term;
    node->recursion = recursion;
    recursion->node = node;
    memcpy(node->columns, first->columns,
           first->column_count * sizeof *node->columns);
    for (unsigned i = 0; i < node->column_count; i++) {
        node->columns[i].nullable |= term->columns[i].nullable;
        node->columns[i].range = range_full(node->columns[i].type);
    }
    return node;
}

struct node *node_wider(struct binder *binder, enum node_kind kind,
                        struct node *below, unsigned added)
{
    struct node *node =
        node_new(binder, kind, below, below->column_count + added);

    if (node == NULL)
        return NULL;
    memcpy(node->columns, below->columns,
           below->column_count * sizeof *node->columns);
    return node;
}

/* -------------------------------------------------------------- values -- */

/* What a column of constants can hold; that of a NULL is 0. */
static void range_values(struct node_column *column,
                         const struct vdbq_vector *values, size_t rows)
{
    struct column_facts facts = { .empty = true };

    for (size_t i = 0; i < rows; i++) {
        struct constant_number number = constants_number(values, i);
        if (values->nulls[i] != 0) {
            facts.null_count++;
            continue;
        }
        if (facts.empty || number.integer < facts.minimum)
            facts.minimum = number.integer;
        if (facts.empty || number.integer > facts.maximum)
            facts.maximum = number.integer;
        if (facts.empty || number.real < facts.minimum_real)
            facts.minimum_real = number.real;
        if (facts.empty || number.real > facts.maximum_real)
            facts.maximum_real = number.real;
        facts.empty = false;
    }
    range_column(column, &facts);
}

struct node *node_values(struct binder *binder,
                         const struct node_column *columns, unsigned count,
                         struct vdbq_vector *values, size_t rows)
{
    struct node *node = node_new(binder, NODE_VALUES, NULL, count);

    if (node == NULL)
        return NULL;
    assert(values != NULL && count > 0);
    node->values = values;
    node->value_rows = rows;
    node->rows = (double)rows;
    memcpy(node->columns, columns, count * sizeof *columns);
    for (unsigned i = 0; i < count; i++)
        range_values(&node->columns[i], &values[i], rows);
    return node;
}

void node_values_vary(struct node *node)
{
    assert(node->kind == NODE_VALUES);
    node->varies = true;
    for (unsigned i = 0; i < node->column_count; i++) {
        node->columns[i].range = range_full(node->columns[i].type);
        node->columns[i].nullable = true;
    }
}
