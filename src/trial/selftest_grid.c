/* SPDX-License-Identifier: MIT */
/*
 * The self-test's grids: programs that read every type of column of each axis,
 * for cells that are live and others.
 */
#include "trial/selftest_data.h"

#include "base/text.h"

/* A column of an axis: opcode, number, TYPE_... of the result. */
struct read {
    const char *op;
    int column;
    int type;
};

static const struct read left_reads[] = {
    { "Rowid.I64", 0, TYPE_I64 },  { "Column.I32", 4, TYPE_I32 },
    { "Column.I64", 1, TYPE_I64 }, { "Column.F32", 2, TYPE_F32 },
    { "Column.F64", 3, TYPE_F64 }, { "Column.WORD", 8, TYPE_I32 },
    { "ColumnNull", 0, TYPE_I32 }, { "ColumnNull", 4, TYPE_I32 },
};
static const struct read build_side_reads[] = {
    { "Column.I32", 0, TYPE_I32 },  { "Column.I64", 1, TYPE_I64 },
    { "Column.F32", 2, TYPE_F32 },  { "Column.F64", 3, TYPE_F64 },
    { "Column.WORD", 4, TYPE_I32 }, { "ColumnNull", 0, TYPE_I32 },
    { "ColumnNull", 1, TYPE_I32 },
};
enum {
    LEFT_READS = sizeof left_reads / sizeof *left_reads,
    BUILD_READS = sizeof build_side_reads / sizeof *build_side_reads
};

/* What axis `axis` is read for. */
static const struct read *reads_of(unsigned axis, unsigned *count)
{
    *count = axis == 0 ? LEFT_READS : BUILD_READS;
    return axis == 0 ? left_reads : build_side_reads;
}

/* The program's text: results are registers from 0 on. */
static void write_text(unsigned axes, struct text *text)
{
    unsigned count, results = LEFT_READS + (axes - 1) * BUILD_READS, next = 0;
    for (unsigned a = 0; a < axes; a++)
        text_print(text, "Table 0 0 %u \"axis %u\"\n", a, a);
    for (unsigned a = 0; a < axes; a++) {
        const struct read *reads = reads_of(a, &count);
        for (unsigned i = 0; i < count; i++)
            text_print(text, "ResultColumn %d \"%s\"\n", reads[i].type,
                       reads[i].op);
    }
    text_print(text, "Parallel 0 0 %u\n", axes + 2 * results + 6);
    text_print(text, "Column.I32 %u 4 0\nColumn.I32 %u 0 %u\n", results,
               results + 1, axes - 1);
    text_print(text, "Lt.I32 %u %u %u 0\n", results, results + 1,
               axes + 2 * results + 4);
    for (unsigned a = 0; a < axes; a++) {
        const struct read *reads = reads_of(a, &count);
        for (unsigned i = 0; i < count; i++)
            text_print(text, "%s %u %d %u\n", reads[i].op, next++,
                       reads[i].column, a);
    }
    text_print(text, "Result 0 %u\nConverge\nFinish\n", results);
}

/* Describes the axes. */
static void describe(struct program *program)
{
    static const int left[] = { TYPE_I32, TYPE_I64, TYPE_F32,
                                TYPE_F64, TYPE_I32, TYPE_I64,
                                TYPE_F32, TYPE_F64, TYPE_WORD };
    static const int build_side[] = { TYPE_I32, TYPE_I64, TYPE_F32, TYPE_F64,
                                      TYPE_WORD };
    for (size_t i = 0; i < program->tables.count; i++) {
        struct program_table *table = vector_at(&program->tables, i);
        table->column_types = i == 0 ? left : build_side;
        table->column_count = i == 0 ? sizeof left / sizeof *left
                                     : sizeof build_side / sizeof *build_side;
        table->key_type = TYPE_I64;
    }
}

bool selftest_grid(struct program *program, unsigned axes)
{
    struct text text = { 0 };
    struct error error;
    write_text(axes, &text);
    bool made =
        !text.failed && program_read(text.bytes, program, &error) == VDBQ_OK;
    text_finish(&text);
    if (made)
        describe(program);
    return made;
}
