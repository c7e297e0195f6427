/* SPDX-License-Identifier: MIT */
#include "plan/index/index_answers.h"

#include <assert.h>

#include "base/os/stack.h"
#include "plan/make/replace.h"
#include "plan/simplify/share.h"
#include "plan/tree/binder.h"

/* Whether rows come through a node as they are, or not at all, and fail in none. */
static bool hands_on(const struct index_answers *answers,
                     const struct node *node)
{
    if (node->shared)
        return false;
    return node->kind == NODE_SELECT
               ? index_is_safe(node)
               : share_has_answer(node) && answers->count < ANSWERS_MAX;
}

bool index_answers_find(struct node *select, struct index_answers *answers)
{
    struct node **place = &select->left;
    unsigned column;

    *answers = (struct index_answers){ .select = select };
    while (hands_on(answers, *place)) {
        answers->below = (*place)->kind == NODE_SELECT ? *place : NULL;
        if ((*place)->kind == NODE_JOIN)
            answers->joins[answers->count++] = *place;
        place = &(*place)->left;
    }
    answers->table = place;
    answers->first = column = (*place)->column_count;
    for (unsigned i = answers->count; i > 0; i--) {
        answers->columns[i - 1] = column;
        column += answers->joins[i - 1]->right->column_count;
    }
    answers->end = column;
    return answers->count > 0 && index_is_sought(*place);
}

/* -------------------------------------------------------------- compared -- */

/* What an expression is made over the table and the answers. */
struct moving {
    struct binder *binder;
    const struct index_answers *answers;
    const struct node *over;
};

static struct expression *move(struct binder *binder,
                               const struct index_answers *answers,
                               const struct node *over, struct expression *e);

/* A column of an answer. */
static struct expression *answer_column(const struct moving *moving,
                                        const struct expression *e)
{
    const struct node *join = moving->over;
    struct expression *copy = arena_alloc(moving->binder->arena, sizeof *copy);
    unsigned i = 0;

    if (copy == NULL)
        return error_no_memory(moving->binder->error), NULL;
    while (moving->answers->joins[i] != join)
        i++;
    assert(i < moving->answers->count);
    *copy = *e;
    copy->column.number +=
        (int)moving->answers->columns[i] - (int)join->left->column_count;
    return copy;
}

/* expression_replacer */
static struct expression *move_column(void *context, struct expression *e,
                                      bool *failed)
{
    const struct moving *moving = context;
    const struct node *over = moving->over;
    struct expression *moved;

    if (e->kind != EXPRESSION_COLUMN || over->kind == NODE_TABLE)
        return NULL;
    if (over->kind == NODE_SELECT)
        moved = move(moving->binder, moving->answers, over->left,
                     over->results[e->column.number]);
    else if (e->column.number < (int)over->left->column_count)
        moved = move(moving->binder, moving->answers, over->left, e);
    else
        moved = answer_column(moving, e);
    *failed = moved == NULL;
    return moved;
}

/* NULL: a failure. */
static struct expression *move(struct binder *binder,
                               const struct index_answers *answers,
                               const struct node *over, struct expression *e)
{
    struct moving moving = { binder, answers, over };

    if (stack_is_short())
        return stack_refuse(binder->error, e->at), NULL;
    return expression_replace(binder, e, move_column, &moving);
}

/* Adds the comparisons of a SELECT's condition, before a part that can fail. */
static bool add_compared(struct binder *binder, struct index_answers *answers,
                         const struct node *select)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);

    if (select->where != NULL && !index_split(select->where, &parts))
        return error_no_memory(binder->error), false;
    for (size_t i = 0; i < parts.count; i++) {
        struct expression *part = VECTOR_ITEMS(&parts, struct expression *)[i];
        struct index_compared compared = { select->left, part, NULL };
        if (part->faults)
            break;
        if (part->kind != EXPRESSION_OPERATOR
            || !is_comparison(part->operation.op))
            continue;
        compared.e = move(binder, answers, select->left, part);
        if (compared.e == NULL)
            return false;
        if (!vector_append(&answers->compared, &compared, 1))
            return error_no_memory(binder->error), false;
    }
    return true;
}

bool index_answers_compared(struct binder *binder,
                            struct index_answers *answers)
{
    bool done = true;

    answers->compared = VECTOR_IN(binder->arena, struct index_compared);
    for (const struct node *node = answers->select;
         node != *answers->table && done; node = node->left)
        if (node->kind == NODE_SELECT && node != answers->below)
            done = add_compared(binder, answers, node);
    return done;
}
