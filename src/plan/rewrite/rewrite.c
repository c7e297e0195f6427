/* SPDX-License-Identifier: MIT */
/*
 * Rewriting: what a query is bound to (bind) becomes what is lowered (lower),
 * pass by pass. A pass takes a node and gives one that means the same: the
 * same columns, and the same rows in an order that follows from statement and
 * data alone.
 *
 * Most passes go through the tree from the tables up, all of them at one node
 * before the node above it, since what may be done there depends on what became
 * of the nodes below; queries inside of a node's expressions come before the
 * node. Those that need to see more than a node and what is below it take the
 * whole tree, as it is bound or once all nodes are rewritten.
 */
#include "plan/rewrite/rewrite.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/condition/keyed_range.h"
#include "plan/condition/split.h"
#include "plan/make/common.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/rewrite/extract.h"
#include "plan/rewrite/follow.h"
#include "plan/rewrite/imply.h"
#include "plan/rewrite/late.h"
#include "plan/rewrite/order.h"
#include "plan/rewrite/outer.h"
#include "plan/rewrite/reduce.h"
#include "plan/rewrite/semi_late.h"
#include "plan/rewrite/trace.h"
#include "plan/group/group_again.h"
#include "plan/group/group_modes.h"
#include "plan/simplify/computed_keys.h"
#include "plan/simplify/facts_group.h"
#include "plan/simplify/group_early.h"
#include "plan/simplify/group_firsts.h"
#include "plan/simplify/group_key.h"
#include "plan/simplify/partner_extremes.h"
#include "plan/simplify/refused.h"
#include "plan/simplify/share.h"
#include "plan/simplify/shifted_sums.h"
#include "plan/simplify/side_values.h"
#include "plan/simplify/tree_pass.h"
#include "plan/simplify/unread.h"
#include "plan/texts/group_calls.h"
#include "plan/texts/late_calls.h"
#include "plan/texts/late_maps.h"
#include "plan/texts/nested_calls.h"
#include "plan/index/use_index.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"
#include "plan/tree/passes.h"

/* ----------------------------------------------------------------- passes -- */

/* Conditions of FROM and WHERE, part by part: split.c. */
static struct node *split_conditions(struct binder *binder, struct node *node)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    enum vdbq_status status = VDBQ_OK;

    if (node->kind != NODE_PRODUCT && node->kind != NODE_OUTER)
        return node;
    for (size_t i = 0; i < node->conditions.count && status == VDBQ_OK; i++)
        status = split_condition(
            binder, VECTOR_ITEMS(&node->conditions, struct expression *)[i],
            &parts);
    node->conditions = parts;
    return status == VDBQ_OK ? node : NULL;
}

static struct node *filter_parts(struct binder *binder, struct node *node)
{
    return node->kind == NODE_PRODUCT ? filter_product(binder, node) : node;
}

static struct node *join_parts(struct binder *binder, struct node *node)
{
    return node->kind == NODE_PRODUCT ? join_product(binder, node) : node;
}

static struct node *join_outer(struct binder *binder, struct node *node)
{
    struct node *const sides[2] = { node->left, node->right };

    return node->kind == NODE_OUTER
               ? join_on(binder, node->join.kind, sides, &node->conditions)
               : node;
}

/* The places of all that a NODE_SELECT computes, and their number: results
 * first. */
static struct expression ***places_of(struct binder *binder, struct node *node,
                                      size_t *count)
{
    struct expression ***places =
        arena_alloc(binder->arena, (node->column_count + 1) * sizeof(*places));

    *count = node->column_count;
    if (places == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++)
        places[i] = &node->results[i];
    if (node->where != NULL)
        places[(*count)++] = &node->where;
    return places;
}

/* More may be known of results than when they were bound. */
static void describe_results(struct node *node)
{
    for (unsigned i = 0; i < node->column_count; i++) {
        node->columns[i].range = node->results[i]->range;
        node->columns[i].nullable = node->results[i]->nullable;
    }
}

static struct node *extract_from(
    struct binder *binder, struct node *node,
    enum vdbq_status (*extract)(struct binder *binder, struct node **node,
                                struct expression **const *expressions,
                                size_t count))
{
    struct expression ***places;
    size_t count;

    if (node->kind != NODE_SELECT)
        return node;
    places = places_of(binder, node, &count);
    if (places == NULL
        || extract(binder, &node->left, places, count) != VDBQ_OK)
        return NULL;
    describe_results(node);
    return node;
}

static struct node *windows_pass(struct binder *binder, struct node *node)
{
    return extract_from(binder, node, extract_windows);
}

static struct node *unnest_pass(struct binder *binder, struct node *node)
{
    return extract_from(binder, node, extract_joins);
}

static struct node *subqueries_pass(struct binder *binder, struct node *node)
{
    return extract_from(binder, node, extract);
}

/* Of LIMIT 0 nothing below is computed, and so nothing fails there. */
static struct node *limit_nothing(struct binder *binder, struct node *node)
{
    unsigned count = node->column_count;
    struct vdbq_vector *none;

    if (node->kind != NODE_LIMIT || node->right != NULL || node->limit.limit > 0
        || count == 0)
        return node;
    none = arena_alloc(binder->arena, count * sizeof *none);
    for (unsigned i = 0; none != NULL && i < count; i++)
        if (!constants_room(binder->arena, node->columns[i].type, 0, &none[i]))
            none = NULL;
    if (none != NULL)
        return node_values(binder, node->columns, count, none, 0);
    error_no_memory(binder->error);
    return NULL;
}

/* Who sorts for a LIMIT keeps no more rows than that. */
static struct node *limit_sort(struct binder *binder, struct node *node)
{
    struct node *sort = node->left;

    (void)binder;
    if (node->kind != NODE_LIMIT || node->right != NULL
        || sort->kind != NODE_SORT || sort->sort.limit != UINT64_MAX
        || sort->sort.offset != 0)
        return node;
    assert(sort->column_count == node->column_count);
    sort->sort.offset = node->limit.offset;
    sort->sort.limit = node->limit.limit;
    sort->columns = node->columns;
    return sort;
}

static struct node *merge_selects(struct binder *binder, struct node *node)
{
    return node->kind == NODE_SELECT ? node_merge(binder, node) : node;
}

/* A part of another pass that can be left out. */
static struct node *leave(struct binder *binder, struct node *node)
{
    (void)binder;
    return node;
}

enum pass_when {
    PASS_NODE, /* at each node                                        */
    PASS_TREE, /* the whole tree, once all of its nodes are rewritten, and
                  each common subplan as one of its own               */
    PASS_ALL   /* the tree with its common subplans                   */
};

#define SINK_CONDITIONS "sink conditions"

/* The passes, in order. */
static const struct pass {
    const char *name;
    tree_replace apply; /* to the node, or the tree, that `when` says ...   */
    tree_replace each;  /* ... or to each node of it, by tree_pass()        */
    const char *text;   /* what it does, in a sentence                        */
    bool optional;      /* without it there is a plan, too                    */
    enum pass_when when;
} passes[] = {
    { .name = "split conditions",
      .apply = split_conditions,
      .text = "Conditions are taken apart at ANDs, and at what the branches of "
              "an OR have in common." },
    { .name = SINK_CONDITIONS,
      .apply = leave, /* visit() asks for it, before what is below */
      .text = "Conditions about the left side of left joins are tested where "
              "that is joined.",
      .optional = true },
    { .name = "imply filters",
      .apply = imply_filters,
      .text = "What all branches of an OR ask of one part of FROM is a "
              "condition of its own.",
      .optional = true },
    { .name = "filter early",
      .apply = filter_parts,
      .text = "Conditions about one part of FROM are tested as far down in it "
              "as they can be; there, EXISTS and IN become joins." },
    { .name = "filter partitions",
      .apply = leave, /* push.c asks for it */
      .text = "Conditions that keep or refuse whole partitions of a window are "
              "tested below it.",
      .optional = true },
    { .name = "join in order",
      .apply = join_parts,
      .text = "What FROM names is joined in the order that costs least; "
              "conditions are tested as soon as their columns are there." },
    { .name = "join outer",
      .apply = join_outer,
      .text = "Outer joins get keys and ranges, and test what concerns one "
              "side alone before they join." },
    { .name = "extract windows",
      .apply = windows_pass,
      .text = "Window functions get a node of their own." },
    { .name = "unnest",
      .apply = unnest_pass,
      .text = "Subqueries that ask for values of the rows around them are run "
              "for all these values at once, and joined.",
      .optional = true },
    { .name = "extract subqueries",
      .apply = subqueries_pass,
      .text =
          "Subqueries become nodes of their own; so do functions that the host "
          "computes." },
    { .name = "merge",
      .apply = merge_selects,
      .text = "Nodes that compute one over the other become one.",
      .optional = true },
    { .name = "limit nothing",
      .apply = limit_nothing,
      .text = "A LIMIT of no rows asks for none." },
    { .name = "limit sorts",
      .apply = limit_sort,
      .text = "A sort of which only the first rows are wanted keeps no others.",
      .optional = true },
    { .name = "refuse nulls",
      .apply = refuse_nulls,
      .text = "Outer joins become inner ones where rows without a partner are "
              "refused further up.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "anti joins",
      .each = anti_joins,
      .text = "Left joins of which only rows without a partner are kept become "
              "anti joins.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "drop unread",
      .apply = drop_unread,
      .text =
          "Outer joins by a unique key, windows, functions and subqueries go "
          "where nobody reads what they add.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "ungroup",
      .each = ungroup,
      .text =
          "Groups and DISTINCTs of which each has one row, since their keys "
          "are unique, are no more.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "group early",
      .each = group_early,
      .text = "Where each left row of a join is a group, the right rows are "
              "grouped "
              "by the join's key before it.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "computed keys",
      .each = computed_keys,
      .text = "Keys of a group that are constants or computed of other keys "
              "are computed of the groups.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "shifted sums",
      .each = shifted_sums,
      .text = "Sums that differ in a constant are made of one sum and a count.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "facts",
      .each = group_facts,
      .text =
          "Counts, minima and maxima of a whole table are taken from what the "
          "catalogue keeps of it.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "follow",
      .apply = follow,
      .text =
          "What holds for a key of a join on one side is tested on the other "
          "side, too.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "semi late",
      .apply = semi_late,
      .text =
          "Semi and anti joins that no program can probe are made over inner "
          "joins that leave few rows.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "side values",
      .each = side_values,
      .text = "What a condition on all pairs of rows computes of the smaller "
              "side alone is computed once a row of that.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "partner extremes",
      .each = partner_extremes,
      .text =
          "Whether a row has a partner that compares with it is told by the "
          "least and the greatest value of its key.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "group groups",
      .each = group_again,
      .text = "Groups of the same rows are made of those that have more keys, "
              "where these cost less to read.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "share early",
      .apply = share_early,
      .text = "Equal queries inside of one are one before joins are reduced, "
              "for the rows of one of them alone.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "reduce",
      .apply = reduce,
      .text =
          "Rows that find no partner in a join are left out before they are "
          "grouped or indexed, by a semi join with the keys of the others.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "key ranges",
      .each = keyed_ranges,
      .text =
          "Joins by keys that have many partners, of which a condition bounds "
          "a value, look for both at once.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "call late",
      .apply = late_calls,
      .text =
          "Calls of texts are computed row by row where few rows are left for "
          "the words that there are.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "map late",
      .each = late_maps,
      .text = "Functions that the host computes are computed for the rows that "
              "a LIMIT keeps.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "fetch late",
      .apply = fetch_late,
      .text =
          "Columns that only the rows behind a LIMIT show are fetched there, "
          "by the ids of their rows.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "join answers",
      .apply = join_answers,
      .text = "Subqueries that give one value, whatever row asks, are joined.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "group modes",
      .each = group_modes,
      .text =
          "The most frequent values of groups are found among the groups by "
          "these, where they are few.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "first rows",
      .each = group_firsts,
      .text = "Quantiles of groups are computed for the first row of each, "
              "where the groups show nothing else.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "group calls",
      .each = group_calls,
      .text =
          "Functions of few different values are computed of groups by these, "
          "where rows are grouped by what they give.",
      .optional = true,
      .when = PASS_TREE },
    { .name = "share",
      .apply = share_nodes,
      .text = "Equal queries inside of one are run once.",
      .optional = true,
      .when = PASS_ALL },
    { .name = "use indexes",
      .apply = use_indexes,
      .text = "Rows of a table of which few are wanted are found by an index.",
      .optional = true,
      .when = PASS_ALL },
    { .name = "first calls",
      .apply = first_calls,
      .text = "Texts of which a sort with a LIMIT wants the first are computed "
              "row by row, where they are many.",
      .optional = true,
      .when = PASS_ALL },
    { .name = "nest calls",
      .apply = nested_calls,
      .text = "What is asked of texts that calls give for many words is asked "
              "when they are made.",
      .optional = true,
      .when = PASS_ALL },
    { .name = "first conditions",
      .apply = first_conditions,
      .text =
          "What a LIMIT's condition asks of texts is asked of the rows that "
          "are looked at, where these are few for the words that there are.",
      .optional = true,
      .when = PASS_ALL },
};

enum { PASSES = sizeof passes / sizeof *passes };

/* ------------------------------------------------------------------- walk -- */

static bool visit(struct binder *binder, struct node **place);

static bool visit_query(struct binder *binder, struct subquery *subquery)
{
    unsigned asking = binder->asking;
    bool done;

    binder->asking += subquery->parameters.count > 0;
    done = visit(binder, &subquery->node);
    binder->asking = asking;
    return done;
}

static bool visit_subqueries(void *binder, struct expression **operand)
{
    struct expression *e = *operand;

    if (stack_is_short()) {
        stack_refuse(((struct binder *)binder)->error, e->at);
        return false;
    }
    if (!expression_each(e, visit_subqueries, binder))
        return false;
    return e->kind != EXPRESSION_SUBQUERY || visit_query(binder, e->subquery);
}

/* The queries inside of a node's expressions. */
static bool visit_expressions(struct binder *binder, struct node *node)
{
    bool done = node->where == NULL || visit_subqueries(binder, &node->where);

    for (size_t i = 0; i < node->conditions.count && done; i++)
        done = visit_subqueries(binder, vector_at(&node->conditions, i));
    if (node->kind == NODE_SELECT)
        for (unsigned i = 0; i < node->column_count && done; i++)
            done = visit_subqueries(binder, &node->results[i]);
    return done;
}

static bool visit_below(struct binder *binder, struct node *node)
{
    bool done = (node->left == NULL || visit(binder, &node->left))
                && (node->right == NULL || visit(binder, &node->right));

    for (size_t i = 0; i < node->parts.count && done; i++)
        done = visit(binder, vector_at(&node->parts, i));
    return done;
}

/* What a pass may change of a node without making a new one. */
struct state {
    const struct node *node, *left;
    unsigned columns;
    size_t conditions;
};

static struct state state_of(const struct node *node)
{
    return (struct state){ node, node->left, node->column_count,
                           node->conditions.count };
}

/* One pass at one node. */
static bool apply_pass(struct binder *binder, const struct pass *pass,
                       struct node **place)
{
    struct state before = state_of(*place), after;

    *place = pass->each != NULL ? tree_pass(binder, *place, pass->each)
                                : pass->apply(binder, *place);
    if (*place == NULL)
        return false;
    after = state_of(*place);
    assert(after.columns == before.columns); /* those above name them */
    if (binder->trace != NULL && pass->when != PASS_NODE)
        trace_tree(binder->trace, pass->name, pass->text);
    else if (binder->trace != NULL
             && (after.node != before.node || after.left != before.left
                 || after.conditions != before.conditions))
        trace_pass(binder->trace, pass->name, pass->text);
    return true;
}

static bool apply_passes(struct binder *binder, enum pass_when when,
                         struct node **place)
{
    for (size_t i = 0; i < PASSES; i++)
        if (passes[i].when == when && pass_is_on(binder, passes[i].name)
            && !apply_pass(binder, &passes[i], place))
            return false;
    return true;
}

/* A common subplan is rewritten once, as if nothing were around it; one that is
 * read once is none. */
static bool visit_common(struct binder *binder, struct node **place)
{
    struct common *common = (*place)->common;
    unsigned asking = binder->asking;
    bool done;

    if (common->readers == 1 && !common->recursive) {
        *place = common_inline(*place);
        return visit(binder, place);
    }
    if (common->ready)
        return true;
    binder->asking = common->asks ? asking : 0;
    done = visit(binder, &common->root);
    binder->asking = asking;
    if (done)
        common_settle(binder, common);
    return done;
}

/* All passes at one node, after those below it. A query that stands in two
 * places is rewritten once. */
static bool visit(struct binder *binder, struct node **place)
{
    struct node *bound = *place;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (bound->rewritten != NULL) {
        *place = bound->rewritten;
        return true;
    }
    if (bound->kind == NODE_COMMON)
        return visit_common(binder, place);
    if (bound->kind == NODE_PRODUCT && pass_is_on(binder, SINK_CONDITIONS)
        && !outer_sink(binder, bound))
        return false;
    if (!visit_below(binder, bound) || !visit_expressions(binder, bound))
        return false;
    if (!apply_passes(binder, PASS_NODE, place))
        return false;
    (*place)->rewritten = *place;
    bound->rewritten = *place;
    return true;
}

/* Whether a pass of that name may be left out. */
static bool is_optional(const char *name, size_t length)
{
    for (size_t i = 0; i < PASSES; i++)
        if (passes[i].optional && strlen(passes[i].name) == length
            && strncmp(passes[i].name, name, length) == 0)
            return true;
    return false;
}

static enum vdbq_status refuse_pass(struct binder *binder, const char *asked,
                                    size_t length)
{
    char names[ERROR_HINT_MAX / 2] = "";

    for (size_t i = 0; i < PASSES; i++)
        if (passes[i].optional)
            snprintf(names + strlen(names), sizeof names - strlen(names),
                     " -%s,", passes[i].name);
    assert(strlen(names) + 1 < sizeof names); /* all of them: tests read it */
    names[strlen(names) - 1] = '\0';
    error_set(binder->error, VDBQ_RANGE,
              "VDBQ_PASSES: \"%.*s\" is no pass to leave out", (int)length,
              asked);
    return error_hint(binder->error, "there are%s", names);
}

/* VDBQ_PASSES, for tests: names of passes that are left out, each behind a
 * minus, with commas between them, like "-unnest,-merge". */
static enum vdbq_status read_passes(struct binder *binder)
{
    const char *asked = getenv("VDBQ_PASSES");

    binder->passes_out = asked != NULL && asked[0] != '\0' ? asked : NULL;
    for (const char *at = binder->passes_out; at != NULL && at[0] != '\0';) {
        size_t length = strcspn(at, ",");
        if (at[0] != '-' || !is_optional(at + 1, length - 1))
            return refuse_pass(binder, at, length);
        at += length + (at[length] == ',');
    }
    return VDBQ_OK;
}

/* Each common subplan is a tree of its own, until they take their places. */
static bool apply_tree_passes(struct binder *binder, struct node **root)
{
    struct common *commons = binder->commons;

    binder->commons = binder->commons_last = NULL;
    for (struct common *common = commons; common != NULL;
         common = common->next) {
        if (!common->ready)
            continue;
        if (!apply_passes(binder, PASS_TREE, &common->root))
            return false;
        common_settle(binder, common);
    }
    return apply_passes(binder, PASS_TREE, root)
           && (commons == NULL || common_expand(binder, root))
           && apply_passes(binder, PASS_ALL, root);
}

struct node *rewrite(struct binder *binder, struct node *node)
{
    if (read_passes(binder) != VDBQ_OK)
        return NULL;
    if (binder->trace != NULL)
        trace_bound(binder->trace, &node);
    binder->bound = true;
    binder->merges = pass_is_on(binder, "merge");
    binder->orders = true;
    if (!visit(binder, &node))
        return NULL;
    binder->orders = false;
    return apply_tree_passes(binder, &node) ? node : NULL;
}
