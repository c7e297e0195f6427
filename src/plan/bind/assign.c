/* SPDX-License-Identifier: MIT */
/*
 * Values for the columns of a table: assign.h.
 */
#include "plan/bind/assign.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plan/bind/bind.h"
#include "plan/bind/scope.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"
#include "base/type.h"

/* ------------------------------------------------------------- numbers -- */

static struct expression *refuse_fraction(struct binder *binder,
                                          const struct expression *e,
                                          const struct column *column)
{
    char number[32];

    text_from_double(e->constant.real, number);
    error_at(binder->error, VDBQ_TYPE, e->at,
             "%s is not a whole number, and column %s is %s", number,
             column->name, type_name(column->type));
    error_hint(binder->error, "CAST(%s AS %s) cuts the fraction off", number,
               type_name(column->type));
    return NULL;
}

static struct expression *refuse_range(struct binder *binder,
                                       const struct expression *e,
                                       const struct column *column)
{
    char number[32];

    if (is_float(e->type))
        text_from_double(e->constant.real, number);
    else
        snprintf(number, sizeof number, "%lld", (long long)e->constant.integer);
    error_at(binder->error, VDBQ_RANGE, e->at,
             "%s does not fit column %s, which is %s", number, column->name,
             type_name(column->type));
    return NULL;
}

/* A number that is known keeps its value or is refused. */
static struct expression *assigned_number(struct binder *binder,
                                          struct expression *e,
                                          const struct column *column)
{
    const double largest = 3.4028235677973366e38; /* rounds to infinity */
    int64_t limit = column->type == VDBQ_BIGINT     ? INT64_MAX
                    : column->type == VDBQ_SMALLINT ? INT16_MAX
                                                    : INT32_MAX;

    if (column->type == VDBQ_FLOAT && is_float(e->type)
        && fabs(e->constant.real) >= largest && !isinf(e->constant.real))
        return refuse_range(binder, e, column);
    if (column->type == VDBQ_FLOAT && is_float(e->type))
        return expression_real(binder, VDBQ_FLOAT,
                               (double)(float)e->constant.real, e->at);
    if (!is_integer((int)column->type))
        return e;
    if (is_float(e->type)) {
        if (!(e->constant.real >= -0x1p63 && e->constant.real < 0x1p63))
            return refuse_range(binder, e, column);
        if (e->constant.real != floor(e->constant.real))
            return refuse_fraction(binder, e, column);
        return expression_cast_plain(binder, e, VDBQ_BIGINT, e->at);
    }
    if (e->type != VDBQ_DECIMAL
        && (e->constant.integer < -limit - 1 || e->constant.integer > limit))
        return refuse_range(binder, e, column);
    return e;
}

static struct expression *refuse_text(struct binder *binder,
                                      const struct expression *e,
                                      const struct column *column)
{
    error_at(binder->error, VDBQ_TYPE, e->at,
             "column %s is %s, and this is a TEXT", column->name,
             type_name(column->type));
    error_hint(binder->error, "CAST(... AS %s) reads numbers from texts",
               type_name(column->type));
    return NULL;
}

/* ----------------------------------------------------------------- all -- */

static struct ast_type type_of(const struct column *column)
{
    return (struct ast_type){ .type = column->type,
                              .precision = column->precision,
                              .scale = column->scale };
}

struct expression *expression_assigned(struct binder *binder,
                                       struct expression *e,
                                       const struct column *column)
{
    if (e->type == VDBQ_TEXT && is_number((int)column->type)
        && column->type != VDBQ_DECIMAL && column->type != VDBQ_BOOLEAN
        && !is_null_constant(e)) {
        if (e->kind != EXPRESSION_CONSTANT)
            return refuse_text(binder, e, column);
        e = expression_text_number(binder, e);
    }
    if (e != NULL && e->kind == EXPRESSION_CONSTANT && !e->constant.null
        && is_number(e->type) && is_number((int)column->type)) {
        bool whole = is_float(e->type) && is_integer((int)column->type);
        e = assigned_number(binder, e, column);
        if (e != NULL && whole && e->kind == EXPRESSION_CONSTANT)
            e = assigned_number(binder, e, column); /* as a BIGINT now */
    }
    return e ? expression_cast(binder, e, type_of(column), e->at) : NULL;
}

/* ------------------------------------------------------------- defaults -- */

struct expression *expression_default_bound(struct binder *binder,
                                            const struct ast_expression *tree,
                                            const struct column *column)
{
    struct binder inner = *binder;
    struct expression *e;
    struct scope scope;

    inner.scope = NULL;
    scope_enter(&inner, &scope); /* which has no names */
    e = bind_expression(&inner, tree);
    scope_leave(&inner, &scope);
    binder->machine = inner.machine;
    return e ? expression_assigned(binder, e, column) : NULL;
}

/* CREATE TABLE took the text for a constant. It comes from the file, so that
 * it may be any expression now. */
static struct expression *refuse_stored(struct binder *binder,
                                        const struct column *column)
{
    error_set(binder->error, VDBQ_CORRUPT,
              "the file's default of column %s is no constant: %s",
              column->name, column->default_sql);
    return NULL;
}

/* The text of a DEFAULT is, like a view's, not the statement's: nothing in it
 * has a place there. */
static struct expression *bind_stored(struct binder *binder,
                                      const struct column *column)
{
    struct binder inner = *binder;
    struct expression *e;

    assert(column->default_tree != NULL);
    inner.sql = column->default_sql;
    inner.sql_length = strlen(column->default_sql);
    inner.views++;
    e = expression_default_bound(&inner, column->default_tree, column);
    binder->machine = inner.machine;
    if (e == NULL && binder->error->status == VDBQ_NO_MEMORY)
        return NULL;
    return e != NULL && e->kind == EXPRESSION_CONSTANT
               ? e
               : refuse_stored(binder, column);
}

struct expression *expression_default(struct binder *binder,
                                      const struct column *column,
                                      struct position at)
{
    struct expression *e;

    if (column->default_sql != NULL)
        return bind_stored(binder, column);
    e = expression_null(binder, (int)column->type, at);
    return e ? expression_cast(binder, e, type_of(column), at) : NULL;
}
