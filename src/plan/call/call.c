/* SPDX-License-Identifier: MIT */
/*
 * What all calls of functions have: the refusal of an argument.
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
