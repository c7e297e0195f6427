/* SPDX-License-Identifier: MIT */
/* Large slabs of memory that stay mapped: base/slabs.h. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/slabs.h"
#include "base/threads/parallel.h"

enum {
    PAGE = 4096,
    MIB = 1 << 20,
    LARGEST = 64 * MIB,
    HELD = 12,
    STEPS = 400,
    THREADS = 3
};

/* Memory that a test holds, and what was written to it last. */
struct held {
    unsigned char *memory;
    size_t size;
    unsigned char mark;
};

/* A size of any order of magnitude. */
static size_t random_size(unsigned *seed)
{
    return 1 + (size_t)rand_r(seed) % ((size_t)LARGEST >> rand_r(seed) % 27);
}

/* Marks a few bytes of all pages, and the last one. */
static void mark(const struct held *held)
{
    for (size_t at = 0; at < held->size; at += 4096)
        held->memory[at] = held->mark;
    held->memory[held->size - 1] = held->mark;
}

/* Whether the first `size` bytes have the marks. */
static bool has_marks(const struct held *held, size_t size)
{
    for (size_t at = 0; at < size; at += 4096)
        if (held->memory[at] != held->mark)
            return false;
    return size == 0 || size < held->size
           || held->memory[size - 1] == held->mark;
}

/* One random call; false: bytes were lost. */
static bool step(struct held *held, unsigned *seed)
{
    size_t before = held->size, size = random_size(seed);
    bool right = has_marks(held, before);
    if (rand_r(seed) % 3 == 0) {
        slabs_release(held->memory);
        *held = (struct held){ 0 };
        return right;
    }
    if (size <= before || !slabs_extend(held->memory, size))
        held->memory = slabs_resize(held->memory, size);
    held->size = size;
    right &=
        held->memory != NULL && has_marks(held, before < size ? before : 0);
    held->mark = (unsigned char)(1 + rand_r(seed) % 255);
    mark(held);
    return right;
}

static void *take_steps(void *context)
{
    struct held held[HELD] = { 0 };
    unsigned seed = (unsigned)(uintptr_t)&held;
    uintptr_t wrong = 0;
    (void)context;
    for (unsigned i = 0; i < STEPS; i++)
        wrong += !step(&held[(unsigned)rand_r(&seed) % HELD], &seed);
    for (unsigned i = 0; i < HELD; i++) {
        wrong += !has_marks(&held[i], held[i].size);
        slabs_release(held[i].memory);
    }
    return (void *)wrong;
}

static void bytes_stay(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    assert_null(take_steps(NULL));
    assert_int_equal(parallel_start(threads, THREADS, take_steps, NULL),
                     THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    slabs_forget();
    assert_int_equal(slabs_kept(), 0);
}

/* What was given back is taken again, and no more is kept than may be. */
static void slabs_are_kept(void **state)
{
    (void)state;
    slabs_forget();
    void *first = slabs_resize(NULL, 10 * MIB);
    assert_non_null(first);
    slabs_release(first);
    assert_int_equal(slabs_kept(), 10 * MIB);
    assert_ptr_equal(slabs_resize(NULL, 9 * MIB), first);
    assert_int_equal(slabs_kept(), 0);
    slabs_release(first);
    slabs_keep(4 * MIB);
    assert_int_equal(slabs_kept(), 0);
    slabs_release(slabs_resize(NULL, 10 * MIB));
    assert_int_equal(slabs_kept(), 0);
}

/* What stays small takes no slab whose pages it cannot use; what grows takes one
 * that is kept, with all that it had. */
static void slabs_are_not_wasted(void **state)
{
    struct held held = { .size = 3 * MIB, .mark = 9 };
    (void)state;
    slabs_forget();
    slabs_keep(LARGEST);
    void *large = slabs_resize(NULL, 20 * MIB);
    slabs_release(large);
    held.memory = slabs_resize(NULL, held.size);
    assert_non_null(held.memory);
    assert_ptr_not_equal(held.memory, large);
    assert_int_equal(slabs_kept(), 20 * MIB);
    mark(&held);
    held.memory = slabs_resize(held.memory, 12 * MIB);
    assert_ptr_equal(held.memory, large);
    assert_true(has_marks(&held, held.size));
    assert_int_equal(slabs_kept(), 3 * MIB);
    slabs_release(held.memory);
    slabs_forget();
}

/* What grows in its room, run for run, has the same pages each time. */
static void pages_come_back(void **state)
{
    size_t least = MIB + PAGE, grown = 2 * least;
    (void)state;
    slabs_forget();
    slabs_keep(LARGEST);
    void *first = slabs_resize(NULL, least);
    assert_ptr_equal(slabs_resize(first, grown), first);
    assert_true(slabs_extend(first, 2 * grown - 4 * PAGE));
    for (unsigned run = 0; run < 3; run++) {
        slabs_release(first);
        assert_ptr_equal(slabs_resize(NULL, least), first);
        assert_int_equal(slabs_kept(), 0);
    }
    slabs_release(first);
    slabs_forget();
}

/* A slab that grows keeps its bytes, however far it grows. */
static void slabs_grow(void **state)
{
    struct held held = { .mark = 7 };
    (void)state;
    for (size_t size = 1000; size <= (size_t)4 * LARGEST; size += size / 2) {
        size_t before = held.size;
        held.memory = slabs_resize(held.memory, size);
        assert_non_null(held.memory);
        held.size = size;
        assert_true(has_marks(&held, before));
        mark(&held);
    }
    slabs_release(held.memory);
}

/* A slab has some room behind it, and no more; other memory is none. */
static void slabs_extend_in_place(void **state)
{
    struct held held = { .size = 3 * MIB, .mark = 5 };
    char other[1];
    (void)state;
    slabs_forget();
    held.memory = slabs_resize(NULL, held.size);
    assert_non_null(held.memory);
    mark(&held);
    assert_true(slabs_extend(held.memory, 4 * MIB));
    assert_false(slabs_extend(held.memory, LARGEST));
    assert_false(slabs_extend(held.memory, SIZE_MAX));
    assert_false(slabs_extend(other, 1));
    assert_true(has_marks(&held, held.size));
    held.size = 4 * MIB;
    mark(&held);
    slabs_release(held.memory);
    assert_int_equal(slabs_kept(), 4 * MIB);
    assert_false(slabs_extend(held.memory, 1));
}

/* Sanitizers end the program instead. */
static void what_is_too_large_is_refused(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    void *some = slabs_resize(NULL, 8 * MIB);
    assert_non_null(some);
    for (unsigned shift = 0; shift < 8; shift++)
        for (unsigned less = 0; less < 2; less++) {
            size_t size = (SIZE_MAX >> shift) - (size_t)less * PAGE;
            assert_null(slabs_resize(NULL, size));
            assert_null(slabs_resize(some, size));
        }
    memset(some, 1, 8 * MIB);
    slabs_release(some);
    slabs_release(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_stay),
        cmocka_unit_test(slabs_are_kept),
        cmocka_unit_test(slabs_are_not_wasted),
        cmocka_unit_test(pages_come_back),
        cmocka_unit_test(slabs_grow),
        cmocka_unit_test(slabs_extend_in_place),
        cmocka_unit_test(what_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
