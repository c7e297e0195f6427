/* SPDX-License-Identifier: MIT */
/*
 * Proves that the steps of a query fit together before anything runs them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/type.h"
#include "program/steps/steps_check.h"

static const char *const kind_names[] = {
    [STEP_SCAN] = "scan",       [STEP_GROUP] = "group",
    [STEP_SORT] = "sort",       [STEP_LIMIT] = "limit",
    [STEP_JOIN] = "join",       [STEP_CONCAT] = "concat",
    [STEP_APPLY] = "apply",     [STEP_WINDOW] = "window",
    [STEP_MAP] = "map",         [STEP_VALUES] = "values",
    [STEP_FETCH] = "fetch",     [STEP_SEEK] = "seek",
    [STEP_GATHER] = "gather",   [STEP_EXCHANGE] = "exchange",
    [STEP_RECURSE] = "recurse", [STEP_WORKING] = "working",
};

enum vdbq_status steps_refuse(const struct checking *check, const char *format,
                              ...)
{
    char fact[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact, sizeof fact, format, arguments);
    va_end(arguments);
    return error_set(check->error, VDBQ_PROGRAM, "step %d (%s): %s",
                     check->number, kind_names[check->step->kind], fact);
}

/* -------------------------------------------------------------- inputs -- */

const struct step *steps_input(const struct checking *check, size_t i)
{
    return steps_at(check->steps, VECTOR_ITEMS(&check->step->inputs, int)[i]);
}

static enum vdbq_status check_inputs(const struct checking *check)
{
    const struct vector *inputs = &check->step->inputs;
    size_t least = 1, most = 1;
    if (check->step->kind == STEP_SCAN) {
        least = 0;
        most = VDBQ_CURSORS_MAX;
    }
    if (check->step->kind == STEP_VALUES || check->step->kind == STEP_WORKING)
        least = most = 0;
    if (check->step->kind == STEP_SEEK)
        least = 0;
    if (check->step->kind == STEP_JOIN)
        least = most = 2;
    if (check->step->kind == STEP_LIMIT)
        most = 2;
    if (check->step->kind == STEP_CONCAT)
        most = SIZE_MAX;
    if (inputs->count < least || inputs->count > most)
        return steps_refuse(check, "it has %zu inputs", inputs->count);
    for (size_t i = 0; i < inputs->count; i++) {
        int number = VECTOR_ITEMS(inputs, int)[i];
        if (number < 0 || number >= check->number)
            return steps_refuse(check, "its input %d is no step before it",
                                number);
    }
    return VDBQ_OK;
}

enum vdbq_status steps_check_column(const struct checking *check, int column,
                                    bool none)
{
    if (column >= (none ? -1 : 0)
        && column < (int)steps_input(check, 0)->column_count)
        return VDBQ_OK;
    return steps_refuse(check, "its input has no column %d", column);
}

static enum vdbq_status check_count(const struct checking *check, size_t count)
{
    if (check->step->column_count == count)
        return VDBQ_OK;
    return steps_refuse(check, "it has %u columns, not %zu",
                        check->step->column_count, count);
}

/* Whether columns `first` .. of the step are those of `from`. */
static enum vdbq_status check_same(const struct checking *check, unsigned first,
                                   const struct step *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        enum vdbq_type type = check->step->columns[first + i].type;
        if (step_machine_type(type) != step_machine_type(from->columns[i].type))
            return steps_refuse(
                check, "its column %u is not of its input's type", first + i);
    }
    return VDBQ_OK;
}

/* ------------------------------------------------------------ programs -- */

/* Whether columns [first, ...) of a program's table are those of a step. */
static enum vdbq_status check_table(const struct checking *check,
                                    const struct program_table *table,
                                    unsigned first, const struct step *from)
{
    if (table->column_count < first + from->column_count
        || table->key_type != TYPE_I64)
        return steps_refuse(check, "its program's table %s is not its input",
                            table->name);
    for (unsigned i = 0; i < from->column_count; i++)
        if (table->column_types[first + i]
            != type_machine(from->columns[i].type))
            return steps_refuse(check,
                                "its program's table %s has another type for "
                                "column %u",
                                table->name, first + i);
    return VDBQ_OK;
}

/* Checks table k of a scan's program; `used` has a bit for each input that is
 * a table already. */
static enum vdbq_status check_scanned(const struct checking *check, size_t k,
                                      uint32_t *used)
{
    const struct program *program = &check->step->scan.program;
    const struct program_table *table = vector_at(&program->tables, k);
    if (table->input == 0)
        return k < program_axes(program)
                   ? VDBQ_OK
                   : steps_refuse(check, "its program's table %zu is no input",
                                  k);
    if (table->input > check->step->inputs.count)
        return steps_refuse(check, "its program's table %zu is input %u of %zu",
                            k, table->input - 1, check->step->inputs.count);
    if (*used >> (table->input - 1) & 1)
        return steps_refuse(check, "its program reads input %u twice",
                            table->input - 1);
    *used |= (uint32_t)1 << (table->input - 1);
    return check_table(check, table, 0, steps_input(check, table->input - 1));
}

/* Checks where the rows of the program's tables come from. */
static enum vdbq_status check_tables(const struct checking *check)
{
    const struct program *program = &check->step->scan.program;
    enum vdbq_status status = VDBQ_OK;
    unsigned axes = program_axes(program);
    uint32_t used = 0;
    if (axes > 1 && axes < program->tables.count)
        return steps_refuse(check, "its program has %u axes, and probes", axes);
    for (size_t k = 0; k < program->tables.count && status == VDBQ_OK; k++)
        status = check_scanned(check, k, &used);
    for (size_t i = 0; i < check->step->inputs.count && status == VDBQ_OK; i++)
        if (!(used >> i & 1))
            status =
                steps_refuse(check, "its program does not read input %zu", i);
    return status;
}

static enum vdbq_status check_scan(const struct checking *check)
{
    struct program *program = &check->step->scan.program;
    enum vdbq_status status = program_check(program, check->error);
    if (status == VDBQ_OK)
        status = check_count(check, program_results(program));
    for (unsigned i = 0; i < check->step->column_count && status == VDBQ_OK;
         i++)
        if (program_result(program, i).type
            != step_machine_type(check->step->columns[i].type))
            status = steps_refuse(check,
                                  "column %u is not of its program's type", i);
    if (status == VDBQ_OK)
        status = check_tables(check);
    return status == VDBQ_OK ? program_keep_pack(program, check->error)
                             : status;
}

/* --------------------------------------------------------------- joins -- */

static enum vdbq_status check_join_keys(const struct checking *check)
{
    const struct step_join *join = &check->step->join;
    const struct step *left = steps_input(check, 0),
                      *right = steps_input(check, 1);
    if (join->left_keys.count != join->right_keys.count)
        return steps_refuse(check, "its sides differ in the number of keys");
    for (size_t i = 0; i < join->left_keys.count; i++) {
        int a = VECTOR_ITEMS(&join->left_keys, int)[i];
        int b = VECTOR_ITEMS(&join->right_keys, int)[i];
        if (a < 0 || a >= (int)left->column_count || b < 0
            || b >= (int)right->column_count)
            return steps_refuse(check, "there is no key %d = %d", a, b);
        if (step_machine_type(left->columns[a].type)
                != step_machine_type(right->columns[b].type)
            || (left->columns[a].type == VDBQ_TEXT)
                   != (right->columns[b].type == VDBQ_TEXT))
            return steps_refuse(check, "keys %d = %d are of two types", a, b);
    }
    return VDBQ_OK;
}

/* Whether a column of `from` can bound one of a type. */
static bool can_bound(const struct step *from, int column, enum vdbq_type type)
{
    int machine = step_machine_type(type);
    bool is_float = machine == TYPE_F32 || machine == TYPE_F64;
    enum vdbq_type other;
    if (column < 0 || column >= (int)from->column_count)
        return column == -1;
    other = from->columns[column].type;
    if (is_float || other == VDBQ_FLOAT || other == VDBQ_DOUBLE)
        return step_machine_type(other) == machine;
    return other != VDBQ_TEXT;
}

static enum vdbq_status check_range_join(const struct checking *check)
{
    const struct step_range_join *range = &check->step->join.range;
    bool is_right = range->side == RANGE_JOIN_RIGHT;
    const struct step *of = steps_input(check, is_right);
    const struct step *by = steps_input(check, !is_right);
    if (range->side == RANGE_JOIN_NONE)
        return VDBQ_OK;
    if (range->column < 0 || range->column >= (int)of->column_count
        || of->columns[range->column].type == VDBQ_TEXT)
        return steps_refuse(check, "column %d cannot be in a band",
                            range->column);
    if (range->low < 0 && range->high < 0)
        return steps_refuse(check, "its band has no bounds");
    if (!can_bound(by, range->low, of->columns[range->column].type)
        || !can_bound(by, range->high, of->columns[range->column].type))
        return steps_refuse(check, "its band is not from %d to %d", range->low,
                            range->high);
    return VDBQ_OK;
}

static enum vdbq_status check_condition(const struct checking *check)
{
    struct program *program = check->step->join.condition;
    const struct step *left = steps_input(check, 0),
                      *right = steps_input(check, 1);
    if (program == NULL)
        return VDBQ_OK;
    enum vdbq_status status = program_check(program, check->error);
    if (status == VDBQ_OK && program->tables.count != 1)
        status =
            steps_refuse(check, "its condition does not read pairs of rows");
    if (status != VDBQ_OK)
        return status;
    const struct program_table *pair = vector_at(&program->tables, 0);
    status = check_table(check, pair, 0, left);
    return status == VDBQ_OK
               ? check_table(check, pair, left->column_count, right)
               : status;
}

static enum vdbq_status check_join(const struct checking *check)
{
    const struct step_join *join = &check->step->join;
    unsigned left = steps_input(check, 0)->column_count;
    unsigned right = steps_input(check, 1)->column_count;
    unsigned beside = right;
    enum vdbq_status status = check_join_keys(check);
    if (join->kind == JOIN_SEMI || join->kind == JOIN_ANTI)
        beside = 0;
    if (join->kind == JOIN_MARK)
        beside = 1;
    if (status == VDBQ_OK)
        status = check_count(check, left + beside);
    if (status == VDBQ_OK)
        status = check_same(check, 0, steps_input(check, 0), left);
    if (status == VDBQ_OK && join->kind == JOIN_MARK)
        return join->left_keys.count == 1 && join->condition == NULL
                   ? VDBQ_OK
                   : steps_refuse(check, "a mark has one key and no condition");
    if (status == VDBQ_OK && beside > 0)
        status = check_same(check, left, steps_input(check, 1), right);
    if (status == VDBQ_OK)
        status = check_range_join(check);
    return status == VDBQ_OK ? check_condition(check) : status;
}

/* -------------------------------------------------------- other kinds -- */

static enum vdbq_status check_aggregate(const struct checking *check,
                                        const struct step_aggregate *aggregate)
{
    enum aggregate_keeps keeps = aggregate_row(aggregate->function)->keeps;
    enum vdbq_status status = steps_check_column(
        check, aggregate->column, keeps == AGGREGATE_KEEPS_NOTHING);
    if (keeps == AGGREGATE_KEEPS_ALL || keeps == AGGREGATE_KEEPS_OTHERS)
        return steps_refuse(check,
                            "an aggregate that keeps nothing by itself is "
                            "bound to others");
    return status == VDBQ_OK
               ? steps_check_column(check, aggregate->filter, true)
               : status;
}

/* Whether the last aggregate of numbered groups is the least number. */
static bool has_least_number(const struct checking *check)
{
    const struct vector *aggregates = &check->step->group.aggregates;
    const struct step_aggregate *last =
        aggregates->count > 0 ? vector_at(aggregates, aggregates->count - 1)
                              : NULL;
    return last != NULL && last->function == AGGREGATE_MIN && last->filter < 0
           && steps_input(check, 0)->columns[last->column].type == VDBQ_BIGINT;
}

static enum vdbq_status check_group(const struct checking *check)
{
    const struct step_group *group = &check->step->group;
    enum vdbq_status status =
        check_count(check, group->keys + group->aggregates.count);
    if (status == VDBQ_OK && group->keys > steps_input(check, 0)->column_count)
        return steps_refuse(check, "its input has fewer columns than keys");
    if (status == VDBQ_OK)
        status = check_same(check, 0, steps_input(check, 0), group->keys);
    for (size_t i = 0; i < group->aggregates.count && status == VDBQ_OK; i++)
        status = check_aggregate(check, vector_at(&group->aggregates, i));
    if (status == VDBQ_OK && group->numbered
        && (!group->apart || !has_least_number(check)))
        status = steps_refuse(check, "its rows have no numbers");
    return status;
}

enum vdbq_status steps_check_keys(const struct checking *check,
                                  const struct vector *keys)
{
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < keys->count && status == VDBQ_OK; i++)
        status = steps_check_column(
            check, VECTOR_ITEMS(keys, struct step_key)[i].column, false);
    return status;
}

static enum vdbq_status check_sort(const struct checking *check)
{
    if (check->step->column_count > steps_input(check, 0)->column_count)
        return steps_refuse(check, "it has more columns than its input");
    enum vdbq_status status =
        check_same(check, 0, steps_input(check, 0), check->step->column_count);
    return status == VDBQ_OK ? steps_check_keys(check, &check->step->sort.keys)
                             : status;
}

static enum vdbq_status check_limit(const struct checking *check)
{
    enum vdbq_status status =
        check_count(check, steps_input(check, 0)->column_count);
    const struct step *counts =
        check->step->inputs.count > 1 ? steps_input(check, 1) : NULL;
    if (counts != NULL
        && (counts->column_count != 2 || counts->columns[0].type != VDBQ_BIGINT
            || counts->columns[1].type != VDBQ_BIGINT))
        return steps_refuse(check,
                            "its second input is not two numbers of rows");
    return status == VDBQ_OK ? check_same(check, 0, steps_input(check, 0),
                                          check->step->column_count)
                             : status;
}

static enum vdbq_status check_concat(const struct checking *check)
{
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < check->step->inputs.count && status == VDBQ_OK;
         i++) {
        status = check_count(check, steps_input(check, i)->column_count);
        if (status == VDBQ_OK)
            status = check_same(check, 0, steps_input(check, i),
                                check->step->column_count);
    }
    return status;
}

enum vdbq_status steps_check_beside(const struct checking *check, size_t more)
{
    unsigned count = steps_input(check, 0)->column_count;
    enum vdbq_status status = check_count(check, count + more);
    return status == VDBQ_OK
               ? check_same(check, 0, steps_input(check, 0), count)
               : status;
}

static enum vdbq_status check_apply(const struct checking *check)
{
    const struct step_apply *apply = &check->step->apply;
    enum vdbq_status status = steps_check_beside(check, 1);
    if (status == VDBQ_OK && apply->kind == APPLY_IN)
        status = steps_check_column(check, apply->column, false);
    for (size_t i = 0; i < apply->parameters.count && status == VDBQ_OK; i++)
        status = steps_check_column(
            check,
            VECTOR_ITEMS(&apply->parameters, struct step_parameter)[i].column,
            false);
    if (status == VDBQ_OK && apply->inner == NULL)
        status = steps_refuse(check, "it has no inner query");
    return status == VDBQ_OK
               ? steps_check_in(apply->inner, check->recurse, check->error)
               : status;
}

static enum vdbq_status check_map(const struct checking *check)
{
    const struct vector *functions = &check->step->map.functions;
    enum vdbq_status status = steps_check_beside(check, functions->count);
    for (size_t i = 0; i < functions->count && status == VDBQ_OK; i++) {
        const struct step_function *function = vector_at(functions, i);
        for (size_t k = 0; k < function->arguments.count && status == VDBQ_OK;
             k++)
            status = steps_check_column(
                check, VECTOR_ITEMS(&function->arguments, int)[k], false);
        for (unsigned k = 0;
             k < function->firsts.key_count && status == VDBQ_OK; k++)
            status = steps_check_column(check, function->firsts.keys[k], false);
    }
    return status;
}

static enum vdbq_status check_fetch(const struct checking *check)
{
    const struct step_fetch *fetch = &check->step->fetch;
    enum vdbq_status status = steps_check_beside(check, fetch->columns.count);
    int machine;

    if (status == VDBQ_OK)
        status = steps_check_column(check, fetch->row, false);
    if (status != VDBQ_OK)
        return status;
    machine =
        step_machine_type(steps_input(check, 0)->columns[fetch->row].type);
    return machine == TYPE_I32 || machine == TYPE_I64
               ? VDBQ_OK
               : steps_refuse(check, "column %d is no row's id", fetch->row);
}

static enum vdbq_status check_values(const struct checking *check)
{
    const struct step *step = check->step;
    for (unsigned i = 0; i < step->column_count; i++)
        if (step->values.vectors[i].type != step->columns[i].type)
            return steps_refuse(check, "column %u is not of its values' type",
                                i);
    return VDBQ_OK;
}

/* Whether a value that is to be in the input's row can be there. */
static bool is_fed(const struct step_seek *seek, const struct seek_value *value)
{
    return !value->fed || (!seek->list_fed && value->input < seek->from_count);
}

static enum vdbq_status check_seek(const struct checking *check)
{
    const struct step_seek *seek = &check->step->seek;
    bool fed = check->step->inputs.count > 0;
    bool listed = seek->list_columns > 0;
    bool last = seek->low.there || seek->high.there;
    bool ends = seek->ends.first > 0 || seek->ends.last > 0;
    unsigned asked = last > seek->ends.key_count ? last : seek->ends.key_count;
    if (listed)
        asked = seek->list_columns;
    if (seek->key_count == 0 || seek->key_count > SEEK_KEYS_MAX
        || seek->equal_count + asked > seek->key_count
        || (seek->equal_count + asked == 0 && seek->origin == 0))
        return steps_refuse(check, "it asks for %u of %u keys",
                            seek->equal_count, seek->key_count);
    if (ends ? seek->ends.key_count == 0 || listed
                   || seek->ends.first > UINT32_MAX
                   || seek->ends.last > UINT32_MAX
             : seek->ends.key_count > 0 || seek->ends.alike || seek->ends.hopes)
        return steps_refuse(check, "it asks for ends of no order");
    if (fed ? seek->from_count == 0 || seek->from_count > SEEK_FROM_MAX
            : seek->from_count > 0 || seek->list_fed)
        return steps_refuse(check, "it asks for other columns of its input");
    if (seek->list_fed && (!listed || seek->from_count != seek->list_columns))
        return steps_refuse(check, "its list is not its input");
    if (!is_fed(seek, &seek->low.value) || !is_fed(seek, &seek->high.value))
        return steps_refuse(check, "a bound is no column of its input");
    for (unsigned i = 0; i < seek->equal_count; i++)
        if (!is_fed(seek, &seek->equals[i]))
            return steps_refuse(check, "a value is no column of its input");
    for (unsigned i = 0; i < seek->from_count; i++)
        if (steps_check_column(check, seek->from[i], false) != VDBQ_OK)
            return check->error->status;
    return check_count(check, seek->columns.count);
}

static enum vdbq_status check_gather(const struct checking *check)
{
    const struct step *from = steps_input(check, 0);
    bool ordered = check->step->gather.ordered;
    if (ordered
        && (from->column_count == 0
            || from->columns[from->column_count - 1].type != VDBQ_BIGINT))
        return steps_refuse(check, "its rows have no numbers");
    unsigned count = from->column_count - ordered;
    enum vdbq_status status = check_count(check, count);
    return status == VDBQ_OK ? check_same(check, 0, from, count) : status;
}

static enum vdbq_status check_exchange(const struct checking *check)
{
    const struct vector *keys = &check->step->exchange.keys;
    const struct step *from = steps_input(check, 0), *step = check->step;
    enum vdbq_status status =
        steps_check_beside(check, step->exchange.numbered);
    if (status == VDBQ_OK && step->exchange.numbered
        && step->columns[from->column_count].type != VDBQ_BIGINT)
        status = steps_refuse(check, "its numbers have another type");
    if (status == VDBQ_OK && keys->count == 0 && step->exchange.numbered)
        status = steps_refuse(check, "rows that all have need no numbers");
    for (size_t i = 0; status == VDBQ_OK && i < keys->count; i++)
        status = steps_check_column(check, VECTOR_ITEMS(keys, int)[i], false);
    return status;
}

static enum vdbq_status check_step(const struct checking *check)
{
    static enum vdbq_status (*const checks[])(const struct checking *) = {
        [STEP_SCAN] = check_scan,
        [STEP_GROUP] = check_group,
        [STEP_SORT] = check_sort,
        [STEP_LIMIT] = check_limit,
        [STEP_JOIN] = check_join,
        [STEP_CONCAT] = check_concat,
        [STEP_APPLY] = check_apply,
        [STEP_WINDOW] = steps_check_window,
        [STEP_MAP] = check_map,
        [STEP_VALUES] = check_values,
        [STEP_FETCH] = check_fetch,
        [STEP_SEEK] = check_seek,
        [STEP_GATHER] = check_gather,
        [STEP_EXCHANGE] = check_exchange,
        [STEP_RECURSE] = steps_check_recurse,
        [STEP_WORKING] = steps_check_working,
    };
    enum vdbq_status status = check_inputs(check);
    return status == VDBQ_OK ? checks[check->step->kind](check) : status;
}

enum vdbq_status steps_check(struct steps *steps, struct error *error)
{
    return steps_check_in(steps, NULL, error);
}

enum vdbq_status steps_check_in(struct steps *steps, const struct step *recurse,
                                struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (steps->steps.count == 0)
        return error_set(error, VDBQ_PROGRAM, "a query has at least one step");
    for (int i = 0; i < (int)steps->steps.count && status == VDBQ_OK; i++)
        status = check_step(&(struct checking){ .steps = steps,
                                                .step = steps_at(steps, i),
                                                .number = i,
                                                .recurse = recurse,
                                                .error = error });
    return status;
}
