/* SPDX-License-Identifier: MIT */
/*
 * Rows of a sample: all of a block at once, a copy, and new values of rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "data/catalogue/catalogue.h"
#include "data/catalogue/sample.h"

enum { ROWS = 3, LETTERS = 2 * SAMPLE_TEXT_MAX };

static char letters[LETTERS];

/* Values of both columns; the second number and the third text are NULL. */
static const int32_t numbers[ROWS] = { 7, 8, 9 };
static const struct vdbq_text texts[ROWS] = { { "one", 3 },
                                              { letters, LETTERS },
                                              { "gone", 4 } };
static const uint8_t number_nulls[ROWS] = { 0, 1, 0 };
static const uint8_t text_nulls[ROWS] = { 0, 0, 1 };
static const struct vdbq_vector vectors[] = {
    { VDBQ_INTEGER, numbers, number_nulls }, { VDBQ_TEXT, texts, text_nulls }
};

static struct sample *make(void)
{
    struct column columns[] = { { .name = "n", .type = VDBQ_INTEGER },
                                { .name = "s", .type = VDBQ_TEXT } };
    const struct table table = { .name = "t",
                                 .column_count = 2,
                                 .columns = columns };
    const uint64_t rows[ROWS] = { 2, 5, 11 };
    struct sample *sample = sample_create(&table);

    memset(letters, 'x', sizeof letters);
    assert_non_null(sample);
    assert_true(sample_add_all(sample, ROWS, rows, vectors));
    return sample;
}

static int32_t number_at(const struct sample *sample, unsigned row)
{
    return ((const int32_t *)sample->columns[0].values)[row];
}

static struct vdbq_text text_at(const struct sample *sample, unsigned row)
{
    return ((const struct vdbq_text *)sample->columns[1].values)[row];
}

/* What is NULL has the value 0, and a long text is cut. */
static void check(const struct sample *sample)
{
    assert_int_equal(sample->rows, ROWS);
    assert_int_equal(sample->numbers[1], 5);
    assert_int_equal(number_at(sample, 0), 7);
    assert_int_equal(number_at(sample, 1), 0);
    assert_int_equal(sample->columns[0].nulls[1], 1);
    assert_string_equal(text_at(sample, 0).bytes, "one");
    assert_int_equal(text_at(sample, 1).length, SAMPLE_TEXT_MAX + 1);
    assert_true(text_at(sample, 1).bytes != letters);
    assert_null(text_at(sample, 2).bytes);
    assert_int_equal(sample->columns[1].nulls[2], 1);
}

static void copies_are_equal(void **state)
{
    struct sample *sample = make(), *copy = sample_copy(sample);

    (void)state;
    check(sample);
    assert_non_null(copy);
    check(copy);
    assert_int_equal(copy->offset, 0);
    sample_release(sample);
    check(copy);
    sample_release(copy);
}

static void rows_get_new_values(void **state)
{
    struct sample *sample = make(), *copy = sample_copy(sample);

    (void)state;
    assert_true(sample_put(copy, 0, 0, &vectors[0], 1));
    assert_true(sample_put(copy, 1, 0, &vectors[0], 2));
    assert_true(sample_put(copy, 2, 1, &vectors[1], 0));
    assert_true(sample_put(copy, 0, 1, &vectors[1], 2));
    assert_int_equal(copy->columns[0].nulls[0], 1);
    assert_int_equal(number_at(copy, 0), 0);
    assert_int_equal(copy->columns[0].nulls[1], 0);
    assert_int_equal(number_at(copy, 1), 9);
    assert_string_equal(text_at(copy, 2).bytes, "one");
    assert_int_equal(copy->columns[1].nulls[2], 0);
    assert_null(text_at(copy, 0).bytes);
    check(sample);
    sample_release(sample);
    sample_release(copy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_equal),
        cmocka_unit_test(rows_get_new_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
