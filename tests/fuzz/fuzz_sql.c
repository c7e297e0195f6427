/* SPDX-License-Identifier: MIT */
/* SQL text: parsed and planned over tables with rows, and explained, but
 * never run, so that one database serves all inputs. */
#include "fuzz.h"

#include <string.h>

enum { STATEMENTS_MAX = 40 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed)
{
    return fuzz_mutate_sql(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static vdbq *db;
    const char *sql = (const char *)data, *end = sql + size;

    if (db == NULL)
        db = fuzz_open_filled();
    for (unsigned i = 0; sql < end && i < STATEMENTS_MAX; i++) {
        const char *tail = end;
        vdbq_query *query = NULL;
        fuzz_check_told(db, vdbq_prepare(db, sql, end - sql, &query, &tail));
        vdbq_query_close(query);
        if (tail <= sql)
            break;
        sql = tail;
    }
    return 0;
}
