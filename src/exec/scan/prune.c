/* SPDX-License-Identifier: MIT */
/*
 * Skipping tablets. The catalogue knows the facts of every tablet's columns,
 * and each tablet that is read is checked against them, so they hold; what
 * follows from them for the program is proved in program/dataflow/dataflow.c.
 *
 * A NULL's register holds a value, too, that no comparison of the program is
 * meant to decide by. So that it spoils no proof, rows are told apart by
 * which of their columns are NULL, and each kind is looked at alone: every
 * row is of one of these kinds.
 */
#include "exec/scan/prune.h"

#include <assert.h>
#include <string.h>

#include "exec/launch/column_input.h"
#include "program/interval.h"

/* Columns by whose NULLs rows are told apart: up to 16 kinds of rows. */
enum { SPLIT_MAX = 4 };

bool pruning_init(struct pruning *pruning, const struct pruning_params *params,
                  struct arena *arena)
{
    const struct program_pack *pack = params->pack;
    size_t build_side = pack->build_count + 2 * (size_t)pack->index_count;
    *pruning = (struct pruning){
        .params = *params,
        .ranges = arena_alloc(arena, (pack->input_count + build_side + 1)
                                         * sizeof *pruning->ranges),
        .room = arena_alloc(arena, program_dataflow_room(params->program)),
    };
    if (pruning->ranges == NULL || pruning->room == NULL)
        return false;
    if (params->build_side != NULL)
        memcpy(pruning->ranges + pack->input_count, params->build_side,
               build_side * sizeof *params->build_side);
    return true;
}

/* Values that are not NULL. */
static struct interval values(const struct column_facts *facts)
{
    return (struct interval){ .low = facts->minimum,
                              .high = facts->maximum,
                              .low_real = facts->minimum_real,
                              .high_real = facts->maximum_real };
}

/* What stands for a NULL: 0 or, by encoding, the minimum (cl/tablet.h). */
static struct interval null_values(const struct column_facts *facts)
{
    const struct interval zero = { 0 };
    struct interval least = values(facts);
    least.high = least.low;
    least.high_real = least.low_real;
    return facts->empty ? zero : interval_join(&zero, &least);
}

/* A column of the tablet, NULL or not as `null` and `not_null` say. */
static struct input_range column_range(const struct column_facts *facts,
                                       bool null, bool not_null)
{
    struct input_range range = { .null = null, .not_null = not_null };
    struct interval nulls = null_values(facts);
    range.value = values(facts);
    if (null)
        range.value = not_null ? interval_join(&range.value, &nulls) : nulls;
    return range;
}

/* The words of a text column of the tablet; of a NULL stands the first, or
 * what a column without words has. */
static struct interval word_values(const struct pruning *pruning,
                                   const struct tablet_ref *tablet,
                                   unsigned input)
{
    size_t morsel = (size_t)(tablet - pruning->params.table->tablets);
    assert(morsel < pruning->params.table->tablet_count);
    struct interval range = interval_any(TYPE_I32);
    if (pruning->params.dictionary != NULL)
        run_dictionary_range(pruning->params.dictionary, morsel, input,
                             &range.low, &range.high);
    return range;
}

/* Row numbers of a tablet follow one another. */
static struct input_range row_numbers(const struct tablet_ref *tablet)
{
    int64_t first = (int64_t)tablet->row_first;
    return (struct input_range){
        .value = { .low = first, .high = first + (int64_t)tablet->rows - 1 },
        .not_null = true
    };
}

/* What the run knows of the program's texts; NULL: nothing. */
static const struct run_values *run_values(const struct pruning *pruning)
{
    return pruning->params.dictionary != NULL
               ? &pruning->params.dictionary->values
               : NULL;
}

/* Which rows of a tablet are meant: those whose value is NULL, or is not. */
struct kind {
    bool null, not_null; /* the values looked at may be NULL, or not */
};

/* What the program meets in this column of the tablet. */
static void set_range(struct pruning *pruning, const struct tablet_ref *tablet,
                      unsigned input, struct kind kind)
{
    assert(input < pruning->params.pack->input_count);
    unsigned column = column_input_number(
        pruning->params.table, pruning->params.pack->inputs[input].column);
    struct input_range *range = &pruning->ranges[input];
    *range = column_range(&tablet->facts[column], kind.null, kind.not_null);
    if (pruning->params.table->columns[column].type == VDBQ_TEXT)
        range->value = word_values(pruning, tablet, input);
}

/* Whether the rows are skipped, with the inputs from `input` on still open and
 * `splits` of them to be told apart. */
static bool skip_rows(struct pruning *pruning, const struct tablet_ref *tablet,
                      unsigned input, unsigned splits)
{
    assert(input <= pruning->params.pack->input_count);
    if (input == pruning->params.pack->input_count)
        return !program_reaches(pruning->params.program, pruning->params.pack,
                                run_values(pruning), pruning->ranges,
                                pruning->room);
    unsigned column = column_input_number(
        pruning->params.table, pruning->params.pack->inputs[input].column);
    struct input_range *range = &pruning->ranges[input];
    if (column == NO_KEY) {
        *range = row_numbers(tablet);
        return skip_rows(pruning, tablet, input + 1, splits);
    }
    const struct column_facts *facts = &tablet->facts[column];
    bool null = facts->null_count > 0, not_null = !facts->empty;
    if (!null || !not_null || splits == 0) {
        set_range(pruning, tablet, input, (struct kind){ null, not_null });
        return skip_rows(pruning, tablet, input + 1, splits);
    }
    set_range(pruning, tablet, input, (struct kind){ .not_null = true });
    if (!skip_rows(pruning, tablet, input + 1, splits - 1))
        return false;
    set_range(pruning, tablet, input, (struct kind){ .null = true });
    return skip_rows(pruning, tablet, input + 1, splits - 1);
}

bool prune_tablet(struct pruning *pruning, const struct tablet_ref *tablet)
{
    return skip_rows(pruning, tablet, 0, SPLIT_MAX);
}

/* The values, not NULL, that a column may have in all tablets; false: there is none,
 * or it is not known. */
static bool common_range(struct pruning *pruning, unsigned input)
{
    const struct table *table = pruning->params.table;
    struct interval *value = &pruning->ranges[input].value;
    struct interval common = { 0 };
    unsigned column =
        column_input_number(table, pruning->params.pack->inputs[input].column);
    for (size_t i = 0; column != NO_KEY && i < table->tablet_count; i++) {
        if (table->tablets[i].facts[column].empty)
            return false;
        set_range(pruning, &table->tablets[i], input,
                  (struct kind){ .not_null = true });
        if (i > 0 && !interval_meet(value, &common))
            return false;
        common = *value;
    }
    return column != NO_KEY;
}

bool prune_none(struct pruning *pruning)
{
    for (unsigned i = 0; i < pruning->params.pack->input_count; i++)
        if (!common_range(pruning, i))
            return false;
    return program_reaches(pruning->params.program, pruning->params.pack,
                           run_values(pruning), pruning->ranges, pruning->room);
}

/* What the program meets in this column of one of the tablets [first, end). */
static void join_ranges(struct pruning *pruning, size_t first, size_t end,
                        unsigned input)
{
    const struct tablet_ref *tablets = pruning->params.table->tablets;
    unsigned column = column_input_number(
        pruning->params.table, pruning->params.pack->inputs[input].column);
    struct input_range all = { 0 };
    for (size_t i = first; i < end; i++) {
        struct input_range *range = &pruning->ranges[input];
        if (column == NO_KEY) {
            *range = row_numbers(&tablets[i]);
        } else {
            const struct column_facts *facts = &tablets[i].facts[column];
            set_range(pruning, &tablets[i], input,
                      (struct kind){ facts->null_count > 0, !facts->empty });
        }
        all.value =
            i > first ? interval_join(&all.value, &range->value) : range->value;
        all.null |= range->null;
        all.not_null |= range->not_null;
    }
    pruning->ranges[input] = all;
}

bool prune_results(struct pruning *pruning, size_t first, size_t end, bool join,
                   struct interval *ranges)
{
    assert(first < end && end <= pruning->params.table->tablet_count);
    for (unsigned i = 0; i < pruning->params.pack->input_count; i++)
        join_ranges(pruning, first, end, i);
    if (!program_dataflow_results(pruning->params.program, pruning->params.pack,
                                  run_values(pruning), pruning->ranges,
                                  pruning->room))
        return false;
    const struct interval *registers = pruning->room;
    for (unsigned i = 0; i < program_results(pruning->params.program); i++) {
        const struct interval *range =
            &registers[program_result(pruning->params.program, i).register_];
        ranges[i] = join ? interval_join(&ranges[i], range) : *range;
    }
    return true;
}
