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
    const struct view view = { "v", "create view v as select 1" };
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_removed),
        cmocka_unit_test(test_tablets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
