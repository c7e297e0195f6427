/* SPDX-License-Identifier: MIT */
/*
 * Streams: every kind of step over steps made by hand. Joins have tests of
 * their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fixtures/join_cases.h"
#include "fixtures/two_tables.h"

#include "base/memory.h"

/* Rowid and v of the rows whose v is not NULL and greater than 7. */
static const char filter[] = "Table 0 0 0 \"input\"\n"
                             "ResultColumn 2 0 0 \"number\"\n"
                             "ResultColumn 2 0 0 \"v\"\n"
                             "Parallel 0 0 13\n"
                             "ColumnNull 2 1 0\n"
                             "Integer.I64 3 7\n"
                             "Rowid.I64 0 0 0\n"
                             "Column.I64 1 1 0\n"
                             "Or.I32 2 2 11 0\n"
                             "Gt.I64 1 3 11 1\n"
                             "Invalid\n"
                             "Result 0 2\n"
                             "Converge\n"
                             "Finish\n";

static void a_scan_reads_another_steps_rows(void **state)
{
    static const uint32_t sizes[] = { 0, 1, 10, 63, 64, 65, 3000 };
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct text expected = { 0 };
        const struct side *side = &joined.sides[0];
        open_sides(sizes[i], 0, 5);
        add_scan_over(&joined.steps, add_side_scan(&joined, &joined.steps, "l"),
                      filter);
        for (uint32_t row = 0; row < side->rows; row++)
            if (!side->v_null[row] && side->v[row] > 7)
                text_print(&expected, "%u %" PRId64 " \n", row, side->v[row]);
        expect_rows(&joined, expected.bytes ? expected.bytes : "");
        text_finish(&expected);
        two_tables_close(&joined);
    }
}

/* A million rows: those of 1,000 times 1,000 pairs. */
static void check_morsels(enum run_mode mode)
{
    struct stream *stream;
    struct vdbq_batch batch = { .rows = 1 };
    uint64_t rows = 0, expected = 0;
    open_sides(1000, 1000, 5);
    joined.mode = mode;
    add_join((struct join_case){ .kind = JOIN_INNER });
    add_scan_over(&joined.steps, 2, filter);
    expect_ok(steps_check(&joined.steps, &joined.error), &joined.error);
    expect_ok(stream_open(&joined.params, &joined.steps, TEXTS_ORDERED, &stream,
                          &joined.error),
              &joined.error);
    for (uint32_t i = 0; i < 1000; i++)
        expected += !joined.sides[0].v_null[i] && joined.sides[0].v[i] > 7;
    while (batch.rows > 0) {
        expect_ok(stream_batch(stream, &batch, &joined.error), &joined.error);
        for (uint64_t i = 0; i < batch.rows; i++) {
            int64_t number = ((const int64_t *)batch.column[0].values)[i];
            int64_t v = ((const int64_t *)batch.column[1].values)[i];
            assert_int_equal(v, joined.sides[0].v[number / 1000]);
        }
        rows += batch.rows;
    }
    assert_int_equal(rows, expected * 1000);
    stream_close(stream);
    assert_true(joined.stats.sum.launches > 0);
    assert_int_equal(joined.stats.sum.rows_read, 2000);
    two_tables_close(&joined);
}

static void many_rows_come_in_morsels(void **state)
{
    (void)state;
    check_morsels(MODE_MAPPED);
    check_morsels(MODE_SERIAL);
    check_morsels(MODE_STREAMED);
}

static void limits_cut_batches(void **state)
{
    static const uint64_t cuts[][2] = { { 0, 5 },     { 3, 4 },   { 250, 20 },
                                        { 599, 9 },   { 600, 1 }, { 0, 0 },
                                        { 512, 1000 } };
    (void)state;
    for (unsigned i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct text expected = { 0 };
        open_sides(600, 0, 5);
        int input = add_side_scan(&joined, &joined.steps, "l");
        struct step *step = add_step(&joined.steps, STEP_LIMIT, input, -1);
        take_columns(&joined.steps, step, input, -1);
        step->limit.offset = cuts[i][0];
        step->limit.limit = cuts[i][1];
        for (uint64_t row = cuts[i][0];
             row < 600 && row < cuts[i][0] + cuts[i][1]; row++) {
            print_side(&joined.sides[0], (uint32_t)row, &expected);
            text_print(&expected, "\n");
        }
        expect_rows(&joined, expected.bytes ? expected.bytes : "");
        text_finish(&expected);
        two_tables_close(&joined);
    }
}

/* --------------------------------------------------------------- texts -- */

/* Adds the texts of a step's column v, by a function. */
static int add_texts(int input, const char *function, int column,
                     enum vdbq_type type)
{
    struct steps *steps = &joined.steps;
    struct step *step = add_step(steps, STEP_MAP, input, -1);
    struct step_function call = { .name = function, .arguments = VECTOR(int) };
    take_columns(steps, step, input, -1);
    add_column(step, function, type);
    assert_true(vector_append(&call.arguments, &column, 1));
    assert_true(vector_append(&step->map.functions, &call, 1));
    return (int)steps->steps.count - 1;
}

static void print_texts(unsigned number, struct text *text)
{
    const struct side *side = &joined.sides[number];
    for (uint32_t i = 0; i < side->rows; i++) {
        print_side(side, i, text);
        if (side->v_null[i])
            text_print(text, "NULL \n");
        else
            text_print(text, "'%" PRId64 "' \n", side->v[i]);
    }
}

/* Texts of inputs with different words are brought together. */
static void concat_joins_words(void **state)
{
    struct steps *steps = &joined.steps;
    struct text expected = { 0 };
    (void)state;
    open_sides(20, 300, 5);
    joined.sides[0].v[0] = 0;
    int left = add_texts(add_side_scan(&joined, steps, "l"), "from_integer", 1,
                         VDBQ_TEXT);
    int right = add_texts(add_side_scan(&joined, steps, "r"), "from_integer", 1,
                          VDBQ_TEXT);
    struct step *step = add_step(steps, STEP_CONCAT, left, right);
    take_columns(steps, step, left, -1);
    joined.sides[0].v[0] = 0;
    fill_side(&joined.sides[0], 20, 5, 1);
    print_texts(0, &expected);
    print_texts(1, &expected);
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

/* v = v as texts, of sides with different words. */
static void joins_compare_texts(void **state)
{
    struct steps *steps = &joined.steps;
    struct text expected = { 0 };
    const struct side *l = &joined.sides[0], *r = &joined.sides[1];
    const int key = 2;
    (void)state;
    open_sides(4, 200, 5);
    int left = add_texts(add_side_scan(&joined, steps, "l"), "from_integer", 1,
                         VDBQ_TEXT);
    int right = add_texts(add_side_scan(&joined, steps, "r"), "from_integer", 1,
                          VDBQ_TEXT);
    struct step *step = add_step(steps, STEP_JOIN, left, right);
    take_columns(steps, step, left, -1);
    step->join.kind = JOIN_SEMI;
    assert_true(vector_append(&step->join.left_keys, &key, 1));
    assert_true(vector_append(&step->join.right_keys, &key, 1));
    for (uint32_t i = 0; i < l->rows; i++) {
        bool found = false;
        for (uint32_t j = 0; j < r->rows; j++)
            found |= !l->v_null[i] && !r->v_null[j] && l->v[i] == r->v[j];
        if (found) {
            print_side(l, i, &expected);
            text_print(&expected, "'%" PRId64 "' \n", l->v[i]);
        }
    }
    expect_rows(&joined, expected.bytes ? expected.bytes : "");
    text_finish(&expected);
    two_tables_close(&joined);
}

static void functions_of_texts_stream(void **state)
{
    struct text expected = { 0 };
    const struct side *side = &joined.sides[0];
    (void)state;
    open_sides(500, 0, 5);
    int texts = add_texts(add_side_scan(&joined, &joined.steps, "l"),
                          "from_integer", 1, VDBQ_TEXT);
    add_texts(texts, "length", 2, VDBQ_BIGINT);
    for (uint32_t i = 0; i < side->rows; i++) {
        print_side(side, i, &expected);
        if (side->v_null[i])
            text_print(&expected, "NULL NULL \n");
        else
            text_print(&expected, "'%" PRId64 "' 1 \n", side->v[i]);
    }
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

/* A program over another step's texts: those that are '5' or behind it. */
static void programs_read_texts(void **state)
{
    static const char from_5[] = "Table 0 0 0 \"input\"\n"
                                 "ResultColumn 1 0 0 \"text\"\n"
                                 "Parallel 0 0 11\n"
                                 "ColumnNull 2 2 0\n"
                                 "Text 1 \"5\"\n"
                                 "Column.WORD 0 2 0\n"
                                 "Or.I32 2 2 9 0\n"
                                 "Ge.I32 0 1 9 1\n"
                                 "Invalid\n"
                                 "Result 0 1\n"
                                 "Converge\n"
                                 "Finish\n";
    const struct side *side = &joined.sides[0];
    struct text expected = { 0 };
    (void)state;
    open_sides(300, 0, 5);
    int texts = add_texts(add_side_scan(&joined, &joined.steps, "l"),
                          "from_integer", 1, VDBQ_TEXT);
    int last = add_scan_over(&joined.steps, texts, from_5);
    steps_at(&joined.steps, last)->columns[0].type = VDBQ_TEXT;
    for (uint32_t i = 0; i < side->rows; i++)
        if (!side->v_null[i] && side->v[i] >= 5)
            text_print(&expected, "'%" PRId64 "' \n", side->v[i]);
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

/* -------------------------------------------------------------- apply -- */

/* Adds an apply to all rows of "l" whose inner query is all rows of "r". */
static struct step *add_apply(enum apply_kind kind, enum vdbq_type type)
{
    struct steps *steps = &joined.steps;
    int input = add_side_scan(&joined, steps, "l");
    struct steps *inner = arena_alloc(&steps->arena, sizeof *inner);
    struct step *step = add_step(steps, STEP_APPLY, input, -1);
    steps_init(inner);
    step->apply.kind = kind;
    step->apply.inner = inner;
    take_columns(steps, step, input, -1);
    add_column(step, "answer", type);
    add_side_scan(&joined, inner, "r");
    return step;
}

/* x IN (...) by its rules. */
static void print_in(uint32_t i, struct text *text)
{
    const struct side *l = &joined.sides[0], *r = &joined.sides[1];
    bool found = false;
    for (uint32_t j = 0; j < r->rows; j++)
        found |= !l->k_null[i] && !r->k_null[j] && l->k[i] == r->k[j];
    print_mark(i, found, text);
}

static void check_apply(enum apply_kind kind, uint32_t right)
{
    struct text expected = { 0 };
    const struct side *l = &joined.sides[0], *r = &joined.sides[1];
    open_sides(50, right, 90);
    add_apply(kind, kind == APPLY_SCALAR ? VDBQ_INTEGER : VDBQ_BOOLEAN);
    for (uint32_t i = 0; i < l->rows; i++) {
        if (kind == APPLY_IN) {
            print_in(i, &expected);
            continue;
        }
        print_side(l, i, &expected);
        if (kind == APPLY_EXISTS)
            print_integer(false, right > 0, &expected);
        else
            print_integer(right == 0 || r->k_null[0], r->k[0], &expected);
        text_print(&expected, "\n");
    }
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

static void inner_queries_answer(void **state)
{
    (void)state;
    for (unsigned kind = APPLY_SCALAR; kind <= APPLY_IN; kind++) {
        check_apply((enum apply_kind)kind, 0);
        check_apply((enum apply_kind)kind, 5);
        check_apply((enum apply_kind)kind, 100);
    }
}

/* The inner query runs once for each tuple, not for each row. */
static void answers_are_kept(void **state)
{
    struct text text = { 0 };
    const struct step_parameter parameter = { .parameter = 2, .column = 0 };
    (void)state;
    open_sides(1000, 10, 3);
    struct step *step = add_apply(APPLY_EXISTS, VDBQ_BOOLEAN);
    assert_true(vector_append(&step->apply.parameters, &parameter, 1));
    expect_ok(try_rows(&joined, &text), &joined.error);
    assert_int_equal(joined.chosen, 1 + 4); /* keys 0 to 2, and NULL */
    text_finish(&text);
    two_tables_close(&joined);
}

/* Whether "r" has a row with the key of the outer one: parameter 0. */
static void inner_queries_take_parameters(void **state)
{
    static const char same_key[] = "Table 0 0 0 \"r\"\n"
                                   "ResultColumn 1 0 0 \"k\"\n"
                                   "Parallel 0 0 12\n"
                                   "ColumnNull 2 0 0\n"
                                   "ParameterNull 3 0\n"
                                   "Parameter.I32 1 0\n"
                                   "Column.I32 0 0 0\n"
                                   "Or.I32 2 3 10 0\n"
                                   "Eq.I32 0 1 10 1\n"
                                   "Invalid\n"
                                   "Result 0 1\n"
                                   "Converge\n"
                                   "Finish\n";
    const struct step_parameter parameter = { .parameter = 0, .column = 0 };
    const struct side *l = &joined.sides[0], *r = &joined.sides[1];
    struct text expected = { 0 };
    (void)state;
    open_sides(200, 9, 20);
    struct step *step = add_apply(APPLY_EXISTS, VDBQ_BOOLEAN);
    struct step *inner = steps_at(step->apply.inner, 0);
    program_finish(&inner->scan.program);
    program_init(&inner->scan.program);
    read_program(&inner->scan.program, same_key, side_columns, 2,
                 catalogue_table(joined.snapshot.catalogue, "r"));
    assert_true(steps_describe(step->apply.inner, inner));
    assert_true(vector_append(&step->apply.parameters, &parameter, 1));
    for (uint32_t i = 0; i < l->rows; i++) {
        bool found = false;
        for (uint32_t j = 0; j < r->rows; j++)
            found |= !l->k_null[i] && !r->k_null[j] && l->k[i] == r->k[j];
        print_side(l, i, &expected);
        text_print(&expected, "%d \n", found);
    }
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

/* ------------------------------------------------- groups, sorts, windows -- */

/* How many rows have each key; sorted by key, the first three. */
static void groups_are_sorted(void **state)
{
    struct steps *steps = &joined.steps;
    const struct step_aggregate rows = { .column = -1, .filter = -1 };
    const struct step_key key = { .column = 0 };
    struct text expected = { 0 };
    (void)state;
    for (unsigned few = 0; few < 2; few++) {
        open_sides(1000, 0, 5);
        struct step *step =
            add_step(steps, STEP_GROUP, add_side_scan(&joined, steps, "l"), -1);
        take_columns(steps, step, 0, -1);
        step->column_count = step->group.keys = 1;
        add_column(step, "count", VDBQ_BIGINT);
        assert_true(vector_append(&step->group.aggregates, &rows, 1));
        step = add_step(steps, STEP_SORT, 1, -1);
        take_columns(steps, step, 1, -1);
        assert_true(vector_append(&step->sort.keys, &key, 1));
        step->sort.offset = 1;
        step->sort.limit = few ? 3 : UINT64_MAX;
        for (int k = 0; k < (few ? 3 : 5); k++) {
            uint32_t count = 0;
            for (uint32_t i = 0; i < 1000; i++)
                count +=
                    !joined.sides[0].k_null[i] && joined.sides[0].k[i] == k;
            text_print(&expected, "%d %u \n", k, count);
        }
        expect_rows(&joined, expected.bytes);
        text_finish(&expected);
        two_tables_close(&joined);
    }
}

/* Rows are numbered, and have the text of the one before. */
static void windows_look_around(void **state)
{
    struct steps *steps = &joined.steps;
    const struct side *side = &joined.sides[0];
    struct step_window_function functions[] = {
        { .function = WINDOW_ROW_NUMBER, .aggregate = { .column = -1 } },
        { .function = WINDOW_LAG, .aggregate = { .column = 2 }, .offset = 1 }
    };
    struct text expected = { 0 };
    (void)state;
    open_sides(100, 0, 5);
    int texts = add_texts(add_side_scan(&joined, steps, "l"), "from_integer", 1,
                          VDBQ_TEXT);
    struct step *step = add_step(steps, STEP_WINDOW, texts, -1);
    take_columns(steps, step, texts, -1);
    add_column(step, "number", VDBQ_BIGINT);
    add_column(step, "before", VDBQ_TEXT);
    for (unsigned i = 0; i < 2; i++) {
        functions[i].fallback = functions[i].aggregate.filter = -1;
        functions[i].partition = VECTOR(int);
        functions[i].order = VECTOR(struct step_key);
    }
    assert_true(vector_append(&step->window.functions, functions, 2));
    for (uint32_t i = 0; i < side->rows; i++) {
        print_side(side, i, &expected);
        text_print(&expected, side->v_null[i] ? "NULL " : "'%" PRId64 "' ",
                   side->v[i]);
        text_print(&expected, "%u ", i + 1);
        text_print(&expected,
                   i == 0 || side->v_null[i - 1] ? "NULL \n"
                                                 : "'%" PRId64 "' \n",
                   side->v[i == 0 ? 0 : i - 1]);
    }
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

/* ------------------------------------------------------------ failures -- */

/* A join with a condition, texts on both sides, filtered and concatenated. */
static void add_much(void)
{
    struct steps *steps = &joined.steps;
    add_join((struct join_case){
        .kind = JOIN_FULL, .keys = true, .condition = true });
    int filtered = add_scan_over(steps, 2, filter);
    int texts = add_texts(filtered, "from_integer", 0, VDBQ_TEXT);
    struct step *step = add_step(steps, STEP_CONCAT, texts, texts - 1);
    VECTOR_ITEMS(&step->inputs, int)[1] = texts;
    take_columns(steps, step, texts, -1);
}

static long live, calls, fail_at;

static void *counting_resize(void *old, size_t size)
{
    void *made;
    if (fail_at != 0 && ++calls >= fail_at)
        return NULL;
    made = realloc(old, size);
    live += old == NULL && made != NULL;
    return made;
}

static void counting_release(void *memory)
{
    live--;
    free(memory);
}

/* Whatever allocation fails, everything is freed and the failure told. */
static void failures_free_everything(void **state)
{
    enum vdbq_status status = VDBQ_NO_MEMORY;
    (void)state;
    memory_calls.resize = counting_resize;
    memory_calls.release = counting_release;
    open_sides(30, 30, 5);
    add_much();
    expect_ok(steps_check(&joined.steps, &joined.error), &joined.error);
    for (long at = 1; status == VDBQ_NO_MEMORY; at++) {
        struct stream *stream = NULL;
        struct vdbq_batch batch = { .rows = 1 };
        calls = 0;
        fail_at = at;
        status = stream_open(&joined.params, &joined.steps, TEXTS_ORDERED,
                             &stream, &joined.error);
        while (status == VDBQ_OK && batch.rows > 0)
            status = stream_batch(stream, &batch, &joined.error);
        fail_at = 0;
        stream_close(stream);
    }
    expect_ok(status, &joined.error);
    two_tables_close(&joined);
    memory_calls.resize = realloc;
    memory_calls.release = free;
    assert_int_equal(live, 0);
}

static void a_stop_ends_a_join(void **state)
{
    struct text text = { 0 };
    (void)state;
    open_sides(100, 100, 5);
    add_join((struct join_case){ .kind = JOIN_INNER, .condition = true });
    atomic_store(&joined.stop.cancelled, true);
    assert_int_equal(try_rows(&joined, &text), VDBQ_CANCELLED);
    text_finish(&text);
    two_tables_close(&joined);
}

/* The failure of a row is told, with its place. */
static void faults_are_told(void **state)
{
    static const char overflow[] = "Table 0 0 0 \"input\"\n"
                                   "ResultColumn 2 0 0 \"sum\"\n"
                                   "Parallel 0 0 8\n"
                                   "Rowid.I64 1 0 0\n"
                                   "Integer.I64 2 9223372036854772808\n"
                                   "AddChecked.I64 0 1 2\n"
                                   "Result 0 1\n"
                                   "Converge\n"
                                   "Finish\n";
    struct text text = { 0 };
    (void)state;
    open_sides(3000, 3000, 5);
    add_join((struct join_case){ .kind = JOIN_INNER });
    add_scan_over(&joined.steps, 2, overflow);
    assert_int_equal(try_rows(&joined, &text), VDBQ_RANGE);
    assert_int_equal(joined.error.line, 6);
    text_finish(&text);
    two_tables_close(&joined);
}

static void steps_that_do_not_fit_are_refused(void **state)
{
    struct steps *steps = &joined.steps;
    struct text text = { 0 };
    (void)state;
    open_sides(1, 1, 5);
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    add_join((struct join_case){
        .kind = JOIN_LEFT, .keys = true, .condition = true });
    steps_print(steps, &text);
    assert_non_null(strstr(text.bytes, "; step 2 of step 0, 1: left join "
                                       "0 = 0, where\n"));
    expect_ok(steps_check(steps, &joined.error), &joined.error);
    struct step *join = steps_at(steps, 2);
    join->column_count--;
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    join->column_count++;
    VECTOR_ITEMS(&join->join.left_keys, int)[0] = 1;
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    VECTOR_ITEMS(&join->join.left_keys, int)[0] = 9;
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    VECTOR_ITEMS(&join->join.left_keys, int)[0] = 0;
    VECTOR_ITEMS(&join->inputs, int)[1] = 2;
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    VECTOR_ITEMS(&join->inputs, int)[1] = 1;
    expect_ok(steps_check(steps, &joined.error), &joined.error);
    struct step *limit = add_step(steps, STEP_LIMIT, 0, 1);
    take_columns(steps, limit, 0, -1);
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    assert_non_null(strstr(joined.error.message, "two numbers of rows"));
    text_finish(&text);
    two_tables_close(&joined);
}

/* A frame by a distance has one key, which is no text. */
static void frames_that_do_not_fit_are_refused(void **state)
{
    struct steps *steps = &joined.steps;
    struct step_window_function function = {
        .function = WINDOW_AGGREGATE,
        .aggregate = { .column = -1, .filter = -1 },
        .fallback = -1,
        .partition = VECTOR(int),
        .order = VECTOR(struct step_key),
        .frame = { .unit = FRAME_DISTANCE }
    };
    struct step_key key = { .column = 0 };
    (void)state;
    open_sides(1, 0, 5);
    int texts = add_texts(add_side_scan(&joined, steps, "l"), "from_integer", 1,
                          VDBQ_TEXT);
    struct step *step = add_step(steps, STEP_WINDOW, texts, -1);
    take_columns(steps, step, texts, -1);
    add_column(step, "rows", VDBQ_BIGINT);
    assert_true(vector_append(&step->window.functions, &function, 1));
    struct vector *order =
        &VECTOR_ITEMS(&step->window.functions, struct step_window_function)[0]
             .order;
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    assert_non_null(strstr(joined.error.message, "0 keys"));
    assert_true(vector_append(order, &key, 1));
    expect_ok(steps_check(steps, &joined.error), &joined.error);
    VECTOR_ITEMS(order, struct step_key)[0].column = 2;
    assert_int_equal(steps_check(steps, &joined.error), VDBQ_PROGRAM);
    assert_non_null(strstr(joined.error.message, "of texts"));
    two_tables_close(&joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_reads_another_steps_rows),
        cmocka_unit_test(many_rows_come_in_morsels),
        cmocka_unit_test(limits_cut_batches),
        cmocka_unit_test(concat_joins_words),
        cmocka_unit_test(joins_compare_texts),
        cmocka_unit_test(functions_of_texts_stream),
        cmocka_unit_test(programs_read_texts),
        cmocka_unit_test(inner_queries_answer),
        cmocka_unit_test(inner_queries_take_parameters),
        cmocka_unit_test(answers_are_kept),
        cmocka_unit_test(groups_are_sorted),
        cmocka_unit_test(windows_look_around),
        cmocka_unit_test(failures_free_everything),
        cmocka_unit_test(a_stop_ends_a_join),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(steps_that_do_not_fit_are_refused),
        cmocka_unit_test(frames_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
