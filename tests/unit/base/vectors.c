/* SPDX-License-Identifier: MIT */
/*
 * Vectors of numbers that ascend.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vector.h"

static bool meet(uint64_t *a, size_t a_count, uint64_t *b, size_t b_count)
{
    const struct vector left = VECTOR_OF(a, a_count);
    const struct vector right = VECTOR_OF(b, b_count);
    bool found = vectors_meet(&left, &right);

    assert_int_equal(vectors_meet(&right, &left), found);
    return found;
}

static void common_values_are_found(void **state)
{
    uint64_t few[] = { 3, 9 }, many[] = { 0, 2, 4, 9, UINT64_MAX };
    uint64_t last[] = { UINT64_MAX }, first[] = { 0 }, none[] = { 1, 3, 10 };

    (void)state;
    assert_true(meet(few, 2, many, 5));
    assert_true(meet(last, 1, many, 5));
    assert_true(meet(first, 1, many, 5));
    assert_false(meet(none, 3, many, 5));
    assert_false(meet(few, 1, many, 5));
    assert_false(meet(few, 0, many, 5));
    assert_false(meet(few, 0, many, 0));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_values_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
