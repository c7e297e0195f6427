/* SPDX-License-Identifier: MIT */
/*
 * The scratch folder of a driver, and bundles of files: packed, unpacked, and
 * made by somebody else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cache/bundle.h"
#include "device/cache/environment.h"
#include "device/cache/keep.h"
#include "device/cache/scratch.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/vdbq-keep-XXXXXX");
    return mkdtemp(folder) == NULL || setenv("XDG_CACHE_HOME", folder, 1) != 0;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) != 0;
}

/* Runs a command of the shell in the folder; its exit code. */
static int in_folder(const char *command)
{
    char line[512];

    snprintf(line, sizeof line, "cd '%s' && %s", folder, command);
    return WEXITSTATUS(system(line));
}

/* -------------------------------------------------------------- bundles -- */

static void bundles_hold_files(void **state)
{
    struct text bundle = { 0 };
    char root[128], name[64];

    (void)state;
    assert_int_equal(in_folder("mkdir -p a/AB/CD/x/y b && cd a/AB/CD && "
                               "printf one >program.bc && printf '\\0two' "
                               ">x/y/x.so && : >last_accessed"),
                     0);
    snprintf(root, sizeof root, "%s/a", folder);
    assert_int_equal(bundle_count(root, "AB/CD"), 2);
    assert_int_equal(bundle_count(root, "AB/EF"), 0);
    assert_true(bundle_pack(root, "AB/CD", &bundle));
    assert_true(bundle_folder(&bundle, name, sizeof name));
    assert_string_equal(name, "AB/CD");
    assert_false(bundle_folder(&bundle, name, 5));
    snprintf(root, sizeof root, "%s/b", folder);
    assert_int_equal(bundle_unpack(root, &bundle), 2);
    assert_int_equal(in_folder("rm a/AB/CD/last_accessed && diff -r a b"), 0);
    /* What is there may be in use, and stays as it is. */
    assert_int_equal(in_folder("printf old >b/AB/CD/program.bc"), 0);
    assert_int_equal(bundle_unpack(root, &bundle), 2);
    assert_int_equal(in_folder("grep -q old b/AB/CD/program.bc"), 0);
    text_finish(&bundle);
}

static void add_file(struct text *bundle, const char *path, uint64_t size,
                     const char *bytes)
{
    const uint64_t head[2] = { strlen(path), size };

    text_add(bundle, (const char *)head, sizeof head);
    text_print(bundle, "%s%s", path, bytes);
}

static void no_path_leads_out(void **state)
{
    static const char *const paths[] = { "../out",  "/tmp/out", "a/../../out",
                                         "a/./out", ".out",     "a//out",
                                         "a/",      "",         "a/..",
                                         ".." };
    char root[128], name[64];

    (void)state;
    assert_int_equal(in_folder("mkdir in"), 0);
    snprintf(root, sizeof root, "%s/in", folder);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct text bundle = { 0 };
        add_file(&bundle, paths[i], 3, "out");
        assert_int_equal(bundle_unpack(root, &bundle), 0);
        assert_false(bundle_folder(&bundle, name, sizeof name));
        text_finish(&bundle);
    }
    assert_int_equal(in_folder("test -z \"$(ls -A in)\" && test ! -e out"), 0);
}

static void sizes_may_lie(void **state)
{
    static const uint64_t sizes[] = { 4, 1000, UINT64_MAX, UINT64_MAX - 16 };
    struct text bundle = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        text_finish(&bundle);
        add_file(&bundle, "AB/CD/x", sizes[i], "abc");
        assert_int_equal(bundle_unpack(folder, &bundle), 0);
    }
    text_finish(&bundle);
    add_file(&bundle, "AB/CD/x", 3, "abc");
    for (size_t all = bundle.length; bundle.length > 0; bundle.length--)
        assert_int_equal(bundle_unpack(folder, &bundle), bundle.length == all);
    text_finish(&bundle);
}

/* -------------------------------------------------------------- scratch -- */

/* Where a file of that size cannot be written nothing is compiled: POCL would
 * end the process. */
static void check_room(void)
{
    struct rlimit before, small;
    struct error error;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(scratch_check_room(&error), VDBQ_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(scratch_check_room(&error), VDBQ_DEVICE);
    assert_non_null(strstr(error.hint, "room"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
}

/* The folder of a build that failed is not that of the next program. */
static void check_failures(void)
{
    struct text key = { 0 };
    char path[256];

    text_add(&key, "key", 3);
    keep_before(&key);
    snprintf(path, sizeof path, "%s/AB", scratch_path());
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/AB/FAILED", scratch_path());
    assert_int_equal(mkdir(path, 0700), 0);
    keep_after(&key, NULL);
    keep_before(&key);
    assert_false(keep_moved());
    snprintf(path, sizeof path, "%s/AB/BUILT", scratch_path());
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(keep_moved());
    keep_after(&key, NULL);
    text_finish(&key);
}

/* Folders that nobody has locked are removed, and nothing else; a child that
 * ends leaves its parent's. */
static void scratch_is_private(void **state)
{
    struct error error;
    struct stat facts;
    char path[160];
    int locked;

    (void)state;
    assert_null(scratch_path());
    assert_int_equal(in_folder("mkdir -m 700 -p vdbq/pocl && cd vdbq/pocl && "
                               "chmod 700 .. && mkdir -p vdbq-pocl-dead/AB/CD "
                               "vdbq-pocl-live other && "
                               ": >vdbq-pocl-dead/AB/CD/x"),
                     0);
    snprintf(path, sizeof path, "%s/vdbq/pocl/vdbq-pocl-live", folder);
    locked = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(locked, LOCK_EX), 0);
    assert_int_equal(scratch_create(&error), VDBQ_OK);
    assert_int_equal(stat(scratch_path(), &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0700);
    assert_true(scratch_is_one(scratch_path()));
    assert_false(scratch_is_one("/home/me/pocl"));
    assert_int_equal(in_folder("cd vdbq/pocl && test ! -e vdbq-pocl-dead && "
                               "test -d vdbq-pocl-live -a -d other"),
                     0);
    close(locked);
    if (fork() == 0)
        exit(0);
    assert_true(wait(NULL) > 0);
    assert_int_equal(stat(scratch_path(), &facts), 0);
    check_room();
    check_failures();
}

/* As Khronos's loader does with lists of libraries. */
static void cut_lists_come_back(void **state)
{
    struct error error;

    (void)state;
    setenv("OCL_ICD_FILENAMES", "one.so:two.so", 1);
    unsetenv("OPENCL_LAYERS");
    assert_int_equal(environment_prepare(&error), VDBQ_OK);
    *strchr(getenv("OCL_ICD_FILENAMES"), ':') = '\0';
    assert_string_equal(getenv("OCL_ICD_FILENAMES"), "one.so");
    environment_restore();
    assert_string_equal(getenv("OCL_ICD_FILENAMES"), "one.so:two.so");
    assert_null(getenv("OPENCL_LAYERS"));
    unsetenv("OCL_ICD_FILENAMES");
    environment_restore();
    assert_null(getenv("OCL_ICD_FILENAMES"));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bundles_hold_files),  TEST(no_path_leads_out),
        TEST(sizes_may_lie),       TEST(scratch_is_private),
        TEST(cut_lists_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
