/* SPDX-License-Identifier: MIT */
/*
 * The self-test's build rows: a column of each type, with keys that rows hit
 * and miss, some of them NULL and some twice; and the program that reads them.
 */
#include <string.h>

#include "cl/tablet.h"
#include "exec/build_side/key_index.h"
#include "trial/selftest_data.h"

enum { COLUMNS = 5, ROWS = SELFTEST_BUILD_ROWS };

/* x probes; rows whose x is less than y are not live. */
static const char probe_text[] = "Table 0 0 0 \"selftest\"\n"
                                 "Table 0 0 1 \"inner\"\n"
                                 "ResultColumn 1 \"row of I32\"\n"
                                 "ResultColumn 1 \"row of I64\"\n"
                                 "ResultColumn 1 \"row of WORD\"\n"
                                 "ResultColumn 1 \"I32\"\n"
                                 "ResultColumn 2 \"I64\"\n"
                                 "ResultColumn 3 \"F32\"\n"
                                 "ResultColumn 4 \"F64\"\n"
                                 "ResultColumn 1 \"WORD\"\n"
                                 "ResultColumn 1 \"NULL\"\n"
                                 "ResultColumn 1 \"never NULL\"\n"
                                 "Parallel 0 0 30\n"
                                 "Column.I32 10 0\n"
                                 "Column.I32 11 4\n"
                                 "Lt.I32 10 11 28 0\n"
                                 "Column.I64 12 1\n"
                                 "Column.WORD 13 8\n"
                                 "Probe.I32 0 10 1 0\n"
                                 "Probe.I64 1 12 1 1\n"
                                 "Probe.WORD 2 13 1 4\n"
                                 "ColumnAt.I32 3 0 1 1\n"
                                 "ColumnAt.I64 4 1 1 0\n"
                                 "ColumnAt.F32 5 2 1 2\n"
                                 "ColumnAt.F64 6 3 1 0\n"
                                 "ColumnAt.WORD 7 4 1 0\n"
                                 "ColumnAtNull 8 0 1 1\n"
                                 "ColumnAtNull 9 1 1 2\n"
                                 "Result 0 10\n"
                                 "Converge\n"
                                 "Finish\n";

bool selftest_probe(struct program *program)
{
    static const int outer[] = { TYPE_I32, TYPE_I64, TYPE_F32,
                                 TYPE_F64, TYPE_I32, TYPE_I64,
                                 TYPE_F32, TYPE_F64, TYPE_WORD };
    static const int build_side[COLUMNS] = { TYPE_I32, TYPE_I64, TYPE_F32,
                                             TYPE_F64, TYPE_WORD };
    struct error error;
    if (program_read(probe_text, program, &error) != VDBQ_OK)
        return false;
    struct program_table *tables = program->tables.items;
    tables[0].column_count = sizeof outer / sizeof *outer;
    tables[0].column_types = outer;
    tables[0].key_type = TYPE_I64;
    tables[1].input = 1;
    tables[1].column_count = COLUMNS;
    tables[1].column_types = build_side;
    tables[1].key_type = TYPE_I64;
    return true;
}

/* ------------------------------------------------------------- columns -- */

/* Columns as the host has them; `nulls` is of the first one. */
struct columns {
    i32 narrow[ROWS];
    i64 wide[ROWS];
    f32 single[ROWS];
    f64 real[ROWS];
    i32 code[ROWS]; /* of words, which `order_codes` makes numbers of */
    i32 word[ROWS]; /* ... these                                */
    u8 nulls[ROWS];
};

/* A key that tame rows may have; `far`: one of those that lie apart. */
static i64 key_at(unsigned row, bool far)
{
    static const i64 edges[] = { INT32_MAX, INT32_MIN, 4294967296,
                                 INT64_MAX, INT64_MIN, 1 - INT64_MAX,
                                 3037000500 };
    if (far && row % 100 < sizeof edges / sizeof *edges)
        return edges[row % 100];
    return 2 * (i64)(row % (ROWS - 50)) - ROWS;
}

static void fill_columns(struct columns *columns, bool far,
                         const struct order_codes *order_codes)
{
    for (unsigned i = 0; i < ROWS; i++) {
        i64 key = key_at(i, far);
        u32 code = i * 7 % (order_codes->count + 20);
        columns->narrow[i] = (i32)(u32)(u64)key;
        columns->wide[i] = key;
        columns->single[i] = (f32)key / 3;
        columns->real[i] = (f64)key / 7;
        columns->code[i] = (i32)code;
        columns->word[i] = far && code < order_codes->count
                               ? order_codes->order_codes[code]
                               : (i32)(i % 90);
        columns->nulls[i] = i % 5 == 0;
    }
}

/* -------------------------------------------------------------- layout -- */

static u64 put(struct selftest_build_side *build_side, const void *from,
               u64 size)
{
    u64 at = build_side->size;
    memcpy(build_side->block + at, from, size);
    build_side->size = TABLET_ALIGNED(at + size);
    return at;
}

/* The values of a column, as an input has them. */
static const void *values_of(const struct columns *columns, int column)
{
    const void *const values[COLUMNS] = { columns->narrow, columns->wide,
                                          columns->single, columns->real,
                                          columns->code };
    return values[column];
}

static void put_input(struct selftest_build_side *build_side,
                      const struct columns *columns, int column,
                      struct build_input *input)
{
    bool wide = column == 1 || column == 3;
    input->values = put(build_side, values_of(columns, column),
                        ROWS * (wide ? sizeof(i64) : sizeof(i32)));
    input->nulls = column == 0
                       ? put(build_side, columns->nulls, sizeof columns->nulls)
                       : 0;
}

static struct key_column keys_of(const struct columns *columns, int column)
{
    struct key_column keys = {
        .values = column == 0   ? columns->narrow
                  : column == 1 ? (const void *)columns->wide
                                : columns->word,
        .nulls = column == 0 ? columns->nulls : NULL,
        .width = column == 1 ? sizeof(i64) : sizeof(i32),
        .rows = ROWS,
        .low = INT64_MAX,
        .high = INT64_MIN,
    };
    for (unsigned i = 0; i < ROWS; i++) {
        i64 key = column == 1   ? columns->wide[i]
                  : column == 0 ? columns->narrow[i]
                                : columns->word[i];
        keys.low = key < keys.low ? key : keys.low;
        keys.high = key > keys.high ? key : keys.high;
    }
    return keys;
}

static void put_index(struct selftest_build_side *build_side,
                      const struct columns *columns, int column,
                      struct key_index *index)
{
    struct key_column keys = keys_of(columns, column);
    *index = key_index_plan(&keys, false, 1);
    index->slots = build_side->size;
    build_side->size =
        TABLET_ALIGNED(build_side->size + key_index_bytes(index, &keys));
    key_index_fill(index, &keys, 1, build_side->block + index->slots);
    if (index->kind == INDEX_HASHED && keys.width == sizeof(i64))
        index->keys = put(build_side, keys.values, ROWS * sizeof(i64));
}

bool selftest_build_side(const struct program_pack *pack, bool hashed,
                         const struct order_codes *order_codes,
                         struct arena *arena,
                         struct selftest_build_side *build_side)
{
    unsigned inputs = pack->build_count;
    struct columns *columns = arena_alloc(arena, sizeof *columns);
    struct build_input *put_inputs =
        arena_alloc(arena, (inputs + 1) * sizeof *put_inputs);
    struct order_codes *input_order_codes =
        arena_alloc(arena, (inputs + 1) * sizeof *input_order_codes);
    struct key_index *indexes =
        arena_alloc(arena, (pack->index_count + 1) * sizeof *indexes);
    *build_side = (struct selftest_build_side){
        .block = arena_alloc(arena, SELFTEST_BYTES), .size = TABLET_ALIGN
    };
    if (!columns || !put_inputs || !input_order_codes || !indexes
        || !build_side->block)
        return false;
    fill_columns(columns, hashed, order_codes);
    for (unsigned i = 0; i < inputs; i++) {
        put_input(build_side, columns, pack->build_inputs[i].column,
                  &put_inputs[i]);
        if (pack->build_inputs[i].column == COLUMNS - 1)
            input_order_codes[i] = *order_codes;
    }
    for (unsigned i = 0; i < pack->index_count; i++)
        put_index(build_side, columns, pack->indexes[i].column, &indexes[i]);
    build_side->run = (struct run_build_side){ .inputs = put_inputs,
                                               .order_codes = input_order_codes,
                                               .indexes = indexes };
    return true;
}
