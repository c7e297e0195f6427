/* SPDX-License-Identifier: MIT */
/*
 * Window functions that are made of others. Of a partition of `n` rows:
 *
 *   percent_rank() = (rank() - 1) / (n - 1), or 0 where n is 1
 *   cume_dist()    = rows up to the last peer / n
 *   ntile(k): the first n % k parts have one row more than n / k, the others
 *             so many; where i rows lie before the row,
 *             i / (n / k + 1) + 1             among the first ones, and
 *             (i - n % k) / (n / k) + 1       behind them
 */
#include <assert.h>

#include "base/vector.h"
#include "plan/call/call.h"
#include "plan/make/coerce.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* A call while its expression is made; operands may be failures, NULL. */
struct share {
    struct binder *binder;
    const struct call *call;
};

static struct expression *operate(const struct share *share,
                                  enum ast_operator operator,
                                  struct expression * left,
                                  struct expression *right)
{
    return left && right ? expression_operator(share->binder, operator, left,
                                               right, share->call->tree)
                         : NULL;
}

static struct expression *choose(const struct share *share,
                                 struct expression *condition,
                                 struct expression *left,
                                 struct expression *right)
{
    return condition && left && right ? expression_choice(
               share->binder, condition, left, right, share->call->tree->at)
                                      : NULL;
}

static struct expression *whole(const struct share *share, int64_t value)
{
    return expression_integer(share->binder, value, share->call->tree->at);
}

static struct expression *as_double(const struct share *share,
                                    struct expression *e)
{
    return e ? expression_number(share->binder, e, VDBQ_DOUBLE,
                                 share->call->tree->at)
             : NULL;
}

/* A function without arguments over the call's window, or over all rows of its
 * partitions, which are in the same order then. */
static struct expression *over(const struct share *share, const char *name,
                               bool whole_partition)
{
    struct ast_expression tree = { .at = share->call->tree->at };
    struct call call = { .tree = &tree,
                         .name = name,
                         .partition = share->call->partition,
                         .order = share->call->order };

    tree.column.text = name;
    if (whole_partition && call.order.count > 0)
        call.frame = (struct step_frame){ .unit = FRAME_RANGE,
                                          .begin = { .unbounded = true },
                                          .end = { .unbounded = true } };
    return bind_window(share->binder, &call);
}

static struct expression *rows(const struct share *share)
{
    return over(share, "count", true);
}

/* ----------------------------------------------------------- functions -- */

static struct expression *percent_rank(const struct share *share)
{
    struct expression *before =
        operate(share, AST_SUB, over(share, "rank", false), whole(share, 1));
    struct expression *others =
        operate(share, AST_SUB, rows(share), whole(share, 1));
    struct expression *ratio = operate(share, AST_DIV, as_double(share, before),
                                       as_double(share, others));

    return choose(share, operate(share, AST_GT, rows(share), whole(share, 1)),
                  ratio, as_double(share, whole(share, 0)));
}

static struct expression *cume_dist(const struct share *share)
{
    return operate(share, AST_DIV,
                   as_double(share, over(share, "count", false)),
                   as_double(share, rows(share)));
}

/* Rows of a part: n / k. */
static struct expression *part(const struct share *share, int64_t parts)
{
    return operate(share, AST_DIV, rows(share), whole(share, parts));
}

/* How many parts have one row more: n % k. */
static struct expression *larger(const struct share *share, int64_t parts)
{
    return operate(share, AST_MOD, rows(share), whole(share, parts));
}

/* The number, from 0, of the row's part: of the larger ones, or behind them. */
static struct expression *number(const struct share *share, int64_t parts)
{
    struct expression *before = operate(
        share, AST_SUB, over(share, "row_number", false), whole(share, 1));
    struct expression *size =
        operate(share, AST_ADD, part(share, parts), whole(share, 1));
    struct expression *rest =
        operate(share, AST_SUB, before, larger(share, parts));

    return choose(share,
                  operate(share, AST_LT, before,
                          operate(share, AST_MUL, larger(share, parts), size)),
                  operate(share, AST_DIV, before, size),
                  operate(share, AST_DIV, rest, part(share, parts)));
}

static struct expression *ntile(const struct share *share)
{
    struct binder *binder = share->binder;
    struct expression *argument = share->call->arguments[0], *e;
    int64_t parts;

    if (!bind_whole_number(binder, share->call, argument, "number of parts",
                           &parts))
        return NULL;
    if (parts < 1) {
        error_at(binder->error, VDBQ_TYPE, argument->at,
                 "the number of parts of %s is at least 1", share->call->name);
        return NULL;
    }
    e = operate(share, AST_ADD, number(share, parts), whole(share, 1));
    return e ? expression_cast_plain(binder, e, VDBQ_BIGINT, e->at) : NULL;
}

struct expression *bind_window_share(struct binder *binder,
                                     const struct call *call,
                                     enum window_function function)
{
    const struct share share = { .binder = binder, .call = call };

    assert(function > WINDOW_NTH && function < WINDOW_AGGREGATE);
    return function == WINDOW_NTILE       ? ntile(&share)
           : function == WINDOW_CUME_DIST ? cume_dist(&share)
                                          : percent_rank(&share);
}
