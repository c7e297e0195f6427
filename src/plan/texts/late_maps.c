/* SPDX-License-Identifier: MIT */
/*
 * Late maps:
 *
 *   SELECT first || ' ' || last FROM t ORDER BY day DESC LIMIT 20
 *
 *   SORT BY day LIMIT 20                SELECT over the map
 *     SELECT over the map                 MAP concat(first, ' ', last)
 *       MAP concat(first, ' ', last)  ->    SORT BY day LIMIT 20
 *         t                                   t
 *
 * where the sort's keys and the condition are of columns below the map, and no row
 * that is left out could have failed, but for texts that are too long. So with a LIMIT
 * that has no sort: then rows behind it would not be computed anyway, so that only
 * those of an OFFSET are left out.
 */
#include "plan/texts/late_maps.h"

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/texts/late_inner.h"
#include "plan/tree/binder.h"
#include "program/functions/function.h"

/* Whether a row that goes without them could have failed. */
static bool functions_refuse(const struct node *map)
{
    bool refuse = false;

    for (size_t i = 0; i < map->map.functions.count && !refuse; i++) {
        const struct step_function *function =
            vector_at(&map->map.functions, i);
        const struct function *called =
            function->looks_up ? NULL : function_find(function->name);
        refuse = called == NULL || (called->fails && !called->only_long);
    }
    return refuse;
}

/* Whether it is what cuts rows off. */
static bool is_cut(const struct node *node)
{
    return node->kind == NODE_SORT
               ? node->sort.limit != UINT64_MAX
               : node->kind == NODE_LIMIT && node->right == NULL;
}

/* Whether rows would be computed that it leaves out. */
static bool leaves_out(const struct node *cut)
{
    return cut->kind == NODE_SORT || cut->limit.offset > 0;
}

/* Whether a sort's keys are columns of `rows`, from below what is computed. */
static bool sorts_below(const struct node *sort, const struct node *rows)
{
    bool below = true;

    if (sort->kind != NODE_SORT)
        return true;
    for (size_t i = 0; i < sort->sort.keys.count && below; i++) {
        const struct step_key *key = vector_at(&sort->sort.keys, i);
        const struct expression *e = sort->left->results[key->column];
        below = e->kind == EXPRESSION_COLUMN
                && (unsigned)e->column.number < rows->column_count;
    }
    return below;
}

/* expression_visit: whether it reads none of the map's own columns. */
static bool is_below(void *context, struct expression **operand)
{
    const struct node *map = context;
    const struct expression *e = *operand;

    return (e->kind != EXPRESSION_COLUMN
            || (unsigned)e->column.number < map->left->column_count)
           && expression_each(*operand, is_below, context);
}

/* Whether the cut can go below the map. */
static bool passes(const struct node *cut, struct node *map)
{
    struct expression *where = cut->left->where;

    return map->kind == NODE_MAP && late_is_own(map)
           && sorts_below(cut, map->left)
           && !(leaves_out(cut) && functions_refuse(map))
           && (where == NULL || is_below(map, &where));
}

/* Whether it is a cut of a SELECT's rows whose results it may go below. */
static bool is_over_select(const struct node *node)
{
    return is_cut(node) && late_is_own(node) && node->left->kind == NODE_SELECT
           && late_is_own(node->left)
           && !(leaves_out(node) && late_may_fail(node->left));
}

/* The lowest map that the cut can go below; NULL: there is none. */
static struct node *find_map(const struct node *cut)
{
    struct node *lowest = NULL;

    for (struct node *map = cut->left->left; passes(cut, map); map = map->left)
        lowest = map;
    return lowest;
}

/* The sort, of rows from below the map. */
static struct node *sort_below(struct binder *binder, const struct node *sort,
                               struct node *rows)
{
    struct vector keys = VECTOR_IN(binder->arena, struct step_key);
    struct node *made;

    for (size_t i = 0; i < sort->sort.keys.count; i++) {
        struct step_key key =
            *(const struct step_key *)vector_at(&sort->sort.keys, i);
        key.column = sort->left->results[key.column]->column.number;
        if (!vector_append(&keys, &key, 1))
            return error_no_memory(binder->error), NULL;
    }
    made = node_sort(binder, rows, &keys, rows->column_count);
    if (made != NULL) {
        made->sort.offset = sort->sort.offset;
        made->sort.limit = sort->sort.limit;
        made->sort.hopes = sort->sort.hopes;
    }
    return made;
}

/* The cut, of rows from below the map. */
static struct node *cut_below(struct binder *binder, const struct node *cut,
                              struct node *rows)
{
    return cut->kind == NODE_SORT
               ? sort_below(binder, cut, rows)
               : node_limit(binder, rows, cut->limit.offset, cut->limit.limit);
}

/* Whether a SELECT chooses texts: all that it chooses from would be words, in order. */
static bool chooses_texts(const struct node *select)
{
    bool chooses = false;

    for (unsigned i = 0; i < select->column_count && !chooses; i++)
        chooses = select->results[i]->kind == EXPRESSION_CHOICE
                  && select->results[i]->type == VDBQ_TEXT;
    return chooses;
}

struct node *late_maps(struct binder *binder, struct node *node)
{
    const struct node *select = node->left;
    struct node *map, *below, *rows;

    if (!is_over_select(node))
        return node;
    map = find_map(node);
    if (map == NULL
        && !(chooses_texts(select) && sorts_below(node, select->left)))
        return node;
    below = map != NULL ? map->left : select->left;
    rows = node_filter(binder, below, select->where);
    if (rows != NULL)
        rows = cut_below(binder, node, rows);
    if (rows != NULL) /* there may be more, below what is computed of those */
        rows = late_maps(binder, rows);
    if (rows == NULL)
        return NULL;
    if (map == NULL)
        return late_in_place(binder, node, rows, NULL, select->results);
    map->left = rows;
    return late_in_place(binder, node, select->left, NULL, select->results);
}
