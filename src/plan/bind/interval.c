/* SPDX-License-Identifier: MIT */
/*
 * Dates and times that are moved by intervals, which are no values: one stands beside
 * what it moves, by itself, with its sign, or multiplied by a whole number. to_days(n)
 * and its siblings are n times INTERVAL 1 DAY.
 */
#include "plan/bind/bind.h"

#include "base/text.h"
#include "plan/make/convert.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* -------------------------------------------------------------- intervals -- */

static const struct unit_function {
    const char *name;
    enum ast_unit unit;
    int64_t count;
} functions[] = {
    { "to_years", AST_YEAR, 1 },     { "to_quarters", AST_MONTH, 3 },
    { "to_months", AST_MONTH, 1 },   { "to_weeks", AST_DAY, 7 },
    { "to_days", AST_DAY, 1 },       { "to_hours", AST_HOUR, 1 },
    { "to_minutes", AST_MINUTE, 1 }, { "to_seconds", AST_SECOND, 1 },
};

/* What a tree says of an interval: `times` is bound later. */
struct said {
    enum ast_unit unit;
    int64_t count;
    const struct ast_expression *times[2]; /* NULL: once */
};

/* The function of a call that makes an interval; NULL: it does not. */
static const struct unit_function *
function_of(const struct ast_expression *tree)
{
    if (tree->kind != AST_FUNCTION || tree->argument_count != 1
        || tree->over != NULL || tree->distinct || tree->filter != NULL)
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (name_equal(tree->column.text, functions[i].name))
            return &functions[i];
    return NULL;
}

static bool is_unary(const struct ast_expression *tree)
{
    return tree->kind == AST_OPERATOR && tree->right == NULL
           && (tree->operator== AST_MINUS || tree->operator== AST_PLUS);
}

/* INTERVAL 1 DAY or to_days(n), perhaps with a sign. */
static bool read_single(const struct ast_expression *tree, struct said *said)
{
    const struct ast_expression *e = is_unary(tree) ? tree->left : tree;
    const struct unit_function *function = function_of(e);
    bool minus = e != tree && tree->operator== AST_MINUS;

    *said = (struct said){ 0 };
    if (function != NULL) {
        said->unit = function->unit;
        said->count = function->count;
        said->times[0] = e->arguments->expression;
    } else if (e->kind == AST_INTERVAL) {
        said->unit = e->unit;
        said->count = e->integer;
    } else {
        return false;
    }
    if (minus)
        said->count = -said->count;
    return true;
}

/* ... perhaps multiplied. */
static bool read(const struct ast_expression *tree, struct said *said)
{
    if (read_single(tree, said))
        return true;
    if (tree->kind != AST_OPERATOR || tree->operator!= AST_MUL)
        return false;
    if (read_single(tree->right, said))
        said->times[1] = tree->left;
    else if (read_single(tree->left, said))
        said->times[1] = tree->right;
    else
        return false;
    return true;
}

/* ------------------------------------------------------------------- bind -- */

static struct expression *whole_number(struct binder *binder,
                                       const struct ast_expression *tree,
                                       expression_binder bind)
{
    struct expression *e = bind(binder, tree);

    if (e == NULL || is_integer(e->type) || is_null_constant(e))
        return e ? expression_cast_plain(binder, e, VDBQ_BIGINT, e->at) : NULL;
    error_at(binder->error, VDBQ_TYPE, tree->at,
             "an INTERVAL is multiplied by a whole number, not by a %s",
             type_name((enum vdbq_type)e->type));
    return NULL;
}

/* How many times; false: a failure. */
static bool bind_times(struct binder *binder, const struct said *said,
                       expression_binder bind, struct time_interval *interval)
{
    for (unsigned i = 0; i < 2; i++) {
        struct expression *e;
        if (said->times[i] == NULL)
            continue;
        e = whole_number(binder, said->times[i], bind);
        if (e != NULL && interval->times != NULL)
            e = expression_operator(binder, AST_MUL, interval->times, e,
                                    said->times[i]);
        if (e == NULL)
            return false;
        interval->times = e;
    }
    return true;
}

bool interval_stands_in(const struct ast_expression *tree)
{
    struct said said;

    return tree->right != NULL
           && (read(tree->right, &said) || read(tree->left, &said));
}

/* to_days(3) is one, too. */
bool interval_alone(const struct ast_expression *tree, enum ast_unit *unit,
                    int64_t *count)
{
    struct said said;

    if (!read_single(tree, &said))
        return false;
    if (said.times[0] != NULL
        && (said.times[0]->kind != AST_INTEGER
            || __builtin_mul_overflow(said.count, said.times[0]->integer,
                                      &said.count)))
        return false;
    *unit = said.unit;
    *count = said.count;
    return true;
}

struct expression *interval_operator(struct binder *binder,
                                     const struct ast_expression *tree,
                                     expression_binder bind)
{
    struct said said;
    bool right = read(tree->right, &said);
    bool back = tree->operator== AST_SUB;
    struct time_interval interval = { 0 };
    struct expression *e;

    if ((tree->operator!= AST_ADD && !back) || (back && !right)) {
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "an INTERVAL is added to a date or taken from it");
        error_hint(binder->error, "d + 2 * INTERVAL '1 day' moves a date d");
        return NULL;
    }
    e = bind(binder, right ? tree->left : tree->right);
    if (e == NULL)
        return NULL;
    if (!right)
        read(tree->left, &said);
    interval.unit = said.unit;
    interval.count = said.count;
    return bind_times(binder, &said, bind, &interval)
               ? expression_moved(binder, e, &interval, back, tree->at)
               : NULL;
}
