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

#include <math.h>
#include <string.h>

#include "plan/index/index_implied.h"
#include "plan/simplify/share.h"
#include "plan/tree/binder.h"

enum { KEYS_MAX = 16 }; /* of a join that are looked at */

/* Keys of a join that are columns, or keys, of one table. */
struct join_keys {
    struct node **table; /* its place; NULL: there is none yet             */
    struct index_candidates candidates;
    struct index_terms terms; /* what its rows are tested with             */
    double rows;              /* that conditions keep of them              */
    unsigned count;           /* of these keys                             */
    unsigned own[KEYS_MAX];   /* numbers of the table's columns, or keys   */
    unsigned from[KEYS_MAX];  /* ... and the other side's, which equal them */
};

/* The best way to find rows of one side. */
struct join_choice {
    const struct index_candidate *candidate; /* NULL: there is none        */
    unsigned count;                          /* of its columns ...         */
    int from[SEEK_KEYS_MAX];                 /* ... and the other side's   */
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
    double rows;              /* that conditions keep of its rows           */
};

/* Whether a node hands rows of the one below it on, as they are or not at all, and
 * fails for none of them. */
static bool hands_on(const struct node *node)
{
    if (node->shared)
        return false;
    return node->kind == NODE_SELECT
               ? index_is_safe(node)
               : node->kind == NODE_JOIN && node->join.kind == JOIN_SEMI
                     && (node->where == NULL || !node->where->faults);
}

/* Follows a column to what a SELECT makes it of. */
static bool follow(const struct node *select, struct origin *origin)
{
    const struct expression *value = select->results[origin->column];
    const struct expression *e = index_terms_column(value);

    if (e == NULL && select->left->kind != NODE_TABLE)
        return false;
    origin->value = e == NULL ? value : NULL;
    origin->column = e != NULL ? (unsigned)e->column.number : 0;
    origin->where = select->where;
    if (select->where != NULL)
        origin->rows = select->rows;
    return true;
}

/* False: there is none. */
static bool find_origin(struct node **place, unsigned column,
                        struct origin *origin)
{
    *origin =
        (struct origin){ .table = place, .column = column, .rows = HUGE_VAL };
    while (hands_on(*origin->table)) {
        struct node *node = *origin->table;
        if (node->kind == NODE_SELECT && !follow(node, origin))
            return false;
        origin->table = &node->left;
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

/* Notes a key, if it is one of a table, of the same one as those before. False: no
 * memory. */
static bool note_key(struct binder *binder, struct join_keys *keys,
                     struct node **side, unsigned own, unsigned from)
{
    struct origin origin;
    int number;

    if (!find_origin(side, own, &origin) || keys->count == KEYS_MAX
        || (keys->table != NULL && keys->table != origin.table))
        return true;
    if (keys->table == NULL
        && (!index_candidates(binder, *origin.table, &keys->candidates)
            || !index_terms_read(binder, &keys->candidates, origin.where, false,
                                 &keys->terms)))
        return false;
    keys->table = origin.table;
    keys->rows = origin.rows;
    number = number_of(&origin, &keys->candidates);
    if (number < 0)
        return true;
    keys->own[keys->count] = (unsigned)number;
    keys->from[keys->count++] = from;
    return true;
}

/* The keys that are the first columns of an index. */
static struct join_choice match(const struct join_keys *keys,
                                const struct index_candidate *candidate,
                                double rows)
{
    struct join_choice choice = { .candidate = candidate };

    while (choice.count < candidate->count && choice.count < SEEK_KEYS_MAX) {
        unsigned i = 0;
        while (i < keys->count
               && keys->own[i] != candidate->columns[choice.count])
            i++;
        if (i == keys->count)
            break;
        choice.from[choice.count++] = (int)keys->from[i];
    }
    choice.rows = rows * (double)(*keys->table)->table->rows
                  / index_terms_values(&keys->candidates, candidate->columns,
                                       choice.count);
    return choice;
}

/* Looks at all indexes of the table, for so many keys at least. */
static void choose(const struct join_keys *keys, unsigned least, double rows,
                   struct join_choice *best)
{
    const struct index_candidate *candidate = keys->candidates.items.items;

    for (size_t i = 0; i < keys->candidates.items.count; i++) {
        struct join_choice choice = match(keys, &candidate[i], rows);
        if (choice.count >= least
            && index_is_implied(&candidate[i], &keys->terms)
            && (best->candidate == NULL || choice.rows < best->rows
                || (choice.rows == best->rows && choice.count > best->count)))
            *best = choice;
    }
}

/* Finds rows of one side by the keys of the other, at `*place`. */
static bool put_seek(struct binder *binder, struct node **table,
                     const struct join_choice *choice, struct node **place)
{
    struct node *seek =
        index_seek(binder, *table, choice->candidate, choice->rows);

    if (seek == NULL || !share_twice(binder, place))
        return false;
    seek->left = *place;
    seek->seek.list_columns = seek->seek.from_count = choice->count;
    seek->seek.list_fed = true;
    memcpy(seek->seek.from, choice->from, sizeof choice->from);
    *table = seek;
    return true;
}

static bool seek_side(struct binder *binder, struct node *join, int side,
                      unsigned least)
{
    struct node **sides[] = { &join->left, &join->right };
    const struct vector *keys[] = { &join->join.left_keys,
                                    &join->join.right_keys };
    double rows = (*sides[1 - side])->rows;
    struct join_keys own = { .table = NULL };
    struct join_choice best = { .candidate = NULL };

    if (!join_needs_partner(join, side))
        return true;
    for (size_t i = 0; i < keys[side]->count; i++)
        if (!note_key(binder, &own, sides[side],
                      (unsigned)VECTOR_ITEMS(keys[side], int)[i],
                      (unsigned)VECTOR_ITEMS(keys[1 - side], int)[i]))
            return false;
    if (own.table != NULL)
        choose(&own, least, rows, &best);
    if (best.candidate == NULL || best.rows > own.rows
        || !index_pays_alone(*own.table, best.rows + rows))
        return true;
    return put_seek(binder, own.table, &best, sides[1 - side]);
}

bool index_join(struct binder *binder, struct node *join, unsigned least)
{
    return join->join.nulls_match
           || (seek_side(binder, join, 0, least)
               && seek_side(binder, join, 1, least));
}
