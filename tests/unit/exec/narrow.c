/* SPDX-License-Identifier: MIT */
/*
 * Narrow result columns: a launch's columns leave in as few bytes as their
 * packed codes can need, and come out as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cl/tablet.h"
#include "exec/launch/narrow.h"

/* ------------------------------------------------------------- widths -- */

enum { ROWS = 1000 };

static struct column_input packed(int64_t base, unsigned bits)
{
    return (struct column_input){ .encoding = ENCODING_PACKED,
                                  .base = base,
                                  .bits = bits };
}

static struct column_input same(int64_t value)
{
    return (struct column_input){ .encoding = ENCODING_CONSTANT,
                                  .base = value };
}

static struct column_input sequence(int64_t first)
{
    return (struct column_input){ .encoding = ENCODING_SEQUENCE,
                                  .base = first };
}

/* What becomes of a column of `width` bytes with these inputs, one a morsel. */
static struct output outcome(unsigned width, const struct column_input *inputs,
                             unsigned morsels,
                             const struct order_codes *order_codes)
{
    struct output output = { .width = width, .narrow = 99 };
    int result_input = 0;
    struct program_pack pack = { .input_count = 1,
                                 .result_count = 1,
                                 .result_inputs = &result_input };
    struct launcher_request request = { .count = morsels };

    for (unsigned i = 0; i < morsels; i++)
        request.morsels[i] = (struct launcher_morsel){
            .inputs = &inputs[i], .rows = ROWS, .order_codes = order_codes
        };
    bool any = narrow_outputs(&pack, &request, &output);
    assert_int_equal(any, output.narrow > 0);
    return output;
}

static void expect(unsigned width, struct column_input input, unsigned narrow)
{
    struct output output = outcome(width, &input, 1, NULL);

    assert_int_equal(output.width, width);
    assert_int_equal(output.narrow, narrow);
    if (narrow > 0)
        assert_int_equal(output.base, input.base);
}

static void codes_say_how_narrow(void **state)
{
    (void)state;
    expect(4, packed(-100, 0), 1);
    expect(4, packed(-100, 8), 1);
    expect(4, packed(-100, 9), 2);
    expect(4, packed(7, 16), 2);
    expect(4, packed(7, 17), 0);
    expect(4, packed(INT32_MIN, 32), 0);
    expect(8, packed(INT64_MIN, 1), 1);
    expect(8, packed(0, 16), 2);
    expect(8, packed(0, 17), 4);
    expect(8, packed(INT64_MAX - UINT32_MAX, 32), 4);
    expect(4, same(INT32_MAX), 1);
    expect(8, same(INT64_MIN), 1);
    expect(4, sequence(5), 2);
    expect(8, sequence(INT64_MAX - ROWS + 1), 2);
}

static void what_is_not_known_stays_wide(void **state)
{
    struct column_input plain = { .encoding = ENCODING_PLAIN };
    struct column_input mixed[] = { packed(0, 3), plain },
                        dictionary = packed(0, 3);
    const int32_t numbers[] = { 700 };
    const struct order_codes looked_up = { .order_codes = numbers, .count = 1 };
    const struct order_codes none = { 0 };
    struct output output = { .width = 4 };
    int computed = -1;
    struct program_pack pack = { .result_count = 1,
                                 .result_inputs = &computed };

    (void)state;
    expect(4, plain, 0);
    expect(8, packed(INT64_MAX - 5, 8), 0); /* codes of no column */
    assert_int_equal(outcome(4, mixed, 2, NULL).narrow, 0);
    assert_int_equal(outcome(4, mixed, 0, NULL).narrow, 0);
    assert_int_equal(outcome(4, &dictionary, 1, &looked_up).narrow, 0);
    assert_int_equal(outcome(4, &dictionary, 1, &none).narrow, 1);
    narrow_outputs(&pack, &(struct launcher_request){ .count = 1 }, &output);
    assert_int_equal(output.narrow, 0);
}

static void pieces_are_taken_together(void **state)
{
    const struct column_input near[] = { packed(100, 4), same(-50),
                                         packed(0, 7) };
    const struct column_input far[] = { same(INT64_MIN), same(INT64_MAX) };
    const struct column_input apart[] = { packed(0, 2), packed(65532, 2) };
    const struct column_input next[] = { packed(0, 2), packed(65533, 2) };

    (void)state;
    assert_int_equal(outcome(8, near, 3, NULL).narrow, 1);
    assert_int_equal(outcome(8, near, 3, NULL).base, -50);
    assert_int_equal(outcome(8, far, 2, NULL).narrow, 0);
    assert_int_equal(outcome(8, apart, 2, NULL).narrow, 2);
    assert_int_equal(outcome(8, next, 2, NULL).narrow, 4);
}

/* -------------------------------------------------------------- widen -- */

/* The code of row i, of so many bytes; all their bits are used. */
static uint64_t code_at(uint64_t i, unsigned width)
{
    uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;

    return mixed >> (64 - 8 * width);
}

static void check_widen(unsigned width, unsigned narrow, uint64_t rows)
{
    const int64_t base = width == 4 ? INT32_MAX - 3 : INT64_MAX - 3;
    const struct output output = { .width = width,
                                   .narrow = narrow,
                                   .base = base };
    uint8_t *from = malloc(rows * narrow + 1), *to = calloc(rows + 1, width);

    assert_non_null(from);
    assert_non_null(to);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t code = code_at(i, narrow);
        memcpy(from + i * narrow, &code, narrow);
    }
    narrow_widen(&output, from, to, rows);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t value = (uint64_t)base + code_at(i, narrow);
        assert_memory_equal(to + i * width, &value, width);
    }
    assert_memory_equal(to + rows * width, &(uint64_t){ 0 }, width);
    free(from);
    free(to);
}

static void values_come_out_as_they_were(void **state)
{
    static const uint64_t rows[] = { 0, 1, 511, 65537 };
    static const unsigned shapes[][2] = {
        { 4, 1 }, { 4, 2 }, { 8, 1 }, { 8, 2 }, { 8, 4 }
    };

    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
            check_widen(shapes[i][0], shapes[i][1], rows[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_say_how_narrow),
        cmocka_unit_test(what_is_not_known_stays_wide),
        cmocka_unit_test(pieces_are_taken_together),
        cmocka_unit_test(values_come_out_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
