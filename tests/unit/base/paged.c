/* SPDX-License-Identifier: MIT */
/* Memory that may lie in temporary files: base/paged.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* Bytes of files that the process has in memory; 0: nobody tells. */
static uint64_t bytes_of_files(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %*u %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * 4096;
}

/* Pages of files may come to memory in large pieces, of which a byte that is read
 * brings all. */
static void a_byte_brings_few_others(void **state)
{
    enum { APART = 4 << 20, READ = 16, EACH = 128 << 10 };
    unsigned sum = 0;
    (void)state;
    paged_limit(0);
    unsigned char *memory = paged_alloc((size_t)APART * READ);
    assert_non_null(memory);
    memset(memory, 1, (size_t)APART * READ);
    paged_leave(memory, memory, (size_t)APART * READ);
    uint64_t before = bytes_of_files();
    for (size_t i = 0; i < READ; i++)
        sum += memory[i * APART + APART / 2];
    assert_int_equal(sum, READ);
    assert_true(bytes_of_files() < before + (uint64_t)READ * EACH);
    paged_release(memory);
    paged_limit(UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_beyond_the_limit_lies_in_files),
        cmocka_unit_test(small_arrays_lie_in_memory),
        cmocka_unit_test(no_folder_for_files_is_no_failure),
        cmocka_unit_test(arenas_have_arrays_in_files),
        cmocka_unit_test(a_byte_brings_few_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
