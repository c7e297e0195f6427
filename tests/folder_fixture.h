/* SPDX-License-Identifier: MIT */
/*
 * A folder of each test's own, with the path of a database in it.
 */
#ifndef VDBQ_TESTS_FOLDER_FIXTURE_H
#define VDBQ_TESTS_FOLDER_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[96];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/vdbq-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/test.vdb", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

#endif
