/* SPDX-License-Identifier: MIT */
/*
 * Free space: large blocks take the first gap that has room, small ones of a
 * commit are neighbours, in a file that gets little longer for that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "data/file/space.h"
#include "data/tablet/block.h"

enum { PAGES = 1000, FIRST = 2 };

/* Offsets and sizes here are in pages. */
static uint64_t take(struct space *space, uint64_t size)
{
    uint64_t offset = space_take(space, size * PAGE_BYTES);

    assert_int_equal(offset % PAGE_BYTES, 0);
    return offset / PAGE_BYTES;
}

static void give(struct space *space, uint64_t offset, uint64_t size)
{
    assert_true(space_give(space, offset * PAGE_BYTES, size * PAGE_BYTES));
}

/* A file of PAGES pages in which every second one is free up to page 200, and all
 * from 400 to `end`. */
static struct space make(uint64_t end)
{
    struct space space = space_init(0);
    struct vector extents = VECTOR(struct extent);

    for (uint64_t i = FIRST; i < 200; i += 2)
        assert_true(extents_add(&extents, i * PAGE_BYTES, PAGE_BYTES));
    assert_true(
        extents_add(&extents, 200 * PAGE_BYTES, 200 * (uint64_t)PAGE_BYTES));
    assert_true(
        extents_add(&extents, end * PAGE_BYTES, (PAGES - end) * PAGE_BYTES));
    assert_true(space_fill(&space, &extents, FIRST * (uint64_t)PAGE_BYTES));
    vector_finish(&extents);
    return space;
}

/* Before it is known what is to stay, and where blocks are to be far down. */
static void the_first_gap_is_taken(void **state)
{
    struct space space = make(500);

    (void)state;
    assert_int_equal(take(&space, 1), 3);
    assert_int_equal(take(&space, 2), 400);
    assert_int_equal(take(&space, 1), 5);
    space.low = true;
    space_near(&space, PAGES * PAGE_BYTES);
    assert_int_equal(take(&space, 1), 7);
    assert_int_equal(take(&space, 101), PAGES);
    space_finish(&space);
}

static void small_blocks_are_neighbours(void **state)
{
    struct space space = make(500);

    (void)state;
    space_near(&space, PAGES * PAGE_BYTES);
    assert_int_equal(take(&space, 1), 400);
    assert_int_equal(take(&space, 3), 401);
    assert_int_equal(take(&space, 60), 404); /* a large one */
    assert_int_equal(take(&space, 1), 464);
    give(&space, 464, 1);
    assert_int_equal(take(&space, 2), 464);
    space_finish(&space);
}

/* Without a gap for several they go behind all that is in use, if that stays: until
 * the file is so much longer that small gaps are used. */
static void the_file_gets_a_little_longer(void **state)
{
    enum { GAPS = 5, TAKEN = 100 };
    struct space space = space_init(0);
    struct vector extents = VECTOR(struct extent);
    unsigned gaps = 0;

    (void)state;
    for (uint64_t i = FIRST; i < FIRST + 2 * GAPS; i += 2)
        assert_true(extents_add(&extents, i * PAGE_BYTES, PAGE_BYTES));
    assert_true(extents_add(&extents, (FIRST + 2 * GAPS) * (uint64_t)PAGE_BYTES,
                            (PAGES - FIRST - 2 * GAPS) * (uint64_t)PAGE_BYTES));
    assert_true(space_fill(&space, &extents, FIRST * (uint64_t)PAGE_BYTES));
    space_near(&space, PAGES * (uint64_t)PAGE_BYTES);
    for (uint64_t i = 0; i < TAKEN; i++) {
        uint64_t offset = take(&space, 1);
        if (i < 2)
            assert_int_equal(offset, PAGES + i);
        gaps += offset < PAGES;
    }
    assert_int_equal(gaps, GAPS);
    assert_int_equal(space.tail, (PAGES + TAKEN - GAPS) * (uint64_t)PAGE_BYTES);
    vector_finish(&extents);
    space_finish(&space);
}

/* What is to go does not have the file kept long. */
static void nothing_is_put_behind_what_goes(void **state)
{
    struct space space = make(500);

    (void)state;
    space_near(&space, 200 * PAGE_BYTES);
    for (uint64_t i = 0; i < 90; i++)
        assert_true(take(&space, 1) < 200);
    assert_int_equal(space.tail, PAGES * (uint64_t)PAGE_BYTES);
    space_finish(&space);
}

/* As those of many tablets and runs are found: in any order, some of them near the
 * end of a large file. */
static void extents_are_sorted(void **state)
{
    enum { COUNT = 3000, STEP = 1009 }; /* a prime: each place comes once */
    struct vector extents = VECTOR(struct extent);
    const struct extent *extent;
    uint64_t page = 0;

    (void)state;
    for (unsigned i = 0; i < COUNT; i++, page = (page + STEP) % COUNT)
        assert_true(extents_add(
            &extents, (page % 3 == 0 ? page << 30 : page) * PAGE_BYTES, 1));
    extents_sort(&extents);
    extent = extents.items;
    assert_int_equal(extents.count, COUNT);
    for (unsigned i = 1; i < COUNT; i++)
        assert_true(extent[i - 1].offset < extent[i].offset);
    assert_null(extents_overlap(&extents));
    vector_finish(&extents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_gap_is_taken),
        cmocka_unit_test(small_blocks_are_neighbours),
        cmocka_unit_test(the_file_gets_a_little_longer),
        cmocka_unit_test(nothing_is_put_behind_what_goes),
        cmocka_unit_test(extents_are_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
