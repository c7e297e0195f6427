/* SPDX-License-Identifier: MIT */
/*
 * Joins whose right rows do not fit into memory, compared with two nested
 * loops: every kind, with so little memory that there are parts, and blocks
 * in them; and what happens where memory, or a temporary file, fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/text.h"
#include "fixtures/failing_memory.h"
#include "fixtures/join_cases.h"
#include "fixtures/chance.h"
#include "fixtures/two_tables.h"

#include <errno.h>

#include "base/memory.h"

static struct account memory;

static void set_memory(uint64_t bytes)
{
    memory = (struct account){ .limit_bytes = bytes };
    joined.params.account = &memory;
    joined.params.files = &os_memory_files;
}

/* With each limit, the rows that nested loops give. */
static void check_limits(struct join_case how)
{
    static const uint64_t limits[] = { 1 << 9, 6 << 10, 40 << 10 };
    struct text expected = { 0 };
    add_join(how);
    print_nested_loops(how, &expected);
    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        set_memory(limits[i]);
        joined.params.threads = i;
        expect_rows(&joined, expected.bytes ? expected.bytes : "");
        assert_int_equal(memory.used_bytes, 0);
    }
    text_finish(&expected);
    two_tables_close(&joined);
}

static void check_kinds(uint32_t left, uint32_t right, uint32_t keys)
{
    static unsigned number;

    for (unsigned kind = JOIN_INNER; kind <= JOIN_MARK; kind++)
        for (unsigned bits = 0; bits < 16; bits++) {
            struct join_case how = join_case_of(kind, bits);
            if (!join_exists(how) || !is_taken(number++))
                continue;
            open_sides(left, right, keys);
            check_limits(how);
        }
}

static void joins_of_every_kind(void **state)
{
    (void)state;
    check_kinds(0, 60, 5);
    check_kinds(60, 0, 5);
    check_kinds(40, 33, 400);
    check_kinds(300, 270, 40);
    check_kinds(90, 900, 700);
}

/* One key has half of the rows: its part is joined block by block. */
static void one_key_has_half_of_the_rows(void **state)
{
    (void)state;
    for (unsigned kind = JOIN_INNER; kind <= JOIN_MARK; kind++) {
        fill_side(&joined.sides[0], 200, 300, 1);
        fill_side(&joined.sides[1], 2000, 300, 77);
        for (uint32_t i = 0; i < 2000; i += 2)
            joined.sides[1].k[i] = 7;
        joined.sides[0].k[3] = joined.sides[0].k[100] = 7;
        joined.mode = MODE_MAPPED;
        two_tables_open(&joined);
        check_limits((struct join_case){ .kind = kind, .keys = true });
    }
}

/* Many rows in real files; what ran is told. */
static void many_rows_go_to_files(void **state)
{
    const struct join_case how = { .kind = JOIN_FULL, .keys = true };
    struct text expected = { 0 };
    (void)state;
    open_sides(30000, 40000, 20000);
    add_join(how);
    print_nested_loops(how, &expected);
    set_memory(512 << 10);
    joined.params.files = NULL;
    joined.params.threads = 2;
    expect_rows(&joined, expected.bytes);
    assert_non_null(strstr(joined.stats.steps, "join in "));
    assert_non_null(strstr(joined.stats.steps, " partitions ("));
    text_finish(&expected);
    two_tables_close(&joined);
}

/* -------------------------------------------------------------- faults -- */

/* The n-th allocation fails, for every n: each run fails cleanly, until one
 * has all its memory. */
static void fail_memory(enum join_kind kind)
{
    enum vdbq_status status = VDBQ_NO_MEMORY;
    open_sides(60, 50, 9);
    add_join((struct join_case){ .kind = kind, .keys = true });
    for (unsigned n = 0; status == VDBQ_NO_MEMORY; n += 1 + n / 50) {
        struct text text = { 0 };
        set_memory(512);
        assert_int_equal(steps_check(&joined.steps, &joined.error), VDBQ_OK);
        struct stream *stream = NULL;
        struct vdbq_batch batch = { .rows = 1 };
        memory_fail_after(n);
        status = stream_open(&joined.params, &joined.steps, TEXTS_ORDERED,
                             &stream, &joined.error);
        while (status == VDBQ_OK && batch.rows > 0)
            status = stream_batch(stream, &batch, &joined.error);
        memory_fail_never();
        stream_close(stream);
        assert_int_equal(memory.used_bytes, 0);
        text_finish(&text);
    }
    assert_int_equal(status, VDBQ_OK);
    two_tables_close(&joined);
}

/* Right rows go to files, or are counted. */
static void memory_may_fail(void **state)
{
    (void)state;
    fail_memory(JOIN_LEFT);
    fail_memory(JOIN_SEMI);
}

static unsigned writes_left;
static struct os_file_calls failing_files;

static int failing_write(struct os_file *file, const void *bytes, size_t size,
                         uint64_t offset)
{
    if (writes_left == 0)
        return ENOSPC;
    writes_left--;
    return os_memory_files.write(file, bytes, size, offset);
}

/* A full disk is told, wherever it is met. */
static void files_may_fail(void **state)
{
    enum vdbq_status status = VDBQ_IO;
    (void)state;
    open_sides(300, 270, 40);
    add_join((struct join_case){ .kind = JOIN_FULL, .keys = true });
    failing_files = os_memory_files;
    failing_files.write = failing_write;
    for (unsigned n = 0; status == VDBQ_IO; n++) {
        struct text text = { 0 };
        set_memory(512);
        joined.params.files = &failing_files;
        writes_left = n;
        status = try_rows(&joined, &text);
        if (status == VDBQ_IO) {
            assert_non_null(strstr(joined.error.message, "temporary file"));
            assert_non_null(strstr(joined.error.hint, "VDBQ_MEMORY"));
        }
        assert_int_equal(memory.used_bytes, 0);
        text_finish(&text);
    }
    assert_int_equal(status, VDBQ_OK);
    two_tables_close(&joined);
}

/* Where it only matters whether there is a right row, these are counted, and
 * nothing is written. */
static void counted_rows_need_no_file(void **state)
{
    static const enum join_kind kinds[] = { JOIN_SEMI, JOIN_ANTI, JOIN_MARK };
    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct join_case how = { .kind = kinds[i], .keys = true };
        struct text expected = { 0 };
        open_sides(9000, 20000, 15000);
        add_join(how);
        print_nested_loops(how, &expected);
        set_memory(32 << 10);
        failing_files = os_memory_files;
        failing_files.write = failing_write;
        joined.params.files = &failing_files;
        joined.params.threads = 2;
        writes_left = 0;
        expect_rows(&joined, expected.bytes ? expected.bytes : "");
        assert_int_equal(memory.used_bytes, 0);
        assert_true(memory.most_bytes <= 32 << 10);
        text_finish(&expected);
        two_tables_close(&joined);
    }
}

/* Writing a number of blocks has the query cancelled. */
static int cancelling_write(struct os_file *file, const void *bytes,
                            size_t size, uint64_t offset)
{
    if (writes_left-- == 1)
        atomic_store(&joined.stop.cancelled, true);
    return os_memory_files.write(file, bytes, size, offset);
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    open_sides(3000, 2700, 40);
    add_join((struct join_case){ .kind = JOIN_INNER, .keys = true });
    failing_files = os_memory_files;
    failing_files.write = cancelling_write;
    for (unsigned n = 1; n < 1000; n *= 4) {
        struct text text = { 0 };
        set_memory(8 << 10);
        joined.params.files = &failing_files;
        atomic_store(&joined.stop.cancelled, false);
        writes_left = n;
        assert_int_equal(try_rows(&joined, &text), VDBQ_CANCELLED);
        assert_int_equal(memory.used_bytes, 0);
        text_finish(&text);
    }
    two_tables_close(&joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_of_every_kind),
        cmocka_unit_test(one_key_has_half_of_the_rows),
        cmocka_unit_test(many_rows_go_to_files),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(files_may_fail),
        cmocka_unit_test(counted_rows_need_no_file),
        cmocka_unit_test(it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
