/* SPDX-License-Identifier: MIT */
/*
 * Where an index is used. What a condition asks of the first columns of one is
 * taken out of it and becomes a NODE_SEEK in the table's place, if it is
 * thought to leave so few rows that a scan costs more; what is left is tested
 * for these rows. So are rows of a semi join with a list of values, those that
 * few rows of a join ask for (index_join.h), or answers of subqueries bound
 * (index_answer.h), and the first rows of an order (index_order.h).
 *
 * Rows come in the table's order either way. A part of a condition is taken out
 * only where no part before it can fail, so that a failure that a scan would
 * have met is met here, too.
 */
#include "plan/index/use_index.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/estimate/estimate.h"
#include "plan/index/index_answer.h"
#include "plan/index/index_choice.h"
#include "plan/index/index_join.h"
#include "plan/index/index_order.h"
#include "plan/index/index_terms.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"
#include "program/steps/steps.h"

/* The best way to find rows, so far. */
struct choice {
    struct index_use use; /* its candidate NULL: there is none                */
    double kept; /* the share of the table's rows that it finds            */
};

static bool seek_select(struct binder *binder, struct node *node);
static struct node *seek_join(struct binder *binder, struct node *node);

/* ---------------------------------------------------------------- walk -- */

static bool visit(struct binder *binder, struct node **place);

static bool visit_below(struct binder *binder, struct node *node)
{
    bool asks = node->kind == NODE_APPLY || node->kind == NODE_RECURSE;
    bool done = node->left == NULL || visit(binder, &node->left);

    binder->asking += asks; /* the query on the right runs again and again */
    done = done && (node->right == NULL || visit(binder, &node->right));
    binder->asking -= asks;
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = visit(binder, vector_at(&node->parts, i));
    return done;
}

/* A node that stands in several places is looked at once; what stands for it
 * then is itself, changed. */
static bool visit(struct binder *binder, struct node **place)
{
    struct node *node = *place;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (node->sought)
        return true;
    node->sought = true;
    if ((node->kind == NODE_SORT || node->kind == NODE_GROUP)
        && !index_order(binder, node))
        return false;
    if (node->kind == NODE_SELECT && !index_answer(binder, node))
        return false;
    if (node->kind == NODE_JOIN && !index_join(binder, node, 2))
        return false; /* before joins below it ask for one of the keys */
    if (!visit_below(binder, node))
        return false;
    if (node->kind == NODE_SELECT)
        return seek_select(binder, node);
    if (node->kind != NODE_JOIN)
        return true;
    if (!node->shared)
        *place = seek_join(binder, node);
    return *place != NULL && (*place != node || index_join(binder, node, 1));
}

struct node *use_indexes(struct binder *binder, struct node *root)
{
    estimate_node(binder, root);
    return visit(binder, &root) ? root : NULL;
}

/* ------------------------------------------------------------- choosing -- */

/* Keys of an index that are asked for. */
static unsigned keys_used(const struct index_use *use)
{
    return use->term_count
           + (use->list_columns > 0 ? use->list_columns - 1 : 0);
}

/* Whether an index finds rows that are not on the only list, too. */
static bool finds_others(const struct index_terms *terms,
                         const struct index_candidate *candidate)
{
    const struct index_term *term = &terms->terms[0];
    bool others = false;

    for (unsigned i = 0; i < term->column_count; i++)
        others |= index_is_inexact(terms->of, candidate, term->columns[i]);
    return others;
}

/* The index that finds fewest rows, of two that find as many the one that tests
 * more; `exact`: those that are wanted, and no others. */
static void find_best(const struct index_terms *terms, bool exact,
                      struct choice *best)
{
    const struct index_candidate *candidate = terms->of->items.items;

    for (size_t i = 0; i < terms->of->items.count; i++) {
        struct index_use use;
        double kept;
        if (!index_terms_match(terms, &candidate[i], &use)
            || (exact && finds_others(terms, &candidate[i])))
            continue;
        kept = index_terms_kept(terms, &use);
        if (best->use.candidate == NULL || kept < best->kept
            || (kept == best->kept && keys_used(&use) > keys_used(&best->use)))
            *best = (struct choice){ use, kept };
    }
}

/* Whether a statement asks for the row of a key that it is told: it is made to run
 * often, and a scan even of a few rows is more work than a search. */
static bool is_look_up(const struct index_terms *terms,
                       const struct index_use *use)
{
    return use->candidate->is_key && use->equal_count == 1
           && terms->terms[use->terms[0]].value.parameter >= 0;
}

/* Whether the best way to find rows of a table is better than a scan of all. */
static bool is_better(const struct index_terms *terms,
                      const struct choice *best, const struct node *reader)
{
    const struct node *table = terms->of->table;
    double rows = best->kept * (double)table->table->rows;

    return index_is_sought(table)
               ? index_pays(table, rows, index_row_cost(reader))
               : is_look_up(terms, &best->use);
}

/* How many rows may be hoped for where what is asked comes with each run; 0: none
 * are, for a scan is better then, too. */
static uint64_t rows_hoped(const struct binder *binder,
                           const struct index_terms *terms,
                           const struct index_use *use,
                           const struct node *reader)
{
    const struct node *table = terms->of->table;

    if (!index_may_hope_few(binder) || !index_is_sought(table)
        || !index_terms_guessed(terms, use))
        return 0;
    return index_rows_most(table, index_row_cost(reader));
}

/* NULL: a failure. */
static struct node *make_seek(struct binder *binder,
                              const struct index_terms *terms,
                              const struct choice *choice, uint64_t hoped)
{
    double rows = choice->kept * (double)terms->of->table->table->rows;
    struct node *made =
        index_seek(binder, terms->of->table, choice->use.candidate,
                   hoped > 0 ? (double)hoped : rows);

    if (made == NULL || !index_terms_fill(binder, terms, &choice->use, made))
        return NULL;
    made->seek.most = hoped;
    binder->hoped_few |= hoped > 0;
    return made;
}

/* The index that finds rows of a table best, of which `reader` has columns; NULL: a
 * scan is better, or `*failed`. */
static struct node *choose(struct binder *binder, const struct node *reader,
                           const struct index_terms *terms, bool exact,
                           struct index_use *use, bool *failed)
{
    struct choice best = { .kept = 1 };
    uint64_t hoped = 0;
    struct node *made;

    find_best(terms, exact, &best);
    if (best.use.candidate == NULL)
        return NULL;
    if (!is_better(terms, &best, reader)) {
        hoped = rows_hoped(binder, terms, &best.use, reader);
        if (hoped == 0)
            return NULL;
    }
    *use = best.use;
    made = make_seek(binder, terms, &best, hoped);
    *failed = made == NULL;
    return made;
}

/* -------------------------------------------------------------- select -- */

static bool seek_select(struct binder *binder, struct node *node)
{
    struct index_candidates candidates;
    struct index_terms terms;
    struct index_use use;
    struct node *seek;
    bool failed = false;

    if (node->where == NULL || node->left->kind != NODE_TABLE)
        return true;
    if (!index_candidates(binder, node->left, &candidates)
        || !index_terms_read(binder, &candidates, node->where, true, &terms))
        return false;
    seek = choose(binder, node, &terms, false, &use, &failed);
    if (seek == NULL)
        return !failed;
    node->where = index_terms_rest(binder, &terms, &use, &failed);
    node->left = seek;
    return !failed;
}

/* ---------------------------------------------------------- semi joins -- */

/* The place of a join's table, if the join keeps rows of it that have one row of
 * some values in as many columns as it has keys; NULL: it is another one. */
static struct node **table_of(struct node *join,
                              unsigned columns[SEEK_KEYS_MAX])
{
    const struct vector *keys = &join->join.left_keys;
    struct node *left = join->left;
    bool select = left->kind == NODE_SELECT;

    if (join->join.kind != JOIN_SEMI || join->where != NULL
        || join->join.range.side != RANGE_JOIN_NONE || join->join.nulls_match
        || keys->count == 0 || keys->count > SEEK_KEYS_MAX
        || join->right->kind != NODE_VALUES
        || (select && (left->shared || !index_is_safe(left))))
        return NULL;
    for (size_t i = 0; i < keys->count; i++) {
        columns[i] = (unsigned)VECTOR_ITEMS(keys, int)[i];
        if (!select)
            continue;
        if (left->results[columns[i]]->kind != EXPRESSION_COLUMN)
            return NULL;
        columns[i] = (unsigned)left->results[columns[i]]->column.number;
    }
    return select ? &left->left : left->kind == NODE_TABLE ? &join->left : NULL;
}

/* The join stays where the index does not know all of its keys. */
static struct node *seek_join(struct binder *binder, struct node *node)
{
    const struct vector *keys = &node->join.right_keys;
    unsigned columns[SEEK_KEYS_MAX];
    struct index_candidates candidates;
    struct index_terms terms;
    struct index_use use;
    struct node *seek, **place = table_of(node, columns);
    bool failed = false;

    if (place == NULL || !index_is_sought(*place))
        return node;
    if (!index_candidates(binder, *place, &candidates))
        return NULL;
    if (!index_terms_list(&candidates, columns, node->right,
                          VECTOR_ITEMS(keys, int), keys->count, &terms))
        return node;
    seek = choose(binder, node->left, &terms, true, &use, &failed);
    if (seek == NULL)
        return failed ? NULL : node;
    *place = seek;
    return seek->seek.list_columns == keys->count ? node->left : node;
}
