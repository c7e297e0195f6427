/* SPDX-License-Identifier: MIT */
/*
 * Build rows: programs that probe other steps' rows, made by hand and compared
 * with loops over all pairs; on the host and on an OpenCL device, in every
 * mode and build.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "device/kind.h"
#include "fixtures/two_tables.h"

#include "base/memory.h"
#include "exec/build_side/build_facts.h"
#include "exec/stream/stream_inner.h"

static struct two_tables probed;

/* Where programs run. */
struct place {
    enum run_mode mode;
    enum device_build build;
    unsigned threads;
    bool takes;
    struct resident *resident;
};

static struct place place;

static enum vdbq_status choose_place(void *context, const struct table *table,
                                     const struct program *program,
                                     uint64_t rows, struct run_place *chosen,
                                     struct error *error)
{
    enum vdbq_status status =
        choose_host(context, table, program, rows, chosen, error);
    bool specialises = device_facts(probed.device)->kind->specialises;
    probed.settings.prune = true;
    probed.settings.build = specialises ? place.build : BUILD_INTERPRETED;
    chosen->mode = place.mode;
    chosen->takes = place.takes;
    chosen->resident = place.resident;
    return status;
}

static void open_sides(uint32_t left, uint32_t right, uint32_t keys)
{
    fill_side(&probed.sides[0], left, keys, 1);
    fill_side(&probed.sides[1], right, keys, 77);
}

/* Moves the keys of the right side apart, and the left ones with them. */
static void spread_keys(void)
{
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < probed.sides[s].rows; i++)
            probed.sides[s].k[i] = probed.sides[s].k[i] * 1000003;
}

/* The CPU device. It stays open, for its driver reads the text of all kernels anew for
 * each that opens. */
static struct device *cpu;

/* Opens it, once; false: there is none. */
static bool cpu_is_there(void)
{
    struct error error;
    return cpu != NULL
           || device_open(&(struct device_params){ .choice = "cpu" }, &cpu,
                          &error)
                  == VDBQ_OK;
}

static int close_cpu(void **state)
{
    (void)state;
    device_close(cpu);
    return 0;
}

/* The tables on the host, or on that device. */
static void open_place(bool on_cpu)
{
    two_tables_open(&probed);
    if (on_cpu) {
        pool_destroy(probed.pool);
        device_close(probed.device);
        probed.pool = NULL;
        probed.device = cpu;
        probed.keeps_device = true;
        expect_ok(pool_create(probed.database, cpu, 1 << 26, &probed.pool,
                              &probed.error),
                  &probed.error);
    }
    probed.params.choose = choose_place;
    probed.params.threads = place.threads;
}

/* ------------------------------------------------------------ programs -- */

/* Types of the columns of a table of the program. */
static void describe_table(struct program *program, unsigned k,
                           const struct step_column *columns, unsigned count,
                           unsigned input)
{
    struct program_table *table = vector_at(&program->tables, k);
    int *types = arena_alloc(&program->arena, (count + 1) * sizeof *types);
    for (unsigned i = 0; i < count; i++)
        types[i] = type_machine(columns[i].type);
    table->column_types = types;
    table->column_count = count;
    table->key_type = TYPE_I64;
    table->input = input;
}

/* Adds a scan of table "l" (outer -1) or of a step's rows that probes the rows
 * of step `build_side`. */
static int add_probe(struct steps *steps, int outer, int build_side,
                     const char *text)
{
    struct error error;
    const struct table *table = catalogue_table(probed.snapshot.catalogue, "l");
    struct step *step = add_step(steps, STEP_SCAN, build_side, outer);
    struct program *program = &step->scan.program;
    const struct step *from = steps_at(steps, build_side);
    expect_ok(program_read(text, program, &error), &error);
    describe_table(program, 1, from->columns, from->column_count, 1);
    if (outer < 0) {
        describe_table(program, 0, side_columns, 2, 0);
        ((struct program_table *)vector_at(&program->tables, 0))->id =
            table->id;
    } else {
        from = steps_at(steps, outer);
        describe_table(program, 0, from->columns, from->column_count, 2);
    }
    assert_true(steps_describe(steps, step));
    return (int)steps->steps.count - 1;
}

/* All left rows, with the v of the right row of the same k, or NULL. */
static const char left_join[] = "Table 0 0 0 \"l\"\n"
                                "Table 0 0 1 \"r\"\n"
                                "ResultColumn 1 1 4 \"k\"\n"
                                "ResultColumn 2 1 5 \"v\"\n"
                                "ResultColumn 2 1 3 \"v\"\n"
                                "Parallel 0 0 17\n"
                                "Column.I32 0 0\n"
                                "Column.I64 1 1\n"
                                "ColumnNull 4 0\n"
                                "ColumnNull 5 1\n"
                                "Probe.I32 6 0 1 0\n"
                                "Integer.I32 7 -1\n"
                                "Choose.I32 8 7 6 4\n"
                                "ColumnAt.I64 2 1 1 8\n"
                                "ColumnAtNull 3 1 1 8\n"
                                "Result 0 3\n"
                                "Converge\n"
                                "Finish\n";

/* The left rows that have a partner, with its v. */
static const char inner_join[] = "Table 0 0 0 \"l\"\n"
                                 "Table 0 0 1 \"r\"\n"
                                 "ResultColumn 1 0 0 \"k\"\n"
                                 "ResultColumn 2 1 5 \"v\"\n"
                                 "ResultColumn 2 1 3 \"v\"\n"
                                 "Parallel 0 0 18\n"
                                 "Column.I32 0 0\n"
                                 "ColumnNull 4 0\n"
                                 "And.I32 4 4 16 0\n"
                                 "Probe.I32 6 0 1 0\n"
                                 "Integer.I32 7 0\n"
                                 "Lt.I32 6 7 16 0\n"
                                 "Column.I64 1 1\n"
                                 "ColumnNull 5 1\n"
                                 "ColumnAt.I64 2 1 1 6\n"
                                 "ColumnAtNull 3 1 1 6\n"
                                 "Result 0 3\n"
                                 "Converge\n"
                                 "Finish\n";

/* ----------------------------------------------------------- expected -- */

static void print_value(bool null, int64_t value, struct text *text)
{
    if (null)
        text_print(text, "NULL ");
    else
        text_print(text, "%" PRId64 " ", value);
}

/* The first right row with the left row's key; UINT32_MAX: none. */
static uint32_t partner(uint32_t i)
{
    const struct side *l = &probed.sides[0], *r = &probed.sides[1];
    for (uint32_t j = 0; j < r->rows; j++)
        if (!l->k_null[i] && !r->k_null[j] && l->k[i] == r->k[j])
            return j;
    return UINT32_MAX;
}

static void print_expected(bool build_side, struct text *text)
{
    const struct side *l = &probed.sides[0], *r = &probed.sides[1];
    for (uint32_t i = 0; i < l->rows; i++) {
        uint32_t j = partner(i);
        if (build_side && j == UINT32_MAX)
            continue;
        print_value(l->k_null[i], l->k[i], text);
        print_value(l->v_null[i], l->v[i], text);
        print_value(j == UINT32_MAX || r->v_null[j],
                    j == UINT32_MAX ? 0 : r->v[j], text);
        text_print(text, "\n");
    }
}

static void expect_join(bool build_side, bool rows)
{
    struct text expected = { 0 };
    int right = add_side_scan(&probed, &probed.steps, "r");
    int left = rows ? add_side_scan(&probed, &probed.steps, "l") : -1;
    add_probe(&probed.steps, left, right, build_side ? inner_join : left_join);
    print_expected(build_side, &expected);
    expect_rows(&probed, expected.bytes ? expected.bytes : "");
    text_finish(&expected);
}

/* --------------------------------------------------------------- tests -- */

/* Both joins, over a table and over rows, in the place. */
static void expect_joins(bool on_cpu)
{
    for (int i = 0; i < 4; i++) {
        open_place(on_cpu);
        expect_join(i % 2 == 0, i / 2 == 1);
        two_tables_close(&probed);
    }
}

/* `takes`: the right rows stay on the device. */
static void joins_are_right_on(bool on_cpu, bool takes)
{
    for (int mode = 0; mode < RUN_MODES; mode++) {
        if (mode == MODE_CACHED)
            continue; /* needs a resident store: the SQL tests have one */
        for (int far = 0; far < 2; far++) {
            place = (struct place){ .mode = (enum run_mode)mode,
                                    .build = mode == MODE_STREAMED
                                                 ? BUILD_SPECIALISED
                                                 : BUILD_INTERPRETED,
                                    .threads = (unsigned)far * 3,
                                    .takes = takes };
            open_sides(1500, 400, 700);
            if (far)
                spread_keys();
            expect_joins(on_cpu);
        }
    }
}

static void joins_are_right(void **state)
{
    (void)state;
    joins_are_right_on(false, false);
}

static void joins_are_right_on_a_device(void **state)
{
    (void)state;
    if (!cpu_is_there())
        skip();
    joins_are_right_on(true, false);
    joins_are_right_on(true, true);
}

static void empty_sides_are_rows(void **state)
{
    (void)state;
    place = (struct place){ .mode = MODE_MAPPED };
    open_sides(300, 0, 40);
    expect_joins(false);
    open_sides(0, 300, 40);
    expect_joins(false);
    open_sides(300, 20, 40);
    memset(probed.sides[1].k_null, 1, sizeof probed.sides[1].k_null);
    expect_joins(false);
}

/* ---------------------------------------------------------------- texts -- */

/* Adds a step of texts (NULL: a NULL) with a number beside each. */
static int add_texts(const char *const *texts, unsigned count)
{
    struct steps *steps = &probed.steps;
    struct step *step = add_step(steps, STEP_VALUES, -1, -1);
    struct arena *arena = &steps->arena;
    struct vdbq_text *values = arena_alloc(arena, (count + 1) * sizeof *values);
    int32_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    uint8_t *nulls = arena_alloc(arena, count + 1);
    struct vdbq_vector *vectors = arena_alloc(arena, 2 * sizeof *vectors);
    for (unsigned i = 0; i < count; i++) {
        nulls[i] = texts[i] == NULL;
        numbers[i] = (int32_t)i;
        if (texts[i] != NULL)
            values[i] = (struct vdbq_text){ texts[i], strlen(texts[i]) };
    }
    vectors[0] = (struct vdbq_vector){ VDBQ_TEXT, values, nulls };
    vectors[1] = (struct vdbq_vector){ VDBQ_INTEGER, numbers, NULL };
    step->values.rows = count;
    step->values.vectors = vectors;
    step->columns = arena_alloc(arena, 2 * sizeof *step->columns);
    step->columns[0] = (struct step_column){ .name = "s", .type = VDBQ_TEXT };
    step->columns[1] =
        (struct step_column){ .name = "n", .type = VDBQ_INTEGER };
    step->column_count = 2;
    return (int)steps->steps.count - 1;
}

/* All rows, with what was found by the text: its text and its number. */
static const char by_text[] = "Table 0 0 0 \"t\"\n"
                              "Table 0 0 1 \"u\"\n"
                              "ResultColumn 1 1 4 \"s\"\n"
                              "ResultColumn 1 1 3 \"of u\"\n"
                              "ResultColumn 1 1 3 \"n\"\n"
                              "Parallel 0 0 16\n"
                              "Column.WORD 0 0\n"
                              "ColumnNull 4 0\n"
                              "Probe.WORD 5 0 1 0\n"
                              "Integer.I32 6 -1\n"
                              "Choose.I32 7 6 5 4\n"
                              "ColumnAt.WORD 1 0 1 7\n"
                              "ColumnAt.I32 2 1 1 7\n"
                              "ColumnAtNull 3 1 1 7\n"
                              "Result 0 3\n"
                              "Converge\n"
                              "Finish\n";

static void expect_texts(const char *const *outer, unsigned outer_count,
                         const char *const *build_side, unsigned build_count,
                         const char *expected)
{
    open_place(false);
    int rows = add_texts(outer, outer_count);
    int build = add_texts(build_side, build_count);
    struct step *step =
        steps_at(&probed.steps, add_probe(&probed.steps, rows, build, by_text));
    step->columns[0].type = step->columns[1].type = VDBQ_TEXT;
    expect_rows(&probed, expected);
    two_tables_close(&probed);
}

static void texts_are_keys(void **state)
{
    static const char *const outer[] = { "b", NULL, "zz", "a", "", "b" };
    static const char *const build_side[] = { "c", "b", NULL, "b", "", "a1" };
    static const char *const none[] = { NULL };
    (void)state;
    place = (struct place){ .mode = MODE_MAPPED };
    open_sides(1, 1, 1);
    expect_texts(outer, 6, build_side, 6,
                 "'b' 'b' 1 \nNULL NULL NULL \n'zz' NULL NULL \n"
                 "'a' NULL NULL \n'' '' 4 \n'b' 'b' 1 \n");
    expect_texts(outer, 2, outer, 6, "'b' 'b' 0 \nNULL NULL NULL \n");
    expect_texts(outer, 3, none, 1,
                 "'b' NULL NULL \nNULL NULL NULL \n'zz' NULL NULL \n");
    expect_texts(none, 1, build_side, 3, "NULL NULL NULL \n");
    expect_texts(outer, 2, build_side, 0, "'b' NULL NULL \nNULL NULL NULL \n");
}

/* --------------------------------------------------------------- groups -- */

static struct text group_rows(bool takes)
{
    struct text text = { 0 };
    place = (struct place){ .mode = MODE_STREAMED, .takes = takes };
    open_place(true);
    int right = add_side_scan(&probed, &probed.steps, "r");
    int scan = add_probe(&probed.steps, -1, right, inner_join);
    struct step *group = add_step(&probed.steps, STEP_GROUP, scan, -1);
    take_columns(&probed.steps, group, scan, -1);
    group->column_count = 1;
    add_column(group, "rows", VDBQ_BIGINT);
    add_column(group, "sum", VDBQ_BIGINT);
    group->group.keys = 1;
    *(struct step_aggregate *)vector_add(&group->group.aggregates) =
        (struct step_aggregate){ AGGREGATE_COUNT, .column = -1, .filter = -1 };
    *(struct step_aggregate *)vector_add(&group->group.aggregates) =
        (struct step_aggregate){ AGGREGATE_SUM, .column = 2, .filter = -1 };
    expect_ok(try_rows(&probed, &text), &probed.error);
    if (takes
        && strstr(probed.stats.steps, device_facts(probed.device)->name)
               == NULL)
        fail_msg("no device took the rows: %s", probed.stats.steps);
    assert_non_null(strstr(probed.stats.steps, "probe (400 dense: "));
    assert_int_equal(strstr(probed.stats.steps, "1 on the device)") != NULL,
                     takes);
    two_tables_close(&probed);
    return text;
}

/* The rows of a scan that probes are grouped where they are. */
static void rows_go_into_groups(void **state)
{
    (void)state;
    if (!cpu_is_there())
        skip();
    open_sides(3000, 400, 300);
    struct text host = group_rows(false), taken = group_rows(true);
    assert_string_equal(host.bytes, taken.bytes);
    text_finish(&host);
    text_finish(&taken);
}

/* ------------------------------------------------------ what is known -- */

/* A column of rows that are found has no 0 for those that are not. */
static void ranges_are_of_what_is_found(void **state)
{
    struct stream *stream;
    (void)state;
    place = (struct place){ .mode = MODE_MAPPED };
    open_sides(1000, 300, 200);
    for (uint32_t i = 0; i < 300; i++) {
        probed.sides[1].v[i] = 1990 + i % 9;
        probed.sides[1].v_null[i] = 0;
    }
    open_place(false);
    int right = add_side_scan(&probed, &probed.steps, "r");
    add_probe(&probed.steps, -1, right, inner_join);
    expect_ok(steps_check(&probed.steps, &probed.error), &probed.error);
    expect_ok(stream_open(&probed.params, &probed.steps, TEXTS_ORDERED, &stream,
                          &probed.error),
              &probed.error);
    struct device_column *columns = stream_device_columns(stream);
    assert_non_null(columns);
    assert_true(columns[2].ranged);
    assert_int_equal(columns[2].low, 1990);
    assert_int_equal(columns[2].high, 1998);
    memory_release(columns);
    stream_close(stream);
    two_tables_close(&probed);
}

/* Tablets whose keys none of the build rows has are passed over. */
static void tablets_without_partners_are_skipped(void **state)
{
    struct text text = { 0 };
    (void)state;
    place = (struct place){ .mode = MODE_MAPPED };
    open_sides(2560, 100, 50);
    for (uint32_t i = 0; i < 2560; i++) {
        probed.sides[0].k[i] = (int32_t)i;
        probed.sides[0].k_null[i] = 0;
    }
    open_place(false);
    int right = add_side_scan(&probed, &probed.steps, "r");
    add_probe(&probed.steps, -1, right, inner_join);
    expect_ok(try_rows(&probed, &text), &probed.error);
    assert_int_equal(probed.stats.sum.tablets_skipped, 9);
    text_finish(&text);
    two_tables_close(&probed);
}

/* -------------------------------------------------------------- refusals -- */

static void budgets_are_kept(void **state)
{
    struct text text = { 0 };
    struct resident *resident;
    (void)state;
    open_sides(100, 3000, 50);
    place = (struct place){ .mode = MODE_MAPPED };
    open_place(false);
    expect_ok(resident_create(probed.device, 20000, &resident, &probed.error),
              &probed.error);
    place.resident = resident;
    int right = add_side_scan(&probed, &probed.steps, "r");
    add_probe(&probed.steps, -1, right, inner_join);
    assert_int_equal(try_rows(&probed, &text), VDBQ_LIMIT);
    assert_non_null(strstr(probed.error.message,
                           "bytes: 0 of 20000 bytes of device memory"));
    assert_int_equal(resident_bytes(resident), 0);
    resident_destroy(resident);
    place.resident = NULL;
    text_finish(&text);
    two_tables_close(&probed);
}

static void expect_refused(const char *message)
{
    assert_int_equal(steps_check(&probed.steps, &probed.error), VDBQ_PROGRAM);
    if (strstr(probed.error.message, message) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", message, probed.error.message);
}

static void inputs_are_checked(void **state)
{
    (void)state;
    open_sides(10, 10, 5);
    two_tables_open(&probed);
    int right = add_side_scan(&probed, &probed.steps, "r");
    int scan = add_probe(&probed.steps, -1, right, inner_join);
    struct step *step = steps_at(&probed.steps, scan);
    struct program_table *tables = step->scan.program.tables.items;
    expect_ok(steps_check(&probed.steps, &probed.error), &probed.error);
    tables[1].input = 0;
    expect_refused("table 1 is no input");
    tables[1].input = 2;
    expect_refused("table 1 is input 1 of 1");
    tables[1].input = tables[0].input = 1;
    expect_refused("reads input 0 twice");
    tables[0].input = 0;
    tables[1].key_type = TYPE_I32;
    expect_refused("table r is not its input");
    tables[1].key_type = TYPE_I64;
    assert_true(vector_append(&step->inputs, &right, 1));
    expect_refused("does not read input 1");
    two_tables_close(&probed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_are_right),
        cmocka_unit_test(joins_are_right_on_a_device),
        cmocka_unit_test(empty_sides_are_rows),
        cmocka_unit_test(texts_are_keys),
        cmocka_unit_test(rows_go_into_groups),
        cmocka_unit_test(ranges_are_of_what_is_found),
        cmocka_unit_test(tablets_without_partners_are_skipped),
        cmocka_unit_test(budgets_are_kept),
        cmocka_unit_test(inputs_are_checked),
    };
    return cmocka_run_group_tests_name("build_side", tests, NULL, close_cpu);
}
