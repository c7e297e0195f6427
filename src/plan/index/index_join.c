/* SPDX-License-Identifier: MIT */
/*
 * Of a table, a join that shows rows with a partner only reads no others than
 * those with a key of the other side. Where that side is small, it is read once,
 * by the join and by a seek for its keys, all of them together. The join stays
 * as it is: the seek gives fewer rows in the same order, and rows too many do no
 * harm. Semi joins in between, by which passes before reduce the table by one of
 * the keys, stay as well.
 *
 * Nothing is left out of what can fail, for then a failure could be missing.
 */
#include "plan/index/index_join.h"

#include "plan/index/index_implied.h"
#include "plan/simplify/share.h"
#include "plan/tree/binder.h"

/* The best way to find rows of one side. */
struct join_choice {
    struct node **table;                     /* its place                  */
    const struct index_candidate *candidate; /* NULL: there is none        */
    unsigned from;                           /* key of the other side      */
    double rows;                             /* that are found             */
};

/* Where a column of a side comes from: a table, as it is or computed. */
struct origin {
    struct node **table;
    const struct expression *value; /* over the table's columns; NULL: it is
                                       column `column`                      */
    unsigned column;
    struct expression *where; /* that its rows are tested with; NULL: with
                                 nothing, or further above                  */
};

/* False: there is none. */
static bool find_origin(struct node **place, unsigned column,
                        struct origin *origin)
{
    *origin = (struct origin){ .table = place, .column = column };
    while ((*origin->table)->kind == NODE_SELECT) {
        struct node *select = *origin->table;
        const struct expression *value = select->results[origin->column];
        const struct expression *e = index_terms_column(value);
        if (select->shared || !index_is_safe(select)
            || (e == NULL && select->left->kind != NODE_TABLE))
            return false;
        origin->value = e == NULL ? value : NULL;
        origin->column = e != NULL ? (unsigned)e->column.number : 0;
        origin->where = select->where;
        origin->table = &select->left;
    }
    return index_is_sought(*origin->table);
}

/* The number of the column, or key, that it is; -1: no index has it. */
static int number_of(const struct origin *origin,
                     const struct index_candidates *candidates)
{
    const struct table *table = (*origin->table)->table;

    if (origin->value != NULL)
        return index_column(candidates, origin->value);
    if (origin->column == table->column_count) /* the row's id */
        return table->key != NO_KEY ? (int)table->key : -1;
    return origin->column < table->column_count ? (int)origin->column : -1;
}

/* About how many rows have a key of the other side. */
static double rows_found(const struct index_candidates *candidates,
                         unsigned number, double keys)
{
    double values = index_distinct(candidates, number);

    return keys * (double)candidates->table->table->rows
           / (values < 1 ? 1 : values);
}

/* Looks at one key. */
static bool consider(struct binder *binder, struct node **side, unsigned own,
                     const struct node *other, unsigned from,
                     struct join_choice *best)
{
    const struct index_candidate *candidate;
    struct index_candidates candidates;
    struct index_terms terms;
    struct origin origin;
    int number;
    double rows;

    if (!find_origin(side, own, &origin))
        return true;
    if (!index_candidates(binder, *origin.table, &candidates)
        || !index_terms_read(binder, &candidates, origin.where, &terms))
        return false;
    number = number_of(&origin, &candidates);
    if (number < 0)
        return true;
    candidate = candidates.items.items;
    rows = rows_found(&candidates, (unsigned)number, other->rows);
    for (size_t i = 0; i < candidates.items.count; i++)
        if (candidate[i].count > 0
            && candidate[i].columns[0] == (unsigned)number
            && index_is_implied(&candidate[i], &terms)
            && (best->candidate == NULL || rows < best->rows))
            *best =
                (struct join_choice){ origin.table, &candidate[i], from, rows };
    return true;
}

/* One node for both who read it. */
static bool share(struct binder *binder, struct node **place)
{
    struct node *node = *place;

    if (node->shared)
        return true;
    if (!share_is_step(node))
        node = share_over(binder, node);
    if (node == NULL)
        return false;
    node->shared = true;
    *place = node;
    return true;
}

/* Finds rows of one side by the keys of the other, at `*place`. */
static bool put_seek(struct binder *binder, const struct join_choice *choice,
                     struct node **place)
{
    struct node *seek =
        index_seek(binder, *choice->table, choice->candidate, choice->rows);

    if (seek == NULL || !share(binder, place))
        return false;
    seek->left = *place;
    seek->seek.from = (int)choice->from;
    *choice->table = seek;
    return true;
}

static bool seek_side(struct binder *binder, struct node *join, int side)
{
    struct node **sides[] = { &join->left, &join->right };
    const struct vector *keys[] = { &join->join.left_keys,
                                    &join->join.right_keys };
    const struct node *other = *sides[1 - side];
    struct join_choice best = { .candidate = NULL };

    if (!join_needs_partner(join, side))
        return true;
    for (size_t i = 0; i < keys[side]->count; i++)
        if (!consider(binder, sides[side],
                      (unsigned)VECTOR_ITEMS(keys[side], int)[i], other,
                      (unsigned)VECTOR_ITEMS(keys[1 - side], int)[i], &best))
            return false;
    if (best.candidate == NULL
        || !index_pays_alone(*best.table, best.rows + other->rows))
        return true;
    return put_seek(binder, &best, sides[1 - side]);
}

bool index_join(struct binder *binder, struct node *join)
{
    return join->join.nulls_match
           || (seek_side(binder, join, 0) && seek_side(binder, join, 1));
}
