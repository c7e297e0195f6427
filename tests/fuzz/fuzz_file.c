/* SPDX-License-Identifier: MIT */
/*
 * Database files: all that an image names is read, then it is written to and
 * read again. In this build checksums are constant (data/tablet/block.c), so that a
 * damaged image gets as far as one with checksums made right again.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 1 << 12 };

/* Damages a few bytes that are not 0: most are. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed)
{
    static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
    uint64_t state = seed;

    if (size == 0 || fuzz_random(&state, 10) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (unsigned i = 1 + fuzz_random(&state, 4); i > 0; i--) {
        size_t at = fuzz_random(&state, (unsigned)size);
        while (at + 1 < size && data[at] == 0 && fuzz_random(&state, 500))
            at++;
        unsigned kind = fuzz_random(&state, 4);
        data[at] =
            kind == 0   ? (uint8_t)(data[at] ^ 1u << fuzz_random(&state, 8))
            : kind == 1 ? values[fuzz_random(&state, sizeof values)]
            : kind == 2 ? (uint8_t)(data[at] + fuzz_random(&state, 9) - 4)
                        : (uint8_t)fuzz_random(&state, 256);
    }
    return size;
}

/* The names of tables and views hang on the file: they may be anything. */
static void read_table(vdbq *db, const char *name)
{
    char quoted[NAME_ROOM], sql[3 * NAME_ROOM];
    size_t length = 0;

    for (; *name && length + 3 < sizeof quoted; name++) {
        quoted[length++] = *name;
        if (*name == '"')
            quoted[length++] = '"';
    }
    quoted[length] = 0;
    int size = snprintf(sql, sizeof sql,
                        "select * from \"%s\"; "
                        "summarize \"%s\"",
                        quoted, quoted);
    fuzz_run(db, sql, (size_t)size);
}

static void read_all(vdbq *db)
{
    unsigned tables = vdbq_tables(db), views = vdbq_views(db);

    for (unsigned i = 0; i < tables; i++) {
        vdbq_table_sql(db, i);
        read_table(db, vdbq_table_name(db, i));
    }
    for (unsigned i = 0; i < views; i++)
        read_table(db, vdbq_view_name(db, i));
    for (unsigned i = 0; i < vdbq_indexes(db); i++)
        vdbq_index_sql(db, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char change[] =
        "insert into t (s) values ('new'), ('a'); update t set s = 'q'; "
        "delete from u where a > 1; create table n as select * from t; "
        "insert into k select k + 100, s from k; drop table t";
    const char *path = fuzz_file(data, size);

    for (unsigned i = 0; i < 2; i++) {
        vdbq *db = fuzz_open(path, VDBQ_OPEN_NO_SYNC);
        if (db == NULL)
            return 0;
        read_all(db);
        if (i == 0)
            fuzz_run(db, change, strlen(change));
        vdbq_close(db);
    }
    return 0;
}
