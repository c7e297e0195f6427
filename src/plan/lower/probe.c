/* SPDX-License-Identifier: MIT */
/*
 * Which joins can be probed: a left row has one partner at most, or one is
 * enough, and one number finds it. Where no single key does, the keys are
 * digits of one number, as many as the right side's values can be: the first
 * is the highest. Without a key the number is 0, and finds the only row.
 */
#include "plan/lower/probe.h"

#include <assert.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/rows_most.h"
#include "plan/tree/unique_key.h"

/* That an index of few rows, and what lies aligned, take besides. */
enum { BYTES_LEAST = (4 << 16) + (4 << 10) };

static const int *keys_of(const struct vector *keys)
{
    return VECTOR_ITEMS(keys, int);
}

static unsigned key_count(const struct node *join)
{
    return (unsigned)join->join.left_keys.count;
}

static const struct node_column *right_key(const struct node *join, unsigned i)
{
    return &join->right->columns[keys_of(&join->join.right_keys)[i]];
}

/* ---------------------------------------------------------- can it be -- */

/* Whether both columns of a key are integers to the machine, or texts. */
static bool key_fits(const struct node *join, unsigned i)
{
    int column = keys_of(&join->join.left_keys)[i];
    int left = join->left->columns[column].type;
    int right = right_key(join, i)->type;
    int machine = step_machine_type((enum vdbq_type)left);

    return machine == step_machine_type((enum vdbq_type)right)
           && (machine == TYPE_I32 || machine == TYPE_I64)
           && (left == VDBQ_TEXT) == (right == VDBQ_TEXT);
}

/* How many values a column can have; 0: more than there are numbers. */
static uint64_t size_of(const struct interval *range)
{
    return (uint64_t)range->high - (uint64_t)range->low + 1;
}

static bool pack_fits(const struct node *join)
{
    uint64_t left = INT64_MAX;

    for (unsigned i = 0; i < key_count(join); i++) {
        uint64_t size = size_of(&right_key(join, i)->range);
        if (!key_fits(join, i) || right_key(join, i)->type == VDBQ_TEXT
            || size == 0 || size > left)
            return false;
        left /= size;
    }
    return true;
}

/* Whether the first right row of those keys will do. */
static bool finds_all(const struct node *join, int single)
{
    const int *keys = keys_of(&join->join.right_keys);
    bool any = join->join.kind == JOIN_SEMI || join->join.kind == JOIN_ANTI
               || join->join.kind == JOIN_MARK;
    bool whole = single < 0 || key_count(join) == 1;
    bool more = join->where != NULL || join->join.range.side != RANGE_JOIN_NONE;

    if (any && whole && !more)
        return true;
    if (single < 0)
        return node_is_unique(join->right, keys, key_count(join));
    return node_is_unique(join->right, &keys[single], 1);
}

/* What IN gives depends on NULLs on the right, which no probe finds. */
static bool mark_fits(const struct node *join)
{
    int left;

    if (key_count(join) != 1)
        return false;
    left = keys_of(&join->join.left_keys)[0];
    return !join->left->columns[left].nullable && !right_key(join, 0)->nullable;
}

static bool kind_fits(const struct node *join)
{
    switch (join->join.kind) {
    case JOIN_INNER:
        return true;
    case JOIN_LEFT:
    case JOIN_SEMI:
    case JOIN_ANTI:
        return join->where == NULL || !join->where->faults;
    case JOIN_MARK:
        return mark_fits(join);
    default:
        return false;
    }
}

bool probe_fits(const struct node *join, struct probe *probe)
{
    *probe = (struct probe){ join, 0 };
    if (join->kind != NODE_JOIN || join->join.nulls_match || !kind_fits(join))
        return false;
    for (unsigned i = 0; i < key_count(join); i++) {
        probe->single = (int)i;
        if (key_fits(join, i) && finds_all(join, (int)i))
            return true;
    }
    probe->single = -1;
    return pack_fits(join) && finds_all(join, -1);
}

/* --------------------------------------------------------------- bytes -- */

static uint64_t product(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct probe_room probe_room(const struct probe *probe, unsigned columns)
{
    /* A column's value and NULL flag; of an index the key and, at worst,
     * four slots. */
    uint64_t row = columns * (uint64_t)(8 + 1) + 8 + 4 * 8;
    const struct node *right = probe->join->right;
    uint64_t most = node_rows_most(right);
    uint64_t likely = right->rows < (double)most ? (uint64_t)right->rows : most;

    return (struct probe_room){ .likely =
                                    sum(product(likely, row), BYTES_LEAST),
                                .most = sum(product(most, row), BYTES_LEAST) };
}

struct probe_room probe_room_sum(struct probe_room a, struct probe_room b)
{
    return (struct probe_room){ .likely = sum(a.likely, b.likely),
                                .most = sum(a.most, b.most) };
}

/* ----------------------------------------------------------- the number -- */

unsigned probe_parts(const struct probe *probe)
{
    return probe->single < 0 ? key_count(probe->join) : 1;
}

/* A key of one of the sides; as a digit it is an integer, whatever it is in
 * SQL. */
static struct expression *key_column(struct binder *binder,
                                     const struct node *node, int column,
                                     bool digit)
{
    struct expression *e =
        node_column(binder, node, (unsigned)column, (struct position){ 0 });

    if (e != NULL && digit)
        e->type = e->machine == TYPE_I32 ? VDBQ_INTEGER : VDBQ_BIGINT;
    return e;
}

bool probe_part(struct binder *binder, const struct probe *probe,
                unsigned number, struct probe_part *part)
{
    const struct node *join = probe->join;
    unsigned key = probe->single < 0 ? number : (unsigned)probe->single;

    part->range = right_key(join, key)->range;
    part->left =
        key_column(binder, join->left, keys_of(&join->join.left_keys)[key],
                   probe->single < 0);
    return part->left != NULL;
}

static struct expression *operation(struct binder *binder,
                                    enum ast_operator operator,
                                    struct expression * left,
                                    struct expression *right)
{
    struct ast_expression tree = { 0 };

    if (left == NULL || right == NULL)
        return NULL;
    return expression_operator(binder, operator, left, right, &tree);
}

/* The digit of a key of the right side, above 0. */
static struct expression *digit(struct binder *binder, const struct node *join,
                                unsigned i)
{
    struct expression *low = expression_integer(
        binder, right_key(join, i)->range.low, (struct position){ 0 });

    return operation(binder, AST_SUB,
                     key_column(binder, join->right,
                                keys_of(&join->join.right_keys)[i], true),
                     low);
}

static struct expression *packed(struct binder *binder, const struct node *join)
{
    struct expression *e =
        key_count(join) > 0
            ? digit(binder, join, 0)
            : expression_integer(binder, 0, (struct position){ 0 });

    for (unsigned i = 1; i < key_count(join) && e != NULL; i++) {
        uint64_t size = size_of(&right_key(join, i)->range);
        e = operation(
            binder, AST_MUL, e,
            expression_integer(binder, (int64_t)size, (struct position){ 0 }));
        e = operation(binder, AST_ADD, e, digit(binder, join, i));
    }
    return e ? expression_number(binder, e, VDBQ_BIGINT, (struct position){ 0 })
             : NULL;
}

struct node *probe_build(struct binder *binder, const struct probe *probe,
                         int *key)
{
    const struct node *join = probe->join;
    struct expression *number;

    if (probe->single >= 0) {
        *key = keys_of(&join->join.right_keys)[probe->single];
        return join->right;
    }
    number = packed(binder, join);
    assert(number == NULL || !number->faults);
    *key = (int)join->right->column_count;
    return number ? node_extend(binder, join->right, &number, 1) : NULL;
}

/* ------------------------------------------------------------- the rest -- */

/* A column of one side, over those of both. */
static struct expression *side_column(struct binder *binder,
                                      const struct node *join, bool is_right,
                                      int column)
{
    struct expression *e =
        node_column(binder, is_right ? join->right : join->left,
                    (unsigned)column, (struct position){ 0 });

    if (e != NULL && is_right)
        e->column.number += (int)join->left->column_count;
    return e;
}

static struct expression *keys_equal(struct binder *binder,
                                     const struct node *join, unsigned i)
{
    return operation(
        binder, AST_EQ,
        side_column(binder, join, false, keys_of(&join->join.left_keys)[i]),
        side_column(binder, join, true, keys_of(&join->join.right_keys)[i]));
}

/* A column of a range as the machine has it: a DATE is compared with a number of
 * days, a DECIMAL with one of its last digits. */
static struct expression *bound_column(struct binder *binder,
                                       const struct node *join, bool is_right,
                                       int column)
{
    struct expression *e = side_column(binder, join, is_right, column);

    return e == NULL || is_float(e->type) || is_integer(e->type)
               ? e
               : expression_number(binder, e, VDBQ_BIGINT, e->at);
}

/* What one bound of the join's range says. */
static struct expression *in_bound(struct binder *binder,
                                   const struct node *join, int bound,
                                   enum ast_operator operator)
{
    const struct step_range_join *range = &join->join.range;
    bool is_right = range->side == RANGE_JOIN_RIGHT;

    return operation(binder, operator,
                     bound_column(binder, join, is_right, range->column),
                     bound_column(binder, join, !is_right, bound));
}

static bool add_rest(struct binder *binder, struct expression *e,
                     struct expression **rest)
{
    if (e != NULL && *rest != NULL)
        e = operation(binder, AST_AND, *rest, e);
    *rest = e;
    return e != NULL;
}

static bool add_range(struct binder *binder, const struct node *join,
                      struct expression **rest)
{
    const struct step_range_join *range = &join->join.range;
    bool done = true;

    if (range->side == RANGE_JOIN_NONE)
        return true;
    if (range->low >= 0)
        done = add_rest(binder,
                        in_bound(binder, join, range->low,
                                 range->low_open ? AST_GT : AST_GE),
                        rest);
    if (range->high >= 0 && done)
        done = add_rest(binder,
                        in_bound(binder, join, range->high,
                                 range->high_open ? AST_LT : AST_LE),
                        rest);
    return done;
}

bool probe_rest(struct binder *binder, const struct probe *probe,
                struct expression **rest)
{
    const struct node *join = probe->join;
    bool done = true;

    *rest = NULL;
    for (int i = 0; probe->single >= 0 && i < (int)key_count(join) && done; i++)
        if (i != probe->single)
            done =
                add_rest(binder, keys_equal(binder, join, (unsigned)i), rest);
    if (done)
        done = add_range(binder, join, rest);
    if (join->where != NULL && done)
        done = add_rest(binder, join->where, rest);
    return done;
}
