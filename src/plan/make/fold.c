/* SPDX-License-Identifier: MIT */
/*
 * Constant folding. An expression of constants is made a program of its own
 * and run by the machine, so that its value is what the machine would give
 * for a row: every operator has one meaning. Texts, which are numbers to it, are
 * compared here.
 */
#include "plan/make/fold.h"

#include <assert.h>
#include <string.h>

#include "device/host/host_machine.h"
#include "plan/code/codegen.h"
#include "plan/code/host_run.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"
#include "plan/tree/expression.h"
#include "plan/tree/range.h"

static void become(struct expression *expression,
                   const struct host_result *result);

enum vdbq_status fold(struct binder *binder, struct expression *expression)
{
    struct codegen_result result = { .name = "", .expression = expression };
    const struct codegen_source nowhere = { 0 };
    const struct host_rows one = { .count = 1 };
    struct host_result value;
    struct program program;
    enum vdbq_status status = binder->error->status;

    assert(expression->kind > EXPRESSION_PARAMETER
           && expression->kind <= EXPRESSION_CHECK);
    if (status != VDBQ_OK) /* checking a program would forget it */
        return status;
    program_init(&program);
    status = codegen_select(binder, &nowhere, NULL, &result, 1, &program);
    if (status == VDBQ_OK)
        status = program_check(&program, binder->error);
    if (status == VDBQ_OK)
        status =
            host_run(&binder->machine, &program, &one, &value, binder->error);
    if (status == VDBQ_OK)
        become(expression, &value);
    program_finish(&program);
    return status;
}

struct expression *fold_texts(struct binder *binder, enum ast_operator operator,
                              const struct expression * left,
                              const struct expression *right,
                              struct position at)
{
    size_t a = left->constant.text.length, b = right->constant.text.length;
    int order = memcmp(left->constant.text.bytes, right->constant.text.bytes,
                       a < b ? a : b);
    int sign = order != 0 ? order : (a > b) - (a < b);

    return expression_truth(binder, comparison_holds(operator, sign), at);
}

void fold_finish(struct binder *binder)
{
    if (binder->machine != NULL)
        host_machine_destroy(binder->machine);
    binder->machine = NULL;
}

/* Makes the expression the constant that was computed. */
static void become(struct expression *expression,
                   const struct host_result *result)
{
    assert(expression->kind >= EXPRESSION_OPERATOR
           && expression->kind <= EXPRESSION_CHECK);
    expression->kind = EXPRESSION_CONSTANT;
    memset(&expression->constant, 0, sizeof expression->constant);
    expression->constant.null = result->nulls[0] != 0;
    expression->left = expression->right = expression->condition = NULL;
    expression->size = 1;
    expression->null_at_zero = expression->null_at_nan = false;
    expression->checked = expression->faults = false;
    memset(&expression->range, 0, sizeof expression->range);
    switch (type_machine((enum vdbq_type)expression->type)) {
    case TYPE_I32:
        expression->constant.integer = result->values.i32[0];
        break;
    case TYPE_F32:
        expression->constant.real = (double)result->values.f32[0];
        break;
    case TYPE_F64:
        expression->constant.real = result->values.f64[0];
        break;
    default:
        expression->constant.integer = result->values.i64[0];
        break;
    }
    range_constant(expression);
}
