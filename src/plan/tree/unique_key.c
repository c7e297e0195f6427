/* SPDX-License-Identifier: MIT */
/*
 * Columns that are unique: the proof that no two rows of a node have equal
 * values in them, NULLs left aside. It starts at what tables promise (a
 * primary key, UNIQUE, a unique index), at groups and at nodes of one row, and
 * goes up through whatever makes no row twice.
 *
 * Where it says no, nothing is known. Columns that are left out of a set make
 * the proof harder, never wrong: sets are small, and a node is asked only so
 * often.
 */
#include "plan/tree/unique_key.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/common.h"

enum {
    SET_MAX = 32,      /* columns that a proof looks at         */
    STEPS_MAX = 1000,  /* nodes that it looks at, each time one    */
    STEPS_COMMON = 100 /* that a common subplan counts for, which other
                          common ones may be below                  */
};

/* Columns of a node. Of each set that a proof comes to, `steps` is the same
 * number: what is left of STEPS_MAX. */
struct column_set {
    int columns[SET_MAX];
    unsigned count;
    unsigned *steps;
};

static bool is_unique(const struct node *node, const struct column_set *set);

static bool has(const struct column_set *set, int column)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->columns[i] == column)
            return true;
    return false;
}

static void add(struct column_set *set, int column)
{
    if (set->count < SET_MAX && !has(set, column))
        set->columns[set->count++] = column;
}

bool node_is_unique(const struct node *node, const int *columns, unsigned count)
{
    unsigned steps = STEPS_MAX;
    struct column_set set = { .steps = &steps };

    for (unsigned i = 0; i < count; i++)
        add(&set, columns[i]);
    return is_unique(node, &set);
}

/* Those of the columns that are in [low, high), by their distance to low. */
static struct column_set between(const struct column_set *set, unsigned low,
                                 unsigned high)
{
    struct column_set some = { .steps = set->steps };

    for (unsigned i = 0; i < set->count; i++)
        if (set->columns[i] >= (int)low && set->columns[i] < (int)high)
            add(&some, set->columns[i] - (int)low);
    return some;
}

/* -------------------------------------------------------------- tables -- */

static bool has_all(const struct column_set *set, const unsigned *columns,
                    unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!has(set, (int)columns[i]))
            return false;
    return count > 0;
}

static bool has_unique_index(const struct node *node,
                             const struct column_set *set)
{
    const struct catalogue *catalogue = node->catalogue;

    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct index *index = &catalogue->indexes[i];
        if (index->unique && index->keys == NULL
            && index->table_id == node->table->id
            && has_all(set, index->columns, index->column_count))
            return true;
    }
    return false;
}

static bool is_table_unique(const struct node *node,
                            const struct column_set *set)
{
    const struct table *table = node->table;

    for (unsigned i = 0; i < set->count; i++) {
        unsigned column = (unsigned)set->columns[i];
        if (column == table->column_count || column == table->key
            || table->columns[column].unique)
            return true;
    }
    for (unsigned i = 0; i < table->unique_count; i++)
        if (has_all(set, table->uniques[i].columns,
                    table->uniques[i].column_count))
            return true;
    return table->rows <= 1 || has_unique_index(node, set);
}

/* -------------------------------------------------------------- select -- */

/* The column that an expression has the values of, or others that differ
 * where they do; -1: none. */
static int column_behind(const struct expression *e)
{
    while (e->kind == EXPRESSION_CAST && is_integer(e->type)
           && is_integer(e->left->type) && e->type >= e->left->type)
        e = e->left;
    return e->kind == EXPRESSION_COLUMN ? e->column.number : -1;
}

static bool is_fixed(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT || e->kind == EXPRESSION_PARAMETER;
}

/* Adds the columns that a condition lets have one value only. */
static void add_fixed(struct column_set *set, const struct expression *e)
{
    if (e == NULL || e->kind != EXPRESSION_OPERATOR)
        return;
    if (e->operation.op == AST_AND) {
        add_fixed(set, e->left);
        add_fixed(set, e->right);
    } else if (e->operation.op == AST_EQ) {
        if (is_fixed(e->right) && column_behind(e->left) >= 0)
            add(set, column_behind(e->left));
        if (is_fixed(e->left) && column_behind(e->right) >= 0)
            add(set, column_behind(e->right));
    }
}

static bool is_select_unique(const struct node *node,
                             const struct column_set *set)
{
    struct column_set below = { .steps = set->steps };

    for (unsigned i = 0; i < set->count; i++) {
        int column = column_behind(node->results[set->columns[i]]);
        if (column >= 0)
            add(&below, column);
    }
    add_fixed(&below, node->where);
    return is_unique(node->left, &below);
}

/* --------------------------------------------------------------- joins -- */

/* The columns of one side that are in the set, and the join's keys. */
static struct column_set with_keys(const struct column_set *side,
                                   const struct vector *keys)
{
    struct column_set all = *side;

    for (size_t i = 0; i < keys->count; i++)
        add(&all, VECTOR_ITEMS(keys, int)[i]);
    return all;
}

/* Keys of pairs are equal: where one is in the set, so is the other. */
static void add_equal(const struct step_join *join, struct column_set *left,
                      struct column_set *right)
{
    for (size_t i = 0; i < join->left_keys.count; i++) {
        int a = VECTOR_ITEMS(&join->left_keys, int)[i];
        int b = VECTOR_ITEMS(&join->right_keys, int)[i];
        if (has(left, a))
            add(right, b);
        else if (has(right, b))
            add(left, a);
    }
}

/*
 * A pair is determined by its left row, which the set determines, if there is
 * but one right row that has its keys and the rest of the set; or the other
 * way round. Rows without a partner have NULLs on one side: they are told
 * apart by the side that they have, which therefore must be the one that
 * determines, or else have a column in the set, and are left aside.
 */
static bool are_pairs_unique(const struct node *node,
                             const struct column_set *set)
{
    const struct step_join *join = &node->join;
    unsigned middle = node->left->column_count;
    struct column_set left = between(set, 0, middle);
    struct column_set right = between(set, middle, node->column_count);
    bool no_left = join->kind == JOIN_RIGHT || join->kind == JOIN_FULL;
    bool no_right = join->kind == JOIN_LEFT || join->kind == JOIN_FULL;
    struct column_set more;

    if (join->nulls_match)
        return false;
    if (join->kind == JOIN_INNER)
        add_equal(join, &left, &right);
    more = with_keys(&right, &join->right_keys);
    if ((left.count > 0 || !no_left) && is_unique(node->right, &more)
        && is_unique(node->left, &left))
        return true;
    more = with_keys(&left, &join->left_keys);
    return (right.count > 0 || !no_right) && is_unique(node->right, &right)
           && is_unique(node->left, &more);
}

static bool is_join_unique(const struct node *node,
                           const struct column_set *set)
{
    struct column_set left = between(set, 0, node->left->column_count);

    if (node->join.kind <= JOIN_FULL)
        return are_pairs_unique(node, set);
    return is_unique(node->left, &left);
}

/* -------------------------------------------------------------- others -- */

static bool is_group_unique(const struct node *node,
                            const struct column_set *set)
{
    struct column_set keys = between(set, 0, node->group.keys);

    return keys.count == node->group.keys || is_unique(node->left, &keys);
}

/* Of a node that gives rows of what is below, each once, with its columns in
 * front. */
static bool is_below_unique(const struct node *node,
                            const struct column_set *set)
{
    struct column_set below = between(set, 0, node->left->column_count);

    return is_unique(node->left, &below);
}

static bool is_unique(const struct node *node, const struct column_set *set)
{
    unsigned steps = node->common != NULL ? STEPS_COMMON : 1;

    if (*set->steps < steps || stack_is_short())
        return false;
    *set->steps -= steps;
    switch (node->kind) {
    case NODE_ONCE:
        return true;
    case NODE_TABLE:
    case NODE_SEEK:
        return is_table_unique(node, set);
    case NODE_SELECT:
        return is_select_unique(node, set);
    case NODE_JOIN:
        return is_join_unique(node, set);
    case NODE_GROUP:
        return is_group_unique(node, set);
    case NODE_SORT:
        return node->sort.limit <= 1 || is_below_unique(node, set);
    case NODE_LIMIT:
        return node->limit.limit <= 1 || is_below_unique(node, set);
    case NODE_APPLY:
    case NODE_WINDOW:
    case NODE_MAP:
    case NODE_FETCH:
        return is_below_unique(node, set);
    case NODE_VALUES:
        return node->value_rows <= 1;
    case NODE_COMMON:
        return is_unique(node->common->root, set);
    case NODE_CONCAT:
    case NODE_RECURSE:
    case NODE_WORKING:
    case NODE_PRODUCT:
    case NODE_OUTER:
        break;
    }
    return false;
}
