/* SPDX-License-Identifier: MIT */
/* Statements over tables with rows. What they change is undone at the end, so
 * that one database serves all inputs but those that commit. */
#include "fuzz.h"

#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed)
{
    return fuzz_mutate_sql(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static vdbq *db;

    if (db == NULL)
        db = fuzz_open_filled();
    fuzz_run(db, "begin", strlen("begin"));
    fuzz_run(db, (const char *)data, size);
    if (vdbq_execute(db, "rollback") != VDBQ_OK) {
        vdbq_close(db);
        db = NULL;
    }
    return 0;
}
