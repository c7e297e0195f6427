/* SPDX-License-Identifier: MIT */
/*
 * What readers ask of the numbers of texts: from the last step to the first, for
 * what is asked of a step's columns may be asked of its inputs', too.
 */
#include "program/steps/steps.h"

#include <assert.h>
#include <string.h>

#include "program/loads.h"

/* A step and the columns of one of its inputs. */
struct using
{
    const struct step *step;
    const uint8_t *own; /* what is asked of the step's columns */
    uint8_t *uses;      /* of the input's                      */
    unsigned count;     /* of these                            */
    bool right;         /* it is the second input              */
};

/* An input's column is asked for at least as much. */
static void use(const struct using *using, int column, enum texts_use least)
{
    if (column >= 0 && (unsigned)column < using->count
        && using->uses[column] < least)
        using->uses[column] = least;
}

/* Columns that keep their places. */
static void use_same(const struct using *using)
{
    for (unsigned i = 0; i < using->step->column_count; i++)
        use(using, (int)i, (enum texts_use) using->own[i]);
}

/* Texts stay when the next batch comes. */
static void raise_all(uint8_t *uses, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (uses[i] < TEXTS_GIVEN)
            uses[i] = TEXTS_GIVEN;
}

/* The input's batches are not read one by one: all have the same words. */
static void use_longer(const struct using *using)
{
    raise_all(using->uses, using->count);
}

static void use_all(const struct using *using)
{
    for (unsigned i = 0; i < using->count; i++)
        use(using, (int)i, TEXTS_ORDERED);
}

/* The column of the input whose texts a result shows, which nothing else of the
 * program reads but calls; -1: there is none. */
static int shown_column(const struct program *program, unsigned result)
{
    const struct program_pack *pack = program->packed;
    int input = pack->shown_inputs[result];
    return input >= 0 ? pack->inputs[input].column : -1;
}

/* Whether results show the texts of a column, and nothing else reads them. Where
 * calls do, there had better be no text twice. */
static bool only_shown(const struct program *program, int column)
{
    const struct program_pack *pack = program->packed;
    bool shown = false;
    for (unsigned i = 0; i < pack->result_count && !shown; i++)
        shown = shown_column(program, i) == column;
    for (unsigned i = 0; i < pack->slot_count && shown; i++) {
        const struct program_slot *slot = &pack->slots[i];
        enum opcode op = program_at(program, slot->pc)->op;
        shown = op_facts(op)->form != FORM_LOOKUP || slot->words != column;
    }
    return shown;
}

/* Columns that the program reads: their texts have numbers together, but for those
 * that are given on as they come. */
static void use_loaded(const struct using *using, const struct program *program)
{
    struct program_part part = program_part(program);
    assert(program->packed != NULL); /* since steps_check() */
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (op_facts(in->op)->form == FORM_COLUMN
            && !only_shown(program, in->b))
            use(using, in->b, TEXTS_ORDERED);
    }
    for (unsigned i = 0; i < using->step->column_count; i++)
        if (using->own[i] > TEXTS_GIVEN) /* they are joined with others */
            use(using, shown_column(program, i), TEXTS_ORDERED);
}

/* A program that computes nothing gives columns as they are, as long as all
 * results are columns: else it is run. One with build sides has keys, too. */
static void use_scan(const struct using *using)
{
    const struct program *program = &using->step->scan.program;
    bool alone = program->tables.count == 1;
    bool gives = program_gives(program, using->step->column_count);

    for (unsigned i = 0; i < using->step->column_count && gives; i++)
        use(using, program_given_column(program, i),
            (enum texts_use) using->own[i]);
    if (!gives)
        use_longer(using);
    if (alone && !gives)
        use_loaded(using, program);
    else if (!alone)
        use_all(using);
}

/* What an aggregate asks of its argument. */
static enum texts_use aggregate_use(const struct step_aggregate *aggregate,
                                    enum texts_use own)
{
    switch (aggregate_row(aggregate->function)->keeps) {
    case AGGREGATE_KEEPS_NOTHING:
        return aggregate->distinct ? TEXTS_COMPARED : TEXTS_GIVEN;
    case AGGREGATE_KEEPS_FIRST:
        return aggregate->distinct && own < TEXTS_COMPARED ? TEXTS_COMPARED
                                                           : own;
    default:
        return TEXTS_ORDERED;
    }
}

static void use_group(const struct using *using)
{
    const struct step_group *group = &using->step->group;
    use_longer(using);
    for (unsigned i = 0; i < group->keys; i++) {
        use(using, (int)i, TEXTS_COMPARED);
        use(using, (int)i, (enum texts_use) using->own[i]);
    }
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        use(using, aggregate->column,
            aggregate_use(aggregate,
                          (enum texts_use) using->own[group->keys + i]));
    }
}

static void use_sort(const struct using *using)
{
    const struct vector *keys = &using->step->sort.keys;
    use_longer(using);
    for (size_t i = 0; i < keys->count; i++)
        use(using, VECTOR_ITEMS(keys, struct step_key)[i].column,
            TEXTS_ORDERED);
    use_same(using);
}

/* Partitions are told apart, rows are sorted by the order, and texts are joined as they
 * are; what gives a value of another row, or computes with values, may ask for all. */
static void use_window_function(const struct using *using,
                                const struct step_window_function *function)
{
    enum texts_use values =
        function->function == WINDOW_STRING_AGG ? TEXTS_GIVEN : TEXTS_ORDERED;
    for (size_t i = 0; i < function->partition.count; i++)
        use(using, VECTOR_ITEMS(&function->partition, int)[i], TEXTS_COMPARED);
    for (size_t i = 0; i < function->order.count; i++)
        use(using, VECTOR_ITEMS(&function->order, struct step_key)[i].column,
            TEXTS_ORDERED);
    use(using, function->aggregate.column, values);
    use(using, function->fallback, values);
}

static void use_window(const struct using *using)
{
    const struct vector *functions = &using->step->window.functions;
    use_longer(using);
    use_same(using);
    for (size_t i = 0; i < functions->count; i++)
        use_window_function(using, vector_at(functions, i));
}

/* A join gives columns of both inputs, the left ones first, or of the left one
 * alone. Its keys are compared, and its condition is a program. */
static void use_join(const struct using *using)
{
    const struct step *step = using->step;
    const struct vector *keys =
        using->right ? &step->join.right_keys : &step->join.left_keys;
    bool gives = !using->right || step->join.kind <= JOIN_FULL;
    unsigned first =
        using->right && gives ? step->column_count - using->count : 0;
    use_longer(using);
    for (unsigned i = 0; i < using->count && gives; i++)
        use(using, (int)i, (enum texts_use) using->own[first + i]);
    for (size_t i = 0; i < keys->count; i++)
        use(using, VECTOR_ITEMS(keys, int)[i], TEXTS_COMPARED);
    if (step->join.condition != NULL)
        use_all(using);
}

static void use_map(const struct using *using)
{
    for (unsigned i = using->count; i < using->step->column_count; i++)
        if (using->step->columns[i].type == VDBQ_TEXT
            && using->own[i] > TEXTS_PASSING)
            use_longer(using);
    use_same(using);
}

/* What the step asks of its input. Arguments of STEP_MAP are read as texts, batch
 * by batch; where all rows are taken first, as for results that are to have the same
 * words, so are those of the input. */
static void use_input(const struct using *using)
{
    switch (using->step->kind) {
    case STEP_SCAN:
        use_scan(using);
        return;
    case STEP_GROUP:
        use_group(using);
        return;
    case STEP_SORT:
        use_sort(using);
        return;
    case STEP_LIMIT:
        use_same(using);
        return;
    case STEP_JOIN:
        use_join(using);
        return;
    case STEP_MAP:
        use_map(using);
        return;
    case STEP_WINDOW:
        use_window(using);
        return;
    case STEP_FETCH:
    case STEP_EXCHANGE:
        use_longer(using);
        use_same(using);
        return;
    default:
        use_all(using);
    }
}

uint8_t **steps_texts(const struct steps *steps, enum texts_use last)
{
    size_t count = steps->steps.count, columns = 0;
    for (size_t i = 0; i < count; i++)
        columns += steps_at(steps, (int)i)->column_count;
    uint8_t **uses = memory_zeroed(1, count * sizeof *uses + columns + 1);
    if (uses == NULL)
        return NULL;
    bool share = steps_share(steps);
    uint8_t *next = (uint8_t *)(uses + count);
    for (size_t i = 0; i < count; i++) {
        uses[i] = next;
        next += steps_at(steps, (int)i)->column_count;
    }
    if (count > 0)
        memset(uses[count - 1], last, steps_last(steps)->column_count);
    for (size_t i = count; i-- > 0;) {
        const struct step *step = steps_at(steps, (int)i);
        if (share && steps_readers(steps, (int)i) > 1)
            raise_all(uses[i], step->column_count);
        for (size_t j = 0; j < step->inputs.count; j++) {
            int input = VECTOR_ITEMS(&step->inputs, int)[j];
            assert((size_t)input < i);
            use_input(
                &(struct using){ .step = step,
                                 .own = uses[i],
                                 .uses = uses[input],
                                 .count = steps_at(steps, input)->column_count,
                                 .right = j > 0 });
        }
    }
    return uses;
}
