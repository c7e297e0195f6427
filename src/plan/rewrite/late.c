/* SPDX-License-Identifier: MIT */
/*
 * Late materialisation [Abadi 2007]: where a LIMIT leaves few of many rows,
 * columns that only its result shows are not carried there. One of them stands
 * for all that come from the same row of a table and carries the row's id in
 * their place; behind the LIMIT, a NODE_FETCH gets them by it.
 *
 * Texts are what this is for: all words of a text column that a program reads
 * are put in order before it runs. So a table's columns are fetched where a
 * text is one of them.
 */
#include "plan/rewrite/late.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/range.h"

/* Rows that a fetch gets at most, and how many more a table has. */
enum { FETCH_ROWS_MAX = 10000, ROWS_SHARE = 4 };

/* --------------------------------------------------------------- helpers -- */

struct node *late_copy(struct binder *binder, const struct node *node)
{
    struct node *copy =
        node_new(binder, node->kind, node->left, node->column_count);
    struct node_column *columns;

    if (copy == NULL)
        return NULL;
    columns = copy->columns;
    memcpy(columns, node->columns, node->column_count * sizeof *columns);
    *copy = *node;
    copy->columns = columns;
    copy->rewritten = NULL;
    return copy;
}

const struct late_source *late_source_of(const struct vector *sources,
                                         unsigned column)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct late_source *source = vector_at(sources, i);
        for (size_t k = 0; k < source->columns.count; k++)
            if (VECTOR_ITEMS(&source->columns, struct late_column)[k].column
                == column)
                return source;
    }
    return NULL;
}

/* Columns that now have ids of rows are described so; of a side that may have
 * no row, as NULLs, too. */
static void describe_ids(struct node *node, unsigned first,
                         const struct node *below, const struct vector *sources,
                         size_t begin)
{
    for (size_t i = begin; i < sources->count; i++) {
        const struct late_source *source = vector_at(sources, i);
        struct node_column *column = &node->columns[first + source->row];
        bool nullable = column->nullable;
        *column = below->columns[source->row];
        column->nullable |= nullable;
        range_add_zero(&column->range);
    }
}

/* --------------------------------------------------------------- selects -- */

/* Columns below that only wanted results show. */
static void want_below(struct node *node, const bool *wanted, bool *below,
                       bool *used)
{
    if (node->where != NULL)
        expression_reads(used, &node->where);
    for (unsigned i = 0; i < node->column_count; i++) {
        struct expression *e = node->results[i];
        if (wanted[i] && e->kind == EXPRESSION_COLUMN)
            below[e->column.number] = true;
        else
            expression_reads(used, &node->results[i]);
    }
    for (unsigned i = 0; i < node->left->column_count; i++)
        below[i] &= !used[i];
}

/* A source of the node below as one of the node's. */
static bool show_source(struct binder *binder, struct node *node,
                        const struct late_source *below, struct vector *sources)
{
    struct late_source source = { .table = below->table,
                                  .row = node->column_count,
                                  .columns = VECTOR_IN(binder->arena,
                                                       struct late_column) };

    for (unsigned i = 0; i < node->column_count; i++) {
        const struct expression *e = node->results[i];
        for (size_t k = 0; k < below->columns.count; k++) {
            const struct late_column *from = vector_at(&below->columns, k);
            struct late_column column = { i, from->from };
            if (e->kind != EXPRESSION_COLUMN
                || e->column.number != (int)from->column)
                continue;
            if (from->column == below->row && source.row == node->column_count)
                source.row = i;
            if (!vector_append(&source.columns, &column, 1))
                return false;
        }
    }
    assert(source.row < node->column_count);
    return vector_append(sources, &source, 1);
}

/* Results that show ids of rows. */
static struct node *show_ids(struct binder *binder, struct node *node,
                             const struct vector *below)
{
    struct expression **results = arena_alloc(
        binder->arena, (node->column_count + (size_t)1) * sizeof *results);

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        struct expression *e = node->results[i];
        const struct late_source *source =
            e->kind == EXPRESSION_COLUMN
                ? late_source_of(below, (unsigned)e->column.number)
                : NULL;
        results[i] = e;
        if (source == NULL || (int)source->row != e->column.number)
            continue;
        results[i] = node_column(binder, node->left, source->row, e->at);
        if (results[i] == NULL)
            return NULL;
        node->columns[i] = node->left->columns[source->row];
    }
    node->results = results;
    return node->left->kind == NODE_SELECT && binder->merges
               ? node_merge(binder, node)
               : node;
}

static struct node *late_select(struct binder *binder, struct node *node,
                                const bool *wanted, struct vector *sources)
{
    unsigned count = node->left->column_count;
    bool *below = column_flags(binder, count, false),
         *used = column_flags(binder, count, false);
    struct vector found = VECTOR_IN(binder->arena, struct late_source);
    struct node *left, *copy;

    if (node->left->kind == NODE_TABLE)
        return late_over_table(binder, node, wanted, sources);
    if (below == NULL || used == NULL)
        return NULL;
    want_below(node, wanted, below, used);
    left = late_columns(binder, node->left, below, &found);
    if (left == NULL || found.count == 0)
        return left != NULL ? node : NULL;
    copy = late_copy(binder, node);
    if (copy == NULL)
        return NULL;
    copy->left = left;
    for (size_t i = 0; i < found.count; i++)
        if (!show_source(binder, copy, vector_at(&found, i), sources))
            return error_no_memory(binder->error), NULL;
    return show_ids(binder, copy, &found);
}

/* ----------------------------------------------------------------- joins -- */

/* The columns of both sides that the join reads. */
static bool *read_by_join(struct binder *binder, struct node *node)
{
    unsigned middle = node->left->column_count;
    bool *used =
        column_flags(binder, middle + node->right->column_count, false);
    const bool *none = column_flags(binder, node->column_count, false);

    if (used == NULL || none == NULL)
        return NULL;
    node_reads(node, none, used, used + middle);
    return used;
}

/* One side of the join's copy, whose columns begin at `first`. */
static bool late_side(struct binder *binder, struct node *copy,
                      struct node **side, unsigned first, const bool *wanted,
                      struct vector *sources)
{
    size_t begin = sources->count;
    struct node *made = late_columns(binder, *side, wanted, sources);

    if (made == NULL)
        return false;
    *side = made;
    describe_ids(copy, first, made, sources, begin);
    for (size_t i = begin; i < sources->count; i++) {
        struct late_source *source = vector_at(sources, i);
        source->row += first;
        for (size_t k = 0; k < source->columns.count; k++)
            VECTOR_ITEMS(&source->columns, struct late_column)
        [k].column += first;
    }
    return true;
}

static struct node *late_join(struct binder *binder, struct node *node,
                              const bool *wanted, struct vector *sources)
{
    unsigned middle = node->left->column_count;
    bool both = node->join.kind <= JOIN_FULL;
    bool *used = read_by_join(binder, node);
    struct node *copy = late_copy(binder, node);
    size_t begin = sources->count;

    if (used == NULL || copy == NULL)
        return NULL;
    for (unsigned i = 0; i < (both ? node->column_count : middle); i++)
        used[i] = wanted[i] && !used[i];
    if (!late_side(binder, copy, &copy->left, 0, used, sources))
        return NULL;
    if (both
        && !late_side(binder, copy, &copy->right, middle, used + middle,
                      sources))
        return NULL;
    return sources->count > begin ? copy : node;
}

/* --------------------------------------------------------- sort and limit -- */

/* The rows below, in another order, or some of them. */
static struct node *late_rows(struct binder *binder, struct node *node,
                              const bool *wanted, struct vector *sources)
{
    bool *below = column_flags(binder, node->left->column_count, false);
    size_t begin = sources->count;
    struct node *left, *copy;

    if (below == NULL)
        return NULL;
    memcpy(below, wanted, node->column_count * sizeof *below);
    if (node->kind == NODE_SORT)
        for (size_t i = 0; i < node->sort.keys.count; i++)
            below[VECTOR_ITEMS(&node->sort.keys, struct step_key)[i].column] =
                false;
    left = late_columns(binder, node->left, below, sources);
    if (left == NULL || sources->count == begin)
        return left != NULL ? node : NULL;
    copy = late_copy(binder, node);
    if (copy == NULL)
        return NULL;
    copy->left = left;
    describe_ids(copy, 0, left, sources, begin);
    return copy;
}

struct node *late_columns(struct binder *binder, struct node *node,
                          const bool *wanted, struct vector *sources)
{
    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), NULL;
    switch (node->kind) {
    case NODE_TABLE:
        return late_table(binder, node, wanted, sources);
    case NODE_SELECT:
        return late_select(binder, node, wanted, sources);
    case NODE_JOIN:
        return late_join(binder, node, wanted, sources);
    case NODE_GROUP:
        return late_group(binder, node, wanted, sources);
    case NODE_SORT:
    case NODE_LIMIT:
        return late_rows(binder, node, wanted, sources);
    default:
        return node;
    }
}

/* ----------------------------------------------------------------- fetch -- */

/* The node that fetches a source's columns behind those of `below`; they are
 * described as the columns of `node` whose values they are. `places[i]`
 * becomes where column i of that is. */
static struct node *add_fetch(struct binder *binder, struct node *below,
                              const struct late_source *source,
                              const struct node *node, int *places)
{
    unsigned before = below->column_count;
    struct node *made =
        node_wider(binder, NODE_FETCH, below, (unsigned)source->columns.count);

    if (made == NULL)
        return NULL;
    made->table = source->table->table;
    made->fetch.row = (int)source->row;
    made->fetch.columns = VECTOR_IN(binder->arena, int);
    for (unsigned i = 0; i < source->columns.count; i++) {
        const struct late_column *column = vector_at(&source->columns, i);
        made->columns[before + i] = node->columns[column->column];
        places[column->column] = (int)(before + i);
        if (!vector_append(&made->fetch.columns, &column->from, 1))
            return error_no_memory(binder->error), NULL;
    }
    return made;
}

/* The columns of `node`, of whose copy `late` some are fetched. */
static struct node *fetch_all(struct binder *binder, const struct node *node,
                              struct node *late, const struct vector *sources)
{
    int *places =
        arena_alloc(binder->arena, node->column_count * sizeof *places);

    if (places == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++)
        places[i] = (int)i;
    for (size_t i = 0; i < sources->count && late != NULL; i++)
        late = add_fetch(binder, late, vector_at(sources, i), node, places);
    return late != NULL ? node_columns(binder, late, places, node->column_count)
                        : NULL;
}

/* How many rows a node gives at most, where it is one that cuts them off. */
static uint64_t rows_cut(const struct node *node)
{
    uint64_t limit = UINT64_MAX;

    if (node->kind == NODE_SORT)
        limit = node->sort.limit;
    else if (node->kind == NODE_LIMIT && node->right == NULL)
        limit = node->limit.limit;
    return limit;
}

/* Whether all tables have many more rows than are left. */
static bool pays(const struct vector *sources, uint64_t rows)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct late_source *source = vector_at(sources, i);
        if (source->table->table->rows / ROWS_SHARE < rows)
            return false;
    }
    return sources->count > 0;
}

/* What stands in the place of a node that cuts rows off. */
static struct node *fetch_behind(struct binder *binder, struct node *node)
{
    struct vector sources = VECTOR_IN(binder->arena, struct late_source);
    bool *wanted = column_flags(binder, node->column_count, true);
    struct node *late;

    if (wanted == NULL)
        return NULL;
    late = late_rows(binder, node, wanted, &sources);
    if (late == NULL || !pays(&sources, rows_cut(node)))
        return late != NULL ? node : NULL;
    return fetch_all(binder, node, late, &sources);
}

/* ------------------------------------------------------------------ walk -- */

/* A node that was looked at, and what stands in its place. */
struct seen {
    const struct node *node;
    struct node *made;
};

struct walk {
    struct binder *binder;
    struct vector seen; /* of struct seen: the nodes that cut rows off */
};

static bool walk_tree(struct walk *walk, struct node **place);

/* A tree that stands in two places stays one. */
static bool walk_cut(struct walk *walk, struct node **place)
{
    struct seen seen = { *place, NULL };

    for (size_t i = 0; i < walk->seen.count; i++) {
        const struct seen *before = vector_at(&walk->seen, i);
        if (before->node == *place || before->made == *place) {
            *place = before->made;
            return true;
        }
    }
    seen.made = fetch_behind(walk->binder, *place);
    if (seen.made == NULL)
        return false;
    *place = seen.made;
    if (!vector_append(&walk->seen, &seen, 1))
        return error_no_memory(walk->binder->error), false;
    return true;
}

static bool walk_below(struct walk *walk, struct node *node)
{
    bool done = (node->left == NULL || walk_tree(walk, &node->left))
                && (node->right == NULL || walk_tree(walk, &node->right));

    for (size_t i = 0; i < node->parts.count && done; i++)
        done = walk_tree(walk, vector_at(&node->parts, i));
    return done;
}

static bool walk_tree(struct walk *walk, struct node **place)
{
    struct node *node = *place, *left = node->left;

    if (stack_is_short())
        return stack_refuse(walk->binder->error, (struct position){ 0 }), false;
    if (!walk_below(walk, node))
        return false;
    if (rows_cut(node) <= FETCH_ROWS_MAX && !walk_cut(walk, place))
        return false;
    if (node->kind == NODE_SELECT && node->left != left && walk->binder->merges)
        return node_merge(walk->binder, node) != NULL;
    return true;
}

struct node *fetch_late(struct binder *binder, struct node *root)
{
    struct walk walk = { .binder = binder,
                         .seen = VECTOR_IN(binder->arena, struct seen) };

    return walk_tree(&walk, &root) ? root : NULL;
}
