/* SPDX-License-Identifier: MIT */
/*
 * Answers of queries over numbers, to be compared: how many rows, and a hash
 * of them in their order.
 */
#ifndef VDBQ_TESTS_ANSWER_H
#define VDBQ_TESTS_ANSWER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "api/vdbq.h"

/* What a query gave. */
struct answer {
    enum vdbq_status status;
    uint64_t rows;
    uint64_t hash; /* of the rows in their order */
};

static inline uint64_t hash_batch(const struct vdbq_batch *batch, uint64_t hash)
{
    for (uint64_t row = 0; row < batch->rows; row++)
        for (unsigned i = 0; i < batch->columns; i++) {
            const struct vdbq_vector *vector = &batch->column[i];
            unsigned width = vector->type == VDBQ_INTEGER ? 4 : 8;
            uint64_t bits = 0;
            memcpy(&bits, (const char *)vector->values + row * width, width);
            if (vector->nulls != NULL && vector->nulls[row])
                bits = UINT64_MAX;
            hash = XXH3_64bits_withSeed(&bits, sizeof bits, hash);
        }
    return hash;
}

/* Runs a query and looks at all its rows; `stats` may be NULL. */
static inline struct answer ask(vdbq *db, const char *sql,
                                struct vdbq_stats *stats)
{
    struct answer answer = { 0 };
    struct vdbq_batch batch = { .rows = 1 };
    vdbq_query *query;

    answer.status = vdbq_prepare(db, sql, -1, &query, NULL);
    while (answer.status == VDBQ_OK && batch.rows > 0) {
        answer.status = vdbq_query_batch(query, &batch);
        answer.rows += batch.rows;
        answer.hash = hash_batch(&batch, answer.hash);
    }
    if (stats != NULL) { /* its text is the query's */
        static char mode[32];
        vdbq_query_stats(query, stats);
        snprintf(mode, sizeof mode, "%s", stats->mode);
        stats->mode = mode;
    }
    vdbq_query_close(query);
    return answer;
}

/* Sets an option. */
static inline void set(vdbq *db, const char *option, const char *value)
{
    assert_int_equal(vdbq_set(db, option, value), VDBQ_OK);
}

#endif
