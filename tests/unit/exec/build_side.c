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
#include "exec/build_side/key_bitmap.h"
#include "exec/build_side/key_index.h"
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

static void open_place(const char *device)
{
    two_tables_open(&probed);
    device_close(probed.device);
    pool_destroy(probed.pool);
    probed.pool = NULL;
    expect_ok(device_open(&(struct device_params){ .choice = device },
                          &probed.device, &probed.error),
              &probed.error);
    expect_ok(pool_create(probed.database, probed.device, 1 << 26, &probed.pool,
                          &probed.error),
              &probed.error);
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
static void expect_joins(const char *device)
{
    for (int i = 0; i < 4; i++) {
        open_place(device);
        expect_join(i % 2 == 0, i / 2 == 1);
        two_tables_close(&probed);
    }
}

/* `takes`: the right rows stay on the device. */
static void joins_are_right_on(const char *device, bool takes)
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
            expect_joins(device);
        }
    }
}

static void joins_are_right(void **state)
{
    (void)state;
    joins_are_right_on("host", false);
}

static void joins_are_right_on_a_device(void **state)
{
    struct device *device;
    struct error error;
    (void)state;
    if (device_open(&(struct device_params){ .choice = "cpu" }, &device, &error)
        != VDBQ_OK)
        skip();
    device_close(device);
    joins_are_right_on("cpu", false);
    joins_are_right_on("cpu", true);
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
    memset(probed.sides[1].k_null, 1, sizeof probed.sides[1].k_null);
    expect_joins("host");
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
    open_place("host");
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
    open_place("cpu");
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
    struct device *device;
    struct error error;
    (void)state;
    if (device_open(&(struct device_params){ .choice = "cpu" }, &device, &error)
        != VDBQ_OK)
        skip();
    device_close(device);
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
    open_place("host");
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
    open_place("host");
    int right = add_side_scan(&probed, &probed.steps, "r");
    add_probe(&probed.steps, -1, right, inner_join);
    expect_ok(try_rows(&probed, &text), &probed.error);
    assert_int_equal(probed.stats.sum.tablets_skipped, 9);
    text_finish(&text);
    two_tables_close(&probed);
}

/* -------------------------------------------------------------- indexes -- */

enum { KEYS = 200000 };

/* What a machine finds in a bitmap. */
static int64_t find_bit(const struct key_index *index, const u64 *slots,
                        uint64_t at)
{
    const u32 *rows =
        (const u32 *)(slots + (index->count + BITMAP_KEYS - 1) / BITMAP_KEYS);
    if (at >= index->count)
        return -1;
    u64 slot = slots[at / BITMAP_KEYS];
    u32 bit = (u32)1 << at % BITMAP_KEYS;
    uint64_t rank = (slot >> 32) + bits_count((u32)slot & (bit - 1));
    if (((u32)slot & bit) == 0)
        return -1;
    return index->in_order ? (int64_t)rank : (int64_t)rows[rank];
}

/* Whether the filter of an index lets a key through. */
static bool passes_filter(const struct key_index *index, const u64 *slots,
                          u64 hash)
{
    const u32 *filter = (const u32 *)(slots + index->count);
    u64 at = hash & (index->count - 1);
    return filter[at / FILTER_SLOTS] >> FILTER_BIT(at, hash) & 1;
}

/* What a machine finds. */
static int64_t find_key(const struct key_index *index,
                        const struct key_column *column, const void *slots,
                        int64_t key)
{
    bool wide = column->width == 8;
    uint32_t tag = wide ? hash_tag((u64)key) : (u32)key;
    uint64_t at = (uint64_t)key - (uint64_t)index->base;
    if (index->kind == INDEX_BITMAP)
        return find_bit(index, slots, at);
    if (index->kind == INDEX_DENSE)
        return at < index->count ? (int64_t)((const u32 *)slots)[at] - 1 : -1;
    if (!passes_filter(index, slots, hash_key((u64)key)))
        return -1;
    for (at = hash_key((u64)key);; at++) {
        u64 slot = ((const u64 *)slots)[at & (index->count - 1)];
        int64_t row = (int64_t)(u32)slot - 1;
        if (row < 0
            || (slot >> 32 == tag
                && (!wide || ((const int64_t *)column->values)[row] == key)))
            return row;
    }
}

/* Keys of which one index is made. */
struct index_case {
    int64_t base, step;   /* key k is base + k * step                  */
    bool wide;            /* of 64 bits                                */
    bool in_order;        /* one a row, none NULL; else two rows each,
                           mixed, some of them NULL                  */
    enum index_kind kind; /* that is chosen */
};

/* The number of a row's key. */
static uint32_t number_of_key(const struct index_case *of, uint32_t row)
{
    return of->in_order ? row : (uint32_t)(row * 7919ull % (KEYS / 2));
}

/* Each key is found in its first row, and nothing beside them; however many
 * threads make the index. */
static void expect_found(const struct index_case *of,
                         const struct key_column *keys,
                         const struct key_index *index, unsigned threads)
{
    uint32_t count = of->in_order ? KEYS : KEYS / 2;
    uint64_t bytes = key_index_bytes(index, keys);
    void *slots = memory_resize(NULL, bytes);
    int32_t *first = memory_zeroed(KEYS, sizeof *first);
    uint32_t passed = 0; /* keys beside these that the filter lets through */
    memset(slots, 0xff, bytes);
    key_index_fill(index, keys, threads, slots);
    for (uint32_t i = KEYS; i-- > 0;)
        if (keys->nulls == NULL || !keys->nulls[i])
            first[number_of_key(of, i)] = (int32_t)i + 1;
    for (uint32_t k = 0; k < count; k++) {
        int64_t key = of->base + k * of->step;
        assert_int_equal(find_key(index, keys, slots, key), first[k] - 1);
        if (of->step > 1)
            assert_int_equal(find_key(index, keys, slots, key + 1), -1);
        if (index->filtered)
            passed += passes_filter(index, slots, hash_key((u64)key + 1));
        assert_int_equal(find_key(index, keys, slots, of->base - 1 - k), -1);
    }
    assert_true(passed < count / 8);
    memory_release(first);
    memory_release(slots);
}

static void expect_index(const struct index_case *of)
{
    static int64_t values[KEYS];
    static uint8_t nulls[KEYS];
    struct row_set_column column = { .type =
                                         of->wide ? VDBQ_BIGINT : VDBQ_INTEGER,
                                     .width = of->wide ? 8 : 4,
                                     .values = values,
                                     .nulls = nulls };
    for (uint32_t i = 0; i < KEYS; i++) {
        int64_t key = of->base + number_of_key(of, i) * of->step;
        nulls[i] = !of->in_order && i % 11 == 3;
        if (of->wide)
            values[i] = key;
        else
            ((int32_t *)values)[i] = (int32_t)key;
    }
    struct input_range range = build_facts(&column, KEYS, NULL, 4);
    struct key_column keys = { .values = values,
                               .nulls = of->in_order ? NULL : nulls,
                               .width = column.width,
                               .rows = KEYS,
                               .low = range.value.low,
                               .high = range.value.high };
    assert_true(range.not_null && range.null == !of->in_order);
    struct key_index index = key_index_plan(&keys, false, 1);
    assert_int_equal(index.kind, of->kind);
    assert_int_equal(index.filtered, of->kind == INDEX_HASHED);
    assert_int_equal(index.in_order, of->in_order && of->kind == INDEX_BITMAP);
    for (unsigned threads = 1; threads <= 5; threads += 2)
        expect_found(of, &keys, &index, threads);
}

static void indexes_find_first_rows(void **state)
{
    (void)state;
    static const struct index_case cases[] = {
        { 0, 1, false, false, INDEX_DENSE },
        { 0, 1, true, false, INDEX_DENSE },
        { 0, 20011, false, false, INDEX_HASHED },
        { 0, 5000000029, true, false, INDEX_HASHED },
        { 0, 65536, true, false, INDEX_HASHED },
        { -7000000, 37, false, false, INDEX_BITMAP },
        { INT64_MAX - 20000000, 190, true, false, INDEX_BITMAP },
        { -2147483647, 127, false, true, INDEX_BITMAP },
        { 5, 1, false, true, INDEX_BITMAP },
        { INT64_MAX - 20000000, 100, true, true, INDEX_BITMAP },
        { INT64_MIN + KEYS, 3, true, true, INDEX_BITMAP },
        { 0, 129, false, true, INDEX_HASHED },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_index(&cases[i]);
}

/* Every other row has one key: its first row is found whichever thread comes
 * first, and the others' too. */
static void one_key_of_half_of_the_rows(void **state)
{
    (void)state;
    static int64_t values[KEYS];
    static const int64_t steps[] = { 1, 5000000029 };
    for (unsigned n = 0; n < sizeof steps / sizeof *steps; n++) {
        for (uint32_t i = 0; i < KEYS; i++)
            values[i] = i % 2 == 1 ? 7 * steps[n] : (8 + i) * steps[n];
        struct key_column keys = { .values = values,
                                   .width = 8,
                                   .rows = KEYS,
                                   .low = 7 * steps[n],
                                   .high = (6 + KEYS) * steps[n] };
        struct key_index index = key_index_plan(&keys, false, 5);
        assert_int_equal(index.kind, n == 0 ? INDEX_DENSE : INDEX_HASHED);
        void *slots = memory_resize(NULL, key_index_bytes(&index, &keys));
        key_index_fill(&index, &keys, 5, slots);
        assert_int_equal(find_key(&index, &keys, slots, 7 * steps[n]), 1);
        for (uint32_t i = 0; i < KEYS; i += 2)
            assert_int_equal(find_key(&index, &keys, slots, values[i]), i);
        memory_release(slots);
    }
}

/* Rows that are in order but for one, or for one NULL, wherever that is among
 * the threads. */
static void one_row_out_of_order(void **state)
{
    (void)state;
    static int32_t values[KEYS];
    static uint8_t nulls[KEYS];
    const struct key_column keys = {
        .values = values, .nulls = nulls, .width = 4, .rows = KEYS
    };
    for (uint32_t i = 0; i < KEYS; i++)
        values[i] = 2 * (int32_t)i;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        assert_true(key_bitmap_in_order(&keys, threads));
        for (unsigned share = 0; share <= 10; share++) {
            uint32_t row = (KEYS - 1) * share / 10;
            nulls[row] = 1;
            assert_false(key_bitmap_in_order(&keys, threads));
            nulls[row] = 0;
            values[row] += row > 0 ? -2 : 2;
            assert_false(key_bitmap_in_order(&keys, threads));
            values[row] = 2 * (int32_t)row;
        }
    }
}

/* The kind of index for two keys so far apart. */
static enum index_kind kind_of_pair(int64_t low, int64_t high)
{
    const int64_t values[] = { high, low };
    const struct key_column keys = {
        .values = values, .width = 8, .rows = 2, .low = low, .high = high
    };
    return key_index_plan(&keys, false, 1).kind;
}

/* Few keys get slots side by side or bits while these are small. */
static void few_keys_that_lie_apart(void **state)
{
    (void)state;
    assert_int_equal(kind_of_pair(-5, 1 << 17), INDEX_DENSE);
    assert_int_equal(kind_of_pair(-5, 1 << 20), INDEX_BITMAP);
    assert_int_equal(kind_of_pair(INT64_MAX - (1 << 20), INT64_MAX),
                     INDEX_BITMAP);
    assert_int_equal(kind_of_pair(-5, 1 << 22), INDEX_HASHED);
    assert_int_equal(kind_of_pair(INT64_MIN, INT64_MAX), INDEX_HASHED);
}

/* Rows whose keys a device has get no bitmap: the device makes none. */
static void bitmaps_are_made_on_the_host(void **state)
{
    (void)state;
    static const int32_t values[] = { 3, 4, 5, 6 };
    struct key_column keys = {
        .values = values, .width = 4, .rows = 4, .low = 3, .high = 6
    };
    assert_int_equal(key_index_plan(&keys, false, 1).kind, INDEX_BITMAP);
    assert_int_equal(key_index_plan(&keys, true, 1).kind, INDEX_DENSE);
    keys.values = NULL;
    assert_int_equal(key_index_plan(&keys, false, 1).kind, INDEX_DENSE);
}

/* -------------------------------------------------------------- refusals -- */

static void budgets_are_kept(void **state)
{
    struct text text = { 0 };
    struct resident *resident;
    (void)state;
    open_sides(100, 3000, 50);
    place = (struct place){ .mode = MODE_MAPPED };
    open_place("host");
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
        cmocka_unit_test(indexes_find_first_rows),
        cmocka_unit_test(one_key_of_half_of_the_rows),
        cmocka_unit_test(one_row_out_of_order),
        cmocka_unit_test(few_keys_that_lie_apart),
        cmocka_unit_test(bitmaps_are_made_on_the_host),
        cmocka_unit_test(budgets_are_kept),
        cmocka_unit_test(inputs_are_checked),
    };
    return cmocka_run_group_tests_name("build_side", tests, NULL, NULL);
}
