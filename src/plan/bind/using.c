/* SPDX-License-Identifier: MIT */
/*
 * USING and NATURAL: using.h.
 */
#include "plan/bind/using.h"

#include "base/text.h"
#include "plan/bind/scope.h"
#include "plan/call/meaning.h"
#include "plan/make/node.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* A column of that name among the scope's from number `first` up to `end`. */
static struct scope_column *column_between(struct binder *binder,
                                           const char *name, unsigned first,
                                           unsigned end)
{
    struct scope_column *found = NULL;

    for (size_t i = 0; i < binder->scope->columns.count; i++) {
        struct scope_column *column = vector_at(&binder->scope->columns, i);
        if (!column->hidden && (unsigned)column->column >= first
            && (unsigned)column->column < end && name_equal(column->name, name)
            && found == NULL)
            found = column;
    }
    return found;
}

/* Both columns have one name from here on, the left one's: for the first value
 * of theirs, or of RIGHT JOIN for the right one. */
static void make_one(struct scope *scope, enum ast_join join,
                     struct scope_column *left,
                     const struct scope_column *right)
{
    struct scope_column *last = left;

    left->replaced |= join == AST_JOIN_RIGHT;
    while (join == AST_JOIN_FULL && scope_other(scope, last) != NULL)
        last = scope_other(scope, last);
    last->other = right->column;
}

/* Notes whose columns are compared. False: no memory. */
static bool note_equal(struct binder *binder, const struct scope_column *left,
                       const struct scope_column *right)
{
    return meaning_note(binder, &(struct meaning){ .name = left->name,
                                                   .meant = MEANT_EQUAL,
                                                   .table = left->table })
           && meaning_note(binder, &(struct meaning){ .name = right->name,
                                                      .meant = MEANT_EQUAL,
                                                      .table = right->table });
}

/* One column of USING: equal on both sides, and one column from here on. */
static struct expression *equal_columns(struct binder *binder,
                                        const struct sides *sides,
                                        const char *name, struct position at)
{
    struct scope_column *left =
        column_between(binder, name, sides->left, sides->middle);
    struct scope_column *right =
        column_between(binder, name, sides->middle, sides->end);
    struct ast_expression place = { .at = at };
    struct expression *a, *b;

    if (left == NULL || right == NULL) {
        error_at(binder->error, VDBQ_UNKNOWN, at,
                 "the %s side of the join has no column %s",
                 left == NULL ? "left" : "right", name);
        return NULL;
    }
    if (!note_equal(binder, left, right))
        return NULL;
    a = scope_value(binder, binder->scope, left, at);
    b = scope_value(binder, binder->scope, right, at);
    right->hidden = true;
    if (sides->join >= AST_JOIN_RIGHT)
        make_one(binder->scope, sides->join, left, right);
    return a && b ? expression_operator(binder, AST_EQ, a, b, &place) : NULL;
}

enum vdbq_status using_column(struct binder *binder, const struct sides *sides,
                              const char *name, struct position at,
                              struct vector *parts)
{
    struct expression *equal = equal_columns(binder, sides, name, at);

    if (equal == NULL)
        return binder->error->status;
    return vector_append(parts, &equal, 1) ? VDBQ_OK
                                           : error_no_memory(binder->error);
}

enum vdbq_status using_natural(struct binder *binder, const struct sides *sides,
                               struct position at, struct vector *parts)
{
    enum vdbq_status status = VDBQ_OK;
    size_t count = binder->scope->columns.count;

    for (size_t i = 0; i < count && status == VDBQ_OK; i++) {
        const struct scope_column *column =
            vector_at(&binder->scope->columns, i);
        unsigned number = (unsigned)column->column;
        if (!column->hidden && number >= sides->left && number < sides->middle
            && column_between(binder, column->name, sides->middle, sides->end)
                   != NULL)
            status = using_column(binder, sides, column->name, at, parts);
    }
    return status;
}
