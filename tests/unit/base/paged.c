/* SPDX-License-Identifier: MIT */
/* Memory that may lie in temporary files: base/paged.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/account.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/paged.h"

enum { SIZE = 3 << 20 };

static void fill(unsigned char *bytes, unsigned seed)
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)((i + seed) * 2654435761u >> 13);
}

static void expect_filled(const unsigned char *bytes, unsigned seed)
{
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(bytes[i],
                         (unsigned char)((i + seed) * 2654435761u >> 13));
}

static void what_is_beyond_the_limit_lies_in_files(void **state)
{
    uint64_t before = *account_process_bytes();
    (void)state;
    paged_limit(SIZE + 4096);
    unsigned char *first = paged_alloc(SIZE);
    assert_int_equal(paged_in_files(), 0);
    assert_true(*account_process_bytes() >= before + SIZE);
    unsigned char *second = paged_alloc(SIZE), *third = paged_alloc(SIZE);
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(third);
    assert_true(paged_in_files() >= 2 * (uint64_t)SIZE);
    fill(first, 1);
    fill(second, 2);
    fill(third, 3);
    uint64_t until = os_time_ns() + 10000000;
    while (os_time_ns() < until)
        paged_put_away();
    expect_filled(second, 2);
    paged_release(second);
    expect_filled(third, 3);
    expect_filled(first, 1);
    paged_release(first);
    paged_release(third);
    paged_release(NULL);
    assert_int_equal(paged_in_files(), 0);
    assert_int_equal(*account_process_bytes(), before);
    paged_limit(UINT64_MAX);
}

static void small_arrays_lie_in_memory(void **state)
{
    (void)state;
    paged_limit(0);
    void *small = paged_alloc(100);
    assert_non_null(small);
    assert_int_equal(paged_in_files(), 0);
    paged_release(small);
    paged_limit(UINT64_MAX);
}

static void no_folder_for_files_is_no_failure(void **state)
{
    char *folder = getenv("TMPDIR") != NULL ? strdup(getenv("TMPDIR")) : NULL;
    (void)state;
    setenv("TMPDIR", "/there/is/none", 1);
    paged_limit(0);
    void *memory = paged_alloc(SIZE);
    assert_non_null(memory);
    assert_int_equal(paged_in_files(), 0);
    memset(memory, 1, SIZE);
    paged_release(memory);
    paged_limit(UINT64_MAX);
    if (folder != NULL)
        setenv("TMPDIR", folder, 1);
    else
        unsetenv("TMPDIR");
    free(folder);
}

static void arenas_have_arrays_in_files(void **state)
{
    struct arena arena = { 0 };
    (void)state;
    paged_limit(0);
    for (unsigned i = 0; i < 3; i++) {
        char *usual = arena_alloc(&arena, 100);
        unsigned char *large = arena_alloc_paged(&arena, SIZE);
        assert_non_null(usual);
        assert_non_null(large);
        for (size_t k = 0; k < SIZE; k += 97)
            assert_int_equal(large[k], 0);
        memset(large, 7, SIZE);
        memset(usual, 8, 100);
    }
    assert_true(paged_in_files() >= 3 * (uint64_t)SIZE);
    assert_true(arena_bytes(&arena) < SIZE);
    arena_finish(&arena);
    assert_int_equal(paged_in_files(), 0);
    paged_limit(UINT64_MAX);
    char *first = arena_alloc_paged(&arena, SIZE);
    assert_non_null(first);
    assert_int_equal(paged_in_files(), 0);
    arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_beyond_the_limit_lies_in_files),
        cmocka_unit_test(small_arrays_lie_in_memory),
        cmocka_unit_test(no_folder_for_files_is_no_failure),
        cmocka_unit_test(arenas_have_arrays_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
