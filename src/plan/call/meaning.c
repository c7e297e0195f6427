/* SPDX-License-Identifier: MIT */
#include "plan/call/meaning.h"

#include <assert.h>

#include "base/error.h"
#include "base/text.h"
#include "plan/tree/binder.h"

bool meaning_note(const struct binder *binder, const struct meaning *meaning)
{
    assert(meaning->name != NULL && meaning->table != NULL);
    if (binder->meanings == NULL || vector_append(binder->meanings, meaning, 1))
        return true;
    error_no_memory(binder->error);
    return false;
}

static bool same(const struct meaning *a, const struct meaning *b)
{
    return name_equal(a->name, b->name) && a->meant == b->meant
           && name_equal(a->table, b->table) && a->outwards == b->outwards;
}

const char *meanings_differ(const struct vector *before,
                            const struct vector *after)
{
    const struct meaning *a = before->items, *b = after->items;
    size_t i = 0;

    while (i < before->count && i < after->count && same(&a[i], &b[i]))
        i++;
    if (i == before->count && i == after->count)
        return NULL;
    return before->count >= after->count ? a[i].name : b[i].name;
}
