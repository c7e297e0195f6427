/* SPDX-License-Identifier: MIT */
/*
 * Steps: their making and their end.
 */
#include "program/steps/steps.h"

#include <assert.h>
#include <string.h>

#include "base/type.h"

enum { FIRSTS_MOST = 1000 }; /* rows, by their place in a sort */

int step_machine_type(enum vdbq_type type)
{
    int machine = type_machine(type);
    return machine == TYPE_WORD ? TYPE_I32 : machine;
}

void steps_init(struct steps *steps)
{
    *steps = (struct steps){ .steps = VECTOR(struct step) };
}

const char *join_name(enum join_kind kind)
{
    static const char *const names[] = {
        [JOIN_INNER] = "inner", [JOIN_LEFT] = "left", [JOIN_RIGHT] = "right",
        [JOIN_FULL] = "full",   [JOIN_SEMI] = "semi", [JOIN_ANTI] = "anti",
        [JOIN_MARK] = "mark",
    };
    assert((size_t)kind < sizeof names / sizeof *names);
    return names[kind];
}

struct step *steps_at(const struct steps *steps, int number)
{
    return vector_at(&steps->steps, (size_t)number);
}

struct step *steps_last(const struct steps *steps)
{
    return vector_at(&steps->steps, steps->steps.count - 1);
}

/* -------------------------------------------------------- make, finish -- */

struct step *steps_add(struct steps *steps, enum step_kind kind)
{
    struct step *step = vector_add(&steps->steps);
    if (step == NULL)
        return NULL;
    step->kind = kind;
    step->rows = -1;
    step->inputs = VECTOR(int);
    switch (kind) {
    case STEP_SCAN:
        program_init(&step->scan.program);
        break;
    case STEP_GROUP:
        step->group.aggregates = VECTOR(struct step_aggregate);
        break;
    case STEP_SORT:
        step->sort.keys = VECTOR(struct step_key);
        break;
    case STEP_JOIN:
        step->join.left_keys = VECTOR(int);
        step->join.right_keys = VECTOR(int);
        break;
    case STEP_APPLY:
        step->apply.parameters = VECTOR(struct step_parameter);
        break;
    case STEP_WINDOW:
        step->window.functions = VECTOR(struct step_window_function);
        break;
    case STEP_MAP:
        step->map.functions = VECTOR(struct step_function);
        break;
    case STEP_FETCH:
        step->fetch.columns = VECTOR(int);
        break;
    case STEP_SEEK:
        step->seek.columns = VECTOR(int);
        break;
    case STEP_EXCHANGE:
        step->exchange.keys = VECTOR(int);
        break;
    case STEP_LIMIT:
    case STEP_CONCAT:
    case STEP_VALUES:
    case STEP_RECURSE:
    case STEP_WORKING:
    case STEP_GATHER:
        break;
    }
    return step;
}

/* Inputs from step `number` on are one further down: a step was put behind it. */
static void renumber(struct vector *inputs, int number)
{
    for (size_t i = 0; i < inputs->count; i++) {
        int *input = vector_at(inputs, i);
        *input += *input >= number;
    }
}

struct step *steps_insert(struct steps *steps, int number, enum step_kind kind)
{
    struct step *made = steps_add(steps, kind), added;
    if (made == NULL || !vector_append(&made->inputs, &number, 1))
        return NULL;
    made->column_count = steps_at(steps, number)->column_count;
    made->columns = steps_at(steps, number)->columns;
    made->rows = steps_at(steps, number)->rows;
    for (size_t i = 0; i + 1 < steps->steps.count; i++)
        renumber(&steps_at(steps, (int)i)->inputs, number);
    added = *made;
    for (int i = (int)steps->steps.count - 1; i > number + 1; i--)
        *steps_at(steps, i) = *steps_at(steps, i - 1);
    made = steps_at(steps, number + 1);
    *made = added;
    return made;
}

static void finish_join(struct step_join *join)
{
    vector_finish(&join->left_keys);
    vector_finish(&join->right_keys);
    if (join->condition != NULL)
        program_finish(join->condition);
}

static void finish_window(struct step_window *window)
{
    for (size_t i = 0; i < window->functions.count; i++) {
        struct step_window_function *function =
            vector_at(&window->functions, i);
        vector_finish(&function->partition);
        vector_finish(&function->order);
    }
    vector_finish(&window->functions);
}

uint32_t step_sort_firsts(const struct step_sort *sort)
{
    bool few = sort->limit <= FIRSTS_MOST && sort->offset <= FIRSTS_MOST;
    return few && sort->keys.count > 0 && sort->limit > 0
               ? (uint32_t)(sort->offset + sort->limit)
               : 0;
}

bool step_window_gives_one(const struct step_window_function *function)
{
    return window_is_quantile(function->function)
           || window_is_fold(function->function)
           || (function->function == WINDOW_FIRST && !function->frame.known
               && (function->frame.unit == FRAME_DEFAULT
                   || function->frame.begin.unbounded));
}

bool step_window_parts_alike(const struct step_window_function *a,
                             const struct step_window_function *b)
{
    const struct vector *x = &a->partition, *y = &b->partition;
    return x->count == y->count
           && (x->count == 0
               || memcmp(x->items, y->items, x->count * sizeof(int)) == 0);
}

static void finish_map(struct step_map *map)
{
    for (size_t i = 0; i < map->functions.count; i++) {
        struct step_function *function = vector_at(&map->functions, i);
        vector_finish(&function->arguments);
        vector_finish(&function->then);
    }
    vector_finish(&map->functions);
}

static void finish_step(struct step *step)
{
    vector_finish(&step->inputs);
    switch (step->kind) {
    case STEP_SCAN:
        program_finish(&step->scan.program);
        break;
    case STEP_GROUP:
        vector_finish(&step->group.aggregates);
        break;
    case STEP_SORT:
        vector_finish(&step->sort.keys);
        break;
    case STEP_JOIN:
        finish_join(&step->join);
        break;
    case STEP_APPLY:
        vector_finish(&step->apply.parameters);
        if (step->apply.inner != NULL)
            steps_finish(step->apply.inner);
        break;
    case STEP_RECURSE:
        if (step->recurse.term != NULL)
            steps_finish(step->recurse.term);
        break;
    case STEP_WINDOW:
        finish_window(&step->window);
        break;
    case STEP_MAP:
        finish_map(&step->map);
        break;
    case STEP_FETCH:
        vector_finish(&step->fetch.columns);
        break;
    case STEP_SEEK:
        vector_finish(&step->seek.columns);
        break;
    case STEP_EXCHANGE:
        vector_finish(&step->exchange.keys);
        break;
    case STEP_LIMIT:
    case STEP_CONCAT:
    case STEP_VALUES:
    case STEP_WORKING:
    case STEP_GATHER:
        break;
    }
}

void steps_finish(struct steps *steps)
{
    for (size_t i = 0; i < steps->steps.count; i++)
        finish_step(steps_at(steps, (int)i));
    vector_finish(&steps->steps);
    arena_finish(&steps->arena);
    *steps = (struct steps){ 0 };
}

/* ------------------------------------------------------------ describe -- */

bool steps_describe(struct steps *steps, struct step *step)
{
    const struct program *program = &step->scan.program;
    step->columns =
        arena_alloc(&steps->arena, program->code.count * sizeof *step->columns);
    if (step->columns == NULL)
        return false;
    step->column_count = 0;
    for (int pc = 0; pc < (int)program->code.count; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (in->op == OP_PARALLEL)
            break;
        if (in->op == OP_RESULT_COLUMN)
            step->columns[step->column_count++] =
                (struct step_column){ .name = in->name,
                                      .type = (enum vdbq_type)in->a };
    }
    return true;
}
