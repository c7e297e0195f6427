/* SPDX-License-Identifier: MIT */
/*
 * Joins, compared with two nested loops: every kind, keys that stand close
 * together, far apart, and side by side, on one thread and on several.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/text.h"
#include "fixtures/chance.h"
#include "fixtures/join_cases.h"
#include "fixtures/two_tables.h"

#include "base/memory.h"

/* Sizes of the sides, and what their keys are. */
struct sizes {
    uint32_t left, right, keys;
    int64_t k_stride, v_stride; /* between neighbouring values */
};

static void spread(struct side *side, const struct sizes *sizes)
{
    for (uint32_t i = 0; i < side->rows; i++) {
        side->k[i] = (int32_t)(side->k[i] * sizes->k_stride);
        side->v[i] *= sizes->v_stride;
    }
}

static void open_spread(const struct sizes *sizes)
{
    fill_side(&joined.sides[0], sizes->left, sizes->keys, 1);
    fill_side(&joined.sides[1], sizes->right, sizes->keys, 77);
    spread(&joined.sides[0], sizes);
    spread(&joined.sides[1], sizes);
    joined.mode = MODE_MAPPED;
    two_tables_open(&joined);
}

/* Every thread count gives the rows that nested loops give. */
static void check_join(const struct sizes *sizes, struct join_case how)
{
    static const unsigned threads[] = { 0, 2, 4 };
    static unsigned number;
    struct text expected = { 0 };

    if (!is_taken(number++))
        return;
    open_spread(sizes);
    add_join(how);
    print_nested_loops(how, &expected);
    for (unsigned i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        joined.params.threads = threads[i];
        expect_rows(&joined, expected.bytes ? expected.bytes : "");
    }
    text_finish(&expected);
    two_tables_close(&joined);
}

static void check_kinds(const struct sizes *sizes, unsigned first)
{
    for (unsigned kind = JOIN_INNER; kind <= JOIN_MARK; kind++)
        for (unsigned bits = first; bits < 16; bits++) {
            struct join_case how = join_case_of(kind, bits);
            if (join_exists(how))
                check_join(sizes, how);
        }
}

/* Both sides empty, one row, and enough for several rounds. */
static void joins_of_every_kind(void **state)
{
    static const struct sizes sizes[] = {
        { 0, 0, 5, 1, 1 },
        { 0, 3, 5, 1, 1 },
        { 3, 0, 5, 1, 1 },
        { 1, 1, 1, 1, 1 },
        { 7, 9, 3, 1, 1 },
        { 40, 33, 400, 1, 1 },
        { 300, 270, 40, 1, 1 },
        { 300, 270, 40, 50000000, 1 },               /* in slots    */
        { 200, 170, 40, 50000000, (int64_t)1 << 59 } /* compared    */
    };
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_kinds(&sizes[i], 0);
}

/* Joins by keys of so many rows that threads share them out; where the left
 * ones are few, it is looked at them first. */
static void many_rows_are_shared_out(void **state)
{
    static const struct sizes sizes[] = {
        { 40, 70000, 3000, 1, 1 },
        { 70000, 40, 3000, 1, 1 },
        { 40, 70000, 3000, 700000, 1 },
        { 70000, 40, 3000, 700000, 1 },
    };
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned kind = JOIN_INNER; kind <= JOIN_MARK; kind++) {
            struct join_case how = { .kind = kind, .keys = true };
            check_join(&sizes[i], how);
            how.condition = true;
            if (join_exists(how))
                check_join(&sizes[i], how);
        }
}

/* One key has half of the rows of a side, or of both. */
static void check_skew(unsigned skewed, struct join_case how)
{
    struct text expected = { 0 };
    fill_side(&joined.sides[0], skewed & 1 ? 70000 : 50, 3000, 1);
    fill_side(&joined.sides[1], skewed & 2 ? 70000 : 50, 3000, 77);
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < joined.sides[side].rows; i += 2)
            if (skewed >> side & 1 || i < 4)
                joined.sides[side].k[i] = 7;
    joined.mode = MODE_MAPPED;
    two_tables_open(&joined);
    add_join(how);
    print_nested_loops(how, &expected);
    joined.params.threads = 4;
    expect_rows(&joined, expected.bytes);
    text_finish(&expected);
    two_tables_close(&joined);
}

static void one_key_has_half_of_the_rows(void **state)
{
    (void)state;
    for (unsigned kind = JOIN_INNER; kind <= JOIN_ANTI; kind++)
        for (unsigned skewed = 1; skewed <= 2; skewed++)
            check_skew(skewed,
                       (struct join_case){ .kind = kind, .keys = true });
}

/* The allocator while no block may be large. */
static void *bounded_resize(void *old, size_t size)
{
    return size > 4 << 20 ? NULL : realloc(old, size);
}

/* Nine million pairs in batches of a bounded size and memory. */
static void all_pairs_stream_out(void **state)
{
    struct stream *stream;
    struct vdbq_batch batch = { .rows = 1 };
    uint64_t rows = 0;
    (void)state;
    open_sides(3000, 3000, 5);
    add_join((struct join_case){ .kind = JOIN_INNER });
    expect_ok(steps_check(&joined.steps, &joined.error), &joined.error);
    expect_ok(stream_open(&joined.params, &joined.steps, TEXTS_ORDERED, &stream,
                          &joined.error),
              &joined.error);
    memory_calls.resize = bounded_resize;
    while (batch.rows > 0) {
        expect_ok(stream_batch(stream, &batch, &joined.error), &joined.error);
        rows += batch.rows;
        assert_true(batch.rows <= 1 << 16);
    }
    memory_calls.resize = realloc;
    assert_int_equal(rows, 9000000);
    stream_close(stream);
    two_tables_close(&joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_of_every_kind),
        cmocka_unit_test(many_rows_are_shared_out),
        cmocka_unit_test(one_key_has_half_of_the_rows),
        cmocka_unit_test(all_pairs_stream_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
