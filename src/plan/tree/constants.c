/* SPDX-License-Identifier: MIT */
/*
 * Constants in columns: see constants.h.
 */
#include "plan/tree/constants.h"

#include <assert.h>
#include <string.h>

/* Bytes of a value of a type. */
static size_t value_size(enum vdbq_type type)
{
    int machine = type_machine(type);

    return machine == TYPE_WORD ? sizeof(struct vdbq_text)
                                : type_width(machine);
}

bool constants_room(struct arena *arena, int type, size_t rows,
                    struct vdbq_vector *constants)
{
    void *values =
        arena_alloc(arena, (rows + 1) * value_size((enum vdbq_type)type));
    uint8_t *nulls = arena_alloc(arena, rows + 1);

    *constants = (struct vdbq_vector){ .type = (enum vdbq_type)type,
                                       .values = values,
                                       .nulls = nulls };
    return values != NULL && nulls != NULL;
}

static bool put_text(struct arena *arena, struct vdbq_text *to,
                     struct vdbq_text from)
{
    to->bytes = arena_copy(arena, from.bytes, from.length);
    to->length = from.length;
    return to->bytes != NULL;
}

bool constants_put(struct arena *arena, struct vdbq_vector *constants,
                   size_t row, const struct expression *e)
{
    void *values = (void *)(uintptr_t)constants->values;

    assert(e->kind == EXPRESSION_CONSTANT);
    ((uint8_t *)(uintptr_t)constants->nulls)[row] = e->constant.null;
    if (e->constant.null)
        return true;
    switch (type_machine(constants->type)) {
    case TYPE_I32:
        ((int32_t *)values)[row] = (int32_t)e->constant.integer;
        return true;
    case TYPE_I64:
        ((int64_t *)values)[row] = e->constant.integer;
        return true;
    case TYPE_F32:
        ((float *)values)[row] = (float)e->constant.real;
        return true;
    case TYPE_F64:
        ((double *)values)[row] = e->constant.real;
        return true;
    default:
        return put_text(arena, (struct vdbq_text *)values + row,
                        e->constant.text);
    }
}

struct constant_number constants_number(const struct vdbq_vector *constants,
                                        size_t row)
{
    const void *values = constants->values;

    switch (type_machine(constants->type)) {
    case TYPE_I32:
        return (struct constant_number){ .integer =
                                             ((const int32_t *)values)[row] };
    case TYPE_I64:
        return (struct constant_number){ .integer =
                                             ((const int64_t *)values)[row] };
    case TYPE_F32:
        return (struct constant_number){ .real = (double)((
                                             const float *)values)[row] };
    case TYPE_F64:
        return (struct constant_number){ .real =
                                             ((const double *)values)[row] };
    default:
        return (struct constant_number){ 0 };
    }
}

static bool same_texts(const struct vdbq_text *a, const struct vdbq_text *b,
                       size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (a[i].length != b[i].length
            || (a[i].length > 0
                && memcmp(a[i].bytes, b[i].bytes, a[i].length) != 0))
            return false;
    return true;
}

bool constants_same(const struct vdbq_vector *a, const struct vdbq_vector *b,
                    size_t rows)
{
    if (a->type != b->type || memcmp(a->nulls, b->nulls, rows) != 0)
        return false;
    if (a->type == VDBQ_TEXT)
        return same_texts(a->values, b->values, rows);
    return memcmp(a->values, b->values, rows * value_size(a->type)) == 0;
}
