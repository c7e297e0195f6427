/* SPDX-License-Identifier: MIT */
/*
 * Rows of constants (NODE_VALUES) as vectors of a step.
 */
#include <string.h>

#include "plan/lower/lowering.h"
#include "plan/tree/binder.h"

static bool put_text(struct arena *arena, struct vdbq_text *to,
                     struct vdbq_text from)
{
    to->bytes = arena_copy(arena, from.bytes, from.length);
    to->length = from.length;
    return to->bytes != NULL;
}

/* Integers of any width go into columns of any, as far as they fit. */
static bool put_value(struct arena *arena, const struct vdbq_vector *vector,
                      void *values, size_t i, const struct expression *e)
{
    switch (type_machine(vector->type)) {
    case TYPE_I32:
        ((int32_t *)values)[i] = (int32_t)e->constant.integer;
        return true;
    case TYPE_I64:
        ((int64_t *)values)[i] = e->constant.integer;
        return true;
    case TYPE_F32:
        ((float *)values)[i] = (float)e->constant.real;
        return true;
    case TYPE_F64:
        ((double *)values)[i] = e->constant.real;
        return true;
    default:
        return put_text(arena, (struct vdbq_text *)values + i,
                        e->constant.text);
    }
}

static size_t value_size(int type)
{
    int machine = type_machine((enum vdbq_type)type);

    return machine == TYPE_WORD ? sizeof(struct vdbq_text)
                                : type_width(machine);
}

/* One column of a VALUES node; false: no memory. */
static bool put_column(struct arena *arena, const struct node *node,
                       unsigned column, struct vdbq_vector *vector)
{
    int type = node->columns[column].type;
    size_t rows = node->value_rows;
    struct expression *const *from = node->values + column * rows;
    void *values = arena_alloc(arena, (rows + 1) * value_size(type));
    uint8_t *nulls = arena_alloc(arena, rows + 1);
    bool done = values != NULL && nulls != NULL;

    *vector = (struct vdbq_vector){ .type = (enum vdbq_type)type,
                                    .values = values,
                                    .nulls = nulls };
    for (size_t i = 0; i < rows && done; i++) {
        nulls[i] = from[i]->constant.null;
        done = from[i]->constant.null
               || put_value(arena, vector, values, i, from[i]);
    }
    return done;
}

static bool fill(struct arena *arena, const struct node *node,
                 const bool *needed, struct step_values *values)
{
    struct vdbq_vector *vectors =
        arena_alloc(arena, (node->column_count + 1) * sizeof *vectors);
    unsigned count = 0;
    bool done = vectors != NULL;

    for (unsigned i = 0; i < node->column_count && done; i++)
        if (needed[i])
            done = put_column(arena, node, i, &vectors[count++]);
    *values = (struct step_values){ node->value_rows, vectors };
    return done;
}

enum vdbq_status lower_values(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number)
{
    struct steps *steps = lowering->steps;
    enum vdbq_status status = lower_add_step(
        lowering, STEP_VALUES, node->column_count, NULL, 0, number);

    if (status != VDBQ_OK)
        return status;
    if (!fill(&steps->arena, node, needed, &steps_at(steps, *number)->values))
        return error_no_memory(lowering->binder->error);
    for (unsigned i = 0; i < node->column_count; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        if (!needed[i])
            continue;
        map[i] = (int)steps_at(steps, *number)->column_count;
        if (!lower_add_column(lowering, *number, &column))
            return lower_status(lowering, false);
    }
    return VDBQ_OK;
}
