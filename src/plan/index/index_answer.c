/* SPDX-License-Identifier: MIT */
/*
 * x > (SELECT max(y) FROM u) comes as a condition over a join of the table with a
 * row that has the answer. That row is read first, by a seek whose bounds it has,
 * and by the join, which stays, as does the condition: so the seek may find more
 * rows than it keeps, and fewer by no row. Parts of it behind one that can fail are
 * not looked at, for then a failure could be missing.
 */
#include "plan/index/index_answer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "plan/estimate/estimate.h"
#include "plan/index/index_answers.h"
#include "plan/index/index_implied.h"
#include "plan/index/index_terms.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/operator/compare.h"
#include "plan/simplify/share.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* A part of a condition that bounds a key by answers. */
struct answered {
    const struct index_compared
        *part;            /* NULL: there is none                    */
    bool mirrored;        /* the key stands on its right side       */
    enum ast_operator op; /* of the key with the answer             */
};

/* The best way to find rows, so far. */
struct choice {
    struct index_use use; /* its candidate NULL: there is none                */
    struct answered low, high;
    double kept; /* the share of the table's rows that it finds            */
};

/* ---------------------------------------------------------------- bounds -- */

/* What columns an expression reads. */
struct reading {
    int first; /* of those that are asked for   */
    unsigned end;
    bool answers, others; /* of these, and none of these */
};

static bool look_at(void *context, struct expression **operand)
{
    struct reading *reading = context;
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN && e->column.number >= reading->first
        && e->column.number < (int)reading->end)
        reading->answers = true;
    else if (e->kind == EXPRESSION_COLUMN)
        reading->others = true;
    return expression_each(*operand, look_at, reading);
}

/* Whether an expression reads answers, and nothing else, and cannot fail. */
static bool is_answer(const struct index_answers *answers, struct expression *e)
{
    struct reading reading = { (int)answers->first, answers->end, false,
                               false };

    return !e->faults && look_at(&reading, &e) && reading.answers
           && !reading.others;
}

/* The side of a comparison with the answer. */
static struct expression *value_of(const struct expression *e, bool mirrored)
{
    return mirrored ? e->left : e->right;
}

/* Reads KEY OPERATOR answer, which bounds a key from below, or above. */
static bool read_bound(const struct index_answers *answers, unsigned key,
                       bool above, const struct index_compared *part,
                       bool mirrored, struct answered *answered)
{
    const struct expression *own = mirrored ? part->e->right : part->e->left;
    struct expression *value = value_of(part->e, mirrored);
    enum ast_operator op = mirrored ? compare_mirrored(part->e->operation.op)
                                    : part->e->operation.op;

    if (!(above ? op == AST_LT || op == AST_LE : op == AST_GT || op == AST_GE)
        || index_column(&answers->candidates, own) != (int)key
        || !is_answer(answers, value)
        || !index_terms_fit(index_column_of(&answers->candidates, key), value))
        return false;
    *answered = (struct answered){ part, mirrored, op };
    return true;
}

/* The first part of the condition that bounds a key so. */
static struct answered find_bound(const struct index_answers *answers,
                                  unsigned key, bool above)
{
    struct answered answered = { .part = NULL };

    for (size_t i = 0; i < answers->compared.count && answered.part == NULL;
         i++) {
        const struct index_compared *part = vector_at(&answers->compared, i);
        if (!read_bound(answers, key, above, part, false, &answered))
            read_bound(answers, key, above, part, true, &answered);
    }
    return answered;
}

/* A number of a key's type, from its least to its greatest value. */
static struct expression *number_near(struct binder *binder,
                                      const struct column *key, double place,
                                      struct position at)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_CONSTANT, (int)key->type, at);

    if (e == NULL)
        return NULL;
    e->precision = key->precision;
    e->scale = key->scale;
    if (is_float(e->type))
        e->constant.real = place;
    else
        e->constant.integer = (int64_t)place;
    range_constant(e);
    return e;
}

/* Adds to a condition over the table, which may be NULL, that a key is bounded by
 * about what the answer is thought to be, if anything is. */
static bool test_near(struct binder *binder,
                      const struct index_answers *answers,
                      const struct answered *bound, unsigned number,
                      struct expression **all)
{
    static const double FAR = 9e18;
    const struct column_estimate values =
        index_estimate(&answers->candidates, number);
    const struct index_key *key = index_key_of(&answers->candidates, number);
    const struct ast_expression tree = { 0 };
    struct expression *own, *near;
    double place = NAN;

    if (bound->part != NULL && estimate_has_range(&values))
        place = estimate_answer(bound->part->over,
                                value_of(bound->part->as_is, bound->mirrored));
    if (isnan(place))
        return true;
    place = fmin(fmax(place, fmax(values.low, -FAR)), fmin(values.high, FAR));
    own = key != NULL ? (struct expression *)(uintptr_t)key->expression
                      : node_column(binder, *answers->table, number, tree.at);
    near = number_near(binder, index_column_of(&answers->candidates, number),
                       place, tree.at);
    if (own != NULL && near != NULL)
        near = expression_compare(binder, bound->op, own, near, &tree);
    if (own != NULL && near != NULL)
        *all = *all == NULL
                   ? near
                   : expression_logic(binder, AST_AND, *all, near, &tree);
    return own != NULL && near != NULL && *all != NULL;
}

/* The share of rows that both bounds of a key keep, as the table's facts and its
 * sample tell it of numbers near them. False: a failure. */
static bool estimate_bounds(struct binder *binder,
                            const struct index_answers *answers,
                            const struct choice *choice, unsigned number,
                            double *kept)
{
    const struct estimate_nodes nodes = { *answers->table, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    struct expression *near = NULL;

    if (!test_near(binder, answers, &choice->low, number, &near)
        || !test_near(binder, answers, &choice->high, number, &near))
        return false;
    *kept = near != NULL ? estimate_kept(&source, near) : 1;
    return true;
}

/* Leaves, of what an index answers, the values that its first columns equal. */
static void keep_equals(struct index_use *use)
{
    use->term_count = use->equal_count;
    use->list_columns = 0;
}

/* Looks at an index, by the conditions on the table alone, and the answers. False: a
 * failure. */
static bool consider(struct binder *binder, const struct index_answers *answers,
                     const struct index_terms *terms,
                     const struct index_candidate *candidate,
                     struct choice *best)
{
    struct choice choice = { .kept = 1 };
    unsigned at;

    index_terms_match(terms, candidate, &choice.use);
    if (!index_is_implied(candidate, terms))
        return true;
    keep_equals(&choice.use);
    at = choice.use.equal_count;
    if (at == candidate->count || at == SEEK_KEYS_MAX)
        return true;
    choice.low = find_bound(answers, candidate->columns[at], false);
    choice.high = find_bound(answers, candidate->columns[at], true);
    if (choice.low.part == NULL && choice.high.part == NULL)
        return true;
    if (!estimate_bounds(binder, answers, &choice, candidate->columns[at],
                         &choice.kept))
        return false;
    choice.kept *= index_terms_kept(terms, &choice.use);
    if (best->use.candidate == NULL || choice.kept < best->kept)
        *best = choice;
    return true;
}

/* Whether an index finds as few rows without answers. */
static bool is_beaten(const struct index_answers *answers,
                      const struct index_terms *terms, double kept)
{
    const struct index_candidate *candidate = answers->candidates.items.items;
    bool beaten = false;

    for (size_t i = 0; i < answers->candidates.items.count && !beaten; i++) {
        struct index_use use;
        beaten = index_terms_match(terms, &candidate[i], &use)
                 && index_terms_kept(terms, &use) <= kept;
    }
    return beaten;
}

/* ------------------------------------------------------------------ make -- */

/* The row of bounds, while it is made. */
struct bounds {
    const struct index_answers *answers;
    struct node *all; /* the answers that they read, in one row           */
    int *columns;     /* of it, by their numbers among those of all answers */
    struct expression *results[2];
    struct step_seek *seek;
};

/* Whether a bound reads one of so many columns. */
static bool reads_some(const struct answered *bound, unsigned first,
                       unsigned count)
{
    struct expression *value;
    struct reading reading = { .first = (int)first, .end = first + count };

    if (bound->part == NULL)
        return false;
    value = value_of(bound->part->e, bound->mirrored);
    return look_at(&reading, &value) && reading.answers;
}

/* Says that the row has an answer's columns from one on. */
static void place_answer(struct bounds *bounds, unsigned answer, int place)
{
    const struct index_answers *answers = bounds->answers;

    for (unsigned i = 0; i < answers->joins[answer]->right->column_count; i++)
        bounds->columns[answers->columns[answer] + i] = place + (int)i;
}

/* Where the row has an answer already: the same query may stand in both bounds,
 * and is one node then. -1: nowhere. */
static int place_of_answer(const struct bounds *bounds, unsigned answer)
{
    const struct index_answers *answers = bounds->answers;

    for (unsigned i = 0; i < answer; i++)
        if (answers->joins[i]->right == answers->joins[answer]->right)
            return bounds->columns[answers->columns[i]];
    return -1;
}

/* Adds an answer to the row, for the seek and for the join. */
static bool add_answer(struct binder *binder, struct bounds *bounds,
                       unsigned answer)
{
    struct node **right = &bounds->answers->joins[answer]->right;
    int place = bounds->all != NULL ? (int)bounds->all->column_count : 0;

    if (!share_twice(binder, right))
        return false;
    bounds->all = bounds->all == NULL
                      ? *right
                      : node_join(binder, JOIN_LEFT, bounds->all, *right);
    if (bounds->all == NULL)
        return false;
    bounds->all->rows = 1;
    place_answer(bounds, answer, place);
    return true;
}

/* Joins the answers that bounds read; a query without a row among these has no row
 * found, as a bound that is NULL. */
static bool join_answers_of(struct binder *binder, const struct choice *choice,
                            struct bounds *bounds)
{
    const struct index_answers *answers = bounds->answers;
    bool done = true;

    bounds->columns =
        arena_alloc(binder->arena, answers->end * sizeof *bounds->columns);
    if (bounds->columns == NULL)
        return error_no_memory(binder->error), false;
    memset(bounds->columns, -1, answers->end * sizeof *bounds->columns);
    for (unsigned i = 0; i < answers->count && done; i++) {
        unsigned first = answers->columns[i];
        unsigned count = answers->joins[i]->right->column_count;
        int place = place_of_answer(bounds, i);
        if (!reads_some(&choice->low, first, count)
            && !reads_some(&choice->high, first, count))
            continue;
        if (place >= 0)
            place_answer(bounds, i, place);
        else
            done = add_answer(binder, bounds, i);
    }
    return done;
}

/* Adds a bound to the row, if there is one. */
static bool add_bound(struct binder *binder, struct bounds *bounds,
                      const struct answered *answered, struct seek_bound *bound)
{
    struct step_seek *seek = bounds->seek;
    struct expression *e;

    if (answered->part == NULL)
        return true;
    e = expression_over(binder, value_of(answered->part->e, answered->mirrored),
                        bounds->all, bounds->columns, 0);
    if (e == NULL)
        return false;
    *bound = (struct seek_bound){
        .there = true,
        .open = answered->op == AST_GT || answered->op == AST_LT,
        .value = { .parameter = -1, .fed = true, .input = seek->from_count }
    };
    bounds->results[seek->from_count] = e;
    seek->from[seek->from_count] = (int)seek->from_count;
    seek->from_count++;
    return true;
}

/* NULL: a failure. */
static struct node *make_row(struct binder *binder,
                             const struct index_answers *answers,
                             const struct choice *choice,
                             struct step_seek *seek)
{
    struct bounds bounds = { .answers = answers, .seek = seek };
    bool merges = binder->merges;
    struct node *row;

    if (!join_answers_of(binder, choice, &bounds)
        || !add_bound(binder, &bounds, &choice->low, &seek->low)
        || !add_bound(binder, &bounds, &choice->high, &seek->high))
        return NULL;
    binder->merges = false;
    row = node_select(binder, bounds.all, NULL, bounds.results, NULL,
                      seek->from_count);
    binder->merges = merges;
    if (row != NULL)
        row->rows = 1;
    return row;
}

static bool put_seek(struct binder *binder, const struct index_answers *answers,
                     const struct index_terms *terms,
                     const struct choice *choice)
{
    const struct node *table = *answers->table;
    struct node *seek = index_seek(binder, table, choice->use.candidate,
                                   choice->kept * (double)table->table->rows);

    if (seek == NULL)
        return false;
    if (!index_terms_fill(binder, terms, &choice->use, seek))
        return false;
    seek->left = make_row(binder, answers, choice, &seek->seek);
    if (seek->left == NULL)
        return false;
    *answers->table = seek;
    return true;
}

bool index_answer(struct binder *binder, struct node *select)
{
    struct choice best = { .kept = 1 };
    struct index_answers answers;
    struct index_terms terms;
    double rows;

    assert(select->kind == NODE_SELECT);
    if (select->where == NULL || !index_answers_find(select, &answers))
        return true;
    if (!index_candidates(binder, *answers.table, &answers.candidates)
        || !index_terms_read(
            binder, &answers.candidates,
            answers.below != NULL ? answers.below->where : NULL, false, &terms)
        || !index_answers_compared(binder, &answers))
        return false;
    for (size_t i = 0; i < answers.candidates.items.count; i++)
        if (!consider(binder, &answers, &terms,
                      vector_at(&answers.candidates.items, i), &best))
            return false;
    rows = best.kept * (double)(*answers.table)->table->rows;
    if (best.use.candidate == NULL || is_beaten(&answers, &terms, best.kept)
        || !index_pays(*answers.table, rows, index_row_cost(select)))
        return true;
    return put_seek(binder, &answers, &terms, &best);
}
