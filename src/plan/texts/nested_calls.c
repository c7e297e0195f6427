/* SPDX-License-Identifier: MIT */
/*
 * Nested calls:
 *
 *   SELECT count(*) FROM t WHERE upper(name) LIKE '%X%' OR lower(name) = 'y'
 *
 * What is asked of the texts that a call gives is looked up for these: they become
 * words, in order, of which each look-up is computed. Where the column has many
 * words, that takes far longer than to ask each text when it is made, and to forget
 * it: like(upper(?), '%X%') and compare(lower(?), 'y') = 0 are looked up for the
 * words of the column, and no other text is one.
 *
 * A call that may fail stays: a program says which one failed.
 */
#include "plan/texts/nested_calls.h"

#include "base/hostile.h"
#include "base/vector.h"
#include "plan/make/lookup.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/simplify/tree_pass.h"
#include "plan/texts/fused_calls.h"
#include "plan/texts/late_calls.h"
#include "plan/tree/binder.h"

/* Words of a column; sorting what becomes of fewer takes no time. */
enum { WORDS_LEAST = HOSTILE(1, 5000) };

/* Calls in the expressions of a node. */
struct nesting {
    struct binder *binder;
    const struct node *below; /* whose columns they are of */
    unsigned found;           /* that can be nested        */
};

/* Whether as many texts come of a column with many words, by calls that do not
 * fail. */
static bool is_made(const struct nesting *nesting, const struct expression *e)
{
    if (e->kind != EXPRESSION_LOOKUP || e->type != VDBQ_TEXT)
        return false;
    for (; e->kind == EXPRESSION_LOOKUP; e = e->left)
        if (e->lookup.fails || !late_calls_tell_apart(e))
            return false;
    return e->kind == EXPRESSION_COLUMN
           && late_calls_words(nesting->below, e->column.number) >= WORDS_LEAST;
}

/* Whether it compares such a text with a constant. */
static bool compares(const struct nesting *nesting, const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && is_comparison(e->operation.op)
           && ((fused_is_constant(e->left) && is_made(nesting, e->right))
               || (fused_is_constant(e->right) && is_made(nesting, e->left)));
}

/* Whether it is a call of such a text. */
static bool calls(const struct nesting *nesting, const struct expression *e)
{
    return e->kind == EXPRESSION_LOOKUP && !e->lookup.fails
           && is_made(nesting, e->left);
}

/* A visitor, which counts them. */
static bool count(void *context, struct expression **operand)
{
    struct nesting *nesting = context;
    if (!compares(nesting, *operand) && !calls(nesting, *operand))
        return expression_each(*operand, count, context);
    nesting->found++;
    return true;
}

static struct expression *replace(void *context, struct expression *e,
                                  bool *failed)
{
    const struct nesting *nesting = context;
    struct expression *made = NULL;
    if (compares(nesting, e)) {
        made = fused_compare(nesting->binder, e);
        *failed = made == NULL;
    } else if (calls(nesting, e)) {
        *failed = !lookup_nest(nesting->binder, e, &made);
    }
    return made;
}

/* Replaces them in one expression; false: a failure. */
static bool replace_in(struct nesting *nesting, struct expression **place)
{
    if (*place == NULL)
        return true;
    *place = expression_replace(nesting->binder, *place, replace, nesting);
    return *place != NULL;
}

/* Replaces those of a SELECT. */
static bool nest_in(struct binder *binder, struct node *node)
{
    struct nesting nesting = { .binder = binder, .below = node->left };
    bool done = node->where == NULL || count(&nesting, &node->where);
    for (unsigned i = 0; i < node->column_count && done; i++)
        done = count(&nesting, &node->results[i]);
    if (!done || nesting.found == 0 || nesting.found > FUSED_USES_MOST)
        return done;
    done = replace_in(&nesting, &node->where);
    for (unsigned i = 0; i < node->column_count && done; i++)
        done = replace_in(&nesting, &node->results[i]);
    return done;
}

static bool nest(struct binder *binder, struct node *node)
{
    return node->kind != NODE_SELECT || nest_in(binder, node);
}

struct node *nested_calls(struct binder *binder, struct node *root)
{
    return tree_look_once(binder, root, nest) ? root : NULL;
}
