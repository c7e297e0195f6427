/* SPDX-License-Identifier: MIT */
/*
 * The base floor: failures, memory, vectors, text, numbers, files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/threads/thread_pool.h"
#include "base/error.h"
#include "base/lru.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/text.h"
#include "base/vector.h"
#include "fixtures/failing_memory.h"

static int stop_failing(void **state)
{
    (void)state;
    memory_fail_never();
    return 0;
}

/* ------------------------------------------------------------- errors -- */

static void errors_are_written_once(void **state)
{
    struct error error;

    (void)state;
    assert_int_equal(error_at(&error, VDBQ_SYNTAX, (struct position){ 2, 7 },
                              "bad %s", "word"),
                     VDBQ_SYNTAX);
    assert_int_equal(error_hint(&error, "try %d", 3), VDBQ_SYNTAX);
    assert_string_equal(error.message, "bad word");
    assert_string_equal(error.hint, "try 3");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 7);
    assert_int_equal(error_no_memory(&error), VDBQ_NO_MEMORY);
    assert_int_equal(error.line, 0);
    assert_string_equal(error.hint, "");
    error_clear(&error);
    assert_int_equal(error.status, VDBQ_OK);
    assert_string_equal(error.message, "");
}

static void long_errors_are_cut_between_characters(void **state)
{
    static char letters[3 * ERROR_MESSAGE_MAX + 1];
    struct error error;

    (void)state;
    for (unsigned i = 0; i < ERROR_MESSAGE_MAX; i++)
        memcpy(letters + 3 * i, "\xe2\x82\xac", 3);
    for (unsigned skip = 0; skip < 3; skip++) {
        error_set(&error, VDBQ_IO, "%.*s%s", (int)skip, "abc", letters);
        assert_true(strlen(error.message) > ERROR_MESSAGE_MAX - 8);
        assert_int_equal((strlen(error.message) - skip) % 3, 0);
    }
}

/* ------------------------------------------------------------- memory -- */

static void zeroed_memory_does_not_overflow(void **state)
{
    char *memory = memory_zeroed(10, 10);

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(memory[i], 0);
    memory_release(memory);
    memory_release(NULL);
    assert_null(memory_zeroed(SIZE_MAX / 2, 3));
}

static void arenas_hold_everything_apart(void **state)
{
    static const size_t sizes[] = { 1, 0, 7, 16, 100, 5000, 70000, 3000000 };
    struct arena arena = { 0 };
    unsigned char *blocks[800];

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        size_t size = sizes[i % (i < 16 ? 8 : 6)];
        blocks[i] = arena_alloc(&arena, size);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(blocks[i][j], 0);
        memset(blocks[i], (int)i + 1, size);
    }
    for (unsigned i = 0; i < 200; i++)
        for (size_t j = 0; j < sizes[i % (i < 16 ? 8 : 6)]; j++)
            assert_int_equal(blocks[i][j], (unsigned char)(i + 1));
    assert_string_equal(arena_copy(&arena, "table", 3), "tab");
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_copy(&arena, "", SIZE_MAX));
    arena_finish(&arena);
    arena_finish(&arena);
}

static void arenas_survive_a_failure(void **state)
{
    struct arena arena = { 0 };

    (void)state;
    memory_fail_once_after(0);
    assert_null(arena_alloc(&arena, 8));
    memory_fail_once_after(1);
    assert_non_null(arena_alloc(&arena, 8));
    assert_null(arena_alloc(&arena, 100000));
    assert_non_null(arena_alloc(&arena, 8));
    arena_finish(&arena);
}

/* ------------------------------------------------------------ vectors -- */

static void vectors_grow(void **state)
{
    struct vector vector = VECTOR(int);
    int more[] = { 1000, 1001, 1002 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int *item = vector_add(&vector);
        assert_int_equal(*item, 0);
        *item = i;
    }
    assert_true(vector_append(&vector, more, 3));
    assert_true(vector_append(&vector, NULL, 0));
    assert_int_equal(vector.count, 1003);
    for (int i = 0; i < 1003; i++)
        assert_int_equal(*(int *)vector_at(&vector, (size_t)i), i);
    assert_int_equal(VECTOR_ITEMS(&vector, int)[1002], 1002);
    assert_false(vector_append(&vector, more, SIZE_MAX / 2));
    memory_fail_once_after(0);
    assert_false(vector_append(&vector, more, 1 << 20));
    assert_int_equal(vector.count, 1003);
    vector_finish(&vector);
    assert_int_equal(vector.count, 0);
}

/* --------------------------------------------------------------- text -- */

static void texts_grow_and_failures_stick(void **state)
{
    struct text text = { 0 };

    (void)state;
    for (int i = 0; i < 100; i++)
        text_print(&text, "%d,", i);
    text_add(&text, "end", 3);
    assert_int_equal(text.length, 293);
    assert_string_equal(text.bytes + 287, "99,end");
    memory_fail_once_after(0);
    text_print(&text, "%5000s", "");
    assert_true(text.failed);
    stop_failing(NULL);
    text_add(&text, "x", 1);
    assert_true(text.failed);
    assert_int_equal(text.length, 293);
    text_finish(&text);
    assert_null(text.bytes);
}

static void names_compare_without_case(void **state)
{
    static char long_name[200];

    (void)state;
    assert_true(name_equal("Select", "sELECT"));
    assert_false(name_equal("a", "ab"));
    assert_false(name_equal("[", "{"));
    assert_true(name_equal("", ""));
    assert_int_equal(name_distance("fron", "FROM", 2), 1);
    assert_int_equal(name_distance("form", "from", 2), 1);
    assert_int_equal(name_distance("selct", "select", 2), 1);
    assert_int_equal(name_distance("kitten", "sitting", 5), 3);
    assert_int_equal(name_distance("kitten", "sitting", 2), 3);
    assert_int_equal(name_distance("", "abc", 9), 3);
    memset(long_name, 'a', sizeof long_name - 1);
    assert_int_equal(name_distance(long_name, "a", 2), 3);
    assert_int_equal(name_distance(long_name, long_name, 2), 0);
}

/* ------------------------------------------------------------ numbers -- */

static void check_double(double value, const char *expected)
{
    char room[32];
    size_t length = text_from_double(value, room);

    assert_string_equal(room, expected);
    assert_int_equal(length, strlen(expected));
}

static void check_float(float value, const char *expected)
{
    char room[32];
    size_t length = text_from_float(value, room);

    assert_string_equal(room, expected);
    assert_int_equal(length, strlen(expected));
}

static void numbers_print_short(void **state)
{
    (void)state;
    check_double(0, "0.0");
    check_double(-0.0, "-0.0");
    check_double(3, "3.0");
    check_double(-100, "-100.0");
    check_double(0.1, "0.1");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(123.456, "123.456");
    check_double(0.0001, "0.0001");
    check_double(0.00001, "1.0e-05");
    check_double(-0.00012345678901234567, "-0.00012345678901234567");
    check_double(1e20, "1.0e+20");
    check_double(1e15, "1.0e+15");
    check_double(999999999999999, "999999999999999.0");
    check_double(DBL_MAX, "1.7976931348623157e+308");
    check_double(DBL_MIN, "2.2250738585072014e-308");
    check_double(5e-324, "5.0e-324");
    check_double(ldexp(1, -44), "5.684341886080802e-14");
    check_double(-ldexp(1, 405), "-8.263199609878108e+121");
    check_double((double)INFINITY, "inf");
    check_double(-(double)INFINITY, "-inf");
    check_double((double)NAN, "nan");
    check_float(0.1f, "0.1");
    check_float(16777216.0f, "16777216.0");
    check_float(FLT_MAX, "3.4028235e+38");
    check_float(1e-45f, "1.0e-45");
    check_float(ldexpf(1, -96), "1.2621775e-29");
    check_float(-1.5f, "-1.5");
}

/* Numbers of every exponent: what is printed must read back, here and by
 * the C library. */
static void numbers_read_back(void **state)
{
    uint64_t bits = 88172645463325252u;
    char room[32];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        double value, back;
        float narrow;
        uint32_t half;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        half = (uint32_t)bits;
        memcpy(&value, &bits, sizeof value);
        memcpy(&narrow, &half, sizeof narrow);
        if (isfinite(value)) {
            size_t length = text_from_double(value, room);
            assert_true(text_to_double(room, length, &back));
            assert_true(back == value && strtod(room, NULL) == value);
        }
        if (isfinite(narrow)) {
            size_t length = text_from_float(narrow, room);
            assert_true(text_to_double(room, length, &back));
            assert_true((float)back == narrow && strtof(room, NULL) == narrow);
        }
    }
}

static bool reads(const char *text, double expected)
{
    double value = 42;

    return text_to_double(text, strlen(text), &value) && value == expected
           && signbit(value) == signbit(expected);
}

static void decimals_are_read(void **state)
{
    static const char *const bad[] = {
        "",   ".",    "-",   "+.",   "e5",  "1e",  "1e+",      "1.5x",  " 1",
        "1 ", "0x10", "1,5", "1..5", "--1", "nan", "infinite", "1e5.0", "."
    };
    static char digits[4000];
    double value;

    (void)state;
    assert_true(reads("1", 1) && reads("-1.5", -1.5) && reads("+.5", 0.5));
    assert_true(reads("5.", 5) && reads("1e3", 1e3) && reads("1E-3", 1e-3));
    assert_true(reads("00012.2500", 12.25) && reads("-0", -0.0));
    assert_true(reads("0.000000000000000000000001e24", 1));
    assert_true(reads("1e999999999999999999999", (double)INFINITY));
    assert_true(reads("1e-999999999999999999999", 0));
    assert_true(reads("-inf", -(double)INFINITY));
    assert_true(reads("9007199254740993", 9007199254740992.0));
    assert_true(reads("9223372036854775808", 9223372036854775808.0));
    assert_true(reads("123456789012345678e-5", 1234567890123.45678));
    memset(digits, '0', sizeof digits - 1);
    memcpy(digits, "9007199254740993.", 17);
    assert_true(reads(digits, 9007199254740992.0));
    digits[3990] = '1'; /* past the tie, by very little */
    assert_true(reads(digits, 9007199254740994.0));
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_to_double(bad[i], strlen(bad[i]), &value));
    assert_true(text_to_double("12345", 2, &value) && value == 12);
}

static void numbers_ignore_the_locale(void **state)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
                                         "fr_FR.UTF-8", "de_DE" };
    const char *set = NULL;

    for (unsigned i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]);
    if (set == NULL)
        skip();
    assert_string_equal(localeconv()->decimal_point, ",");
    numbers_print_short(state);
    assert_true(reads("1.5", 1.5) && reads("0.30000000000000004", 0.1 + 0.2));
    setlocale(LC_ALL, "C");
}

static bool is_int64(const char *text, int64_t expected)
{
    int64_t value = 42;

    return text_to_int64(text, strlen(text), &value) && value == expected;
}

static void whole_numbers_are_read(void **state)
{
    static const char *const bad[] = { "",
                                       "-",
                                       "+",
                                       "1.0",
                                       " 1",
                                       "1 ",
                                       "9223372036854775808",
                                       "-9223372036854775809",
                                       "99999999999999999999",
                                       "0x1" };
    int64_t value;

    (void)state;
    assert_true(is_int64("0", 0) && is_int64("-12", -12));
    assert_true(is_int64("+7", 7) && is_int64("007", 7));
    assert_true(is_int64("9223372036854775807", INT64_MAX));
    assert_true(is_int64("-9223372036854775808", INT64_MIN));
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_to_int64(bad[i], strlen(bad[i]), &value));
}

static bool is_size(const char *text, uint64_t expected)
{
    uint64_t size = 42;

    return text_to_size(text, &size) && size == expected;
}

static void sizes_are_read(void **state)
{
    static const char *const bad[] = {
        "",     "M",   "-1", "1X",  "1MM",
        "1.5G", "16E", "G4", "1iB", "9223372036854775808"
    };
    uint64_t size;

    (void)state;
    assert_true(is_size("0", 0) && is_size("1000", 1000));
    assert_true(is_size("512M", 512u << 20) && is_size("4g", 4ull << 30));
    assert_true(is_size("2KiB", 2048) && is_size("2kB", 2048));
    assert_true(is_size("7B", 7) && is_size("8E", 8ull << 60));
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_to_size(bad[i], &size));
}

/* -------------------------------------------------------------- files -- */

static void check_reads_and_writes(const struct os_file_calls *calls,
                                   struct os_file *file)
{
    static char written[200000], read[200000];
    uint64_t size;

    for (unsigned i = 0; i < sizeof written; i++)
        written[i] = (char)(i * 7 + i / 256);
    assert_int_equal(calls->size(file, &size), 0);
    assert_int_equal(size, 0);
    assert_int_equal(calls->write(file, written, sizeof written, 1000), 0);
    assert_int_equal(calls->size(file, &size), 0);
    assert_int_equal(size, 1000 + sizeof written);
    assert_int_equal(calls->read(file, read, sizeof read, 1000), 0);
    assert_memory_equal(read, written, sizeof written);
    assert_int_equal(calls->read(file, read, 1000, 0), 0);
    assert_int_equal(read[0] | read[999], 0);
    assert_int_equal(calls->read(file, read, 2, 1000 + sizeof written - 1),
                     EIO);
    assert_int_equal(calls->read(file, read, 1, UINT64_MAX) != 0, 1);
    assert_int_equal(calls->write(file, read, 2, UINT64_MAX), EFBIG);
    assert_int_equal(calls->truncate(file, 1001), 0);
    assert_int_equal(calls->truncate(file, 2000), 0);
    assert_int_equal(calls->read(file, read, 1000, 1000), 0);
    assert_int_equal(read[0], written[0]);
    assert_int_equal(read[1] | read[999], 0);
    assert_int_equal(calls->sync(file), 0);
}

/* A folder of its own for a test's files. */
static char *folder_make(void)
{
    static char folder[] = "/tmp/vdbq_unit_base_XXXXXX";

    strcpy(folder + sizeof folder - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void files_keep_bytes(void **state)
{
    char *folder = folder_make(), path[100];
    struct os_file *file;

    (void)state;
    snprintf(path, sizeof path, "%s/db", folder);
    assert_int_equal(os_files.open(path, 0, &file), ENOENT);
    assert_null(file);
    os_files.close(file);
    assert_int_equal(os_files.open(folder, 0, &file), EISDIR);
    assert_int_equal(os_files.open(folder, OS_OPEN_READ_ONLY, &file), EISDIR);
    assert_int_equal(os_files.open("/dev/null", 0, &file), EINVAL);
    assert_int_equal(os_files.open("/none/db", OS_OPEN_CREATE, &file), ENOENT);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &file), 0);
    check_reads_and_writes(&os_files, file);
    os_files.close(file);
    assert_int_equal(os_files.open(path, OS_OPEN_READ_ONLY, &file), 0);
    assert_int_equal(os_files.write(file, "x", 1, 0), EBADF);
    assert_int_equal(os_files.lock(file, 0, OS_LOCK_SHARED), 0);
    os_files.close(file);
    unlink(path);
    rmdir(folder);
}

static void locks_hold_between_connections(void **state)
{
    char *folder = folder_make(), path[100];
    struct os_file *a, *b;

    (void)state;
    snprintf(path, sizeof path, "%s/db", folder);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &a), 0);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &b), 0);
    assert_int_equal(os_files.lock(a, 1, OS_LOCK_EXCLUSIVE), 0);
    assert_int_equal(os_files.lock(b, 1, OS_LOCK_EXCLUSIVE), EAGAIN);
    assert_int_equal(os_files.lock(b, 1, OS_LOCK_SHARED), EAGAIN);
    assert_true(os_files.locked(b, 0, 2));
    assert_false(os_files.locked(b, 0, 1) || os_files.locked(b, 2, 8));
    assert_int_equal(os_files.lock(b, 2, OS_LOCK_EXCLUSIVE), 0);
    assert_int_equal(os_files.lock(a, 1, OS_LOCK_SHARED), 0);
    assert_int_equal(os_files.lock(b, 1, OS_LOCK_SHARED), 0);
    assert_int_equal(os_files.lock(a, 1, OS_LOCK_EXCLUSIVE), EAGAIN);
    assert_int_equal(os_files.lock(b, 1, OS_UNLOCKED), 0);
    assert_int_equal(os_files.lock(a, 1, OS_LOCK_EXCLUSIVE), 0);
    os_files.close(a);
    assert_int_equal(os_files.lock(b, 1, OS_LOCK_EXCLUSIVE), 0);
    assert_false(os_files.locked(b, 0, 8)); /* by anybody else */
    os_files.close(b);
    unlink(path);
    rmdir(folder);
}

/* A signature goes with the lock of byte 0, and ends with its file. */
static void holders_sign(void **state)
{
    char *folder = folder_make(), path[100], name[OS_NAME_MAX];
    struct os_holder holder;
    struct os_file *a, *b;

    (void)state;
    snprintf(path, sizeof path, "%s/db", folder);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &a), 0);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &b), 0);
    assert_false(os_files.signature(b, &holder));
    assert_int_equal(os_files.lock(a, 0, OS_LOCK_EXCLUSIVE), 0);
    assert_true(os_files.signature(b, &holder));
    assert_false(os_files.signature(a, &holder)); /* nobody else */
    assert_true(os_files.signature(b, &holder));
    assert_true(holder.near);
    assert_int_equal(holder.process, os_process());
    assert_in_range(holder.since_ms, (uint64_t)(time(NULL) - 60) * 1000,
                    (uint64_t)(time(NULL) + 60) * 1000);
    assert_int_equal(os_files.lock(b, 0, OS_LOCK_EXCLUSIVE), EAGAIN);
    assert_false(os_files.locked(b, 1, 1000));
    assert_int_equal(os_files.lock(a, 0, OS_UNLOCKED), 0);
    assert_false(os_files.signature(b, &holder));
    assert_int_equal(os_files.lock(b, 0, OS_LOCK_EXCLUSIVE), 0);
    assert_true(os_files.signature(a, &holder));
    assert_int_equal(os_files.lock(b, 0, OS_UNLOCKED), 0);
    assert_int_equal(os_files.lock(a, 0, OS_LOCK_EXCLUSIVE), 0);
    os_files.close(a);
    assert_false(os_files.signature(b, &holder));
    os_files.close(b);
    os_process_name(os_process(), name);
    assert_string_equal(name, "unit_base");
    os_process_name(-1, name);
    assert_string_equal(name, "");
    unlink(path);
    rmdir(folder);
}

static uint64_t lowest_mark(struct os_file *file, uint64_t first, uint64_t end)
{
    uint64_t mark = 1;

    assert_int_equal(os_files.marked(file, first, end, &mark), 0);
    return mark;
}

/* Marks are seen by others alone, the lowest first, and end with their file. */
static void marks_are_seen_by_others(void **state)
{
    const uint64_t last = OS_MARKS - 1;
    char *folder = folder_make(), path[100];
    struct os_file *a, *b, *c;

    (void)state;
    snprintf(path, sizeof path, "%s/db", folder);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &a), 0);
    assert_int_equal(os_files.open(path, OS_OPEN_READ_ONLY, &b), 0);
    assert_int_equal(os_files.open(path, OS_OPEN_CREATE, &c), 0);
    for (uint64_t mark = 9; mark > 4; mark--) /* 5 to 9 */
        assert_int_equal(os_files.mark(a, mark), 0);
    assert_int_equal(os_files.mark(b, 7), 0);
    assert_int_equal(os_files.mark(b, last), 0);
    assert_int_equal(lowest_mark(c, 0, OS_MARKS), 5);
    assert_int_equal(lowest_mark(c, 6, OS_MARKS), 6);
    assert_int_equal(lowest_mark(c, 0, 5), 5); /* none */
    assert_int_equal(lowest_mark(c, 10, OS_MARKS), last);
    assert_int_equal(lowest_mark(b, 0, OS_MARKS), 5);
    assert_int_equal(lowest_mark(a, 0, OS_MARKS), 7);
    os_files.unmark(a, 0, 7);
    assert_int_equal(lowest_mark(c, 0, OS_MARKS), 7);
    os_files.unmark(a, 7, 3);
    assert_int_equal(lowest_mark(c, 0, OS_MARKS), 7); /* of b */
    assert_false(os_files.locked(c, 0, 1000));
    os_files.close(b);
    assert_int_equal(lowest_mark(c, 0, OS_MARKS), OS_MARKS);
    os_files.close(a);
    os_files.close(c);
    unlink(path);
    rmdir(folder);
}

static void memory_files_keep_bytes(void **state)
{
    struct os_file *file;

    (void)state;
    assert_int_equal(os_memory_files.open("any", 0, &file), 0);
    check_reads_and_writes(&os_memory_files, file);
    assert_int_equal(os_memory_files.lock(file, 1, OS_LOCK_EXCLUSIVE), 0);
    assert_int_equal(os_memory_files.truncate(file, UINT64_MAX / 2), ENOMEM);
    memory_fail_once_after(0);
    assert_int_equal(os_memory_files.write(file, "x", 1, 1 << 24), ENOMEM);
    os_memory_files.close(file);
    os_memory_files.close(NULL);
    memory_fail_once_after(0);
    assert_int_equal(os_memory_files.open("", 0, &file), ENOMEM);
    memory_fail_once_after(0);
    assert_int_equal(os_files.open("/tmp", 0, &file), ENOMEM);
}

static void the_machine_is_known(void **state)
{
    uint64_t start = os_time_ns();

    (void)state;
    assert_true(os_memory_bytes() > 1 << 20);
    assert_true(os_memory_bytes() < UINT64_MAX);
    assert_true(os_cores() >= 1);
    assert_true(os_time_ns() >= start);
}

/* -------------------------------------------------------- thread pool -- */

struct counted_job {
    struct thread_pool_job job; /* first */
    unsigned runs;
};

static void count_run(struct thread_pool_job *job)
{
    ((struct counted_job *)job)->runs++;
}

/* Each job is done once, whoever does it and whatever is waited for first. */
static void thread_pool_does_each_job_once(void **state)
{
    enum { JOBS = 200 };
    static struct counted_job jobs[JOBS];

    (void)state;
    for (unsigned threads = 0; threads <= 3; threads++) {
        struct thread_pool *workers = thread_pool_create(threads);
        assert_true((workers != NULL) == (threads > 0));
        for (unsigned i = 0; i < JOBS; i++) {
            jobs[i] = (struct counted_job){ .job = { .run = count_run } };
            if (workers != NULL && i % 5 != 0)
                thread_pool_start(workers, &jobs[i].job);
        }
        for (unsigned i = 0; i < JOBS; i++)
            thread_pool_finish(workers, &jobs[i * 7 % JOBS].job);
        for (unsigned i = 0; i < JOBS; i++)
            assert_int_equal(jobs[i].runs, 1);
        thread_pool_destroy(workers);
    }
}

/* ---------------------------------------------------------------- lru -- */

static void lru_keeps_the_order_of_use(void **state)
{
    struct item {
        int number;
        struct lru_link link;
    } items[4];
    struct lru lru = { 0 };
    static const int expected[] = { 0, 3, 1 };
    struct lru_link *link;

    (void)state;
    for (int i = 0; i < 4; i++) {
        items[i].number = i;
        lru_add(&lru, &items[i].link);
    }
    lru_remove(&lru, &items[1].link);
    lru_add(&lru, &items[1].link);
    lru_remove(&lru, &items[2].link);
    link = lru.oldest;
    for (int i = 0; i < 3; i++, link = link->newer) {
        struct item *item = lru_item(link, offsetof(struct item, link));
        assert_int_equal(item->number, expected[i]);
    }
    assert_null(link);
    assert_null(lru_item(link, offsetof(struct item, link)));
    while (lru.newest != NULL)
        lru_remove(&lru, lru.newest);
    assert_null(lru.oldest);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_pool_does_each_job_once),
        cmocka_unit_test(lru_keeps_the_order_of_use),
        cmocka_unit_test(errors_are_written_once),
        cmocka_unit_test(long_errors_are_cut_between_characters),
        cmocka_unit_test(zeroed_memory_does_not_overflow),
        cmocka_unit_test(arenas_hold_everything_apart),
        cmocka_unit_test_teardown(arenas_survive_a_failure, stop_failing),
        cmocka_unit_test_teardown(vectors_grow, stop_failing),
        cmocka_unit_test_teardown(texts_grow_and_failures_stick, stop_failing),
        cmocka_unit_test(names_compare_without_case),
        cmocka_unit_test(numbers_print_short),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(decimals_are_read),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(whole_numbers_are_read),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(files_keep_bytes),
        cmocka_unit_test(locks_hold_between_connections),
        cmocka_unit_test(holders_sign),
        cmocka_unit_test(marks_are_seen_by_others),
        cmocka_unit_test_teardown(memory_files_keep_bytes, stop_failing),
        cmocka_unit_test(the_machine_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
