/* SPDX-License-Identifier: MIT */
/*
 * (a, b) IN ((1, 2), (3, 4)) comes as an OR of ANDs: index_rows.h.
 */
#include "plan/index/index_rows.h"

#include <string.h>

#include "base/os/stack.h"
#include "plan/index/index_list.h"
#include "plan/tree/binder.h"

/* What a branch of an OR says: columns that equal values. */
struct branch {
    unsigned count;
    unsigned columns[SEEK_KEYS_MAX];
    const struct expression *values[SEEK_KEYS_MAX];
};

/* The place of a column in a branch; `count`: it is none of it. */
static unsigned place_in(const struct branch *branch, unsigned column)
{
    unsigned i = 0;

    while (i < branch->count && branch->columns[i] != column)
        i++;
    return i;
}

/* Reads a branch; false: it says something else. */
static bool read_branch(const struct index_candidates *of,
                        const struct expression *e, struct branch *branch)
{
    struct index_term equal = { 0 };

    if (e->kind != EXPRESSION_OPERATOR || stack_is_short())
        return false;
    if (e->operation.op == AST_AND)
        return read_branch(of, e->left, branch)
               && read_branch(of, e->right, branch);
    if (e->operation.op != AST_EQ || !index_list_takes(e->right)
        || branch->count == SEEK_KEYS_MAX
        || !index_terms_comparison(NULL, of, e->left, AST_EQ, e->right, &equal)
        || place_in(branch, equal.column) < branch->count)
        return false;
    branch->columns[branch->count] = equal.column;
    branch->values[branch->count++] = e->right;
    return true;
}

/* How many branches an OR has that are about the same columns as the first one; 0:
 * one is not. */
static uint64_t count_branches(const struct index_candidates *of,
                               const struct expression *e, struct branch *first)
{
    struct branch branch = { 0 };
    uint64_t left, right;
    bool same = true;

    if (e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_OR) {
        left = stack_is_short() ? 0 : count_branches(of, e->left, first);
        right = left > 0 ? count_branches(of, e->right, first) : 0;
        return right > 0 ? left + right : 0;
    }
    if (!read_branch(of, e, &branch))
        return 0;
    if (first->count == 0)
        *first = branch;
    for (unsigned i = 0; i < branch.count; i++)
        same &= place_in(first, branch.columns[i]) < first->count;
    return same && branch.count == first->count;
}

/* Writes the values of all branches, of each column into its list. */
static bool fill_rows(struct binder *binder, const struct index_candidates *of,
                      const struct expression *e, const struct branch *first,
                      struct index_term *term, size_t *at)
{
    struct branch branch = { 0 };
    bool done = true;

    if (e->operation.op == AST_OR)
        return fill_rows(binder, of, e->left, first, term, at)
               && fill_rows(binder, of, e->right, first, term, at);
    read_branch(of, e, &branch);
    for (unsigned i = 0; i < branch.count && done; i++)
        done = index_list_put(binder, branch.values[i], term,
                              place_in(first, branch.columns[i]), *at);
    (*at)++;
    return done;
}

static bool room_for_rows(struct binder *binder,
                          const struct index_candidates *of,
                          struct index_term *term)
{
    bool done = true;

    for (unsigned i = 0; i < term->column_count && done; i++)
        done = index_list_room(binder, index_column_of(of, term->columns[i]),
                               term, i);
    return done;
}

static bool has_float(const struct index_candidates *of,
                      const struct branch *branch)
{
    bool has = false;

    for (unsigned i = 0; i < branch->count; i++)
        has |= index_column_of(of, branch->columns[i])->type == VDBQ_FLOAT;
    return has;
}

bool index_rows_read(struct binder *binder, const struct index_candidates *of,
                     const struct expression *e, struct index_term *term,
                     bool *failed)
{
    struct branch first = { 0 };
    size_t at = 0;

    term->list_count = count_branches(of, e, &first);
    if (term->list_count < 2 || first.count < 2 || has_float(of, &first))
        return false;
    term->kind = INDEX_TERM_ROWS;
    term->op = AST_EQ;
    term->column = first.columns[0];
    term->column_count = first.count;
    memcpy(term->columns, first.columns, sizeof term->columns);
    *failed = !room_for_rows(binder, of, term)
              || !fill_rows(binder, of, e, &first, term, &at);
    return !*failed;
}

unsigned index_rows_match(const struct index_term *term,
                          const unsigned *columns, unsigned count,
                          unsigned order[SEEK_KEYS_MAX])
{
    unsigned matched = 0;

    while (matched < count) {
        unsigned i = 0;
        while (i < term->column_count && term->columns[i] != columns[matched])
            i++;
        if (i == term->column_count)
            break;
        order[matched++] = i;
    }
    return matched;
}
