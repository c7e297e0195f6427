/* SPDX-License-Identifier: MIT */
/*
 * How many rows nodes give, and what is thought of their columns: once
 * through the tree, from below.
 */
#include <math.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/binder.h"
#include "plan/estimate/estimate.h"
#include "plan/estimate/guess.h"
#include "plan/tree/common.h"
#include "plan/tree/node.h"

/* Filters narrow the columns up to that number. */
enum { NARROWED_MAX = 256 };

/* ------------------------------------------------------------- columns -- */

static const struct column_estimate *column_of(const void *context, int column)
{
    const struct estimate_nodes *nodes = context;
    int middle = (int)nodes->left->column_count;

    return column < middle ? &nodes->left->columns[column].estimate
                           : &nodes->right->columns[column - middle].estimate;
}

struct estimate_source estimate_of_nodes(const struct estimate_nodes *nodes)
{
    struct estimate_source source = { .column = column_of, .context = nodes };

    if (nodes->right == NULL && nodes->left->kind == NODE_TABLE) {
        source.table = nodes->left->table;
        source.samples = nodes->left->samples;
    }
    return source;
}

/* What is thought of a column of which nothing is known. */
static struct column_estimate unknown(double rows)
{
    return (struct column_estimate){
        .distinct = rows, .whole = rows, .low = 1, .high = 0
    };
}

/* The columns of what is below, and behind them those that were added. */
static void pass_columns(struct node *node, const struct node *below)
{
    for (unsigned i = 0; i < node->column_count; i++)
        node->columns[i].estimate = i < below->column_count
                                        ? below->columns[i].estimate
                                        : unknown(node->rows);
}

/* There are no more values than rows. */
static void finish(struct node *node)
{
    node->rows = estimate_rows(node->rows);
    for (unsigned i = 0; i < node->column_count; i++) {
        struct column_estimate *estimate = &node->columns[i].estimate;
        estimate->distinct = fmin(estimate->distinct, fmax(node->rows, 1));
    }
}

/* -------------------------------------------------------------- select -- */

static void narrow(struct column_estimate *estimate, double kept)
{
    if (kept >= 1)
        return;
    estimate->nulls = 0;
    estimate->distinct = fmax(estimate->distinct * kept, 1);
}

/* What is computed has no more values than its columns, and often fewer. */
static void count_values(const struct estimate_source *source,
                         const struct expression *e,
                         struct column_estimate *estimate)
{
    double most = estimate->distinct;

    estimate->distinct = source->samples->distinct(
        source->samples, source->table, e, most, most);
    estimate->sampled = estimate->distinct < most;
    estimate->whole = fmin(estimate->whole, estimate->distinct);
}

static void estimate_select(struct node *node)
{
    struct node *below = node->left;
    const struct estimate_nodes nodes = { below, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    struct estimate_said said = { .sampled = false };
    double kept[NARROWED_MAX];

    for (unsigned i = 0; i < NARROWED_MAX; i++)
        kept[i] = 1;
    node->rows = below->rows;
    if (node->where != NULL)
        node->rows *= estimate_column_kept(&source, node->where, kept,
                                           NARROWED_MAX, &said);
    node->sampled = said.sampled;
    node->met = said.met;
    for (unsigned i = 0; i < node->column_count; i++) {
        const struct expression *e = node->results[i];
        node->columns[i].estimate = estimate_expression(&source, e);
        if (source.samples != NULL && e->kind > EXPRESSION_PARAMETER
            && node->rows > 1)
            count_values(&source, e, &node->columns[i].estimate);
        if (e->kind == EXPRESSION_COLUMN && e->column.number < NARROWED_MAX)
            narrow(&node->columns[i].estimate, kept[e->column.number]);
    }
    if (node->where != NULL && source.samples != NULL)
        estimate_narrow(&source, node->where, node);
}

/* --------------------------------------------------------------- joins -- */

/* What is thought of key i of a join. */
static void key_of(const struct node *node, size_t i,
                   const struct column_estimate *keys[2])
{
    int left = VECTOR_ITEMS(&node->join.left_keys, int)[i];
    int right = VECTOR_ITEMS(&node->join.right_keys, int)[i];

    keys[0] = &node->left->columns[left].estimate;
    keys[1] = &node->right->columns[right].estimate;
}

static const struct column_estimate *bound_of(const struct node *node,
                                              int column)
{
    return column < 0 ? NULL : &node->columns[column].estimate;
}

/* The share of all pairs that lie in a range. */
static double pairs_in_range(const struct node *node)
{
    const struct step_range_join *range = &node->join.range;
    bool is_right = range->side == RANGE_JOIN_RIGHT;
    const struct node *of = is_right ? node->right : node->left;
    const struct node *by = is_right ? node->left : node->right;

    if (range->side == RANGE_JOIN_NONE)
        return 1;
    return estimate_between(&of->columns[range->column].estimate,
                            bound_of(by, range->low), bound_of(by, range->high),
                            of->base);
}

/* The share of all pairs that have equal keys, and are in the range: of several
 * columns there are no more different ones than rows of the right table, and of
 * the left one where all that the right one has seem to be there. */
static double pairs_of(const struct node *node)
{
    size_t count = node->join.left_keys.count;
    double possible = 1, values = 1;
    bool within = true;

    for (size_t i = 0; i < count; i++) {
        const struct column_estimate *keys[2];
        struct pair_estimate pairs;
        key_of(node, i, keys);
        pairs = estimate_pairs(keys[0], keys[1]);
        possible *= pairs.possible;
        values = estimate_rows(values * pairs.values);
        within &= pairs.within[1];
    }
    if (count > 1)
        values = fmin(values, fmax(node->right->base, 1));
    if (count > 1 && within)
        values = fmin(values, fmax(node->left->base, 1));
    return possible / values * pairs_in_range(node);
}

/* The share of left rows that have a partner: as many as there are values on
 * the right side, of those that its table has. */
static double share_with_partner(const struct node *node)
{
    double pairs = pairs_of(node), values = 1;

    if (node->join.range.side != RANGE_JOIN_NONE)
        return fmin(1, pairs * node->right->rows);
    for (size_t i = 0; i < node->join.left_keys.count; i++) {
        const struct column_estimate *keys[2];
        key_of(node, i, keys);
        values *= fmax(keys[1]->distinct, 1);
    }
    return fmin(1, pairs * fmin(values, node->right->rows));
}

static double kept_of_join(const struct node *node)
{
    const struct estimate_nodes nodes = { node->left, node->right };
    const struct estimate_source source = estimate_of_nodes(&nodes);

    return node->where != NULL ? estimate_kept(&source, node->where) : 1;
}

static double rows_of_join(const struct node *node)
{
    double left = node->left->rows, right = node->right->rows;
    double kept = kept_of_join(node), inner;

    switch (node->join.kind) {
    case JOIN_SEMI:
        return left * share_with_partner(node) * kept;
    case JOIN_ANTI:
        return left * (1 - share_with_partner(node) * kept);
    case JOIN_MARK:
        return left;
    default:
        break;
    }
    inner = estimate_rows(left * right) * pairs_of(node) * kept;
    switch (node->join.kind) {
    case JOIN_LEFT:
        return fmax(inner, left);
    case JOIN_RIGHT:
        return fmax(inner, right);
    case JOIN_FULL:
        return fmax(inner, fmax(left, right));
    default:
        return inner;
    }
}

/* Rows beside the answers of a query that they ask (estimate rule 5). */
static void estimate_asking(struct node *node)
{
    node->rows = node->left->rows;
    pass_columns(node, node->left);
    for (unsigned i = node->left->column_count; i < node->column_count; i++)
        node->columns[i].estimate.answer = true;
}

/* Rows of an outer join without a partner have NULLs for it; there are some, or nobody
 * had asked for them. */
static void add_nulls(struct node *node, unsigned first, unsigned end,
                      double partners)
{
    partners = fmin(partners, PARTNERS_MOST);
    for (unsigned i = first; i < end; i++) {
        struct column_estimate *column = &node->columns[i].estimate;
        column->nulls = 1 - estimate_share((1 - column->nulls) * partners);
    }
}

/* Keys have the values that both sides have. */
static void narrow_sides(struct node *node)
{
    unsigned middle = node->left->column_count;
    bool both = node->join.kind == JOIN_INNER;

    for (size_t i = 0; i < node->join.left_keys.count; i++) {
        const struct column_estimate *keys[2];
        key_of(node, i, keys);
        estimate_narrow_partner(
            node->left, (unsigned)VECTOR_ITEMS(&node->join.left_keys, int)[i],
            keys[1], node->columns);
        if (both)
            estimate_narrow_partner(
                node->right,
                (unsigned)VECTOR_ITEMS(&node->join.right_keys, int)[i], keys[0],
                node->columns + middle);
    }
}

static void estimate_join(struct node *node)
{
    const struct node *right = node->right;
    unsigned middle = node->left->column_count;

    node->rows = estimate_rows(rows_of_join(node));
    pass_columns(node, node->left);
    for (unsigned i = middle; i < node->column_count; i++)
        if (node->join.kind <= JOIN_FULL)
            node->columns[i].estimate = right->columns[i - middle].estimate;
    if (node->join.kind == JOIN_INNER || node->join.kind == JOIN_SEMI)
        narrow_sides(node);
    if (node->join.kind == JOIN_LEFT)
        add_nulls(node, middle, node->column_count, share_with_partner(node));
}

/* -------------------------------------------------------------- others -- */

/* So many groups times the values of one key more. */
static double groups_by(double groups, const struct column_estimate *key)
{
    return estimate_rows(groups * (fmax(key->distinct, 1) + (key->nulls > 0)));
}

static void estimate_group(struct node *node)
{
    double groups = 1;

    node->sampled = false;
    for (unsigned i = 0; i < node->group.keys; i++) {
        const struct column_estimate *key = &node->left->columns[i].estimate;
        node->sampled |= key->sampled;
        groups = groups_by(groups, key);
    }
    node->rows = node->group.keys == 0 ? 1 : fmin(groups, node->left->rows);
    pass_columns(node, node->left);
    for (unsigned i = node->group.keys; i < node->column_count; i++)
        node->columns[i].estimate = unknown(node->rows);
}

/* A row of each partition, or all. */
static void estimate_window(struct node *node)
{
    double rows = node->left->rows, firsts = 1;

    if (node->window.firsts) {
        const struct step_window_function *function =
            vector_at(&node->window.functions, 0);
        for (size_t i = 0; i < function->partition.count; i++)
            firsts = groups_by(
                firsts,
                &node->left->columns[VECTOR_ITEMS(&function->partition, int)[i]]
                     .estimate);
    }
    node->rows = node->window.firsts ? fmin(firsts, rows) : rows;
    pass_columns(node, node->left);
}

static void estimate_limit(struct node *node, uint64_t offset, uint64_t limit)
{
    double rows = node->left->rows - (double)offset;

    node->rows = estimate_rows(fmin(rows, (double)limit));
    pass_columns(node, node->left);
}

static void estimate_concat(struct node *node)
{
    node->rows = 0;
    for (size_t i = 0; i < node->parts.count; i++)
        node->rows += VECTOR_ITEMS(&node->parts, struct node *)[i]->rows;
    for (unsigned c = 0; c < node->column_count; c++) {
        struct column_estimate *all = &node->columns[c].estimate;
        *all = unknown(0);
        for (size_t i = 0; i < node->parts.count; i++) {
            const struct node *part =
                VECTOR_ITEMS(&node->parts, struct node *)[i];
            all->distinct += part->columns[c].estimate.distinct;
        }
        all->whole = all->distinct = estimate_rows(all->distinct);
    }
}

/* As many rows, and the same columns, as those of its tree. */
static void estimate_common(struct node *node)
{
    node->rows = node->common->root->rows;
    pass_columns(node, node->common->root);
}

static double base_of(const struct node *node)
{
    switch (node->kind) {
    case NODE_SELECT:
    case NODE_SORT:
    case NODE_APPLY:
    case NODE_WINDOW:
    case NODE_MAP:
    case NODE_FETCH:
    case NODE_GROUP:
        return node->left->base;
    case NODE_COMMON:
        return node->common->root->base;
    case NODE_JOIN:
        return node->join.kind <= JOIN_FULL
                   ? fmax(node->left->base, node->right->base)
                   : node->left->base;
    default:
        return node->rows;
    }
}

static double read_by(const struct node *node)
{
    double rows = node->kind == NODE_TABLE ? node->rows : 0;

    if (node->kind == NODE_COMMON)
        rows = node->common->root->read;
    if (node->left != NULL)
        rows += node->left->read;
    if (node->right != NULL)
        rows += node->right->read;
    for (size_t i = 0; i < node->parts.count; i++)
        rows += VECTOR_ITEMS(&node->parts, struct node *)[i]->read;
    return estimate_rows(rows);
}

/* Whether it stands for a query that the rows of `left` ask. */
static bool is_asking(const struct node *node)
{
    return (node->kind == NODE_JOIN && node->asked)
           || (node->kind == NODE_APPLY && node->apply.parameters.count > 0);
}

/* Nothing is known of its columns. */
static void estimate_unknown(struct node *node)
{
    for (unsigned i = 0; i < node->column_count; i++)
        node->columns[i].estimate = unknown(node->rows);
}

/* Of a recursive query nobody knows how many rounds there are, nor how many rows
 * one has: some more than the first, in a few rounds. */
enum { RECURSE_GROWTH = 16, RECURSE_ROUNDS = 8 };

static double estimate_round(const struct recursion *recursion)
{
    double first = recursion->node != NULL ? recursion->node->left->rows : 1;

    return estimate_rows((first < 1 ? 1 : first) * RECURSE_GROWTH);
}

/* Calls that are computed with a function keep as many rows as where a program
 * looks them up. */
static void note_calls(struct node *node)
{
    unsigned before = node->left->column_count;
    for (unsigned i = 0; i < node->map.functions.count; i++) {
        const struct step_function *function =
            vector_at(&node->map.functions, i);
        node->columns[before + i].estimate.call = function->then.count > 0;
    }
}

static void estimate_kind(struct node *node)
{
    switch (node->kind) {
    case NODE_PRODUCT: /* rewriting leaves none of these two */
    case NODE_OUTER:
    case NODE_ONCE:
    case NODE_TABLE:
    case NODE_SEEK: /* whoever made it says how many */
        break;
    case NODE_SELECT:
        estimate_select(node);
        break;
    case NODE_JOIN:
        estimate_join(node);
        break;
    case NODE_GROUP:
        estimate_group(node);
        break;
    case NODE_SORT:
        estimate_limit(node, node->sort.offset, node->sort.limit);
        break;
    case NODE_LIMIT:
        estimate_limit(node, node->limit.offset, node->limit.limit);
        break;
    case NODE_CONCAT:
        estimate_concat(node);
        break;
    case NODE_COMMON:
        estimate_common(node);
        break;
    case NODE_RECURSE:
        node->rows =
            estimate_rows(node->left->rows * RECURSE_ROUNDS * RECURSE_GROWTH);
        estimate_unknown(node);
        break;
    case NODE_WORKING:
        node->rows = estimate_round(node->recursion);
        estimate_unknown(node);
        break;
    case NODE_VALUES:
        estimate_unknown(node);
        break;
    case NODE_WINDOW:
        estimate_window(node);
        break;
    case NODE_APPLY:
    case NODE_MAP:
    case NODE_FETCH:
        node->rows = node->left->rows;
        pass_columns(node, node->left);
        if (node->kind == NODE_MAP)
            note_calls(node);
        if (node->kind == NODE_APPLY && node->apply.parameters.count == 0)
            node->columns[node->column_count - 1].estimate = unknown(1);
        break;
    }
}

static void visit(const struct binder *binder, struct node *node)
{
    if (node == NULL || node->estimated == binder->estimates
        || stack_is_short()) /* lowering it fails, too */
        return;
    node->estimated = binder->estimates;
    visit(binder, node->left);
    visit(binder, node->right);
    if (node->kind == NODE_COMMON && !node->common->ready)
        visit(binder, node->common->root);
    for (size_t i = 0; i < node->parts.count; i++)
        visit(binder, VECTOR_ITEMS(&node->parts, struct node *)[i]);
    if (binder->orders && is_asking(node))
        estimate_asking(node);
    else if (!node->settled)
        estimate_kind(node);
    finish(node);
    node->base = base_of(node);
    node->read = read_by(node);
}

void estimate_node(struct binder *binder, struct node *node)
{
    binder->estimates++;
    visit(binder, node);
}
