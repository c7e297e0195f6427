/* SPDX-License-Identifier: MIT */
/*
 * Keys and a range as one range. Of
 *
 *   a JOIN b ON b.key = a.key AND b.x > a.low AND b.x < a.high
 *
 * an index of the keys finds all pairs of a key, of which most are thrown away where
 * a key has many rows. But where the keys and what is compared are whole numbers
 * from known intervals, both are one number,
 *
 *   code = key * width + x
 *
 * with a width that no x, and no bound of x, leaves: then a range of codes finds the
 * partners alone. Where an integer has no room for all keys, key % folds takes the
 * key's place, and pairs that are found are asked whether their keys are equal. Where
 * there is but one bound, there are about as many partners as pairs.
 *
 * The keys and the condition stay as they are: a device finds pairs of keys faster
 * than the host sorts codes, and leaves the range.
 */
#include "plan/condition/keyed_range.h"

#include <math.h>

#include "base/vector.h"
#include "plan/condition/range_join.h"
#include "plan/condition/split.h"
#include "plan/estimate/estimate.h"
#include "plan/make/arithmetic.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/unique_key.h"

/* What a row costs that is sorted or looks for its bounds, a pair of keys that is made
 * and then judged by a condition, and one that a range finds and puts in the order of
 * rows; as in range_join.c. */
static const double PRICE_ROW = 2048, PRICE_PAIR = 1024, PRICE_FOUND = 8192;
static const double CODES_MOST = 9e18; /* that an integer has room for */
static const double SHARED_MOST = 8;   /* keys that share codes */

/* A join and what becomes of it. */
struct keying {
    struct binder *binder;
    const struct node *join;
    struct expression
        *condition;    /* over the columns of both sides: the join's, or
                                     that of the rows that are kept of it    */
    struct node *both; /* an inner join of its sides: columns of both */
    struct bounds bounds;
    struct range_choice choice;
    int64_t low;   /* the least of what is compared */
    int64_t width; /* of a key's codes */
    int64_t
        folds; /* keys whose codes there is room for: those that are this far apart
                      share theirs, and are compared; 0: there is room for all     */
};

/* ---------------------------------------------------------------- proof -- */

static bool has_many_partners(const struct node *node)
{
    const struct vector *keys = &node->join.right_keys;

    if (node->kind != NODE_JOIN || node->join.nulls_match || keys->count == 0
        || node->join.range.side != RANGE_JOIN_NONE)
        return false;
    switch (node->join.kind) {
    case JOIN_INNER:
    case JOIN_LEFT:
    case JOIN_SEMI:
    case JOIN_ANTI:
        return !node_is_unique(node->right, keys->items, (unsigned)keys->count);
    default:
        return false;
    }
}

/* Whether values of a type are whole numbers of one unit. */
static bool is_whole(int type)
{
    return is_integer(type) || type == VDBQ_DATE || type == VDBQ_TIMESTAMP;
}

/* A sum that was parted (bounds.c) is an integer, of whatever its terms count. */
static bool is_same_unit(int a, int b)
{
    return is_whole(a) && is_whole(b)
           && (a == b || is_integer(a) || is_integer(b));
}

static struct bound *bound_at(const struct keying *keying, int i)
{
    return vector_at(&keying->bounds.found, (size_t)i);
}

static void widen(struct interval *all, const struct interval *more)
{
    all->low = more->low < all->low ? more->low : all->low;
    all->high = more->high > all->high ? more->high : all->high;
}

/* The interval of a key's values on both sides. */
static bool key_interval(const struct keying *keying, size_t key,
                         struct interval *values)
{
    const struct step_join *join = &keying->join->join;
    const struct node *sides[2] = { keying->join->left, keying->join->right };
    int numbers[2] = { VECTOR_ITEMS(&join->left_keys, int)[key],
                       VECTOR_ITEMS(&join->right_keys, int)[key] };
    const struct node_column *columns[2] = { &sides[0]->columns[numbers[0]],
                                             &sides[1]->columns[numbers[1]] };

    *values = columns[0]->range;
    widen(values, &columns[1]->range);
    return is_same_unit(columns[0]->type, columns[1]->type)
           && values->low <= values->high;
}

/* How many values an interval has, and some more. */
static double count_of(const struct interval *values)
{
    return (double)values->high - (double)values->low + 3;
}

/* Folds keys where codes of all of them have no room; false: too many share one. */
static bool fold(struct keying *keying, double keys)
{
    double most = CODES_MOST / (double)keying->width;

    keying->folds = keys < most ? 0 : (int64_t)most;
    return keys < CODES_MOST && keys < most * SHARED_MOST;
}

/* Finds the width, and whether codes have room in an integer. */
static bool find_width(struct keying *keying)
{
    const struct bound *bounds[2] = { bound_at(keying, keying->choice.low),
                                      bound_at(keying, keying->choice.high) };
    struct interval values = bounds[0]->bounded->range, key;
    double keys = 1;

    for (int i = 0; i < 2; i++) {
        if (!is_same_unit(bounds[i]->bounded->type, bounds[i]->by->type)
            || bounds[i]->by->range.low > bounds[i]->by->range.high)
            return false;
        widen(&values, &bounds[i]->by->range);
    }
    if (values.low > values.high || count_of(&values) >= CODES_MOST)
        return false;
    keying->low = values.low;
    keying->width = values.high - values.low + 3;
    for (size_t i = 0; i < keying->join->join.left_keys.count; i++) {
        if (!key_interval(keying, i, &key))
            return false;
        keys *= count_of(&key);
    }
    return fold(keying, keys);
}

/* Whether there are so many more pairs than rows, and so few partners among them, that
 * codes are worth it. */
static bool pays(struct keying *keying)
{
    const struct node *sides[2] = { keying->join->left, keying->join->right };
    const struct estimate_nodes both = { sides[0], sides[1] };
    struct range_sides known = { .columns = estimate_of_nodes(&both) };
    struct node *pairs = keying->both;
    double partners;

    pairs->join.left_keys = keying->join->join.left_keys;
    pairs->join.right_keys = keying->join->join.right_keys;
    estimate_node(keying->binder, pairs);
    for (int i = 0; i < 2; i++) {
        known.rows[i] = sides[i]->rows;
        known.bases[i] = sides[i]->base;
    }
    partners =
        pairs->rows * range_share(&keying->bounds, &keying->choice, &known);
    return pairs->rows * PRICE_PAIR
           > (known.rows[0] + known.rows[1]) * PRICE_ROW
                 + partners * PRICE_FOUND;
}

/* Finds what the condition bounds; `*found`, whether it is something whose codes
 * have room. False: a failure. */
static bool find(struct keying *keying, bool *found)
{
    struct binder *binder = keying->binder;
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);

    *found = false;
    keying->bounds =
        (struct bounds){ .binder = binder,
                         .middle = keying->join->left->column_count,
                         .found = VECTOR_IN(binder->arena, struct bound) };
    if (split_condition(binder, keying->condition, &parts) != VDBQ_OK
        || range_find(&keying->bounds, &parts) != VDBQ_OK)
        return false;
    keying->choice = range_choose(&keying->bounds);
    *found = keying->choice.low >= 0 && keying->choice.high >= 0
             && find_width(keying);
    return true;
}

/* ---------------------------------------------------------------- codes -- */

static struct expression *arithmetic(const struct keying *keying,
                                     enum ast_operator operator,
                                     struct expression * e, int64_t by)
{
    struct ast_expression place = { .at = e != NULL ? e->at
                                                    : (struct position){ 0 } };
    struct expression *number =
        expression_integer(keying->binder, by, place.at);

    return e != NULL && number != NULL ? expression_arithmetic(
               keying->binder, operator, e, number, &place)
                                       : NULL;
}

/* A value as the number that is stored. */
static struct expression *number_of(const struct keying *keying,
                                    struct expression *e)
{
    if (e == NULL)
        return NULL;
    if (e->type == VDBQ_TIMESTAMP)
        return expression_renamed(keying->binder, e, VDBQ_BIGINT, 0);
    return expression_number(keying->binder, e, VDBQ_BIGINT, e->at);
}

/* The codes before those of a row's keys, on one side. */
static struct expression *keys_code(const struct keying *keying, bool is_right)
{
    const struct step_join *join = &keying->join->join;
    const struct vector *keys = is_right ? &join->right_keys : &join->left_keys;
    unsigned first = is_right ? keying->bounds.middle : 0;
    struct expression *code = NULL;

    for (size_t i = 0; i < keys->count; i++) {
        struct position nowhere = { 0 };
        struct interval values;
        struct expression *key = number_of(
            keying,
            node_column(keying->binder, keying->both,
                        first + (unsigned)VECTOR_ITEMS(keys, int)[i], nowhere));
        key_interval(keying, i, &values);
        key = arithmetic(keying, AST_SUB, key, values.low);
        if (code != NULL) {
            struct ast_expression place = { 0 };
            code =
                arithmetic(keying, AST_MUL, code, values.high - values.low + 1);
            code = code != NULL && key != NULL ? expression_arithmetic(
                       keying->binder, AST_ADD, code, key, &place)
                                               : NULL;
        } else {
            code = key;
        }
        if (code == NULL)
            return NULL;
    }
    if (keying->folds > 0)
        code = arithmetic(keying, AST_MOD, code, keying->folds);
    return arithmetic(keying, AST_MUL, code, keying->width);
}

/* The code of a value of one side; NULL: a failure. */
static struct expression *value_code(const struct keying *keying, bool is_right,
                                     struct expression *value)
{
    struct ast_expression place = { .at = value->at };
    struct expression *keys = keys_code(keying, is_right);
    struct expression *number =
        arithmetic(keying, AST_SUB, number_of(keying, value), keying->low - 1);

    return keys != NULL && number != NULL ? expression_arithmetic(
               keying->binder, AST_ADD, keys, number, &place)
                                          : NULL;
}

/* A bound becomes one of codes. */
static bool encode(const struct keying *keying, struct bound *bound)
{
    bound->bounded = value_code(keying, bound->is_right, bound->bounded);
    bound->by = value_code(keying, !bound->is_right, bound->by);
    return bound->bounded != NULL && bound->by != NULL;
}

/* ----------------------------------------------------------------- join -- */

/* Where the columns of the join were, among those of wider sides. */
static int *places_of(const struct keying *keying, struct node *const nodes[2])
{
    unsigned middle = keying->bounds.middle;
    unsigned count = middle + keying->join->right->column_count;
    int *places = arena_alloc(keying->binder->arena, count * sizeof *places);

    for (unsigned i = 0; places != NULL && i < count; i++)
        places[i] = (int)(i < middle ? i : i - middle + nodes[0]->column_count);
    if (places == NULL)
        error_no_memory(keying->binder->error);
    return places;
}

static bool add_condition(const struct keying *keying, struct node *made,
                          struct expression *part)
{
    if (part != NULL && made->where != NULL)
        part = expression_operator(keying->binder, AST_AND, made->where, part,
                                   &(struct ast_expression){ .at = part->at });
    made->where = part;
    return part != NULL;
}

/* The condition of a join, which is that of before, and that folded keys are equal,
 * over the columns of an inner one. */
static bool add_conditions(const struct keying *keying, struct node *made,
                           const struct node *over, const int *places)
{
    const struct step_join *join = &keying->join->join;
    struct binder *binder = keying->binder;
    struct position nowhere = { 0 };
    struct ast_expression place = { 0 };
    bool done = true;

    for (size_t i = 0; done && keying->folds > 0 && i < join->left_keys.count;
         i++) {
        int left = VECTOR_ITEMS(&join->left_keys, int)[i];
        int right = VECTOR_ITEMS(&join->right_keys, int)[i];
        struct expression *a =
            node_column(binder, over, (unsigned)left, nowhere);
        struct expression *b = node_column(
            binder, over, over->left->column_count + (unsigned)right, nowhere);
        done =
            a != NULL && b != NULL
            && add_condition(keying, made,
                             expression_operator(binder, AST_EQ, a, b, &place));
    }
    if (done && keying->join->where != NULL)
        done = add_condition(
            keying, made,
            expression_over(binder, keying->join->where, over, places, 0));
    return done;
}

/* The join with a range, which has the columns that it had. */
static struct node *make(struct keying *keying)
{
    struct binder *binder = keying->binder;
    const struct node *join = keying->join;
    struct node *nodes[2] = { join->left, join->right }, *made, *over;
    struct step_range_join range;
    int *places;

    if (!encode(keying, bound_at(keying, keying->choice.low))
        || !encode(keying, bound_at(keying, keying->choice.high))
        || range_make(&keying->bounds, &keying->choice, nodes, &range)
               != VDBQ_OK)
        return NULL;
    places = places_of(keying, nodes);
    made = node_join(binder, join->join.kind, nodes[0], nodes[1]);
    over = node_join(binder, JOIN_INNER, nodes[0], nodes[1]);
    if (places == NULL || made == NULL || over == NULL)
        return NULL;
    made->join.left_keys = join->join.left_keys;
    made->join.right_keys = join->join.right_keys;
    made->join.range = range;
    if (!add_conditions(keying, made, over, places))
        return NULL;
    estimate_node(binder, made);
    made->rows = join->rows; /* the range leaves out what the condition would */
    made->settled = true;
    return node_columns(binder, made, places, join->column_count);
}

/* What stands in a join's place where a condition over both sides is about all that is
 * seen of it. */
static struct node *replace(struct binder *binder, struct node *join,
                            struct expression *condition)
{
    struct keying keying = { .binder = binder,
                             .join = join,
                             .condition = condition };
    bool found;

    if (condition == NULL || condition->faults || !has_many_partners(join))
        return join;
    keying.both = node_join(binder, JOIN_INNER, join->left, join->right);
    /* in pairs, of which it is asked, no column of an outer join is NULL */
    if (keying.both != NULL)
        keying.condition =
            expression_over(binder, condition, keying.both, NULL, 0);
    if (keying.both == NULL || keying.condition == NULL
        || !find(&keying, &found))
        return NULL;
    return found && pays(&keying) ? make(&keying) : join;
}

struct node *keyed_ranges(struct binder *binder, struct node *node)
{
    if (node->kind == NODE_JOIN)
        return replace(binder, node, node->where);
    if (node->kind != NODE_SELECT || node->left->kind != NODE_JOIN
        || node->left->join.kind != JOIN_INNER)
        return node;
    node->left = replace(binder, node->left, node->where);
    return node->left != NULL ? node : NULL;
}
