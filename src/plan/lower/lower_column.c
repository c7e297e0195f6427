/* SPDX-License-Identifier: MIT */
/*
 * Columns of nodes on their way to columns of steps.
 */
#include <assert.h>
#include <string.h>

#include "base/vector.h"
#include "plan/lower/lowering.h"
#include "plan/tree/binder.h"

/* One flag a column, in the arena; NULL: no memory. */
bool *lower_flags(struct lowering *lowering, unsigned count)
{
    bool *made = arena_alloc(lowering->binder->arena, count + 1);

    if (made == NULL)
        error_no_memory(lowering->binder->error);
    return made;
}

int *lower_numbers(struct lowering *lowering, unsigned count)
{
    int *made =
        arena_alloc(lowering->binder->arena, (count + 1) * sizeof *made);

    if (made == NULL) {
        error_no_memory(lowering->binder->error);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        made[i] = -1;
    return made;
}

struct step_column lower_column(const struct node_column *column)
{
    return (struct step_column){ .name = column->name,
                                 .type = (enum vdbq_type)column->type,
                                 .precision = column->precision,
                                 .scale = column->scale };
}

enum vdbq_status lower_status(const struct lowering *lowering, bool done)
{
    assert(done || lowering->binder->error->status != VDBQ_OK);
    return done ? VDBQ_OK : lowering->binder->error->status;
}

/* A query that is applied has steps of its own, also of what it shares with the
 * query around it: so they grow without an end. */
enum { STEPS_MAX = 1 << 17 };

enum vdbq_status lower_add_step(struct lowering *lowering, enum step_kind kind,
                                unsigned columns, const int *inputs,
                                unsigned count, int *number)
{
    struct steps *steps = lowering->steps;
    struct step *step;

    if (++lowering->binder->steps > STEPS_MAX)
        return error_set(lowering->binder->error, VDBQ_LIMIT,
                         "the query, with its views and WITH, has more than "
                         "%d steps",
                         STEPS_MAX);
    step = steps_add(steps, kind);

    for (unsigned i = 0; i < count; i++) /* inputs come before it */
        assert(inputs[i] >= 0 && inputs[i] < (int)steps->steps.count);
    if (step != NULL)
        step->columns =
            arena_alloc(&steps->arena, (columns + 1) * sizeof *step->columns);
    if (step == NULL || step->columns == NULL
        || (count > 0 && !vector_append(&step->inputs, inputs, count)))
        return error_no_memory(lowering->binder->error);
    *number = (int)steps->steps.count - 1;
    return VDBQ_OK;
}

/* Adds a column to a step; its name lives as long. */
bool lower_add_column(struct lowering *lowering, int number,
                      const struct step_column *column)
{
    struct step *step = steps_at(lowering->steps, number);
    struct step_column *added = &step->columns[step->column_count++];

    *added = *column;
    added->name =
        arena_copy(&lowering->steps->arena, column->name, strlen(column->name));
    if (added->name == NULL)
        error_no_memory(lowering->binder->error);
    return added->name != NULL;
}

/* Adds all columns of one of its inputs. */
bool lower_add_columns_of(struct lowering *lowering, int number, int input)
{
    unsigned count = steps_at(lowering->steps, input)->column_count;
    bool done = true;

    for (unsigned i = 0; i < count && done; i++) {
        struct step_column column =
            steps_at(lowering->steps, input)->columns[i];
        done = lower_add_column(lowering, number, &column);
    }
    return done;
}

/* A copy of numbers of columns, as the step has them. */
bool lower_move_numbers(struct lowering *lowering, const struct vector *from,
                        const int *map, struct vector *to)
{
    for (size_t i = 0; i < from->count; i++) {
        int number = map[VECTOR_ITEMS(from, int)[i]];
        assert(number >= 0);
        if (!vector_append(to, &number, 1)) {
            error_no_memory(lowering->binder->error);
            return false;
        }
    }
    return true;
}

bool lower_move_keys(struct lowering *lowering, const struct vector *from,
                     const int *map, struct vector *to)
{
    for (size_t i = 0; i < from->count; i++) {
        struct step_key key = VECTOR_ITEMS(from, struct step_key)[i];
        key.column = map[key.column];
        assert(key.column >= 0);
        if (!vector_append(to, &key, 1)) {
            error_no_memory(lowering->binder->error);
            return false;
        }
    }
    return true;
}
