/* SPDX-License-Identifier: MIT */
/*
 * Of a table, a join that shows rows with a partner only reads no others than
 * those with a key of the other side. Where that side is small, it is read once,
 * by the join and by a seek for its keys, all of them together. The join stays
 * as it is: the seek gives fewer rows in the same order, and rows too many do no
 * harm.
 *
 * Nothing is left out of what can fail, for then a failure could be missing.
 */
#include "plan/index/index_join.h"

#include "plan/index/index_choice.h"
#include "plan/index/index_terms.h"
#include "plan/simplify/share.h"
#include "plan/tree/binder.h"

/* The best way to find rows of one side. */
struct join_choice {
    struct node **table;                     /* its place                  */
    const struct index_candidate *candidate; /* NULL: there is none        */
    unsigned from;                           /* key of the other side      */
    double rows;                             /* that are found             */
};

/* The place of the table that a column of a side comes from as it is; NULL:
 * there is none. `*column` becomes the table's. */
static struct node **table_of(struct node **place, unsigned *column)
{
    while ((*place)->kind == NODE_SELECT) {
        struct node *select = *place;
        const struct expression *e =
            index_terms_column(select->results[*column]);
        if (e == NULL || select->shared || !index_is_safe(select))
            return NULL;
        *column = (unsigned)e->column.number;
        place = &select->left;
    }
    if (!index_is_sought(*place))
        return NULL;
    if (*column == (*place)->table->column_count)
        *column = (*place)->table->key; /* the row's id, or NO_KEY */
    return *column < (*place)->table->column_count ? place : NULL;
}

/* About how many rows have a key of the other side. */
static double rows_found(const struct node *table, unsigned column, double keys)
{
    double values = table->columns[column].estimate.distinct;

    return keys * (double)table->table->rows / (values < 1 ? 1 : values);
}

/* Looks at one key. */
static bool consider(struct binder *binder, struct node **side, unsigned own,
                     const struct node *other, unsigned from,
                     struct join_choice *best)
{
    struct node **table = table_of(side, &own);
    const struct index_candidate *candidate;
    struct index_candidates candidates;
    double rows;

    if (table == NULL)
        return true;
    if (!index_candidates(binder, *table, &candidates))
        return false;
    candidate = candidates.items.items;
    rows = rows_found(*table, own, other->rows);
    for (size_t i = 0; i < candidates.items.count; i++)
        if (candidate[i].count > 0 && candidate[i].columns[0] == own
            && candidate[i].where.count == 0
            && (best->candidate == NULL || rows < best->rows))
            *best = (struct join_choice){ table, &candidate[i], from, rows };
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
