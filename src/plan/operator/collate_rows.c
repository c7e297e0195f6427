/* SPDX-License-Identifier: MIT */
/*
 * Rows by the collations of their columns: keys are computed beside the columns,
 * and what is shown stays what it was: collate_rows.h.
 */
#include "plan/operator/collate_rows.h"

#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/collate.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

static bool is_collated(const struct node_column *column)
{
    return column->type == VDBQ_TEXT
           && column->collating.collation != COLLATION_BINARY;
}

static unsigned count_collated(const struct node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < node->column_count; i++)
        count += is_collated(&node->columns[i]);
    return count;
}

static struct expression *key_of(struct binder *binder, const struct node *node,
                                 unsigned column, enum collation collation)
{
    struct expression *e =
        node_column(binder, node, column, (struct position){ 0 });

    return e ? collation_key(binder, e, collation) : NULL;
}

/* The key of each column, and behind these the columns that are not their own
 * keys. */
static struct node *keys_and_columns(struct binder *binder, struct node *below)
{
    unsigned count = below->column_count, more = count;
    struct expression **results =
        arena_alloc(binder->arena, (2 * (size_t)count + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct node_column *column = &below->columns[i];
        results[i] = key_of(binder, below, i, column->collating.collation);
        if (results[i] == NULL)
            return NULL;
        if (!is_collated(column))
            continue;
        results[more] = key_of(binder, below, i, COLLATION_BINARY);
        if (results[more++] == NULL)
            return NULL;
    }
    return node_select(binder, below, NULL, results, NULL, more);
}

/* Columns of `node`, by their numbers, as those of `below`. */
static struct node *as_columns_of(struct binder *binder, struct node *node,
                                  const int *columns, const struct node *below)
{
    struct node *made =
        node_columns(binder, node, columns, below->column_count);

    for (unsigned i = 0; made != NULL && i < below->column_count; i++) {
        made->columns[i].name = below->columns[i].name;
        made->columns[i].affine = below->columns[i].affine;
        made->columns[i].collating = below->columns[i].collating;
    }
    return made;
}

/* Where each column of `below` is in a node of keys and columns. */
static int *places_of(struct binder *binder, const struct node *below)
{
    int more = (int)below->column_count;
    int *places =
        arena_alloc(binder->arena, (below->column_count + 1) * sizeof *places);

    if (places == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < below->column_count; i++)
        places[i] = is_collated(&below->columns[i]) ? more++ : (int)i;
    return places;
}

/* ------------------------------------------------------------- distinct -- */

/* One row for each combination of the first `keys` columns, with the others of
 * its first row. */
static struct node *first_rows(struct binder *binder, struct node *below,
                               unsigned keys)
{
    struct vector aggregates = VECTOR_IN(binder->arena, struct step_aggregate);

    for (unsigned i = keys; i < below->column_count; i++) {
        struct step_aggregate first = { .function = AGGREGATE_FIRST,
                                        .column = (int)i,
                                        .filter = -1 };
        if (!vector_append(&aggregates, &first, 1))
            return error_no_memory(binder->error), NULL;
    }
    return node_group(binder, below, keys, &aggregates);
}

struct node *collate_distinct(struct binder *binder, struct node *below)
{
    struct node *node;
    int *places;

    if (count_collated(below) == 0)
        return node_distinct(binder, below);
    node = keys_and_columns(binder, below);
    node = node ? first_rows(binder, node, below->column_count) : NULL;
    places = node ? places_of(binder, below) : NULL;
    return places ? as_columns_of(binder, node, places, below) : NULL;
}

/* --------------------------------------------------------------- filter -- */

/* Columns that are equal where rows are, the first `count` ones; what is shown may
 * be behind them. */
static struct node *with_keys(struct binder *binder, struct node *side)
{
    return count_collated(side) > 0 ? keys_and_columns(binder, side) : side;
}

/* The rows of both sides, joined on the first `count` columns, and on the last one
 * where that numbers the rows. NULL is like NULL where both may have one. */
static struct node *join_all(struct binder *binder, enum join_kind kind,
                             struct node *const sides[2], unsigned count,
                             bool numbered)
{
    struct node *join = node_join(binder, kind, sides[0], sides[1]);
    int number = (int)sides[0]->column_count - 1;
    bool done = join != NULL;

    if (!done)
        return NULL;
    for (int i = 0; i < (int)count + numbered && done; i++) {
        int key = i < (int)count ? i : number;
        join->join.nulls_match |=
            sides[0]->columns[key].nullable && sides[1]->columns[key].nullable;
        done = vector_append(&join->join.left_keys, &key, 1)
               && vector_append(&join->join.right_keys, &key, 1);
    }
    return done ? join : (error_no_memory(binder->error), NULL);
}

/* The left side's columns of rows that are joined by keys, as they were. */
static struct node *shown_of(struct binder *binder, struct node *join,
                             const struct node *left)
{
    int *places = join ? places_of(binder, left) : NULL;

    return places ? as_columns_of(binder, join, places, left) : NULL;
}

struct node *collate_filter(struct binder *binder, enum join_kind kind,
                            struct node *const rows[2])
{
    struct node *left = rows[0], *join;
    struct node *sides[2] = { collate_distinct(binder, left), rows[1] };

    for (int i = 0; i < 2; i++) {
        sides[i] = sides[i] ? with_keys(binder, sides[i]) : NULL;
        if (sides[i] == NULL)
            return NULL;
    }
    join = join_all(binder, kind, sides, left->column_count, false);
    return join != NULL && count_collated(left) > 0
               ? shown_of(binder, join, left)
               : join;
}

/* The side with its keys in front and the number of each row among its equals
 * behind. */
static struct node *number_equals(struct binder *binder, struct node *side)
{
    unsigned count = side->column_count;
    struct node *keyed = with_keys(binder, side);
    int *keys = arena_alloc(binder->arena, (count + 1) * sizeof *keys);

    if (keys == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        keys[i] = (int)i;
    return keyed ? node_number_rows(binder, keyed, keys, count, NULL) : NULL;
}

struct node *collate_filter_all(struct binder *binder, enum join_kind kind,
                                struct node *const rows[2])
{
    struct node *sides[2], *join;

    for (int i = 0; i < 2; i++) {
        sides[i] = number_equals(binder, rows[i]);
        if (sides[i] == NULL)
            return NULL;
    }
    join = join_all(binder, kind, sides, rows[0]->column_count, true);
    return shown_of(binder, join, rows[0]);
}

/* ----------------------------------------------------------------- sort -- */

/* Columns for keys that are no columns yet, whose numbers `keys` get. */
static struct node *add_keys(struct binder *binder, struct node *below,
                             struct vector *keys)
{
    struct expression **added =
        arena_alloc(binder->arena, (keys->count + 1) * sizeof(*added));
    unsigned count = 0;

    if (added == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = 0; i < keys->count; i++) {
        struct collated_key *key = vector_at(keys, i);
        if (key->collation == COLLATION_BINARY)
            continue;
        added[count] =
            key_of(binder, below, (unsigned)key->key.column, key->collation);
        if (added[count] == NULL)
            return NULL;
        key->key.column = (int)(below->column_count + count++);
    }
    return count > 0 ? node_extend(binder, below, added, count) : below;
}

/* The keys of an order as steps have them, whose columns are those of `*node`,
 * which gets wider for them. False: a failure. */
static bool step_keys(struct binder *binder, struct node **node,
                      struct vector *keys, struct vector *steps)
{
    *steps = VECTOR_IN(binder->arena, struct step_key);
    *node = add_keys(binder, *node, keys);
    for (size_t i = 0; i < keys->count && *node != NULL; i++) {
        const struct collated_key *key = vector_at(keys, i);
        if (!vector_append(steps, &key->key, 1))
            return error_no_memory(binder->error), false;
    }
    return *node != NULL;
}

struct node *collate_sort(struct binder *binder, struct node *below,
                          struct vector *keys, unsigned columns)
{
    struct node *node = below;
    struct vector steps;

    node = step_keys(binder, &node, keys, &steps)
               ? node_sort(binder, node, &steps, columns)
               : NULL;
    for (unsigned i = 0; i < columns && node != NULL; i++)
        node->columns[i].collating = below->columns[i].collating;
    return node;
}

/* Whether the last column is 1; NULL: a failure. */
static struct expression *is_first(struct binder *binder,
                                   const struct node *numbered)
{
    struct ast_expression place = { 0 };
    struct expression *number =
        node_column(binder, numbered, numbered->column_count - 1, place.at);
    struct expression *one = expression_integer(binder, 1, place.at);

    return number && one
               ? expression_operator(binder, AST_EQ, number, one, &place)
               : NULL;
}

struct node *collate_firsts(struct binder *binder, struct node *below,
                            const int *columns, unsigned count,
                            const struct vector *keys)
{
    struct vector copy = VECTOR_IN(binder->arena, struct collated_key), steps;
    struct node *node = below;
    struct expression *first;

    if (keys->count > 0 && !vector_append(&copy, keys->items, keys->count))
        return error_no_memory(binder->error), NULL;
    if (!step_keys(binder, &node, &copy, &steps))
        return NULL;
    node = node_number_rows(binder, node, columns, count, &steps);
    first = node ? is_first(binder, node) : NULL;
    node = first ? node_filter(binder, node, first) : NULL;
    return node ? node_first_columns(binder, node, below->column_count) : NULL;
}
