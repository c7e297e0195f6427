/* SPDX-License-Identifier: MIT */
/*
 * Steps as EXPLAIN prints them: a line that says what a step does, as a
 * comment, then its program.
 */
#include "program/steps/steps.h"

/* What is printed, and where to. */
struct printing {
    const struct steps *steps;
    const char *prefix;          /* in front of their numbers            */
    const struct vector *counts; /* of struct step_count; NULL: they did
                                    not run                              */
    struct text *text;
    bool named; /* columns are shown by their names, steps are numbered from
                   1, and programs are left out                          */
};

static void print_list(const struct printing *printing);

static void print_number_of(const struct printing *printing, int step)
{
    text_print(printing->text, "%s%d", printing->prefix, step);
}

/* A column of one of a step's inputs. */
static void print_column(const struct printing *printing,
                         const struct step *step, size_t input, int column)
{
    const struct step *from =
        steps_at(printing->steps, VECTOR_ITEMS(&step->inputs, int)[input]);

    if (!printing->named)
        text_print(printing->text, "%d", column);
    else if (from->columns[column].name[0] != '\0')
        text_print(printing->text, "%s", from->columns[column].name);
    else
        text_print(printing->text, "column %d", column + 1);
}

/* What stands between the items of a list. */
static void print_comma(size_t i, struct text *text)
{
    text_print(text, i > 0 ? ", " : " ");
}

/* "scan of table sales, probes shop (step 0), day (step 1)" */
static void print_scan(const struct printing *printing, const struct step *step)
{
    struct text *text = printing->text;
    const struct vector *tables = &step->scan.program.tables;
    const struct program_table *table =
        VECTOR_ITEMS(tables, struct program_table);
    bool grid = program_axes(&step->scan.program) > 1;
    text_print(text, grid ? "grid" : "scan");
    for (size_t i = 0; i < tables->count; i++) {
        const char *before = i > 1 ? ", " : grid ? " and " : ", probes ";
        if (i == 0 && table[i].input > 0 && !grid)
            continue;
        text_print(text, "%s", i > 0 ? before : grid ? " of " : " of table ");
        text_print(text, "%s", table[i].name);
        if (table[i].input > 0) {
            text_print(text, " (step ");
            print_number_of(
                printing, VECTOR_ITEMS(&step->inputs, int)[table[i].input - 1]);
            text_print(text, ")");
        }
    }
    if (step->scan.ranks > 0)
        text_print(text, ", %s on each of %u ranks",
                   step->scan.local ? "co-located: its part" : "a share",
                   step->scan.ranks);
}

static void print_aggregate(const struct printing *printing,
                            const struct step *step,
                            const struct step_aggregate *aggregate)
{
    struct text *text = printing->text;
    text_print(text, "%s(%s", aggregate_name(aggregate->function),
               aggregate->distinct ? "distinct " : "");
    if (aggregate->column >= 0)
        print_column(printing, step, 0, aggregate->column);
    else
        text_print(text, "*");
    text_print(text, ")");
    if (aggregate->filter < 0)
        return;
    text_print(text, " where ");
    print_column(printing, step, 0, aggregate->filter);
}

static void print_group_keys(const struct printing *printing,
                             const struct step *step)
{
    struct text *text = printing->text;

    text_print(text, step->group.apart   ? "groups of each rank by "
                     : step->group.local ? "co-located: group by "
                                         : "group by ");
    if (!printing->named)
        text_print(text, "%u columns", step->group.keys);
    for (unsigned i = 0; printing->named && i < step->group.keys; i++) {
        text_print(text, "%s", i > 0 ? ", " : "");
        print_column(printing, step, 0, (int)i);
    }
    if (printing->named && step->group.keys == 0)
        text_print(text, "nothing");
    text_print(text, ":");
}

static void print_group(const struct printing *printing,
                        const struct step *step)
{
    const struct vector *aggregates = &step->group.aggregates;
    print_group_keys(printing, step);
    for (size_t i = 0; i < aggregates->count; i++) {
        print_comma(i, printing->text);
        print_aggregate(printing, step, vector_at(aggregates, i));
    }
    if (step->group.hopes)
        text_print(printing->text, ", if a row is enough");
}

static void print_exchange(const struct printing *printing,
                           const struct step *step)
{
    static const char *const nulls[] = {
        [EXCHANGE_NULLS_DROP] = ", without NULL",
        [EXCHANGE_NULLS_STAY] = ", NULL stays",
        [EXCHANGE_NULLS_MATCH] = "",
    };
    const struct step_exchange *exchange = &step->exchange;
    text_print(printing->text, "exchange among %u ranks%s", exchange->ranks,
               exchange->keys.count > 0 ? " by" : ", all rows to each");
    for (size_t i = 0; i < exchange->keys.count; i++) {
        print_comma(i, printing->text);
        print_column(printing, step, 0, VECTOR_ITEMS(&exchange->keys, int)[i]);
    }
    text_print(printing->text, "%s%s", nulls[exchange->nulls],
               exchange->numbered ? ", numbered" : "");
}

static void print_keys(const struct printing *printing, const struct step *step,
                       const struct vector *keys)
{
    struct text *text = printing->text;

    for (size_t i = 0; i < keys->count; i++) {
        const struct step_key *key = vector_at(keys, i);
        print_comma(i, text);
        print_column(printing, step, 0, key->column);
        text_print(text, "%s%s", key->descending ? " descending" : "",
                   key->nulls_last ? " nulls last" : "");
    }
}

static void print_limit(uint64_t offset, uint64_t limit, struct text *text)
{
    if (limit != UINT64_MAX)
        text_print(text, ", limit %llu", (unsigned long long)limit);
    if (offset > 0)
        text_print(text, ", offset %llu", (unsigned long long)offset);
}

/* "3 < right 0 <= 4": a left value is a number alone. */
static void print_side(const struct printing *printing, const struct step *step,
                       bool right, int column)
{
    if (right)
        text_print(printing->text, "right ");
    print_column(printing, step, right, column);
}

static void print_range_join(const struct printing *printing,
                             const struct step *step)
{
    const struct step_range_join *range = &step->join.range;
    bool right = range->side == RANGE_JOIN_RIGHT;

    text_print(printing->text, " ");
    if (range->low >= 0) {
        print_side(printing, step, !right, range->low);
        text_print(printing->text, " %s ", range->low_open ? "<" : "<=");
    }
    print_side(printing, step, right, range->column);
    if (range->high < 0)
        return;
    text_print(printing->text, " %s ", range->high_open ? "<" : "<=");
    print_side(printing, step, !right, range->high);
}

static void print_join(const struct printing *printing, const struct step *step)
{
    const struct step_join *join = &step->join;
    struct text *text = printing->text;
    text_print(text, "%s join", join_name(join->kind));
    for (size_t i = 0; i < join->left_keys.count; i++) {
        print_comma(i, text);
        print_column(printing, step, 0, VECTOR_ITEMS(&join->left_keys, int)[i]);
        text_print(text, " = ");
        print_column(printing, step, 1,
                     VECTOR_ITEMS(&join->right_keys, int)[i]);
    }
    if (join->range.side != RANGE_JOIN_NONE)
        print_range_join(printing, step);
    if (join->nulls_match)
        text_print(text, ", NULL = NULL");
    if (join->condition != NULL)
        text_print(text, ", where");
}

static void print_apply(const struct printing *printing,
                        const struct step *step)
{
    static const char *const names[] = { [APPLY_SCALAR] = "value of",
                                         [APPLY_EXISTS] = "exists",
                                         [APPLY_IN] = "is in" };
    const struct vector *parameters = &step->apply.parameters;
    struct text *text = printing->text;
    text_print(text, "%s an inner query", names[step->apply.kind]);
    if (step->apply.kind == APPLY_IN) {
        text_print(text, printing->named ? " for " : " for column ");
        print_column(printing, step, 0, step->apply.column);
    }
    for (size_t i = 0; i < parameters->count; i++) {
        const struct step_parameter *parameter = vector_at(parameters, i);
        text_print(text,
                   ", parameter %d = ", parameter->parameter + printing->named);
        print_column(printing, step, 0, parameter->column);
    }
}

static void print_window_function(const struct printing *printing,
                                  const struct step *step,
                                  const struct step_window_function *function)
{
    struct text *text = printing->text;

    if (function->function == WINDOW_AGGREGATE) {
        print_aggregate(printing, step, &function->aggregate);
    } else {
        text_print(text, "%s(", window_name(function->function));
        if (!printing->named || function->aggregate.column >= 0)
            print_column(printing, step, 0, function->aggregate.column);
        text_print(text, ")");
    }
    text_print(text, " partition");
    for (size_t i = 0; i < function->partition.count; i++) {
        print_comma(i, text);
        print_column(printing, step, 0,
                     VECTOR_ITEMS(&function->partition, int)[i]);
    }
    text_print(text, " order");
    print_keys(printing, step, &function->order);
    frame_print(&function->frame, text);
}

static void print_window(const struct printing *printing,
                         const struct step *step)
{
    const struct vector *functions = &step->window.functions;
    struct text *text = printing->text;
    text_print(text, step->window.firsts ? "window of first rows" : "window");
    for (size_t i = 0; i < functions->count; i++) {
        print_comma(i, text);
        print_window_function(printing, step, vector_at(functions, i));
    }
}

static void print_map(const struct printing *printing, const struct step *step)
{
    const struct vector *functions = &step->map.functions;
    struct text *text = printing->text;
    text_print(text, "map");
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_function *function = vector_at(functions, i);
        print_comma(i, text);
        text_print(text, "%s%s", function->name,
                   function->looks_up ? " of " : "(");
        for (size_t k = 0; k < function->arguments.count; k++) {
            text_print(text, "%s", k > 0 ? ", " : "");
            print_column(printing, step, 0,
                         VECTOR_ITEMS(&function->arguments, int)[k]);
        }
        text_print(text, "%s", function->looks_up ? "" : ")");
        for (size_t k = 0; k < function->then.count; k++)
            text_print(text, " then %s",
                       VECTOR_ITEMS(&function->then, const char *)[k]);
        if (function->firsts.count > 0)
            text_print(text, " for the %s %u",
                       function->firsts.descending ? "last" : "first",
                       function->firsts.count);
        for (size_t k = 0; k < function->firsts.key_count; k++)
            text_print(text, "%s %d", k == 0 ? " of each" : ",",
                       function->firsts.keys[k]);
    }
}

static void print_fetch(const struct printing *printing,
                        const struct step *step)
{
    const struct step_fetch *fetch = &step->fetch;
    unsigned first = step->column_count - (unsigned)fetch->columns.count;
    struct text *text = printing->text;

    text_print(text, "fetch from table %s by ", fetch->name);
    print_column(printing, step, 0, fetch->row);
    text_print(text, ":");
    for (size_t i = 0; i < fetch->columns.count; i++) {
        print_comma(i, text);
        text_print(text, "%s", step->columns[first + i].name);
    }
}

/* 1234567 as "1,234,567". */
static void print_number(uint64_t number, struct text *text)
{
    if (number >= 1000)
        print_number(number / 1000, text);
    if (number >= 1000)
        text_print(text, ",%03u", (unsigned)(number % 1000));
    else
        text_print(text, "%u", (unsigned)number);
}

static void print_rows(uint64_t rows, struct text *text)
{
    print_number(rows, text);
    text_print(text, rows == 1 ? " row" : " rows");
}

/* " column 0", " columns 0, 3". */
static void print_from(const struct step_seek *seek, struct text *text)
{
    text_print(text, " column%s", seek->from_count > 1 ? "s" : "");
    for (unsigned i = 0; i < seek->from_count; i++)
        text_print(text, "%s %d", i > 0 ? "," : "", seek->from[i]);
}

/* ", 20 values", ", 20 rows of 2 values", ", values of columns 0, 3". */
static void print_seek_list(const struct step *step, struct text *text)
{
    const struct step_seek *seek = &step->seek;
    const char *values = seek->list_columns > 1 ? "rows" : "values";

    if (seek->list_fed) {
        text_print(text, ", values of");
        print_from(seek, text);
        return;
    }
    text_print(text, ", %llu %s", (unsigned long long)seek->list_count, values);
    if (seek->list_columns > 1)
        text_print(text, " of %u values", seek->list_columns);
}

/* ", range", ", range of column 0", ", range of columns 1, 0". */
static void print_seek_range(const struct step_seek *seek, struct text *text)
{
    text_print(text, ", range");
    if (seek->from_count == 0)
        return;
    text_print(text, " of");
    print_from(seek, text);
}

/* "seek in table t by index tk: 1 equal, 2 values, of 4,000 rows" */
static void print_seek(const struct step *step, struct text *text)
{
    const struct step_seek *seek = &step->seek;

    text_print(text, "seek in table %s by %s: %u equal", seek->name,
               seek->index, seek->equal_count);
    if (seek->list_starts)
        text_print(text, ", %llu beginning%s",
                   (unsigned long long)seek->list_count,
                   seek->list_count == 1 ? "" : "s");
    else if (seek->list_columns > 0)
        print_seek_list(step, text);
    if (seek->low.there || seek->high.there)
        print_seek_range(seek, text);
    if (seek->ends.first > 0)
        text_print(text, ", first %llu of each tablet",
                   (unsigned long long)seek->ends.first);
    if (seek->ends.last > 0)
        text_print(text, ", last %llu of each tablet",
                   (unsigned long long)seek->ends.last);
    if (seek->ends.alike)
        text_print(text, " and their equals");
    if (seek->most > 0)
        text_print(text, ", %llu at most", (unsigned long long)seek->most);
    text_print(text, ", of ");
    print_rows(seek->rows, text);
}

/* Rows that no column tells of. */
static void print_rows_of(const struct step *step, struct text *text)
{
    switch (step->kind) {
    case STEP_CONCAT:
        text_print(text, "concat");
        break;
    case STEP_VALUES:
        text_print(text, "%llu rows of values",
                   (unsigned long long)step->values.rows);
        break;
    case STEP_RECURSE:
        text_print(text, "recursion, union%s",
                   step->recurse.distinct ? "" : " all");
        break;
    case STEP_WORKING:
        text_print(text, "rows of the round before");
        break;
    case STEP_GATHER:
        text_print(text, "gather from %u ranks%s", step->gather.ranks,
                   step->gather.ordered ? " in order" : "");
        break;
    default:
        break;
    }
}

static void print_what(const struct printing *printing, const struct step *step)
{
    struct text *text = printing->text;

    switch (step->kind) {
    case STEP_SCAN:
        print_scan(printing, step);
        break;
    case STEP_GROUP:
        print_group(printing, step);
        break;
    case STEP_SORT:
        text_print(text, "sort by");
        print_keys(printing, step, &step->sort.keys);
        print_limit(step->sort.offset, step->sort.limit, text);
        if (step->sort.hopes)
            text_print(text, ", if as many come");
        break;
    case STEP_LIMIT:
        text_print(text, "some rows");
        if (step->inputs.count > 1) {
            text_print(text, ", limit and offset of step ");
            print_number_of(printing, VECTOR_ITEMS(&step->inputs, int)[1]);
        }
        print_limit(step->limit.offset, step->limit.limit, text);
        break;
    case STEP_JOIN:
        print_join(printing, step);
        break;
    case STEP_APPLY:
        print_apply(printing, step);
        break;
    case STEP_WINDOW:
        print_window(printing, step);
        break;
    case STEP_MAP:
        print_map(printing, step);
        break;
    case STEP_FETCH:
        print_fetch(printing, step);
        break;
    case STEP_SEEK:
        print_seek(step, text);
        break;
    case STEP_EXCHANGE:
        print_exchange(printing, step);
        break;
    default:
        print_rows_of(step, text);
        break;
    }
}

/* ---------------------------------------------------------------- rows -- */

/* Less than one row, but more than none, is one. */
static void print_expected(double rows, struct text *text)
{
    text_print(text, "~");
    if (rows >= 1e15)
        text_print(text, "%.0e rows", rows);
    else
        print_rows((uint64_t)(rows < 1 ? rows > 0 : rows + 0.5), text);
}

static const struct step_count *count_of(const struct vector *counts,
                                         const struct step *step)
{
    for (size_t i = 0; counts != NULL && i < counts->count; i++) {
        const struct step_count *count = vector_at(counts, i);
        if (count->step == step)
            return count;
    }
    return NULL;
}

bool step_count_add(struct vector *counts, const struct step_count *added)
{
    struct step_count *count =
        (struct step_count *)(uintptr_t)count_of(counts, added->step);
    if (count == NULL)
        return vector_append(counts, added, 1);
    count->rows += added->rows;
    count->time_ns += added->time_ns;
    count->runs += added->runs;
    count->spill_bytes += added->spill_bytes;
    if (count->memory_bytes < added->memory_bytes)
        count->memory_bytes = added->memory_bytes;
    count->seen |= added->seen;
    return true;
}

/* The time of a step itself: its inputs run inside of it. */
static uint64_t own_time(const struct printing *printing,
                         const struct step *step,
                         const struct step_count *count)
{
    uint64_t time_ns = count->time_ns;
    for (size_t i = 0; i < step->inputs.count; i++) {
        const struct step_count *input = count_of(
            printing->counts,
            steps_at(printing->steps, VECTOR_ITEMS(&step->inputs, int)[i]));
        if (input != NULL)
            time_ns -= input->time_ns < time_ns ? input->time_ns : time_ns;
    }
    return time_ns;
}

static void print_count(const struct printing *printing,
                        const struct step *step, const struct step_count *count)
{
    struct text *text = printing->text;
    if (count->seen)
        print_rows(count->rows, text);
    else
        text_print(text, "rows not counted");
    text_print(text, " in %.3f ms",
               (double)own_time(printing, step, count) / 1e6);
    if (count->runs > 1)
        text_print(text, ", %llu runs", (unsigned long long)count->runs);
}

/* How many times the estimate came, each run; what is less than a row counts
 * as one. */
static void print_factor(double expected, const struct step_count *count,
                         struct text *text)
{
    double rows =
        (double)count->rows / (double)(count->runs > 0 ? count->runs : 1);
    text_print(text, "; factor %.3g",
               (rows < 1 ? 1 : rows) / (expected < 1 ? 1 : expected));
}

/* "; 12.3 MiB held, 45.6 MiB to files": what is worth to be told. */
static void print_memory(const struct step_count *count, struct text *text)
{
    const double mebibyte = 1 << 20;
    if (count->memory_bytes < (1 << 20) && count->spill_bytes == 0)
        return;
    text_print(text, "; %.1f MiB held", (double)count->memory_bytes / mebibyte);
    if (count->spill_bytes > 0)
        text_print(text, ", %.1f MiB to files",
                   (double)count->spill_bytes / mebibyte);
}

/* " (~1,200 rows)", or " (~1,200 rows; 1,187 rows in 0.210 ms; factor 0.989)",
 * or " (~1,200 rows by sample; ..." */
static void print_figures(const struct printing *printing,
                          const struct step *step)
{
    const struct step_count *count = count_of(printing->counts, step);
    if (step->rows < 0 && count == NULL)
        return;
    text_print(printing->text, " (");
    if (step->rows >= 0)
        print_expected(step->rows, printing->text);
    if (step->rows >= 0 && count != NULL)
        text_print(printing->text, step->sampled ? " by sample; " : "; ");
    if (count != NULL)
        print_count(printing, step, count);
    if (step->rows >= 0 && count != NULL && count->seen)
        print_factor(step->rows, count, printing->text);
    if (count != NULL)
        print_memory(count, printing->text);
    text_print(printing->text, ")");
}

/* ----------------------------------------------------------------- all -- */

static void print_inner(const struct printing *printing,
                        const struct steps *steps, int number)
{
    struct text prefix = { 0 };
    struct printing inner = *printing;
    text_print(&prefix, "%s%d.", printing->prefix, number);
    printing->text->failed |= prefix.failed;
    inner.steps = steps;
    inner.prefix = prefix.bytes;
    if (!prefix.failed)
        print_list(&inner);
    text_finish(&prefix);
}

/* "; step 1.2 of step 1.0: sort by 0 (~12 rows)", then what belongs to it. */
static void print_step(const struct printing *printing, int number)
{
    const struct step *step = steps_at(printing->steps, number);
    struct text *text = printing->text;
    text_print(text, "; step ");
    print_number_of(printing, number);
    for (size_t i = 0; i < step->inputs.count; i++) {
        text_print(text, i > 0 ? ", " : " of step ");
        print_number_of(printing, VECTOR_ITEMS(&step->inputs, int)[i]);
    }
    text_print(text, ": ");
    print_what(printing, step);
    print_figures(printing, step);
    text_print(text, "\n");
    if (step->kind == STEP_SCAN && !printing->named)
        program_print(&step->scan.program, text);
    if (step->kind == STEP_JOIN && !printing->named
        && step->join.condition != NULL)
        program_print(step->join.condition, text);
    if (step->kind == STEP_APPLY)
        print_inner(printing, step->apply.inner, number);
    if (step->kind == STEP_RECURSE)
        print_inner(printing, step->recurse.term, number);
}

static void print_list(const struct printing *printing)
{
    for (int i = 0; i < (int)printing->steps->steps.count; i++)
        print_step(printing, i);
}

void steps_print_counts(const struct steps *steps, const struct vector *counts,
                        struct text *text)
{
    const struct step *last = steps_last(steps);
    const struct printing printing = {
        .steps = steps, .prefix = "", .counts = counts, .text = text
    };
    bool counted = counts != NULL && counts->count > 0;
    if (steps->steps.count == 1 && last->kind == STEP_SCAN && !counted)
        program_print(&last->scan.program, text);
    else
        print_list(&printing);
}

void steps_print(const struct steps *steps, struct text *text)
{
    steps_print_counts(steps, NULL, text);
}

void steps_print_names(const struct steps *steps, struct text *text)
{
    print_list(&(struct printing){
        .steps = steps, .prefix = "", .text = text, .named = true });
}
