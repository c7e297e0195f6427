/* SPDX-License-Identifier: MIT */
/*
 * Inner rows: programs that probe other steps' rows, made by hand and compared
 * with loops over all pairs; on the host and on an OpenCL device, in every
 * mode and build.
 */
#include "stream_fixture.h"

#include "base/memory.h"

static struct fixture fixture;

/* Where programs run. */
struct place {
    enum run_mode mode;
    enum device_build build;
    unsigned threads;
};

static struct place place;

static enum vdbq_status choose_place(void *context, const struct table *table,
                                     uint64_t rows,
                                     struct stream_place *chosen,
                                     struct error *error)
{
    enum vdbq_status status = choose_host(context, table, rows, chosen, error);
    bool is_host = device_facts(fixture.device)->is_host;
    chosen->build = is_host ? BUILD_INTERPRETED : place.build;
    chosen->mode = place.mode;
    chosen->skips = true;
    return status;
}

static void open_sides(uint32_t left, uint32_t right, uint32_t keys)
{
    fill_side(&fixture.sides[0], left, keys, 1);
    fill_side(&fixture.sides[1], right, keys, 77);
}

/* Moves the keys of the right side apart, and the left ones with them. */
static void spread_keys(void)
{
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < fixture.sides[s].rows; i++)
            fixture.sides[s].k[i] = fixture.sides[s].k[i] * 1000003;
}

static void open_place(const char *device)
{
    fixture_open(&fixture);
    device_close(fixture.device);
    pool_destroy(fixture.pool);
    fixture.pool = NULL;
    expect_ok(device_open(&(struct device_params){ .choice = device },
                          &fixture.device, &fixture.error), &fixture.error);
    expect_ok(pool_create(fixture.database, fixture.device, 1 << 26,
                          &fixture.pool, &fixture.error), &fixture.error);
    fixture.params.choose = choose_place;
    fixture.params.threads = place.threads;
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
 * of step `inner`. */
static int add_probe(struct steps *steps, int outer, int inner,
                     const char *text)
{
    struct error error;
    const struct table *table =
        catalogue_table(fixture.snapshot.catalogue, "l");
    struct step *step = add_step(steps, STEP_SCAN, inner, outer);
    struct program *program = &step->scan.program;
    const struct step *from = steps_at(steps, inner);
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
    const struct side *l = &fixture.sides[0], *r = &fixture.sides[1];
    for (uint32_t j = 0; j < r->rows; j++)
        if (!l->k_null[i] && !r->k_null[j] && l->k[i] == r->k[j])
            return j;
    return UINT32_MAX;
}

static void print_expected(bool inner, struct text *text)
{
    const struct side *l = &fixture.sides[0], *r = &fixture.sides[1];
    for (uint32_t i = 0; i < l->rows; i++) {
        uint32_t j = partner(i);
        if (inner && j == UINT32_MAX)
            continue;
        print_value(l->k_null[i], l->k[i], text);
        print_value(l->v_null[i], l->v[i], text);
        print_value(j == UINT32_MAX || r->v_null[j],
                    j == UINT32_MAX ? 0 : r->v[j], text);
        text_print(text, "\n");
    }
}

static void expect_join(bool inner, bool rows)
{
    struct text expected = { 0 };
    int right = add_side(&fixture, &fixture.steps, "r");
    int left = rows ? add_side(&fixture, &fixture.steps, "l") : -1;
    add_probe(&fixture.steps, left, right, inner ? inner_join : left_join);
    print_expected(inner, &expected);
    expect_rows(&fixture, expected.bytes ? expected.bytes : "");
    text_finish(&expected);
}

/* --------------------------------------------------------------- tests -- */

/* Both joins, over a table and over rows, in the place. */
static void expect_joins(const char *device)
{
    for (int i = 0; i < 4; i++) {
        open_place(device);
        expect_join(i % 2 == 0, i / 2 == 1);
        fixture_close(&fixture);
    }
}

static void joins_are_right_on(const char *device)
{
    for (int mode = 0; mode < RUN_MODES; mode++) {
        if (mode == MODE_CACHED)
            continue; /* needs a resident store: the SQL tests have one */
        for (int far = 0; far < 2; far++) {
            place = (struct place){ .mode = (enum run_mode)mode,
                                    .build = mode == MODE_STREAMED
                                                 ? BUILD_SPECIALISED
                                                 : BUILD_INTERPRETED,
                                    .threads = (unsigned)far * 3 };
            open_sides(1500, 400, 700);
            if (far)
                spread_keys();
            expect_joins(device);
        }
    }
}

static void joins_are_right(void **state)
{
    (void)state;
    joins_are_right_on("host");
}

static void joins_are_right_on_a_device(void **state)
{
    struct device *device;
    struct error error;
    (void)state;
    if (device_open(&(struct device_params){ .choice = "cpu" }, &device,
                    &error) != VDBQ_OK)
        skip();
    device_close(device);
    joins_are_right_on("cpu");
}

static void empty_sides_are_rows(void **state)
{
    (void)state;
    place = (struct place){ .mode = MODE_MAPPED };
    open_sides(300, 0, 40);
    expect_joins("host");
    open_sides(0, 300, 40);
    expect_joins("host");
    open_sides(300, 20, 40);
    memset(fixture.sides[1].k_null, 1, sizeof fixture.sides[1].k_null);
    expect_joins("host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_are_right),
        cmocka_unit_test(joins_are_right_on_a_device),
        cmocka_unit_test(empty_sides_are_rows),
    };
    return cmocka_run_group_tests_name("inner", tests, NULL, NULL);
}
