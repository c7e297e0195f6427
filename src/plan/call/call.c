/* SPDX-License-Identifier: MIT */
/*
 * What all calls of functions have: the refusal of an argument, or of an order.
 */
#include "plan/call/call.h"

#include "base/type.h"
#include "plan/tree/binder.h"

struct expression *refuse_argument(struct binder *binder,
                                   const struct call *call,
                                   const struct expression *argument)
{
    error_at(binder->error, VDBQ_TYPE, call->tree->at, "%s does not take a %s",
             call->name, type_name((enum vdbq_type)argument->type));
    return NULL;
}

bool call_is_of_partition(struct binder *binder, const struct call *call)
{
    if (call->tree->over == NULL
        || (call->order.count == 0 && call->frame.unit == FRAME_DEFAULT))
        return true;
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "%s with OVER takes no ORDER BY and no frame", call->name);
    error_hint(binder->error, "it is computed of all rows of a partition; "
                              "first_value and last_value take both");
    return false;
}
