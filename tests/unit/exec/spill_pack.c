/* SPDX-License-Identifier: MIT */
/*
 * Values on their way to a temporary file and back: packed columns, which are
 * unpacked in place, and narrow records of groups.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "exec/group/group_narrow.h"
#include "exec/rows/spill_pack.h"

enum { ROWS = 300 };

/* A value of up to so many bits, at times one below 0. */
static uint64_t random_value(unsigned bits, bool signs)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 64; i += 15)
        value = value << 15 ^ (uint64_t)rand();
    value = bits == 0 ? 0 : value >> (64 - bits);
    return signs && rand() % 2 ? -value : value;
}

/* Packs values of eight bytes, puts them to the end of the memory that they get
 * back to, and unpacks them. */
static void check_wide(unsigned bits, bool signs, unsigned rows)
{
    uint64_t values[ROWS], base = random_value(63, true);
    static uint8_t packed[8 * ROWS + 64], memory[8 * ROWS + 64];
    for (unsigned i = 0; i < rows; i++)
        values[i] = base + random_value(bits, signs);
    unsigned bytes = spill_pack(values, 8, rows, packed);
    uint64_t size = spill_pack_size(bytes, rows);
    uint64_t room = spill_pack_size(8, rows);
    assert_true(bytes <= 8 && size <= room);
    memcpy(memory + room - size, packed, size);
    spill_unpack(memory + room - size, bytes, 8, rows, memory);
    assert_memory_equal(memory, values, rows * sizeof *values);
}

/* The same of four bytes. */
static void check_narrow(unsigned bits, bool signs, unsigned rows)
{
    uint32_t values[ROWS], base = (uint32_t)random_value(32, false);
    static uint8_t packed[8 * ROWS + 64], memory[8 * ROWS + 64];
    for (unsigned i = 0; i < rows; i++)
        values[i] = base + (uint32_t)random_value(bits, signs);
    unsigned bytes = spill_pack(values, 4, rows, packed);
    uint64_t size = spill_pack_size(bytes, rows);
    uint64_t room = spill_pack_size(4, rows);
    assert_true(bytes <= 4 && size <= room);
    memcpy(memory + room - size, packed, size);
    spill_unpack(memory + room - size, bytes, 4, rows, memory);
    assert_memory_equal(memory, values, rows * sizeof *values);
}

static void values_come_back(void **state)
{
    static const unsigned rows[] = { 1, 2, 7, 8, 9, 250, ROWS };
    (void)state;
    for (unsigned round = 0; round < 7 * 65 * 4; round++) {
        unsigned bits = round / 7 % 65;
        check_wide(bits, round % 2, rows[round % 7]);
        check_narrow(bits < 32 ? bits : 32, round % 2, rows[round % 7]);
    }
}

static void alike_values_take_nothing(void **state)
{
    const int64_t values[3] = { -9, -9, -9 };
    uint8_t packed[64];
    int64_t back[4];
    (void)state;
    assert_int_equal(spill_pack(values, 8, 3, packed), 0);
    spill_unpack(packed, 0, 8, 3, back);
    assert_memory_equal(back, values, sizeof values);
}

/* Words of records, each of other values. */
static void check_records(unsigned words)
{
    uint64_t values[ROWS * 4], back[ROWS * 4];
    static uint8_t file[ROWS * 32 + GROUP_NARROW_SLACK];
    struct group_table table = { .width = 8 * words,
                                 .records = (uint8_t *)values,
                                 .count = ROWS };
    struct group_narrow narrow;
    for (unsigned i = 0; i < ROWS * words; i++)
        values[i] = random_value((i % words) * 21, i % words == 1);
    assert_true(group_narrow_init(&narrow, &table));
    assert_true(narrow.width > 0 && narrow.width <= table.width);
    for (uint32_t i = 0; i < ROWS; i++)
        group_narrow_put(&narrow, group_record(&table, i),
                         file + i * narrow.width);
    group_narrow_take(&narrow, file, ROWS, (uint8_t *)back);
    assert_memory_equal(back, values, ROWS * table.width);
    group_narrow_finish(&narrow);
}

static void records_come_back(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 100; round++)
        check_records(1 + round % 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(alike_values_take_nothing),
        cmocka_unit_test(records_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
