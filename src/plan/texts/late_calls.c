/* SPDX-License-Identifier: MIT */
/*
 * Late calls:
 *
 *   SELECT upper(name) FROM t WHERE day = ?
 *
 * A program looks a call up that was computed for each word of the column: one
 * after the other, and once for rows that are alike. Where few rows are left of
 * many words, nearly all of that is for nothing. So the rows that are left come
 * first, and a NODE_MAP computes the call for each of them. They are left by the
 * condition, by those parts of it that call nothing, or by a LIMIT over it. Texts
 * that a statement shows, or groups tell apart, are late also where about as many
 * rows are left as there are words: looked up, they would be words, in order. So are
 * those of which a sort with a LIMIT wants the first, unless an index has the order.
 *
 * What may fail is computed for the same rows as before: behind a sort with a
 * LIMIT, where it would be for fewer, nothing that fails is late, but for calls that
 * fail of texts of 256 MB alone.
 */
#include "plan/texts/late_calls.h"

#include <assert.h>
#include <math.h>

#include "base/hostile.h"
#include "base/vector.h"
#include "plan/condition/split.h"
#include "plan/estimate/estimate.h"
#include "plan/make/logic.h"
#include "plan/make/lookup.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/simplify/tree_pass.h"
#include "plan/texts/late_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_readers.h"
#include "plan/tree/range.h"

enum {
    /* of a column; below, they are as good as computed */
    WORDS_LEAST = HOSTILE(1, 500),
    WORDS_SHARE = HOSTILE(1, 8), /* times the rows that are left, at least */
    /* times as many rows may be looked at as a LIMIT is expected to */
    FIRST_MANY = 8
};
#define WORDS_SHARE_TEXT                                                       \
    0.5 /* ... where texts come of it, nearly all different */

/* Calls over the rows of a node. */
struct calls {
    struct binder *binder;
    const struct node *below;
    double rows;      /* that are left of it                            */
    double most;      /* rows of it that a LIMIT asks for, likely         */
    bool any_failing; /* calls that may fail are meant, too             */
    bool leave;       /* ... and a statement shows or groups them     */
    /* ... and a sort wants the first of these; or NULL */
    const struct expression *first;
    struct vector stay;  /* of struct expression *: looked up in any case  */
    struct vector found; /* ... computed late                              */
    struct node *map;    /* that has those: the last columns               */
};

/* --------------------------------------------------------------- looking -- */

/* Whether a call is of a column with many words, or of a choice of such. */
static bool is_costly(const struct calls *calls, const struct expression *e)
{
    return e->kind == EXPRESSION_LOOKUP
           && late_calls_words_in(calls->below, e->left) >= WORDS_LEAST;
}

/* How many words a column has for each row that is left, at least, so that a call
 * of it is late. Looked up, texts become words, which are sorted: with as many of
 * them as rows that takes longer than to make them row by row. */
static double words_share(const struct calls *calls, const struct expression *e)
{
    bool many = (calls->leave || e == calls->first) && late_calls_tell_apart(e);
    return e->type == VDBQ_TEXT && many ? WORDS_SHARE_TEXT : WORDS_SHARE;
}

/* ... far more than there are rows, or of texts about as many. */
static bool is_late(const struct calls *calls, const struct expression *e)
{
    return is_costly(calls, e) && (calls->any_failing || !e->lookup.fails)
           && (calls->most == INFINITY || e->type != VDBQ_TEXT)
           && late_calls_words_in(calls->below, e->left)
                  >= calls->rows * words_share(calls, e)
           && expression_find(&calls->stay, 0, e) < 0;
}

static bool has_no_costly(void *context, struct expression **operand)
{
    return !is_costly(context, *operand)
           && expression_each(*operand, has_no_costly, context);
}

static bool collect(struct vector *list, struct expression **e)
{
    return expression_find(list, 0, *e) >= 0 || vector_append(list, e, 1);
}

/* A visitor; false: no memory. */
static bool collect_stays(void *context, struct expression **operand)
{
    struct calls *calls = context;
    if ((*operand)->kind == EXPRESSION_LOOKUP
        && !collect(&calls->stay, operand))
        return false;
    return expression_each(*operand, collect_stays, calls);
}

/* Likewise. */
static bool collect_late(void *context, struct expression **operand)
{
    struct calls *calls = context;
    return is_late(calls, *operand)
               ? collect(&calls->found, operand)
               : expression_each(*operand, collect_late, calls);
}

static bool collect_all(struct calls *calls, struct expression **results,
                        unsigned count)
{
    bool done = true;
    for (unsigned i = 0; i < count && done; i++)
        done = collect_late(calls, &results[i]);
    return done || (error_no_memory(calls->binder->error), false);
}

static struct calls begin(struct binder *binder, const struct node *below)
{
    return (
        struct calls){ .binder = binder,
                       .below = below,
                       .most = INFINITY,
                       .any_failing = true,
                       .stay = VECTOR_IN(binder->arena, struct expression *),
                       .found = VECTOR_IN(binder->arena, struct expression *) };
}

/* ---------------------------------------------------------------- the map -- */

/* What a call gives, or 0 where that is NULL. */
static void describe(struct node_column *column, const struct expression *e)
{
    *column = node_column_of(e);
    column->name = "";
    range_add_zero(&column->range);
}

/* The call of a column below the map. */
static bool add_function(struct calls *calls, const struct expression *e,
                         int column)
{
    struct vector *functions = &calls->map->map.functions;
    struct step_function function = {
        .name = e->lookup.call,
        .looks_up = true,
        .arguments = VECTOR_IN(calls->binder->arena, int),
        .then = VECTOR_IN(calls->binder->arena, const char *),
        .at = e->at
    };
    describe(
        &calls->map->columns[calls->map->left->column_count + functions->count],
        e);
    return vector_append(&function.arguments, &column, 1)
           && vector_append(functions, &function, 1);
}

/* All that was found, over the rows that are left; false: a failure. */
static bool make_map(struct calls *calls, struct node *rows)
{
    struct expression *const *found =
        VECTOR_ITEMS(&calls->found, struct expression *);
    int *columns =
        arena_alloc(calls->binder->arena, calls->found.count * sizeof *columns);
    bool done = true;
    assert(calls->found.count > 0);
    if (columns == NULL)
        return error_no_memory(calls->binder->error), false;
    for (size_t i = 0; i < calls->found.count; i++) {
        columns[i] = node_column_for(calls->binder, &rows, found[i]->left);
        if (columns[i] < 0)
            return false;
    }
    calls->map =
        node_wider(calls->binder, NODE_MAP, rows, (unsigned)calls->found.count);
    if (calls->map == NULL)
        return false;
    calls->map->map.functions =
        VECTOR_IN(calls->binder->arena, struct step_function);
    for (size_t i = 0; i < calls->found.count && done; i++)
        done = add_function(calls, found[i], columns[i]);
    return done || (error_no_memory(calls->binder->error), false);
}

static struct expression *stand_in(void *context, struct expression *e,
                                   bool *failed)
{
    const struct calls *calls = context;
    int number = expression_find(&calls->found, 0, e);
    if (number < 0)
        return NULL;
    struct expression *made =
        node_column(calls->binder, calls->map,
                    calls->map->left->column_count + (unsigned)number, e->at);
    *failed = made == NULL;
    if (made != NULL)
        made->name = e->name;
    return made;
}

static struct expression *over_map(struct calls *calls, struct expression *e)
{
    return expression_replace(calls->binder, e, stand_in, calls);
}

struct node *late_in_place(struct binder *binder, const struct node *node,
                           struct node *below, struct expression *where,
                           struct expression *const *results)
{
    struct node *made =
        node_select(binder, below, where, results, NULL, node->column_count);
    for (unsigned i = 0; made != NULL && i < node->column_count; i++) {
        assert(made->columns[i].type == node->columns[i].type);
        made->columns[i].name = node->columns[i].name;
        made->columns[i].affine = node->columns[i].affine;
        made->columns[i].collating = node->columns[i].collating;
    }
    return made;
}

/* Results over the map, in the place of `node`; where[0] NULL: of all rows. */
static struct node *make_select(struct calls *calls, const struct node *node,
                                struct expression *where,
                                struct expression **results)
{
    for (unsigned i = 0; i < node->column_count; i++) {
        results[i] = over_map(calls, results[i]);
        if (results[i] == NULL)
            return NULL;
    }
    return late_in_place(calls->binder, node, calls->map, where, results);
}

/* A list of its own, which may change. */
static struct expression **copy_results(struct binder *binder,
                                        const struct node *select)
{
    struct expression **results = arena_alloc(
        binder->arena, (select->column_count + (size_t)1) * sizeof *results);
    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < select->column_count; i++)
        results[i] = select->results[i];
    return results;
}

/* ------------------------------------------------------------ a condition -- */

/* Both, or the one that there is; NULL: a failure. */
static struct expression *both(struct binder *binder, struct expression *a,
                               struct expression *b)
{
    struct ast_expression place = { 0 };
    return a == NULL ? b : expression_logic(binder, AST_AND, a, b, &place);
}

/* A SELECT's condition: the parts that call nothing, and the others. */
struct parts {
    struct expression *early, *late; /* NULL: there are none */
};

static bool split(struct calls *calls, struct expression *where,
                  struct parts *parts)
{
    struct vector all = VECTOR_IN(calls->binder->arena, struct expression *);
    bool done = split_condition(calls->binder, where, &all) == VDBQ_OK;
    for (size_t i = 0; i < all.count && done; i++) {
        struct expression *part = VECTOR_ITEMS(&all, struct expression *)[i];
        struct expression **list =
            has_no_costly(calls, &part) ? &parts->early : &parts->late;
        *list = both(calls->binder, *list, part);
        done = *list != NULL;
    }
    return done;
}

/* Rows of the node below that a condition keeps, of those that are asked for. */
static double rows_kept(const struct calls *calls, const struct expression *e)
{
    const struct estimate_nodes nodes = { calls->below, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    double kept = e != NULL ? estimate_kept(&source, e) : 1;
    return fmin(calls->below->rows, calls->most) * kept;
}

/* What of a SELECT's condition is tested first, and which calls are late then.
 * False: a failure. */
static bool choose(struct calls *calls, struct node *select,
                   struct parts *parts)
{
    bool divides = select->where != NULL && !select->where->faults;
    *parts = (struct parts){ 0 };
    if (divides && !split(calls, select->where, parts))
        return false;
    calls->rows = rows_kept(calls, parts->early);
    if ((parts->early != NULL || calls->rows < calls->below->rows)
        && parts->late != NULL && !collect_all(calls, &parts->late, 1))
        return false;
    if (calls->found.count == 0) {
        *parts = (struct parts){ .early = select->where };
        calls->rows = rows_kept(calls, select->where);
        if (select->where != NULL && !collect_stays(calls, &select->where))
            return error_no_memory(calls->binder->error), false;
    } else {
        calls->any_failing = false; /* the other part is tested behind them */
    }
    /* what else makes words goes along with the texts that make none */
    calls->leave |= calls->first != NULL && is_late(calls, calls->first);
    return collect_all(calls, select->results, select->column_count);
}

/* Whether a SELECT has any call of a column with many words. */
static bool calls_any(struct calls *calls, struct node *select)
{
    bool any = select->where != NULL && !has_no_costly(calls, &select->where);
    for (unsigned i = 0; i < select->column_count && !any; i++)
        any = !has_no_costly(calls, &select->results[i]);
    return any;
}

/* Rows that are looked at, at most, until a condition has kept so many; where no row
 * of a sample is like these, all: they may be rare. */
static double rows_looked_at(const struct node *select, double wanted)
{
    double share = select->rows / fmax(select->left->rows, 1);
    return select->met ? FIRST_MANY * wanted / share : INFINITY;
}

struct node *late_select(struct binder *binder, struct node *select,
                         const struct late_wants *wants)
{
    struct calls calls = begin(binder, select->left);
    calls.leave = wants->leave;
    calls.first = wants->first;
    struct parts parts;
    struct node *rows = select->left;
    if (!calls_any(&calls, select))
        return select;
    estimate_node(binder, select);
    if (wants->rows > 0)
        calls.most = rows_looked_at(select, wants->rows);
    if (!choose(&calls, select, &parts))
        return NULL;
    if (calls.found.count == 0)
        return select;
    struct expression **results = copy_results(binder, select);
    if (parts.early != NULL)
        rows = node_filter(binder, rows, parts.early);
    if (results == NULL || rows == NULL || !make_map(&calls, rows))
        return NULL;
    if (parts.late != NULL) {
        parts.late = over_map(&calls, parts.late);
        if (parts.late == NULL)
            return NULL;
    }
    return make_select(&calls, select, parts.late, results);
}

/* ---------------------------------------------------------------- a limit -- */

/* The first rows of a sort, over the columns below its SELECT: results that it
 * sorts by become columns of these. NULL: a failure. */
static struct node *sorted_rows(struct binder *binder, const struct node *sort,
                                struct node *rows, struct expression **results)
{
    struct vector keys = VECTOR_IN(binder->arena, struct step_key);
    for (size_t i = 0; i < sort->sort.keys.count; i++) {
        struct step_key key =
            *(const struct step_key *)vector_at(&sort->sort.keys, i);
        int column = node_column_for(binder, &rows, results[key.column]);
        if (column < 0)
            return NULL;
        results[key.column] = node_column(binder, rows, (unsigned)column,
                                          results[key.column]->at);
        if (results[key.column] == NULL)
            return NULL;
        key.column = column;
        if (!vector_append(&keys, &key, 1))
            return error_no_memory(binder->error), NULL;
    }
    struct node *made = node_sort(binder, rows, &keys, rows->column_count);
    if (made != NULL) {
        made->sort.offset = sort->sort.offset;
        made->sort.limit = sort->sort.limit;
        made->sort.hopes = sort->sort.hopes;
    }
    return made;
}

/* Keys of a sort, and what the condition calls, are computed before. */
static bool collect_before(struct calls *calls, const struct node *limit)
{
    const struct node *select = limit->left;
    struct expression *where = select->where;
    bool done = where == NULL || collect_stays(calls, &where);
    for (size_t i = 0;
         limit->kind == NODE_SORT && i < limit->sort.keys.count && done; i++) {
        const struct step_key *key = vector_at(&limit->sort.keys, i);
        done = collect_stays(calls, &select->results[key->column]);
    }
    return done || (error_no_memory(calls->binder->error), false);
}

static struct node *make_limit(struct calls *calls, const struct node *limit)
{
    struct binder *binder = calls->binder;
    const struct node *select = limit->left;
    struct expression **results = copy_results(binder, select);
    struct node *rows = node_filter(binder, select->left, select->where);
    if (results == NULL || rows == NULL)
        return NULL;
    rows =
        limit->kind == NODE_SORT
            ? sorted_rows(binder, limit, rows, results)
            : node_limit(binder, rows, limit->limit.offset, limit->limit.limit);
    if (rows == NULL || !make_map(calls, rows))
        return NULL;
    return make_select(calls, limit, NULL, results);
}

static struct node *limit_late(struct binder *binder, struct node *limit)
{
    struct node *select = limit->left;
    bool sorts = limit->kind == NODE_SORT;
    struct calls calls = begin(binder, select->left);
    if (!calls_any(&calls, select) || (sorts && late_may_fail(select)))
        return limit;
    estimate_node(binder, limit);
    uint64_t offset = sorts ? limit->sort.offset : limit->limit.offset;
    calls.rows = limit->rows + (double)offset;
    if (!collect_before(&calls, limit)
        || !collect_all(&calls, select->results, limit->column_count))
        return NULL;
    return calls.found.count > 0 ? make_limit(&calls, limit) : limit;
}

/* -------------------------------------------------------------------- all -- */

/* expression_visit: whether it can fail of texts that are too long alone. */
static bool fails_if_long(void *context, struct expression **operand)
{
    const struct expression *e = *operand;
    bool safe = e->kind == EXPRESSION_CHOICE
                || (e->kind == EXPRESSION_OPERATOR && !e->checked);
    return !e->faults || lookup_fails_if_long(e)
           || (safe && expression_each(*operand, fails_if_long, context));
}

bool late_may_fail(const struct node *select)
{
    bool fails = false;
    for (unsigned i = 0; i < select->column_count && !fails; i++)
        fails = !fails_if_long(NULL, &select->results[i]);
    return fails;
}

bool late_is_own(const struct node *node)
{
    return node->common == NULL && !node->shared && node_has_one_reader(node);
}

bool late_can_be(const struct node *node)
{
    return node->kind == NODE_SELECT && late_is_own(node)
           && node->left->kind != NODE_ONCE;
}

static struct node *late_at_limit(struct binder *binder, struct node *node)
{
    bool limits = (node->kind == NODE_SORT && node->sort.limit != UINT64_MAX)
                  || (node->kind == NODE_LIMIT && node->right == NULL);
    if (!limits || !late_is_own(node) || !late_can_be(node->left))
        return node;
    return limit_late(binder, node);
}

static struct node *late_at_select(struct binder *binder, struct node *node)
{
    return late_can_be(node)
               ? late_select(binder, node, &(struct late_wants){ 0 })
               : node;
}

static struct node *late_at_group(struct binder *binder, struct node *node)
{
    if (node->kind != NODE_GROUP || !late_can_be(node->left))
        return node;
    node->left =
        late_select(binder, node->left, &(struct late_wants){ .leave = true });
    return node->left != NULL ? node : NULL;
}

struct node *late_calls(struct binder *binder, struct node *node)
{
    node = tree_pass(binder, node, late_at_limit);
    if (node != NULL && late_can_be(node))
        node = late_select(binder, node, &(struct late_wants){ .leave = true });
    if (node != NULL)
        node = tree_pass(binder, node, late_at_group);
    return node != NULL ? tree_pass(binder, node, late_at_select) : NULL;
}
