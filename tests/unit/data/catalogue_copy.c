/* SPDX-License-Identifier: MIT */
/*
 * Copies of a catalogue: what a copy gets, or loses, the catalogue does not see, and
 * what they share stays for the one that is left, whichever that is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "data/catalogue/catalogue_inner.h"

static unsigned key[] = { 0 };
static struct column columns[] = {
    { .name = "id", .type = VDBQ_INTEGER, .not_null = true },
    { .name = "word", .type = VDBQ_TEXT, .default_sql = "'none'" },
};
static unsigned both[] = { 1, 0 };

static void add_table(struct catalogue *catalogue, const char *name)
{
    const struct table table = {
        .name = name, .columns = columns, .column_count = 2, .key = 0
    };

    assert_true(catalogue_add(catalogue, &table));
}

/* A catalogue of a table, a view and an index. */
static struct catalogue *make(void)
{
    const struct unique rule = { 2, both };
    const struct row_check rows = { "positive", "id > 0", 1, key };
    const struct view view = { .name = "v",
                               .sql = "create view v as select 1" };
    const struct index index = {
        .name = "i", .table_id = 0, .column_count = 1, .columns = key
    };
    struct catalogue *empty = catalogue_create();
    struct catalogue *made = catalogue_copy(empty, 3);

    catalogue_release(empty);
    assert_non_null(made);
    add_table(made, "t");
    assert_true(catalogue_constrain(made, 0, &rule, 1));
    assert_true(catalogue_add_checks(made, 0, &rows, 1));
    assert_true(catalogue_add_checks(made, 0, &rows, 1));
    assert_true(catalogue_add_view(made, &view));
    assert_true(catalogue_add_index(made, &index));
    return made;
}

/* That all of it is there. */
static void check(const struct catalogue *catalogue)
{
    const struct table *table = catalogue_table(catalogue, "t");

    assert_non_null(table);
    assert_string_equal(table->columns[1].name, "word");
    assert_string_equal(table->columns[1].default_sql, "'none'");
    assert_int_equal(table->unique_count, 1);
    assert_int_equal(table->uniques[0].columns[1], 0);
    assert_int_equal(table->check_count, 2);
    assert_string_equal(table->checks[0].name, "positive");
    assert_string_equal(table->checks[1].sql, "id > 0");
    assert_int_equal(table->checks[1].reads[0], 0);
    assert_string_equal(catalogue_view(catalogue, "v")->sql,
                        "create view v as select 1");
    assert_int_equal(catalogue_index(catalogue, "i")->columns[0], 0);
}

static struct catalogue *copy(const struct catalogue *from, size_t room)
{
    struct catalogue *made = catalogue_copy(from, room);

    assert_non_null(made);
    return made;
}

static void test_shared(void **state)
{
    struct catalogue *first = make(), *second = copy(first, 0);
    struct catalogue *third = copy(second, 0);

    (void)state;
    assert_ptr_equal(first->names, third->names);
    assert_ptr_equal(first->tables[0].columns, third->tables[0].columns);
    catalogue_release(first);
    check(second);
    catalogue_release(second);
    check(third);
    catalogue_release(third);
}

/* Names of what is gone would stay in those of the copy for ever. */
static void test_room(void **state)
{
    struct catalogue *first = make(), *second = copy(first, 1);

    (void)state;
    assert_ptr_not_equal(first->names, second->names);
    add_table(second, "more");
    assert_null(catalogue_table(first, "more"));
    catalogue_release(first);
    check(second);
    assert_non_null(catalogue_table(second, "more"));
    catalogue_release(second);
}

static void test_removed(void **state)
{
    struct catalogue *first = make(), *second = copy(first, 0);

    (void)state;
    catalogue_remove_view(second, "v");
    catalogue_remove_index(second, "i");
    assert_null(catalogue_view(second, "v"));
    assert_null(catalogue_index(second, "i"));
    check(first);
    catalogue_remove(second, 0);
    assert_null(catalogue_table(second, "t"));
    check(first);
    catalogue_release(second);
    check(first);
    catalogue_release(first);
}

/* Tablets, with their facts and edits, are shared until a table has others. */
static void test_tablets(void **state)
{
    struct column_facts facts[2] = { { .minimum = 1, .maximum = 5 },
                                     { .empty = true, .null_count = 3 } };
    struct tablet_ref tablets[2] = { { .rows = 3, .facts = facts },
                                     { .rows = 4, .facts = facts } };
    struct catalogue *first = make(), *second, *third;

    (void)state;
    assert_true(catalogue_extend(first, 0, 0, tablets, 2));
    second = copy(first, 0);
    third = copy(second, 0);
    assert_ptr_equal(first->tables[0].tablets, third->tables[0].tablets);
    assert_true(table_own_tablets(&third->tables[0]));
    third->tables[0].tablets[1].offset = 4096;
    assert_int_equal(second->tables[0].tablets[1].offset, 0);
    assert_true(catalogue_extend(third, 0, 1, tablets, 2));
    assert_int_equal(third->tables[0].rows, 10);
    assert_int_equal(third->tables[0].tablets[2].row_first, 6);
    assert_int_equal(second->tables[0].rows, 7);
    catalogue_release(first);
    catalogue_release(second);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(third->tables[0].tablets[i].facts[0].maximum, 5);
        assert_int_equal(third->tables[0].tablets[i].facts[1].null_count, 3);
    }
    catalogue_release(third);
}

/* ------------------------------------------------------------ many tablets -- */

enum { MANY = 3 * TABLETS_TOGETHER + 1 };

/* So many tablets, each with its own name and facts. */
static void fill(struct tablet_ref *tablets, struct column_facts (*facts)[2],
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)(i * 37 % 101);
        facts[i][0] = (struct column_facts){ .minimum = value - 5,
                                             .maximum = value,
                                             .null_count = i % 3 };
        facts[i][1] = (struct column_facts){ .empty = i % 2 == 0 };
        tablets[i] = (struct tablet_ref){ .identity = { 1, i },
                                          .rows = 10,
                                          .facts = facts[i] };
    }
}

/* Compares facts that are known of several tablets with those of each. */
static void check_together(const struct table *table)
{
    for (size_t i = 0; i < table->tablet_count; i += TABLETS_TOGETHER) {
        const struct column_facts *together = table_facts_together(table, i);
        int64_t least = INT64_MAX, greatest = INT64_MIN;
        uint64_t nulls = 0;
        for (size_t k = i; k < i + TABLETS_TOGETHER && k < table->tablet_count;
             k++) {
            const struct column_facts *facts = &table->tablets[k].facts[0];
            least = facts->minimum < least ? facts->minimum : least;
            greatest = facts->maximum > greatest ? facts->maximum : greatest;
            nulls += facts->null_count;
        }
        assert_non_null(together);
        assert_int_equal(together[0].minimum, least);
        assert_int_equal(together[0].maximum, greatest);
        assert_int_equal(together[0].null_count, nulls);
    }
}

/* What is known of several tablets follows each change of one of them, at the end
 * and before it. */
static void test_together(void **state)
{
    struct column_facts facts[MANY][2];
    struct tablet_ref tablets[MANY];
    struct catalogue *catalogue = make();
    const struct table *table = &catalogue->tables[0];

    (void)state;
    fill(tablets, facts, MANY);
    assert_true(catalogue_extend(catalogue, 0, 0, tablets, MANY - 1));
    check_together(table);
    assert_true(
        catalogue_extend(catalogue, 0, MANY - 1, &tablets[MANY - 1], 1));
    check_together(table);
    facts[TABLETS_TOGETHER][0].minimum = -1000;
    tablets[TABLETS_TOGETHER].identity.origin = 2;
    assert_true(catalogue_extend(catalogue, 0, 0, tablets, MANY));
    check_together(table);
    assert_int_equal(table_facts(table, 0).minimum, -1000);
    assert_true(catalogue_extend(catalogue, 0, 0, &tablets[1], MANY - 1));
    check_together(table);
    catalogue_release(catalogue);
}

/* Runs of the tablets, which copies share until one has its own. */
static void test_runs(void **state)
{
    struct catalogue *first = make(), *second;
    size_t at, near = 0;

    (void)state;
    assert_true(catalogue_new_runs(first, MANY));
    for (size_t i = 0; i < MANY; i++)
        first->runs[first->run_count++] =
            (struct run_ref){ .tablet = { 1, (MANY - 1 - i) / 2 },
                              .column_count = 1,
                              .columns = { i % 2 } };
    catalogue_sort_runs(first);
    second = copy(first, 0);
    assert_ptr_equal(second->runs, first->runs);
    assert_true(catalogue_own_runs(second));
    second->runs[0].tablet.origin = 0;
    assert_int_equal(first->runs[0].tablet.origin, 1);
    catalogue_release(second);
    assert_int_equal(catalogue_runs_of(first, (struct identity){ 1, 1 }, &at),
                     2);
    assert_int_equal(at, 2);
    assert_int_equal(
        catalogue_runs_of(first, (struct identity){ 1, MANY }, &at), 0);
    for (uint64_t i = MANY / 2; i-- > 0;) /* the other way round */
        for (unsigned column = 0; column < 2; column++) {
            const struct run_ref *run = catalogue_run_near(
                first, (struct identity){ 1, i }, &column, 1, &near);
            assert_non_null(run);
            assert_int_equal(run->tablet.number, i);
            assert_int_equal(run->columns[0], column);
        }
    assert_null(catalogue_run_near(first, (struct identity){ 2, 0 },
                                   (unsigned[]){ 0 }, 1, &near));
    catalogue_release(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),   cmocka_unit_test(test_room),
        cmocka_unit_test(test_removed),  cmocka_unit_test(test_tablets),
        cmocka_unit_test(test_together), cmocka_unit_test(test_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
