/* SPDX-License-Identifier: MIT */
#include "plan/tree/passes.h"

#include <string.h>

#include "plan/tree/binder.h"

bool pass_is_on(const struct binder *binder, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = binder->passes_out; at != NULL && at[0] != '\0';) {
        size_t size = strcspn(at, ",");
        if (size == length + 1 && strncmp(at + 1, name, length) == 0)
            return false;
        at += size + (at[size] == ',');
    }
    return true;
}
