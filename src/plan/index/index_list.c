/* SPDX-License-Identifier: MIT */
/*
 * id IN (1, ?, 3) comes as an OR of comparisons: index_list.h.
 */
#include "plan/index/index_list.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"

bool index_list_takes(const struct expression *e)
{
    return e->kind == EXPRESSION_CONSTANT || e->kind == EXPRESSION_PARAMETER;
}

/* ---------------------------------------------------------------- values -- */

bool index_list_room(struct binder *binder, const struct column *column,
                     struct index_term *term, unsigned i)
{
    int type = is_integer((int)column->type) ? VDBQ_BIGINT : (int)column->type;

    return constants_room(binder->arena, type, term->list_count,
                          &term->list[i]);
}

/* Says that a parameter's value comes to that place. False: no memory. */
static bool put_parameter(struct binder *binder, int number,
                          struct index_term *term, unsigned i, size_t at)
{
    if (term->given[i] == NULL) {
        size_t size = term->list_count * sizeof *term->given[i];
        term->given[i] = arena_alloc(binder->arena, size);
        if (term->given[i] == NULL)
            return false;
        memset(term->given[i], -1, size); /* all others are constants */
    }
    term->given[i][at] = number;
    return true;
}

bool index_list_put(struct binder *binder, const struct expression *e,
                    struct index_term *term, unsigned i, size_t at)
{
    struct expression constant = *e;

    assert(at < term->list_count);
    if (e->kind == EXPRESSION_PARAMETER)
        return put_parameter(binder, e->parameter.number, term, i, at);
    if (is_float(constant.type) && term->list[i].type == VDBQ_DOUBLE)
        constant.type = VDBQ_DOUBLE;
    return constants_put(binder->arena, &term->list[i], at, &constant);
}

/* ------------------------------------------------------------------ read -- */

/* How many values an OR compares one column with; 0: it does something else. */
static uint64_t count_list(const struct index_candidates *of,
                           const struct expression *e, struct index_term *term)
{
    struct index_term other = { 0 };
    uint64_t left, right;

    if (e->kind != EXPRESSION_OPERATOR || stack_is_short())
        return 0;
    if (e->operation.op == AST_OR) {
        left = count_list(of, e->left, term);
        right = left > 0 ? count_list(of, e->right, &other) : 0;
        return right > 0 && other.column == term->column ? left + right : 0;
    }
    return e->operation.op == AST_EQ && index_list_takes(e->right)
           && index_terms_comparison(NULL, of, e->left, AST_EQ, e->right, term);
}

/* Writes the values. */
static bool fill_list(struct binder *binder, const struct expression *e,
                      struct index_term *term, size_t *at)
{
    if (e->operation.op == AST_OR)
        return fill_list(binder, e->left, term, at)
               && fill_list(binder, e->right, term, at);
    return index_list_put(binder, e->right, term, 0, (*at)++);
}

bool index_list_read(struct binder *binder, const struct index_candidates *of,
                     const struct expression *e, struct index_term *term,
                     bool *failed)
{
    const struct column *column;
    size_t at = 0;

    term->list_count = count_list(of, e, term);
    if (term->list_count < 2)
        return false;
    column = index_column_of(of, term->column);
    if (column->type == VDBQ_FLOAT)
        return false; /* a value may be a DOUBLE that it never equals */
    term->kind = INDEX_TERM_LIST;
    *failed = !index_list_room(binder, column, term, 0)
              || !fill_list(binder, e, term, &at);
    return !*failed;
}
